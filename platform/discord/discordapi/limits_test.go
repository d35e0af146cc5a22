package discordapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/disgoorg/disgo/rest"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/discord/discordapi"
)

// crowd makes calls at the same time, and fails the test where one fails.
func crowd(t *testing.T, n int, call func(i int) error) {
	t.Helper()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if err := call(i); err != nil {
				t.Errorf("call %d: %v", i, err)
			}
		})
	}
	all.Wait()
}

func post(ctx context.Context, c *discordapi.Client, channel string) error {
	_, err := c.Call(ctx, rest.CreateMessage, []any{channel}, nil, map[string]string{"content": "hello"})
	return err
}

func TestACrowdOfCallsNeverExceedsItsBucket(t *testing.T) {
	t.Parallel()
	latencies := map[string]func(int) time.Duration{
		"at once": nil,
		"slowly":  func(int) time.Duration { return 70 * time.Millisecond },
		"in another order": func(n int) time.Duration {
			return time.Duration([]int{300, 20, 150, 10, 90}[n%5]) * time.Millisecond
		},
	}
	for name, latency := range latencies {
		t.Run("answers come "+name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := &counter{limit: 5, window: 2 * time.Second, name: channels, latency: latency}
				c := server(d.RoundTrip).client()
				start := time.Now()
				crowd(t, 30, func(int) error { return post(t.Context(), c, "11") })
				if d.limited > 0 {
					t.Errorf("%d of %d calls exceeded the limit", d.limited, len(d.at))
				}
				// The least is five windows between the first call and the last.
				if took := time.Since(start); took < 10*time.Second || took > 16*time.Second {
					t.Errorf("30 calls took %s", took)
				}
			})
		})
	}
}

func TestOneChannelsLimitDoesNotDelayAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &counter{limit: 2, window: time.Minute, name: channels}
		c := server(d.RoundTrip).client()
		start := time.Now()
		for channel := range 20 {
			for range 2 {
				if err := post(t.Context(), c, fmt.Sprint(channel+1)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if took := time.Since(start); took > 0 {
			t.Errorf("40 calls in 20 channels waited %s", took)
		}
		if c.Fits(rest.CreateMessage, "7") {
			t.Error("a call fits although its channel's limit is used up")
		}
		if !c.Fits(rest.CreateMessage, "21") {
			t.Error("a call does not fit although its channel's limit is not used")
		}
	})
}

func TestRoutesThatShareABucketWaitForEachOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &counter{limit: 4, window: 10 * time.Second, name: channels}
		c := server(d.RoundTrip).client()
		edit := func() error {
			_, err := c.Call(t.Context(), rest.UpdateMessage, []any{"11", "900"}, nil, map[string]string{"content": "more"})
			return err
		}
		for _, call := range []func() error{edit, func() error { return post(t.Context(), c, "11") }, edit, edit} {
			if err := call(); err != nil {
				t.Fatal(err)
			}
		}
		if c.Fits(rest.CreateMessage, "11") {
			t.Error("a post fits although edits used up the bucket that it shares")
		}
		start := time.Now()
		if err := post(t.Context(), c, "11"); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 10*time.Second || d.limited > 0 {
			t.Errorf("the post waited %s and %d calls were over the limit", took, d.limited)
		}
	})
}

func TestCallsOfOneBucketAreSentInTheirOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &counter{limit: 2, window: time.Second, name: channels, latency: func(int) time.Duration { return 30 * time.Millisecond }}
		c := server(d.RoundTrip).client()
		var all sync.WaitGroup
		for i := range 9 {
			all.Go(func() {
				if _, err := c.Call(t.Context(), rest.GetMessage, []any{"11", i + 1}, nil, nil); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		all.Wait()
		if !slices.IsSorted(d.paths) {
			t.Errorf("calls came in the order %v", d.paths)
		}
	})
}

