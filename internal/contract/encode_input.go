package contract

import (
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// EncodeInput writes an Input as compact JSON with a line break at its end, so
// that Decode reads it back to the same result. Metadata, which no prompt has, are left out.
func EncodeInput(in assemble.Input) ([]byte, error) {
	if in.Counter == nil {
		return nil, errors.New("contract: the input has no counter")
	}
	policy, err := json.Marshal(in.Policy, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	for _, p := range assemble.Policies() {
		if builtin, err := json.Marshal(p, json.Deterministic(true)); err == nil && string(builtin) == string(policy) {
			policy = []byte(`"` + p.Name + `"`)
		}
	}
	w := Input{
		Policy:  jsontext.Value(policy),
		Budget:  &Budget{&in.Budget.Tokens, &in.Budget.Session, &in.Budget.Limit},
		Counter: ptr(in.Counter.Name()), Instructions: some(in.Instructions), Zone: some(in.Zone), AskerZone: some(in.AskerZone), Notices: in.Notices,
		Identity: &Identity{ptr(string(in.Identity.ID)), &in.Identity.Name, strs(in.Identity.Aliases)},
		Channel:  ChannelOf(in.Channel),
		Anchor:   ptr(string(in.Anchor)), Messages: &[]*Message{}, Attach: strs(in.Attach),
		Conversation: conversationWire(in.Conversation),
	}
	if by := in.AskedBy; by.Emoji != "" {
		w.AskedBy = &AskedBy{&by.Emoji, ptr(string(by.ID)), some(by.Name), some(by.Time.String())}
	}
	if t := in.Trust; t != (earshot.Trust{}) {
		w.Trust = &Trust{some(string(t.External)), some(string(t.Guest)), some(string(t.Bots)), some(string(t.NotAllowed))}
	}
	for i := range in.Messages {
		m := messageWire(&in.Messages[i])
		m.Metadata = nil
		for _, f := range m.Files {
			if n, ok := in.FileTokens[earshot.ArtifactID(optional(f.ID))]; ok {
				f.Tokens = ptr(n)
			}
		}
		*w.Messages = append(*w.Messages, m)
	}
	for _, x := range in.Mentioned {
		w.Mentioned = append(w.Mentioned, &Mentioned{ptr(string(x.ID)), ptr(x.Name), some(x.FullName)})
	}
	for _, x := range in.Recalled {
		w.Recalled = append(w.Recalled, &Recalled{ptr(string(x.ID)), some(x.Score), some(x.Cover), x.Parts})
	}
	for _, s := range in.Stored {
		w.Stored = append(w.Stored, &Stored{some(string(s.Thread)), ptr(s.Count), some(s.From.String()), some(s.To.String())})
	}
	for _, c := range in.Coverage {
		w.Coverage = append(w.Coverage, &Coverage{some(string(c.Thread)), some(c.From.String()), some(c.To.String()), ptr(string(c.State)), some(c.Why)})
	}
	return marshal(w)
}

func messageWire(m *earshot.Message) *Message {
	w := &Message{
		ID: ptr(string(m.ID)), Time: ptr(timeText(m.Time)), Text: &m.Text,
		Author: &Author{some(string(m.Author.ID)), some(m.Author.Name), some(m.Author.FullName), some(string(m.Author.Kind)), some(string(m.Author.Standing)), some(m.Author.Team), some(m.Author.NotAllowed)},
		Thread: some(string(m.Thread)), ReplyTo: some(string(m.ReplyTo)), Edited: some(m.Edited.String()),
		Deleted: some(m.Deleted), Seq: some(m.Seq), Mentions: strs(m.Mentions), Tokens: some(m.Tokens),
	}
	for _, r := range m.Reactions {
		x := &Reaction{Name: ptr(r.Name), Count: ptr(r.Count)}
		if m.Reactors != nil {
			for _, who := range m.Reactors.List {
				if who.Emoji == r.Name {
					x.By = append(x.By, &Reactor{ptr(string(who.ID)), some(who.Name)})
				}
			}
		}
		w.Reactions = append(w.Reactions, x)
	}
	if a := m.Replies; a != nil {
		w.Replies = &Replies{&a.Count, &a.LastHour, some(a.Last.String())}
	}
	if x := m.Subject; x != nil {
		w.Subject = &Subject{some(x.Name), x.Tags, some(x.Post)}
	}
	for _, x := range m.Shared {
		w.Shared = append(w.Shared, &Shared{some(string(x.ID)), some(x.Author), some(x.Place), some(x.Time.String()), some(x.Text), ptr(string(x.Kind)), some(string(x.Lane))})
	}
	for _, f := range m.Files {
		w.Files = append(w.Files, &File{some(string(f.ID)), some(f.Name), some(f.Type), some(f.Size), some(f.SHA256), nil})
	}
	if len(m.Metadata) > 0 {
		w.Metadata = MetadataOf(m.Metadata)
	}
	return w
}

// timeText writes a message's time, the zero time too.
func timeText(t earshot.Time) string {
	if t == 0 {
		return "1970-01-01T00:00:00Z"
	}
	return t.String()
}

func conversationWire(c assemble.ConversationState) *Conversation {
	w := &Conversation{Cursor: some(c.Cursor), Epoch: some(c.Epoch), Form: some(string(c.Form))}
	if c.Processed != 0 {
		w.Processed = some(c.Processed.String())
	}
	if s := c.Summary; s != nil {
		w.Summary = &Summary{&s.Text, some(s.From.String()), some(s.To.String()), some(s.Turns), some(s.By)}
	}
	for _, s := range c.Shown {
		w.Shown = append(w.Shown, shownWire(s))
	}
	for _, t := range c.Turns {
		w.Turns = append(w.Turns, &Turn{ptr(string(t.Anchor)), strs(t.Replies)})
	}
	for _, e := range c.Session {
		x := &Entry{ptr(string(e.Role)), ptr(e.Text), strs(e.Media), nil, some(e.Call), some(e.Failed), some(e.Opaque)}
		x.Calls = callsWire(e.Calls)
		w.Session = append(w.Session, x)
	}
	for _, n := range c.Names {
		w.Names = append(w.Names, namedWire(n))
	}
	for _, a := range c.Attached {
		w.Attached = append(w.Attached, attachedWire(a))
	}
	return w
}

func callsWire(calls []earshot.Call) []*Call {
	var out []*Call
	for _, c := range calls {
		out = append(out, &Call{ptr(c.ID), ptr(c.Name), ptr(c.Args)})
	}
	return out
}

// some returns nil for the zero value, which is left out.
func some[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func strs[T ~string](list []T) []string {
	var out []string
	for _, v := range list {
		out = append(out, string(v))
	}
	return out
}
