package simulate

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

const (
	maxSockets = 10     // open connections of an app
	maxAnswer  = 20_000 // bytes from which a frame of the app is dropped without a word
)

// A socket is an open Socket Mode connection.
type socket struct {
	conn    *websocket.Conn
	closed  chan struct{}
	writing sync.Mutex // guards writes to conn

	leaving bool // a disconnect message was sent; guarded by the Slack's mutex, as acks is
	acks    map[string]chan json.RawMessage
}

// connectionsOpen answers apps.connections.open with an address that works
// once.
func (s *Slack) connectionsOpen(*request) (object, error) {
	if !s.o.SocketMode {
		return nil, fail("not_allowed_token_type")
	}
	ticket := s.uuid()
	s.tickets[ticket] = true
	return object{"url": strings.Replace(s.host.URL, "http", "ws", 1) + "/link/?ticket=" + ticket + "&app_id=" + s.o.App.ID}, nil
}

// serveSocket takes a connection for its ticket, says hello, and reads
// acknowledgements until either side ends it.
func (s *Slack) serveSocket(w http.ResponseWriter, h *http.Request) {
	ticket := h.URL.Query().Get("ticket")
	s.mu.Lock()
	valid := s.tickets[ticket] && !s.removed && s.host.Life.Err() == nil
	delete(s.tickets, ticket)
	s.mu.Unlock()
	if !valid {
		http.Error(w, "invalid ticket", http.StatusForbidden)
		return
	}
	// Clients name an origin of Slack's; the ticket is what entitles them.
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn, err := up.Upgrade(w, h, nil)
	if err != nil {
		return // Upgrade has answered
	}
	c := &socket{conn: conn, closed: make(chan struct{}), acks: map[string]chan json.RawMessage{}}
	s.mu.Lock()
	if s.host.Life.Err() != nil {
		s.mu.Unlock()
		c.end()
		return
	}
	full := len(s.sockets) >= maxSockets
	if !full {
		s.sockets = append(s.sockets, c)
		s.host.Happened()
	}
	n := len(s.sockets)
	s.o.Log.Info("socket opened", "open", n, "refused", full)
	s.host.Busy.Add(1)
	s.mu.Unlock()
	defer s.host.Busy.Done()
	defer c.end()
	if full {
		c.send(s.goodbye("too_many_websockets"))
		return
	}
	defer s.unlink(c)
	c.send(object{
		"type": "hello", "num_connections": n, "connection_info": object{"app_id": s.o.App.ID},
		"debug_info": object{"host": "applink-simulated", "build_number": 1, "approximate_connection_time": 18060},
	})
	s.host.Busy.Go(func() { s.ping(c) })
	s.listen(c)
}

func (s *Slack) goodbye(reason string) object {
	return object{"type": "disconnect", "reason": reason, "debug_info": object{"host": "applink-simulated"}}
}

// send writes a frame. A connection that has ended shows when it is read.
func (c *socket) send(frame object) {
	body, err := json.Marshal(frame)
	check(err) // frames are made of JSON values
	c.writing.Lock()
	defer c.writing.Unlock()
	_ = c.conn.WriteMessage(websocket.TextMessage, body)
}

// ping keeps the connection alive, as clients expect it.
func (s *Slack) ping(c *socket) {
	t := time.NewTicker(s.o.PingEvery)
	defer t.Stop()
	for {
		c.writing.Lock()
		_ = c.conn.WriteControl(websocket.PingMessage, []byte("Ping from applink-simulated"), time.Now().Add(time.Second))
		c.writing.Unlock()
		select {
		case <-t.C:
		case <-c.closed:
			return
		}
	}
}