func TestAllCallsTogetherStayBelowTheGlobalLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &counter{limit: 1000, window: time.Minute, name: channels}
		c := server(d.RoundTrip).client()
		crowd(t, 300, func(i int) error { return post(t.Context(), c, fmt.Sprint(i%40+1)) })
		for i := 50; i < len(d.at); i++ {
			if gap := d.at[i].Sub(d.at[i-50]); gap < time.Second {
				t.Fatalf("calls %d to %d were sent within %s", i-50, i, gap)
			}
		}
		if took := d.at[299].Sub(d.at[0]); took > 7*time.Second {
			t.Errorf("300 calls took %s", took)
		}
	})
}

func TestTheFirstCallsOfARouteGoOneByOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &counter{limit: 1, window: time.Second, name: channels, latency: func(int) time.Duration { return 200 * time.Millisecond }}
		c := server(d.RoundTrip).client()
		crowd(t, 4, func(int) error { return post(t.Context(), c, "11") })
		if d.limited > 0 {
			t.Errorf("%d calls exceeded a limit that was not known yet", d.limited)
		}
	})
}

func TestACallThatCannotWaitIsNotSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &counter{limit: 1, window: 30 * time.Second, name: channels}
		c := server(d.RoundTrip).client()
		if err := post(t.Context(), c, "11"); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		_, err := c.Try(t.Context(), rest.CreateMessage, []any{"11"}, nil, nil)
		wantLimited(t, err, 30*time.Second)

		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		wantLimited(t, post(ctx, c, "11"), 30*time.Second)
		if took := time.Since(start); took > 0 || len(d.at) != 1 {
			t.Errorf("%d calls were sent, and those that could not wait took %s", len(d.at), took)
		}

		canceled, stop := context.WithCancel(t.Context())
		go func() {
			time.Sleep(time.Second) // of the bubble's clock
			stop()
		}()
		if err := post(canceled, c, "11"); !errors.Is(err, context.Canceled) || !discordapi.Undone(err) {
			t.Errorf("a call that was cancelled while it waited returned %v", err)
		}
		over, end := context.WithTimeout(t.Context(), 0)
		defer end()
		if err := post(over, c, "12"); !errors.Is(err, context.DeadlineExceeded) || !discordapi.Undone(err) {
			t.Errorf("a call whose time had ended before it returned %v", err)
		}
		if len(d.at) != 1 {
			t.Error("a call that was cancelled was sent")
		}
	})
}

func TestAnAnswerThatComesTooLateEndsTheWaitOfOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &counter{limit: 5, window: time.Second, name: channels, latency: func(int) time.Duration { return 20 * time.Second }}
		c := server(d.RoundTrip).client()
		done := make(chan error, 1)
		go func() { done <- post(t.Context(), c, "11") }()
		synctest.Wait()
		start := time.Now()
		_, err := c.Try(t.Context(), rest.CreateMessage, []any{"11"}, nil, nil)
		wantLimited(t, err, time.Second)
		if took := time.Since(start); took != time.Second {
			t.Errorf("Try waited %s for the first answer", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		wantLimited(t, post(ctx, c, "11"), time.Second)
		if err := <-done; err != nil || len(d.at) != 1 {
			t.Errorf("%d calls were sent; the first returned %v", len(d.at), err)
		}
	})
}

func wantLimited(t *testing.T, err error, wait time.Duration) {
	t.Helper()
	var limited *discordapi.LimitedError
	if !errors.As(err, &limited) {
		t.Fatalf("got %v, want a LimitedError", err)
	}
	if limited.Wait != wait {
		t.Errorf("the call is limited for %s, want %s", limited.Wait, wait)
	}
	if !discordapi.Undone(err) {
		t.Error("a limited call does not count as undone")
	}
}

// sometimes answers by turns; the last answer stays.
func sometimes(list ...func() *http.Response) (s server, requests *[]time.Time) {
	requests = new([]time.Time)
	var mu sync.Mutex
	return func(*http.Request) (*http.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		i := min(len(*requests), len(list)-1)
		*requests = append(*requests, time.Now())
		return list[i](), nil
	}, requests
}

func fine() *http.Response { return answer(http.StatusOK, `{}`) }

