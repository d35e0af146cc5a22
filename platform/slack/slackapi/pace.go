package slackapi

import (
	"context"
	"maps"
	"net/url"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// A callPacer delays calls so that no rate limit is exceeded. Each method has a rate,
// and posts have one for each channel. It is safe for concurrent use.
type callPacer struct {
	distributed bool
	now         func() time.Time
	jitter      func(most time.Duration) time.Duration

	mu      sync.Mutex // guards what follows, and all that belongs to rates and bookings
	rates   map[string]*methodRate
	tickets map[string]time.Time // the moments that are kept for calls that could not wait
	drained time.Time            // when idle rates were last dropped
	sharing *sharedRates         // nil: this process is alone
}

// A limiter says when calls may be made. It is not safe for
// concurrent use.
type limiter interface {
	// next returns when a further call may be made, at the earliest from then on.
	next(from time.Time) time.Time
	// take books a call that is asked for at from and made at the moment at.
	take(from, at time.Time)
	// free returns how many calls need not wait, and how many after a pause.
	free(now time.Time) (calls, most int)
}

// A methodRate is what is counted together: the calls of a method, or the posts in
// a channel. A call waits for every one of its limiters.
type methodRate struct {
	tier    rateTier
	limits  []limiter
	shared  *bookings // also one of limits; nil while the rate is not shared
	blocked time.Time // by an answer of 429, until then
	used    time.Time
}

func newRate(t rateTier) *methodRate {
	if t.burst == 0 {
		return &methodRate{tier: t, limits: []limiter{&window{most: int(t.perMinute)}}}
	}
	return &methodRate{tier: t, limits: []limiter{tokens{rate.NewLimiter(rate.Limit(t.perMinute/60), t.burst)}}}
}

// from returns the moment from which calls may be made.
func (l *methodRate) from(now time.Time) time.Time { return later(now, l.blocked) }

// next returns when a further call may be made, at the earliest from then on.
func (l *methodRate) next(from time.Time) time.Time {
	at := from
	for _, limit := range l.limits {
		at = later(at, limit.next(from))
	}
	return at
}

// reserve books the next call from then on and returns how long after from it is to
// be made. Where that is more than most, nothing is booked and ok is false.
func (l *methodRate) reserve(from time.Time, most time.Duration) (wait time.Duration, ok bool) {
	at := l.next(from)
	if wait = at.Sub(from); wait > most {
		return wait, false
	}
	for _, limit := range l.limits {
		limit.take(from, at)
	}
	return wait, true
}

// free returns how many calls need not wait, and how many after a pause.
func (l *methodRate) free(now time.Time) (calls, most int) {
	calls, most = l.limits[0].free(now)
	for _, limit := range l.limits[1:] {
		c, m := limit.free(now)
		calls, most = min(calls, c), min(most, m)
	}
	if l.blocked.After(now) {
		calls = 0
	}
	return calls, most
}

// How long rates and tickets are kept.
const (
	rateIdle   = 30 * time.Minute // a rate that was not used for that long is like new
	ticketMost = 10 * time.Minute // no moment further away is kept
	ticketLife = time.Minute      // a moment that is not used for that long is lost
)

func (p *callPacer) rate(method string, args url.Values, now time.Time) *methodRate {
	key, t := method, tiers[method]
	switch {
	case method == Post:
		key, t = method+" "+args.Get("channel"), posting
	case p.distributed && (method == History || method == Replies):
		t = slowest
	case t == rateTier{}:
		t = tier2
	}
	if now.Sub(p.drained) > rateIdle {
		for k, l := range p.rates {
			if now.Sub(l.used) > rateIdle && now.After(l.blocked) {
				delete(p.rates, k)
			}
		}
		maps.DeleteFunc(p.tickets, func(_ string, at time.Time) bool { return now.Sub(at) > ticketLife })
		p.drained = now
	}
	l := p.rates[key]
	if l == nil {
		l = newRate(t)
		p.rates[key] = l
	}
	if l.shared == nil && p.sharing.ready() {
		l.shared = p.sharing.bookings(key, t)
		l.limits = append(l.limits, l.shared)
	}
	l.used = now
	return l
}

// take books a call and returns how long it has to wait. ok is false where that is
// more than most: the call must not be made then. If such a call has a ticket, a
// moment is booked for it all the same, and the call gets it when it is tried
// again with the same ticket: otherwise calls that come later would overtake it.
// Where the rate is shared, take may wait a second for the store.
func (p *callPacer) take(ctx context.Context, method string, args url.Values, most time.Duration, ticket string) (wait time.Duration, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.provide(ctx, method, args, most, ticket)
	now := p.now()
	l := p.rate(method, args, now)
	from := l.from(now)
	if at, kept := p.kept(ticket, now); kept {
		if wait = later(from, at).Sub(now); wait <= most {
			delete(p.tickets, ticket)
		}
		return wait, wait <= most
	}
	after := from.Sub(now)
	wait, ok = l.reserve(from, most-after)
	if wait += after; !ok && ticket != "" && wait < ticketMost {
		l.reserve(from, forever)
		p.tickets[ticket] = now.Add(wait)
		if l.shared != nil && !p.sharing.failed {
			p.remember(ctx, ticket, now.Add(wait))
		}
	}
	return wait, ok
}

// kept returns the moment that is kept for a ticket.
func (p *callPacer) kept(ticket string, now time.Time) (at time.Time, ok bool) {
	at, ok = p.tickets[ticket]
	return at, ok && now.Sub(at) < ticketLife
}

// free returns how many calls of a method could be made now, and how many after
// a pause.
func (p *callPacer) free(method string, args url.Values, now time.Time) (calls, most int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rate(method, args, now).free(now)
}

// block records an answer of 429 and returns after what time calls go on: Slack's
// own time and some jitter, so that not all go on at the same moment.
func (p *callPacer) block(ctx context.Context, method string, args url.Values, after time.Duration) time.Duration {
	after += p.jitter(500*time.Millisecond + after/10)
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	l := p.rate(method, args, now)
	until := now.Add(after)
	l.blocked = later(l.blocked, until)
	if l.shared != nil {
		p.blockAll(ctx, l.shared, until)
	}
	return after
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