// listen reads acknowledgements.
func (s *Slack) listen(c *socket) {
	for {
		_, frame, err := c.conn.ReadMessage()
		if err != nil {
			return
		}
		var ack struct {
			ID      string          `json:"envelope_id"`
			Payload json.RawMessage `json:"payload"`
		}
		if len(frame) >= maxAnswer || json.Unmarshal(frame, &ack) != nil {
			continue
		}
		s.mu.Lock()
		if done, ok := c.acks[ack.ID]; ok {
			done <- ack.Payload
			delete(c.acks, ack.ID)
		}
		s.mu.Unlock()
	}
}

// end closes the connection. Only its own server goroutine calls it.
func (c *socket) end() {
	close(c.closed)
	_ = c.conn.Close()
}

// unlink takes a connection that has ended out of the list.
func (s *Slack) unlink(c *socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sockets = slices.DeleteFunc(s.sockets, func(o *socket) bool { return o == c })
	s.host.Happened()
	s.o.Log.Info("socket closed", "open", len(s.sockets))
}

// push sends d to one of the connections and waits for its acknowledgement.
// Where there is none, an event that comes for the first time is lost: nothing
// is kept for later.
func (s *Slack) push(d *delivery) (outcome string, retry bool) {
	s.mu.Lock()
	tries, reason := d.tries, ""
	if tries > 1 {
		reason = "timeout"
	}
	s.mu.Unlock()
	outcome, _ = s.ask(object{
		"payload": json.RawMessage(d.body), "type": "events_api", "accepts_response_payload": false,
		"retry_attempt": tries - 1, "retry_reason": reason,
	}, d.cut && tries == 1)
	switch outcome {
	case "acked", "closed":
		return outcome, false
	case "no connection":
		return outcome, tries > 1
	}
	return outcome, true
}

// ask sends a frame to one of the connections, which breaks then where cut is set, and waits
// for its acknowledgement, with what that holds.
func (s *Slack) ask(frame object, cut bool) (outcome string, answer json.RawMessage) {
	s = cmp.Or(s.hub, s)
	s.mu.Lock()
	open := slices.DeleteFunc(slices.Clone(s.sockets), func(c *socket) bool { return c.leaving })
	if len(open) == 0 {
		open = slices.Clone(s.sockets)
	}
	if len(open) == 0 {
		s.mu.Unlock()
		return "no connection", nil
	}
	c := open[s.rng.IntN(len(open))]
	id, acked := s.uuid(), make(chan json.RawMessage, 1)
	c.acks[id] = acked
	s.mu.Unlock()
	frame["envelope_id"] = id
	c.send(frame)
	if cut {
		_ = c.conn.UnderlyingConn().Close()
	}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(c.acks, id)
	}()
	t := time.NewTimer(s.o.AckWithin)
	defer t.Stop()
	select {
	case answer = <-acked:
		return "acked", answer
	case <-t.C:
		return "timeout", nil
	case <-c.closed:
		return "connection closed", nil
	case <-s.host.Life.Done():
		return "closed", nil
	}
}

// Connections returns how many sockets are open.
func (s *Slack) Connections() int {
	s = cmp.Or(s.hub, s)
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sockets)
}

// Disconnect announces the end of the oldest socket, which then comes after DrainFor
// for "warning" and "refresh_requested", and at once for "link_disabled". Events go
// to the other sockets from now on, where there are any.
func (s *Slack) Disconnect(reason string) {
	reason = cmp.Or(reason, "refresh_requested")
	s.mu.Lock()
	var c *socket
	for _, o := range s.sockets {
		if !o.leaving {
			c = o
			break
		}
	}
	if c != nil {
		c.leaving = true
	}
	s.mu.Unlock()
	if c == nil {
		return
	}
	c.send(s.goodbye(reason))
	wait := s.o.DrainFor
	if reason == "link_disabled" {
		wait = 0
	}
	s.host.After(wait, func() { _ = c.conn.Close() })
}

// Cut breaks all sockets without a close message, as a broken network does.
func (s *Slack) Cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.sockets {
		_ = c.conn.UnderlyingConn().Close()
	}
}
