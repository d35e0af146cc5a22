package slackapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/earshot-ai/earshot/secret"
)

// Bounds of a call.
const (
	maxAnswer  = 16 << 20         // bytes of an answer
	maxTries   = 3                // of a reading call
	retryFirst = time.Second      // before the second try; doubles
	retryAfter = 30 * time.Second // where a 429 does not say
	maxAfter   = time.Hour        // of what a 429 may say
)

// A MethodCalls counts the calls of one method.
type MethodCalls struct {
	Method  string
	Calls   int           // requests sent
	Limited int           // of them, answered by 429
	Failed  int           // of them, answered otherwise than with ok, or not at all
	Waits   int           // calls that were held back, or not made, because of a limit
	Waited  time.Duration // the sum of the waits
}

// DefaultURL is where Slack's Web API is.
const DefaultURL = "https://slack.com/api/"

// Options configure a [Client]. Token is required; the zero values of the rest are
// the defaults.
type Options struct {
	URL   string        // of the Web API, ending in a slash. Default: [DefaultURL]
	Token secret.Secret // of the bot, xoxb-…

	// Distributed says that the app is commercially distributed outside the
	// Marketplace: history may be read once a minute.
	Distributed bool
	// ReadsFailOverLimit says that a read of history fails at once with a
	// [*LimitedError] when it would have to wait. Otherwise it waits.
	ReadsFailOverLimit bool
	// Rates share the rates with other processes of the same app and workspace,
	// from [Client.ShareRates] on. nil: this process is alone.
	Rates Rates

	HTTP *http.Client     // default: one with a time-out of 30 seconds
	Now  func() time.Time // default: time.Now
	// Jitter returns a random time below most, which is above 0. Waits after a
	// refusal grow by it. Default: random.
	Jitter func(most time.Duration) time.Duration
	Log    *slog.Logger // nil discards
}

// A Client calls methods of Slack's Web API and keeps to their rate limits. It is
// safe for concurrent use.
//
// A call waits for its limit as long as ctx allows. Calls that read are tried up
// to three times, after a time-out, a 5xx or a 429. Calls that write (chat.*) are
// sent at most once: Slack documents no idempotency key for them, so whether to
// send one again is the caller's decision.
type Client struct {
	o     Options
	http  *http.Client
	pace  pace
	reach reach

	mu     sync.Mutex // guards what follows
	calls  map[string]*MethodCalls
	scopes []string // of the bot token, as Slack's last answer had them
}

// New returns a client. It makes no call.
func New(o Options) *Client {
	o = o.withDefaults()
	h := *o.HTTP
	// The token must not be sent to where a redirect points.
	h.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{
		o: o, http: &h, calls: map[string]*MethodCalls{},
		pace: pace{
			distributed: o.Distributed, now: o.Now, jitter: o.Jitter,
			rates: map[string]*methodRate{}, tickets: map[string]time.Time{}, sharing: newSharing(o),
		},
	}
}

