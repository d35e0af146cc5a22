package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/earshot-ai/earshot/secret"
)

// Methods that the client treats in their own way.
const (
	methodOpen    = "apps.connections.open"
	methodHistory = "conversations.history"
	methodReplies = "conversations.replies"
	methodPost    = "chat.postMessage"
	methodUpdate  = "chat.update"
	methodDelete  = "chat.delete"
	methodStart   = "chat.startStream"
	methodAppend  = "chat.appendStream"
	methodStop    = "chat.stopStream"
)

// Bounds of a call.
const (
	maxAnswer  = 16 << 20         // bytes of an answer
	maxTries   = 3                // of a reading call
	retryFirst = time.Second      // before the second try; doubles
	retryAfter = 30 * time.Second // where a 429 does not say
	maxAfter   = time.Hour        // of what a 429 may say
)

// A Call is how often a method was called, for the operator.
type Call struct {
	Method  string
	Calls   int           // requests sent
	Limited int           // of them, answered by 429
	Failed  int           // of them, answered otherwise than with ok, or not at all
	Waits   int           // calls that were held back, or not made, because of a limit
	Waited  time.Duration // the sum of the waits
}

// A client makes every call of the Web API. It is safe for concurrent use.
//
// A call waits for its limit as long as ctx has time. Reading calls are tried
// again after a time-out, a 5xx or a 429. Calls that write (chat.*) are made
// at most once: whether they are made again is the caller's to decide.
type client struct {
	o     Options
	http  *http.Client
	pace  pace
	reach reach

	mu     sync.Mutex // guards what follows
	calls  map[string]*Call
	scopes []string // of the bot token, as the last answer told them
}

func newClient(o Options) *client {
	h := *o.HTTPClient
	// The token must not go along to where an answer points.
	h.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client{
		o: o, http: &h, calls: map[string]*Call{},
		pace: pace{
			distributed: o.Tier == Distributed, now: o.Now, jitter: o.Jitter,
			lanes: map[string]*lane{}, tickets: map[string]time.Time{}, sharing: newSharing(o),
		},
	}
}

// call calls a method with the bot's token and returns the whole answer, which
// says ok. The error is an [*APIError], [*LimitedError], [*StatusError],
// [ErrAnswer], ctx's, or the network's; none of them shows a token or a URL.
func (c *client) call(ctx context.Context, method string, args url.Values) (json.RawMessage, error) {
	return c.callAs(ctx, c.o.BotToken, method, args)
}

// try calls a method unless it would have to wait for its limit: then the error
// is a [*LimitedError] at once. It is for what is shown before an answer is
// whole, which must not stand in the way of the answer.
func (c *client) try(ctx context.Context, method string, args url.Values) (json.RawMessage, error) {
	if err := c.wait(ctx, method, args, 0, ""); err != nil {
		return nil, err
	}
	return c.once(ctx, c.o.BotToken, method, args)
}

func (c *client) callAs(ctx context.Context, token secret.Secret, method string, args url.Values) (json.RawMessage, error) {
	writes, ticket := strings.HasPrefix(method, "chat."), ""
	if writes {
		ticket = method + " " + args.Get("channel") + " " + args.Get("ts") + " " + args.Get("metadata")
	}
	for try := 1; ; try++ {
		if err := c.wait(ctx, method, args, forever, ticket); err != nil {
			return nil, err
		}
		raw, err := c.once(ctx, token, method, args)
		if err == nil || ctx.Err() != nil || writes || try == maxTries || !passing(err) {
			return raw, err
		}
		if limited := (*LimitedError)(nil); errors.As(err, &limited) {
			continue // the lane is blocked until then
		}
		if sleep(ctx, retryFirst<<(try-1)) != nil {
			return nil, err
		}
	}
}

// passing reports whether the same reading call may succeed later.
func passing(err error) bool {
	var (
		api    *APIError
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
func (c *client) wait(ctx context.Context, method string, args url.Values, most time.Duration, ticket string) error {
	if deadline, ok := ctx.Deadline(); ok {
		most = min(most, time.Until(deadline))
	}
	if c.o.Overflow == Degrade && (method == methodHistory || method == methodReplies) {
		most = 0
	}
	wait, ok := c.pace.take(ctx, method, args, most, ticket)
	if wait <= 0 {
		return ctx.Err()
	}
	c.count(method, func(x *Call) {
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
func (c *client) once(ctx context.Context, token secret.Secret, method string, args url.Values) (json.RawMessage, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.o.APIURL+method, strings.NewReader(args.Encode()))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, hide(err, token))
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", "Bearer "+token.Reveal())
	r.Header.Set("User-Agent", "earshot")
	c.count(method, func(x *Call) { x.Calls++ })
	raw, err := c.answer(method, args, token, r)
	c.reach.note(err, c.o.Now())
	if err != nil {
		limited := (*LimitedError)(nil)
		c.count(method, func(x *Call) {
			if errors.As(err, &limited) {
				x.Limited++
			} else {
				x.Failed++
			}
		})
	}
	return raw, err
}

func (c *client) answer(method string, args url.Values, token secret.Secret, r *http.Request) (json.RawMessage, error) {
	w, err := c.http.Do(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, hide(err, token))
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
		return nil, fmt.Errorf("%s: %w", method, hide(err, token))
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
	if s := w.Header.Get("X-OAuth-Scopes"); s != "" && token.Reveal() == c.o.BotToken.Reveal() {
		c.grant(s)
	}
	switch {
	case head.OK:
		return raw, nil
	case head.Error == "ratelimited" || head.Error == "rate_limited":
		return nil, c.limited(r.Context(), method, args, w.Header)
	}
	return nil, &APIError{Method: method, Code: word(head.Error, "_"), Needed: word(head.Needed, ":._,- "), Provided: word(head.Provided, ":._,- ")}
}

// limited notes a refusal for the limit.
func (c *client) limited(ctx context.Context, method string, args url.Values, h http.Header) error {
	after := retryAfter
	if n, err := strconv.Atoi(h.Get("Retry-After")); err == nil && n >= 0 {
		after = min(time.Duration(n)*time.Second, maxAfter)
	}
	after = c.pace.block(ctx, method, args, after)
	c.o.Log.Warn("slack limits a method", "method", method, "after", after)
	return &LimitedError{Method: method, After: after}
}

// word returns s where it is a word or list of words as Slack's own are, so
// that nothing else of an answer gets into an error.
func word(s, marks string) string {
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

func (c *client) count(method string, add func(*Call)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.calls[method]
	if x == nil {
		x = &Call{Method: method}
		c.calls[method] = x
	}
	add(x)
}

// counted returns what was counted, by method.
func (c *client) counted() []Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]Call, 0, len(c.calls))
	for _, x := range c.calls {
		list = append(list, *x)
	}
	slices.SortFunc(list, func(a, b Call) int { return cmp.Compare(a.Method, b.Method) })
	return list
}

// grant keeps what scopes the token has.
func (c *client) grant(list string) {
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

func (c *client) granted() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.scopes)
}
