package backfill

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/pause"
)

// A Tier is how often a platform may be asked, by workspace and method, and how
// large its pages are.
type Tier struct {
	PerMinute int
	Burst     int // calls that may be made at once, when there were none for a while
	Objects   int // messages that a page for a turn holds at most
	Most      int // messages that any page may hold; default: Objects
}

// The tiers of Slack's conversations.history and conversations.replies
// (docs.slack.dev, rate limits). Internal stays below Tier 3, which is 50 a
// minute, for an organisation's own apps and those of the Marketplace;
// Distributed is for commercially distributed apps outside the Marketplace.
var (
	Internal    = Tier{PerMinute: 40, Burst: 10, Objects: 200, Most: 999}
	Distributed = Tier{PerMinute: 1, Burst: 1, Objects: 15, Most: 15}
)

// The methods of a [Source], as they are counted.
const (
	Replies = "replies"
	History = "history"
)

// A Call is what was asked of the platform by one method in one workspace.
type Call struct {
	Workspace earshot.WorkspaceID
	Method    string        // Replies or History
	Calls     int           // made
	Limited   int           // refused because of a limit
	Failed    int           // failed otherwise
	Waits     int           // waited before they were made
	Waited    time.Duration // in all
	Overflow  int           // not made, because a turn could not wait for them
}

// errRateUsedUp says that a turn cannot wait until its call may be made.
var errRateUsedUp = errors.New("the rate is used up")

// A limiter keeps calls within a tier. Turns go before the background.
type limiter struct {
	tier    Tier
	degrade bool // turns do not wait

	mu      sync.Mutex // guards buckets
	buckets map[rateKey]*bucket
}

// A rateKey names what the platform limits together.
type rateKey struct {
	workspace earshot.WorkspaceID
	method    string
}

// A bucket is a token bucket. A turn that waits has taken its token already, so
// that the level may be below zero.
type bucket struct {
	Call
	level   float64
	at      time.Time // of level
	blocked time.Time // no call before
	idle    time.Time // no call of the background before
}

func newLimiter(t Tier, degrade bool) *limiter {
	return &limiter{tier: t, degrade: degrade, buckets: map[rateKey]*bucket{}}
}

// interval is the time in which one call is earned.
func (p *limiter) interval() time.Duration { return time.Minute / time.Duration(p.tier.PerMinute) }

// bucket returns the bucket of a key, refilled up to now. p.mu is held.
func (p *limiter) bucket(l rateKey, now time.Time) *bucket {
	s := p.buckets[l]
	if s == nil {
		s = &bucket{Call: Call{Workspace: l.workspace, Method: l.method}, level: float64(p.tier.Burst), at: now}
		p.buckets[l] = s
	}
	s.level = min(float64(p.tier.Burst), s.level+float64(now.Sub(s.at))/float64(p.interval()))
	s.at = now
	return s
}

// wait returns how long it takes until the bucket has a level. p.mu is held.
func (p *limiter) wait(s *bucket, level float64) time.Duration {
	d := max(0, s.blocked.Sub(s.at))
	if s.level < level {
		d = max(d, time.Duration((level-s.level)*float64(p.interval()))+1)
	}
	return d
}

// reserve takes a call for a turn and returns how long the turn must wait for it,
// with [limiter.await]. Where ctx does not allow that long it returns
// errRateUsedUp.
func (p *limiter) reserve(ctx context.Context, l rateKey) (time.Duration, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	s := p.bucket(l, now)
	d := p.wait(s, 1)
	deadline, bounded := ctx.Deadline()
	if d > 0 && (p.degrade || !bounded && d > time.Minute || bounded && now.Add(d).After(deadline)) {
		s.Overflow++
		return 0, errRateUsedUp
	}
	s.level--
	if d > 0 {
		s.Waits++
	}
	return d, nil
}

// await waits for a call that was reserved. On an error the call is given back.
func (p *limiter) await(ctx context.Context, l rateKey, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	start := time.Now()
	err := pause.For(ctx, d)
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.bucket(l, time.Now())
	s.Waited += time.Since(start)
	if err != nil {
		s.level++
		return context.Cause(ctx)
	}
	return nil
}

// spare takes a call for a turn if more than half of a burst is left, and reports
// whether it did.
func (p *limiter) spare(l rateKey) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.bucket(l, time.Now())
	if p.wait(s, 1+float64(p.tier.Burst)/2) > 0 {
		return false
	}
	s.level--
	return true
}

// background takes a call for the background and waits for it. Half of a burst
// and half of the rate are left to turns.
func (p *limiter) background(ctx context.Context, l rateKey) error {
	start, waited := time.Now(), false
	for {
		p.mu.Lock()
		now := time.Now()
		s := p.bucket(l, now)
		d := max(p.wait(s, 1+float64((p.tier.Burst-1)/2)), s.idle.Sub(now))
		if d <= 0 {
			s.level--
			s.idle = now.Add(2 * p.interval())
			if waited {
				s.Waits++
				s.Waited += now.Sub(start)
			}
			p.mu.Unlock()
			return nil
		}
		p.mu.Unlock()
		waited = true
		if pause.For(ctx, d) != nil {
			return context.Cause(ctx)
		}
	}
}

// giveBack returns a call that was taken and not made.
func (p *limiter) giveBack(l rateKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.bucket(l, time.Now())
	s.level++
	s.idle = time.Time{}
}

// made counts a call, and after a refusal blocks further ones for as long as the
// platform says.
func (p *limiter) made(l rateKey, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.bucket(l, time.Now())
	s.Calls++
	limit := (*LimitError)(nil)
	switch {
	case errors.As(err, &limit):
		s.Limited++
		if until := s.at.Add(limit.Wait); until.After(s.blocked) {
			s.blocked = until
		}
	case err != nil:
		s.Failed++
	}
}

// calls returns the counts, by workspace and method.
func (p *limiter) calls() []Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]Call, 0, len(p.buckets))
	for _, s := range p.buckets {
		out = append(out, s.Call)
	}
	slices.SortFunc(out, func(a, b Call) int {
		return cmp.Or(cmp.Compare(a.Workspace, b.Workspace), cmp.Compare(a.Method, b.Method))
	})
	return out
}
