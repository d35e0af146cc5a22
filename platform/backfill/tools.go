package backfill

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/coverage"
)

// sinceCalls is how many requests FetchSince makes at most.
const sinceCalls = 4

// FetchThread loads a thread's root and its newest messages up to a position
// (zero: now), for a tool that is asked for the thread during a turn. It takes as
// long as ctx allows and makes at most as many requests as [Filler.Fill] does;
// what could not be loaded is recorded as coverage. The error is the store's.
//
// FetchThread does not check that the thread belongs to the channel: the caller
// must have found something of it in the store.
func (f *Filler) FetchThread(ctx context.Context, s earshot.Scope, root earshot.MessageID, upTo earshot.Position) error {
	return f.fetchIn(ctx, s, root, upTo, f.forTurn)
}

// FetchSince loads what was said at a channel's top level from since up to a
// position (zero: now), the newest first, with at most four requests. Otherwise
// it is like [Filler.FetchThread].
func (f *Filler) FetchSince(ctx context.Context, s earshot.Scope, since earshot.Time, upTo earshot.Position) error {
	return f.fetchIn(ctx, s, "", upTo, func(_ context.Context, t *timeline, upTo earshot.Position) (timelineNeed, error) {
		return timelineNeed{upTo: upTo.Time, calls: sinceCalls, next: func(context.Context) ([]coverage.Window, bool, error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			u, some := f.newestToAsk(t, upTo.Time)
			if !some || u.To < since {
				return nil, false, nil
			}
			w := t.Window(coverage.Span{From: max(u.From, since), To: u.To}, false, f.Tier.sizes())
			return []coverage.Window{w}, false, nil
		}}, nil
	})
}

// ThreadsIn returns how long until the rate allows a turn to ask for replies in the
// channel's workspace; 0 is now.
func (f *Filler) ThreadsIn(s earshot.Scope) time.Duration {
	if s.Platform != f.Platform || s.Workspace != f.Workspace {
		return 0
	}
	f.rate.mu.Lock()
	defer f.rate.mu.Unlock()
	return f.rate.wait(f.rate.bucket(rateKey{s.Workspace, Replies}, time.Now()), 1)
}

// fetchIn fills one timeline of a channel. A channel of another platform or
// workspace has nothing to load.
func (f *Filler) fetchIn(ctx context.Context, s earshot.Scope, thread earshot.MessageID, upTo earshot.Position, needs func(context.Context, *timeline, earshot.Position) (timelineNeed, error)) error {
	if s.Platform != f.Platform || s.Workspace != f.Workspace {
		return nil
	}
	c, err := f.Store.Channel(ctx, s)
	if errors.Is(err, earshot.ErrNotFound) {
		c, err = earshot.Channel{Platform: s.Platform, Workspace: s.Workspace, ID: s.Channel}, nil
	}
	if err != nil {
		return fmt.Errorf("read channel %s: %w", s.Channel, err)
	}
	x, err := f.channel(context.WithoutCancel(ctx), c)
	if err != nil {
		return err
	}
	if upTo.IsZero() {
		upTo.Time = f.Now()
	}
	f.mu.Lock()
	t := x.timeline(thread)
	f.mu.Unlock()
	n, err := needs(ctx, t, upTo)
	if err == nil {
		err = f.fill(ctx, t, n)
	}
	if err != nil {
		f.reload(s)
		return err
	}
	return nil
}
