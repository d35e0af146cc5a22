package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/hostile"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/sidecar/api"
	"github.com/earshot-ai/earshot/internal/sidecar/mcp"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/store"
)

var (
	hostileCalls = flag.Int("hostile.calls", 2_000, "how many calls TestHostileCallsThroughEveryTransport makes")
	hostileFrom  = flag.Uint64("hostile.from", 18, "the seed that they come from")
)

// A crowd is a sidecar with the channels of package hostile, and a caller of each kind
// for each of them.
type crowd struct {
	service  *sidecar.Service
	reader   *explain.Reader
	api, mcp http.Handler
	scopes   []earshot.Scope
	callers  []crowdCaller // of each channel a key, a capability and, of the first of a workspace, a key of that
	first    int           // of the callers, the first of the channel with index 0
	turns    map[int]earshot.TurnID
}

// A crowdCaller is who calls, and how far they reach.
type crowdCaller struct {
	bearer    string
	principal access.Principal
	words     *regexp.Regexp // the canaries that it may read
	wide      bool
}

// newCrowd returns one with the channels of these indexes, stored in this order.
func newCrowd(t *testing.T, indexes ...int) *crowd {
	t.Helper()
	ctx := t.Context()
	st, err := store.Open(ctx, "memory:", nil)
	must(t, err)
	t.Cleanup(func() { _ = st.Close() })
	gate, err := access.Open(st, access.Options{Rates: access.Rates{Principal: access.Rate{PerSecond: -1}, Channel: access.Rate{PerSecond: -1}}})
	must(t, err)
	service := sidecar.New(st, search.New(st, nil), gate, sidecar.Options{})
	reader := explain.New(st, search.New(st, nil), explain.Options{})
	c := &crowd{service: service, reader: reader, scopes: hostile.Scopes(), turns: map[int]earshot.TurnID{}, api: api.New(api.Options{Service: service, Reader: reader, Gate: gate, Version: "test"}), mcp: mcp.New(mcp.Options{Service: service, Reader: reader, Gate: gate, Version: "test"})}
	add := func(bearer, words string, wide bool) {
		p, err := gate.Authenticate(ctx, bearer)
		must(t, err)
		c.callers = append(c.callers, crowdCaller{bearer, p, regexp.MustCompile("^" + words + "$"), wide})
	}
	key := func(spec access.KeySpec) string {
		spec.Name = fmt.Sprint("key ", len(c.callers))
		secret, _, err := access.CreateKey(ctx, st, spec)
		must(t, err)
		return secret.Reveal()
	}
	for _, i := range indexes {
		s := c.scopes[i]
		if i == 0 {
			c.first = len(c.callers)
		}
		c.turns[i] = sow(t, st, s, hostile.Canary(i))
		one := key(access.KeySpec{Workspaces: []earshot.WorkspaceID{s.Workspace}, Channels: []earshot.ChannelID{s.Channel}, ReadOnly: i%2 == 0})
		add(one, hostile.Canary(i), false)
		conversation := earshot.ConversationID{Agent: "U0BOT", Scope: s, Name: "m0"}
		p, err := gate.Authenticate(ctx, one)
		must(t, err)
		capability, err := gate.Mint(ctx, p, access.CapabilityScope{Scope: s, Conversation: conversation, At: earshot.Position{Time: began + 7*second, ID: "m7"}})
		must(t, err)
		add(capability, hostile.Canary(i), false)
		if i%hostile.PerWorkspace == 0 {
			add(key(access.KeySpec{Workspaces: []earshot.WorkspaceID{s.Workspace}}), strings.TrimSuffix(hostile.Canary(i), "0")+`\d+`, true)
		}
	}
	return c
}

const (
	began  = earshot.Time(1_772_442_000_000_000)
	second = earshot.Time(1_000_000)
)

