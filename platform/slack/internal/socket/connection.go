package socket

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/earshot-ai/earshot/platform/slack/slackapi"
	"github.com/earshot-ai/earshot/secret"
)

// Bounds of a connection.
const (
	silence     = 45 * time.Second // without a message or ping of Slack's a connection counts as dead
	pingEvery   = 15 * time.Second
	writeTime   = 10 * time.Second
	drainTime   = 30 * time.Second // for which a replaced connection may still bring envelopes
	maxEnvelope = 4 << 20          // bytes
	workers     = 8                // envelopes of one connection that are taken at a time
	queueLength = 32               // envelopes that wait for one worker
	takeTime    = 10 * time.Second // for one envelope
)

// A connection is one that Slack has said hello on.
type connection struct {
	l       *listener
	conn    *websocket.Conn
	writing sync.Mutex     // one writer at a time
	after   sync.WaitGroup // what acknowledged envelopes leave to do

	early    []Envelope    // that came before the hello
	renew    chan struct{} // closed when Slack announces the connection's end
	replaced chan struct{} // closed when another connection has taken its place

	mu     sync.Mutex // guards ending and the read deadline
	ending bool
}

// An Envelope is one message of Slack's on a connection.
type Envelope struct {
	Type    string          `json:"type"` // hello, disconnect, events_api, …
	ID      string          `json:"envelope_id"`
	Reason  string          `json:"reason"` // of a disconnect: warning, refresh_requested, link_disabled
	Payload json.RawMessage `json:"payload"`
	// Answerable says that the acknowledgement may hold an answer.
	Answerable bool `json:"accepts_response_payload"`

	readAt time.Time
}

// An Answer is what becomes of an envelope. The zero Answer is a plain acknowledgement.
type Answer struct {
	Payload any // of the acknowledgement; nil: none
	// Then is called after the acknowledgement, beside what is taken meanwhile. Its ctx
	// outlives the connection, by ten seconds at most. nil: nothing is left to do.
	Then func(ctx context.Context)
}

// hello waits for Slack's hello, and keeps what comes before it.
func (s *connection) hello() error {
	s.conn.SetReadLimit(maxEnvelope)
	s.alive(helloTime)
	for {
		var e Envelope
		if err := s.conn.ReadJSON(&e); err != nil {
			return fmt.Errorf("socket: %w", secret.Hide(err))
		}
		if e.Type == "hello" {
			break
		}
		if e.ID == "" || len(s.early) >= queueLength {
			return fmt.Errorf("socket: slack said %s and not hello", slackapi.SafeWord(e.Type, "_"))
		}
		e.readAt = s.l.o.Now()
		s.early = append(s.early, e)
	}
	// Both Slack's pings and its pongs show that the connection is alive.
	s.conn.SetPingHandler(func(data string) error {
		s.alive(silence)
		// The next read fails where this write does.
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

// alive sets after what time of silence the connection counts as dead.
func (s *connection) alive(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ending {
		// On a closed connection this fails, and so does the next read.
		_ = s.conn.SetReadDeadline(time.Now().Add(d))
	}
}

// end stops the reading. What was read can still be acknowledged.
func (s *connection) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ending = true
	_ = s.conn.SetReadDeadline(time.Unix(1, 0)) // as above
}

// run reads until the connection ends, ctx ends, or the connection was replaced
// and drainTime is over. What was read by then is taken and acknowledged.
func (s *connection) run(ctx context.Context) {
	over, cancel := context.WithCancel(ctx)
	var working sync.WaitGroup
	working.Go(func() { s.watch(over) })
	queues := make([]chan Envelope, workers)
	var taking sync.WaitGroup
	for i := range queues {
		queues[i] = make(chan Envelope, queueLength)
		taking.Go(func() {
			for e := range queues[i] {
				s.take(ctx, e)
			}
		})
	}
	for _, e := range s.early {
		queues[workerIndex(e)] <- e
	}
	renewed := false
	for {
		var e Envelope
		_, data, err := s.conn.ReadMessage()
		if err != nil {
			if ctx.Err() == nil {
				s.l.o.Log.Debug("a socket ended", "err", secret.Hide(err))
			}
			break
		}
		s.alive(silence)
		if json.Unmarshal(data, &e) != nil {
			s.l.o.Log.Warn("a message on the socket is no JSON")
			continue
		}
		if e.Type == "disconnect" {
			s.l.o.Log.Info("slack renews a socket", "reason", slackapi.SafeWord(e.Reason, "_"))
			if !renewed {
				renewed = true
				close(s.renew)
			}
			continue
		}
		if e.ID == "" {
			continue
		}
		e.readAt = s.l.o.Now()
		queues[workerIndex(e)] <- e
	}
	for _, q := range queues {
		close(q)
	}
	taking.Wait()
	s.after.Wait()
	cancel()
	working.Wait()
	// Slack does not always answer a close message: its answer is not waited for.
	bye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	_ = s.conn.WriteControl(websocket.CloseMessage, bye, time.Now().Add(time.Second))
	_ = s.conn.Close() // everything was written
}

// watch sends pings, and ends the connection once it is drained or ctx ends.
func (s *connection) watch(ctx context.Context) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	replaced := s.replaced
	var drained <-chan time.Time
	for {
		select {
		case <-tick.C:
			// The reader sees a connection on which writing fails.
			_ = s.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeTime))
		case <-replaced:
			replaced = nil
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

// workerIndex returns which worker takes an envelope: those of one channel have the same,
// so that they are taken in order, and so have the interactions of one person.
func workerIndex(e Envelope) int {
	var x struct {
		Event struct {
			Channel json.RawMessage `json:"channel"`
		} `json:"event"`
		User struct {
			ID string `json:"id"`
		} `json:"user"`
	}
	_ = json.Unmarshal(e.Payload, &x) // what cannot be read has neither
	return int(crc32.ChecksumIEEE(append(x.Event.Channel, x.User.ID...)) % workers)
}

// finish does what an acknowledged envelope leaves to do.
func (s *connection) finish(ctx context.Context, then func(context.Context)) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), takeTime)
	defer cancel()
	then(ctx)
}

// take takes an envelope and acknowledges it.
func (s *connection) take(ctx context.Context, e Envelope) {
	soon, cancel := context.WithTimeout(context.WithoutCancel(ctx), takeTime)
	answer, ok := s.l.o.Take(soon, e)
	cancel()
	if !ok {
		return
	}
	ack := map[string]any{"envelope_id": e.ID}
	if answer.Payload != nil {
		ack["payload"] = answer.Payload
	}
	if answer.Then != nil {
		defer s.after.Go(func() { s.finish(ctx, answer.Then) })
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	_ = s.conn.SetWriteDeadline(time.Now().Add(writeTime))
	if err := s.conn.WriteJSON(ack); err != nil {
		s.l.o.Log.Debug("an event is not acknowledged; Slack sends it again", "err", secret.Hide(err))
		return
	}
	if e.Type == "events_api" {
		s.l.o.Acknowledged(s.l.o.Now().Sub(e.readAt))
	}
}
