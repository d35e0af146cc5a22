package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/earshot-ai/earshot/platform/discord/internal/gateway"
	"github.com/earshot-ai/earshot/secret"
)

const token = "canary-token-8c1"

// A world is a shard with Discord's side of it, in a synctest bubble.
type world struct {
	t      *testing.T
	peers  chan *peer // connections that were opened
	events chan gateway.Dispatch
	missed chan [2]time.Time
	shard  *gateway.Shard
	log    *strings.Builder
	stop   context.CancelFunc
	ended  chan error

	mu     sync.Mutex // guards what follows
	refuse bool       // connections
	dialed []string
}

// refuses sets whether connections are refused, and forgets those that were dialed.
func (w *world) refuses(refuse bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refuse, w.dialed = refuse, nil
}

// dial notes a connection; ok is false where it is refused.
func (w *world) dial(at string) (ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dialed = append(w.dialed, at)
	return !w.refuse
}

// pass lets time pass, on the bubble's clock.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// play runs a test in a bubble, with a shard that runs. change sets its options.
func play(t *testing.T, change func(o *gateway.Options), test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{
			t: t, peers: make(chan *peer, 10), events: make(chan gateway.Dispatch, 10_000), missed: make(chan [2]time.Time, 1000),
			log: &strings.Builder{}, ended: make(chan error, 1),
		}
		l := &listener{conns: make(chan net.Conn), closed: make(chan struct{})}
		server := &http.Server{Handler: http.HandlerFunc(w.upgrade)}
		serving := make(chan struct{})
		go func() {
			defer close(serving)
			_ = server.Serve(l)
		}()
		o := gateway.Options{
			URL:     func(context.Context) (string, error) { return "ws://gateway.test", nil },
			Token:   secret.New(token),
			Intents: 1<<15 | 1,
			Content: 1 << 15,
			Handle: func(_ context.Context, d gateway.Dispatch) error {
				w.events <- d
				return nil
			},
			Missed: func(from, to time.Time) { w.missed <- [2]time.Time{from, to} },
			Dialer: &websocket.Dialer{NetDialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
				if !w.dial(address) {
					return nil, errors.New("refused for " + token)
				}
				return l.dial(ctx)
			}},
			Jitter: func(most time.Duration) time.Duration { return most / 2 },
			Log:    slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		}
		if change != nil {
			change(&o)
		}
		w.shard = gateway.New(o)
		ctx, cancel := context.WithCancel(t.Context())
		w.stop = cancel
		go func() { w.ended <- w.shard.Run(ctx) }()
		test(w)
		cancel()
		synctest.Wait()
		_ = server.Close()
		<-serving
		close(w.peers)
		for p := range w.peers {
			_ = p.ws.Close()
		}
		synctest.Wait()
		if strings.Contains(w.log.String(), token) {
			t.Errorf("the log shows the token:\n%s", w.log)
		}
	})
}

func (w *world) upgrade(rw http.ResponseWriter, r *http.Request) {
	up := websocket.Upgrader{}
	ws, err := up.Upgrade(rw, r, nil)
	if err != nil {
		return
	}
	p := &peer{t: w.t, ws: ws, query: r.URL.RawQuery, host: r.Host, in: make(chan sent, 100), writing: make(chan struct{}, 1)}
	w.peers <- p
	p.read()
}

// sent is what a shard sends.
type sent struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
}

// A peer is Discord's end of a connection.
type peer struct {
	t       *testing.T
	ws      *websocket.Conn
	query   string
	host    string
	in      chan sent
	code    int           // with which the shard closed it
	writing chan struct{} // a semaphore of one, which a bubble's clock does not wait for
}

func (p *peer) read() {
	defer close(p.in)
	for {
		_, raw, err := p.ws.ReadMessage()
		if err != nil {
			var c *websocket.CloseError
			if errors.As(err, &c) {
				p.code = c.Code
			}
			_ = p.ws.Close()
			return
		}
		var s sent
		if json.Unmarshal(raw, &s) != nil {
			p.t.Errorf("the shard sent %q", raw)
		}
		p.in <- s
	}
}

func (p *peer) write(text string) {
	p.writing <- struct{}{}
	defer func() { <-p.writing }()
	_ = p.ws.WriteMessage(websocket.TextMessage, []byte(text))
}

func (p *peer) hello() { p.write(`{"op":10,"d":{"heartbeat_interval":40000}}`) }
func (p *peer) ack()   { p.write(`{"op":11}`) }

func (p *peer) ready(session string) {
	p.write(`{"op":0,"t":"READY","s":1,"d":{"v":10,"session_id":"` + session + `","resume_gateway_url":"ws://resume.test","user":{"id":"1"}}}`)
}

func (p *peer) event(seq, id string) {
	p.write(`{"op":0,"t":"MESSAGE_CREATE","s":` + seq + `,"d":{"id":"` + id + `"}}`)
}

func (p *peer) closeWith(code int) {
	_ = p.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(time.Second))
	for range p.in { // the shard answers
	}
}

// expect returns the next command, which must be of a kind; heartbeats are
// acknowledged and passed over, unless they are what is expected.
func (p *peer) expect(op int) sent {
	p.t.Helper()
	for s := range p.in {
		if s.Op == op {
			return s
		}
		if s.Op != 1 {
			p.t.Fatalf("the shard sent op %d, want %d", s.Op, op)
		}
		p.ack()
	}
	p.t.Fatalf("the shard closed the connection, want op %d", op)
	return sent{}
}

// next returns the next connection.
func (w *world) next() *peer {
	w.t.Helper()
	select {
	case p := <-w.peers:
		return p
	case err := <-w.ended:
		w.t.Fatalf("the shard ended: %v", err)
	case <-time.After(time.Hour):
		w.t.Fatal("the shard does not connect")
	}
	return nil
}

// identified returns a connection with a session.
func (w *world) identified(session string) *peer {
	w.t.Helper()
	p := w.next()
	p.hello()
	p.expect(2)
	p.ready(session)
	if d := <-w.events; d.Type != "READY" {
		w.t.Fatalf("the first event is %s, want READY", d.Type)
	}
	return p
}

// resumed returns a connection on which the session was continued after a sequence.
func (w *world) resumed(session string, seq int64) *peer {
	w.t.Helper()
	p := w.next()
	p.hello()
	s := p.expect(6)
	var x struct {
		Token    string `json:"token"`
		Session  string `json:"session_id"`
		Sequence int64  `json:"seq"`
	}
	if err := json.Unmarshal(s.Data, &x); err != nil {
		w.t.Fatal(err)
	}
	if x.Token != token || x.Session != session || x.Sequence != seq {
		w.t.Fatalf("resume has session %q and sequence %d, want %q and %d", x.Session, x.Sequence, session, seq)
	}
	return p
}

// A listener accepts connections in memory.
type listener struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func (l *listener) dial(ctx context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case l.conns <- far:
		return near, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *listener) Addr() net.Addr { return &net.TCPAddr{} }
