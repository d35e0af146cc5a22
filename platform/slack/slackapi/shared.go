package slackapi

import (
	"context"
	"log/slog"
	"net/url"
	"time"

	"github.com/earshot-ai/earshot"
)

// Slack counts calls by app and workspace, so processes that answer for one app
// share its rates: each books the moments of its calls in a store, a few at a
// time, and makes its calls then. The process's own pace applies as well, and
// alone while the store fails.

// Rates are where processes book their calls, as [earshot.Rates] says.
type Rates interface {
	BookCalls(ctx context.Context, key string, r earshot.Rate, calls int, now earshot.Time) (earshot.Booking, error)
	BlockCalls(ctx context.Context, key string, r earshot.Rate, until earshot.Time) error
}

// Bounds of bookings.
const (
	bookTime  = time.Second      // for one write; after it the store counts as failing
	bookAgain = 10 * time.Second // until a store that failed is tried again
	bookAhead = 5 * time.Second  // calls are booked for that long ...
	bookMost  = 10               // ... and at most so many
	bookSlow  = 10 * time.Second // a method with such pauses is booked one call at a time
	// A moment that is not used lapses. Until then a call may be made late, so
	// that more calls fall into a minute than moments: the moments are spread a
	// little wider for that.
	lapse  = 2 * time.Second
	lately = 10 * time.Second // calls are counted for that long
)

// A sharedRates is what all rates of a process share. pace.mu guards it.
type sharedRates struct {
	rates Rates
	log   *slog.Logger

	app    string    // the workspace and the app in it, "" until it is known
	failed bool      // the store did not book
	retry  time.Time // it is not tried before, where it failed
}

// newSharing returns nil where rates are not shared.
func newSharing(o Options) *sharedRates {
	if o.Rates == nil {
		return nil
	}
	return &sharedRates{rates: o.Rates, log: o.Log}
}

// ready reports whether rates can be shared.
func (s *sharedRates) ready() bool { return s != nil && s.app != "" }

// shareAs sets whose rates they are. Before it nothing is shared.
func (p *callPacer) shareAs(app string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sharing != nil {
		p.sharing.app = app
	}
}

// note records whether the store booked, and logs where that has changed.
func (s *sharedRates) note(err error, now time.Time) {
	if err != nil {
		s.retry = now.Add(bookAgain)
	}
	switch failed := err != nil; {
	case failed == s.failed:
		return
	case failed:
		s.log.Warn("rates are not shared with other replicas while the store does not book calls; this process keeps to its own pace", "err", err)
	default:
		s.log.Info("rates are shared with other replicas again")
	}
	s.failed = err != nil
}

// Bookings are the moments that a process has booked of one rate. They implement
// limiter.
// pace.mu guards them.
type bookings struct {
	of   *sharedRates
	key  string
	rate earshot.Rate

	booking chan struct{} // a semaphore of one, held while the store books
	waiting int           // calls that wait for it
	at      []time.Time   // moments that are booked and not taken, in order
	end     time.Time     // the next booking begins then or later
	taken   []time.Time   // when calls were asked for lately
}

// bookings returns the shared bookings of a rate. The store knows no windows: a
// fifth of one may be called at once, and the rest comes steadily.
func (s *sharedRates) bookings(key string, t rateTier) *bookings {
	if t.burst == 0 {
		t.burst = int(t.perMinute) / 5
		t.perMinute -= float64(t.burst)
	}
	every := time.Duration(float64(time.Minute+lapse) / t.perMinute)
	return &bookings{
		of: s, key: "slack " + s.app + " " + key, rate: earshot.Rate{Every: every, Burst: t.burst}, booking: make(chan struct{}, 1),
	}
}

func (b *bookings) next(from time.Time) time.Time {
	switch b.forget(from); {
	case len(b.at) > 0:
		return later(from, b.at[0])
	case b.of.failed:
		return from
	}
	return later(from, b.end)
}

func (b *bookings) take(from, _ time.Time) {
	if b.forget(from); len(b.at) > 0 {
		b.at = b.at[1:]
	}
	b.taken = append(b.taken, from)
}

// free is an estimate: what others have booked is known since the last booking.
func (b *bookings) free(now time.Time) (calls, most int) {
	b.forget(now)
	for _, at := range b.at {
		if !at.After(now) {
			calls++
		}
	}
	if since := now.Sub(b.begin(now)); since >= 0 {
		calls += 1 + int(since/b.rate.Every)
	}
	return min(calls, b.rate.Burst), b.rate.Burst
}

