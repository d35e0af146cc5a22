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

// How often a platform is asked for a sign of life.
const (
	probeEvery = 5 * time.Second // while it is down, or refuses the token
	// idleEvery is for how long a token may be unused until it is tried: a bot whose
	// token has ended hears nothing, and would not notice it.
	idleEvery = 5 * time.Minute
	tellEvery = time.Minute // that the token is refused
)

// A Probe asks a platform for a sign of life. All fields are required.
type Probe struct {
	Down   func() (since time.Time, ok bool) // whether it does not answer
	Access *Access                           // of the token that Ask uses
	Ask    func(ctx context.Context) error   // one call
	Now    func() time.Time
	Log    *slog.Logger
	// SignedOut says what is told once a minute, as [Access.SignedOut] does.
	SignedOut func() (why string, since time.Time, ok bool)
}

// Run asks every few seconds while the platform is down or refuses the token, and every
// few minutes where the token is not used otherwise, until ctx ends. It returns ctx's
// error.
func (p Probe) Run(ctx context.Context) error {
	var told time.Time
	for {
		if err := pause.For(ctx, probeEvery); err != nil {
			return err
		}
		now := p.Now()
		why, since, out := p.SignedOut()
		if !out {
			told = time.Time{}
		} else if now.Sub(told) >= tellEvery {
			told = now
			p.Log.Error("the platform refuses the token; nothing is answered until it is accepted", "since", since.UTC().Format(time.RFC3339), "why", why)
		}
		if _, down := p.Down(); !down && !out && !p.Access.unused(now.Add(-idleEvery)) {
			continue
		}
		soon, cancel := context.WithTimeout(ctx, probeEvery)
		if err := p.Ask(soon); err != nil {
			p.Log.Debug("the platform is still down", "err", err)
		}
		cancel()
	}
}
