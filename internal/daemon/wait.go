package daemon

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
)

// pollEvery is how often Wait reads a turn that another replica may end.
const pollEvery = 200 * time.Millisecond

// Wait returns once a turn has ended, in this process or in another, or with
// ctx's error.
func (d *Daemon) Wait(ctx context.Context, id earshot.TurnID) error {
	for {
		ended := d.ended.next()
		t, err := d.store.QueuedTurn(ctx, id)
		if err != nil {
			return fmt.Errorf("wait for turn %d: %w", id, err)
		}
		if t.State.Final() {
			return nil
		}
		if err := waitFor(ctx, ended, pollEvery); err != nil {
			return err
		}
	}
}

// A broadcast wakes everyone who waits for its next notification. It is safe
// for concurrent use.
type broadcast struct {
	mu sync.Mutex    // guards c
	c  chan struct{} // closed by the next notify
}

func newBroadcast() *broadcast { return &broadcast{c: make(chan struct{})} }

// next returns a channel that the next notify closes.
func (b *broadcast) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.c
}

func (b *broadcast) notify() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.c)
	b.c = make(chan struct{})
}
