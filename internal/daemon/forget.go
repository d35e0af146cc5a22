package daemon

import (
	"context"
	"time"

	"github.com/earshot-ai/earshot"
)

// What was delivered is remembered for 25 hours, because Slack may deliver an
// event again for 24 (https://docs.slack.dev/apis/events-api).
const (
	remembered  = 25 * time.Hour
	forgetEvery = time.Hour
)

// forget removes what is no longer needed, at the start and then every hour,
// until ctx ends. That it cannot is no reason to stop answering.
func (d *Daemon) forget(ctx context.Context) error {
	again := time.NewTicker(forgetEvery)
	defer again.Stop()
	for {
		n, err := d.Store.PruneEvents(ctx, earshot.TimeOf(time.Now().Add(-remembered)))
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			d.log.Warn("forget old deliveries", "err", err)
		case n > 0:
			d.log.Debug("forgot old deliveries", "events", n)
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil
		}
	}
}
