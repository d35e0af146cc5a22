package reach

import (
	"sync"
	"time"
)

// An Access records whether a platform accepts a token. The zero value is of a token that
// was not used yet. It is safe for concurrent use.
type Access struct {
	mu     sync.Mutex // guards what follows
	worked time.Time  // when the platform accepted it last
	since  time.Time  // when it refused it first, after that; zero while it does not
	why    string     // with since: why, and what to do
}

// Accepted notes that a call with the token was accepted. Where the token was refused
// before, again is true and from is when it was accepted last: what was told to the
// token's owner since may have been missed.
func (a *Access) Accepted(now time.Time) (from time.Time, again bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	from, again = a.worked, !a.since.IsZero()
	if from.IsZero() {
		from = a.since
	}
	a.worked, a.since, a.why = now, time.Time{}, ""
	return from, again
}

// Refused notes that the platform does not accept the token. why names the remedy.
func (a *Access) Refused(now time.Time, why string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.since.IsZero() {
		a.since = now
	}
	a.why = why
}

// SignedOut returns why the token is refused, what to do, and since when; ok is false
// where it is accepted, or was not used yet.
func (a *Access) SignedOut() (why string, since time.Time, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.why, a.since, !a.since.IsZero()
}

// unused reports whether the token was neither accepted nor refused since then.
func (a *Access) unused(since time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.since.IsZero() && a.worked.Before(since)
}
