package summarize

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/summarize/digest"
)

// A Store is what a Summarizer reads and writes. Every [earshot.Store] is one.
type Store interface {
	earshot.Summaries
	Turns(ctx context.Context, id earshot.ConversationID, limit int) ([]earshot.Turn, error)
	ByID(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error)
	Newest(ctx context.Context, s earshot.Scope, part earshot.ChannelPart, upTo earshot.Position, limit int) ([]earshot.Message, error)
	Range(ctx context.Context, s earshot.Scope, part earshot.ChannelPart, from, to earshot.Position) iter.Seq2[earshot.Message, error]
	Authors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, ids ...earshot.AuthorID) ([]earshot.Author, error)
}

// The defaults of Options.
const (
	DefaultTurns  = 40
	DefaultTokens = digest.DefaultTokens
)

// Options configure a Summarizer. Store, Identity and Counter are required.
type Options struct {
	Store    Store
	Identity earshot.Identity // the agent whose conversations are summarised
	Counter  func() assemble.Counter
	Model    llm.Model // writes the summaries; nil: digests are made without one
	Name     string    // of the model, where its answer names none

	Turns  int    // a conversation is summarised past so many turns; default 40, long turns count as several
	Tokens int    // the most tokens of a summary; default 1,200
	Zone   string // IANA name of the zone of the times in a summary; "" is UTC
	// Trust says whose words a summary may be of: what is out is in none but where the
	// agent was asked it; what is inert is told with its mark. AllowList is as in package
	// gather.
	Trust     earshot.Trust
	AllowList earshot.AllowList

	// Ended returns a channel that is closed when the next turn ends in this
	// process; nil: Run looks every Poll only.
	Ended func() <-chan struct{}
	Poll  time.Duration // between two looks for what other processes left; default 1 min
	Retry time.Duration // before a conversation that failed is tried again, less than half an hour; default 10 min

	Owner string              // names this process among replicas; default: a random name
	Now   func() earshot.Time // default: the clock
	Log   *slog.Logger        // nil discards
	Done  func(Report)        // is called after each try; nil is fine
}

// A Report says how one try to summarise a conversation went. It holds no text.
type Report struct {
	Conversation earshot.ConversationID
	By           string // the model, or [earshot.ByDigest]
	Turns        int    // how many turns the summary covers; 0 where there is none
	Usage        earshot.Usage
	Err          error // nil when a summary was stored
}

// How long a conversation is claimed for, and of that for asking the model.
const (
	hold    = 6 * time.Minute
	patient = 4 * time.Minute
)

// A Summarizer makes summaries.
type Summarizer struct{ o Options }

