package daemon

import (
	"context"
	"log/slog"
	"time"

	"github.com/earshot-ai/earshot"
)

// meterEvery is how often counts are written: the last ones are lost with a
// process that is killed.
const meterEvery = 10 * time.Second

// A meter writes into the store how often a platform was called.
type meter struct {
	store   earshot.Meter
	log     *slog.Logger
	counted func() []earshot.CallCount   // since the start, each method once; Hour is set here
	written map[string]earshot.CallCount // by method
}

// run writes until ctx ends, and then what is left.
func (m *meter) run(ctx context.Context) error {
	again := time.NewTicker(meterEvery)
	defer again.Stop()
	for {
		select {
		case <-again.C:
			m.write(ctx)
		case <-ctx.Done():
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
			defer cancel()
			m.write(end)
			return nil
		}
	}
}

// write adds what was counted since it was written last. What cannot be
// written now is written with the next.
func (m *meter) write(ctx context.Context) {
	var news []earshot.CallCount
	now := map[string]earshot.CallCount{}
	for _, c := range m.counted() {
		now[c.Method] = c
		was := m.written[c.Method]
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
		level := slog.LevelDebug
		if c.Limited > 0 || c.Waits > 0 {
			level = slog.LevelInfo
		}
		m.log.Log(ctx, level, "calls", "method", c.Method, "calls", c.Calls, "limited", c.Limited, "failed", c.Failed, "waits", c.Waits, "waited", c.Waited)
	}
	if err := m.store.AddCalls(ctx, news...); err != nil {
		m.log.Warn("count calls", "err", err)
		return
	}
	m.written = now
}