// begin returns the earliest moment that a booking could begin with now.
func (b *bookings) begin(now time.Time) time.Time {
	return later(b.end, now.Add(-time.Duration(b.rate.Burst-1)*b.rate.Every))
}

// forget drops moments that have lapsed, and calls that count no more.
func (b *bookings) forget(now time.Time) {
	for len(b.at) > 0 && now.Sub(b.at[0]) > lapse {
		b.at = b.at[1:]
	}
	for len(b.taken) > 0 && now.Sub(b.taken[0]) > lately {
		b.taken = b.taken[1:]
	}
}

// lacks reports whether the next call finds no moment, and the store is to be
// asked for one.
func (b *bookings) lacks(now time.Time) bool {
	b.forget(now)
	return len(b.at) == 0 && (!b.of.failed || !now.Before(b.of.retry))
}

// likely returns how many calls to book: those that wait and would not be
// further away than most, and those that will come until the last moment
// lapses, if they come as they did lately.
func (b *bookings) likely(now time.Time, most time.Duration) int {
	if b.rate.Every >= bookSlow {
		return 1
	}
	until := max(0, b.end.Sub(now)) + bookAhead
	come := min(len(b.taken)*int(until/time.Millisecond)/int(lately/time.Millisecond), int(until/b.rate.Every), bookMost)
	within := int((min(most, ticketMost) - b.begin(now).Sub(now)) / b.rate.Every)
	return max(1, min(b.waiting, 1+within)) + come
}

// provide books moments where a call of a shared rate would find none. p.mu is
// held by the caller, and released while the store works.
func (p *callPacer) provide(ctx context.Context, method string, args url.Values, most time.Duration, ticket string) {
	recalled := ticket == ""
	for p.sharing.ready() && ctx.Err() == nil {
		now := p.now()
		l := p.rate(method, args, now)
		if _, kept := p.kept(ticket, now); kept {
			return
		}
		wait := l.next(l.from(now)).Sub(now)
		if !recalled && wait > most && !p.sharing.failed {
			recalled = true
			p.recall(ctx, ticket)
			continue
		}
		reach := most
		if ticket != "" { // a place that is further away is kept
			reach = max(most, ticketMost)
		}
		if !l.shared.lacks(now) || wait > reach {
			return
		}
		p.book(ctx, l.shared, reach)
	}
}

// book asks the store for moments, unless another call does so or has done.
func (p *callPacer) book(ctx context.Context, b *bookings, most time.Duration) {
	b.waiting++
	defer func() { b.waiting-- }()
	p.mu.Unlock()
	select {
	case b.booking <- struct{}{}:
		defer func() { <-b.booking }()
	case <-ctx.Done():
	}
	p.mu.Lock()
	now := p.now()
	if ctx.Err() != nil || !b.lacks(now) {
		return
	}
	calls := b.likely(now, most)
	var got earshot.Booking
	err := p.write(ctx, b.of, func(ctx context.Context) (err error) {
		got, err = b.of.rates.BookCalls(ctx, b.key, b.rate, calls, earshot.TimeOf(now))
		return err
	})
	if err != nil {
		return
	}
	at := got.From.UTC()
	for range got.Calls {
		// What a pause has left over can be used from now on.
		b.at = append(b.at, later(at, now))
		at = at.Add(got.Every)
	}
	b.end = at
}

// blockAll blocks the calls of all processes after an answer of 429. p.mu is held by the
// caller, and released while the store works.
func (p *callPacer) blockAll(ctx context.Context, b *bookings, until time.Time) {
	for len(b.at) > 0 && b.at[0].Before(until) {
		b.at = b.at[1:]
	}
	b.end = later(b.end, until)
	// What Slack has said counts, however short the call's time is.
	_ = p.write(context.WithoutCancel(ctx), b.of, func(ctx context.Context) error {
		return b.of.rates.BlockCalls(ctx, b.key, b.rate, earshot.TimeOf(until))
	})
}

// write lets p.mu go and writes to the store, for [bookTime] at most. An error
// that is the store's is noted.
func (p *callPacer) write(ctx context.Context, s *sharedRates, do func(context.Context) error) error {
	p.mu.Unlock()
	short, cancel := context.WithTimeout(ctx, bookTime)
	err := do(short)
	cancel()
	p.mu.Lock()
	if err == nil || ctx.Err() == nil {
		s.note(err, p.now())
	}
	return err
}
