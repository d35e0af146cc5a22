package sidecar

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/internal/contract"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// The bounds of a page of messages.
const (
	MaxPage     = 100
	DefaultPage = 50
)

// ahead is how far in the future a message may claim to be said.
const ahead = 24 * time.Hour

// upsertTries is how often a message is looked at again when another caller has
// changed it meanwhile.
const upsertTries = 10

// A NewChatMessage is a message that a caller posts to a conversation.
type NewChatMessage struct {
	ID     earshot.MessageID // "" has one made
	Role   earshot.Role      // User or Assistant
	Text   string            // with Metadata it may be "", and then that of a stored message stays
	Author earshot.Author    // ID and Name, both optional
	Time   string            // when it was said, RFC 3339 or a Slack ts; "" for now

	// Metadata replace those of the message; nil leaves them.
	Metadata map[string]string
}

// A ChatMessage is a message of a conversation, and who speaks in it.
type ChatMessage struct {
	earshot.Message
	Role earshot.Role
}

// A ChatPage is a page of a conversation's messages, oldest first. Next is the
// cursor of the page with older ones, "" where there are none.
type ChatPage struct {
	Messages []ChatMessage
	Next     string
}

// ChatMessages returns a page of a conversation's messages: the newest, or with a
// cursor those before it. The limit is 1 to MaxPage.
func (s *Service) ChatMessages(ctx context.Context, p access.Principal, id string, limit int, cursor string) (ChatPage, error) {
	if limit < 1 || limit > MaxPage {
		return ChatPage{}, visible.InvalidField("limit", fmt.Sprintf("must be 1 to %d", MaxPage))
	}
	before, ok := readCursor(cursor)
	if !ok {
		return ChatPage{}, visible.InvalidField("cursor", "is not the next_cursor of a page")
	}
	if err := chatCaller(p); err != nil {
		return ChatPage{}, err
	}
	c, _, err := s.to(p).Conversation(ctx, id)
	if err != nil {
		return ChatPage{}, err
	}
	self, err := s.to(p).AgentOf(ctx, c.ID)
	if err != nil {
		return ChatPage{}, err
	}
	// One more says whether there is more, and one may be the cursor's own.
	list, err := s.store.Newest(ctx, c.ID.Scope, partOf(c.ID), before, limit+2)
	if err != nil {
		return ChatPage{}, err
	}
	if n := len(list); n > 0 && !before.IsZero() && list[n-1].Position() == before {
		list = list[:n-1]
	}
	page := ChatPage{Messages: []ChatMessage{}}
	if n := len(list); n > limit {
		list = list[n-limit:]
		page.Next = writeCursor(list[0].Position())
	}
	for _, m := range list {
		page.Messages = append(page.Messages, chatMessage(m, self))
	}
	return page, nil
}

// partOf is the part of its channel that a conversation is.
func partOf(id earshot.ConversationID) earshot.ChannelPart {
	return earshot.ThreadOf(earshot.MessageID(visible.ThreadOf(id)))
}

func chatMessage(m earshot.Message, self earshot.Identity) ChatMessage {
	if self.Is(m.Author.ID) {
		return ChatMessage{m, earshot.Assistant}
	}
	return ChatMessage{m, earshot.User}
}

// writeCursor writes a position so that readCursor reads it.
func writeCursor(p earshot.Position) string {
	return base64.RawURLEncoding.EncodeToString([]byte(p.Time.TS() + " " + string(p.ID)))
}

// readCursor reads what writeCursor wrote; "" is the zero position.
func readCursor(s string) (p earshot.Position, ok bool) {
	if s == "" {
		return p, true
	}
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(raw) > 1024 {
		return p, false
	}
	var ts, id string
	for i, c := range raw {
		if c == ' ' {
			ts, id = string(raw[:i]), string(raw[i+1:])
			break
		}
	}
	at, err := earshot.ParseTime(ts)
	p = earshot.Position{Time: at, ID: earshot.MessageID(id)}
	return p, err == nil && id != "" && writeCursor(p) == s
}

