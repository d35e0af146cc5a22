package gateway

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// Bounds of the events that wait to be handled.
const (
	queueLength = 1024
	queueBytes  = 64 << 20 // more than the largest payload

	mostBeside = 64 // events that are handled beside the others at a time
)

// How long a shard waits before it has an event handled again after an error.
const (
	firstAgain = time.Second // doubles
	lastAgain  = 30 * time.Second
)

// A queue holds events until they are handled, one after another.
type queue struct {
	o      Options
	events chan Dispatch
	bytes  *semaphore.Weighted
	over   chan struct{} // closed by close

	slots  *semaphore.Weighted
	beside sync.WaitGroup // who handles events beside the others
}

func newQueue(o Options) *queue {
	return &queue{o: o, events: make(chan Dispatch, queueLength), bytes: semaphore.NewWeighted(queueBytes), over: make(chan struct{}), slots: semaphore.NewWeighted(mostBeside)}
}

// handleBeside handles an event beside those that wait.
func (q *queue) handleBeside(ctx context.Context, d Dispatch) {
	if !q.slots.TryAcquire(1) {
		q.o.Log.Warn("an event is lost: too many like it are being handled", "type", d.Type)
		return
	}
	q.beside.Go(func() {
		defer q.slots.Release(1)
		if err := q.o.Handle(ctx, d); err != nil && ctx.Err() == nil {
			q.o.Log.Warn("an event is lost: it is handled once only", "type", d.Type, "err", err)
		}
	})
}

// offer adds an event if there is room for it.
func (q *queue) offer(d Dispatch) bool {
	if !q.bytes.TryAcquire(dispatchBytes(d)) {
		return false
	}
	select {
	case q.events <- d:
		return true
	default:
		q.bytes.Release(dispatchBytes(d))
		return false
	}
}

// put adds an event, once there is room for it.
func (q *queue) put(ctx context.Context, d Dispatch) error {
	if err := q.bytes.Acquire(ctx, dispatchBytes(d)); err != nil {
		return err
	}
	select {
	case q.events <- d:
		return nil
	case <-ctx.Done():
		q.bytes.Release(dispatchBytes(d))
		return ctx.Err()
	}
}

func dispatchBytes(d Dispatch) int64 { return min(int64(len(d.Data))+1, queueBytes) }

// close ends work once what is in the queue is handled, or at the first error.
func (q *queue) close() {
	close(q.over)
	close(q.events)
}

// work handles events until ctx ends or the queue is closed.
func (q *queue) work(ctx context.Context) {
	for d := range q.events {
		if !q.handle(ctx, d) {
			return
		}
		q.bytes.Release(dispatchBytes(d))
	}
}

// handle handles one event, as often as it takes. ok is false where it is not
// handled because the shard ends.
func (q *queue) handle(ctx context.Context, d Dispatch) (ok bool) {
	for wait := firstAgain; ctx.Err() == nil; wait = min(2*wait, lastAgain) {
		err := q.o.Handle(ctx, d)
		if err == nil {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		q.o.Log.Warn("an event is not handled yet", "type", d.Type, "again", wait, "err", err)
		t := time.NewTimer(wait + q.o.Jitter(wait/2))
		select {
		case <-t.C:
		case <-ctx.Done():
		case <-q.over:
			t.Stop()
			return false
		}
		t.Stop()
	}
	return false
}
