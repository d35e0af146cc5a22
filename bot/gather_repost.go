package bot

import (
	"context"
	"time"
)

// Looks whether a question is deleted to be posted again in another name.
const (
	repostLook = 100 * time.Millisecond
	maxRepost  = 10 * time.Second // in all, whatever the platform's clock says
)

// awaitRepost waits as long as the platform says that the question may still be deleted and
// posted again in another name: the model is asked once, for the message that stays. It
// returns the outcome withdrawn where that has happened.
func (t *turn) awaitRepost(ctx context.Context) error {
	r, able := t.platform.(Reposter)
	if !able || !r.MayRepost(t.place) {
		return nil
	}
	t.slot.Give()
	ctx, cancel := context.WithTimeout(ctx, maxRepost)
	defer cancel()
	look := time.NewTicker(repostLook)
	defer look.Stop()
	for {
		if m, err := t.store.Message(ctx, t.scope(), t.place.Anchor.ID); err == nil && m.Deleted {
			return outcome{kind: withdrawn}
		}
		if !r.MayRepost(t.place) {
			return nil
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return nil
		}
	}
}