// PostChatMessage records a message in a conversation's channel. The same id again
// with another text is an edit; with the same text and no other metadata nothing changes. created reports
// whether the message is new. An id that somebody else's message has, or one of
// another conversation, is a conflict.
func (s *Service) PostChatMessage(ctx context.Context, p access.Principal, id string, n NewChatMessage) (m ChatMessage, created bool, err error) {
	if err := n.check(s.options.Now()); err != nil {
		return m, false, err
	}
	if err := chatCaller(p); err != nil {
		return m, false, err
	}
	c, _, err := s.to(p).Conversation(ctx, id)
	if err != nil {
		return m, false, err
	}
	if err := chatWriter(p); err != nil {
		return m, false, err
	}
	self, err := s.to(p).AgentOf(ctx, c.ID)
	if err != nil {
		return m, false, err
	}
	author, err := s.chatAuthor(ctx, p, c, self, n)
	if err != nil {
		return m, false, err
	}
	if err := s.putChannel(ctx, c.ID); err != nil {
		return m, false, err
	}
	if n.ID == "" {
		n.ID = earshot.MessageID("m_" + rand.Text())
	}
	for range upsertTries {
		stored, change, err := s.upsert(ctx, c.ID, self, author, n)
		if err != nil {
			return m, false, err
		}
		if n.isStored(stored, change) {
			if n.Role == earshot.Assistant {
				err = s.takeEchoes(ctx, p, c.ID.Scope, []earshot.Message{stored})
			}
			return chatMessage(stored, self), change == earshot.New, err
		}
	}
	return m, false, &visible.Refusal{Kind: visible.Conflict, Code: "busy", Detail: "others change this message right now; try again"}
}

// check refuses what breaks a bound, and normalises the rest.
func (n *NewChatMessage) check(now time.Time) error {
	switch {
	case n.Role != earshot.User && n.Role != earshot.Assistant:
		return visible.InvalidField("role", "must be user or assistant")
	case n.ID != "" && !isWord(string(n.ID)):
		return visible.InvalidField("message_id", fmt.Sprintf("must have at most %d bytes, without spaces and control characters", maxText))
	case n.Text == "" && len(n.Metadata) == 0:
		return visible.InvalidField("content", "is required of a message without metadata")
	case n.Author.ID != "" && !isWord(string(n.Author.ID)):
		return visible.InvalidField("author.id", fmt.Sprintf("must have at most %d bytes, without spaces and control characters", maxText))
	case len(n.Author.Name) > maxName:
		return visible.InvalidField("author.name", fmt.Sprintf("must have at most %d bytes", maxName))
	case n.Time == "":
		return nil
	}
	at, err := earshot.ParseTime(n.Time)
	if err != nil || at <= 0 || at > earshot.TimeOf(now.Add(ahead)) {
		return visible.InvalidField("created_at", "must be an RFC 3339 time or a Slack ts after 1970 and no more than a day ahead")
	}
	return nil
}

// isStored reports whether a message is stored as it was posted, where a change has come
// of it. Otherwise somebody else has changed it at the same time.
func (n *NewChatMessage) isStored(m earshot.Message, change earshot.Change) bool {
	switch {
	case change == earshot.New || change == earshot.Edited:
		return true
	case change == earshot.Other && n.Metadata != nil:
		return false
	}
	return n.Text == "" || m.Text == contract.StoredText(n.Text)
}

// chatAuthor returns who says a message. The assistant is the agent, by its own id;
// nobody else has that id. A user posts in their own name, and a key in the name that
// it gives, or the owner's.
func (s *Service) chatAuthor(ctx context.Context, p access.Principal, c earshot.Conversation, self earshot.Identity, n NewChatMessage) (earshot.Author, error) {
	a := earshot.Author{ID: n.Author.ID, Name: n.Author.Name, Kind: earshot.Human}
	switch {
	case n.Role == earshot.Assistant && a.ID != "" && !self.Is(a.ID):
		return a, visible.InvalidField("author.id", "must be the agent's, or be left out, with the role assistant")
	case n.Role == earshot.Assistant:
		return earshot.Author{ID: self.ID, Name: self.Name, Kind: earshot.Bot}, nil
	case self.Is(a.ID):
		return a, visible.InvalidField("author.id", "is the agent's; use the role assistant")
	case p.Kind == access.User && a.ID != "" && a.ID != earshot.AuthorID(p.Subject):
		return a, &visible.Refusal{Kind: visible.Forbidden, Code: "foreign_author", Path: "author.id", Detail: "must be the user whose token this is, or be left out"}
	case p.Kind == access.User:
		a.ID = earshot.AuthorID(p.Subject)
	case a.ID == "" && c.About.Owner != "":
		a.ID = earshot.AuthorID(c.About.Owner)
	case a.ID == "":
		a.ID = "user"
	}
	if self.Is(a.ID) {
		return a, visible.InvalidField("author.id", "is needed: who owns this conversation has the agent's id")
	}
	if known, err := s.store.Authors(ctx, c.ID.Scope.Platform, c.ID.Scope.Workspace, a.ID); err != nil {
		return a, err
	} else if len(known) == 1 && known[0].Name != "" {
		a.Kind = known[0].Kind
		if a.Name == "" {
			a.Name = known[0].Name
		}
	}
	if a.Name == "" {
		a.Name = string(a.ID)
	}
	return a, nil
}

