package discordapi_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/earshot-ai/earshot/platform/discord/discordapi"
	"github.com/earshot-ai/earshot/secret"
)

const token = "canary-MTk4.token-8c1"

// A server answers requests in memory, so that tests can run in a synctest bubble.
type server func(r *http.Request) (*http.Response, error)

func (s server) RoundTrip(r *http.Request) (*http.Response, error) { return s(r) }

// client returns a client of a server.
func (s server) client(change ...func(o *discordapi.Options)) *discordapi.Client {
	o := discordapi.Options{URL: "https://discord.test/api", Token: secret.New(token), HTTP: &http.Client{Transport: s}, Jitter: noJitter}
	for _, c := range change {
		c(&o)
	}
	return discordapi.New(o)
}

func noJitter(time.Duration) time.Duration { return 0 }

// answer returns an answer with a body and headers, given by name and value.
func answer(status int, body string, headers ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

// always answers every request alike.
func always(status int, body string, headers ...string) server {
	return func(*http.Request) (*http.Response, error) { return answer(status, body, headers...), nil }
}

// A counter limits requests as Discord does: a number of them in a window, for each
// name. It is safe for concurrent use.
type counter struct {
	limit  int
	window time.Duration
	// name says which requests are counted together, and as which bucket.
	name func(r *http.Request) (key, hash string)
	// latency is how long a request is on its way, there and back; nil: not at all.
	latency func(n int) time.Duration

	mu      sync.Mutex
	windows map[string]*window
	at      []time.Time // when requests came
	paths   []string    // of those
	limited int         // requests over the limit
}

type window struct {
	ends time.Time
	used int
}

func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	n := len(c.at)
	c.at = append(c.at, time.Now())
	c.paths = append(c.paths, r.URL.Path)
	c.mu.Unlock()
	if c.latency != nil {
		time.Sleep(c.latency(n)) // of the bubble's clock: the way there
	}
	w := c.judge(r)
	if c.latency != nil {
		time.Sleep(c.latency(n + 1)) // and back
	}
	return w, nil
}

func (c *counter) judge(r *http.Request) *http.Response {
	c.mu.Lock()
	defer c.mu.Unlock()
	key, hash := c.name(r)
	now := time.Now()
	if c.windows == nil {
		c.windows = map[string]*window{}
	}
	w := c.windows[key]
	if w == nil || !now.Before(w.ends) {
		w = &window{ends: now.Add(c.window)}
		c.windows[key] = w
	}
	w.used++
	left := c.limit - w.used
	after := w.ends.Sub(now).Seconds()
	headers := []string{
		"X-RateLimit-Limit", strconv.Itoa(c.limit),
		"X-RateLimit-Remaining", strconv.Itoa(max(0, left)),
		"X-RateLimit-Reset", fmt.Sprintf("%.3f", float64(w.ends.UnixMilli())/1000),
		"X-RateLimit-Reset-After", fmt.Sprintf("%.3f", after),
		"X-RateLimit-Bucket", hash,
	}
	if left < 0 {
		c.limited++
		return answer(http.StatusTooManyRequests, fmt.Sprintf(`{"message":"You are being rate limited.","retry_after":%.3f,"global":false}`, after), headers...)
	}
	return answer(http.StatusOK, `{}`, headers...)
}

// channels counts the requests of each channel.
func channels(r *http.Request) (key, hash string) {
	return strings.Split(r.URL.Path, "/")[3], "abc"
}

// A logbook is what was logged.
type logbook struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *logbook) log(o *discordapi.Options) {
	o.Log = slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
