// Package gateway holds one shard's connection to Discord's gateway: [Shard.Run]
// connects, resumes after what ends a connection, begins a new session where that is
// not possible, and hands out events in order. What is in an event is the caller's
// concern.
//
//	gateway.go     what a shard is told, and what it tells
//	run.go         one connection after another: resume, identify, wait
//	connection.go  one connection: hello, heartbeat, read
//	payload.go     the JSON on it
//	queue.go       events that wait to be handled
//	identifies.go  how often shards may identify
//	close.go       what a shard stops for
package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/earshot-ai/earshot/platform/internal/settings"
	"github.com/earshot-ai/earshot/secret"
)

// A State is where a session continues. It is stored with the events, as JSON.
type State struct {
	Session  string    `json:"session"`
	Sequence int64     `json:"sequence"` // the last that was handled
	URL      string    `json:"url"`      // resume_gateway_url
	Intents  int64     `json:"intents"`  // of the session; 0 where it is not known
	At       time.Time `json:"at"`       // when that event was received
}

// A Dispatch is one event.
type Dispatch struct {
	Type  string          // such as MESSAGE_CREATE
	Data  json.RawMessage // d
	Shard int
	State State // where the session continues once this event is handled
	// Delivery names the event: session and sequence.
	Delivery string
	// Received is when it was read.
	Received time.Time
}

// Options configure a [Shard]. URL, Token and Handle are required.
type Options struct {
	URL     func(ctx context.Context) (string, error) // of the gateway, such as GET /gateway/bot has it
	Token   secret.Secret
	Intents int64
	// Content is the bit of Intents that is left out once Discord has refused it
	// (4014); Refused is then called. 0: none is left out.
	Content int64
	Refused func()
	ID, Of  int // the shard, and how many there are; Of 0 means 1
	// Resume is the place of an earlier process; zero: there was none. A session with
	// other intents is not resumed: it would go on without what is asked for now.
	Resume State
	// Handle is called for each event, one after another, in order, READY included.
	// After an error it is called with the same event again, after a while: none is
	// skipped. Events that wait for it are kept in memory, up to a bound; beyond it
	// the shard reads no more.
	Handle func(ctx context.Context, d Dispatch) error
	// Beside reports whether events of a type are handled beside the others: at once,
	// whatever waits, several at a time, and once. One for which there is no room, or that
	// fails, is lost. It is for what is of no use later. nil: none are.
	Beside func(kind string) bool
	// Missed is called with a time for which events are lost: that before the first
	// session of Run, and whenever a session could not be resumed. from is zero where
	// it is not known. It is called once the new session has begun, and must not
	// block. nil: not called.
	Missed func(from, to time.Time)
	// SignedOut is called when Discord no longer accepts a token with which a session was
	// begun before (4004); the shard then goes on asking, ever more rarely. nil: it ends.
	SignedOut func()
	// Up is called when events are received, for the first time or again, and after
	// Missed. It must not block. nil: not called.
	Up func()
	// Identify returns when the shard may identify: see [Identifies]. nil: always.
	Identify func(ctx context.Context) error
	Dialer   *websocket.Dialer // default: the network, by way of the environment's proxy
	Now      func() time.Time  // default: time.Now
	// Jitter returns a random time below most, which is above 0. Default: random.
	Jitter func(most time.Duration) time.Duration
	Log    *slog.Logger // nil discards
}

func (o Options) withDefaults() Options {
	o.Of = cmp.Or(o.Of, 1)
	if o.Refused == nil {
		o.Refused = func() {}
	}
	if o.Up == nil {
		o.Up = func() {}
	}
	if o.Beside == nil {
		o.Beside = func(string) bool { return false }
	}
	if o.Missed == nil {
		o.Missed = func(time.Time, time.Time) {}
	}
	if o.Identify == nil {
		o.Identify = func(context.Context) error { return nil }
	}
	settings.Or(&o.Dialer, &websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: helloTime})
	settings.Clock(&o.Now, &o.Jitter, &o.Log)
	o.Log = o.Log.With("shard", o.ID)
	return o
}

// A Shard is one shard's connection.
type Shard struct {
	o Options

	mu    sync.Mutex // guards what follows
	since time.Time  // when the last session was interrupted; zero while it goes on, and before Run
}

// New returns a shard that is not connected.
func New(o Options) *Shard { return &Shard{o: o.withDefaults()} }

// Down reports since when the shard receives no events; ok is false where it does,
// and before Run.
func (s *Shard) Down() (since time.Time, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.since, !s.since.IsZero()
}

// up and down record whether events are received.
func (s *Shard) up() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.since = time.Time{}
}

func (s *Shard) down(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since.IsZero() {
		s.since = now
	}
}

// Run connects and stays connected, until ctx ends or going on is useless: the error
// is then a [CloseError], or wraps discordapi.ErrToken, unless [Options.SignedOut] is for
// that. It returns after its
// goroutines have ended. Events that were read and not handled by then are delivered
// again where the session is resumed. Run is called once.
func (s *Shard) Run(ctx context.Context) error {
	q := newQueue(s.o)
	var working sync.WaitGroup
	working.Go(func() { q.work(ctx) })
	now := s.o.Now()
	s.down(now)
	r := &shardRun{s: s, o: s.o, q: q, place: s.o.Resume, alive: s.o.Resume.At, intents: s.o.Intents}
	switch asked := r.place.Intents; {
	case r.place.Session == "":
		r.lose(now)
	case asked != 0 && asked != r.intents:
		s.o.Log.Info("other intents are asked for than before: a new gateway session begins")
		r.lose(r.alive)
	}
	err := r.hold(ctx)
	q.close()
	working.Wait()
	q.beside.Wait()
	return err
}
