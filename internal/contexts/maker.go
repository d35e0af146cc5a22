// Package contexts makes contexts with the settings of one process and within its
// limits: for bots that ask for one (package sidecar), and for people who want to see
// what a bot would see (package explain).
//
// Start with [New], [Maker.Make] and [Request].
package contexts

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/tokens"
)

// Options are the settings of a Maker. Zero fields mean the defaults.
type Options struct {
	Policy  assemble.Policy  // where a request names none; default: [assemble.Standard]
	Budget  assemble.Budget  // where a request has none; default: [assemble.DefaultBudget]
	Counter assemble.Counter // where a request names none; default: o200k
	// Count is asked for the counter of each context, in place of Counter; nil is fine.
	Count        func() assemble.Counter
	Instructions string // where a request has none
	Zone         string // as in [gather.Request.DefaultZone]
	// Trust and AllowList are as in [gather.Request].
	Trust     earshot.Trust
	Notices   []string // likewise
	AllowList earshot.AllowList
	Log       *slog.Logger // nil discards

	// AllowChannel reports whether one channel may be asked for once more, and when
	// it may if not; see [Maker.Hold]. nil allows everything. An *[access.Gate] has one.
	AllowChannel func(earshot.Scope) (retryAfter time.Duration, ok bool)
}

// A Maker makes contexts from one store. It is safe for concurrent use.
type Maker struct {
	store    earshot.Store
	searcher *search.Searcher
	options  Options
	working  chan struct{} // holds one for each context that is being made
}

// New returns a Maker over a store. The searcher is one over the same store.
func New(st earshot.Store, searcher *search.Searcher, o Options) *Maker {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if counter := o.Counter; o.Count == nil {
		o.Count = func() assemble.Counter { return counter }
	}
	return &Maker{store: st, searcher: searcher, options: o, working: make(chan struct{}, 8*runtime.GOMAXPROCS(0))}
}

// Zone is the zone of contexts whose requests have none.
func (m *Maker) Zone() string { return m.options.Zone }

// Lanes returns the lanes of a channel's messages for an agent, and for nobody who asks;
// nil where all are full.
func (m *Maker) Lanes(at earshot.Scope, agent earshot.Identity) func(context.Context, []earshot.Message) (map[earshot.AuthorID]earshot.Lane, error) {
	if m.options.Trust.IsFull() {
		return nil
	}
	return gather.Lanes{Store: m.store, Scope: at, Trust: m.options.Trust, AllowList: m.options.AllowList, Identity: agent}.Of
}

// Policy is the policy of requests that have none.
func (m *Maker) Policy() assemble.Policy {
	if m.options.Policy.First == nil {
		return assemble.Standard()
	}
	return m.options.Policy
}

// Budget is the budget of requests that have none.
func (m *Maker) Budget() assemble.Budget {
	if m.options.Budget == (assemble.Budget{}) {
		return assemble.DefaultBudget()
	}
	return m.options.Budget
}

// Settings are how one context is made. Nil and zero fields mean the maker's own
// settings.
type Settings struct {
	Policy       *assemble.Policy
	Budget       *assemble.Budget
	Counter      assemble.Counter
	Instructions *string
	Zone         string // IANA name; see [gather.Request.Zone]
	AskerZone    string // IANA name; see [gather.Request.AskerZone]
	Attach       []earshot.ArtifactID
	Text         string // what the anchor is read as saying; "" means what it says
	// Posted are the agent's messages after the anchor when a turn was first opened, nil
	// where none was yet: no context has them, and none is that turn's reply.
	Posted []earshot.MessageID
}

// A Request says for which message a context is made, and as whom.
type Request struct {
	Settings
	Channel      earshot.Channel
	Agent        earshot.Identity
	Anchor       earshot.MessageID
	Conversation earshot.ConversationID
	Elsewhere    bool // as in [gather.Request]
}

// OverLimit is the answer where the anchor, its root and the instructions alone
// exceed the budget's limit.
var OverLimit = &visible.Refusal{Kind: visible.Invalid, Code: "over_limit", Path: "budget.limit", Detail: "is too small: the question, its thread's root and the instructions alone exceed it"}

// Make makes the context of a message, as [Maker.Gather] does. Nothing is stored.
func (m *Maker) Make(ctx context.Context, r Request) (assemble.Input, assemble.Result, error) {
	req, err := m.request(r)
	if err != nil {
		return assemble.Input{}, assemble.Result{}, err
	}
	return m.Gather(ctx, req)
}

// request returns what to gather.
func (m *Maker) request(r Request) (gather.Request, error) {
	req := gather.Request{
		Channel: r.Channel, Anchor: r.Anchor, Identity: r.Agent, Conversation: r.Conversation,
		Policy: m.options.Policy, Budget: m.options.Budget, Counter: m.options.Count(), Instructions: m.options.Instructions,
		Elsewhere: r.Elsewhere, Zone: r.Zone, AskerZone: r.AskerZone, DefaultZone: m.options.Zone, Attach: r.Attach, Text: r.Text, Finder: m.Finder(), Profiles: true,
		Trust: m.options.Trust, AllowList: m.options.AllowList, Notices: m.options.Notices,
	}
	if r.Policy != nil {
		req.Policy = *r.Policy
	}
	if r.Budget != nil {
		req.Budget = *r.Budget
	}
	if r.Counter != nil {
		req.Counter = r.Counter
	}
	if r.Instructions != nil {
		req.Instructions = *r.Instructions
	}
	if req.Counter != nil {
		return req, nil
	}
	var err error
	req.Counter, err = tokens.For("")
	return req, err
}

// Gather makes a context of what is asked of package gather, once [Maker.Work] allows
// it. A question that was deleted or erased since the caller looked is
// [visible.Absent]: what is deleted stays so, which is why a second look tells. Where
// the question alone is too long it is [OverLimit].
func (m *Maker) Gather(ctx context.Context, req gather.Request) (assemble.Input, assemble.Result, error) {
	in, res, err := gather.Turn(ctx, m.store, req)
	var input *assemble.InputError
	switch {
	case errors.Is(err, assemble.ErrBudgetTooSmall):
		err = OverLimit
	case errors.Is(err, earshot.ErrNotFound):
		err = visible.Absent
	case errors.As(err, &input):
		gone, e := IsGone(ctx, m.store, req.Channel.Scope(), req.Anchor)
		if e != nil {
			err = e
		} else if gone {
			err = visible.Absent
		}
	}
	return in, res, err
}

// IsGone reports whether a message is deleted, or not stored.
func IsGone(ctx context.Context, st earshot.Store, at earshot.Scope, id earshot.MessageID) (bool, error) {
	found, err := st.ByID(ctx, at, id)
	return len(found) == 0 || found[0].Deleted, err
}

// A Busy is the error for a channel that all callers together ask for too often.
type Busy struct{ RetryAfter time.Duration }

// Error implements error.
func (*Busy) Error() string { return "too many requests for this channel; wait a moment" }

// Hold counts a request for a channel, and returns a [*Busy] where there are too many
// of them. Nothing here asks it; ask it only for channels that the caller sees.
func (m *Maker) Hold(sc earshot.Scope) error {
	if m.options.AllowChannel == nil {
		return nil
	}
	if wait, ok := m.options.AllowChannel(sc); !ok {
		return &Busy{wait}
	}
	return nil
}

// Work waits until a context may be made; done says that it is. Making one is mostly
// computing, with some waiting for the database: many more at once than there are
// processors would only take memory, and make all of them late.
func (m *Maker) Work(ctx context.Context) (done func(), err error) {
	select {
	case m.working <- struct{}{}:
		return func() { <-m.working }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
