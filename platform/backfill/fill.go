package backfill

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/earshot-ai/earshot"
)

// Bounds of what one turn asks for.
const (
	threadCalls  = 8
	channelCalls = 2 // one for what was missed, one for what was said before
)

// Fill sees to it that the store has what a turn for anchor needs: of the
// anchor's thread ("" where it stands at the top level) the root and the newest
// messages, and of the channel's top level the newest before it. It takes as
// much time as ctx gives. What cannot be had becomes coverage and is fetched in
// the background if that is possible at all; the error is the store's.
func (f *Filler) Fill(ctx context.Context, c earshot.Channel, anchor earshot.Message, thread earshot.MessageID) error {
	r, err := f.room(context.WithoutCancel(ctx), c)
	if err != nil {
		return err
	}
	f.mu.Lock()
	f.listens(r, anchor)
	var lanes []*lane
	if thread == "" || !f.ThreadsAlone {
		lanes = append(lanes, r.lane(""))
	}
	if thread != "" {
		lanes = append(lanes, r.lane(thread))
	}
	f.mu.Unlock()
	var g errgroup.Group
	if f.Tier.Objects < smallPage {
		g.SetLimit(1) // one after the other: the channel's page may tell how long the thread is
		if thread != "" {
			if err := f.meet(ctx, lanes[len(lanes)-1], anchor.Position()); err != nil {
				f.doubt(c.Scope())
				return err
			}
		}
	}
	for _, l := range lanes {
		g.Go(func() error { return f.serve(ctx, l, f.forTurn(l, anchor.Position())) })
	}
	if err := g.Wait(); err != nil {
		f.doubt(c.Scope())
		return err
	}
	return nil
}

// doubt forgets a room after an error of the store: whoever asked may note it
// there.
func (f *Filler) doubt(s earshot.Scope) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.rooms, s)
}

// A need is what somebody who waits wants to have of a lane.
type need struct {
	upTo  earshot.Time // what is later is not asked for
	calls int          // of the platform, at most
	// next returns the window that is fetched next, nil when all is there.
	next func(ctx context.Context) (*Window, error)
}

// forTurn is what a turn needs of a lane.
func (f *Filler) forTurn(l *lane, upTo earshot.Position) need {
	n := need{upTo: upTo.Time, calls: channelCalls}
	if l.thread != "" {
		n.calls = threadCalls
	}
	n.next = func(ctx context.Context) (*Window, error) { return f.turnNeeds(ctx, l, upTo) }
	return n
}

// serve does one lane's part for somebody who waits.
func (f *Filler) serve(ctx context.Context, l *lane, n need) error {
	f.mu.Lock()
	l.wanted, l.upTo = true, max(l.upTo, n.upTo)
	f.mu.Unlock()
	err := f.fetchFor(ctx, l, n)
	var theirs *sourceError
	if err != nil && !errors.As(err, &theirs) && !errors.Is(err, errOverflow) && ctx.Err() == nil {
		return err
	}
	why := ""
	switch {
	case theirs != nil:
		why = theirs.Error()
	case errors.Is(err, errOverflow):
		why = err.Error()
	case err != nil:
		why = "there was no time to load it"
	}
	f.mu.Lock()
	if why != "" {
		l.why = why
	}
	missing := l.unknown(n.upTo)
	f.mu.Unlock()
	if err := f.save(context.WithoutCancel(ctx), l); err != nil {
		return err
	}
	if len(missing) == 0 {
		return nil
	}
	if why != "" {
		f.Log.Warn("history is incomplete", append(about(l), "stretches", len(missing), "err", err)...)
	}
	f.queue[l.method()].put(job{channel: l.room.channel, thread: l.thread}, true)
	return nil
}

// fetchFor fetches until there is what is needed of the lane.
func (f *Filler) fetchFor(ctx context.Context, l *lane, n need) error {
	if err := l.hold(ctx); err != nil {
		return err
	}
	defer l.release()
	var limited error
	for range n.calls {
		w, err := n.next(ctx)
		if err != nil || w == nil {
			return err
		}
		if err := f.pace.turn(ctx, f.line(l)); err != nil {
			return cmp.Or(limited, err)
		}
		page, err := f.fetch(ctx, l, *w)
		var limit *LimitError
		if limited = err; errors.As(err, &limit) {
			continue // the pace heeds it
		}
		if err != nil {
			return err
		}
		if err := f.follow(context.WithoutCancel(ctx), l, page); err != nil {
			return err
		}
	}
	return limited
}

// turnNeeds returns the window that is fetched next for a turn, nil when it has
// what it needs.
func (f *Filler) turnNeeds(ctx context.Context, l *lane, upTo earshot.Position) (*Window, error) {
	root, err := f.root(ctx, l)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	u, some := f.newestToAsk(l, upTo.Time)
	askRoot := l.asked && !l.rootAsked && f.rest(l, span{}) <= 0
	f.mu.Unlock()
	if !root && askRoot {
		return f.rootWindow(l, upTo.Time), nil
	}
	if !some {
		return nil, nil
	}
	if root || l.thread == "" {
		want := f.Want
		if l.thread == "" {
			want = f.Neighbours
		}
		list, err := f.Store.Newest(ctx, l.room.channel.Scope(), l.part(), upTo, want)
		if err != nil {
			return nil, fmt.Errorf("read what is stored of %s: %w", l, err)
		}
		if len(list) == want && list[0].Time > u.to {
			return nil, nil
		}
	}
	return f.window(l, u, false), nil
}

// newestToAsk returns the newest stretch of the lane that is not known and that
// the platform may be asked for now. f.mu is held.
func (f *Filler) newestToAsk(l *lane, upTo earshot.Time) (span, bool) {
	u, some := l.newestMissing(upTo)
	for some && f.rest(l, u) > 0 {
		u, some = l.newestMissing(u.from - 1) // why this one is missing is known
	}
	return u, some
}

// root reports whether the store has the thread's root, or knows that it was
// deleted. The top level has none to ask for.
func (f *Filler) root(ctx context.Context, l *lane) (bool, error) {
	if l.thread == "" {
		return true, nil
	}
	root, err := f.Store.Message(ctx, l.room.channel.Scope(), l.thread)
	if errors.Is(err, earshot.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the root of %s: %w", l, err)
	}
	f.mu.Lock()
	l.first = root.Time
	if l.walk.replies == nil {
		l.walk.replies = root.Replies
	}
	f.mu.Unlock()
	return true, nil
}

// about returns a lane's attributes for the log.
func about(l *lane) []any {
	c := l.room.channel
	return []any{"platform", c.Platform, "workspace", c.Workspace, "channel", c.ID, "thread", l.thread}
}

// String names the lane in errors.
func (l *lane) String() string {
	if l.thread == "" {
		return fmt.Sprintf("channel %s", l.room.channel.ID)
	}
	return fmt.Sprintf("thread %s of channel %s", l.thread, l.room.channel.ID)
}