func TestA429HoldsCallsBackForAsLongAsDiscordSays(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		status  func() *http.Response
		wait    time.Duration
		others  bool // calls in other channels wait too
		globals bool
	}{
		{"by its body", func() *http.Response {
			return answer(429, `{"message":"limited","retry_after":1.5,"global":false}`, "Retry-After", "2", "X-RateLimit-Bucket", "abc")
		}, 1500 * time.Millisecond, false, false},
		{"by its header", func() *http.Response {
			return answer(429, `{"message":`, "Retry-After", "2", "X-RateLimit-Bucket", "abc")
		}, 2 * time.Second, false, false},
		{"globally", func() *http.Response {
			return answer(429, `{"message":"limited","retry_after":4,"global":true}`, "X-RateLimit-Global", "true", "X-RateLimit-Scope", "global")
		}, 4 * time.Second, true, true},
		{"by a shared limit", func() *http.Response {
			return answer(429, `{"message":"limited","retry_after":7.25,"global":false}`, "X-RateLimit-Scope", "shared", "X-RateLimit-Bucket", "abc")
		}, 7250 * time.Millisecond, false, false},
		{"by the proxy before it, with a page", func() *http.Response {
			return answer(429, `<html><body>error code: 1015</body></html>`, "Retry-After", "60", "Content-Type", "text/html")
		}, time.Minute, true, true},
		{"by the proxy, which names no time", func() *http.Response {
			return answer(429, `<html>blocked</html>`)
		}, 30 * time.Second, true, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, requests := sometimes(c.status, fine)
				client := s.client()
				if err := post(t.Context(), client, "11"); err != nil {
					t.Fatal(err)
				}
				if got := (*requests)[1].Sub((*requests)[0]); got != c.wait {
					t.Errorf("the call was made again after %s, want %s", got, c.wait)
				}

				s, requests = sometimes(c.status, fine)
				client = s.client()
				_, err := client.Try(t.Context(), rest.CreateMessage, []any{"11"}, nil, nil)
				wantLimited(t, err, c.wait)
				var limited *discordapi.LimitedError
				if errors.As(err, &limited); limited.Global != c.globals {
					t.Errorf("Global is %t", limited.Global)
				}
				if fits := client.Fits(rest.CreateMessage, "12"); fits == c.others {
					t.Errorf("a call in another channel fits: %t", fits)
				}
				if client.Fits(rest.CreateMessage, "11") {
					t.Error("a call fits while its bucket is limited")
				}
				if len(*requests) != 1 {
					t.Error("Try was repeated")
				}
				calls := client.Calls()
				if len(calls) != 1 || calls[0].Limited != 1 || calls[0].Failed != 0 || calls[0].Method != "POST /channels/{channel.id}/messages" {
					t.Errorf("calls are %+v", calls)
				}
			})
		})
	}
}

func TestACallThatStaysLimitedIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, requests := sometimes(func() *http.Response {
			return answer(429, `{"retry_after":1,"global":false}`, "X-RateLimit-Bucket", "abc")
		})
		wantLimited(t, post(t.Context(), s.client(), "11"), time.Second)
		if len(*requests) != 3 {
			t.Errorf("the call was made %d times", len(*requests))
		}
	})
}

func TestJitterIsAddedToA429(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := always(429, `{"retry_after":10,"global":false}`)
		c := s.client(func(o *discordapi.Options) { o.Jitter = func(most time.Duration) time.Duration { return most } })
		_, err := c.Try(t.Context(), rest.CreateMessage, []any{"11"}, nil, nil)
		wantLimited(t, err, 10550*time.Millisecond)
	})
}

func TestARouteWithoutLimitsIsNotHeldBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := always(http.StatusOK, `{}`).client()
		start := time.Now()
		crowd(t, 40, func(int) error { return post(t.Context(), c, "11") })
		if took := time.Since(start); took > 0 {
			t.Errorf("calls waited %s", took)
		}
		if calls, most := c.Free(rest.CreateMessage, "11"); calls > 5 || most < 40 {
			t.Errorf("%d of %d calls are free", calls, most)
		}
	})
}

