package discordapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/disgoorg/disgo/discord"
	"github.com/disgoorg/disgo/rest"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/internal/reach"
	"github.com/earshot-ai/earshot/platform/internal/settings"
	"github.com/earshot-ai/earshot/platform/internal/tally"
	"github.com/earshot-ai/earshot/secret"
)

// Bounds of a call.
const (
	maxAnswer = 16 << 20 // bytes of an answer
	maxTries  = 3        // of a call that is limited each time
)

// DefaultURL is where the API is.
const DefaultURL = "https://discord.com/api/v10"

// userAgent is of the form that Discord asks for (API Reference, User Agent).
const userAgent = "DiscordBot (https://github.com/earshot-ai/earshot, 1)"

// Options configure a [Client]. Token is required.
type Options struct {
	URL   string           // of the API, without a slash at its end. Default: [DefaultURL]
	Token secret.Secret    // of the bot
	HTTP  *http.Client     // default: one with a time-out of 30 seconds
	Now   func() time.Time // default: time.Now
	// Jitter returns a random time below most, which is above 0. Waits after a
	// refusal grow by it. Default: random.
	Jitter func(most time.Duration) time.Duration
	Log    *slog.Logger // nil discards
}

// A Client calls the API. It is safe for concurrent use.
type Client struct {
	o      Options
	http   *http.Client
	limits limits
	stops  callStops
	calls  tally.Calls
	reach  reach.Reach
	access reach.Access
}

// New returns a client. It makes no call.
func New(o Options) *Client {
	o.URL = strings.TrimRight(cmp.Or(o.URL, DefaultURL), "/")
	settings.Outside(&o.HTTP, &o.Now, &o.Jitter, &o.Log)
	return &Client{
		o: o, http: settings.SameHost(o.HTTP), calls: tally.Calls{Platform: earshot.Discord},
		limits: limits{now: o.Now, buckets: map[string]*bucket{}, hashes: map[string]hash{}},
		stops:  callStops{now: o.Now, refused: map[string]*refusals{}},
	}
}

// Call makes one call and returns the answer's JSON, nil for an answer without one.
// params fill the route's parameters, in its order. body is encoded as JSON, unless
// it is nil or an [Upload].
//
// Call waits for the limits as long as ctx allows. Only a call that Discord refused
// because of a limit is made again, because Discord did nothing then: whether
// anything else may be repeated is the caller's decision. The error is an [*Error] or
// a [*LimitedError], or wraps [ErrToken], [ErrNotMade], [ErrUnreachable] or
// [ErrNotAnswered].
func (c *Client) Call(ctx context.Context, e *rest.Endpoint, params []any, query url.Values, body any) (json.RawMessage, error) {
	return c.call(ctx, e, params, query, body, true)
}

// Try is [Client.Call] without waiting: where a limit does not allow the call now,
// the error is a [*LimitedError] at once. It is for reading history, and for what is
// shown while an answer is written. (Where nothing is known of a route yet, Try waits
// for the answer to the call that is under way, at most for a second.)
func (c *Client) Try(ctx context.Context, e *rest.Endpoint, params []any, query url.Values, body any) (json.RawMessage, error) {
	return c.call(ctx, e, params, query, body, false)
}

func (c *Client) call(ctx context.Context, e *rest.Endpoint, params []any, query url.Values, body any, waits bool) (json.RawMessage, error) {
	to, err := compileRoute(e, params)
	if err != nil {
		return nil, err
	}
	_, to.upload = body.(Upload)
	content, err := contentOf(body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", to.call, err)
	}
	for try := 1; ; try++ {
		if err := c.stops.check(to); err != nil {
			return nil, err
		}
		raw, err := c.once(ctx, to, query, content, waits)
		if limited := (*LimitedError)(nil); errors.As(err, &limited) && limited.refused && waits && try < maxTries {
			continue // the limit is known now
		}
		return raw, err
	}
}

// An Upload is a body with a file (Discord's Reference, Uploading Files).
type Upload struct {
	Body any // what goes beside it, encoded as JSON
	Name string
	Data string
}

// A content is what a request has.
type content struct {
	kind string // "" for none
	data []byte
}

// contentOf encodes the body of a call.
func contentOf(body any) (content, error) {
	u, isUpload := body.(Upload)
	switch {
	case body == nil:
		return content{}, nil
	case !isUpload:
		data, err := json.Marshal(body)
		return content{"application/json", data}, err
	}
	about, err := json.Marshal(u.Body)
	if err != nil {
		return content{}, err
	}
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	file, err := form.CreateFormFile("files[0]", u.Name)
	if err == nil {
		_, err = io.WriteString(file, u.Data)
	}
	err = errors.Join(err, form.WriteField("payload_json", string(about)), form.Close())
	return content{form.FormDataContentType(), b.Bytes()}, err
}

