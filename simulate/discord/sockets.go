package discord

import (
	"bytes"
	"compress/zlib"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// A socket is an open connection to the gateway.
type socket struct {
	conn   *websocket.Conn
	zip    *zlib.Writer // nil where the bot did not ask for compression
	zipped bytes.Buffer
	closed chan struct{} // closed when reading ends
	silent chan struct{} // closed when writing ends

	mu    sync.Mutex // guards queue and leave; may be taken while the Discord's is held
	queue [][]byte
	leave *socketClosing
	ready chan struct{} // one token when there may be something to do

	// Guarded by the Discord's mutex.
	session *session
	mute    bool // a zombie: it sends nothing more
	asked   bool // a heartbeat was asked for and has not come
	got     []time.Time
}

// A socketClosing says how a socket ends once what was queued is sent.
type socketClosing struct {
	code int // 0 breaks it without a word
}

// serveSocket takes a connection, says hello, and obeys until either side ends it.
func (s *Discord) serveSocket(w http.ResponseWriter, h *http.Request) {
	if h.URL.Query().Get("encoding") == "etf" {
		http.Error(w, "only encoding=json is here", http.StatusBadRequest)
		return
	}
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn, err := up.Upgrade(w, h, nil)
	if err != nil {
		return // Upgrade has answered
	}
	c := &socket{conn: conn, closed: make(chan struct{}), silent: make(chan struct{}), ready: make(chan struct{}, 1)}
	if h.URL.Query().Get("compress") == "zlib-stream" {
		c.zip = zlib.NewWriter(&c.zipped)
	}
	s.mu.Lock()
	if s.host.Life.Err() != nil {
		s.mu.Unlock()
		_ = conn.Close()
		return
	}
	s.sockets = append(s.sockets, c)
	s.o.Log.Info("socket opened", "open", len(s.sockets))
	s.host.Busy.Add(1)
	s.send(c, object{"op": opHello, "s": nil, "t": nil, "d": object{"heartbeat_interval": s.o.Heartbeat.Milliseconds(), "_trace": []any{"simulated"}}})
	s.host.Happened()
	s.mu.Unlock()
	defer s.host.Busy.Done()
	s.host.Busy.Go(func() { c.write() })
	code := s.listen(c)
	close(c.closed)
	_ = conn.Close()
	s.unlink(c, code)
}

// send queues a frame that is no event. A zombie sends nothing.
func (s *Discord) send(c *socket, frame object) {
	if c.mute {
		return
	}
	body, err := json.Marshal(frame)
	check(err) // frames are made of JSON values
	c.enqueue(body)
}

// enqueue hands a frame to the writer.
func (c *socket) enqueue(body []byte) {
	if c.mute {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leave == nil {
		c.queue = append(c.queue, body)
		c.wake()
	}
}

// end closes the socket with a code once what was queued is sent.
func (c *socket) end(code int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leave == nil {
		c.leave = &socketClosing{code}
		c.wake()
	}
}

// cut breaks the socket without a close message, as a broken network does.
func (c *socket) cut() { c.end(0) }

func (c *socket) wake() {
	select {
	case c.ready <- struct{}{}:
	default:
	}
}

// write sends what is queued until the connection ends. A connection that has ended
// shows when it is read.
func (c *socket) write() {
	defer close(c.silent)
	for {
		c.mu.Lock()
		queue, leave := c.queue, c.leave
		c.queue = nil
		c.mu.Unlock()
		for _, body := range queue {
			if c.put(body) != nil {
				_ = c.conn.Close()
				return
			}
		}
		if leave != nil {
			if leave.code != 0 {
				_ = c.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(leave.code, closeReasons[leave.code]), time.Now().Add(writeWithin))
			}
			_ = c.conn.UnderlyingConn().Close()
			return
		}
		select {
		case <-c.ready:
		case <-c.closed:
			return
		}
	}
}

// put writes one frame, compressed where the bot asked for it: one stream for the
// whole connection, flushed after each frame.
func (c *socket) put(body []byte) error {
	if err := c.conn.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
		return err
	}
	if c.zip == nil {
		return c.conn.WriteMessage(websocket.TextMessage, body)
	}
	c.zipped.Reset()
	if _, err := c.zip.Write(body); err != nil {
		return err
	}
	if err := c.zip.Flush(); err != nil {
		return err
	}
	return c.conn.WriteMessage(websocket.BinaryMessage, c.zipped.Bytes())
}

// A receivedFrame is a frame that a bot sent.
type receivedFrame struct {
	Op *int            `json:"op"`
	D  json.RawMessage `json:"d"`
}

// listen reads what the bot sends, and returns the code with which it closed, 0 for
// none.
func (s *Discord) listen(c *socket) int {
	c.conn.SetReadLimit(1 << 20)
	for {
		// Who sends no heartbeat is gone.
		_ = c.conn.SetReadDeadline(time.Now().Add(s.o.Heartbeat * heartbeatsUntilGone / 2))
		_, body, err := c.conn.ReadMessage()
		if err != nil {
			var gone *websocket.CloseError
			if errors.As(err, &gone) {
				return gone.Code
			}
			var slow interface{ Timeout() bool }
			if errors.As(err, &slow) && slow.Timeout() {
				c.end(closeTimedOut)
				<-c.silent // the close message is on its way
				s.mu.Lock()
				if c.session != nil {
					s.forget(c.session)
				}
				s.mu.Unlock()
			}
			return 0
		}
		s.mu.Lock()
		code := s.obey(c, body)
		if code != 0 {
			s.o.Log.Info("socket closed by the gateway", "code", code)
			c.end(code)
		}
		s.host.Happened()
		s.mu.Unlock()
	}
}

// unlink takes a connection that has ended out of the list. A bot that closes with
// 1000 or 1001 has given its session up.
func (s *Discord) unlink(c *socket, code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sockets = slices.DeleteFunc(s.sockets, func(o *socket) bool { return o == c })
	if x := c.session; x != nil {
		x.socket, c.session = nil, nil
		if code == closeNormal || code == closeGoneAway || x.invalid {
			s.forget(x)
		}
	}
	s.host.Happened()
	s.o.Log.Info("socket closed", "open", len(s.sockets), "code", code)
}
