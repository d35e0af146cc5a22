package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/earshot-ai/earshot/secret"
)

// Bounds of one connection.
const (
	helloTime  = 20 * time.Second // to Discord's hello
	readyTime  = time.Minute      // from identify or resume to the first event
	writeTime  = 10 * time.Second
	maxPayload = 32 << 20  // a larger one is skipped
	maxMessage = 256 << 20 // a larger one ends the connection
	minBeat    = 100 * time.Millisecond
	maxBeat    = 10 * time.Minute
)

var (
	errZombie    = errors.New("the gateway does not acknowledge heartbeats")
	errSilent    = errors.New("the gateway does not answer identify or resume")
	errReconnect = errors.New("discord asks for a new connection")
	errNoHello   = errors.New("the gateway did not say hello")
	errNotReady  = errors.New("READY names no session")
)

// An invalidError says that Discord does not accept the session.
type invalidError struct{ resumable bool }

func (e *invalidError) Error() string {
	return fmt.Sprintf("discord does not accept the session (resumable: %t)", e.resumable)
}

// A connection is one connection of a run. What is not guarded belongs to the
// goroutine that reads.
type connection struct {
	r    *shardRun
	conn *websocket.Conn

	resumed  bool // resume was sent
	begun    bool // READY or RESUMED came
	progress bool // an event came
	hello    bool
	asked    chan struct{} // Discord asks for a heartbeat

	writing chan struct{} // a semaphore of one

	mu       sync.Mutex // guards what follows
	acked    bool       // the last heartbeat, or none was due
	full     bool       // nothing is read, because the queue is full
	silent   bool       // no event came yet
	sequence int64      // of the last event
	cause    error      // why the connection is ended from here
}

func newConnection(r *shardRun, conn *websocket.Conn) *connection {
	return &connection{
		r: r, conn: conn, asked: make(chan struct{}, 1), writing: make(chan struct{}, 1),
		acked: true, silent: true, sequence: r.place.Sequence,
	}
}

// run reads until the connection ends, and returns why.
func (c *connection) run(ctx context.Context) error {
	over, cancel := context.WithCancel(ctx)
	var beating sync.WaitGroup
	interval := make(chan time.Duration, 1)
	beating.Go(func() { c.beat(over, interval) })
	c.conn.SetReadLimit(maxMessage)
	_ = c.conn.SetReadDeadline(time.Now().Add(helloTime)) // the read fails where this does
	err := c.readAll(ctx, interval)
	cancel()
	beating.Wait()
	_ = c.conn.Close() // nothing more is written
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause != nil {
		return c.cause
	}
	return hideSecret(err, c.r.o.Token)
}

// readAll takes payloads until one ends the connection, or reading fails.
func (c *connection) readAll(ctx context.Context, interval chan<- time.Duration) error {
	for {
		raw, err := c.next()
		if err != nil {
			return err
		}
		if c.begun {
			c.r.alive = c.r.o.Now()
		}
		p, ok := decodePayload(raw)
		if !ok {
			c.r.o.Log.Warn("a message of the gateway is skipped: it is no payload, or too large", "bytes", len(raw))
			continue
		}
		if err := c.take(ctx, p, interval); err != nil {
			c.end(err)
			return err
		}
	}
}

// next reads a message. One that is too large is returned in part.
func (c *connection) next() ([]byte, error) {
	_, from, err := c.conn.NextReader()
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(from, maxPayload))
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(io.Discard, from)
	return raw, err
}

// take acts on one payload. An error ends the connection.
func (c *connection) take(ctx context.Context, p payload, interval chan<- time.Duration) error {
	switch p.Op {
	case opHello:
		return c.greet(p, interval)
	case opHeartbeat:
		select {
		case c.asked <- struct{}{}:
		default: // one is due already
		}
	case opHeartbeatACK:
		c.mu.Lock()
		c.acked = true
		c.mu.Unlock()
	case opReconnect:
		return errReconnect
	case opInvalidSession:
		var resumable bool
		_ = json.Unmarshal(p.Data, &resumable) // what cannot be read is not resumable
		return &invalidError{resumable && c.r.place.Session != ""}
	case opDispatch:
		return c.dispatch(ctx, p)
	}
	return nil
}

// greet answers hello: it starts the heartbeat, and continues the session or begins
// one.
func (c *connection) greet(p payload, interval chan<- time.Duration) error {
	if c.hello {
		return nil
	}
	var hello struct {
		Interval float64 `json:"heartbeat_interval"` // milliseconds
	}
	if json.Unmarshal(p.Data, &hello) != nil || hello.Interval <= 0 {
		return errNoHello
	}
	c.hello = true
	_ = c.conn.SetReadDeadline(time.Time{}) // heartbeats tell from now on whether it is alive
	interval <- min(max(time.Duration(hello.Interval*float64(time.Millisecond)), minBeat), maxBeat)
	if place := c.r.place; place.Session != "" {
		c.resumed = true
		return c.send(command{opResume, resume{c.r.o.Token.Reveal(), place.Session, place.Sequence}})
	}
	c.r.granted = false
	return c.send(newIdentify(c.r.o, c.r.intents))
}

