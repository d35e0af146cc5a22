package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/earshot-ai/earshot/internal/platform/slack/slackmsg"
	"github.com/earshot-ai/earshot/internal/secret"
)

// Times and bounds of a socket.
const (
	helloTime   = 20 * time.Second // from dialling to Slack's hello
	silence     = 45 * time.Second // without a word or ping of Slack's: the socket is dead
	pingEvery   = 15 * time.Second
	writeTime   = 10 * time.Second
	drainTime   = 30 * time.Second // that an old socket gets to end by itself
	maxEnvelope = 4 << 20          // bytes
	backFirst   = time.Second      // before a lost socket is opened again; doubles
	backMost    = time.Minute
	steady      = 10 * time.Second // after which a socket has held, and is opened again at once
	lanes       = 8                // events of one socket that are taken at a time
	laneLength  = 32               // envelopes that wait in one
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
	l := &listener{p: p, handle: handle, seed: maphash.MakeSeed(), since: p.o.Now()}
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
	seed    maphash.Seed
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
			if sleep(ctx, back+rand.N(back/2)) != nil {
				break
			}
			back = min(2*back, backMost)
			continue
		}
		since := l.p.o.Now()
		l.serve(ctx, s)
		if l.p.o.Now().Sub(since) > steady {
			back = backFirst
		} else if sleep(ctx, back+rand.N(back/2)) == nil {
			back = min(2*back, backMost) // it does not hold
		}
	}
	return nil
}

// hopeless reports whether a refusal of apps.connections.open stays one.
func hopeless(err error) bool {
	var api *APIError
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
	raw, err := l.p.client.callAs(ctx, l.p.o.AppToken, methodOpen, nil)
	if err != nil {
		return nil, err
	}
	var answer struct {
		URL string `json:"url"`
	}
	if json.Unmarshal(raw, &answer) != nil {
		return nil, fmt.Errorf("%s: %w", methodOpen, ErrAnswer)
	}
	at, err := url.Parse(answer.URL)
	if err != nil || at.Host == "" || at.Scheme != "wss" && (at.Scheme != "ws" || !strings.HasPrefix(l.p.o.APIURL, "http://")) {
		return nil, fmt.Errorf("%s: %w: its URL is not of a socket", methodOpen, ErrAnswer)
	}
	dialer := websocket.Dialer{HandshakeTimeout: helloTime, Proxy: http.ProxyFromEnvironment}
	conn, response, err := dialer.DialContext(ctx, answer.URL, nil)
	if response != nil && response.Body != nil {
		response.Body.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("socket: %w", hide(err, ticket(answer.URL, at)...))
	}
	s := &socket{l: l, conn: conn, renew: make(chan struct{}), retired: make(chan struct{})}
	if err := s.hello(); err != nil {
		_ = conn.Close() // of no use any more
		return nil, err
	}
	l.p.o.Log.Info("a socket is up")
	l.comeUp()
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

// A socket is one connection that has said hello.
type socket struct {
	l       *listener
	conn    *websocket.Conn
	writing sync.Mutex // one writer at a time

	renew   chan struct{} // closed when Slack announces its end
	retired chan struct{} // closed when another has taken its place

	mu     sync.Mutex // guards ending and the read deadline
	ending bool
}

// An envelope is one message of a socket.
type envelope struct {
	Type    string          `json:"type"` // hello, disconnect, events_api, …
	ID      string          `json:"envelope_id"`
	Reason  string          `json:"reason"` // of a disconnect: warning, refresh_requested, link_disabled
	Payload json.RawMessage `json:"payload"`
}

// hello waits for the first word.
func (s *socket) hello() error {
	s.conn.SetReadLimit(maxEnvelope)
	s.alive(helloTime)
	var e envelope
	if err := s.conn.ReadJSON(&e); err != nil {
		return fmt.Errorf("socket: %w", hide(err))
	}
	if e.Type != "hello" {
		return fmt.Errorf("socket: slack said %s and not hello", word(e.Type, "_"))
	}
	// Slack pings; both its pings and its pongs to ours are signs of life.
	s.conn.SetPingHandler(func(data string) error {
		s.alive(silence)
		// A write that fails is seen by whoever reads next.
		_ = s.conn.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(writeTime))
		return nil
	})
	s.conn.SetPongHandler(func(string) error {
		s.alive(silence)
		return nil
	})
	s.alive(silence)
	return nil
}

