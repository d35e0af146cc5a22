package socket

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/earshot-ai/earshot/internal/pause"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
	"github.com/earshot-ai/earshot/secret"
)

// When a connection is opened again.
const (
	helloTime   = 20 * time.Second // from asking for a connection to Slack's hello
	firstRetry  = time.Second      // before a lost connection is opened again; doubles
	longestWait = time.Minute
	steadyTime  = 10 * time.Second // a connection that lasted longer is opened again at once
)

// Options configure [Listen]. All but Dial are required.
type Options struct {
	// Connections is how many are held: a delivery goes to any one of them, and
	// Slack renews each after some hours.
	Connections int
	// Open asks Slack for a connection (apps.connections.open) and returns its
	// answer.
	Open func(ctx context.Context) (json.RawMessage, error)
	// Plain says that the connection may be unencrypted, as to a fake Slack.
	Plain bool
	// Dial opens network connections; nil: the network, by way of the
	// environment's proxy.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Take is given each envelope, and returns once what is in it is durable. Where ok
	// is false, the envelope is not acknowledged, and Slack sends it again. ctx outlives
	// the connection.
	Take func(ctx context.Context, e Envelope) (answer Answer, ok bool)
	// Acknowledged is called after each event that was acknowledged, with the time
	// since it was read.
	Acknowledged func(after time.Duration)
	// Missed is called with a time in which no connection was up, once one is.
	Missed func(from, to time.Time)

	Now    func() time.Time
	Jitter func(most time.Duration) time.Duration
	Log    *slog.Logger
}

// Listen holds connections until ctx ends, and then returns nil, or the cause of
// ctx where that has one. A connection that is lost is opened again. The error is
// otherwise of a token that has never worked, for which waiting is no remedy.
//
// Envelopes of one channel are taken in the order in which a connection brings
// them.
func Listen(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	l := &listener{o: o, since: o.Now()}
	for range o.Connections {
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

// A listener holds the connections of one Listen.
type listener struct {
	o       Options
	running sync.WaitGroup // connections, those that are being drained included

	mu    sync.Mutex // guards what follows
	up    int        // connections that have said hello and not ended
	was   bool       // up has been above 0
	since time.Time  // when the last one ended, while none is up
}

// hold keeps one connection up until ctx ends. The error is one for which opening
// it again does not help.
func (l *listener) hold(ctx context.Context) error {
	wait := firstRetry
	for ctx.Err() == nil {
		s, err := l.open(ctx)
		if err != nil {
			if l.isPermanent(err) {
				return fmt.Errorf("slack: %w", err)
			}
			if ctx.Err() != nil {
				break
			}
			l.o.Log.Warn("a socket cannot be opened", "again", wait, "err", err)
			// Positive jitter, so that sockets do not come back all at once.
			if pause.For(ctx, wait+l.o.Jitter(wait/2)) != nil {
				break
			}
			wait = min(2*wait, longestWait)
			continue
		}
		since := l.o.Now()
		l.serve(ctx, s)
		if l.o.Now().Sub(since) > steadyTime {
			wait = firstRetry
		} else if pause.For(ctx, wait+l.o.Jitter(wait/2)) == nil {
			wait = min(2*wait, longestWait) // it does not hold
		}
	}
	return nil
}

// isPermanent reports whether a refusal of apps.connections.open is of the token, so
// that asking again does not help. A token that has worked may work again: what Slack
// takes back for a while, as when the address is not allowed, it gives back.
func (l *listener) isPermanent(err error) bool {
	if slackapi.IsSignedOut(err) {
		l.mu.Lock()
		defer l.mu.Unlock()
		return !l.was
	}
	return slackapi.IsRefused(err, "not_allowed_token_type", "missing_scope", "forbidden_team")
}

// serve runs a connection until it ends. When Slack announces its end, serve opens
// another first and goes on with that.
func (l *listener) serve(ctx context.Context, s *connection) {
	for {
		// Each connection is read by a goroutine of its own, which goes on while the
		// connection is drained.
		done, now := make(chan struct{}), s
		l.running.Go(func() {
			defer close(done)
			now.run(ctx)
			l.disconnected()
		})
		select {
		case <-done:
			select {
			case <-s.renew: // both are done: Slack had announced the end
			default:
				return
			}
		case <-s.renew:
		}
		next, err := l.open(ctx)
		if err != nil {
			l.o.Log.Warn("a socket is not replaced before its end", "err", err)
			<-done
			return
		}
		close(s.replaced)
		s = next
	}
}

// open opens a connection and waits for Slack's hello. The URL holds a ticket that
// is good for one connection: no error and no log shows it.
func (l *listener) open(ctx context.Context) (*connection, error) {
	ctx, cancel := context.WithTimeout(ctx, helloTime)
	defer cancel()
	raw, err := l.o.Open(ctx)
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
	if err != nil || at.Host == "" || at.Scheme != "wss" && (at.Scheme != "ws" || !l.o.Plain) {
		return nil, fmt.Errorf("%s: %w: its URL is not of a socket", slackapi.OpenConnection, slackapi.ErrAnswer)
	}
	dialer := websocket.Dialer{HandshakeTimeout: helloTime, Proxy: http.ProxyFromEnvironment}
	if l.o.Dial != nil {
		dialer.Proxy, dialer.NetDialContext = nil, l.o.Dial
	}
	conn, response, err := dialer.DialContext(ctx, answer.URL, nil)
	if response != nil && response.Body != nil {
		response.Body.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("socket: %w", secret.Hide(err, secretParts(answer.URL, at)...))
	}
	s := &connection{l: l, conn: conn, renew: make(chan struct{}), replaced: make(chan struct{})}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() }) // ends a wait for hello
	err = s.hello()
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close() // it failed already
		return nil, err
	}
	l.connected()
	l.o.Log.Info("a socket is up")
	return s, nil
}

// secretParts returns the parts of a connection's URL that must not be shown.
func secretParts(whole string, at *url.URL) []secret.Secret {
	hidden := []secret.Secret{secret.New(whole), secret.New(at.RawQuery)}
	for _, values := range at.Query() {
		for _, v := range values {
			hidden = append(hidden, secret.New(v))
		}
	}
	return append(hidden, secret.New(strings.Trim(at.Path, "/")))
}

// connected counts a connection that is up, and reports the time in which none was.
func (l *listener) connected() {
	now := l.o.Now()
	l.mu.Lock()
	l.up++
	l.was = true
	gap := l.up == 1
	since := l.since
	l.mu.Unlock()
	if gap {
		l.o.Missed(since, now)
	}
}

// disconnected counts a connection that has ended.
func (l *listener) disconnected() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.up--
	if l.up == 0 {
		l.since = l.o.Now()
	}
}
