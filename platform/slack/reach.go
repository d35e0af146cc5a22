package slack

import (
	"context"
	"errors"
	"sync"
	"time"
)

// downAfter is how many calls in a row must fail until Slack counts as
// unreachable: one that fails alone says little.
const downAfter = 3

// probeEvery is how often Slack is asked for a sign of life while it is down.
const probeEvery = 5 * time.Second

// A reach is whether Slack answers, as the calls show. The zero value is that
// of a process that has not asked yet.
type reach struct {
	mu       sync.Mutex // guards what follows
	answered bool       // ever
	failed   int        // calls in a row that got no answer
	since    time.Time  // when the first of them failed
}

// note notes how a call ended. A refusal is an answer.
func (r *reach) note(err error, now time.Time) {
	var (
		api     *APIError
		limited *LimitedError
	)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case errors.Is(err, context.Canceled): // by us: it says nothing
	case err == nil, errors.As(err, &limited), errors.As(err, &api) && !waits(api.Code):
		r.answered, r.failed, r.since = true, 0, time.Time{}
	default:
		if r.failed == 0 {
			r.since = now
		}
		r.failed++
	}
}

// Down reports since when Slack does not answer. It is not ok where Slack does,
// or was not asked yet.
func (p *Platform) Down() (since time.Time, ok bool) {
	r := &p.client.reach
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.since, r.failed >= downAfter || !r.answered && r.failed > 0
}

// Probe asks Slack for a sign of life every few seconds while it is down, until
// ctx ends, so that [Platform.Down] is true no longer than Slack is.
func (p *Platform) Probe(ctx context.Context) error {
	for {
		if err := sleep(ctx, probeEvery); err != nil {
			return err
		}
		if _, down := p.Down(); !down {
			continue
		}
		soon, cancel := context.WithTimeout(ctx, probeEvery)
		if _, err := p.client.call(soon, "auth.test", nil); err != nil {
			p.o.Log.Debug("slack is still down", "err", err)
		}
		cancel()
	}
}
