package discord

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// Limits of a message.
const (
	maxContent = 2000 // characters
	maxNonce   = 25
	maxEmbeds  = 10
	maxPage    = 100
	maxBulk    = 100
	bulkAge    = 14 * 24 * time.Hour
)

// A nonce is one that makes a post the same for a while.
type nonce struct {
	author, channel, nonce, message string
	at                              time.Time
}

func fmtInt(n int64) string { return strconv.FormatInt(n, 10) }

func compareIDs(a, b string) int { return cmp.Compare(number(a), number(b)) }

// rest is how the API shows messages.
func (s *Discord) rest() view { return view{content: !s.o.NoMessageContent} }

// createMessage posts as the bot. With enforce_nonce, a post whose nonce was used by
// the bot in the last minutes is answered with the message that was made then.
func (s *Discord) createMessage(r *request, c *channel) (int, any, error) {
	switch {
	case c.Type == Category || c.Type == Forum:
		return 0, nil, errWrongType
	case c.Type == DM && slices.ContainsFunc(c.people, func(id string) bool { u := s.user(id); return u != nil && u.NoDMs }):
		return 0, nil, errNoDMs
	case !s.maySend(c), len(r.files) > 0 && s.permissions(c, s.o.App.UserID)&attachFiles == 0:
		return 0, nil, errPermissions
	case c.thread != nil && c.thread.locked:
		return 0, nil, errArchived
	}
	m := &message{channel: c.ID, author: s.o.App.UserID}
	if err := s.fill(c, m, r); err != nil {
		return 0, nil, err
	}
	key := nonceText(m.nonce)
	if key != "" && r.flag("enforce_nonce") {
		if old := s.same(key); old != nil {
			return 0, s.messageJSON(old, view{content: true, nonce: true}), nil
		}
	}
	s.post(c, m)
	if key != "" {
		s.nonces = append(s.nonces, nonce{m.author, c.ID, key, m.id, s.o.Now()})
	}
	return 0, s.messageJSON(m, view{content: true, nonce: true}), nil
}

// same is the bot's message that was posted with a nonce in the last minutes; nil for
// none.
func (s *Discord) same(key string) *message {
	now := s.o.Now()
	s.nonces = slices.DeleteFunc(s.nonces, func(n nonce) bool { return now.Sub(n.at) >= s.o.NonceFor })
	for _, n := range s.nonces {
		if n.nonce == key && n.author == s.o.App.UserID {
			if c := s.byID[n.channel]; c != nil {
				return c.message(n.message)
			}
		}
	}
	return nil
}

