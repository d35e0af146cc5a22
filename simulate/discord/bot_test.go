package discord_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/earshot-ai/earshot/simulate/discord"
	"github.com/earshot-ai/earshot/simulate/discord/openapi"
)

// allOf are the intents of guilds, members, messages, reactions, typing, direct
// messages and message content.
const allOf = 1<<0 | 1<<1 | 1<<9 | 1<<10 | 1<<11 | 1<<12 | 1<<13 | 1<<14 | 1<<15

type object = map[string]any

// A world is a fake Discord with what most tests need.
type world struct {
	*discord.Discord
	t                    *testing.T
	mara, sam, general   string
	own, token, guild    string
	apiAddress           string
	rules                *openapi.Validator
	lastStatus, lastCode int
	header               http.Header
}

// description is Discord's, nil where the test data is not there.
var description = sync.OnceValues(func() (*openapi.Validator, error) {
	root := os.Getenv("EARSHOT_TEST_DATA")
	if root == "" {
		return nil, nil
	}
	return openapi.Load(os.DirFS(root), "spec/discord-openapi.json")
})

// start starts a fake Discord. Where the test data is there, the answers of its API
// are compared with Discord's description.
func start(t *testing.T, o *discord.Options) *world {
	t.Helper()
	if o == nil {
		o = &discord.Options{Unlimited: true, IdentifyEvery: -1}
	}
	rules, err := description()
	if err != nil {
		t.Fatal(err)
	}
	s, err := discord.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &world{Discord: s, rules: rules, t: t, own: s.App().UserID, token: s.App().Token, guild: s.Guild(), apiAddress: s.APIURL()}
	w.mara = s.AddUser(discord.User{Name: "mara", GlobalName: "Mara Vos"})
	w.sam = s.AddUser(discord.User{Name: "sam", GlobalName: "Sam"})
	w.general = s.AddChannel(discord.Channel{Name: "general"})
	return w
}

// call makes one call, and returns its answer as JSON.
func (w *world) call(method, path string, body any) any {
	w.t.Helper()
	answer, err := w.try(method, path, body)
	if err != nil {
		w.t.Fatal(err)
	}
	return answer
}

func (w *world) try(method, path string, body any) (any, error) {
	w.t.Helper()
	var in io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			w.t.Fatal(err)
		}
		in = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.apiAddress+path, in)
	if err != nil {
		w.t.Fatal(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if w.token != "" {
		req.Header.Set("Authorization", "Bot "+w.token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	w.lastStatus, w.lastCode, w.header = res.StatusCode, 0, res.Header
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	var answer any
	if len(data) > 0 {
		if err := json.Unmarshal(data, &answer); err != nil {
			return nil, err
		}
	}
	if at, _, _ := strings.Cut(path, "?"); w.rules != nil && res.StatusCode < 300 {
		if err := w.rules.Answer(method, at, res.StatusCode, data); err != nil {
			w.t.Error(err)
		}
	}
	if o, ok := answer.(object); ok && res.StatusCode >= 400 {
		code, _ := o["code"].(float64)
		w.lastCode = int(code)
	}
	return answer, nil
}

// refused makes a call that must end with a status and a code.
func (w *world) refused(status, code int, method, path string, body any) any {
	w.t.Helper()
	answer := w.call(method, path, body)
	if w.lastStatus != status || w.lastCode != code {
		w.t.Errorf("%s %s ends with status %d, code %d, want %d, %d: %v", method, path, w.lastStatus, w.lastCode, status, code, answer)
	}
	return answer
}

// post posts as the bot and returns the message's id.
func (w *world) post(channel string, body object) string {
	w.t.Helper()
	o, _ := w.call("POST", "/channels/"+channel+"/messages", body).(object)
	id, _ := o["id"].(string)
	if id == "" {
		w.t.Fatalf("the post was refused: %v", o)
	}
	return id
}

// A payload is a frame of the gateway.
type payload struct {
	Op int             `json:"op"`
	T  string          `json:"t"`
	S  int64           `json:"s"`
	D  json.RawMessage `json:"d"`
}

func (p payload) data(t *testing.T) object {
	t.Helper()
	var o object
	if err := json.Unmarshal(p.D, &o); err != nil {
		t.Fatalf("%s: %v", p.D, err)
	}
	return o
}

// A gateway is a bot's connection to it.
type gateway struct {
	t    *testing.T
	conn *websocket.Conn
	seq  int64
	id   string // of the session
	at   string // where it resumes
}

func dial(t *testing.T, at string) *gateway {
	t.Helper()
	conn, res, err := websocket.DefaultDialer.DialContext(t.Context(), at+"?v=10&encoding=json", nil)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	t.Cleanup(func() { conn.Close() })
	g := &gateway{t: t, conn: conn}
	if p := g.read(); p.Op != 10 {
		t.Fatalf("the gateway says op %d, want Hello", p.Op)
	}
	return g
}

// connect identifies and reads until every guild is there.
func (w *world) connect(intents int) *gateway {
	w.t.Helper()
	g := dial(w.t, w.GatewayURL())
	g.identify(w.token, intents)
	ready := g.want("READY")
	g.id, g.at = ready["session_id"].(string), ready["resume_gateway_url"].(string)
	if intents&1 != 0 {
		for range ready["guilds"].([]any) {
			g.want("GUILD_CREATE")
		}
	}
	return g
}

func (g *gateway) identify(token string, intents int) {
	g.send(object{"op": 2, "d": object{"token": token, "intents": intents, "properties": object{"os": "linux", "browser": "test", "device": "test"}}})
}

func (g *gateway) send(frame object) {
	g.t.Helper()
	if err := g.conn.WriteJSON(frame); err != nil {
		g.t.Fatal(err)
	}
}

func (g *gateway) next() (payload, error) {
	if err := g.conn.SetReadDeadline(time.Now().Add(5 * time.Minute)); err != nil {
		return payload{}, err
	}
	var p payload
	err := g.conn.ReadJSON(&p)
	if p.S > 0 {
		g.seq = p.S
	}
	if err == nil && p.Op == 1 {
		err = g.conn.WriteJSON(object{"op": 1, "d": g.seq})
	}
	return p, err
}

func (g *gateway) read() payload {
	g.t.Helper()
	p, err := g.next()
	if err != nil {
		g.t.Fatal(err)
	}
	return p
}

// want reads the next event, which must be of this type. Acknowledgements and
// requests for a heartbeat are passed over.
func (g *gateway) want(kind string) object {
	g.t.Helper()
	for {
		p := g.read()
		if p.Op == 11 || p.Op == 1 {
			continue
		}
		if p.Op != 0 || p.T != kind {
			g.t.Fatalf("the gateway sends op %d %s %s, want %s", p.Op, p.T, p.D, kind)
		}
		if p.D == nil || string(p.D) == "null" {
			return nil
		}
		return p.data(g.t)
	}
}

// closed reads until the connection ends, and returns the close code; 0 for none.
func (g *gateway) closed() int {
	g.t.Helper()
	for {
		_, err := g.next()
		var c *websocket.CloseError
		switch {
		case err == nil:
		case errors.As(err, &c) && c.Code != websocket.CloseAbnormalClosure:
			return c.Code
		default:
			return 0
		}
	}
}

func (g *gateway) resume(token, session string, seq int64) {
	g.send(object{"op": 6, "d": object{"token": token, "session_id": session, "seq": seq}})
}

func path(parts ...string) string {
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return "/" + strings.Join(parts, "/")
}
