package bot

import (
	"context"
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
	pool := slots.New(b.limits.Parallel)
	var outage storeOutage
	for pool.Enter(ctx) {
		slot := pool.Slot()
		if slot.Take(ctx) != nil {
			pool.Leave(1)
			break
		}
		lease, queued, err := b.claim(ctx)
		if err != nil {
			slot.Give()
			pool.Leave(1)
		}
		if closed := outage.wait(ctx, b, err); closed != nil {
			return closed
		}
		if err != nil {
			continue
		}
		kept, stop := b.keepLease(ctx, lease)
		places := 1
		if b.isSuspect(queued) {
			slot.Give() // the other turns need slots to come to their end
			places += pool.TakeAll()
		}
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
// processes: so many have ended with it that few more may. It is then answered while
// this process does nothing else, so that a message that ends the process is given
// up alone, and those that were answered beside it are still answered.
func (b *Bot) isSuspect(queued []earshot.QueuedTurn) bool {
	const left = 3 // processes that may still end before the turn is given up
	return len(queued) > 0 && queued[0].Ends >= max(b.limits.Tries-left, (b.limits.Tries+1)/2)
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
