package archive

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/earshot-ai/earshot"
)

// A PersonSource is what ExportPerson needs of an [earshot.Store].
type PersonSource interface {
	Source
	ByID(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error)
	Events(ctx context.Context, s earshot.Scope, id earshot.MessageID) ([]earshot.Event, error)
	Conversation(ctx context.Context, id earshot.ConversationID) (earshot.Conversation, error)
	QueuedTurns(ctx context.Context, q earshot.TurnQuery) ([]earshot.QueuedTurn, error)
	Posts(ctx context.Context, id earshot.TurnID) ([]earshot.Post, error)
	Turn(ctx context.Context, id earshot.ConversationID, number int) (earshot.Turn, error)
}

// A Person is somebody of one workspace.
type Person struct {
	Platform  earshot.Platform
	Workspace earshot.WorkspaceID
	User      earshot.AuthorID
}

// The lines of a person's export, besides authorLine and messageLine. Each is about
// the person, and none has the words of others but the agents' answers.
type (
	personHeader struct {
		Earshot string `json:"earshot"` // "person"
		Version int    `json:"version"`
		scopeOf
		User earshot.AuthorID `json:"user"`
	}
	// A personPlace begins every line about a message.
	personPlace struct {
		Type string `json:"type"`
		scopeOf
		Channel earshot.ChannelID `json:"channel"`
		Message earshot.MessageID `json:"message"`
		Time    stamp             `json:"time"`
	}
	// A deliveryLine is a delivery about a message of theirs, as the platform sent it.
	deliveryLine struct {
		personPlace
		Delivery string          `json:"delivery,omitempty"`
		Received stamp           `json:"received"`
		Raw      json.RawMessage `json:"raw"`
	}
	// A quoteLine is what somebody else's message quotes of theirs.
	quoteLine struct {
		personPlace
		Quote sharedOf `json:"quote"`
	}
	// A reactionLine is an emoji that they have given to a message.
	reactionLine struct {
		personPlace
		Emoji string `json:"emoji"`
		At    stamp  `json:"at,omitzero"`
	}
	// A turnLine is a question that they asked an agent, with its answer.
	turnLine struct {
		personPlace
		Turn    earshot.TurnID    `json:"turn"`
		Agent   earshot.AgentID   `json:"agent"`
		State   earshot.TurnState `json:"state"`
		Opened  stamp             `json:"opened"`
		Answers []answerOf        `json:"answers"`
	}
	answerOf struct {
		ID   earshot.MessageID `json:"id"`
		Text string            `json:"text"`
	}
	// A conversationLine is what is kept with a conversation in which they asked.
	conversationLine struct {
		Type string `json:"type"` // "conversation"
		scopeOf
		Channel  earshot.ChannelID `json:"channel"`
		Agent    earshot.AgentID   `json:"agent"`
		Name     string            `json:"name"`
		Created  stamp             `json:"created"`
		Metadata map[string]string `json:"metadata"`
		Title    string            `json:"title,omitempty"`
		Client   string            `json:"client,omitempty"`
		Owner    string            `json:"owner,omitempty"`
		Tags     []string          `json:"tags,omitempty"`
	}
)

// ExportPerson writes what is stored of one person to w as JSON lines, for a request
// of access: their profile; in each channel their messages with older revisions,
// files' names and deliveries, the messages that mention or quote them, by id, with
// their own quoted words; the reactions that they have given; and the questions that
// they asked, with the answers. What others wrote is left out: in their messages the
// texts that they quote of others, and in deliveries the parts that may hold them.
// Others' reactions are counts.
//
// The error is [earshot.ErrNotFound] when nothing is stored of the person, and then
// nothing was written. Memory does not grow with the store.
func ExportPerson(ctx context.Context, store PersonSource, w io.Writer, of Person, progress func(messages int)) error {
	out := bufio.NewWriterSize(w, 256<<10)
	x := &personExport{of: of, at: scopeOf{of.Platform, of.Workspace}, store: store, enc: json.NewEncoder(out), progress: progress}
	x.enc.SetEscapeHTML(false)
	err := x.run(ctx)
	if err == nil && !x.begun {
		err = fmt.Errorf("%s: %w", of.User, earshot.ErrNotFound)
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("export a person: %w", err)
	}
	return nil
}

