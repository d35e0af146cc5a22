package daemon

import (
	"context"
	"fmt"
	"time"

	"github.com/earshot-ai/earshot"
)

// look is how often a turn is looked at that another replica may end.
const look = 200 * time.Millisecond

// Wait returns once a turn has ended, here or elsewhere, or ctx has.
func (d *Daemon) Wait(ctx context.Context, id earshot.TurnID) error {
	for {
		d.mu.Lock()
		ended := d.ended
		d.mu.Unlock()
		t, err := d.Store.QueuedTurn(ctx, id)
		if err != nil {
			return fmt.Errorf("wait for turn %d: %w", id, err)
		}
		if Final(t.State) {
			return nil
		}
		timer := time.NewTimer(look)
		select {
		case <-ended:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
		timer.Stop()
	}
}

// Final reports whether nothing more happens to a turn in this state by
// itself.
func Final(s earshot.TurnState) bool {
	switch s {
	case earshot.TurnOpen, earshot.TurnClaimed, earshot.TurnGenerating, earshot.TurnPosting:
		return false
	}
	return true
}
