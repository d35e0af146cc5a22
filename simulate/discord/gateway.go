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

// Opcodes.
const (
	opDispatch       = 0
	opHeartbeat      = 1
	opIdentify       = 2
	opPresence       = 3
	opVoice          = 4
	opResume         = 6
	opReconnect      = 7
	opRequestMembers = 8
	opInvalidSession = 9
	opHello          = 10
	opAck            = 11
)

// Close codes.
const (
	closeUnknownOpcode   = 4001
	closeDecode          = 4002
	closeNotIdentified   = 4003
	closeBadToken        = 4004
	closeTwice           = 4005
	closeBadSequence     = 4007
	closeTooFast         = 4008
	closeTimedOut        = 4009
	closeBadShard        = 4010
	closeBadIntents      = 4013
	closeRefusedIntents  = 4014
	framesAMinute        = 120
	maxFrame             = 4096 // bytes of what a bot sends
	heartbeatsUntilGone  = 3    // halves of the interval
	settleAgain          = 20 * time.Millisecond
	writeWithin          = 10 * time.Second
	closeUnknown         = 4000
	closeGoneAway        = websocket.CloseGoingAway
	closeNormal          = websocket.CloseNormalClosure
	resumableInvalidText = "resumable"
)

var closeReasons = map[int]string{
	closeUnknownOpcode: "Unknown opcode.", closeDecode: "Error while decoding payload.", closeNotIdentified: "Not authenticated.",
	closeBadToken: "Authentication failed.", closeTwice: "Already authenticated.", closeBadSequence: "Invalid seq.",
	closeTooFast: "Rate limited.", closeTimedOut: "Session timed out.", closeBadShard: "Invalid shard.",
	closeBadIntents: "Invalid intent(s).", closeRefusedIntents: "Disallowed intent(s).", closeUnknown: "Unknown error.",
}

// A socket is an open connection to the gateway.
type socket struct {
	conn   *websocket.Conn
	zip    *zlib.Writer // nil where the bot did not ask for compression
	zipped bytes.Buffer
	closed chan struct{} // closed when reading ends
	silent chan struct{} // closed when writing ends

	mu    sync.Mutex // guards queue and leave; may be taken while the Discord's is held
	queue [][]byte
	leave *closing
	ready chan struct{} // one token when there may be something to do

	// Guarded by the Discord's mutex.
	session *session
	mute    bool // a zombie: it sends nothing more
	asked   bool // a heartbeat was asked for and has not come
	got     []time.Time
}

// A closing says how a socket ends once what was queued is sent.
type closing struct {
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
	if s.ctx.Err() != nil {
		s.mu.Unlock()
		_ = conn.Close()
		return
	}
	s.sockets = append(s.sockets, c)
	s.o.Log.Info("socket opened", "open", len(s.sockets))
	s.busy.Add(1)
	s.send(c, object{"op": opHello, "s": nil, "t": nil, "d": object{"heartbeat_interval": s.o.Heartbeat.Milliseconds(), "_trace": []any{"simulated"}}})
	s.happened()
	s.mu.Unlock()
	defer s.busy.Done()
	s.busy.Go(func() { c.write() })
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
		c.leave = &closing{code}
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

// A received is a frame that a bot sent.
type received struct {
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
		s.happened()
		s.mu.Unlock()
	}
}

// obey carries out one frame. The code is that of closing the socket, 0 for none.
func (s *Discord) obey(c *socket, body []byte) int {
	var f received
	if len(body) > maxFrame || json.Unmarshal(body, &f) != nil || f.Op == nil {
		return closeDecode
	}
	now := s.o.Now()
	c.got = slices.DeleteFunc(c.got, func(at time.Time) bool { return now.Sub(at) >= time.Minute })
	if c.got = append(c.got, now); len(c.got) > framesAMinute && !s.o.Unlimited {
		return closeTooFast
	}
	switch *f.Op {
	case opHeartbeat:
		return s.heartbeat(c, f.D)
	case opIdentify:
		return s.identify(c, f.D)
	case opResume:
		return s.resuming(c, f.D)
	case opPresence, opVoice, opRequestMembers:
		if c.session == nil {
			return closeNotIdentified
		}
		if *f.Op == opRequestMembers {
			s.chunk(c.session, f.D)
		}
		return 0
	}
	return closeUnknownOpcode
}

// heartbeat acknowledges one. It tells the last sequence that the bot has received.
func (s *Discord) heartbeat(c *socket, d json.RawMessage) int {
	var seq int64
	_ = json.Unmarshal(d, &seq) // null before the first event
	if c.session != nil && seq > c.session.seq {
		return closeBadSequence
	}
	if f := s.strike("HEARTBEAT", onSocket); f != nil {
		if !s.misfortune(c, f) {
			return 0
		}
	}
	if c.session != nil {
		c.session.seen = max(c.session.seen, seq)
	}
	c.asked = false
	s.send(c, object{"op": opAck, "s": nil, "t": nil, "d": nil})
	return 0
}

