package backfill

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/coverage"
)

// A Filler loads history into a store. It is safe for concurrent use.
type Filler struct {
	Options
	roots RootSource // the Source, where it is one
	rate  *limiter
	queue map[string]*queue  // by method
	loads singleflight.Group // of channels from the store, by scope

	mu          sync.Mutex // guards what follows, and all that belongs to channels
	channels    map[earshot.Scope]*channel
	heardSince  earshot.Time    // before it, events may have been missed in any channel
	unsavedGaps []coverage.Span // that the store does not have yet
	wake        chan struct{}
}

// Open returns a Filler. The agent counts as listening from now on: what was said
// since each stored channel's newest message may have been missed, and Open
// records that as coverage before it returns. It asks the platform nothing. Call
// it before events are handled; afterwards [Filler.Run] must run.
//
// It panics when a required option is missing. The error is the store's.
func Open(ctx context.Context, o Options) (*Filler, error) {
	if o.Store == nil || o.Source == nil || o.Platform == "" {
		panic("backfill.Open: Options.Store, Source and Platform are required")
	}
	o = o.withDefaults()
	f := &Filler{
		Options: o, rate: newLimiter(o.Tier, o.Degrade), channels: map[earshot.Scope]*channel{},
		heardSince: o.Now(), wake: make(chan struct{}, 1),
		queue: map[string]*queue{Replies: newQueue(), History: newQueue()},
	}
	f.roots, _ = o.Source.(RootSource)
	if err := f.recordGap(ctx, coverage.Span{From: 0, To: f.heardSince}); err != nil {
		return nil, fmt.Errorf("record what may have been missed: %w", err)
	}
	return f, nil
}

// Left notes that the agent is no longer in the channel, or that the channel was
// erased: its coverage is removed from the store. The error is the store's.
func (f *Filler) Left(ctx context.Context, s earshot.Scope) error {
	c, err := f.channel(ctx, earshot.Channel{Platform: s.Platform, Workspace: s.Workspace, ID: s.Channel})
	if err != nil {
		return fmt.Errorf("leave channel %s: %w", s.Channel, err)
	}
	f.mu.Lock()
	c.left = true
	f.drop(c)
	f.mu.Unlock()
	list, err := f.Store.Coverage(ctx, s)
	if err != nil {
		return fmt.Errorf("leave channel %s: %w", s.Channel, err)
	}
	for i := range list {
		list[i].State = ""
	}
	if err := f.Store.PutCoverage(ctx, s, list...); err != nil {
		return fmt.Errorf("leave channel %s: %w", s.Channel, err)
	}
	return nil
}

// Calls returns how often the platform was asked since Open, sorted by workspace
// and method.
func (f *Filler) Calls() []Call { return f.rate.calls() }

// Waiting returns how many channels and threads wait to be fetched in the background, or
// are being fetched.
func (f *Filler) Waiting() int {
	n := 0
	for _, q := range f.queue {
		n += q.length()
	}
	return n
}

// Run fetches in the background what turns did not wait for and what was missed.
// It returns nil once ctx has ended.
func (f *Filler) Run(ctx context.Context) error {
	var g errgroup.Group
	for method := range f.queue {
		g.Go(func() error { f.work(ctx, method); return nil })
	}
	g.Go(func() error { f.recordGaps(ctx); return nil })
	return g.Wait()
}
