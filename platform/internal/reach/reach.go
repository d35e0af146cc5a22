// Package reach records whether a platform answers, and looks for a sign of life while
// it does not. Start with [Reach].
package reach

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/earshot-ai/earshot/internal/pause"
)

// downAfter is how many calls in a row must fail until a platform counts as down: a
// single failure says little.
const downAfter = 3

// A Reach records how calls of a platform end. The zero value is of a client that has
// made no call yet. It is safe for concurrent use.
type Reach struct {
	mu       sync.Mutex // guards what follows
	answered bool       // ever
	failed   int        // calls in a row that got no answer
	since    time.Time  // when the first of them failed
}

// Answered notes that a call was answered. A refusal is an answer too.
func (r *Reach) Answered() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answered, r.failed, r.since = true, 0, time.Time{}
}

// Failed notes that a call got no answer.
func (r *Reach) Failed(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed == 0 {
		r.since = now
	}
	r.failed++
}

// Down reports since when the platform does not answer; ok is false where it does, or
// was not asked yet.
func (r *Reach) Down() (since time.Time, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.since, r.failed >= downAfter || !r.answered && r.failed > 0
}

// probeEvery is how often a platform is asked for a sign of life while it is down.
const probeEvery = 5 * time.Second

// Probe calls ask every few seconds while down reports that the platform is, until ctx
// ends. It returns ctx's error.
func Probe(ctx context.Context, log *slog.Logger, down func() (since time.Time, ok bool), ask func(ctx context.Context) error) error {
	for {
		if err := pause.For(ctx, probeEvery); err != nil {
			return err
		}
		if _, is := down(); !is {
			continue
		}
		soon, cancel := context.WithTimeout(ctx, probeEvery)
		if err := ask(soon); err != nil {
			log.Debug("the platform is still down", "err", err)
		}
		cancel()
	}
}
