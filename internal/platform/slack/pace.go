package slack

import (
	"context"
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
	burst     int
}

var (
	tier2 = tier{15, 5}
	tier3 = tier{40, 10}
	tier4 = tier{90, 20}
	// posting is about one message a second and channel.
	posting = tier{60, 2}
	// slowest is history for apps that are sold outside the Marketplace.
	slowest = tier{1, 1}
)

// tiers of the methods that are called; of others tier 2 is assumed.
var tiers = map[string]tier{
	methodOpen:           tier3,
	"usergroups.list":    tier2,
	"chat.startStream":   tier2,
	"chat.stopStream":    tier2,
	methodHistory:        tier3,
	methodReplies:        tier3,
	"conversations.info": tier3,
	"bots.info":          tier3,
	"chat.update":        tier3,
	"chat.delete":        tier3,
	"users.info":         tier4,
	"files.info":         tier4,
	"chat.postEphemeral": tier4,
	"chat.appendStream":  tier4,
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
	drained time.Time // when idle lanes were last forgotten
}

// A lane is what is counted together.
type lane struct {
	limit   *rate.Limiter
	blocked time.Time // by an answer of 429, until then
	used    time.Time
}

// laneIdle is after what time a lane is as good as new.
const laneIdle = 30 * time.Minute

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
		p.drained = now
	}
	l := p.lanes[key]
	if l == nil {
		l = &lane{limit: rate.NewLimiter(rate.Limit(t.perMinute/60), t.burst)}
		p.lanes[key] = l
	}
	l.used = now
	return l
}

// take books a call and returns how long it has to wait; more than most, and
// nothing is booked.
func (p *pace) take(method string, args url.Values, now time.Time, most time.Duration) (wait time.Duration, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.lane(method, args, now)
	from := now
	if l.blocked.After(now) {
		from = l.blocked
	}
	r := l.limit.ReserveN(from, 1)
	wait = r.DelayFrom(from) + from.Sub(now)
	if wait > most {
		r.CancelAt(from)
		return wait, false
	}
	return wait, true
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