func (o Options) withDefaults() Options {
	if o.URL == "" {
		o.URL = DefaultURL
	}
	if o.HTTP == nil {
		o.HTTP = &http.Client{Timeout: 30 * time.Second}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Jitter == nil {
		o.Jitter = rand.N[time.Duration]
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Call calls a method with the bot's token and returns the whole answer, which has
// ok: true. The error is an [*Error], [*LimitedError] or [*StatusError], wraps
// [ErrAnswer], or is ctx's or the network's. No error holds a token or a URL.
func (c *Client) Call(ctx context.Context, method string, args url.Values) (json.RawMessage, error) {
	return c.CallAs(ctx, c.o.Token, method, args)
}

// Try is [Client.Call] without waiting and without repetition: where the call would
// have to wait for its limit, the error is a [*LimitedError] at once. It is for
// what is shown while an answer is written, which must not delay the answer.
func (c *Client) Try(ctx context.Context, method string, args url.Values) (json.RawMessage, error) {
	if err := c.wait(ctx, method, args, 0, ""); err != nil {
		return nil, err
	}
	return c.once(ctx, c.o.Token, method, args)
}

// CallAs is [Client.Call] with another token, such as the app-level one.
func (c *Client) CallAs(ctx context.Context, token secret.Secret, method string, args url.Values) (json.RawMessage, error) {
	writes, ticket := strings.HasPrefix(method, "chat."), ""
	if writes {
		ticket = method + " " + args.Get("channel") + " " + args.Get("ts") + " " + args.Get("metadata")
	}
	for try := 1; ; try++ {
		if err := c.wait(ctx, method, args, forever, ticket); err != nil {
			return nil, err
		}
		raw, err := c.once(ctx, token, method, args)
		if err == nil || ctx.Err() != nil || writes || try == maxTries || !mayPass(err) {
			return raw, err
		}
		if limited := (*LimitedError)(nil); errors.As(err, &limited) {
			continue // wait holds the call back until then
		}
		if sleep(ctx, retryFirst<<(try-1)) != nil {
			return nil, err
		}
	}
}

// mayPass reports whether the same reading call may succeed later.
func mayPass(err error) bool {
	var (
		api    *Error
		status *StatusError
	)
	switch {
	case errors.As(err, &api):
		switch api.Code {
		case "internal_error", "fatal_error", "service_unavailable", "request_timeout":
			return true
		}
		return false
	case errors.As(err, &status):
		return status.Status >= http.StatusInternalServerError
	}
	return true
}

const forever = time.Duration(1<<63 - 1)

// wait holds a call back until its limit allows it, for at most so long. See
// [pace.take] for the ticket.
func (c *Client) wait(ctx context.Context, method string, args url.Values, most time.Duration, ticket string) error {
	if deadline, ok := ctx.Deadline(); ok {
		most = min(most, time.Until(deadline))
	}
	if c.o.ReadsFailOverLimit && (method == History || method == Replies) {
		most = 0
	}
	wait, ok := c.pace.take(ctx, method, args, most, ticket)
	if wait <= 0 {
		return ctx.Err()
	}
	c.count(method, func(x *MethodCalls) {
		x.Waits++
		if ok {
			x.Waited += wait
		}
	})
	if !ok {
		return &LimitedError{Method: method, After: wait}
	}
	return sleep(ctx, wait)
}

// once sends one request.
func (c *Client) once(ctx context.Context, token secret.Secret, method string, args url.Values) (json.RawMessage, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.o.URL+method, strings.NewReader(args.Encode()))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, Hide(err, token))
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", "Bearer "+token.Reveal())
	r.Header.Set("User-Agent", "earshot")
	c.count(method, func(x *MethodCalls) { x.Calls++ })
	raw, err := c.answer(method, args, token, r)
	c.reach.note(err, c.o.Now())
	if err != nil {
		limited := (*LimitedError)(nil)
		c.count(method, func(x *MethodCalls) {
			if errors.As(err, &limited) {
				x.Limited++
			} else {
				x.Failed++
			}
		})
	}
	return raw, err
}

func (c *Client) answer(method string, args url.Values, token secret.Secret, r *http.Request) (json.RawMessage, error) {
	w, err := c.http.Do(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, Hide(err, token))
	}
	defer w.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(w.Body, maxAnswer+1))
	if w.StatusCode == http.StatusTooManyRequests {
		return nil, c.limited(r.Context(), method, args, w.Header)
	}
	if w.StatusCode != http.StatusOK {
		return nil, &StatusError{Method: method, Status: w.StatusCode}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, Hide(err, token))
	}
	if len(raw) > maxAnswer {
		return nil, fmt.Errorf("%s: %w: it is larger than %d MiB", method, ErrAnswer, maxAnswer>>20)
	}
	var head struct {
		OK       bool   `json:"ok"`
		Error    string `json:"error"`
		Needed   string `json:"needed"`
		Provided string `json:"provided"`
	}
	if json.Unmarshal(raw, &head) != nil {
		return nil, fmt.Errorf("%s: %w: it is not the API's JSON", method, ErrAnswer)
	}
	if s := w.Header.Get("X-OAuth-Scopes"); s != "" && token.Reveal() == c.o.Token.Reveal() {
		c.setScopes(s)
	}
	switch {
	case head.OK:
		return raw, nil
	case head.Error == "ratelimited" || head.Error == "rate_limited":
		return nil, c.limited(r.Context(), method, args, w.Header)
	}
	return nil, &Error{Method: method, Code: Word(head.Error, "_"), Needed: Word(head.Needed, ":._,- "), Provided: Word(head.Provided, ":._,- ")}
}

// limited blocks further calls after a 429, for as long as Slack says.
func (c *Client) limited(ctx context.Context, method string, args url.Values, h http.Header) error {
	after := retryAfter
	if n, err := strconv.Atoi(h.Get("Retry-After")); err == nil && n >= 0 {
		after = min(time.Duration(n)*time.Second, maxAfter)
	}
	after = c.pace.block(ctx, method, args, after)
	c.o.Log.Warn("slack limits a method", "method", method, "after", after)
	return &LimitedError{Method: method, After: after}
}

// Word returns s where it consists of lower-case letters, digits and marks, as
// Slack's codes and scopes do, and "unknown" otherwise: nothing else of an answer
// gets into an error or a log, tokens least of all.
func Word(s, marks string) string {
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune(marks, r) {
			return "unknown"
		}
	}
	if len(s) > 1000 || strings.Contains(s, "xox") || strings.Contains(s, "xapp-") {
		return "unknown"
	}
	return s
}

// Free returns how many calls of a method could be made now without waiting, and
// how many after a pause. args matter where the rate is a channel's.
func (c *Client) Free(method string, args url.Values) (calls, most int) {
	return c.pace.free(method, args, c.o.Now())
}

// ShareRates shares the rates with other processes that give the same name of the
// app and workspace. Without Options.Rates it does nothing.
func (c *Client) ShareRates(app string) { c.pace.shareAs(app) }

func (c *Client) count(method string, add func(*MethodCalls)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.calls[method]
	if x == nil {
		x = &MethodCalls{Method: method}
		c.calls[method] = x
	}
	add(x)
}

// Calls returns the calls of each method since New, sorted by method.
func (c *Client) Calls() []MethodCalls {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]MethodCalls, 0, len(c.calls))
	for _, x := range c.calls {
		list = append(list, *x)
	}
	slices.SortFunc(list, func(a, b MethodCalls) int { return cmp.Compare(a.Method, b.Method) })
	return list
}

// setScopes keeps the scopes that the token has.
func (c *Client) setScopes(list string) {
	var scopes []string
	for _, s := range strings.Split(list, ",") {
		if s = strings.TrimSpace(s); s != "" {
			scopes = append(scopes, s)
		}
	}
	slices.Sort(scopes)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.scopes = scopes
}

// Scopes returns the scopes of the bot's token, sorted, as Slack's last answer had
// them; none where Slack does not say.
func (c *Client) Scopes() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.scopes)
}
