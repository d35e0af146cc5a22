package discord

import (
	"bytes"
	"encoding/json"
	"slices"
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

// obey carries out one frame. The code is that of closing the socket, 0 for none.
func (s *Discord) obey(c *socket, body []byte) int {
	var f receivedFrame
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

// chunkSize is how many members a chunk has at most.
const chunkSize = 1000

// chunk answers a request for members: by their ids, or by the beginning of a name, in
// chunks of 1,000. All members are for bots with the intent of members.
func (s *Discord) chunk(x *session, d json.RawMessage) {
	var ask struct {
		Guild     any    `json:"guild_id"`
		Users     any    `json:"user_ids"`
		Query     string `json:"query"`
		Limit     int    `json:"limit"`
		Presences bool   `json:"presences"`
		Nonce     string `json:"nonce"`
	}
	decoder := json.NewDecoder(bytes.NewReader(d))
	decoder.UseNumber()
	if decoder.Decode(&ask) != nil {
		return
	}
	g := s.guild(idOf(ask.Guild))
	if g.member(s.o.App.UserID) == nil {
		return
	}
	list, some := ask.Users.([]any)
	if id := idOf(ask.Users); id != "" {
		list, some = []any{id}, true
	}
	var ids []string
	for _, v := range list[:min(len(list), 100)] {
		ids = append(ids, idOf(v))
	}
	if !some && ask.Query == "" && x.intents&membersIntent == 0 {
		return
	}
	var members, missing []any
	for _, m := range g.members {
		full := ask.Limit > 0 && !some && len(members) >= min(ask.Limit, 100)
		if some && slices.Contains(ids, m.User) || !some && !full && s.named(m, ask.Query) {
			members = append(members, s.fullMember(m))
		}
	}
	for _, id := range ids {
		if g.member(id) == nil {
			missing = append(missing, id)
		}
	}
	count := max(1, (len(members)+chunkSize-1)/chunkSize)
	for i := range count {
		o := object{
			"guild_id": g.ID, "members": append([]any{}, members[i*chunkSize:min(len(members), (i+1)*chunkSize)]...),
			"chunk_index": i, "chunk_count": count,
		}
		if some {
			o["not_found"] = append([]any{}, missing...)
		}
		if ask.Presences {
			o["presences"] = []any{}
		}
		if ask.Nonce != "" && len(ask.Nonce) <= 32 {
			o["nonce"] = ask.Nonce
		}
		s.direct(x, "GUILD_MEMBERS_CHUNK", o)
	}
}