// A target is an endpoint with its parameters.
type target struct {
	endpoint *rest.Endpoint
	call     string // such as "GET /channels/{channel.id}/messages"
	path     string
	major    string   // the parameters that Discord counts apart
	params   []string // all
	upload   bool     // the call has a file
}

// compileRoute fills an endpoint's route. Values are escaped, which disgo leaves to the
// caller.
func compileRoute(e *rest.Endpoint, params []any) (target, error) {
	to := target{endpoint: e, call: e.Method + " " + e.Route}
	values := make([]any, len(params))
	for i, p := range params {
		s := fmt.Sprint(p)
		if s == "" || s == "." || s == ".." {
			return target{}, fmt.Errorf("%s: a parameter is empty or no name", to.call)
		}
		to.params = append(to.params, s)
		values[i] = url.PathEscape(s)
	}
	compiled := e.Compile(nil, values...)
	if strings.ContainsAny(compiled.URL, "{}") || strings.Count(e.Route, "{") != len(params) {
		return target{}, fmt.Errorf("%s: %d parameters do not fill it", to.call, len(params))
	}
	to.path, to.major = compiled.URL, compiled.MajorParams
	return to, nil
}

// once waits for the limits, if it may, and sends one request.
func (c *Client) once(ctx context.Context, to target, query url.Values, body content, waits bool) (json.RawMessage, error) {
	b, err := c.wait(ctx, to, waits)
	if err != nil {
		return nil, err
	}
	c.calls.Sent(to.call)
	raw, header, err := c.send(ctx, to, query, body)
	c.learn(to, b, header, err)
	c.note(to.call, err)
	if to.endpoint.BotAuth {
		c.noteToken(err)
	}
	return raw, err
}

// noteToken notes whether Discord accepts the token.
func (c *Client) noteToken(err error) {
	switch {
	case err == nil:
		if from, again := c.access.Accepted(c.o.Now()); again {
			c.o.Log.Info("discord accepts the token again", "from", from)
		}
	case errors.Is(err, ErrToken):
		c.access.Refused(c.o.Now(), ErrToken.Error())
	}
}

// Refuse notes that the gateway does not accept the token: no call is made until
// [Client.Probe] tries it again.
func (c *Client) Refuse() {
	c.stops.unauthorized()
	c.noteToken(ErrToken)
}

// SignedOut returns why Discord refuses the token, what to do, and since when; ok is false
// where it accepts it, or was not asked yet.
func (c *Client) SignedOut() (why string, since time.Time, ok bool) { return c.access.SignedOut() }

// Probe calls Discord every few seconds while down reports that it is or Discord refuses
// the token, and every few minutes where nothing is called, until ctx ends. It returns
// ctx's error.
func (c *Client) Probe(ctx context.Context, down func() (since time.Time, ok bool)) error {
	return reach.Probe{
		Down: down, Access: &c.access, SignedOut: c.SignedOut, Now: c.o.Now, Log: c.o.Log,
		Ask: func(ctx context.Context) error {
			c.stops.retry() // of a token that was refused
			_, err := c.Call(ctx, rest.GetCurrentUser, nil, nil, nil)
			return err
		},
	}.Run(ctx)
}

// note counts how a call ended, and whether Discord has answered. A refusal is an answer
// too.
func (c *Client) note(call string, err error) {
	if err != nil {
		limited := (*LimitedError)(nil)
		c.calls.Failed(call, errors.As(err, &limited))
	}
	switch {
	case errors.Is(err, context.Canceled): // by the caller: it says nothing about Discord
	case errors.Is(err, ErrNotAnswered), errors.Is(err, ErrUnreachable):
		c.reach.Failed(c.o.Now())
	default:
		c.reach.Answered()
	}
}

// Down reports since when Discord does not answer; ok is false where it does, or was not
// asked yet.
func (c *Client) Down() (since time.Time, ok bool) { return c.reach.Down() }

// Calls returns the calls of each route since New, sorted by route, such as
// "POST /channels/{channel.id}/messages".
func (c *Client) Calls() []earshot.CallCount { return c.calls.List() }

// wait books a call, and counts the time that it waited for a limit.
func (c *Client) wait(ctx context.Context, to target, waits bool) (*bucket, error) {
	b, waited, err := c.limits.take(ctx, to, waits)
	limited := (*LimitedError)(nil)
	if waited > 0 || errors.As(err, &limited) {
		c.calls.Waited(to.call, waited)
	}
	return b, err
}

