package backfill

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/coverage"
)

// Requests of one turn at most.
const (
	threadCalls  = 8
	channelCalls = 2 // one for what was missed, one for what was said before
)

// Fill loads into the store what a turn for anchor needs: of the anchor's thread
// ("" where the anchor is at the top level) the root and the newest messages, and
// of the channel's top level the newest before the anchor. It takes as long as
// ctx allows. What could not be loaded is recorded as coverage, and fetched in
// the background where that is possible; the error is the store's.
func (f *Filler) Fill(ctx context.Context, c earshot.Channel, anchor earshot.Message, thread earshot.MessageID) error {
	x, err := f.channel(context.WithoutCancel(ctx), c)
	if err != nil {
		return err
	}
	f.mu.Lock()
	x.heard.Begin(max(anchor.Time, f.heardSince)) // the anchor is what was heard
	x.forget(f.Floor(c.Scope()))
	var timelines []*timeline
	if thread == "" || !f.ThreadsAlone {
		timelines = append(timelines, x.timeline(""))
	}
	if thread != "" {
		timelines = append(timelines, x.timeline(thread))
	}
	f.mu.Unlock()
	if err := f.fillAll(ctx, timelines, anchor.Position()); err != nil {
		f.reload(c.Scope())
		return err
	}
	return nil
}

// fillAll fills the timelines of one turn, side by side. The thread's root takes its
// request before the channel's page does: where requests are rare there is only one.
func (f *Filler) fillAll(ctx context.Context, timelines []*timeline, upTo earshot.Position) error {
	needs := make([]timelineNeed, len(timelines))
	for i, t := range slices.Backward(timelines) {
		var err error
		if needs[i], err = f.forTurn(ctx, t, upTo); err != nil {
			return err
		}
	}
	var g errgroup.Group
	for i, t := range timelines {
		g.Go(func() error { return f.fill(ctx, t, needs[i]) })
	}
	return g.Wait()
}

// A timelineNeed is what a caller who waits needs of a timeline.
type timelineNeed struct {
	upTo  earshot.Time // what was said later is not asked for
	calls int          // of the platform, at most
	root  *rootCall    // a request for the thread's root; nil: none
	// next returns the windows to ask for at once, none when nothing is left to
	// fetch. Unsure says that they are a guess that the thread's root would better.
	next func(ctx context.Context) (list []coverage.Window, unsure bool, err error)
}

// forTurn returns what a turn needs of a timeline, with the request for the root
// reserved.
func (f *Filler) forTurn(ctx context.Context, t *timeline, upTo earshot.Position) (timelineNeed, error) {
	n := timelineNeed{upTo: upTo.Time, calls: channelCalls}
	n.next = func(ctx context.Context) ([]coverage.Window, bool, error) { return f.nextForTurn(ctx, t, upTo) }
	if t.Thread() == "" {
		return n, nil
	}
	n.calls = threadCalls
	var err error
	n.root, err = f.reserveRoot(ctx, t, upTo)
	return n, err
}

// fill fetches what is needed of one timeline, saves its coverage, and queues
// what is left for the background.
func (f *Filler) fill(ctx context.Context, t *timeline, n timelineNeed) error {
	f.mu.Lock()
	t.Want(n.upTo)
	f.mu.Unlock()
	failure := f.fetch(ctx, t, n)
	why, fatal := fetchReason(ctx, failure)
	if fatal != nil {
		return fatal
	}
	f.mu.Lock()
	if why != "" {
		t.Explain(why)
	}
	missing := t.Unknown(n.upTo)
	f.mu.Unlock()
	if err := f.save(context.WithoutCancel(ctx), t); err != nil {
		return err
	}
	if len(missing) == 0 {
		return nil
	}
	if why != "" {
		f.Log.Warn("history is incomplete", append(t.logAttrs(), "stretches", len(missing), "err", failure)...)
	}
	f.queue[t.method()].put(job{channel: t.channel.Channel, thread: t.Thread()}, true)
	return nil
}

// fetchReason turns the error of a fetch into the reason that is recorded as
// coverage. fatal is an error of the store, which is not coverage.
func fetchReason(ctx context.Context, err error) (why string, fatal error) {
	var source *sourceError
	switch {
	case err == nil:
		return "", nil
	case errors.As(err, &source):
		return source.Error(), nil
	case errors.Is(err, errRateUsedUp):
		return err.Error(), nil
	case ctx.Err() != nil:
		return "there was no time to load it", nil
	}
	return "", err
}
