package pause_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-ai/earshot/internal/pause"
)

func TestTimeInWhichATimeoutIsHeldDoesNotCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		over := errors.New("over")
		ctx, limit, stop := pause.WithTimeout(t.Context(), time.Minute, over)
		defer stop()
		began := time.Now()
		until := func() time.Duration {
			end, ok := ctx.Deadline()
			if !ok {
				return 0
			}
			return end.Sub(began)
		}
		if got := until(); got != time.Minute {
			t.Errorf("the deadline is in %s", got)
		}
		time.Sleep(40 * time.Second)
		first, second := limit.Hold(), limit.Hold()
		time.Sleep(time.Hour)
		first()
		time.Sleep(time.Hour)
		if got := until(); ctx.Err() != nil || got != 0 {
			t.Errorf("held: %v, a deadline in %s", ctx.Err(), got)
		}
		second()
		if got := until(); got != 2*time.Hour+time.Minute {
			t.Errorf("the deadline is in %s", got)
		}
		time.Sleep(19 * time.Second)
		child, cancel := context.WithTimeout(ctx, time.Hour)
		defer cancel()
		if ctx.Err() != nil {
			t.Error("it ended a second too early")
		}
		time.Sleep(2 * time.Second)
		if context.Cause(ctx) != over || context.Cause(child) != over {
			t.Errorf("ended with %v, a child with %v", context.Cause(ctx), context.Cause(child))
		}
	})
}
