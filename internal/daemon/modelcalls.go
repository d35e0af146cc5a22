package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon/metrics"
	"github.com/earshot-ai/earshot/internal/inspect"
	"github.com/earshot-ai/earshot/llm"
)

// maxCallsKept is how many calls of a model are remembered: the newest.
const maxCallsKept = 4096

// modelCalls remembers the newest calls of one model in this process. It is safe for
// concurrent use.
type modelCalls struct {
	info    ModelInfo
	counted func(result string, took time.Duration) // for the metrics; nil before they are there

	mu   sync.Mutex // guards list
	list []modelCall
}

// A modelCall is how one call ended.
type modelCall struct {
	at   time.Time // when it ended
	took time.Duration
	why  string // it failed; status and code
	full bool   // it failed because of a rate limit
}

func newCalls(list []ModelInfo) []*modelCalls {
	var out []*modelCalls
	for _, info := range list {
		out = append(out, &modelCalls{info: info})
	}
	return out
}

// add notes a call that has ended. One that its caller gave up is not counted.
func (m *modelCalls) add(ctx context.Context, took time.Duration, err error) {
	if err != nil && ctx.Err() != nil {
		return
	}
	c := modelCall{at: time.Now(), took: took}
	var e *llm.Error
	switch {
	case errors.As(err, &e):
		c.why, c.full = whyCall(e), e.Status == 429
	case err != nil:
		c.why = "no answer"
	}
	if m.counted != nil {
		result := metrics.CallOK
		if c.full {
			result = metrics.CallLimited
		} else if c.why != "" {
			result = metrics.CallFailed
		}
		m.counted(result, took)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.list = append(m.list, c); len(m.list) > maxCallsKept {
		m.list = slices.Delete(m.list, 0, len(m.list)-maxCallsKept)
	}
}

// whyCall names an error without the provider's text, which may repeat the prompt.
func whyCall(e *llm.Error) string {
	switch {
	case e.Status != 0 && e.Code != "":
		return fmt.Sprintf("status %d, %s", e.Status, e.Code)
	case e.Status != 0:
		return fmt.Sprintf("status %d", e.Status)
	}
	return cmp.Or(e.Code, "no answer, or not the whole of it")
}

// since sums the calls after a time.
func (m *modelCalls) since(t time.Time) inspect.ModelCalls {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := inspect.ModelCalls{Provider: m.info.Provider, Model: m.info.Name}
	var times []time.Duration
	for _, c := range m.list {
		if c.at.Before(t) {
			continue
		}
		if out.Calls++; c.why == "" {
			out.InARow = 0
			times = append(times, c.took)
			continue
		}
		out.InARow++
		out.Last, out.Why = earshot.TimeOf(c.at), c.why
		if c.full {
			out.Limited++
		} else {
			out.Failed++
		}
	}
	if len(times) > 0 {
		slices.Sort(times)
		out.Median, out.Slowest = times[len(times)/2].Microseconds(), times[len(times)-1].Microseconds()
	}
	return out
}
