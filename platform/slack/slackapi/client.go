package slackapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/pause"
	"github.com/earshot-ai/earshot/platform/internal/reach"
	"github.com/earshot-ai/earshot/platform/internal/settings"
	"github.com/earshot-ai/earshot/platform/internal/tally"
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
	// Renew gets another token for the bot than the one that Slack has refused as
	// ended, and calls [Client.SetToken]; the call is then made again. nil: tokens do not
	// rotate.
	Renew func(ctx context.Context, refused secret.Secret) error
	// Back is called with a time in which Slack may have refused the bot's token, once
	// it accepts it again. It must not block. nil: not called.
	Back func(from, to time.Time)

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
// to three times, after a time-out, a 5xx or a 429. Calls that write (chat.* and
// [EndUpload]) are sent at most once: Slack documents no idempotency key for them, so
// whether to send one again is the caller's decision.
type Client struct {
	o     Options
	http  *http.Client
	pace  callPacer
	reach reach.Reach
	calls tally.Calls

	bot, app reach.Access // by the bot's token, and by the app-level one
	token    atomic.Pointer[secret.Secret]

	mu     sync.Mutex // guards what follows
	scopes []string   // of the bot token, as Slack's last answer had them
}

// New returns a client. It makes no call.
func New(o Options) *Client {
	o.URL = cmp.Or(o.URL, DefaultURL)
	settings.Outside(&o.HTTP, &o.Now, &o.Jitter, &o.Log)
	c := &Client{
		o: o, http: settings.SameHost(o.HTTP), calls: tally.Calls{Platform: earshot.Slack},
		pace: callPacer{
			distributed: o.Distributed, now: o.Now, jitter: o.Jitter,
			rates: map[string]*methodRate{}, tickets: map[string]time.Time{}, sharing: newSharing(o),
		},
	}
	c.SetToken(o.Token)
	return c
}

// Call calls a method with the bot's token and returns the whole answer, which has
// ok: true. The error is an [*Error], [*LimitedError] or [*StatusError], wraps
// [ErrAnswer], or is ctx's or the network's. No error holds a token or a URL.
func (c *Client) Call(ctx context.Context, method string, args url.Values) (json.RawMessage, error) {
	token := c.Token()
	raw, err := c.CallAs(ctx, token, method, args)
	if c.o.Renew != nil && IsRefused(err, "token_expired", "invalid_auth", "not_authed") {
		return c.renewed(ctx, token, err, func() (json.RawMessage, error) { return c.CallAs(ctx, c.Token(), method, args) })
	}
	return raw, err
}

// Try is [Client.Call] without waiting and without repetition: where the call would
// have to wait for its limit, the error is a [*LimitedError] at once. It is for
// what is shown while an answer is written, which must not delay the answer.
func (c *Client) Try(ctx context.Context, method string, args url.Values) (json.RawMessage, error) {
	if err := c.wait(ctx, method, args, 0, ""); err != nil {
		return nil, err
	}
	return c.once(ctx, c.Token(), method, args)
}

// CallAs is [Client.Call] with another token, such as the app-level one.
func (c *Client) CallAs(ctx context.Context, token secret.Secret, method string, args url.Values) (json.RawMessage, error) {
	posts, ticket := strings.HasPrefix(method, "chat."), ""
	writes := posts || method == EndUpload
	if posts {
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
		if pause.For(ctx, retryFirst<<(try-1)) != nil {
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
// [callPacer.take] for the ticket.
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
	if !ok {
		c.calls.Waited(method, 0)
		return &LimitedError{Method: method, After: wait}
	}
	c.calls.Waited(method, wait)
	return pause.For(ctx, wait)
}

// once sends one request.
func (c *Client) once(ctx context.Context, token secret.Secret, method string, args url.Values) (json.RawMessage, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.o.URL+method, strings.NewReader(args.Encode()))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, secret.Hide(err, token))
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", "Bearer "+token.Reveal())
	r.Header.Set("User-Agent", "earshot")
	c.calls.Sent(method)
	raw, err := c.answer(method, args, token, r)
	c.note(method, err)
	if method == OpenConnection || token.Reveal() == c.Token().Reveal() {
		c.noteToken(method, err)
	}
	return raw, err
}

// noteToken notes whether Slack accepts the token that a method is called with.
func (c *Client) noteToken(method string, err error) {
	var api *Error
	token := &c.bot
	if method == OpenConnection {
		token = &c.app
	}
	switch now := c.o.Now(); {
	case err == nil:
		if from, again := token.Accepted(now); again {
			c.o.Log.Info("slack accepts the token again", "from", from)
			if token == &c.bot && c.o.Back != nil {
				c.o.Back(from, now)
			}
		}
	case errors.As(err, &api) && EndsToken(api.Code):
		token.Refused(now, api.Code+": "+api.remedy())
	}
}

// SignedOut returns which token Slack refuses, why, what to do, and since when; ok is
// false where it accepts them, or was not asked yet.
func (c *Client) SignedOut() (why string, since time.Time, ok bool) {
	if why, since, ok = c.bot.SignedOut(); ok {
		return why, since, ok
	}
	return c.app.SignedOut()
}

// Probe calls Slack every few seconds while it is down or refuses the bot's token, and
// every few minutes where nothing is called, until ctx ends. It returns ctx's error.
func (c *Client) Probe(ctx context.Context) error {
	return reach.Probe{
		Down: c.Down, Access: &c.bot, SignedOut: c.SignedOut, Now: c.o.Now, Log: c.o.Log,
		Ask: func(ctx context.Context) error {
			_, err := c.Call(ctx, "auth.test", nil)
			return err
		},
	}.Run(ctx)
}

// note counts how a call ended, and whether Slack has answered. A refusal is an answer
// too.
func (c *Client) note(method string, err error) {
	var (
		api     *Error
		limited *LimitedError
	)
	isLimited := errors.As(err, &limited)
	if err != nil {
		c.calls.Failed(method, isLimited)
	}
	switch {
	case errors.Is(err, context.Canceled): // by the caller: it says nothing about Slack
	case err == nil, isLimited, errors.As(err, &api) && !Passes(api.Code):
		c.reach.Answered()
	default:
		c.reach.Failed(c.o.Now())
	}
}

// Down reports since when Slack does not answer; ok is false where it does, or was not
// asked yet.
func (c *Client) Down() (since time.Time, ok bool) { return c.reach.Down() }

func (c *Client) answer(method string, args url.Values, token secret.Secret, r *http.Request) (json.RawMessage, error) {
	w, err := c.http.Do(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, secret.Hide(err, token))
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
		return nil, fmt.Errorf("%s: %w", method, secret.Hide(err, token))
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
	if s := w.Header.Get("X-OAuth-Scopes"); s != "" && token.Reveal() == c.Token().Reveal() {
		c.setScopes(s)
	}
	switch {
	case head.OK:
		return raw, nil
	case head.Error == "ratelimited" || head.Error == "rate_limited":
		return nil, c.limited(r.Context(), method, args, w.Header)
	}
	return nil, &Error{Method: method, Code: SafeWord(head.Error, "_"), Needed: SafeWord(head.Needed, ":._,- "), Provided: SafeWord(head.Provided, ":._,- ")}
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

// SafeWord returns s where it consists of lower-case letters, digits and marks, as
// Slack's codes and scopes do, and "unknown" otherwise: nothing else of an answer
// gets into an error or a log, tokens least of all.
func SafeWord(s, marks string) string {
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

// Calls returns the calls of each method since New, sorted by method.
func (c *Client) Calls() []earshot.CallCount { return c.calls.List() }

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
