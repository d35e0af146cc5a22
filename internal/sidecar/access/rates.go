package access

import (
	"container/list"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/earshot-ai/earshot"
)

// A Rate is a token bucket: so many requests a second, and so many at once. A zero
// field means the default, 500 a second and 1,000 at once; a negative PerSecond sets
// no bound.
type Rate struct {
	PerSecond float64
	Burst     int
}

// Rates bound what a gate allows.
type Rates struct {
	Principal Rate // each principal; a capability counts for its owner
	Channel   Rate // each channel, all principals together
}

// Allow reports whether a request may be served: it takes one token of the
// principal's bucket and, unless s is zero, one of the channel's. If either is empty
// none is taken, and retryAfter says when there will be one. Ask once for each
// request, and name a channel only after it is known that p sees it. Where p has been
// counted already and the channel is known later, use AllowChannel.
func (g *Gate) Allow(p Principal, s earshot.Scope) (retryAfter time.Duration, ok bool) {
	now := g.now()
	undo, wait, ok := g.principals.take(p.ID, now)
	if !ok || s == (earshot.Scope{}) {
		return wait, ok
	}
	if _, wait, ok = g.channels.take(s, now); !ok {
		undo()
	}
	return wait, ok
}

// An Allowance is the rate of a principal, and what is left of it.
type Allowance struct {
	Rate
	Left int           // requests that would be served now
	Full time.Duration // until as many may come at once as ever
}

// Allowance returns what p may still ask; ok is false where nothing bounds it.
func (g *Gate) Allowance(p Principal) (a Allowance, ok bool) {
	b := g.principals
	if b == nil {
		return Allowance{}, false
	}
	left := max(b.limiter(p.ID).TokensAt(g.now()), 0)
	full := (float64(b.burst) - left) / float64(b.limit)
	return Allowance{Rate{float64(b.limit), b.burst}, int(left), time.Duration(full * float64(time.Second))}, true
}

// AllowChannel takes a token of the channel's bucket alone.
func (g *Gate) AllowChannel(s earshot.Scope) (retryAfter time.Duration, ok bool) {
	_, wait, ok := g.channels.take(s, g.now())
	return wait, ok
}

// maxBuckets bounds the memory of the rates, about 200 bytes a bucket. Beyond it the
// one that was not used for longest is forgotten and would begin full. A principal
// cannot get there alone: it takes as many keys, or channels in its reach.
const maxBuckets = 10_000

// buckets are token buckets by key.
type buckets[K comparable] struct {
	limit rate.Limit
	burst int

	mu     sync.Mutex // guards the fields below
	of     map[K]*list.Element
	recent *list.List // of *bucket[K], the one used last in front
}

type bucket[K comparable] struct {
	key     K
	limiter *rate.Limiter
}

// newBuckets returns the buckets of a rate; nil, which allows everything, for one
// without a bound.
func newBuckets[K comparable](r Rate) *buckets[K] {
	if r.PerSecond < 0 {
		return nil
	}
	if r.PerSecond == 0 {
		r.PerSecond = 500
	}
	if r.Burst <= 0 {
		r.Burst = 1000
	}
	return &buckets[K]{limit: rate.Limit(r.PerSecond), burst: r.Burst, of: map[K]*list.Element{}, recent: list.New()}
}

// take takes a token. undo puts it back.
func (b *buckets[K]) take(key K, now time.Time) (undo func(), wait time.Duration, ok bool) {
	if b == nil {
		return func() {}, 0, true
	}
	r := b.limiter(key).ReserveN(now, 1)
	undo = func() { r.CancelAt(now) }
	if wait = r.DelayFrom(now); wait > 0 {
		undo()
		return nil, wait, false
	}
	return undo, 0, true
}

func (b *buckets[K]) limiter(key K) *rate.Limiter {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e, ok := b.of[key]; ok {
		b.recent.MoveToFront(e)
		return e.Value.(*bucket[K]).limiter
	}
	if b.recent.Len() >= maxBuckets {
		delete(b.of, b.recent.Remove(b.recent.Back()).(*bucket[K]).key)
	}
	l := rate.NewLimiter(b.limit, b.burst)
	b.of[key] = b.recent.PushFront(&bucket[K]{key, l})
	return l
}
