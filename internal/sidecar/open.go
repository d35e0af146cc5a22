package sidecar

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/contexts"
	"github.com/earshot-ai/earshot/internal/contract"
	"github.com/earshot-ai/earshot/internal/inputref"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

// openTries is how often a context is gathered for a turn while the conversation
// changes.
const openTries = 5

// open makes a context and stores it as a draft, which claims its question. The error
// is a [*Taken] where the question is answered, or somebody else holds the claim.
func (s *Service) open(ctx context.Context, p access.Principal, a contexts.Request, claim Claim) (Context, error) {
	var err error
	for range openTries {
		var c Context
		if c, err = s.openOnce(ctx, p, a, claim); errors.Is(err, earshot.ErrConflict) {
			continue
		}
		own, e := s.own(ctx, p, claim, err)
		if e == nil && !own {
			claim.after, e = s.freed(ctx, err)
		}
		switch {
		case e != nil:
			return Context{}, e
		case !own && claim.after == 0:
			return c, s.taken(ctx, err)
		}
	}
	return Context{}, fmt.Errorf("open a turn: %w", err)
}

func (s *Service) openOnce(ctx context.Context, p access.Principal, a contexts.Request, claim Claim) (Context, error) {
	d := earshot.Draft{
		Conversation: a.Conversation, Anchor: a.Anchor, Opener: p.ID, State: earshot.DraftOpen,
		Opened: s.now(), Again: claim.Again, Replaces: cmp.Or(claim.replaces, claim.after),
	}
	var left *earshot.Draft
	if d.Replaces == 0 {
		var err error
		if left, err = s.left(ctx, d); err != nil {
			return Context{}, err
		} else if left != nil {
			d.Replaces = left.ID
		}
	}
	if err := s.store.Claimed(ctx, d); err != nil { // who asks again and again has no context made
		return Context{}, err
	}
	// The turns are counted before anything is read, so that whatever is committed
	// while it is read is a conflict.
	turns, err := s.store.Turns(ctx, a.Conversation, 1)
	if err != nil {
		return Context{}, err
	}
	began := s.now()
	c, err := s.makeContext(ctx, p, a)
	if err != nil {
		return Context{}, err
	}
	took := s.now() - began
	d.Opened, d.Expires, d.Turns, d.Turn = s.now(), s.until(claim.Hold), inputref.Count(turns), turnOf(c)
	if d.Prompt, err = inputref.Prompt(c.Input, c.Result, turns, ""); err != nil {
		return Context{}, err
	}
	if a.Posted == nil {
		if a.Posted, err = s.posted(ctx, a.Conversation, anchorOf(c.Input), a.Agent); err != nil {
			return Context{}, err
		}
	}
	how := opening{Edited: anchorOf(c.Input).Edited, Hold: int(claim.Hold.Seconds()), Key: keySum(claim.Key), Replaces: claim.replaces, Took: took}
	if claim.Again {
		if how.Answers, err = s.answers(ctx, a.Conversation, a.Anchor); err != nil {
			return Context{}, err
		}
	}
	if d.Asked, err = encodeSettings(a.Settings, how); err != nil {
		return Context{}, err
	}
	replaced := d.Replaces != 0
	if d, err = s.store.OpenDraft(ctx, d); err != nil {
		return Context{}, err
	}
	c.Draft = &d
	if replaced {
		if c.Asked, err = s.asked(ctx, d.ID); err != nil {
			return Context{}, err
		}
	}
	if c.Interrupted, err = s.interrupted(ctx, d); c.Interrupted == nil && left != nil && left.Posting != 0 {
		c.Interrupted = left
	}
	return c, err
}

// turnOf returns what committing a context records, without its reply. A question
// that is answered without context leaves nothing but its answer.
func turnOf(c Context) earshot.Turn {
	in, res := c.Input, c.Result
	t := earshot.Turn{
		Answer: earshot.Answer{Anchor: in.Anchor}, Policy: in.Policy.Name, Hash: res.Hash,
		Epoch: in.Conversation.Epoch, Form: string(in.Policy.WithDefaults().Frame), Zone: in.Zone,
	}
	if isIsolated(in) {
		return t
	}
	t.Cursor, t.Epoch = res.Next.Cursor, res.Next.Epoch
	t.Shown, t.Attached, t.Names, t.Ledger = res.Next.Shown, res.Next.Attached, res.Next.Names, res.Ledger
	if in.Policy.Session {
		t.Session = entriesOf(newMessages(res))
	}
	return t
}

// isIsolated reports whether the question is answered without context.
func isIsolated(in assemble.Input) bool {
	m := anchorOf(in)
	return m.Isolated()
}

