package gateway

import (
	"cmp"
	"encoding/json"
	"net/url"
	"runtime"
	"strconv"
	"strings"
)

// Opcodes of the gateway (Opcodes and Status Codes, Gateway Opcodes).
const (
	opDispatch       = 0
	opHeartbeat      = 1
	opIdentify       = 2
	opResume         = 6
	opReconnect      = 7
	opInvalidSession = 9
	opHello          = 10
	opHeartbeatACK   = 11
)

// A payload is one message of the gateway. Each field is read by itself, so that a
// mistyped one costs only itself.
type payload struct {
	Op   int
	Data json.RawMessage
	Seq  int64 // below 0 where there is none
	Type string
}

// decodePayload decodes a payload; ok is false for what is none.
func decodePayload(raw []byte) (p payload, ok bool) {
	var x struct {
		Op   *int            `json:"op"`
		Data json.RawMessage `json:"d"`
		Seq  json.RawMessage `json:"s"`
		Type json.RawMessage `json:"t"`
	}
	if json.Unmarshal(raw, &x) != nil || x.Op == nil {
		return payload{}, false
	}
	p = payload{Op: *x.Op, Data: x.Data, Seq: -1}
	_ = json.Unmarshal(x.Seq, &p.Seq)   // none stays below 0
	_ = json.Unmarshal(x.Type, &p.Type) // none stays empty
	return p, true
}

// A command is what a shard sends.
type command struct {
	Op   int `json:"op"`
	Data any `json:"d"`
}

// An identify begins a session.
type identify struct {
	Token      string            `json:"token"`
	Properties map[string]string `json:"properties"`
	Shard      [2]int            `json:"shard"`
	Intents    int64             `json:"intents"`
}

func newIdentify(o Options, intents int64) command {
	return command{opIdentify, identify{
		Token:      o.Token.Reveal(),
		Properties: map[string]string{"os": runtime.GOOS, "browser": "earshot", "device": "earshot"},
		Shard:      [2]int{o.ID, o.Of},
		Intents:    intents,
	}}
}

// A resume continues a session.
type resume struct {
	Token    string `json:"token"`
	Session  string `json:"session_id"`
	Sequence int64  `json:"seq"`
}

// ready is the part of READY that a shard needs.
type ready struct {
	Session string `json:"session_id"`
	URL     string `json:"resume_gateway_url"`
}

// deliveryID names an event.
func deliveryID(session string, seq int64) string {
	return session + ":" + strconv.FormatInt(seq, 10)
}

// connectURL returns the URL to connect to; ok is false for what is none.
func connectURL(base string) (string, bool) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "wss" && u.Scheme != "ws" {
		return "", false
	}
	u.Path = cmp.Or(u.Path, "/")
	q := u.Query()
	q.Set("v", "10")
	q.Set("encoding", "json")
	u.RawQuery = q.Encode()
	return u.String(), true
}

// isSecure reports whether a URL is of an encrypted connection.
func isSecure(u string) bool { return strings.HasPrefix(u, "wss:") }
