package discord

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/url"
	"slices"
	"time"

	"github.com/earshot-ai/earshot/simulate/internal/fake"
)

// A Call is one request to the API. It does not contain the token.
type Call struct {
	Operation  string            `json:"operation"` // as Discord's OpenAPI description names it; "" for what is not here
	Method     string            `json:"method"`
	Path       string            `json:"path"` // without /api/v10, and without a webhook's token
	Query      url.Values        `json:"query,omitempty"`
	Body       json.RawMessage   `json:"body,omitempty"`   // JSON, also of a form's payload_json
	Params     map[string]string `json:"params,omitempty"` // of the path: channel, message, …
	At         time.Time         `json:"at"`
	Authorized bool              `json:"authorized"`      // it came with a token
	Status     int               `json:"status"`          // of HTTP; 0 where there was no answer
	Code       int               `json:"code,omitempty"`  // Discord's, of an error
	Fault      FaultKind         `json:"fault,omitempty"` // the fault that it met
}

// answered writes down how a call ended.
func (s *Discord) answered(c *Call, code, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Code, c.Status = code, status
	s.host.Happened()
}

// ended tells the log of a call.
func (s *Discord) ended(c *Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.host.Happened()
	facts := []slog.Attr{slog.String("operation", c.Operation), slog.String("path", c.Method+" "+c.Path), slog.Int("status", c.Status)}
	if c.Code != 0 {
		facts = append(facts, slog.Int("code", c.Code))
	}
	if c.Fault != "" {
		facts = append(facts, slog.String("fault", string(c.Fault)))
	}
	s.o.Log.LogAttrs(s.host.Life, slog.LevelInfo, "call", facts...)
}

// Calls returns the calls of these operations, or all, in the order in which they
// came.
func (s *Discord) Calls(operations ...string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fake.FilterByName(s.calls, operations, func(c *Call) string { return c.Operation })
}

// ForgetCalls empties what Calls returns, so that a test can count the calls of one
// turn.
func (s *Discord) ForgetCalls() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = nil
}

// A Message is a message as people see it.
type Message struct {
	Channel   string         `json:"channel"`
	ID        string         `json:"id"`
	Type      int            `json:"type"`
	Author    string         `json:"author"`            // a user's id, or a webhook's
	Webhook   string         `json:"webhook,omitempty"` // the name under which a webhook posted
	Content   string         `json:"content"`
	Reply     string         `json:"reply,omitempty"`   // the message that it replies to
	Forward   string         `json:"forward,omitempty"` // the message that it forwards
	Files     []string       `json:"files,omitempty"`   // their names
	Reactions map[string]int `json:"reactions,omitempty"`
	Mentions  []string       `json:"mentions,omitempty"` // the users that it notifies
	Nonce     string         `json:"nonce,omitempty"`
	Flags     int            `json:"flags,omitempty"`
	Edited    bool           `json:"edited,omitempty"`
	Thread    string         `json:"thread,omitempty"` // the thread that was started from it
	Buttons   []Button       `json:"buttons,omitempty"`
	Menus     []Menu         `json:"menus,omitempty"`
	Pinned    bool           `json:"pinned,omitempty"`
}

// Messages returns what people see in a channel or a thread, by time.
func (s *Discord) Messages(channel string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.byID[channel]
	if c == nil {
		check(errNoChannel(channel))
	}
	return s.shown(c, func(*message) bool { return true })
}

// Posts returns the messages of the bot under test that people see, in all channels.
func (s *Discord) Posts() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Message
	for _, c := range s.channels {
		out = append(out, s.shown(c, func(m *message) bool { return m.author == s.o.App.UserID })...)
	}
	return out
}

// PostsByNonce groups the bot's posts by their nonce. Posts without one are under "".
func (s *Discord) PostsByNonce() map[string][]Message {
	out := map[string][]Message{}
	for _, m := range s.Posts() {
		out[m.Nonce] = append(out[m.Nonce], m)
	}
	return out
}

func (s *Discord) shown(c *channel, which func(*message) bool) []Message {
	var out []Message
	for _, m := range c.messages {
		if !which(m) {
			continue
		}
		o := Message{
			Channel: c.ID, ID: m.id, Type: m.kind, Author: m.author, Webhook: m.name, Content: m.content, Flags: m.flags,
			Edited: !m.edited.IsZero(), Mentions: slices.Clone(m.users), Nonce: nonceText(m.nonce), Buttons: buttons(m.parts), Menus: menus(m.parts), Pinned: !m.pinned.IsZero(),
		}
		if m.reply != nil && m.kind == typeReply {
			o.Reply = m.reply.message
		}
		if m.forward != nil {
			o.Forward = m.forward.message
		}
		for _, f := range m.files {
			o.Files = append(o.Files, f.Name)
		}
		for _, r := range m.reactions {
			if o.Reactions == nil {
				o.Reactions = map[string]int{}
			}
			o.Reactions[r.emoji] = len(r.users)
		}
		if m.flags&flagHasThread != 0 {
			o.Thread = m.id
		}
		out = append(out, o)
	}
	return out
}

// Events returns every event so far, in the order in which they happened.
func (s *Discord) Events(kinds ...string) []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fake.FilterByName(s.events, kinds, func(e *Event) string { return e.Type })
}

// Channels returns the channels of the guilds that the bot is in, without threads and
// direct messages, in the order in which they were made.
func (s *Discord) Channels() []Channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Channel
	for _, c := range s.channels {
		if c.Guild != "" && c.thread == nil {
			out = append(out, Channel{ID: c.ID, Guild: c.Guild, Type: c.Type, Name: c.Name, Topic: c.Topic, Parent: c.Parent, Private: c.private()})
		}
	}
	return out
}

// Connections returns how many sockets are open.
func (s *Discord) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sockets)
}

// Identifies returns how many times a bot has identified.
func (s *Discord) Identifies() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.identifies
}

// Settle waits until the bot has received every event. It asks for heartbeats, which
// tell the last sequence that was received, and waits for those who may resume.
// Where no bot has identified there is nothing to wait for. The error is ctx's.
func (s *Discord) Settle(ctx context.Context) error {
	again := time.NewTicker(settleAgain)
	defer again.Stop()
	for {
		if s.settled() {
			return nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.host.Life.Done():
			return s.host.ErrClosed()
		}
	}
}

// settled reports whether every event was received, and asks those who have not told
// so.
func (s *Discord) settled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	done := s.late == 0
	for _, x := range s.sessions {
		if x.invalid || x.seen >= x.seq {
			continue
		}
		done = false
		if c := x.socket; c != nil && !c.asked {
			c.asked = true
			s.send(c, object{"op": opHeartbeat, "s": nil, "t": nil, "d": nil})
		}
	}
	return done
}

// Until waits until is says so. It is asked whenever something has happened here: a
// call was answered, an event sent, a socket opened or closed. It may use the
// methods of s.
func (s *Discord) Until(ctx context.Context, is func() bool) error { return s.host.Until(ctx, is) }
