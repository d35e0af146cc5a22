package daemon

import (
	"context"
	"time"

	"github.com/earshot-ai/earshot"
)

// What was delivered is remembered for 25 hours, because Slack may deliver an
// event again for 24 (https://docs.slack.dev/apis/events-api). What a turn was
// made of can be shown and replayed for 90 days. What was booked of a rate does
// not matter once its time has passed; an hour is more than clocks differ.
const (
	remembered  = 25 * time.Hour
	replayable  = 90 * 24 * time.Hour
	booked      = time.Hour
	forgetEvery = time.Hour
)

// forget removes what is no longer needed, at the start and then every hour,
// until ctx ends. That it cannot is no reason to stop answering.
func (d *Daemon) forget(ctx context.Context) error {
	again := time.NewTicker(forgetEvery)
	defer again.Stop()
	for {
		for _, old := range []struct {
			what  string
			age   time.Duration
			prune func(context.Context, earshot.Time) (int, error)
		}{
			{"deliveries", remembered, d.Store.PruneEvents},
			{"turns", replayable, d.Store.PruneTurns},
			{"rates", booked, d.Store.PruneRates},
		} {
			n, err := old.prune(ctx, earshot.TimeOf(time.Now().Add(-old.age)))
			switch {
			case ctx.Err() != nil:
				return nil
			case err != nil:
				d.log.Warn("forget what is old", "what", old.what, "err", err)
			case n > 0:
				d.log.Debug("forgot what is old", "what", old.what, "count", n)
			}
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil
		}
	}
}
