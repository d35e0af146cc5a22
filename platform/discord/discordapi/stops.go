package discordapi

import (
	"fmt"
	"net/http"
	"sync"
	"time"
)

// When calls are not made any more. Discord bans an address for answers of 401, 403
// and 429: 10,000 in 10 minutes (Rate Limits, Invalid Request Limit).
const (
	invalidMost  = 1000 // a tenth, since others may share the address
	refusedMost  = 3    // refusals in a row, until the like is not asked
	refusedFirst = 10 * time.Minute
	refusedLast  = time.Hour
	maxRefused   = 10_000 // kept
)

// callStops say which calls must not be made because Discord has refused the like.
type callStops struct {
	now func() time.Time

	mu      sync.Mutex // guards what follows
	token   bool       // it was not accepted, and is not tried again before Client.Probe
	faults  [11]fault  // the answers that count for the ban, by minute
	refused map[string]*refusals
}

// A fault counts the answers of one minute.
type fault struct {
	minute int64 // of the epoch
	count  int
}

// refusals are the answers of 403 to the calls of one route with the same major
// parameter, in a row.
type refusals struct {
	params []string
	count  int
	last   Error
	until  time.Time
}

func (s *callStops) check(to target) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token && to.endpoint.BotAuth {
		return fmt.Errorf("%s: %w", to.call, ErrToken)
	}
	now := s.now()
	if wait := s.pause(now); wait > 0 {
		return &LimitedError{Call: to.call, Wait: wait, Global: true}
	}
	if r := s.refused[refusalKey(to)]; r != nil && now.Before(r.until) {
		e := r.last
		e.Again = r.until
		return &e
	}
	return nil
}

// pause returns for how long no call is made, because too many answers count for the
// ban.
func (s *callStops) pause(now time.Time) time.Duration {
	sum, first := 0, int64(0)
	for _, f := range s.faults {
		if f.count == 0 || f.minute <= minuteOf(now)-int64(len(s.faults)) {
			continue
		}
		sum += f.count
		if first == 0 || f.minute < first {
			first = f.minute
		}
	}
	if sum < invalidMost {
		return 0
	}
	return time.Unix((first+int64(len(s.faults)))*60, 0).Sub(now)
}

func minuteOf(t time.Time) int64 { return t.Unix() / 60 }

// invalid counts an answer that counts for the ban.
func (s *callStops) invalid() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault()
}

func (s *callStops) fault() {
	m := minuteOf(s.now())
	f := &s.faults[m%int64(len(s.faults))]
	if f.minute != m {
		*f = fault{minute: m}
	}
	f.count++
}

// unauthorized stops all calls until the token is tried again.
func (s *callStops) unauthorized() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token = true
	s.fault()
}

// retry lets the token be tried again.
func (s *callStops) retry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token = false
}

// note keeps a refusal, and reports whether the like is not asked for a while.
func (s *callStops) note(to target, e *Error) (stopped bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Status != http.StatusForbidden {
		delete(s.refused, refusalKey(to))
		return false
	}
	s.fault()
	r := s.refused[refusalKey(to)]
	if r == nil {
		if len(s.refused) > maxRefused {
			clear(s.refused) // what is still refused is found again, at three calls each
		}
		r = &refusals{params: to.params}
		s.refused[refusalKey(to)] = r
	}
	r.count++
	r.last = *e
	if r.count < refusedMost {
		return false
	}
	r.until = s.now().Add(min(refusedFirst<<min(r.count-refusedMost, 10), refusedLast))
	return true
}

// allowed forgets the refusals of a call that was accepted.
func (s *callStops) allowed(to target) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.refused, refusalKey(to))
}

func rateKey(to target) string { return to.call + " " + to.major }

// refusalKey names the calls that are refused alike. A post with a file may need a permission
// that other posts do not.
func refusalKey(to target) string {
	if to.upload {
		return rateKey(to) + " with a file"
	}
	return rateKey(to)
}

// Again lets calls be made again although Discord has refused the like several times:
// those about a channel, a guild or what else of calls their first parameter says. It
// is for when permissions have changed. of must not use the client.
func (c *Client) Again(of func(id string) bool) {
	s := &c.stops
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, r := range s.refused {
		if len(r.params) > 0 && of(r.params[0]) {
			delete(s.refused, k)
		}
	}
}
