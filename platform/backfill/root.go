package backfill

import (
	"context"
	"errors"
	"time"

	"github.com/earshot-ai/earshot"
)

// A rootCall is a request of History for a thread's root alone, which is made beside
// those for replies. The root shows how many there are and when the last was said;
// without that, which window holds the newest is a guess.
type rootCall struct {
	key  rateKey
	wait time.Duration // until it may be made
}

// reserveRoot reserves the request for a thread's root where a turn is about to ask
// for replies and more of them may be missing than a page holds. It is nil where the
// root is not needed, or the rate or the time is used up. The error is the store's.
func (f *Filler) reserveRoot(ctx context.Context, t *timeline, upTo earshot.Position) (*rootCall, error) {
	if _, err := f.rootStored(ctx, t); err != nil || !f.wantsRoot(t, upTo.Time) {
		return nil, err
	}
	key := rateKey{t.channel.Workspace, History}
	wait, err := f.rate.reserve(ctx, key)
	if err != nil {
		return nil, nil
	}
	return &rootCall{key, wait}, nil
}

// wantsRoot reports whether the thread's root would show how to ask for what is
// missing.
func (f *Filler) wantsRoot(t *timeline, upTo earshot.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	u, some := f.newestToAsk(t, upTo)
	return f.roots != nil && some && t.NeedsRoot(u, f.Tier.sizes())
}

// askRoot makes the request, and reports whether the root has shown its replies.
//
// The root is not recorded here: the page of replies shows it again, and whether it
// was missed and wants an answer is decided there.
func (f *Filler) askRoot(ctx context.Context, t *timeline, c *rootCall) bool {
	if err := f.rate.await(ctx, c.key, c.wait); err != nil {
		return false
	}
	limited, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	page, err := f.roots.Root(limited, t.channel.Channel, t.Thread())
	if errors.Is(context.Cause(ctx), context.Canceled) {
		f.rate.made(c.key, nil) // it was given up, and has not failed
		return false
	}
	f.rate.made(c.key, err)
	if err != nil {
		f.Log.Debug("the root of a thread could not be read by itself", append(t.logAttrs(), "err", err)...)
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	told := false
	for _, m := range page.Messages {
		if m.Message.ID == t.Thread() {
			t.LearnRoot(m.outline(), f.Tier.sizes())
			told = m.Message.Replies != nil
		}
	}
	return told
}