// sow says the same in every channel but for the word, and has a question that
// waits for its answer there.
func sow(t *testing.T, st earshot.Store, s earshot.Scope, word string) earshot.TurnID {
	t.Helper()
	ctx := t.Context()
	must(t, st.PutChannel(ctx, earshot.Channel{Platform: s.Platform, Workspace: s.Workspace, ID: s.Channel, Name: word + " deploys", Topic: word + " topic", Kind: earshot.KindChannel}))
	must(t, st.PutAuthors(ctx, s.Platform, s.Workspace, earshot.Author{ID: "U0BOT", Name: "earshot", Kind: earshot.Bot}))
	var list []earshot.Message
	for i := range 10 {
		m := earshot.Message{
			ID: earshot.MessageID(fmt.Sprintf("m%d", i)), Time: began + earshot.Time(i)*second, Author: earshot.Author{ID: earshot.AuthorID(fmt.Sprintf("U%d", i%3)), Name: "Alice", Kind: earshot.Human},
			Text: fmt.Sprintf("%s says deploy %d", word, i), Files: []earshot.File{{ID: earshot.ArtifactID(fmt.Sprintf("F%d", i)), Name: word + " file.png", Type: "image/png", Size: 10}},
		}
		if i > 0 && i < 6 {
			m.Thread = "m0"
		}
		list = append(list, m)
	}
	_, err := st.Record(ctx, s, list...)
	must(t, err)
	conversation := earshot.ConversationID{Agent: "U0BOT", Scope: s, Name: "m0"}
	asked := earshot.Message{ID: "q1", Time: began + 20*second, Author: earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}, Text: "<@U0BOT> deploy " + word + " now?", Thread: "m0"}
	a, err := st.Accept(ctx, s, earshot.Event{Delivery: "d", Received: asked.Time, Message: asked}, &conversation)
	must(t, err)
	if a.Turn == 0 {
		t.Fatal("no turn")
	}
	return a.Turn
}

// canaries are the words of channels in an answer.
var canaries = regexp.MustCompile(`canary(\d+x\d+)?`)

// check fails the test where an answer has a word of another channel, or an error of
// ours, and reports whether it has a word of the caller's own.
func (k crowdCaller) check(t *testing.T, asked, answer string) bool {
	t.Helper()
	found := canaries.FindAllString(answer, -1)
	for _, word := range found {
		if !k.words.MatchString(word) {
			t.Fatalf("%s\nas %s shows %s:\n%s", asked, k.words, word, answer)
		}
	}
	return len(found) > 0
}

// serve sends a request, and returns status, header and body as one text.
func serve(t *testing.T, h http.Handler, k crowdCaller, path, body string) (int, string) {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
	req.Host = "127.0.0.1"
	req.Header.Set("Authorization", "Bearer "+k.bearer)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	var head strings.Builder
	_ = w.Result().Header.Write(&head)
	return w.Code, head.String() + w.Body.String()
}

// TestHostileCallsThroughEveryTransport makes the calls of package hostile, of which
// package tools makes 100,000 in Go, through HTTP and MCP too, with one-channel keys,
// capabilities and keys of a workspace: no answer, header or error has a word of a
// channel that the caller does not reach. `.ci/run hostile` makes 100,000.
func TestHostileCallsThroughEveryTransport(t *testing.T) {
	t.Parallel()
	calls := *hostileCalls
	if testing.Short() {
		calls = min(calls, 1_000)
	}
	var all []int
	for i := range hostile.Scopes() {
		all = append(all, i)
	}
	c := newCrowd(t, all...)
	rng := rand.New(rand.NewPCG(27, *hostileFrom))
	streams := map[int]*stream{}
	made, told := map[string]int{}, map[string]int{}
	for range calls {
		n := rng.IntN(len(c.callers))
		k := c.callers[n]
		tool, args := hostile.Call(rng, c.scopes[rng.IntN(len(c.scopes))])
		over := []string{"http", "mcp", "stdio"}[min(rng.IntN(10)/5+rng.IntN(100)/90, 2)]
		if k.wide {
			tool, args = atDesk(rng, c.scopes[rng.IntN(len(c.scopes))], tool, args)
		}
		var status int
		var got string
		switch over {
		case "http":
			status, got = serve(t, c.api, k, "/v1/tools/"+tool, args)
		case "mcp":
			status, got = serve(t, c.mcp, k, mcp.Path, toolsCall(tool, args))
		case "stdio":
			if streams[n] == nil {
				streams[n] = c.open(t, k)
			}
			got = streams[n].ask(t, toolsCall(tool, args))
		}
		asked := over + " " + tool + " " + args
		if status >= 500 || strings.Contains(got, "-32603") {
			t.Fatalf("%.2000s\nfails: %d %s", asked, status, got)
		}
		made[over]++
		if k.check(t, asked, got) {
			told[over]++
		}
	}
	t.Logf("%d channels, %d callers, %d calls (%v), %v of them found something", len(c.scopes), len(c.callers), calls, made, told)
	for _, over := range []string{"http", "mcp", "stdio"} {
		if told[over] < made[over]/10 || made[over] < calls/40 {
			t.Errorf("only %d of %d calls found something over %s", told[over], made[over], over)
		}
	}
}

