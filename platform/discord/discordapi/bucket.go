package discordapi

import (
	"net/http"
	"slices"
	"strconv"
	"time"
)

// A bucket is one limit: a number of calls in a window of time, as the headers of
// answers tell it. It is not safe for concurrent use.
type bucket struct {
	limit  int  // calls a window; 0 until an answer has told it
	open   bool // answers tell no limit
	left   int  // in the window, by the newest answer; those on their way not counted
	flying int  // on their way
	window int64
	reset  time.Time // when the window ends

	blocked time.Time     // by an answer of 429, until then
	waiting []uint64      // the tickets of calls that wait, in order
	changed chan struct{} // closed when the above has changed
	used    time.Time
}

func newBucket(limit int) *bucket {
	return &bucket{limit: limit, left: limit, changed: make(chan struct{})}
}

// enter and leave keep the queue of those who wait.
func (b *bucket) enter(ticket uint64) {
	i, _ := slices.BinarySearch(b.waiting, ticket)
	b.waiting = slices.Insert(b.waiting, i, ticket)
}

func (b *bucket) leave(ticket uint64) {
	if i, ok := slices.BinarySearch(b.waiting, ticket); ok {
		b.waiting = slices.Delete(b.waiting, i, i+1)
	}
}

// notify wakes those who wait.
func (b *bucket) notify() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// free returns how many calls may be sent now, those who wait not counted.
func (b *bucket) free(now time.Time) int {
	b.roll(now)
	switch {
	case now.Before(b.blocked):
		return 0
	case b.open:
		return globalMost
	case b.limit == 0:
		return max(0, 1-b.flying)
	}
	return max(0, b.left-b.flying)
}

// from returns when a call may be sent at the earliest. ok is false where that
// depends on an answer which is on its way.
func (b *bucket) from(now time.Time) (at time.Time, ok bool) {
	switch {
	case b.free(now) > 0:
		return now, true
	case now.Before(b.blocked):
		return b.blocked, true
	case b.limit == 0 || !now.Before(b.reset):
		return time.Time{}, false
	}
	return b.reset, true
}

// roll begins a new window once the last one has ended.
func (b *bucket) roll(now time.Time) {
	if b.limit > 0 && b.left < b.limit && !now.Before(b.reset) {
		b.left = b.limit
	}
}

// learn keeps what the headers of an answer tell. Answers may come in another order
// than they were made in: Discord's time of the window's end tells which is newer.
func (b *bucket) learn(h http.Header, now time.Time) {
	limit, err1 := strconv.Atoi(h.Get("X-RateLimit-Limit"))
	left, err2 := strconv.Atoi(h.Get("X-RateLimit-Remaining"))
	after, err3 := strconv.ParseFloat(h.Get("X-RateLimit-Reset-After"), 64)
	if err1 != nil || err2 != nil || err3 != nil || limit < 1 || left < 0 {
		b.open = b.limit == 0
		return
	}
	ends := now.Add(parseSeconds(after))
	window := ends.UnixMilli()
	if at, err := strconv.ParseFloat(h.Get("X-RateLimit-Reset"), 64); err == nil && at > 0 && at < 1e11 {
		window = int64(at * 1000)
	}
	fresh := b.limit == 0 || window > b.window
	if !fresh && window < b.window {
		return
	}
	b.limit, b.open = limit, false
	if left = min(left, limit); !fresh {
		left = min(left, b.left)
	}
	b.left, b.window, b.reset = left, window, ends
}
