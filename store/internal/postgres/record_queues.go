package postgres

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

const (
	// maxGroup bounds the messages of one transaction that several calls share.
	maxGroup = 4096
	// writeTimeout bounds a transaction that no caller's context bounds.
	writeTimeout = 30 * time.Second
)

// A recording is one call of Record, with its outcomes.
type recording struct {
	messages []rule.Message
	outcomes []earshot.RecordResult
	err      error
	done     chan struct{}
}

// recordQueues holds a queue of recordings for each channel: while one transaction
// runs, callers queue, and all that wait then share the next one (group commit).
// Channels do not wait for one another. A channel has a queue, and a goroutine that
// runs it, only while something is recorded in it.
type recordQueues struct {
	store *Store

	mu      sync.Mutex // guards what follows
	closed  bool
	waiting map[earshot.Scope][]*recording // every entry, even an empty one, has a goroutine
	running sync.WaitGroup
}

// do queues r and waits until it is durable or refused, or until ctx ends. If ctx
// ends while r is still queued, nothing is written; after that r may be written.
func (q *recordQueues) do(ctx context.Context, scope earshot.Scope, r *recording) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.done = make(chan struct{})
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return errClosed
	}
	list, busy := q.waiting[scope]
	if q.waiting == nil {
		q.waiting = map[earshot.Scope][]*recording{}
	}
	q.waiting[scope] = append(list, r)
	if !busy {
		q.running.Go(func() { q.run(scope) })
	}
	q.mu.Unlock()
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		q.remove(scope, r)
		return ctx.Err()
	}
}

func (q *recordQueues) remove(scope earshot.Scope, r *recording) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if list, busy := q.waiting[scope]; busy {
		q.waiting[scope] = slices.DeleteFunc(list, func(o *recording) bool { return o == r })
	}
}

// run stores what waits in a channel's queue, until it is empty.
func (q *recordQueues) run(scope earshot.Scope) {
	for {
		group := q.take(scope)
		if group == nil {
			return
		}
		q.commit(scope, group)
		for _, r := range group {
			close(r.done)
		}
	}
}

// take returns the recordings of the next transaction. It removes an empty queue
// and returns nil.
func (q *recordQueues) take(scope earshot.Scope) []*recording {
	q.mu.Lock()
	defer q.mu.Unlock()
	list := q.waiting[scope]
	if len(list) == 0 {
		delete(q.waiting, scope)
		return nil
	}
	n, rows := 1, len(list[0].messages)
	for n < len(list) && rows+len(list[n].messages) <= maxGroup {
		rows += len(list[n].messages)
		n++
	}
	group := slices.Clone(list[:n])
	q.waiting[scope] = slices.Delete(list, 0, n)
	return group
}

// commit stores a group in one transaction. If the server refuses it, each call is
// stored in a transaction of its own, so that one's failure does not fail another.
func (q *recordQueues) commit(scope earshot.Scope, group []*recording) {
	err := q.together(scope, group)
	if len(group) > 1 && sqlState(err) != "" {
		for _, r := range group {
			r.err = q.together(scope, []*recording{r})
		}
		return
	}
	for _, r := range group {
		r.err = err
	}
}

func (q *recordQueues) together(scope earshot.Scope, group []*recording) error {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	return q.store.record(ctx, scope, group)
}

// close refuses new recordings and waits for the queued ones.
func (q *recordQueues) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.running.Wait()
}
