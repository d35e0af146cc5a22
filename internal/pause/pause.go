// Package pause waits for time to pass, unless a context ends first.
package pause

import (
	"context"
	"time"
)

// For waits, or returns ctx's error. It does not wait where d is not above 0.
func For(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
