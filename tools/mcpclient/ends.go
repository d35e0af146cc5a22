package mcpclient

import (
	"context"
	"sync"
)

// An endings ends what runs when the client is closed.
type endings struct {
	mu     sync.Mutex // guards what follows
	closed bool
	last   int
	all    map[int]context.CancelFunc
}

// add notes what ends a call or a request, until done is called. It is false where all has
// been ended.
func (e *endings) add(end context.CancelFunc) (done func(), open bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.all == nil {
		e.all = map[int]context.CancelFunc{}
	}
	e.last++
	n := e.last
	e.all[n] = end
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.all, n)
	}, !e.closed
}

// end ends all that runs.
func (e *endings) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	for _, end := range e.all {
		end()
	}
}
