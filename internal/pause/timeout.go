package pause

import (
	"context"
	"sync"
	"time"
)

// A Timeout ends a context once its time is over. Time in which it is held does not count.
type Timeout struct {
	timer *time.Timer

	mu    sync.Mutex // guards what follows
	left  time.Duration
	since time.Time // when what is left began to run
	held  int
}

// WithTimeout returns a context that ends with the cause once d is over, and the Timeout
// that holds it. stop frees what it uses.
func WithTimeout(ctx context.Context, d time.Duration, cause error) (_ context.Context, t *Timeout, stop func()) {
	ctx, end := context.WithCancelCause(ctx)
	t = &Timeout{left: d, since: time.Now()}
	t.timer = time.AfterFunc(d, func() { end(cause) })
	return limited{ctx, t}, t, func() {
		t.timer.Stop()
		end(context.Canceled)
	}
}

// Hold stops the time until release is called, once. It does not revive a context that has
// ended.
func (t *Timeout) Hold() (release func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held++; t.held == 1 {
		t.timer.Stop()
		t.left = max(0, t.left-time.Since(t.since))
	}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.held--; t.held == 0 {
			t.since = time.Now()
			t.timer.Reset(t.left)
		}
	}
}

// A limited context has the deadline of its Timeout as it is now.
type limited struct {
	context.Context //nolint:containedctx // it is one
	t               *Timeout
}

// Deadline implements [context.Context]: there is none while the time is held.
func (l limited) Deadline() (time.Time, bool) {
	l.t.mu.Lock()
	defer l.t.mu.Unlock()
	if l.t.held > 0 {
		return l.Context.Deadline()
	}
	own := l.t.since.Add(l.t.left)
	if outer, ok := l.Context.Deadline(); ok && outer.Before(own) {
		return outer, true
	}
	return own, true
}
