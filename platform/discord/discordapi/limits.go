package discordapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	// globalMost is how many calls are sent in any second: Discord allows a bot 50
	// (Rate Limits, Global Rate Limit), and calls may arrive closer together than
	// they were sent.
	globalMost = 45
	// firstTime is how long Try waits for the first answer of a route.
	firstTime = time.Second
	// idleTime is how long a bucket is kept that is not used.
	idleTime = 10 * time.Minute
)

// limits delay calls so that no rate limit is exceeded. They are safe for concurrent
// use.
type limits struct {
	now func() time.Time

	mu      sync.Mutex // guards what follows, and all that belongs to buckets
	buckets map[string]*bucket
	hashes  map[string]hash // by route
	blocked time.Time       // all calls, until then
	sent    []time.Time     // calls of the last second, in order
	tickets uint64          // given so far
	tidied  time.Time
}

// A hash is Discord's name of a limit. Routes with the same one share it, for each
// value of the major parameters.
type hash struct {
	name  string
	limit int // calls a window
}

// name returns under which name a call's bucket is kept.
func (l *limits) name(to target) string {
	if h := l.hashes[to.call]; h.name != "" {
		return h.name + " " + to.major
	}
	return rateKey(to)
}

// bucket returns the bucket of a call.
func (l *limits) bucket(to target, now time.Time) *bucket {
	if now.Sub(l.tidied) > idleTime {
		l.tidied = now
		for k, b := range l.buckets {
			if b.flying == 0 && len(b.waiting) == 0 && now.Sub(b.used) > idleTime && now.After(b.reset) && now.After(b.blocked) {
				delete(l.buckets, k)
			}
		}
	}
	b := l.buckets[l.name(to)]
	if b == nil {
		b = newBucket(l.hashes[to.call].limit)
		l.buckets[l.name(to)] = b
	}
	b.used = now
	return b
}

// take books a call, once it may be sent, and returns how long it waited for that. A
// call that must not wait is booked at once or not at all. Calls that share a limit are
// sent in the order in which they came.
func (l *limits) take(ctx context.Context, to target, waits bool) (b *bucket, waited time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	start := l.now()
	l.tickets++
	ticket := l.tickets
	for {
		now := l.now()
		b = l.bucket(to, now) // another one, where an answer has told its name
		b.enter(ticket)
		at, known := l.next(b, ticket, now)
		if known && !at.After(now) && ctx.Err() == nil {
			b.leave(ticket)
			b.flying++
			l.sent = append(l.sent, now)
			b.notify() // the next in the queue
			return b, waited, nil
		}
		limited := &LimitedError{Call: to.call, Wait: at.Sub(now)}
		if !known {
			limited.Wait = max(b.reset.Sub(now), firstTime)
		}
		wait, err := b.hold(ctx, limited, known, now.Sub(start), waits)
		if err == nil {
			changed := b.changed
			l.mu.Unlock()
			err = sleepUntil(ctx, wait, changed)
			l.mu.Lock()
			waited = l.now().Sub(start)
		}
		b.leave(ticket)
		switch {
		case errors.Is(err, context.DeadlineExceeded) && limited.Wait > 0:
			err = limited
		case err != nil && err == ctx.Err():
			err = fmt.Errorf("%s: %w: %w", to.call, ErrNotMade, err)
		}
		if err != nil {
			return nil, waited, err
		}
	}
}

// hold returns for how long a call waits until it looks again, or an error where it
// must not wait.
func (b *bucket) hold(ctx context.Context, limited *LimitedError, known bool, waited time.Duration, waits bool) (time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	deadline, ok := ctx.Deadline()
	switch {
	case !known && waits:
		return forever, nil // until an answer comes
	case !known && b.limit == 0 && waited < firstTime:
		return firstTime - waited, nil
	case !waits, ok && limited.Wait > time.Until(deadline):
		return 0, limited
	}
	return limited.Wait, nil
}

const forever = time.Duration(1<<63 - 1)

// next returns when the call with a ticket may be sent. ok is false where that
// depends on an answer, or on the calls before it.
func (l *limits) next(b *bucket, ticket uint64, now time.Time) (at time.Time, ok bool) {
	at, ok = b.from(now)
	if ok && !at.After(now) && b.waiting[0] != ticket {
		return time.Time{}, false
	}
	if all := l.all(now); all.After(at) {
		return all, ok
	}
	return at, ok
}

// all returns when any call may be sent.
func (l *limits) all(now time.Time) time.Time {
	i := 0
	for i < len(l.sent) && now.Sub(l.sent[i]) >= time.Second {
		i++
	}
	l.sent = append(l.sent[:0], l.sent[i:]...)
	if len(l.sent) < globalMost {
		return l.blocked
	}
	return laterTime(l.blocked, l.sent[len(l.sent)-globalMost].Add(time.Second))
}

// done ends a call that take has booked. header is the answer's, nil without one.
// limited is what the answer was, if it was a 429.
func (l *limits) done(to target, b *bucket, header http.Header, limited *LimitedError) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	b.flying--
	defer b.notify()
	l.learn(to, b, header, now)
	if limited == nil {
		return
	}
	until := now.Add(limited.Wait)
	if limited.Global {
		l.blocked = laterTime(l.blocked, until)
		return
	}
	shared := l.bucket(to, now)
	shared.blocked = laterTime(shared.blocked, until)
}

func laterTime(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// learn keeps what an answer's header tells.
func (l *limits) learn(to target, b *bucket, header http.Header, now time.Time) {
	if header == nil {
		b.left = max(0, b.left-1) // it may have been counted
		return
	}
	name := header.Get("X-RateLimit-Bucket")
	if name == "" || len(name) > 100 {
		b.learn(header, now)
		return
	}
	old := l.name(to)
	l.hashes[to.call] = hash{name, l.hashes[to.call].limit}
	if at := l.name(to); at != old {
		if l.buckets[at] == nil {
			l.buckets[at] = b
		}
		// Those who wait for the old one look again.
		if l.buckets[old] == b {
			delete(l.buckets, old)
		}
	}
	shared := l.bucket(to, now)
	shared.learn(header, now)
	l.hashes[to.call] = hash{name, shared.limit}
	if shared != b {
		shared.notify()
	}
}

// free returns how many calls may be sent now, and how many after a pause.
func (l *limits) free(to target) (calls, most int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	b := l.bucket(to, now)
	calls, most = max(0, b.free(now)-len(b.waiting)), globalMost
	if !b.open {
		most = max(b.limit, 1)
	}
	if l.all(now).After(now) {
		return 0, most
	}
	return min(calls, globalMost-len(l.sent)), most
}

// sleepUntil waits until a time is over, something has changed, or ctx ends.
func sleepUntil(ctx context.Context, d time.Duration, changed <-chan struct{}) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
