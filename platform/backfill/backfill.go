package backfill

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/earshot-ai/earshot"
)

// A Store is what backfill needs of an [earshot.Store].
type Store interface {
	Accept(ctx context.Context, s earshot.Scope, e earshot.Event, ask *earshot.ConversationID) (earshot.Accepted, error)
	PutCoverage(ctx context.Context, s earshot.Scope, list ...earshot.Coverage) error
	Coverage(ctx context.Context, s earshot.Scope) ([]earshot.Coverage, error)
	Channels(ctx context.Context) ([]earshot.ChannelInfo, error)
	Channel(ctx context.Context, s earshot.Scope) (earshot.Channel, error)
	Activity(ctx context.Context, s earshot.Scope, upTo earshot.Position, roots ...earshot.MessageID) (map[earshot.MessageID]earshot.Activity, error)
	Count(ctx context.Context, s earshot.Scope, part earshot.Part, upTo earshot.Position) (earshot.Count, error)
	Newest(ctx context.Context, s earshot.Scope, part earshot.Part, upTo earshot.Position, limit int) ([]earshot.Message, error)
	Range(ctx context.Context, s earshot.Scope, part earshot.Part, from, to earshot.Position) iter.Seq2[earshot.Message, error]
	Message(ctx context.Context, s earshot.Scope, id earshot.MessageID) (earshot.Message, error)
	ByID(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error)
}

// Options are what a Filler is made of. Store, Source and Platform are
// required; zero values of the rest mean the defaults.
type Options struct {
	Store  Store
	Source Source
	// Platform and Workspace are whose channels Source has.
	Platform  earshot.Platform
	Workspace earshot.WorkspaceID

	// Handle takes a message that was said when nobody listened, and that may
	// still want an answer, or that is a post of our own. Past is set in its
	// event; it may come twice, and be told as an event too. Default: it is
	// recorded as all others are, and answered by nobody.
	Handle func(ctx context.Context, c earshot.Channel, f Found) error
	// Fresh is how old such a message may be. Default: 10 minutes.
	Fresh time.Duration

	Tier Tier // default: [Internal]
	// Degrade keeps turns from waiting for the rate; otherwise they wait as
	// long as they have time.
	Degrade bool
	// StaleServeTTL is how long what is stored counts as stale, and not as
	// missing, when messages may have been missed since. Default: 10 minutes;
	// negative: never.
	StaleServeTTL time.Duration
	// Refresh is how long a thread is not asked for again where messages may
	// have been missed, and anything that the platform refused. Default: 5
	// minutes.
	Refresh time.Duration

	// Want is how many of a thread's newest messages a turn needs, and
	// Neighbours how many of the channel's top level. Default: 200 and 100.
	Want, Neighbours int
	// ThreadsAlone leaves the channel alone where the turn is in a thread.
	ThreadsAlone bool
	// ThreadDepth and ChannelDepth are how many messages are stored of a
	// thread and of a channel's top level, at which the background stops to
	// look for older ones. Default: 5,000 and 1,000.
	ThreadDepth, ChannelDepth int
	// Active is how far back something must have been said in a channel or
	// thread, so that what was missed there is fetched before a turn needs it.
	// Default: 72 hours; negative: a turn must need it.
	Active time.Duration

	Now func() earshot.Time // default: time.Now
	Log *slog.Logger        // nil discards
}