func TestHeadersThatMakeNoSenseAreIgnored(t *testing.T) {
	t.Parallel()
	for _, h := range [][]string{
		{"X-RateLimit-Limit", "-1", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset-After", "1"},
		{"X-RateLimit-Limit", "x", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset-After", "1"},
		{"X-RateLimit-Limit", "5", "X-RateLimit-Remaining", "4", "X-RateLimit-Reset-After", "NaN", "X-RateLimit-Reset", "NaN"},
		{"X-RateLimit-Limit", "5", "X-RateLimit-Remaining", "4", "X-RateLimit-Reset-After", "-7", "X-RateLimit-Reset", "1e300"},
		{"X-RateLimit-Bucket", strings.Repeat("x", 1000)},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := always(http.StatusOK, `{}`, h...).client()
			start := time.Now()
			for range 3 {
				if err := post(t.Context(), c, "11"); err != nil {
					t.Fatal(err)
				}
			}
			if took := time.Since(start); took > 0 {
				t.Errorf("calls waited %s because of %v", took, h)
			}
		})
	}
}

func TestACallThatGotNoAnswerCountsForItsBucket(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &counter{limit: 3, window: time.Minute, name: channels}
		lose := false
		c := server(func(r *http.Request) (*http.Response, error) {
			w, err := d.RoundTrip(r)
			if lose {
				return nil, errors.New("connection reset by peer")
			}
			return w, err
		}).client()
		if err := post(t.Context(), c, "11"); err != nil {
			t.Fatal(err)
		}
		lose = true
		if err := post(t.Context(), c, "11"); !errors.Is(err, discordapi.ErrNotAnswered) {
			t.Fatal(err)
		}
		if calls, most := c.Free(rest.CreateMessage, "11"); calls != 1 || most != 3 {
			t.Errorf("%d of %d calls are free, want 1 of 3", calls, most)
		}
	})
}

func TestTheTimeThatCallsWaitIsCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &counter{limit: 1, window: 3 * time.Second, name: channels}
		c := server(d.RoundTrip).client()
		for range 3 {
			if err := post(t.Context(), c, "11"); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.Try(t.Context(), rest.CreateMessage, []any{"11"}, nil, nil); err == nil {
			t.Error("Try waited")
		}
		want := earshot.CallCount{Platform: earshot.Discord, Method: "POST /channels/{channel.id}/messages", Calls: 3, Waits: 3, Waited: 6 * time.Second}
		if got := c.Calls(); len(got) != 1 || got[0] != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}

func TestALimitIsKnownForOtherChannelsToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &counter{limit: 5, window: 10 * time.Second, name: channels, latency: func(int) time.Duration { return time.Second }}
		c := server(d.RoundTrip).client()
		if err := post(t.Context(), c, "11"); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		crowd(t, 5, func(int) error { return post(t.Context(), c, "12") })
		if took := time.Since(start); took != 2*time.Second || d.limited > 0 {
			t.Errorf("five calls in a channel that was not used before took %s", took)
		}
	})
}

func TestAnAnswerOfAWindowThatIsOverTellsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &counter{limit: 2, window: 10 * time.Second, name: channels}
		c := server(func(r *http.Request) (*http.Response, error) {
			w, err := d.RoundTrip(r)
			if r.Header.Get("Content-Type") == "" { // the reading call's answer is slow
				time.Sleep(29 * time.Second) // of the bubble's clock
			}
			return w, err
		}).client()
		if err := post(t.Context(), c, "11"); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			_, err := c.Call(t.Context(), rest.GetMessages, []any{"11"}, nil, nil)
			done <- err
		}()
		time.Sleep(25 * time.Second)
		if err := post(t.Context(), c, "11"); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil { // it used up the first window
			t.Fatal(err)
		}
		if calls, _ := c.Free(rest.CreateMessage, "11"); calls != 1 {
			t.Errorf("%d calls are free in the second window, want 1", calls)
		}
	})
}