// dispatch queues an event.
func (c *connection) dispatch(ctx context.Context, p payload) error {
	r, now := c.r, c.r.o.Now()
	if p.Type == "" || p.Seq < 0 {
		r.o.Log.Warn("an event is skipped: it names no type or no sequence")
		return nil
	}
	switch p.Type {
	case "READY":
		var x ready
		_ = json.Unmarshal(p.Data, &x) // a field of another kind costs itself
		if x.Session == "" {
			return errNotReady
		}
		r.place = State{Session: x.Session, URL: x.URL, Intents: r.intents}
		c.start(now)
		if r.losing {
			r.losing = false
			r.o.Missed(r.lost, now)
		}
		r.o.Up()
	case "RESUMED":
		c.start(now)
		r.o.Up()
	default:
		if r.place.Session == "" {
			r.o.Log.Warn("an event comes before READY: it is skipped", "type", p.Type)
			return nil
		}
	}
	c.progress = true
	r.place.Sequence = max(r.place.Sequence, p.Seq)
	r.place.At = now
	c.mu.Lock()
	c.sequence, c.silent = r.place.Sequence, false
	c.mu.Unlock()
	if p.Type == "RESUMED" {
		return nil
	}
	d := Dispatch{
		Type: p.Type, Data: p.Data, Shard: r.o.ID, State: r.place,
		Delivery: deliveryID(r.place.Session, p.Seq), Received: now,
	}
	if r.o.Beside(p.Type) {
		r.q.handleBeside(ctx, d)
		return nil
	}
	return c.queue(ctx, d)
}

// start records that the session goes on, or has begun.
func (c *connection) start(now time.Time) {
	c.begun = true
	c.r.alive = now
	c.r.s.up()
	c.r.o.Log.Info("a gateway session is up", "resumed", c.resumed)
}

// queue hands an event to those who handle it. Where too many wait, nothing is read
// until there is room: acknowledgements of heartbeats are not seen then, so they are
// not missed either. Heartbeats go on. Should Discord close the connection, the
// session is resumed.
func (c *connection) queue(ctx context.Context, d Dispatch) error {
	if c.r.q.offer(d) {
		return nil
	}
	c.r.o.Log.Warn("events are handled too slowly: no more are read for now")
	c.setFull(true)
	defer c.setFull(false)
	return c.r.q.put(ctx, d)
}

func (c *connection) setFull(full bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.full = full
	c.acked = true // from the next heartbeat on, it is looked for
}

// beat sends heartbeats, and ends the connection when Discord acknowledges none, when
// it does not answer, and when ctx ends.
func (c *connection) beat(ctx context.Context, interval <-chan time.Duration) {
	var every time.Duration
	select {
	case every = <-interval:
	case <-ctx.Done():
		c.end(nil)
		return
	}
	// The first one at a random time, so that not all bots send theirs at the same
	// moment after an outage of Discord.
	tick := time.NewTimer(c.r.o.Jitter(every))
	defer tick.Stop()
	answer := time.NewTimer(readyTime)
	defer answer.Stop()
	for {
		select {
		case <-tick.C:
			if !c.due() {
				c.end(errZombie)
				return
			}
			tick.Reset(every)
			c.heartbeat()
		case <-c.asked:
			c.heartbeat()
		case <-answer.C:
			if c.unanswered() {
				c.end(errSilent)
				return
			}
		case <-ctx.Done():
			c.end(nil)
			return
		}
	}
}

// due records that a heartbeat is due; ok is false where the last one was not
// acknowledged.
func (c *connection) due() (ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ok = c.acked || c.full
	c.acked = false
	return ok
}

func (c *connection) unanswered() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.silent && !c.full
}

// heartbeat sends one. Where that fails, the read fails too.
func (c *connection) heartbeat() {
	c.mu.Lock()
	seq := c.sequence
	c.mu.Unlock()
	var data any // null before the first event
	if seq > 0 {
		data = seq
	}
	_ = c.send(command{opHeartbeat, data})
}

// send writes a command.
func (c *connection) send(x command) error {
	c.writing <- struct{}{} // not for longer than writeTime
	defer func() { <-c.writing }()
	_ = c.conn.SetWriteDeadline(time.Now().Add(writeTime)) // the write fails where this does
	return c.conn.WriteJSON(x)
}

// end closes the connection so that the session can be resumed. The first cause
// counts.
func (c *connection) end(cause error) {
	c.mu.Lock()
	if c.cause == nil {
		c.cause = cause
	}
	c.mu.Unlock()
	bye := websocket.FormatCloseMessage(leaving, "")
	_ = c.conn.WriteControl(websocket.CloseMessage, bye, time.Now().Add(time.Second))
	_ = c.conn.Close() // ends the read
}

// hideSecret removes a secret from the text of an error. errors.Is and errors.As still find
// what it wraps.
func hideSecret(err error, s secret.Secret) error {
	if err == nil || s.Empty() || !strings.Contains(err.Error(), s.Reveal()) {
		return err
	}
	return hiddenError{strings.ReplaceAll(err.Error(), s.Reveal(), secret.Hidden), err}
}

// hiddenError is an error whose text is another's.
type hiddenError struct {
	text string
	err  error
}

func (h hiddenError) Error() string { return h.text }
func (h hiddenError) Unwrap() error { return h.err }
