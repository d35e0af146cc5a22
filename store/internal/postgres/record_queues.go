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

// A recording is one call of Record: what is to be stored, and the outcomes.
type recording struct {
	messages []rule.Message
	outcomes []earshot.Recorded
	err      error
	done     chan struct{}
}

// lanes gather the recordings of each channel: while one transaction is on its
// way, callers queue, and all that wait share the next. Channels do not wait
// for one another. A queue is there as long as something waits in it.
type recordQueues struct {
	store *Store

	mu      sync.Mutex // guards what follows
	closed  bool
	waiting map[earshot.Scope][]*recording // an entry, also an empty one, has a goroutine
	running sync.WaitGroup
}

// do hands r over and waits until it is durable or refused, or until ctx ends.
// While r still waits ctx can take it back; after that the outcome is unknown
// to a caller who does not wait for it.
func (l *recordQueues) do(ctx context.Context, scope earshot.Scope, r *recording) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.done = make(chan struct{})
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return errClosed
	}
	list, busy := l.waiting[scope]
	if l.waiting == nil {
		l.waiting = map[earshot.Scope][]*recording{}
	}
	l.waiting[scope] = append(list, r)
	if !busy {
		l.running.Go(func() { l.run(scope) })
	}
	l.mu.Unlock()
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		l.remove(scope, r)
		return ctx.Err()
	}
}

func (l *recordQueues) remove(scope earshot.Scope, r *recording) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if list, busy := l.waiting[scope]; busy {
		l.waiting[scope] = slices.DeleteFunc(list, func(o *recording) bool { return o == r })
	}
}

// run stores what waits in a queue until nothing does.
func (l *recordQueues) run(scope earshot.Scope) {
	for {
		group := l.take(scope)
		if group == nil {
			return
		}
		l.commit(scope, group)
		for _, r := range group {
			close(r.done)
		}
	}
}

// take returns the recordings of the next transaction. When there are none it
// removes the queue.
func (l *recordQueues) take(scope earshot.Scope) []*recording {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.waiting[scope]
	if len(list) == 0 {
		delete(l.waiting, scope)
		return nil
	}
	n, rows := 1, len(list[0].messages)
	for n < len(list) && rows+len(list[n].messages) <= maxGroup {
		rows += len(list[n].messages)
		n++
	}
	group := slices.Clone(list[:n])
	l.waiting[scope] = slices.Delete(list, 0, n)
	return group
}

// commit stores a group in one transaction. If the server refuses that, each
// is tried alone, so that one call's trouble is not another's.
func (l *recordQueues) commit(scope earshot.Scope, group []*recording) {
	err := l.together(scope, group)
	if len(group) > 1 && code(err) != "" {
		for _, r := range group {
			r.err = l.together(scope, []*recording{r})
		}
		return
	}
	for _, r := range group {
		r.err = err
	}
}

func (l *recordQueues) together(scope earshot.Scope, group []*recording) error {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	return l.store.record(ctx, scope, group)
}

// close refuses what comes and waits for what has come.
func (l *recordQueues) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.running.Wait()
}
