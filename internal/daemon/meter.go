package daemon

import (
	"context"
	"time"

	"github.com/earshot-ai/earshot"
)

// meterEvery is how often counts are written: what the last ones were is lost
// with a process that is killed.
const meterEvery = 10 * time.Second

// meter returns what writes into the store, until ctx ends, how often a
// platform was called. counted returns it since the start, by method; Hour is
// set here.
func (d *Daemon) meter(counted func() []earshot.CallCount) func(context.Context) error {
	return func(ctx context.Context) error {
		before := map[string]earshot.CallCount{}
		write := func(ctx context.Context) {
			var news []earshot.CallCount
			now := map[string]earshot.CallCount{}
			for _, c := range counted() {
				now[c.Method] = c
				was := before[c.Method]
				if c == was {
					continue
				}
				c.Calls -= was.Calls
				c.Limited -= was.Limited
				c.Failed -= was.Failed
				c.Waits -= was.Waits
				c.Waited -= was.Waited
				c.Hour = earshot.TimeOf(time.Now())
				news = append(news, c)
				d.log.Debug("calls", "method", c.Method, "calls", c.Calls, "limited", c.Limited, "failed", c.Failed, "waits", c.Waits, "waited", c.Waited)
				if c.Limited > 0 || c.Waits > 0 {
					d.log.Info("calls were limited", "method", c.Method, "calls", c.Calls, "limited", c.Limited, "waits", c.Waits, "waited", c.Waited)
				}
			}
			if err := d.Store.AddCalls(ctx, news...); err != nil {
				d.log.Warn("count calls", "err", err)
				return
			}
			before = now
		}
		again := time.NewTicker(meterEvery)
		defer again.Stop()
		for {
			select {
			case <-again.C:
				write(ctx)
			case <-ctx.Done():
				end, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
				defer cancel()
				write(end)
				return nil
			}
		}
	}
}
