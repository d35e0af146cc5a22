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
	jitter      func(most time.Duration) time.Duration

	mu      sync.Mutex // guards lanes
	lanes   map[string]*lane
	tickets map[string]time.Time // when calls that were sent away may come again
	drained time.Time            // when idle lanes were last forgotten
}

// A lane is what is counted together.
type lane struct {
	limit   *rate.Limiter // nil where window counts
	window  *window
	blocked time.Time // by an answer of 429, until then
	used    time.Time
}

func newLane(t tier) *lane {
	if t.burst == 0 {
		return &lane{window: &window{most: int(t.perMinute)}}
	}
	return &lane{limit: rate.NewLimiter(rate.Limit(t.perMinute/60), t.burst)}
}

// reserve books the next call from then on and returns how long after it the
// call is to be made; more than most, and nothing is booked.
func (l *lane) reserve(from time.Time, most time.Duration) (wait time.Duration, ok bool) {
	if l.window != nil {
		wait = l.window.next(from).Sub(from)
		if ok = wait <= most; ok {
			l.window.at = append(l.window.at, from.Add(wait))
		}
		return wait, ok
	}
	r := l.limit.ReserveN(from, 1)
	if wait = r.DelayFrom(from); wait > most {
		r.CancelAt(from)
		return wait, false
	}
	return wait, true
}

// free returns how many calls need not wait.
func (l *lane) free(now time.Time) int {
	switch {
	case l.blocked.After(now):
		return 0
	case l.window != nil:
		return l.window.free(now)
	}
	return max(0, int(l.limit.TokensAt(now)))
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
	l.used = now
	return l
}

// take books a call and returns how long it has to wait; more than most, and
// the call is not to be made. Where it has a ticket its place in the line is
// kept for when it comes again: a long line would otherwise be overtaken by
// whoever comes when it is a little shorter.
func (p *pace) take(method string, args url.Values, now time.Time, most time.Duration, ticket string) (wait time.Duration, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.lane(method, args, now)
	from := now
	if l.blocked.After(now) {
		from = l.blocked
	}
	if at, kept := p.tickets[ticket]; kept && now.Sub(at) < ticketLife {
		if at.Before(from) {
			at = from
		}
		if wait = at.Sub(now); wait <= most {
			delete(p.tickets, ticket)
		}
		return wait, wait <= most
	}
	after := from.Sub(now)
	wait, ok = l.reserve(from, most-after)
	if wait += after; !ok && ticket != "" && wait < ticketMost {
		l.reserve(from, forever)
		p.tickets[ticket] = now.Add(wait)
	}
	return wait, ok
}

// free returns how many calls of a method could be made now.
func (p *pace) free(method string, args url.Values, now time.Time) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lane(method, args, now).free(now)
}

// block records an answer of 429 and returns when to go on: never before
// Slack's own time, and not all at the same moment.
func (p *pace) block(method string, args url.Values, now time.Time, after time.Duration) time.Duration {
	after += p.jitter(500*time.Millisecond + after/10)
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.lane(method, args, now)
	if until := now.Add(after); until.After(l.blocked) {
		l.blocked = until
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
