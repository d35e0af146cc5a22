package backfill

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/coverage"
)

// nextForTurn returns the windows to fetch next for a turn, none when the store has
// what the turn needs: the root, and the newest messages without a gap.
func (f *Filler) nextForTurn(ctx context.Context, t *timeline, upTo earshot.Position) (list []coverage.Window, unsure bool, err error) {
	root, err := f.rootStored(ctx, t)
	if err != nil {
		return nil, false, err
	}
	f.mu.Lock()
	u, some := f.newestToAsk(t, upTo.Time)
	askRoot := (t.Paged() || !some) && !t.RootAsked() && f.pause(t, coverage.Span{}) <= 0
	f.mu.Unlock()
	if !root && askRoot {
		return []coverage.Window{t.WindowOfRoot(upTo.Time, f.Tier.sizes())}, false, nil
	}
	if !some {
		return nil, false, nil
	}
	if root || t.Thread() == "" {
		want := f.Want
		if t.Thread() == "" {
			want = f.Neighbours
		}
		list, err := f.Store.Newest(ctx, t.channel.Scope(), t.part(), upTo, want)
		if err != nil {
			return nil, false, fmt.Errorf("read what is stored of %s: %w", t, err)
		}
		if len(list) == want && list[0].Time > u.To {
			return nil, false, nil
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	list, unsure = t.First(u, f.Tier.sizes())
	return list, unsure, nil
}

// nextForBackground returns the window that the background fetches next, nil when
// there is nothing to do: first what was missed, then, where a turn has asked,
// what was said before, until enough is stored. look says that the window is
// known already, and is read because its roots show how their threads have grown.
func (f *Filler) nextForBackground(ctx context.Context, t *timeline, j *job) (w *coverage.Window, look bool, err error) {
	if _, err := f.rootStored(ctx, t); err != nil {
		return nil, false, err
	}
	f.mu.Lock()
	u, some := t.NewestMissing(f.Now())
	gap := some && t.channel.heard.Missed(u)
	wanted := t.Wanted()
	f.mu.Unlock()
	if gap {
		return f.window(t, u), false, nil
	}
	if t.Thread() == "" && f.Active >= 0 {
		if w, err := f.activeThreads(ctx, t, j); err != nil || w != nil {
			return w, true, err
		}
	}
	if !some || !wanted {
		return nil, false, nil
	}
	depth := f.ChannelDepth
	if t.Thread() != "" {
		depth = f.ThreadDepth
	}
	c, err := f.Store.Count(ctx, t.channel.Scope(), t.part(), earshot.Position{})
	if err != nil {
		return nil, false, fmt.Errorf("count what is stored of %s: %w", t, err)
	}
	if c.Count >= depth {
		return nil, false, nil
	}
	return f.window(t, u), false, nil
}

// newestToAsk returns the newest stretch of the timeline that is not known and
// that the platform may be asked for now. f.mu is held.
func (f *Filler) newestToAsk(t *timeline, upTo earshot.Time) (coverage.Span, bool) {
	u, some := t.NewestMissing(upTo)
	for some && f.pause(t, u) > 0 {
		u, some = t.NewestMissing(u.From - 1) // it was tried a short time ago: look before it
	}
	return u, some
}

// channelRefresh is how long a channel's top level is not fetched again while
// connections come and go: shorter than Options.Refresh, because one request
// shows whether somebody has asked something meanwhile.
const channelRefresh = 10 * time.Second

// pause returns for how long a stretch of the timeline is not to be asked for:
// the platform refused, or the stretch is a gap that was fetched a short time
// ago. f.mu is held.
func (f *Filler) pause(t *timeline, u coverage.Span) time.Duration {
	d := f.Refresh - time.Since(t.refusedAt)
	if t.channel.heard.Missed(u) && u.To > t.fetchedUpTo {
		again := f.Refresh
		if t.Thread() == "" {
			again = min(again, channelRefresh)
		}
		d = max(d, again-time.Since(t.fetchedAt))
	}
	return d
}

// window returns how the background asks for u.
func (f *Filler) window(t *timeline, u coverage.Span) *coverage.Window {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := t.Window(u, true, f.Tier.sizes())
	return &w
}

// rootStored reports whether the store has the thread's root, or knows that it
// was deleted. The top level has no root.
func (f *Filler) rootStored(ctx context.Context, t *timeline) (bool, error) {
	if t.Thread() == "" {
		return true, nil
	}
	root, err := f.Store.Message(ctx, t.channel.Scope(), t.Thread())
	if errors.Is(err, earshot.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the root of %s: %w", t, err)
	}
	f.mu.Lock()
	t.UseStoredRoot(coverage.Message{ID: root.ID, Time: root.Time, Replies: root.Replies})
	f.mu.Unlock()
	return true, nil
}
