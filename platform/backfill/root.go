package backfill

import (
	"context"

	"github.com/earshot-ai/earshot"
)

// askRoot asks the platform for a thread's root alone, where pages are small and
// a turn is about to ask for the thread's replies. The root shows how many there
// are and when the last was said; without that a thread that was silent for weeks
// has no reply in any window that could be guessed. It takes one request of
// History, for which the channel's own page then has to wait. The error is the
// store's; without an answer of the platform the window is guessed.
func (f *Filler) askRoot(ctx context.Context, t *timeline, upTo earshot.Position) error {
	source, ok := f.Source.(RootSource)
	if _, err := f.rootStored(ctx, t); err != nil || !ok {
		return err
	}
	f.mu.Lock()
	u, some := f.newestToAsk(t, upTo.Time)
	// What the root showed before a gap says nothing about the gap.
	known := t.Paged() || t.RepliesKnown() && !t.channel.heard.Missed(u)
	f.mu.Unlock()
	if !some || known {
		return nil
	}
	history := rateKey{t.channel.Workspace, History}
	if err := f.rate.turn(ctx, history); err != nil {
		return nil // the rate or the time is used up
	}
	limited, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	page, err := source.Root(limited, t.channel.Channel, t.Thread())
	f.rate.made(history, err)
	if err != nil {
		f.Log.Debug("the root of a thread could not be read by itself", append(t.logAttrs(), "err", err)...)
		return nil
	}
	// The root is not recorded here: the page of replies shows it again, and
	// whether it was missed and wants an answer is decided there.
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range page.Messages {
		if m.Message.ID == t.Thread() {
			t.LearnRoot(m.outline(), f.Tier.sizes())
		}
	}
	return nil
}