// learn keeps what an answer tells about the limits and about what Discord refuses.
func (c *Client) learn(to target, b *bucket, h http.Header, err error) {
	var (
		limited *LimitedError
		api     *Error
	)
	if errors.As(err, &limited) {
		limited.Wait += c.o.Jitter(50*time.Millisecond + limited.Wait/20)
	}
	c.limits.done(to, b, h, limited)
	switch {
	case limited != nil:
		if !limited.shared {
			c.stops.invalid()
		}
		c.o.Log.Warn("discord limits a call", "call", to.call, "after", limited.Wait, "global", limited.Global)
	case errors.As(err, &api):
		if c.stops.note(to, api) {
			c.o.Log.Error("discord refuses calls: they are not made for a while", "call", to.call, "err", err)
		}
	case err == nil:
		c.stops.allowed(to)
	}
}

// send sends one request and reads the answer. The header is nil where there was
// none.
func (c *Client) send(ctx context.Context, to target, query url.Values, body content) (json.RawMessage, http.Header, error) {
	at := c.o.URL + to.path
	if len(query) > 0 {
		at += "?" + query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, to.endpoint.Method, at, bytes.NewReader(body.data))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: the API's URL is not valid", to.call)
	}
	if body.kind != "" {
		r.Header.Set("Content-Type", body.kind)
	}
	if to.endpoint.BotAuth {
		r.Header.Set("Authorization", "Bot "+c.o.Token.Reveal())
	}
	r.Header.Set("User-Agent", userAgent)
	w, err := c.http.Do(r)
	if err != nil {
		return nil, nil, c.unanswered(to, err)
	}
	defer w.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(w.Body, maxAnswer+1))
	raw, err = c.answer(to, w, raw, err)
	return raw, w.Header, err
}

// answer judges an answer.
func (c *Client) answer(to target, w *http.Response, raw []byte, err error) (json.RawMessage, error) {
	switch {
	case w.StatusCode == http.StatusTooManyRequests:
		return nil, limitOf(to.call, w.Header, raw)
	case w.StatusCode == http.StatusUnauthorized && to.endpoint.BotAuth && !hasErrorMessage(raw):
		c.stops.invalid() // of a proxy, which says nothing about the token
		return nil, c.refusal(to, w.StatusCode, raw)
	case w.StatusCode == http.StatusUnauthorized && to.endpoint.BotAuth:
		c.stops.unauthorized()
		return nil, fmt.Errorf("%s: %w", to.call, ErrToken)
	case w.StatusCode >= 500, w.StatusCode == http.StatusRequestTimeout, w.StatusCode < 200, w.StatusCode >= 300 && w.StatusCode < 400:
		return nil, &StatusError{Call: to.call, Status: w.StatusCode}
	case w.StatusCode >= 400:
		return nil, c.refusal(to, w.StatusCode, raw)
	case err != nil:
		return nil, c.unanswered(to, err)
	case len(raw) > maxAnswer:
		return nil, fmt.Errorf("%s: %w: the answer is larger than %d MiB", to.call, ErrNotAnswered, maxAnswer>>20)
	case len(bytes.TrimSpace(raw)) == 0:
		return nil, nil
	case !json.Valid(raw):
		return nil, fmt.Errorf("%s: %w: the answer is no JSON", to.call, ErrNotAnswered)
	}
	return raw, nil
}

// Gateway asks where the gateway is, how many shards Discord recommends, and how
// many sessions may still be started.
func (c *Client) Gateway(ctx context.Context) (discord.GatewayBot, error) {
	raw, err := c.Call(ctx, rest.GetGatewayBot, nil, nil, nil)
	if err != nil {
		return discord.GatewayBot{}, err
	}
	var g discord.GatewayBot
	if json.Unmarshal(raw, &g) != nil || g.URL == "" {
		return g, fmt.Errorf("GET %s: %w: the answer names no gateway", rest.GetGatewayBot.Route, ErrNotAnswered)
	}
	return g, nil
}

// Free returns how many calls could be made now without waiting, and how many after a
// pause. Where nothing is known of the route yet, that is one.
func (c *Client) Free(e *rest.Endpoint, params ...any) (calls, most int) {
	to, err := compileRoute(e, params)
	if err != nil || c.stops.check(to) != nil {
		return 0, 0
	}
	return c.limits.free(to)
}

// Fits reports whether a call could be made now without waiting.
func (c *Client) Fits(e *rest.Endpoint, params ...any) bool {
	calls, _ := c.Free(e, params...)
	return calls > 0
}
