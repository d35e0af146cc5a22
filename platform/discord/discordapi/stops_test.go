package discordapi_test

import (
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/disgoorg/disgo/rest"

	"github.com/earshot-ai/earshot/platform/discord/discordapi"
)

func TestAfterA401NothingIsAskedAnyMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, requests := sometimes(func() *http.Response { return answer(401, `{"message":"401: Unauthorized","code":0}`) })
		c := s.client()
		for range 5 {
			if err := post(t.Context(), c, "11"); !errors.Is(err, discordapi.ErrToken) || !discordapi.Undone(err) {
				t.Errorf("got %v, want ErrToken", err)
			}
			_, err := c.Gateway(t.Context())
			if !errors.Is(err, discordapi.ErrToken) {
				t.Errorf("got %v, want ErrToken", err)
			}
			time.Sleep(24 * time.Hour) // of the bubble's clock
		}
		if len(*requests) != 1 {
			t.Errorf("%d requests were sent", len(*requests))
		}
		if c.Fits(rest.CreateMessage, "11") {
			t.Error("a call fits although none is made")
		}
	})
}

const noAccess = `{"message":"Missing Access","code":50001}`

func TestWhatIsRefusedThreeTimesIsNotAskedForAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var requests, others atomic.Int32
		allowed := false
		c := server(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path != "/api/channels/11/messages" {
				others.Add(1)
				return fine(), nil
			}
			requests.Add(1)
			if allowed {
				return fine(), nil
			}
			return answer(403, noAccess), nil
		}).client()
		refused := func(sent int32) {
			t.Helper()
			var api *discordapi.Error
			err := post(t.Context(), c, "11")
			if !errors.As(err, &api) || api.Status != 403 || api.Code != discordapi.MissingAccess || !discordapi.Undone(err) {
				t.Fatalf("got %v, want Discord's refusal", err)
			}
			if got := requests.Load(); got != sent {
				t.Fatalf("%d requests were sent, want %d", got, sent)
			}
		}
		refused(1)
		refused(2)
		refused(3)
		refused(3)
		var api *discordapi.Error
		if err := post(t.Context(), c, "11"); !errors.As(err, &api) || !api.Again.Equal(time.Now().Add(10*time.Minute)) {
			t.Errorf("the refusal does not tell when the call is made again: %v", err)
		}
		if c.Fits(rest.CreateMessage, "11") {
			t.Error("a call fits that is not made")
		}

		// Others are not affected.
		if err := post(t.Context(), c, "12"); err != nil {
			t.Error(err)
		}
		if _, err := c.Call(t.Context(), rest.GetChannel, []any{"11"}, nil, nil); err != nil {
			t.Error(err)
		}

		time.Sleep(10 * time.Minute) // of the bubble's clock
		refused(4)
		refused(4)
		time.Sleep(19 * time.Minute)
		refused(4)
		time.Sleep(time.Minute)
		refused(5)

		c.Again(func(id string) bool { return id == "12" })
		refused(5)
		c.Again(func(id string) bool { return id == "11" })
		allowed = true
		if err := post(t.Context(), c, "11"); err != nil {
			t.Error(err)
		}
		allowed = false
		refused(7)
		refused(8)
		refused(9)
		refused(9)
	})
}

func TestARefusalOfAnotherKindBreaksTheRow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := 0
		c := server(func(*http.Request) (*http.Response, error) {
			if n++; n%3 == 0 {
				return answer(404, `{"message":"Unknown Message","code":10008}`), nil
			}
			return answer(403, noAccess), nil
		}).client()
		for range 12 {
			_ = post(t.Context(), c, "11") // it is refused
		}
		if n != 12 {
			t.Errorf("%d requests were sent, want 12", n)
		}
	})
}

func TestCallsPauseLongBeforeTheAddressIsBanned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		requests := 0
		c := server(func(*http.Request) (*http.Response, error) {
			requests++
			return answer(403, noAccess), nil
		}).client()
		start := time.Now()
		i := 0
		for ; requests < 5000 && i < 5000; i++ {
			if _, err := c.Try(t.Context(), rest.GetChannel, []any{fmt.Sprint(i + 1)}, nil, nil); !discordapi.IsRefused(err, discordapi.MissingAccess) {
				var limited *discordapi.LimitedError
				if errors.As(err, &limited) && limited.Wait > 2*time.Second {
					break
				}
				time.Sleep(time.Second) // the global limit, on the bubble's clock
			}
		}
		if requests != 1000 {
			t.Fatalf("calls paused after %d refusals in %s", requests, time.Since(start))
		}
		_, err := c.Call(t.Context(), rest.GetGatewayBot, nil, nil, nil)
		var limited *discordapi.LimitedError
		if !errors.As(err, &limited) || limited.Wait < 8*time.Minute || limited.Wait > 11*time.Minute || !limited.Global {
			t.Fatalf("got %v", err)
		}
		time.Sleep(limited.Wait)
		if _, err := c.Call(t.Context(), rest.GetGatewayBot, nil, nil, nil); !discordapi.IsRefused(err, discordapi.MissingAccess) {
			t.Errorf("after the pause: %v", err)
		}
	})
}

func TestSharedLimitsDoNotCountForTheBan(t *testing.T) {
	t.Parallel()
	for scope, want := range map[string]bool{"shared": false, "user": true} {
		synctest.Test(t, func(t *testing.T) {
			requests := 0
			c := server(func(*http.Request) (*http.Response, error) {
				requests++
				return answer(429, `{"retry_after":0.001,"global":false}`, "X-RateLimit-Scope", scope, "X-RateLimit-Bucket", "abc"), nil
			}).client()
			for range 600 {
				_ = post(t.Context(), c, "11") // it is limited, three times
			}
			if paused := requests < 1800; paused != want {
				t.Errorf("calls paused for the scope %s: %t (%d requests)", scope, paused, requests)
			}
		})
	}
}
