package discordapi

import (
	"context"
	"errors"
	"sync"
	"time"
)

// downAfter is how many calls in a row must fail until Discord counts as down: a
// single failure says little.
const downAfter = 3

// A reach records whether Discord answers. The zero value is of a client that has
// made no call yet.
type reach struct {
	mu       sync.Mutex // guards what follows
	answered bool       // ever
	failed   int        // calls in a row that got no answer
	since    time.Time  // when the first of them failed
}

// note records how a call ended. A refusal is an answer too.
func (r *reach) note(err error, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case errors.Is(err, context.Canceled): // by the caller: it says nothing about Discord
	case errors.Is(err, ErrNotAnswered), errors.Is(err, ErrUnreachable):
		if r.failed == 0 {
			r.since = now
		}
		r.failed++
	default:
		r.answered, r.failed, r.since = true, 0, time.Time{}
	}
}

// Down reports since when Discord does not answer; ok is false where it does, or was
// not asked yet.
func (c *Client) Down() (since time.Time, ok bool) {
	r := &c.reach
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.since, r.failed >= downAfter || !r.answered && r.failed > 0
}
