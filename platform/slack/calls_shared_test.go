package slack_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/pgtest"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/simulate"
	"github.com/earshot-ai/earshot/store"
)

// countedRates counts the bookings of a store, which may be made to fail.
type countedRates struct {
	slackapi.Rates
	booked, blocked atomic.Int64
	fail            atomic.Pointer[func(context.Context) error]
}

func (c *countedRates) BookCalls(ctx context.Context, key string, r earshot.Rate, calls int, now earshot.Time) (earshot.Booking, error) {
	c.booked.Add(1)
	if fail := c.fail.Load(); fail != nil {
		return earshot.Booking{}, (*fail)(ctx)
	}
	return c.Rates.BookCalls(ctx, key, r, calls, now)
}

func (c *countedRates) BlockCalls(ctx context.Context, key string, r earshot.Rate, until earshot.Time) error {
	c.blocked.Add(1)
	return c.Rates.BlockCalls(ctx, key, r, until)
}

// outside books in a store whose connections do not belong to the bubble of a
// test.
type outside struct {
	slackapi.Rates
	work chan func()
}

func newOutside(t *testing.T, spec string) outside {
	t.Helper()
	st, err := store.Open(t.Context(), spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	o := outside{st, make(chan func())}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for f := range o.work {
			f()
		}
	}()
	t.Cleanup(func() {
		close(o.work)
		<-done
		_ = st.Close()
	})
	return o
}

// BookCalls works outside of the bubble. The bubble's clock stands meanwhile,
// because nothing in the bubble is durably blocked.
func (o outside) BookCalls(_ context.Context, key string, r earshot.Rate, calls int, now earshot.Time) (b earshot.Booking, err error) {
	var done sync.Mutex
	done.Lock()
	o.work <- func() {
		defer done.Unlock()
		b, err = o.Rates.BookCalls(context.Background(), key, r, calls, now)
	}
	done.Lock()
	return b, err
}

// replicas are two platforms of one app on a fake Slack with its limits.
type replicas struct {
	slack *simulate.Slack
	rates *countedRates
	both  [2]*slack.Platform
	dm    earshot.Channel
	log   *lockedText
}

type lockedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedText) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lockedText) count(words string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), words)
}

// replicated runs a test with two platforms that share the rates of a store, in
// a bubble. A nil store is one in memory.
func replicated(t *testing.T, rates slackapi.Rates, o simulate.SlackOptions, test func(t *testing.T, r *replicas)) {
	t.Helper()
	s, err := simulate.NewSlack(&o) // its socket must not be the bubble's
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	mara := s.AddUser(simulate.User{Name: "mara"})
	tier := slack.Internal
	if o.Tier == simulate.TierDistributed {
		tier = slack.Distributed
	}
	synctest.Test(t, func(t *testing.T) {
		st := memory(t)
		if rates == nil {
			rates = st
		}
		r := &replicas{slack: s, rates: &countedRates{Rates: rates}, log: &lockedText{}}
		for i := range r.both {
			p, err := slack.Open(t.Context(), slack.Options{
				APIURL: "http://slack.test/api/", BotToken: secret.New(s.App().BotToken), Store: st, Rates: r.rates, Tier: tier,
				HTTPClient: &http.Client{Transport: direct{s.Handler()}}, Log: slog.New(slog.NewTextHandler(r.log, nil)),
			})
			if err != nil {
				t.Fatal(err)
			}
			r.both[i] = p
		}
		r.dm = earshot.Channel{Platform: earshot.Slack, Workspace: r.both[0].Workspace(), ID: earshot.ChannelID(s.OpenDM(mara)), Kind: earshot.KindDM}
		s.ForgetCalls()
		r.rates.booked.Store(0)
		test(t, r)
	})
}

// load calls from both platforms, each once in every, for as long as it is told,
// and waits until all calls are over. The error of a call is that of its limit.
func (r *replicas) load(every, long time.Duration, call func(p *slack.Platform) error) (limited int64) {
	var calls sync.WaitGroup
	var refused atomic.Int64
	for _, p := range r.both {
		calls.Go(func() {
			for began := time.Now(); time.Since(began) < long; time.Sleep(every) {
				calls.Go(func() {
					if call(p) != nil {
						refused.Add(1)
					}
				})
			}
		})
	}
	calls.Wait()
	return refused.Load()
}

// sent returns when the fake Slack was called, and how often it refused.
func (r *replicas) sent(method string) (at []time.Time, refused int) {
	for _, c := range r.slack.Calls(method) {
		if at = append(at, c.At); c.Status == http.StatusTooManyRequests {
			refused++
		}
	}
	return at, refused
}

func (r *replicas) post(t *testing.T) func(p *slack.Platform) error {
	return func(p *slack.Platform) error {
		_, err := p.Post(t.Context(), bot.Draft{Place: bot.Place{Channel: r.dm}, Text: "hello", Key: "k1"})
		return err
	}
}

func (r *replicas) read(t *testing.T, patience time.Duration) func(p *slack.Platform) error {
	return func(p *slack.Platform) error {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		_, err := p.History(ctx, r.dm, window)
		return err
	}
}

