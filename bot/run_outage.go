package bot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/earshot-ai/earshot"
)

// maxStoreWait is the longest pause between two tries to reach the store.
const maxStoreWait = 30 * time.Second

// A storeOutage counts the claims in a row that failed because the store failed. The
// zero storeOutage says that the store works. One goroutine uses it.
type storeOutage struct {
	tries int
	since time.Time // of the first
}

// wait takes the error of a claim, or nil. Where there was nothing to claim it waits
// until there may be work, and after an error of the store until the next try. The
// error that it returns is final: the store is closed. It logs when the store fails
// and when it works again.
func (o *storeOutage) wait(ctx context.Context, b *Bot, err error) error {
	switch {
	case err == nil, errors.Is(err, earshot.ErrNotFound):
		if o.tries > 0 {
			b.log.Info("the store answers again", "tries", o.tries, "after", time.Since(o.since).Round(time.Second))
			*o = storeOutage{}
		}
		if err != nil {
			b.idle(ctx)
		}
		return nil
	case ctx.Err() != nil:
		return nil
	case errors.Is(err, os.ErrClosed):
		return fmt.Errorf("claim: %w", err)
	}
	if o.tries == 0 {
		o.since = time.Now()
		b.log.Error("the store fails; nothing is answered until it works again", "err", err)
	}
	wait := time.NewTimer(min(b.limits.Poll<<min(o.tries, 10), maxStoreWait))
	defer wait.Stop()
	o.tries++
	select { // not on wake: more work does not repair the store
	case <-wait.C:
	case <-ctx.Done():
	}
	return nil
}