// anchorOf returns the question of an input.
func anchorOf(in assemble.Input) earshot.Message {
	for i := range in.Messages {
		if in.Messages[i].ID == in.Anchor {
			return in.Messages[i]
		}
	}
	return earshot.Message{}
}

// newMessages returns the messages of a prompt that are not of the session alone.
func newMessages(res assemble.Result) []assemble.Message {
	for i, m := range res.Messages {
		if len(m.Sections) == 0 || slices.ContainsFunc(m.Sections, func(of assemble.SectionName) bool { return of != assemble.SessionPart }) {
			return res.Messages[i:]
		}
	}
	return nil
}

// entriesOf returns messages of a prompt as a session keeps them.
func entriesOf(messages []assemble.Message) []earshot.SessionEntry {
	var out []earshot.SessionEntry
	for _, m := range messages {
		out = append(out, earshot.SessionEntry{Role: m.Role, Text: m.Text, Media: m.Media, Calls: m.Calls, Call: m.Call, Failed: m.Failed, Opaque: m.Opaque})
	}
	return out
}

// A settingsJSON is settings as a draft keeps them. Text stays away: a draft keeps no
// texts of messages, and this may be one.
type settingsJSON struct {
	Policy       jsontext.Value       `json:"policy,omitzero"`
	Budget       *assemble.Budget     `json:"budget,omitzero"`
	Counter      *string              `json:"counter,omitzero"`
	Instructions *string              `json:"instructions,omitzero"`
	Zone         string               `json:"zone,omitzero"`
	AskerZone    string               `json:"asker_zone,omitzero"`
	Attach       []earshot.ArtifactID `json:"attach,omitempty"`
	ReadAs       bool                 `json:"read_as,omitzero"` // there was a Text
	Posted       []earshot.MessageID  `json:"posted,omitzero"`
	opening
}

// An opening is what is kept of how a turn was opened, besides its settings.
type opening struct {
	Edited   earshot.Time   `json:"edited,omitzero"`   // the last edit of the anchor then
	Hold     int            `json:"hold,omitzero"`     // seconds
	Key      string         `json:"key,omitzero"`      // as keySum has it
	Replaces earshot.TurnID `json:"replaces,omitzero"` // the turn that came too late, for which this one was opened
	Took     earshot.Time   `json:"took,omitzero"`     // making the context, in microseconds
	Answers  int            `json:"answers,omitzero"`  // of one that insists: how often the conversation had answered the anchor
}

func (o opening) hold() time.Duration { return time.Duration(o.Hold) * time.Second }

func encodeSettings(h contexts.Settings, o opening) ([]byte, error) {
	w := settingsJSON{opening: o, Budget: h.Budget, Instructions: h.Instructions, Zone: h.Zone, AskerZone: h.AskerZone, Attach: h.Attach, ReadAs: h.Text != "", Posted: h.Posted}
	if h.Policy != nil {
		policy, err := json.Marshal(*h.Policy, json.Deterministic(true))
		if err != nil {
			return nil, fmt.Errorf("keep the policy: %w", err)
		}
		w.Policy = policy
	}
	if h.Counter != nil {
		name := h.Counter.Name()
		w.Counter = &name
	}
	return json.Marshal(w)
}

// errReadAs says that a context cannot be made anew, because its question was read
// as a text that is not kept.
var errReadAs = errors.New("the question was read as another text")

// openingOf reads how a draft was opened; the zero value where nothing is kept of it.
func openingOf(d earshot.Draft) opening {
	var w settingsJSON
	if len(d.Asked) > 0 {
		_ = json.Unmarshal(d.Asked, &w) // written here
	}
	return w.opening
}

func decodeSettings(data []byte) (contexts.Settings, error) {
	var w settingsJSON
	if len(data) == 0 {
		return contexts.Settings{}, nil
	}
	if err := json.Unmarshal(data, &w); err != nil {
		return contexts.Settings{}, fmt.Errorf("how a context was asked for: %w", err)
	}
	if w.ReadAs {
		return contexts.Settings{Posted: w.Posted}, errReadAs
	}
	h := contexts.Settings{Budget: w.Budget, Instructions: w.Instructions, Zone: w.Zone, AskerZone: w.AskerZone, Attach: w.Attach, Posted: w.Posted}
	var err error
	if w.Policy != nil {
		p, e := contract.ReadPolicy(w.Policy)
		h.Policy, err = &p, e
	}
	if err == nil && w.Counter != nil {
		h.Counter, err = contract.ReadCounter(w.Counter)
	}
	return h, err
}