// toolsCall is the message that calls a tool.
func toolsCall(tool, args string) string {
	name, _ := json.Marshal(tool) //nolint:errchkjson // a string
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":` + string(name) + `,"arguments":` + args + `}}`
}

// atDesk makes a call of a desk tool that reaches for o, or leaves the call as it is.
func atDesk(rng *rand.Rand, o earshot.Scope, tool, args string) (string, string) {
	at := fmt.Sprintf(`"channel":%q,"workspace":%q`, o.Channel, o.Workspace)
	if rng.IntN(3) == 0 {
		at = fmt.Sprintf(`"channel":%q`, o.Channel)
	}
	switch rng.IntN(8) {
	case 0:
		return mcp.ListChannels, fmt.Sprintf(`{"name":%q}`, []string{"", "canary", string(o.Channel), "deploys"}[rng.IntN(4)])
	case 1:
		return mcp.GetContext, fmt.Sprintf(`{%s,"message":"m%d","agent":"U0BOT"}`, at, rng.IntN(12))
	case 2:
		return mcp.ExplainTurn, fmt.Sprintf(`{"turn":%d,"prompt":true}`, rng.IntN(60))
	case 3:
		return mcp.ExplainTurn, fmt.Sprintf(`{%s,"message":"q1"}`, at)
	case 4:
		return mcp.Search, fmt.Sprintf(`{"intent":"deploy %s","workspace":%q}`, hostile.Canary(rng.IntN(hostile.Workspaces*hostile.PerWorkspace)), o.Workspace)
	case 5, 6:
		return mcp.Search, fmt.Sprintf(`{%s,"intent":"deploy %s"}`, at, hostile.Canary(rng.IntN(hostile.Workspaces*hostile.PerWorkspace)))
	}
	return tool, args
}

// A stream is a client of mcp.Serve.
type stream struct {
	to   io.Writer
	from *bufio.Scanner
}

// open serves a caller on two streams, as earshot mcp --stdio does, and greets the
// server.
func (c *crowd) open(t *testing.T, k crowdCaller) *stream {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- mcp.Serve(ctx, c.service, c.reader, k.principal, "test", in, out, nil)
	}()
	t.Cleanup(func() {
		stop()
		_, _ = toServer.Close(), fromServer.Close()
		if err := <-ended; err != nil {
			t.Errorf("mcp.Serve: %v", err)
		}
	})
	s := &stream{toServer, bufio.NewScanner(fromServer)}
	s.from.Buffer(nil, 4<<20)
	s.ask(t, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	_, err := io.WriteString(s.to, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	must(t, err)
	return s
}

// ask sends a line and returns the line that answers it.
func (s *stream) ask(t *testing.T, line string) string {
	t.Helper()
	_, err := io.WriteString(s.to, strings.ReplaceAll(line, "\n", " ")+"\n")
	must(t, err)
	if !s.from.Scan() {
		t.Fatalf("the stream ended after %.500s: %v", line, s.from.Err())
	}
	return s.from.Text()
}