func TestTwoReplicasKeepToOneRate(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]func(t *testing.T) string{
		"memory":     func(*testing.T) string { return "memory:" },
		"SQLite":     func(t *testing.T) string { return t.TempDir() + "/shared.db" },
		"PostgreSQL": func(t *testing.T) string { return pgtest.Spec(t) },
	} {
		for _, load := range []struct {
			method  string
			every   time.Duration
			call    func(r *replicas, t *testing.T) func(p *slack.Platform) error
			rate    float64 // a minute, of one process
			bookPer int     // bookings in 100 calls, at most
		}{
			{"chat.postMessage", 1500 * time.Millisecond, (*replicas).post, 57, 20},
			{"conversations.history", time.Second, func(r *replicas, t *testing.T) func(p *slack.Platform) error { return r.read(t, 3*time.Second) }, 40, 40},
		} {
			t.Run(name+" "+load.method, func(t *testing.T) {
				t.Parallel()
				replicated(t, newOutside(t, spec(t)), simulate.SlackOptions{}, func(t *testing.T, r *replicas) {
					const minutes = 5
					began := time.Now()
					limited := r.load(load.every, minutes*time.Minute, load.call(r, t))
					booked := int(r.rates.booked.Load())
					at, refused := r.sent(load.method)
					if refused > 0 {
						t.Errorf("slack refused %d calls for its limits, want none", refused)
					}
					used := 0
					for _, a := range at {
						if a.Sub(began) < minutes*time.Minute {
							used++
						}
					}
					t.Logf("%.1f calls a minute of %.0f, %d bookings in %d calls, %d calls did not wait so long", float64(used)/minutes, load.rate, booked, len(at), limited)
					if float64(used) < 0.9*load.rate*minutes {
						t.Errorf("%d calls in %d minutes, want 90 %% of %.0f a minute", used, minutes, load.rate)
					}
					if 100*booked > load.bookPer*len(at) {
						t.Errorf("%d bookings for %d calls, want %d in 100", booked, len(at), load.bookPer)
					}
				})
			})
		}
	}
}

func TestTwoReplicasReadHistoryOnceAMinuteWhereTheAppIsSold(t *testing.T) {
	t.Parallel()
	for name, patience := range map[string]time.Duration{"waiting for it": 20 * time.Minute, "as turns do": 3 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			replicated(t, nil, simulate.SlackOptions{Tier: simulate.TierDistributed}, func(t *testing.T, r *replicas) {
				const minutes = 10
				every := 2 * time.Minute
				if patience < every {
					every = 2 * time.Second
				}
				r.load(every, minutes*time.Minute, r.read(t, patience))
				at, refused := r.sent("conversations.history")
				if refused > 0 {
					t.Errorf("slack refused %d calls, want none", refused)
				}
				if len(at) < minutes*9/10 || len(at) > minutes+1 {
					t.Errorf("%d calls in %d minutes, want one a minute", len(at), minutes)
				}
				for i := range at[1:] {
					if apart := at[i+1].Sub(at[i]); apart < time.Minute {
						t.Errorf("two calls are %s apart, want a minute", apart)
					}
				}
			})
		})
	}
}

func TestA429StopsTheOtherReplica(t *testing.T) {
	t.Parallel()
	replicated(t, nil, simulate.SlackOptions{Limits: map[string]int{"conversations.history": 2}}, func(t *testing.T, r *replicas) {
		read := r.read(t, 10*time.Minute)
		for range 2 {
			if err := read(r.both[0]); err != nil {
				t.Fatal(err)
			}
		}
		var first sync.WaitGroup
		first.Go(func() { _ = read(r.both[0]) })
		synctest.Wait()
		if _, refused := r.sent("conversations.history"); refused != 1 {
			t.Fatalf("slack refused %d calls, want 1", refused)
		}
		if r.rates.blocked.Load() != 1 {
			t.Errorf("the store was told %d times of a refusal, want once", r.rates.blocked.Load())
		}
		if err := read(r.both[1]); err != nil {
			t.Fatal(err)
		}
		first.Wait()
		at, refused := r.sent("conversations.history")
		if refused != 1 {
			t.Errorf("slack refused %d calls, want 1: the other replica knew", refused)
		}
		if waited := at[3].Sub(at[2]); waited < 59*time.Second {
			t.Errorf("the next call came after %s, want a minute", waited)
		}
	})
}

func TestAStoreThatDoesNotBookCostsOnlySharing(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(context.Context) error{
		"it fails": func(context.Context) error { return errors.New("the disk is full") },
		"it hangs": func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			replicated(t, nil, simulate.SlackOptions{Tier: simulate.TierUnlimited}, func(t *testing.T, r *replicas) {
				r.rates.fail.Store(&fail)
				p, read := r.both[0], r.read(t, time.Hour)
				began := time.Now()
				for range 60 {
					if err := read(p); err != nil {
						t.Fatal(err)
					}
				}
				// 40 a minute after a burst, and a second of the store's at most in ten.
				if took := time.Since(began); took < 74*time.Second || took > 85*time.Second {
					t.Errorf("60 calls took %s, want this process's own pace", took)
				}
				if n := r.log.count("level=WARN"); n != 1 {
					t.Errorf("%d warnings, want one:\n%s", n, r.log.text.String())
				}
				r.rates.fail.Store(nil)
				time.Sleep(20 * time.Second)
				before := r.rates.booked.Load()
				if err := read(p); err != nil {
					t.Fatal(err)
				}
				if r.rates.booked.Load() == before || r.log.count("rates are shared with other replicas again") != 1 {
					t.Errorf("the store books again, and the rates are not shared again:\n%s", r.log.text.String())
				}
			})
		})
	}
}

// What a replica waits for is no reason to stop where its call is given up.
func TestACallThatIsGivenUpSaysNothingOfTheStore(t *testing.T) {
	t.Parallel()
	replicated(t, nil, simulate.SlackOptions{}, func(t *testing.T, r *replicas) {
		hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		r.rates.fail.Store(&hang)
		if err := r.read(t, 100*time.Millisecond)(r.both[0]); err == nil {
			t.Error("a call without a booking was made")
		}
		if n := r.log.count("level=WARN"); n != 0 {
			t.Errorf("%d warnings, want none:\n%s", n, r.log.text.String())
		}
	})
}