// misfortune lets a socket meet a fault, and reports whether what was asked is done
// all the same.
func (s *Discord) misfortune(c *socket, f *fault) bool {
	switch f.Kind {
	case Zombie:
		c.mute = true
		return false
	case InvalidSession:
		s.invalidate(c, f.Error == resumableInvalidText)
		return false
	case CloseSocket:
		c.end(f.code())
		return false
	case ForgetSessions:
		for _, x := range s.sessions {
			x.invalid = true
		}
	}
	return true
}

// invalidate tells a bot that its session is invalid.
func (s *Discord) invalidate(c *socket, resumable bool) {
	s.send(c, object{"op": opInvalidSession, "s": nil, "t": nil, "d": resumable})
	if x := c.session; x != nil {
		x.socket, c.session = nil, nil
		if !resumable {
			s.forget(x)
		}
	}
}

// identify begins a session.
func (s *Discord) identify(c *socket, d json.RawMessage) int {
	var ask struct {
		Token      string         `json:"token"`
		Intents    *int           `json:"intents"`
		Shard      []int          `json:"shard"`
		Properties map[string]any `json:"properties"`
	}
	switch {
	case json.Unmarshal(d, &ask) != nil || ask.Properties == nil:
		return closeDecode
	case c.session != nil:
		return closeTwice
	case ask.Token != s.o.App.Token:
		return closeBadToken
	case ask.Intents == nil || *ask.Intents&^allIntents != 0:
		return closeBadIntents
	case s.o.NoMessageContent && *ask.Intents&contentIntent != 0,
		s.o.NoMembers && *ask.Intents&membersIntent != 0,
		s.o.NoPresences && *ask.Intents&presencesIntent != 0:
		return closeRefusedIntents
	}
	shard, shards := 0, 1
	if ask.Shard != nil {
		if len(ask.Shard) != 2 || ask.Shard[0] < 0 || ask.Shard[0] >= ask.Shard[1] {
			return closeBadShard
		}
		shard, shards = ask.Shard[0], ask.Shard[1]
	}
	if f := s.strike("IDENTIFY", onSocket); f != nil && !s.misfortune(c, f) {
		return 0
	}
	now := s.o.Now()
	if !s.identified.IsZero() && now.Sub(s.identified) < s.o.IdentifyEvery {
		s.invalidate(c, false)
		return 0
	}
	s.identified = now
	s.identifies++
	s.begin(c, *ask.Intents, shard, shards)
	s.o.Log.Info("identified", "shard", shard, "intents", *ask.Intents)
	return 0
}

// resuming continues a session.
func (s *Discord) resuming(c *socket, d json.RawMessage) int {
	var ask struct {
		Token   string `json:"token"`
		Session string `json:"session_id"`
		Seq     int64  `json:"seq"`
	}
	switch {
	case json.Unmarshal(d, &ask) != nil:
		return closeDecode
	case c.session != nil:
		return closeTwice
	case ask.Token != s.o.App.Token:
		return closeBadToken
	}
	if f := s.strike("RESUME", onSocket); f != nil && !s.misfortune(c, f) {
		return 0
	}
	ok, code := s.resume(c, ask.Session, ask.Seq)
	s.o.Log.Info("resumed", "ok", ok, "sequence", ask.Seq)
	if !ok && code == 0 {
		s.invalidate(c, false)
	}
	return code
}

// chunk answers a request for members.
func (s *Discord) chunk(x *session, d json.RawMessage) {
	var ask struct {
		Guild string `json:"guild_id"`
		Users any    `json:"user_ids"`
		Query string `json:"query"`
		Nonce string `json:"nonce"`
	}
	if json.Unmarshal(d, &ask) != nil || s.guild(ask.Guild) == nil {
		return
	}
	ids, some := ask.Users.([]any)
	if id, ok := ask.Users.(string); ok {
		ids, some = []any{id}, true
	}
	if !some && ask.Query == "" && x.intents&membersIntent == 0 {
		return
	}
	members := []any{}
	for _, m := range s.guild(ask.Guild).members {
		u := s.user(m.User)
		if some && !slices.Contains(ids, any(m.User)) || u == nil || !some && !hasPrefixFold(u.Name, ask.Query) {
			continue
		}
		members = append(members, s.fullMember(m))
	}
	o := object{"guild_id": ask.Guild, "members": members, "chunk_index": 0, "chunk_count": 1, "not_found": []any{}}
	if ask.Nonce != "" {
		o["nonce"] = ask.Nonce
	}
	s.direct(x, "GUILD_MEMBERS_CHUNK", o)
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
	s.happened()
	s.o.Log.Info("socket closed", "open", len(s.sockets), "code", code)
}