type personExport struct {
	of       Person
	at       scopeOf
	store    PersonSource
	enc      *json.Encoder
	begun    bool
	read     int
	progress func(messages int)
}

// write writes a line, the header before the first.
func (x *personExport) write(line any) error {
	if !x.begun {
		x.begun = true
		if err := x.enc.Encode(personHeader{"person", exportVersion, x.at, x.of.User}); err != nil {
			return err
		}
	}
	return x.enc.Encode(line)
}

func (x *personExport) run(ctx context.Context) error {
	authors, err := x.store.Authors(ctx, x.of.Platform, x.of.Workspace, x.of.User)
	if err != nil {
		return err
	}
	for _, a := range authors {
		if err := x.write(authorLine{"author", x.at, authorOfAuthor(a)}); err != nil {
			return err
		}
	}
	channels, err := x.store.FindChannels(ctx, earshot.ChannelQuery{Platform: x.of.Platform, Workspaces: []earshot.WorkspaceID{x.of.Workspace}})
	if err != nil {
		return err
	}
	for _, c := range channels {
		if err := x.messages(ctx, c.Scope()); err != nil {
			return err
		}
		if err := x.turns(ctx, c.Scope()); err != nil {
			return err
		}
	}
	return nil
}

// messages writes the channel's messages that are of the person or about them.
func (x *personExport) messages(ctx context.Context, s earshot.Scope) error {
	return eachMessage(ctx, x.store, s, &x.read, x.progress, func(m earshot.Message, by []earshot.Reactor) error {
		if err := x.message(ctx, s, m); err != nil {
			return err
		}
		for _, r := range by {
			if r.ID != x.of.User {
				continue
			}
			at := personPlace{"reaction", x.at, s.Channel, m.ID, stamp(m.Time)}
			if err := x.write(reactionLine{at, r.Emoji, stamp(r.At)}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (x *personExport) message(ctx context.Context, s earshot.Scope, m earshot.Message) error {
	switch {
	case m.Deleted:
		return nil
	case m.Author.ID == x.of.User:
		return x.writeOwnMessage(ctx, s, m)
	}
	at := personPlace{scopeOf: x.at, Channel: s.Channel, Message: m.ID, Time: stamp(m.Time)}
	if slices.Contains(m.Mentions, x.of.User) {
		at.Type = "mention"
		if err := x.write(at); err != nil {
			return err
		}
	}
	at.Type = "quote"
	for _, q := range m.Shared {
		if q.ID == x.of.User {
			if err := x.write(quoteLine{at, sharedOf{q.Kind, q.ID, q.Author, q.Place, stamp(q.Time), q.Text}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeOwnMessage writes a message of the person, with its revisions and deliveries.
func (x *personExport) writeOwnMessage(ctx context.Context, s earshot.Scope, m earshot.Message) error {
	now := x.revision(m)
	line := messageLine{Type: "message", scopeOf: x.at, Channel: s.Channel, ID: m.ID, Time: stamp(m.Time), revision: &now, Metadata: metadataOf(m)}
	before, err := olderRevisions(ctx, x.store, s, m)
	if err != nil {
		return err
	}
	for _, r := range before {
		line.Revisions = append(line.Revisions, x.revision(r))
	}
	if err := x.write(line); err != nil {
		return err
	}
	events, err := x.store.Events(ctx, s, m.ID)
	if err != nil {
		return err
	}
	for _, e := range events {
		if e.Raw == nil {
			continue
		}
		at := personPlace{"delivery", x.at, s.Channel, m.ID, stamp(m.Time)}
		if err := x.write(deliveryLine{at, e.Delivery, stamp(e.Received), ownPart(e.Raw)}); err != nil {
			return err
		}
	}
	return nil
}

// revision returns a revision without what it quotes of others.
func (x *personExport) revision(m earshot.Message) revision {
	r := revisionOf(m, nil)
	for i, q := range r.Shared {
		if q.ID != x.of.User {
			r.Shared[i] = sharedOf{Kind: q.Kind, Place: q.Place, Time: q.Time}
		}
	}
	return r
}

// turns writes the channel's turns whose question the person asked, newest first,
// and their conversations.
func (x *personExport) turns(ctx context.Context, s earshot.Scope) error {
	told := map[earshot.ConversationID]bool{}
	for q := (earshot.TurnQuery{Scope: &s, Limit: page}); ; {
		list, err := x.store.QueuedTurns(ctx, q)
		if err != nil || len(list) == 0 {
			return err
		}
		anchors := make([]earshot.MessageID, len(list))
		for i, t := range list {
			anchors[i] = t.Anchor
		}
		messages, err := x.store.ByID(ctx, s, anchors...)
		if err != nil {
			return err
		}
		asked := map[earshot.MessageID]earshot.Message{}
		for _, m := range messages {
			if m.Author.ID == x.of.User {
				asked[m.ID] = m
			}
		}
		for _, t := range list {
			m, ok := asked[t.Anchor]
			if !ok {
				continue
			}
			if err := x.turn(ctx, s, t, m, told); err != nil {
				return err
			}
		}
		if len(list) < page {
			return nil
		}
		q.Before = list[len(list)-1].ID
	}
}

func (x *personExport) turn(ctx context.Context, s earshot.Scope, t earshot.QueuedTurn, anchor earshot.Message, told map[earshot.ConversationID]bool) error {
	answers, err := x.answers(ctx, s, t)
	if err != nil {
		return err
	}
	line := turnLine{personPlace{"turn", x.at, s.Channel, anchor.ID, stamp(anchor.Time)}, t.ID, t.Conversation.Agent, t.State, stamp(t.Opened), answers}
	if err := x.write(line); err != nil {
		return err
	}
	if told[t.Conversation] {
		return nil
	}
	told[t.Conversation] = true
	c, err := x.store.Conversation(ctx, t.Conversation)
	if err != nil {
		return err
	}
	return x.write(conversationLine{
		Type: "conversation", scopeOf: x.at, Channel: s.Channel, Agent: c.ID.Agent, Name: c.ID.Name, Created: stamp(c.Created), Metadata: c.Metadata,
		Title: c.About.Title, Client: c.About.Client, Owner: c.About.Owner, Tags: c.About.Tags,
	})
}

// answers returns the stored replies of a turn.
func (x *personExport) answers(ctx context.Context, s earshot.Scope, t earshot.QueuedTurn) ([]answerOf, error) {
	posts, err := x.store.Posts(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	var ids []earshot.MessageID
	for _, p := range posts {
		if p.Message != "" {
			ids = append(ids, p.Message)
		}
	}
	if len(ids) == 0 && t.State == earshot.TurnDone { // answered from outside
		committed, err := x.store.Turn(ctx, t.Conversation, t.Number)
		if err != nil && !errors.Is(err, earshot.ErrNotFound) {
			return nil, err
		}
		ids = committed.Answer.Replies
	}
	out := []answerOf{}
	if len(ids) == 0 {
		return out, nil
	}
	messages, err := x.store.ByID(ctx, s, ids...)
	for _, m := range messages {
		if !m.Deleted {
			out = append(out, answerOf{m.ID, m.Text})
		}
	}
	return out, err
}

// foreign are the keys of platforms' JSON under which others' words or names may
// stand: what a message quotes, the root that it answers, and who reacted.
var foreign = []string{"attachments", "message_snapshots", "referenced_message", "root", "users", "reply_users", "authorizations"}

// ownPart returns a delivery without what may be of others. One that is no JSON is
// returned as a JSON string.
func ownPart(raw []byte) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		v = string(raw)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(withoutForeign(v)) // it was decoded from JSON
	return bytes.TrimSpace(b.Bytes())
}

func withoutForeign(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range foreign {
			delete(v, key)
		}
		for key := range v {
			v[key] = withoutForeign(v[key])
		}
	case []any:
		for i := range v {
			v[i] = withoutForeign(v[i])
		}
	}
	return v
}
