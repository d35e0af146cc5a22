package mcpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

const (
	mostErrorBody = 64 << 10
	headerTime    = 15 * time.Second // for the header of an answer to anything but a call
	tokenTime     = 20 * time.Second
	sessionHeader = "Mcp-Session-Id"
)

// httpTransport returns a transport over streamable HTTP.
func (s *server) httpTransport() (mcp.Transport, error) {
	base, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, errors.New("the default transport of this program is not net/http's")
	}
	base = base.Clone()
	base.IdleConnTimeout = 4 * time.Second // many servers close idle connections after 5 s; a call that meets that is one of which nobody knows
	door := &httpDoor{base: base, server: s}
	if o := s.OAuth; o != nil {
		door.oauth = &clientcredentials.Config{ClientID: o.ClientID, ClientSecret: o.Secret.Reveal(), TokenURL: o.TokenURL, Scopes: o.Scopes}
		door.tokenClient = &http.Client{Transport: base, Timeout: tokenTime, CheckRedirect: sameHost}
	}
	client := &http.Client{Transport: door, CheckRedirect: sameHost}
	return &mcp.StreamableClientTransport{Endpoint: s.URL, HTTPClient: client, MaxEventSize: s.limits.Answer + 64<<10}, nil
}

// sameHost follows redirects within one host: headers that are secrets go along.
func sameHost(r *http.Request, via []*http.Request) error {
	if first := via[0].URL; r.URL.Scheme != first.Scheme || r.URL.Host != first.Host || len(via) > 5 {
		return errors.New("the server leads to another host, which is not followed")
	}
	return nil
}

// An httpDoor is what all requests to a server and their answers pass through.
type httpDoor struct {
	base        http.RoundTripper
	server      *server
	oauth       *clientcredentials.Config // nil: none
	tokenClient *http.Client

	mu    sync.Mutex // guards token
	token *oauth2.Token
}

// RoundTrip implements [http.RoundTripper].
func (d *httpDoor) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		body, err = io.ReadAll(r.Body)
		if err = errors.Join(err, r.Body.Close()); err != nil {
			return nil, err
		}
	}
	var told struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	_ = json.Unmarshal(body, &told) // a request without a body has neither
	a := attemptOf(r.Context())
	if told.Method != "tools/call" {
		a = nil // a notification that the call is cancelled has its context too
	}
	var resp *http.Response
	for renewed := false; ; renewed = true {
		again, cancel, err := d.request(r, body, a, renewed)
		if err != nil {
			return nil, err
		}
		resp, err = d.base.RoundTrip(again)
		if err != nil {
			cancel()
			if r.Method == http.MethodGet && again.Context().Err() != nil && r.Context().Err() == nil {
				return noStream(r), nil
			}
			return nil, err
		}
		resp.Body = &endingBody{resp.Body, cancel}
		if resp.StatusCode != http.StatusUnauthorized || d.oauth == nil || renewed {
			break
		}
		_ = resp.Body.Close()
	}
	if a != nil {
		a.status.Store(int32(resp.StatusCode)) //nolint:gosec // three digits
	}
	d.bound(r, resp, told.ID)
	return resp, nil
}

// request returns the request as it is sent, and what ends it.
func (d *httpDoor) request(r *http.Request, body []byte, a *attempt, renew bool) (*http.Request, context.CancelFunc, error) {
	ctx, end := context.WithCancel(r.Context())
	done, _ := d.server.ends.add(end) // a session is ended with a request, after all others
	cancel := func() { done(); end() }
	if a != nil {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { a.sent.Store(true) }})
	}
	if a == nil { // a stream may take as long as it likes, but has to begin
		timer := time.AfterFunc(headerTime, end)
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotFirstResponseByte: func() { timer.Stop() }})
	}
	again := r.Clone(ctx)
	again.Body, again.GetBody = nil, nil
	if body != nil {
		again.Body = io.NopCloser(bytes.NewReader(body))
		again.ContentLength = int64(len(body))
		// Without GetBody net/http sends nothing twice by itself. It does where a request
		// has an Idempotency-Key, and few servers know what that means.
	}
	for name, value := range d.server.Headers {
		again.Header.Set(name, value)
	}
	if a != nil {
		again.Header.Set("Idempotency-Key", a.id)
	}
	if d.oauth != nil {
		token, err := d.tokenNow(ctx, renew)
		if err != nil {
			cancel()
			return nil, nil, errors.New("no token can be had: " + d.server.strain.err(tokenProblem(err)))
		}
		token.SetAuthHeader(again)
	}
	return again, cancel, nil
}

// tokenNow returns a token that is valid, or a new one.
func (d *httpDoor) tokenNow(ctx context.Context, renew bool) (*oauth2.Token, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.token.Valid() && !renew {
		return d.token, nil
	}
	token, err := d.oauth.Token(context.WithValue(ctx, oauth2.HTTPClient, d.tokenClient))
	if err != nil {
		return nil, err
	}
	d.token = token
	return token, nil
}

// tokenProblem returns an error without the body of the answer, which may hold anything.
func tokenProblem(err error) error {
	var e *oauth2.RetrieveError
	if errors.As(err, &e) && e.Response != nil {
		return errors.New(strings.TrimSpace("the token's server answered " + e.Response.Status + " " + e.ErrorCode))
	}
	return err
}

// noStream is the answer in the place of a stream whose header does not come.
func noStream(r *http.Request) *http.Response {
	return &http.Response{StatusCode: http.StatusMethodNotAllowed, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Body: http.NoBody, Request: r}
}

// bound bounds what is read of an answer.
func (d *httpDoor) bound(r *http.Request, resp *http.Response, id json.RawMessage) {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	most := d.server.limits.Answer
	switch {
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		text, _ := io.ReadAll(io.LimitReader(resp.Body, mostErrorBody)) // what there is
		_ = resp.Body.Close()
		// Servers answer an unknown session with 400 too, and with an error as JSON, which
		// the SDK would take for the call's own.
		if r.Header.Get(sessionHeader) != "" && (resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusBadRequest && bytes.Contains(bytes.ToLower(text), []byte("session"))) {
			resp.StatusCode, text = http.StatusNotFound, nil
		}
		if sound(text) != nil {
			text = nil
		}
		resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	case kind == "text/event-stream":
		resp.Body, resp.ContentLength = newEventReader(resp.Body, id, most), -1
	default:
		resp.Body, resp.ContentLength = &bodyReader{body: resp.Body, id: id, most: most}, -1
	}
}

// An endingBody ends its request when it is closed.
type endingBody struct {
	io.ReadCloser
	end context.CancelFunc
}

func (b *endingBody) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}