// alive gives the connection so long until it counts as dead.
func (s *socket) alive(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ending {
		// The error is a closed connection's, which reading tells too.
		_ = s.conn.SetReadDeadline(time.Now().Add(d))
	}
}

// end stops the reading. What was read can still be acknowledged.
func (s *socket) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ending = true
	_ = s.conn.SetReadDeadline(time.Unix(1, 0)) // as above
}

// run reads until the connection ends, ctx ends, or the socket was retired and
// has had its time. What it has read by then is taken and acknowledged.
func (s *socket) run(ctx context.Context) {
	over, cancel := context.WithCancel(ctx)
	var working sync.WaitGroup
	working.Go(func() { s.mind(over) })
	queues := make([]chan envelope, lanes)
	var taking sync.WaitGroup
	for i := range queues {
		queues[i] = make(chan envelope, laneLength)
		taking.Go(func() {
			for e := range queues[i] {
				s.take(ctx, e)
			}
		})
	}
	renewed := false
	for {
		var e envelope
		_, data, err := s.conn.ReadMessage()
		if err != nil {
			if ctx.Err() == nil {
				s.l.p.o.Log.Debug("a socket ended", "err", hide(err))
			}
			break
		}
		s.alive(silence)
		if json.Unmarshal(data, &e) != nil {
			s.l.p.o.Log.Warn("a word on the socket is no JSON")
			continue
		}
		if e.Type == "disconnect" {
			s.l.p.o.Log.Info("slack renews a socket", "reason", word(e.Reason, "_"))
			if !renewed {
				renewed = true
				close(s.renew)
			}
			continue
		}
		if e.ID == "" {
			continue
		}
		queues[s.lane(e)] <- e
	}
	for _, q := range queues {
		close(q)
	}
	taking.Wait()
	cancel()
	working.Wait()
	// Slack does not always answer a farewell: nothing is waited for.
	bye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	_ = s.conn.WriteControl(websocket.CloseMessage, bye, time.Now().Add(time.Second))
	_ = s.conn.Close() // what was to be said is said
}

// mind pings, and ends the connection when it is to end.
func (s *socket) mind(ctx context.Context) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	retired := s.retired
	var drained <-chan time.Time
	for {
		select {
		case <-tick.C:
			// A write that fails is seen by who reads.
			_ = s.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeTime))
		case <-retired:
			retired = nil
			t := time.NewTimer(drainTime)
			defer t.Stop()
			drained = t.C
		case <-drained:
			s.end()
			return
		case <-ctx.Done():
			s.end()
			return
		}
	}
}

// lane chooses the queue of an envelope: those of one channel share it.
func (s *socket) lane(e envelope) int {
	var x struct {
		Event struct {
			Channel json.RawMessage `json:"channel"`
		} `json:"event"`
	}
	_ = json.Unmarshal(e.Payload, &x) // whatever cannot be read shares a lane
	return int(maphash.Bytes(s.l.seed, x.Event.Channel) % lanes)
}

// take takes an envelope and acknowledges it, empty, once it is durable. What
// is not acknowledged comes again.
func (s *socket) take(ctx context.Context, e envelope) {
	p := s.l.p
	if e.Type == "events_api" {
		c, err := slackmsg.ReadCallback(e.Payload)
		if err != nil {
			p.o.Log.Warn("a delivery cannot be read", "err", err)
		} else {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), takeTime)
			err = p.take(ctx, c, e.Payload, s.l.handle)
			cancel()
			if err != nil {
				p.o.Log.Error("an event was not kept; Slack sends it again", "delivery", c.ID, "err", err)
				return
			}
		}
	} else {
		p.heard.count(e.Type, false, p.o.Now()) // slash_commands, interactive: not ours
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	_ = s.conn.SetWriteDeadline(time.Now().Add(writeTime))
	if err := s.conn.WriteJSON(map[string]string{"envelope_id": e.ID}); err != nil {
		p.o.Log.Debug("an event is not acknowledged; Slack sends it again", "err", hide(err))
	}
}