func (o Options) withDefaults() Options {
	for _, d := range []struct {
		v   *time.Duration
		def time.Duration
	}{{&o.Fresh, 10 * time.Minute}, {&o.StaleServeTTL, 10 * time.Minute}, {&o.Refresh, 5 * time.Minute}, {&o.Active, 72 * time.Hour}} {
		if *d.v == 0 {
			*d.v = d.def
		}
	}
	for _, d := range []struct {
		v   *int
		def int
	}{{&o.Want, 200}, {&o.Neighbours, 100}, {&o.ThreadDepth, 5000}, {&o.ChannelDepth, 1000}} {
		if *d.v == 0 {
			*d.v = d.def
		}
	}
	if o.Tier.PerMinute <= 0 {
		o.Tier = Internal
	}
	o.Tier.Burst, o.Tier.Objects = max(1, o.Tier.Burst), max(2, o.Tier.Objects)
	o.Tier.Most = max(o.Tier.Most, o.Tier.Objects)
	if o.Now == nil {
		o.Now = func() earshot.Time { return earshot.TimeOf(time.Now()) }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// A Filler brings history into a store. It is safe for concurrent use.
type Filler struct {
	Options
	pace  *pacer
	queue map[string]*queue // by method

	mu     sync.Mutex // guards what follows, and all that stands in rooms
	rooms  map[earshot.Scope]*room
	heard  earshot.Time // events were missed before, for all that is known
	missed []span       // not yet recorded in the store
	wake   chan struct{}
}

// Open returns a Filler that hears from now on: what was said since each
// stored channel's newest message may have been missed, and the store is told
// so before Open returns. No platform is asked. Events may be handled
// afterwards, and [Filler.Run] must run.
//
// It panics when a required option is missing.
func Open(ctx context.Context, o Options) (*Filler, error) {
	if o.Store == nil || o.Source == nil || o.Platform == "" {
		panic("backfill.Open: Options.Store, Source and Platform are required")
	}
	o = o.withDefaults()
	f := &Filler{
		Options: o, pace: newPacer(o.Tier, o.Degrade), rooms: map[earshot.Scope]*room{},
		heard: o.Now(), wake: make(chan struct{}, 1),
		queue: map[string]*queue{Replies: newQueue(), History: newQueue()},
	}
	if err := f.miss(ctx, span{0, f.heard}); err != nil {
		return nil, fmt.Errorf("record what may have been missed: %w", err)
	}
	return f, nil
}

// clocks is how far the platform's clock and ours may be apart: a gap begins so
// much earlier, and so much more is read after it.
const clocks = earshot.Time(time.Minute / time.Microsecond)

// Missed says that events may have been missed in that time, as when there was
// no connection. It returns at once; [Filler.Run] records it and reads what was
// said from history.
func (f *Filler) Missed(from, to time.Time) {
	gap := span{max(dawn, earshot.TimeOf(from)-clocks), earshot.TimeOf(to)}
	if gap.from > gap.to {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.heard = max(f.heard, gap.to)
	f.missed = append(f.missed, gap)
	for _, r := range f.rooms {
		r.miss(gap)
	}
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Left says that the agent is no longer in the channel, or that the channel
// was erased: nothing counts as known there any more.
func (f *Filler) Left(ctx context.Context, s earshot.Scope) error {
	f.mu.Lock()
	if r := f.rooms[s]; r != nil {
		r.left = true
		delete(f.rooms, s)
	}
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

// Calls returns what was asked of the platform since Open, by workspace and
// method.
func (f *Filler) Calls() []Call { return f.pace.calls() }

// Run fetches in the background what turns did not wait for and what was
// missed, until ctx ends. It then returns nil.
func (f *Filler) Run(ctx context.Context) error {
	var g errgroup.Group
	for method := range f.queue {
		g.Go(func() error { f.work(ctx, method); return nil })
	}
	g.Go(func() error { f.recordMissed(ctx); return nil })
	return g.Wait()
}

// recordMissed writes into the store what was missed.
func (f *Filler) recordMissed(ctx context.Context) {
	for {
		select {
		case <-f.wake:
		case <-ctx.Done():
			return
		}
		f.mu.Lock()
		gaps := f.missed
		f.mu.Unlock()
		for _, gap := range gaps {
			for err := f.miss(ctx, gap); err != nil; err = f.miss(ctx, gap) {
				if ctx.Err() == nil {
					f.Log.Error("record what may have been missed", "platform", f.Platform, "workspace", f.Workspace, "err", err)
				}
				if sleep(ctx, time.Second) != nil {
					return
				}
			}
			f.mu.Lock()
			f.missed = f.missed[1:]
			f.mu.Unlock()
		}
	}
}

// miss records a gap in every stored channel, and has those caught up with in
// which something was said lately, the newest first. From 0 means: since the
// channel's newest message.
func (f *Filler) miss(ctx context.Context, gap span) error {
	list, err := f.Store.Channels(ctx)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallelGaps)
	for _, c := range list {
		if c.Platform == f.Platform && c.Workspace == f.Workspace {
			g.Go(func() error { return f.missIn(ctx, c, gap) })
		}
	}
	if err := g.Wait(); err != nil {
		return err
	}
	f.catchUp(list)
	return nil
}

// parallel is how many writes are under way at a time: a store gathers them
// into one transaction.
const parallel = 16

// parallelGaps is the same for gaps, of which each stored channel has one at the
// start: nobody is served before all are durable.
const parallelGaps = 256

func (f *Filler) missIn(ctx context.Context, c earshot.ChannelInfo, gap span) error {
	start := gap.from == 0
	if start {
		gap = span{max(dawn, c.Last), max(gap.to, c.Last)}
	}
	r, err := f.room(ctx, c.Channel)
	if err != nil {
		return err
	}
	f.mu.Lock()
	fresh := r.since == 0 && c.First <= gap.from // no turn has asked yet
	if fresh {
		r.since = gap.from
	}
	if start || fresh {
		r.miss(gap) // otherwise Missed has
	}
	l := r.lane("")
	var threads []earshot.MessageID
	if start && c.Last >= f.activeSince() {
		threads = r.unfinished()
	}
	f.mu.Unlock()
	for _, id := range threads {
		f.later(job{channel: c.Channel, thread: id})
	}
	return f.save(ctx, l)
}
