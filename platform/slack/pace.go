package slack

import (
	"context"
	"maps"
	"net/url"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// A tier is how often Slack lets a method be called: docs.slack.dev, Rate
// limits. Ours are lower, so that a limit is met by waiting rather than by
// being refused.
type tier struct {
	perMinute float64
	burst     int // 0: all of the minute's calls may come at once
}

var (
	tier2 = tier{15, 5}
	tier3 = tier{40, 10}
	tier4 = tier{90, 20}
	// The calls that give answers their last text. Slack counts by the minute
	// ("rate limit windows are per minute": docs.slack.dev, Rate limits), so a
	// crowd that asks at once is answered at once. Reads have a small burst and
	// a steady rate instead, because a turn waits for a read only for seconds.
	updates = tier{45, 0} // chat.update, of tier 3
	streams = tier{18, 0} // chat.startStream and chat.stopStream, of tier 2
	// posting is about one message a second and channel, the burst included.
	posting = tier{57, 2}
	// slowest is history for apps that are sold outside the Marketplace.
	slowest = tier{1, 1}
)

// tiers of the methods that are called; of others tier 2 is assumed.
var tiers = map[string]tier{
	methodOpen:           tier3,
	"usergroups.list":    tier2,
	methodStart:          streams,
	methodStop:           streams,
	methodHistory:        tier3,
	methodReplies:        tier3,
	"conversations.info": tier3,
	"bots.info":          tier3,
	methodUpdate:         updates,
	methodDelete:         tier3,
	"users.info":         tier4,
	"files.info":         tier4,
	"chat.postEphemeral": tier4,
	methodAppend:         tier4,
	"auth.test":          tier4,

	"assistant.threads.setStatus": tier4,
}

// A pace holds calls back so that no limit is passed. One stands for each
// method, and for each channel that is posted in. It is safe for concurrent
// use.
type pace struct {
	distributed bool
	now         func() time.Time
	jitter      func(most time.Duration) time.Duration

	mu      sync.Mutex // guards what follows, and all of lanes and of bookings
	lanes   map[string]*lane
	tickets map[string]time.Time // when calls that were sent away may come again
	drained time.Time            // when idle lanes were last forgotten
	sharing *sharing             // nil: the rates are this process's own
}

// A limiter says when the calls of a lane may be made. It is not safe for
// concurrent use.
type limiter interface {
	// next returns when a further call may be made, at the earliest from then on.
	next(from time.Time) time.Time
	// take books a call that is asked for at from and made at the moment at.
	take(from, at time.Time)
	// free returns how many calls need not wait, and how many after a pause.
	free(now time.Time) (calls, most int)
}

// A lane is what is counted together. A call waits for every limiter of it.
type lane struct {
	tier    tier
	limits  []limiter
	shared  *bookings // also one of limits; nil where the rate is not shared
	blocked time.Time // by an answer of 429, until then
	used    time.Time
}

func newLane(t tier) *lane {
	if t.burst == 0 {
		return &lane{tier: t, limits: []limiter{&window{most: int(t.perMinute)}}}
	}
	return &lane{tier: t, limits: []limiter{tokens{rate.NewLimiter(rate.Limit(t.perMinute/60), t.burst)}}}
}

// from returns the moment from which calls may be made.
func (l *lane) from(now time.Time) time.Time { return later(now, l.blocked) }

// next returns when a further call may be made, at the earliest from then on.
func (l *lane) next(from time.Time) time.Time {
	at := from
	for _, limit := range l.limits {
		at = later(at, limit.next(from))
	}
	return at
}

// reserve books the next call from then on and returns how long after it the
// call is to be made; more than most, and nothing is booked.
func (l *lane) reserve(from time.Time, most time.Duration) (wait time.Duration, ok bool) {
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
func (l *lane) free(now time.Time) (calls, most int) {
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

// Times of lanes and of places in them.
const (
	laneIdle   = 30 * time.Minute // then a lane is as good as new
	ticketMost = 10 * time.Minute // no place is kept that is further away
	ticketLife = time.Minute      // a place that is not taken in this time is lost
)

func (p *pace) lane(method string, args url.Values, now time.Time) *lane {
	key, t := method, tiers[method]
	switch {
	case method == methodPost:
		key, t = method+" "+args.Get("channel"), posting
	case p.distributed && (method == methodHistory || method == methodReplies):
		t = slowest
	case t == tier{}:
		t = tier2
	}
	if now.Sub(p.drained) > laneIdle {
		for k, l := range p.lanes {
			if now.Sub(l.used) > laneIdle && now.After(l.blocked) {
				delete(p.lanes, k)
			}
		}
		maps.DeleteFunc(p.tickets, func(_ string, at time.Time) bool { return now.Sub(at) > ticketLife })
		p.drained = now
	}
	l := p.lanes[key]
	if l == nil {
		l = newLane(t)
		p.lanes[key] = l
	}
	if l.shared == nil && p.sharing.ready() {
		l.shared = p.sharing.bookings(key, t)
		l.limits = append(l.limits, l.shared)
	}
	l.used = now
	return l
}

// take books a call and returns how long it has to wait; more than most, and
// the call is not to be made. Where it has a ticket its place in the line is
// kept for when it comes again: a long line would otherwise be overtaken by
// whoever comes when it is a little shorter. Where the rate is shared, take may
// wait a second for the store.
func (p *pace) take(ctx context.Context, method string, args url.Values, most time.Duration, ticket string) (wait time.Duration, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.provide(ctx, method, args, most, ticket)
	now := p.now()
	l := p.lane(method, args, now)
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

// kept returns the place that is kept for a ticket.
func (p *pace) kept(ticket string, now time.Time) (at time.Time, ok bool) {
	at, ok = p.tickets[ticket]
	return at, ok && now.Sub(at) < ticketLife
}

// free returns how many calls of a method could be made now, and how many after
// a pause.
func (p *pace) free(method string, args url.Values, now time.Time) (calls, most int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lane(method, args, now).free(now)
}

// block records an answer of 429 and returns when to go on: never before
// Slack's own time, and not all at the same moment.
func (p *pace) block(ctx context.Context, method string, args url.Values, after time.Duration) time.Duration {
	after += p.jitter(500*time.Millisecond + after/10)
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	l := p.lane(method, args, now)
	until := now.Add(after)
	l.blocked = later(l.blocked, until)
	if l.shared != nil {
		p.blockAll(ctx, l.shared, until)
	}
	return after
}

// sleep waits, or returns ctx's error.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
