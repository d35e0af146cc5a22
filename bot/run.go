package bot

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot/internal/slots"
)

// Run answers questions until ctx ends, and returns nil once the replies that are
// being posted are complete. While the store fails, Run asks it again: after a
// second at first, and every 30 s at last. The one error that it returns is that of
// a store that was closed ([os.ErrClosed]). Run may be called again.
func (b *Bot) Run(ctx context.Context) error {
	var running sync.WaitGroup
	defer running.Wait()
	expires, stopExpiring := context.WithCancel(ctx)
	defer stopExpiring()
	running.Go(func() { b.expireApprovals(expires) })
	pool := slots.New(b.limits.Parallel)
	var outage storeOutage
	for pool.Enter(ctx) {
		slot := pool.Slot()
		if slot.Take(ctx) != nil {
			pool.Leave(1)
			break
		}
		places := 1
		lease, queued, err := b.claim(ctx)
		if err == nil && b.isSuspect(ctx, queued) {
			// It waits for the others without its lease, or it would count as answered
			// while they end the process. They need slots to come to their end.
			b.release(ctx, lease, nil, outcome{kind: stopping})
			slot.Give()
			places += pool.TakeAll()
			lease, queued, err = b.claim(ctx)
		}
		if err != nil {
			slot.Give()
			pool.Leave(places)
		}
		if closed := outage.wait(ctx, b, err); closed != nil {
			return closed
		}
		if err != nil {
			continue
		}
		kept, stop := b.keepLease(ctx, lease)
		running.Go(func() {
			defer pool.Leave(places)
			defer slot.Give()
			defer stop()
			b.serve(ctx, kept, lease, queued, slot)
			b.wakeUp() // the conversation may have more questions
		})
	}
	return nil
}

// isSuspect reports whether the question that is answered next has probably ended
// processes: so many have ended with it that few more may, or while the platform was
// asked about one of its posts. It is then answered while this process does nothing
// else, so that a message that ends the process is given up alone, and those that
// were answered beside it are still answered.
func (b *Bot) isSuspect(ctx context.Context, queued []earshot.QueuedTurn) bool {
	const left = 3 // processes that may still end before the turn is given up
	if len(queued) == 0 {
		return false
	}
	if queued[0].Ends >= max(b.limits.Tries-left, (b.limits.Tries+1)/2) {
		return true
	}
	if queued[0].State != earshot.TurnPosting {
		return false
	}
	posts, err := b.store.Posts(ctx, queued[0].ID)
	return err == nil && slices.ContainsFunc(posts, func(p earshot.Post) bool { return p.Tries >= maxEnds })
}

// idle waits until there may be work, or ctx ends.
func (b *Bot) idle(ctx context.Context) {
	poll := time.NewTimer(b.limits.Poll)
	defer poll.Stop()
	select {
	case <-b.wake:
	case <-poll.C:
	case <-ctx.Done():
	}
}

// wakeUp tells Run that there may be work.
func (b *Bot) wakeUp() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}
