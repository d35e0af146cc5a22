package backfill

import (
	"context"

	"github.com/earshot-ai/earshot"
)

// A RootSource is a [Source] that can show one message of a channel's top level
// by itself, at the cost of one call of History. Where pages are small, backfill
// asks for a thread's root before it asks for replies: Message.Replies tells how
// many there are and when the last was said, and so from where the newest are to
// be asked for.
type RootSource interface {
	Root(ctx context.Context, c earshot.Channel, root earshot.MessageID) (Page, error)
}

// meet has a thread's root tell of its replies, where a turn will ask for them
// and nothing is known of them: a thread that was silent for weeks has none in
// any window that one would guess. The channel's own page has to wait then, as
// the same method gives it. The error is the store's; without an answer the
// turn guesses.
func (f *Filler) meet(ctx context.Context, l *lane, upTo earshot.Position) error {
	source, ok := f.Source.(RootSource)
	if _, err := f.root(ctx, l); err != nil || !ok {
		return err
	}
	f.mu.Lock()
	u, some := f.newestToAsk(l, upTo.Time)
	known := l.asked || l.walk.replies != nil && !l.isGap(u) // of a gap what was told before says nothing
	f.mu.Unlock()
	if !some || known {
		return nil
	}
	top := line{l.room.channel.Workspace, History}
	if err := f.pace.turn(ctx, top); err != nil {
		return nil // the rate is used up, or the time
	}
	limited, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	page, err := source.Root(limited, l.room.channel, l.thread)
	f.pace.made(top, err)
	if err != nil {
		f.Log.Debug("the root of a thread is not had by itself", append(about(l), "err", err)...)
		return nil
	}
	// It is not recorded: the page of replies shows it again, and what was missed
	// and wants an answer is found out there.
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range page.Messages {
		if m.Message.ID == l.thread {
			l.first = m.Message.Time
			l.walk.told(m.Message.Replies, f.Tier)
		}
	}
	return nil
}
