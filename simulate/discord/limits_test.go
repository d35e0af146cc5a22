package discord_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/earshot-ai/earshot/simulate/discord"
)

// A clock is moved by the test.
type clock struct {
	mu  sync.Mutex // guards now
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func TestABucketIsFilledAndEmptied(t *testing.T) {
	t.Parallel()
	c := &clock{now: time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)}
	w := start(t, &discord.Options{Now: c.Now})
	other := w.AddChannel(discord.Channel{Name: "other"})
	for i := range 5 {
		w.post(w.general, object{"content": "hello"})
		if got, want := w.header.Get("X-RateLimit-Remaining"), fmt.Sprint(4-i); got != want {
			t.Errorf("after %d posts %s remain, want %s", i+1, got, want)
		}
	}
	bucket := w.header.Get("X-RateLimit-Bucket")
	if w.header.Get("X-RateLimit-Limit") != "5" || w.header.Get("X-RateLimit-Reset-After") != "5.000" || bucket == "" {
		t.Errorf("the headers are %v", w.header)
	}
	c.pass(2500 * time.Millisecond)
	at := path("channels", w.general, "messages")
	answer, _ := w.refused(429, 0, "POST", at, object{"content": "hello"}).(object)
	if answer["retry_after"] != 2.5 || answer["global"] != false || w.header.Get("Retry-After") != "3" || w.header.Get("X-RateLimit-Scope") != "user" {
		t.Errorf("the refusal is %v with %v", answer, w.header)
	}
	w.post(other, object{"content": "another channel has a bucket of its own"})
	if w.header.Get("X-RateLimit-Bucket") != bucket {
		t.Error("the bucket has another name in another channel")
	}
	c.pass(2500 * time.Millisecond)
	w.post(w.general, object{"content": "hello"})
	if n := len(w.Posts()); n != 7 {
		t.Errorf("%d posts, want 7", n)
	}
}

func TestFiftyRequestsASecondAreTheMost(t *testing.T) {
	t.Parallel()
	c := &clock{now: time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)}
	w := start(t, &discord.Options{Now: c.Now, Limits: map[string]discord.Limit{"get_my_user": {}}})
	for range 50 {
		w.call("GET", "/users/@me", nil)
	}
	answer, _ := w.refused(429, 0, "GET", "/users/@me", nil).(object)
	if answer["global"] != true || w.header.Get("X-RateLimit-Scope") != "global" || w.header.Get("X-RateLimit-Global") != "true" {
		t.Errorf("the refusal is %v with %v", answer, w.header)
	}
	c.pass(time.Second)
	w.call("GET", "/users/@me", nil)
	if w.lastStatus != 200 {
		t.Errorf("a second later the status is %d", w.lastStatus)
	}
}

func TestANonceIsForgottenAfterMinutes(t *testing.T) {
	t.Parallel()
	c := &clock{now: time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)}
	w := start(t, &discord.Options{Unlimited: true, Now: c.Now})
	body := object{"content": "once", "nonce": "n1", "enforce_nonce": true}
	first := w.post(w.general, body)
	c.pass(2 * time.Minute)
	if w.post(w.general, body) != first {
		t.Error("after two minutes it is forgotten")
	}
	c.pass(2 * time.Minute)
	if w.post(w.general, body) == first {
		t.Error("after four minutes it is still known")
	}
}
