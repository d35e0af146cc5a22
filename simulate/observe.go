package simulate

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/earshot-ai/earshot/simulate/internal/fake"
)

// A Call is one call of a Web API method, or the fetch of a file. It does not contain
// the token.
type Call struct {
	Method     string            `json:"method"`
	At         time.Time         `json:"at"`
	Args       map[string]string `json:"args"`             // objects and lists as JSON text
	Authorized bool              `json:"authorized"`       // it came with a token
	Error      string            `json:"error,omitempty"`  // the error that was answered; "" for ok
	Status     int               `json:"status,omitempty"` // the HTTP status where it was not 200
	Fault      FaultKind         `json:"fault,omitempty"`  // the fault that it met
}

// record writes down a call.
func (s *Slack) record(r *request) *Call {
	c := &Call{Method: r.method, At: s.o.Now(), Args: maps.Clone(r.args), Authorized: r.token != ""}
	s.calls = append(s.calls, c)
	return c
}

// answered writes down how a call ended.
func (s *Slack) answered(c *Call, code string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Error = code
	if status != 0 {
		c.Status = status
	}
	s.host.Happened()
}

// ended tells the log of a call.
func (s *Slack) ended(c *Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.host.Happened()
	facts := []slog.Attr{slog.String("method", c.Method)}
	if c.Error != "" {
		facts = append(facts, slog.String("error", c.Error))
	}
	if c.Status != 0 {
		facts = append(facts, slog.Int("status", c.Status))
	}
	if c.Fault != "" {
		facts = append(facts, slog.String("fault", string(c.Fault)))
	}
	s.o.Log.LogAttrs(s.host.Life, slog.LevelInfo, "call", facts...)
}

// Calls returns the calls of these methods, or all, in the order in which
// they came.
func (s *Slack) Calls(methods ...string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fake.FilterByName(s.calls, methods, func(c *Call) string { return c.Method })
}

// ForgetCalls empties what Calls returns, so that a test can count the calls of one
// turn.
func (s *Slack) ForgetCalls() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = nil
}

// A Message is a message as people see it.
type Message struct {
	Channel   string   `json:"channel"`
	TS        string   `json:"ts"`
	Thread    string   `json:"thread,omitempty"` // the root's ts, "" in the channel
	User      string   `json:"user,omitempty"`   // "" for a bot without a user
	Bot       string   `json:"bot,omitempty"`    // the bot's id, "" for a person
	Text      string   `json:"text"`
	Files     []string `json:"files,omitempty"` // their names; "" for a file whose name the message does not have
	Edited    bool     `json:"edited,omitempty"`
	Broadcast bool     `json:"broadcast,omitempty"`
	Tombstone bool     `json:"tombstone,omitempty"`
	Streaming bool     `json:"streaming,omitempty"` // a stream that was not stopped
	Buttons   []Button `json:"buttons,omitempty"`
	// Metadata has event_type and event_payload; nil without.
	Metadata map[string]any `json:"metadata,omitempty"`
}

// A Button is one that people see at a message.
type Button struct {
	Label  string `json:"label"`
	Action string `json:"action"`          // its action_id
	Style  string `json:"style,omitempty"` // primary or danger
}

// Messages returns what people see in a channel, threads included, by time.
func (s *Slack) Messages(channel string) []Message {
	return s.see(channel, func(*message) bool { return true })
}

// Thread returns what people see of a thread: its root, then the replies by time.
func (s *Slack) Thread(channel, root string) []Message {
	return s.see(channel, func(m *message) bool { return m.ts == root || m.root == root })
}

// Posts returns the messages of the app that people see, in all channels.
func (s *Slack) Posts() []Message {
	s.mu.Lock()
	ids, own := []string{}, s.o.App.BotID
	for _, c := range s.channels {
		ids = append(ids, c.ID)
	}
	s.mu.Unlock()
	var out []Message
	for _, id := range ids {
		out = append(out, s.see(id, func(m *message) bool { return m.body["bot_id"] == own })...)
	}
	return out
}

// PostsByMetadata groups the app's posts by the value that their metadata has under a
// key of its event_payload. Posts without one are under "".
func (s *Slack) PostsByMetadata(key string) map[string][]Message {
	out := map[string][]Message{}
	for _, m := range s.Posts() {
		payload, _ := m.Metadata["event_payload"].(object)
		value := str(payload[key])
		out[value] = append(out[value], m)
	}
	return out
}

func (s *Slack) see(channel string, which func(*message) bool) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channel(channel)
	if c == nil {
		check(errNoChannel)
	}
	var out []Message
	for _, m := range c.messages {
		if !which(m) {
			continue
		}
		metadata, _ := m.body["metadata"].(object)
		shared, _ := m.body["files"].([]any)
		var files []string
		for _, f := range shared {
			o, _ := f.(object)
			files = append(files, str(o["name"]))
		}
		var buttons []Button
		list, _ := buttonsOf(m.body["blocks"])
		for _, b := range list {
			label, _ := b["text"].(object)
			buttons = append(buttons, Button{Label: str(label["text"]), Action: str(b["action_id"]), Style: str(b["style"])})
		}
		out = append(out, Message{
			Channel: channel, TS: m.ts, Thread: m.root, User: m.author(), Bot: str(m.body["bot_id"]), Text: m.text(),
			Files: files, Edited: m.body["edited"] != nil, Broadcast: m.is("thread_broadcast"), Tombstone: m.is("tombstone"),
			Streaming: m.streaming, Buttons: buttons, Metadata: metadata,
		})
	}
	return out
}

// Deliveries returns every event so far, in the order in which they happened, and how
// its delivery went.
func (s *Slack) Deliveries() []Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.deliveries)
}

// Undelivered returns the events that were given up: they were not acknowledged and
// are not sent again.
func (s *Slack) Undelivered() []Delivery {
	return slices.DeleteFunc(s.Deliveries(), func(d Delivery) bool { return !d.Over || d.Done })
}

// Settle waits until every event is acknowledged or given up. The error is ctx's.
func (s *Slack) Settle(ctx context.Context) error {
	return s.Until(ctx, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.pending == 0
	})
}

// Until waits until is says so. It is asked whenever something has happened
// here: a call was answered, an event delivered or given up, a socket opened
// or closed. It may use the methods of s.
func (s *Slack) Until(ctx context.Context, is func() bool) error { return s.host.Until(ctx, is) }
