package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/earshot-ai/earshot/platform/slack/slackapi"
	"github.com/earshot-ai/earshot/platform/slack/slackmsg"
)

// Times and bounds of a socket.
const (
	silence     = 45 * time.Second // without a word or ping of Slack's: the socket is dead
	pingEvery   = 15 * time.Second
	writeTime   = 10 * time.Second
	drainTime   = 30 * time.Second // that an old socket gets to end by itself
	maxEnvelope = 4 << 20          // bytes
	lanes       = 8                // events of one socket that are taken at a time
	laneLength  = 32               // envelopes that wait in one
)

// A socket is one connection that has said hello.
type socket struct {
	l       *listener
	conn    *websocket.Conn
	writing sync.Mutex // one writer at a time

	early   []envelope    // that came before the hello
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
	// Answerable says that the acknowledgement may hold an answer.
	Answerable bool `json:"accepts_response_payload"`

	came time.Time // when it was read
}

// hello waits for Slack's hello, and keeps what comes before it.
func (s *socket) hello() error {
	s.conn.SetReadLimit(maxEnvelope)
	s.alive(helloTime)
	for {
		var e envelope
		if err := s.conn.ReadJSON(&e); err != nil {
			return fmt.Errorf("socket: %w", slackapi.Hide(err))
		}
		if e.Type == "hello" {
			break
		}
		if e.ID == "" || len(s.early) >= laneLength {
			return fmt.Errorf("socket: slack said %s and not hello", slackapi.Word(e.Type, "_"))
		}
		e.came = s.l.p.o.Now()
		s.early = append(s.early, e)
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
	for _, e := range s.early {
		queues[s.lane(e)] <- e
	}
	renewed := false
	for {
		var e envelope
		_, data, err := s.conn.ReadMessage()
		if err != nil {
			if ctx.Err() == nil {
				s.l.p.o.Log.Debug("a socket ended", "err", slackapi.Hide(err))
			}
			break
		}
		s.alive(silence)
		if json.Unmarshal(data, &e) != nil {
			s.l.p.o.Log.Warn("a word on the socket is no JSON")
			continue
		}
		if e.Type == "disconnect" {
			s.l.p.o.Log.Info("slack renews a socket", "reason", slackapi.Word(e.Reason, "_"))
			if !renewed {
				renewed = true
				close(s.renew)
			}
			continue
		}
		if e.ID == "" {
			continue
		}
		e.came = s.l.p.o.Now()
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
	return int(crc32.ChecksumIEEE(x.Event.Channel) % lanes)
}

// take takes an envelope and acknowledges it once it is durable, empty but for a
// slash command. What is not acknowledged comes again.
func (s *socket) take(ctx context.Context, e envelope) {
	p := s.l.p
	ack := map[string]any{"envelope_id": e.ID}
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
	} else if answer := p.other(e); answer != nil {
		ack["payload"] = answer
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	_ = s.conn.SetWriteDeadline(time.Now().Add(writeTime))
	if err := s.conn.WriteJSON(ack); err != nil {
		p.o.Log.Debug("an event is not acknowledged; Slack sends it again", "err", slackapi.Hide(err))
		return
	}
	if e.Type == "events_api" {
		p.o.Acknowledged(p.o.Now().Sub(e.came))
	}
}