// upsert records a message once, as new or as an edit of what is stored, and returns
// what is stored then.
func (s *Service) upsert(ctx context.Context, in earshot.ConversationID, self earshot.Identity, author earshot.Author, n NewChatMessage) (m earshot.Message, change earshot.Change, err error) {
	m, err = s.store.Message(ctx, in.Scope, n.ID)
	now := s.now()
	switch {
	case errors.Is(err, earshot.ErrNotFound):
		m = earshot.Message{ID: n.ID, Time: saidAt(in, n, now), Author: author, Text: n.Text, Metadata: n.Metadata}
		if thread := earshot.MessageID(visible.ThreadOf(in)); thread != n.ID {
			m.Thread = thread
		}
	case err != nil:
		return m, "", err
	case m.Deleted:
		return m, "", gone
	case !inConversation(in, &m), !sameAuthor(m.Author.ID, author.ID, self):
		return m, "", &visible.Refusal{Kind: visible.Conflict, Code: "id_taken", Path: "message_id", Detail: "is the id of another message"}
	case n.Text != "" && m.Text != contract.StoredText(n.Text):
		m.Edited, m.Text = max(now, m.Edited+1, m.Time+1), n.Text
		m.Author.Name, m.Mentions, m.Metadata = author.Name, nil, n.Metadata
	case n.Metadata == nil || maps.Equal(n.Metadata, m.Metadata):
		return m, earshot.Same, nil
	default: // what is not told stays
		m = earshot.Message{ID: m.ID, Time: m.Time, Author: m.Author, Text: m.Text, Thread: m.Thread, ReplyTo: m.ReplyTo, Edited: m.Edited, Metadata: n.Metadata}
	}
	recorded, err := s.store.Tell(ctx, in.Scope, m) // another caller may have taken the id meanwhile
	switch {
	case errors.Is(err, earshot.ErrInvalid):
		return m, "", visible.InvalidField("", "the message breaks a bound of the store")
	case err != nil:
		return m, "", fmt.Errorf("record a message of a conversation: %w", err)
	}
	m, err = s.store.Message(ctx, in.Scope, n.ID)
	if errors.Is(err, earshot.ErrNotFound) || err == nil && m.Deleted {
		return m, "", gone
	}
	return m, recorded[0].Change, err
}

// gone is the answer to a message that was deleted or erased: it never comes back.
var gone = &visible.Refusal{Kind: visible.Conflict, Code: "deleted", Path: "message_id", Detail: "is the id of a message that was deleted or erased, which cannot be recorded again"}

// saidAt returns the time of a new message: the caller's, else that of its id, else
// now.
func saidAt(in earshot.ConversationID, n NewChatMessage, now earshot.Time) earshot.Time {
	if at, err := earshot.ParseTime(n.Time); err == nil {
		return at
	}
	if at, ok := timeInID(in.Scope.Platform, n.ID, now); ok {
		return at
	}
	return now
}

// timeInID returns when a message was said by its id, where the platform's ids are
// times. ok is false for any other id, and for one that is too far ahead.
func timeInID(p earshot.Platform, id earshot.MessageID, now earshot.Time) (at earshot.Time, ok bool) {
	if of := p.Info().TimeOf; of != nil {
		at, ok = of(id)
	}
	return at, ok && at > 0 && at <= now+earshot.Time(ahead/time.Microsecond)
}

// inConversation reports whether a message is of a conversation. A thread's root is.
func inConversation(in earshot.ConversationID, m *earshot.Message) bool {
	if in.Name == gather.TopLevel {
		return m.Root() == ""
	}
	return string(m.Root()) == in.Name || string(m.ID) == in.Name
}

// sameAuthor reports whether two ids are one author's, of which the agent may have
// several.
func sameAuthor(a, b earshot.AuthorID, self earshot.Identity) bool {
	return a == b || self.Is(a) && self.Is(b)
}
