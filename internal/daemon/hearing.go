package daemon

import (
	"context"
	"sync"

	"github.com/earshot-ai/earshot"
)

// A hearingTracker tells whether this process has heard all of a channel that is not stored.
// Slack gives each event to one of the processes that listen, and such a channel's
// messages, edits and deletions are in the memory of that one only. While another
// process runs, and once after it has ended, the platform is asked anew for each
// turn.
type hearingTracker struct {
	sharedParts
	mu   sync.Mutex // guards read
	read map[earshot.Scope]earshot.Time
}

func newHearing(s sharedParts) *hearingTracker {
	return &hearingTracker{sharedParts: s, read: map[earshot.Scope]earshot.Time{}}
}

// partial reports whether other processes may have heard what this one has not, of a
// channel that is not stored, since this was asked last.
func (h *hearingTracker) partial(ctx context.Context, s earshot.Scope) bool {
	if !h.options.Config.Retention.Of(s).None {
		return false
	}
	now := earshot.TimeOf(h.options.Outside.clock())
	h.mu.Lock()
	since := h.read[s]
	h.read[s] = now
	h.mu.Unlock()
	list, err := Presences(ctx, h.store)
	if err != nil {
		return true
	}
	for _, p := range list {
		if p.Owner != h.owner && (p.Running(now) || p.Seen >= since) {
			return true
		}
	}
	return false
}
