package daemon

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
)

// writeCallsEvery is how often counts are written: those of the last seconds are
// lost with a process that is killed.
const writeCallsEvery = 10 * time.Second

// A callCounter writes into the store how often a platform's API was called.
type callCounter struct {
	store   earshot.Meter
	log     *slog.Logger
	now     func() time.Time
	read    func() []earshot.CallCount   // since the start, one entry a method; Hour is set here
	written map[string]earshot.CallCount // by method
}

// Run writes the counts until ctx ends, and then the last ones.
func (m *callCounter) Run(ctx context.Context) error {
	again := time.NewTicker(writeCallsEvery)
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

// write adds the calls since the last write. Where the store fails they are
// written with the next.
func (m *callCounter) write(ctx context.Context) {
	var news []earshot.CallCount
	now := map[string]earshot.CallCount{}
	for _, c := range m.read() {
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
		c.Hour = earshot.TimeOf(m.now())
		news = append(news, c)
		level := slog.LevelDebug
		if c.Limited > 0 || c.Waits > 0 {
			level = slog.LevelInfo
		}
		m.log.Log(ctx, level, "calls", "method", c.Method, "calls", c.Calls, "limited", c.Limited, "failed", c.Failed, "waits", c.Waits, "waited", c.Waited)
	}
	if err := m.store.AddCalls(ctx, news...); err != nil {
		m.log.Warn("write the counts of calls", "err", err)
		return
	}
	m.written = now
}

// SumCalls sums counts of several hours: one for each method in each workspace, by
// platform, workspace and method.
func SumCalls(counts []earshot.CallCount) []earshot.CallCount {
	type place struct {
		platform  earshot.Platform
		workspace earshot.WorkspaceID
		method    string
	}
	var out []earshot.CallCount
	at := map[place]int{}
	for _, c := range counts {
		p := place{c.Platform, c.Workspace, c.Method}
		i, ok := at[p]
		if !ok {
			i, at[p] = len(out), len(out)
			out = append(out, earshot.CallCount{Platform: c.Platform, Workspace: c.Workspace, Method: c.Method})
		}
		sum := &out[i]
		sum.Calls += c.Calls
		sum.Limited += c.Limited
		sum.Failed += c.Failed
		sum.Waits += c.Waits
		sum.Waited += c.Waited
	}
	slices.SortFunc(out, func(x, y earshot.CallCount) int {
		return cmp.Or(cmp.Compare(x.Platform, y.Platform), cmp.Compare(x.Workspace, y.Workspace), cmp.Compare(x.Method, y.Method))
	})
	return out
}
