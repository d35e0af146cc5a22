package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/earshot-ai/earshot/platform/slack/slackapi"
	"github.com/earshot-ai/earshot/secret"
)

// How a socket is opened and opened again.
const (
	helloTime = 20 * time.Second // from asking for a connection to Slack's hello
	backFirst = time.Second      // before a lost socket is opened again; doubles
	backMost  = time.Minute
	steady    = 10 * time.Second // after which a socket has held, and is opened again at once
)

// ErrNoAppToken says that no socket can be opened.
var ErrNoAppToken = errors.New("slack: there is no app-level token: set SLACK_APP_TOKEN (xapp-…, with the scope connections:write), from Basic Information on the app's page")

// ErrRemoved says that the app was uninstalled.
var ErrRemoved = errors.New("slack: the app was removed from the workspace: install it again and set the new tokens")

// Listen takes Slack's events by Socket Mode until ctx ends, and then returns
// nil. It holds several connections, since a delivery goes to any one of them
// and Slack renews each after some hours. A connection that is lost is opened
// again; other errors are those of a token that does not work and cannot be
// waited out.
//
// An event is acknowledged once it is durable. Those of one channel are taken
// in the order in which a connection brings them.
func (p *Platform) Listen(ctx context.Context, handle Handler) error {
	if p.o.AppToken.Empty() {
		return ErrNoAppToken
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	l := &listener{p: p, handle: handle, since: p.o.Now()}
	l.running.Go(func() {
		select {
		case <-p.gone:
			cancel(ErrRemoved)
		case <-ctx.Done():
		}
	})
	for range p.o.Sockets {
		l.running.Go(func() {
			if err := l.hold(ctx); err != nil {
				cancel(err)
			}
		})
	}
	l.running.Wait()
	if err := context.Cause(ctx); !errors.Is(err, ctx.Err()) {
		return err
	}
	return nil
}

// A listener holds the sockets of one Listen.
type listener struct {
	p       *Platform
	handle  Handler
	running sync.WaitGroup // sockets, and those that drain

	mu    sync.Mutex // guards what follows
	up    int        // sockets that have said hello and not ended
	since time.Time  // when the last one ended, while none is up
}

// hold keeps one connection up until ctx ends. It returns an error where going
// on makes no sense.
func (l *listener) hold(ctx context.Context) error {
	back := backFirst
	for ctx.Err() == nil {
		s, err := l.open(ctx)
		if err != nil {
			if hopeless(err) {
				return fmt.Errorf("slack: %w", err)
			}
			if ctx.Err() != nil {
				break
			}
			l.p.o.Log.Warn("a socket cannot be opened", "again", back, "err", err)
			// Positive jitter, so that sockets do not come back all at once.
			if sleep(ctx, back+l.p.o.Jitter(back/2)) != nil {
				break
			}
			back = min(2*back, backMost)
			continue
		}
		since := l.p.o.Now()
		l.serve(ctx, s)
		if l.p.o.Now().Sub(since) > steady {
			back = backFirst
		} else if sleep(ctx, back+l.p.o.Jitter(back/2)) == nil {
			back = min(2*back, backMost) // it does not hold
		}
	}
	return nil
}

// hopeless reports whether a refusal of apps.connections.open stays one.
func hopeless(err error) bool {
	var api *slackapi.Error
	if !errors.As(err, &api) {
		return false
	}
	switch api.Code {
	case "invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive", "not_allowed_token_type", "missing_scope", "forbidden_team":
		return true
	}
	return false
}

// serve takes what a socket brings, until it ends or Slack announces its end
// and another has taken its place.
func (l *listener) serve(ctx context.Context, s *socket) {
	for {
		// The socket is read by its own goroutine, which outlives this call while
		// it drains.
		done, now := make(chan struct{}), s
		l.running.Go(func() {
			defer close(done)
			now.run(ctx)
			l.down()
		})
		select {
		case <-done:
			select {
			case <-s.renew: // both at once: Slack announced it
			default:
				return
			}
		case <-s.renew:
		}
		next, err := l.open(ctx)
		if err != nil {
			l.p.o.Log.Warn("a socket is not replaced before its end", "err", err)
			<-done
			return
		}
		close(s.retired)
		s = next
	}
}

// open opens a connection and waits for Slack's hello. Its URL holds a ticket
// that is good for one connection: it stands in no error and no log.
func (l *listener) open(ctx context.Context) (*socket, error) {
	ctx, cancel := context.WithTimeout(ctx, helloTime)
	defer cancel()
	raw, err := l.p.client.CallAs(ctx, l.p.o.AppToken, slackapi.OpenConnection, nil)
	if err != nil {
		return nil, err
	}
	var answer struct {
		URL string `json:"url"`
	}
	if json.Unmarshal(raw, &answer) != nil {
		return nil, fmt.Errorf("%s: %w", slackapi.OpenConnection, slackapi.ErrAnswer)
	}
	at, err := url.Parse(answer.URL)
	if err != nil || at.Host == "" || at.Scheme != "wss" && (at.Scheme != "ws" || !strings.HasPrefix(l.p.o.APIURL, "http://")) {
		return nil, fmt.Errorf("%s: %w: its URL is not of a socket", slackapi.OpenConnection, slackapi.ErrAnswer)
	}
	dialer := websocket.Dialer{HandshakeTimeout: helloTime, Proxy: http.ProxyFromEnvironment}
	if l.p.o.Dial != nil {
		dialer.Proxy, dialer.NetDialContext = nil, l.p.o.Dial
	}
	conn, response, err := dialer.DialContext(ctx, answer.URL, nil)
	if response != nil && response.Body != nil {
		response.Body.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("socket: %w", slackapi.Hide(err, ticket(answer.URL, at)...))
	}
	s := &socket{l: l, conn: conn, renew: make(chan struct{}), retired: make(chan struct{})}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() }) // ends a wait for hello
	err = s.hello()
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close() // of no use any more
		return nil, err
	}
	l.comeUp()
	l.p.o.Log.Info("a socket is up")
	return s, nil
}

// ticket returns what of a socket's URL is not to be shown.
func ticket(whole string, at *url.URL) []secret.Secret {
	hidden := []secret.Secret{secret.New(whole), secret.New(at.RawQuery)}
	for _, values := range at.Query() {
		for _, v := range values {
			hidden = append(hidden, secret.New(v))
		}
	}
	return append(hidden, secret.New(strings.Trim(at.Path, "/")))
}

// comeUp notes that a socket is up, and tells of the time in which none was.
func (l *listener) comeUp() {
	now := l.p.o.Now()
	l.mu.Lock()
	l.up++
	gap := l.up == 1
	since := l.since
	l.mu.Unlock()
	if gap {
		l.p.o.Missed(since, now)
	}
}

// down notes that a socket ended.
func (l *listener) down() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.up--
	if l.up == 0 {
		l.since = l.p.o.Now()
	}
}