// New returns a Summarizer, which does nothing before Run.
func New(o Options) *Summarizer {
	o.Turns, o.Tokens = cmp.Or(o.Turns, DefaultTurns), cmp.Or(o.Tokens, DefaultTokens)
	o.Poll, o.Retry = cmp.Or(o.Poll, time.Minute), cmp.Or(o.Retry, 10*time.Minute)
	o.Owner = cmp.Or(o.Owner, rand.Text())
	if o.Ended == nil {
		o.Ended = func() <-chan struct{} { return nil }
	}
	if o.Now == nil {
		now := earshot.ClockOf(o.Store, time.Now)
		o.Now = func() earshot.Time { return earshot.TimeOf(now()) }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Done == nil {
		o.Done = func(Report) {}
	}
	return &Summarizer{o}
}

// Run makes summaries until ctx ends, and then returns nil: whenever a turn has
// ended, and every Poll. After a failure it waits for a Poll, then twice as long,
// and so on up to Retry: a model or a store that is down is not asked in a loop.
func (s *Summarizer) Run(ctx context.Context) error {
	pause := time.Duration(0)
	for {
		ended := s.o.Ended()
		err := s.All(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			pause, ended = min(max(2*pause, s.o.Poll), s.o.Retry), nil
		default:
			pause = 0
		}
		again := time.NewTimer(max(pause, s.o.Poll))
		select {
		case <-ended:
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return nil
		}
		again.Stop()
	}
}

// All summarises the conversations that are due until none is left, and returns
// the first error. Each has been logged and reported.
func (s *Summarizer) All(ctx context.Context) error {
	for {
		if found, err := s.Once(ctx); !found || err != nil {
			return err
		}
	}
}

// Once makes one summary of the conversation that needs it most; found is false
// when none is due.
func (s *Summarizer) Once(ctx context.Context) (found bool, err error) {
	c, err := s.o.Store.ClaimSummary(ctx, earshot.AgentID(s.o.Identity.ID), s.o.Owner, s.o.Turns, s.o.Now(), hold)
	if errors.Is(err, earshot.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		if ctx.Err() == nil {
			s.o.Log.Warn("look for conversations to summarise", "err", err)
		}
		return false, err
	}
	r := Report{Conversation: c.Conversation}
	if r.Err = s.summarise(ctx, c, &r); r.Err != nil {
		r.Turns = 0
	}
	return true, s.settle(ctx, c, r)
}

// settle ends a try: a claim that was not used is given back. Where something was
// deleted meanwhile, the conversation may be summarised anew at once; where another
// replica took over, nothing is left to do. The error is one that waiting may
// mend.
func (s *Summarizer) settle(ctx context.Context, c earshot.SummaryClaim, r Report) error {
	at := []any{"platform", c.Conversation.Scope.Platform, "workspace", c.Conversation.Scope.Workspace,
		"channel", c.Conversation.Scope.Channel, "conversation", c.Conversation.Name}
	if r.Err == nil {
		s.o.Log.Info("summarised", append(at, "turns", r.Turns, "by", r.By)...)
		s.o.Done(r)
		return nil
	}
	err := r.Err
	again := s.o.Now() + earshot.Time(s.o.Retry/time.Microsecond)
	switch {
	case ctx.Err() != nil:
		again = 0
	case errors.Is(err, earshot.ErrConflict):
		again, err = 0, nil
	case errors.Is(err, earshot.ErrFenced):
		err = nil
	}
	// Also when the process stops, so that another goes on at once.
	release, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if e := s.o.Store.ReleaseSummary(release, c, again); e != nil {
		err = errors.Join(err, fmt.Errorf("give back a claim: %w", e))
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.o.Log.Warn("not summarised; the summary before stands", append(at, "err", r.Err)...)
	s.o.Done(r)
	return err
}

// summarise makes and stores one summary.
func (s *Summarizer) summarise(ctx context.Context, c earshot.SummaryClaim, r *Report) error {
	p, err := s.read(ctx, c)
	if err != nil {
		return err
	}
	sum := earshot.Summary{Text: c.Before.Text, From: c.Before.From, To: c.Before.To, By: c.Before.By}
	switch {
	case len(p.messages) == 0 && c.Before.Turns > 0: // all of it is deleted: the summary before covers it
	case len(p.messages) == 0:
		sum.Text, sum.By = nothing, earshot.ByDigest
	case s.o.Model == nil:
		if sum, err = digest.Make(digest.Input{
			Messages: p.messages, Identity: s.o.Identity, Zone: s.o.Zone, Trust: s.o.Trust, Asked: p.asked, Before: c.Before, Counter: s.o.Counter(), Tokens: s.o.Tokens,
		}); err != nil {
			return fmt.Errorf("make a digest: %w", err)
		}
	default:
		if sum.Text, sum.By, err = s.ask(ctx, c, p, &r.Usage); err != nil {
			r.By = cmp.Or(sum.By, s.o.Name)
			return err
		}
	}
	for _, m := range p.messages {
		if sum.From == 0 || m.Time < sum.From {
			sum.From = m.Time
		}
		sum.To = max(sum.To, m.Time)
	}
	sum.Turns = p.turns
	r.By, r.Turns = sum.By, sum.Turns
	ids := make([]earshot.MessageID, len(p.messages))
	for i, m := range p.messages {
		ids[i] = m.ID
	}
	return s.o.Store.PutSummary(ctx, c, sum, ids...)
}

// nothing is the summary of turns of which every message is gone.
const nothing = "(nothing is left of these turns: their messages were deleted)"
