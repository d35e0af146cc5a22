package backfill

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
)

// stretchCalls bounds what one question for a stretch of a channel costs.
const stretchCalls = 4

// FetchThread sees to it that the store has a thread's root and its newest
// messages up to a position (zero: now), for a tool that is asked for the
// thread while a turn is under way. It takes as much time as ctx gives and is
// bounded as [Filler.Fill] is; what cannot be had becomes coverage. The error is
// the store's. Which thread it is the caller has checked: root must be a thread
// of which the store knows something.
func (f *Filler) FetchThread(ctx context.Context, s earshot.Scope, root earshot.MessageID, upTo earshot.Position) error {
	return f.fetchIn(ctx, s, root, upTo, f.forTurn)
}

// FetchSince sees to it that the store has what was said at a channel's top
// level from since up to a position (zero: now), as far as a few calls reach
// from its end. Otherwise it is as [Filler.FetchThread].
func (f *Filler) FetchSince(ctx context.Context, s earshot.Scope, since earshot.Time, upTo earshot.Position) error {
	return f.fetchIn(ctx, s, "", upTo, func(l *lane, upTo earshot.Position) need {
		return need{upTo: upTo.Time, calls: stretchCalls, next: func(context.Context) (*Window, error) {
			f.mu.Lock()
			u, some := f.newestToAsk(l, upTo.Time)
			f.mu.Unlock()
			if !some || u.to < since {
				return nil, nil
			}
			return f.window(l, span{max(u.from, since), u.to}, false), nil
		}}
	})
}

// fetchIn serves one lane of a stored channel. A channel of another workspace
// is none that the platform has.
func (f *Filler) fetchIn(ctx context.Context, s earshot.Scope, thread earshot.MessageID, upTo earshot.Position, needs func(*lane, earshot.Position) need) error {
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
	r, err := f.room(context.WithoutCancel(ctx), c)
	if err != nil {
		return err
	}
	if upTo.IsZero() {
		upTo.Time = f.Now()
	}
	f.mu.Lock()
	l := r.lane(thread)
	f.mu.Unlock()
	if err := f.serve(ctx, l, needs(l, upTo)); err != nil {
		f.doubt(s)
		return err
	}
	return nil
}
