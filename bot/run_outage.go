package bot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/earshot-ai/earshot"
)

// maxStoreWait is the longest wait between two tries to reach the store.
const maxStoreWait = 30 * time.Second

// A storeDown counts the claims in a row that the store has refused with an
// error. The zero storeDown is none. One goroutine uses it.
type storeDown struct {
	tries int
	since time.Time // of the first
}

// retry handles err, the error of a claim or nil: it waits until there may be
// work, or after an error of the store until it is to be asked again. The error
// that it returns is final: the store is closed. It logs when the store fails
// and when it answers again.
func (o *storeDown) retry(ctx context.Context, b *Bot, err error) error {
	switch {
	case err == nil, errors.Is(err, earshot.ErrNotFound):
		if o.tries > 0 {
			b.Log.Info("the store answers again", "tries", o.tries, "after", time.Since(o.since).Round(time.Second))
			*o = storeDown{}
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
		b.Log.Error("the store fails; nothing is answered until it works again", "err", err)
	}
	wait := time.NewTimer(min(b.Limits.Poll<<min(o.tries, 10), maxStoreWait))
	defer wait.Stop()
	o.tries++
	select { // not on wake: more to do does not mend the store
	case <-wait.C:
	case <-ctx.Done():
	}
	return nil
}