// fill reads what a post says into a message.
func (s *Discord) fill(c *channel, m *message, r *request) error {
	text, ok := r.text("content")
	if !ok {
		return invalid("content", "BASE_TYPE_STRING", "Could not interpret value as string.")
	}
	if utf8.RuneCountInString(text) > maxContent {
		return invalid("content", "BASE_TYPE_MAX_LENGTH", "Must be 2000 or fewer in length.")
	}
	m.content = text
	switch v := r.body["nonce"].(type) {
	case nil:
	case string:
		if utf8.RuneCountInString(v) > maxNonce {
			return invalid("nonce", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.")
		}
		if v != "" {
			m.nonce = v
		}
	case json.Number:
		m.nonce = v
	default:
		return invalid("nonce", "BASE_TYPE_STRING", "Could not interpret value as string.")
	}
	m.embeds, m.parts, m.tts = r.list("embeds"), r.list("components"), r.flag("tts")
	if err := checkComponents(m.parts); err != nil {
		return err
	}
	if len(m.embeds) > maxEmbeds {
		return invalid("embeds", "BASE_TYPE_MAX_LENGTH", "Must be 10 or fewer in length.")
	}
	for _, v := range m.embeds {
		if o, ok := v.(object); ok && o["type"] == nil {
			o["type"] = "rich"
		}
	}
	if poll := r.object("poll"); poll != nil {
		m.poll = poll
	}
	m.flags |= r.int("flags") & (flagSuppressEmbeds | flagSilent)
	if err := s.refer(c, m, r.object("message_reference")); err != nil {
		return err
	}
	if m.content == "" && len(m.embeds) == 0 && len(m.parts) == 0 && len(r.files) == 0 && m.forward == nil && m.poll == nil && len(r.list("sticker_ids")) == 0 {
		return errEmpty
	}
	for _, f := range r.files {
		m.files = append(m.files, s.attach(c.ID, f))
	}
	allowed := r.object("allowed_mentions")
	ping := true
	if allowed != nil {
		ping, _ = allowed["replied_user"].(bool)
	}
	s.mentions(c, m, allowed, ping)
	return nil
}

// refer makes of a message a reply or a forward. A reply to a message that is gone is
// an error, unless fail_if_not_exists is false: then it is no reply.
func (s *Discord) refer(c *channel, m *message, ref object) error {
	if ref == nil {
		return nil
	}
	id, in := str(ref["message_id"]), cmp.Or(str(ref["channel_id"]), c.ID)
	kind, _ := ref["type"].(json.Number)
	to := s.byID[in]
	if kind == "1" {
		if to == nil || !s.sees(to, s.o.App.UserID) || to.message(id) == nil {
			return invalid("message_reference", "MESSAGE_REFERENCE_UNKNOWN_MESSAGE", "Unknown message")
		}
		s.share(m, to, to.message(id))
		return nil
	}
	if in != c.ID {
		return invalid("message_reference", "REPLIES_CANNOT_REFERENCE_OTHER_CHANNEL", "Cannot reply to a message in a different channel")
	}
	old := c.message(id)
	if old == nil {
		if v, ok := ref["fail_if_not_exists"].(bool); ok && !v {
			return nil
		}
		return invalid("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
	}
	if !slices.Contains([]int{typeDefault, typeReply, typeChatCommand, typeMenuCommand}, old.kind) {
		return invalid("message_reference", "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE", "Cannot reply to a system message")
	}
	m.kind, m.reply = typeReply, &reference{c.Guild, c.ID, id}
	return nil
}

// share makes of m a forward of another message: what it says stays as it is now.
func (s *Discord) share(m *message, from *channel, what *message) {
	m.forward = &reference{from.Guild, from.ID, what.id}
	m.flags |= flagSnapshot
	m.snapshots = []any{s.snapshot(what)}
	if what.snapshots != nil { // a forward of a forward shows the first message
		m.snapshots = what.snapshots
	}
}

// post puts a message into its channel now, and tells of it. In a thread, who posts
// becomes a member; an archived one is opened.
func (s *Discord) post(c *channel, m *message) {
	if m.id == "" {
		m.id = s.newID()
	}
	if t := c.thread; t != nil {
		m.position = t.sent
		if t.archived && !t.locked {
			t.archived, t.archiving = false, s.o.Now()
			s.tellChannel("UPDATE", c)
		}
	}
	c.add(m)
	if c.thread != nil && m.webhook == "" {
		s.enter(c, append([]string{m.author}, m.users...)...)
	}
	s.tellNew(c, m)
}

// updateMessage edits one of the bot's own. Of others, the bot may only suppress the
// embeds, where it may manage messages.
func (s *Discord) updateMessage(r *request, c *channel, m *message) (int, any, error) {
	if c.thread != nil && c.thread.archived {
		return 0, nil, errArchived
	}
	if m.author != s.o.App.UserID {
		if _, only := r.body["flags"]; !only || len(r.body) > 1 {
			return 0, nil, errForeign
		}
		if s.permissions(c, s.o.App.UserID)&manageMessages == 0 {
			return 0, nil, errPermissions
		}
	}
	next := *m
	if _, has := r.body["content"]; has {
		text, ok := r.text("content")
		if !ok {
			return 0, nil, invalid("content", "BASE_TYPE_STRING", "Could not interpret value as string.")
		}
		if utf8.RuneCountInString(text) > maxContent {
			return 0, nil, invalid("content", "BASE_TYPE_MAX_LENGTH", "Must be 2000 or fewer in length.")
		}
		next.content, next.edited = text, s.o.Now()
	}
	if _, has := r.body["embeds"]; has {
		next.embeds, next.edited = r.list("embeds"), s.o.Now()
	}
	if _, has := r.body["components"]; has {
		if err := checkComponents(r.list("components")); err != nil {
			return 0, nil, err
		}
		next.parts, next.edited = r.list("components"), s.o.Now()
	}
	if _, has := r.body["flags"]; has {
		next.flags = next.flags&^flagSuppressEmbeds | r.int("flags")&flagSuppressEmbeds
	}
	if next.flags&flagSuppressEmbeds != 0 && m.author != s.o.App.UserID {
		next.embeds = nil
	}
	if next.content == "" && len(next.embeds) == 0 && len(next.parts) == 0 && len(next.files) == 0 && next.poll == nil && next.forward == nil {
		return 0, nil, errEmpty
	}
	if m.author == s.o.App.UserID {
		allowed := r.object("allowed_mentions")
		ping := m.ping
		if allowed != nil {
			ping, _ = allowed["replied_user"].(bool)
		}
		s.mentions(c, &next, allowed, ping)
	}
	*m = next
	s.tellChanged(c, m)
	return 0, s.messageJSON(m, view{content: true}), nil
}

func (s *Discord) deleteMessage(_ *request, c *channel, m *message) (int, any, error) {
	if m.author != s.o.App.UserID && s.permissions(c, s.o.App.UserID)&manageMessages == 0 {
		return 0, nil, errPermissions
	}
	if m.kind == typeThreadStarter {
		return 0, nil, errSystem
	}
	s.remove(c, m.id)
	return http.StatusNoContent, nil, nil
}

// bulkDelete deletes 2 to 100 messages. Ids that are none are left out; messages that
// are older than two weeks are an error.
func (s *Discord) bulkDelete(r *request, c *channel) (int, any, error) {
	if c.Type == DM || s.permissions(c, s.o.App.UserID)&manageMessages == 0 {
		return 0, nil, errPermissions
	}
	var ids []string
	for _, v := range r.list("messages") {
		ids = append(ids, str(v))
	}
	if len(ids) < 2 || len(ids) > maxBulk {
		return 0, nil, &apiError{status: 400, code: 50016, message: "Provided too few or too many messages to delete. Must provide at least 2 and fewer than 100 messages to delete"}
	}
	for _, id := range ids {
		if s.o.Now().Sub(Time(id)) > bulkAge {
			return 0, nil, &apiError{status: 400, code: 50034, message: "A message provided was too old to bulk delete"}
		}
	}
	s.remove(c, ids...)
	return http.StatusNoContent, nil, nil
}

// remove deletes messages and tells of those that were there, in one event.
func (s *Discord) remove(c *channel, ids ...string) {
	var gone []string
	for _, id := range ids {
		if i := slices.IndexFunc(c.messages, func(m *message) bool { return m.id == id }); i >= 0 {
			c.messages = slices.Delete(c.messages, i, i+1)
			gone = append(gone, id)
		}
	}
	switch {
	case len(ids) == 1 && len(gone) == 1:
		s.tellDeleted(c, gone[0])
	case len(gone) > 0:
		s.tellBulk(c, gone)
	}
}
