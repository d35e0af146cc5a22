package mcp_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/mcp"
	"github.com/earshot-ai/earshot/internal/sidecar/mcp/mcptest"
)

// Arguments that a schema does not have are refused, however they are written.
func TestLooseArgumentsAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct{ token, tool, args string }{
		{w.one, "channel_context", `{"intent":"lock","channel":"C2"}`},
		{w.one, "channel_context", `{"Intent":"lock"}`},
		{w.one, "channel_context", `{"intent":"x","intent":"lock"}`},
		{w.one, "channel_context", `{"intent":"x","\u0069ntent":"lock"}`},
		{w.one, "channel_context", `["lock"]`},
		{w.one, "channel_context", `"lock"`},
		{w.one, "channel_context", `{"intent":["lock"]}`},
		{w.one, "channel_messages", `{"message_ids":["1.000000"],"thread_id":"1.000000"}`},
		{w.capability, "channel_messages", `{"thread_id":"1.000000","at":"9.000000"}`},
		{w.team, mcp.Search, `{"channel":"C1","Channel":"C2","intent":"lock"}`},
		{w.team, mcp.Search, `{"channel":"C1","channel":"C2","intent":"lock"}`},
		{w.team, mcp.Search, `{"channel":["C1","C2"],"intent":"lock"}`},
		{w.team, mcp.Search, `{"query":"lock"}`},
		{w.team, mcp.Search, `{"channel":"C1"}`},
		{w.team, mcp.Search, `{"intent":"lock","until":"tomorrow"}`},
		{w.team, mcp.ListChannels, `{"cursor":"x"}`},
		{w.team, mcp.ListChannels, `{"limit":0}`},
		{w.team, mcp.ExplainTurn, `{"turn":1,"channel":"C1"}`},
		{w.team, mcp.ExplainTurn, `{"turn":-1}`},
		{w.team, mcp.ExplainTurn, `{"turn":"1"}`},
		{w.team, mcp.ExplainTurn, `{"turn":1e99}`},
		{w.team, mcp.GetContext, `{"channel":"C1","message":"last","budget":32001}`},
		{w.team, mcp.GetContext, `{"channel":"C1","message":"last","policy":"../../etc/passwd"}`},
		{w.team, mcp.ListChannels, `{"workspace":"T2"}`},
	} {
		got := w.tool(t, c.token, c.tool, c.args)
		if !strings.Contains(got, `"isError":true`) && !strings.Contains(got, `"error":{"code":`) || strings.Contains(got, "canary") {
			t.Errorf("%s %s: got %s", c.tool, c.args, got)
		}
	}
}

func TestLooseMessagesAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	call := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"channel_context","arguments":{"intent":"lock"}}}`
	if status, _, body := w.post(t, w.one, call); status != http.StatusOK || !strings.Contains(body, "relevance_signal") {
		t.Fatalf("the call itself: got %d %s", status, body)
	}
	for name, c := range map[string]struct{ body, id string }{
		"two messages":  {"[" + call + "," + call + "]", "null"},
		"a second one":  {call + call, "7"},
		"two names":     {strings.Replace(call, `"name"`, `"name":"x","name"`, 1), "7"},
		"two arguments": {strings.Replace(call, `"arguments"`, `"arguments":{},"arguments"`, 1), "7"},
		"two ids":       {strings.Replace(call, `"id"`, `"id":8,"id"`, 1), "null"},
		"too deep":      {strings.Replace(call, `"lock"`, strings.Repeat("[", 70)+strings.Repeat("]", 70), 1), "7"},
		"cut off":       {call[:len(call)-1], "7"},
		"nothing":       {"", "null"},
	} {
		status, _, body := w.post(t, w.one, c.body)
		if want := `{"jsonrpc":"2.0","id":` + c.id + `,"error":{"code":-32600,`; status != http.StatusBadRequest || !strings.HasPrefix(body, want) {
			t.Errorf("%s: got %d %s, want %s", name, status, body, want)
		}
	}
	if status, _, _ := w.post(t, w.one, strings.Replace(call, "lock", strings.Repeat("x", 1<<20), 1)); status != http.StatusRequestEntityTooLarge {
		t.Errorf("more than 1 MiB: got %d", status)
	}
}

// The SDK's errors of decoding quote the request; a client does not get them.
func TestErrorsDoNotRepeatTheRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"catch_up","arguments":{"since":["secret"]}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":["secret"]}}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":{"secret":1}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["secret"]}`,
		`{"jsonrpc":"2.0","id":1,"method":"secret"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"secret"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"secret"}}`,
		`{"jsonrpc":"2.0","id":1,"method":{"secret":1}}`,
	} {
		if _, _, got := w.post(t, w.one, body); strings.Contains(got, "secret") || got == "" {
			t.Errorf("%s: got %s", body, got)
		}
	}
}

// No call shows a word of a channel that its key does not reach, whatever it asks for.
func TestHostileCallsShowNothingForeign(t *testing.T) {
	t.Parallel()
	calls := 10_000
	if testing.Short() {
		calls = 500
	}
	w := newWorld(t)
	handler := mcp.New(mcp.Options{Service: w.service, Reader: w.reader, Gate: w.gate, Version: "test"})
	foreign := map[string][]earshot.Channel{
		w.one: {mcptest.Support, mcptest.Elsewhere}, w.capability: {mcptest.Support, mcptest.Elsewhere}, w.team: {mcptest.Elsewhere},
	}
	tokens := []string{w.one, w.capability, w.team}
	r := rand.New(rand.NewPCG(12, 4))
	answered := 0
	for range calls {
		token := tokens[r.IntN(len(tokens))]
		body := anything(r)
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, mcp.Path, strings.NewReader(body))
		req.Host = "127.0.0.1"
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		rec := httptest.NewRecorder()
		handler.ServeHTTP(rec, req)
		got := rec.Body.String()
		for _, c := range foreign[token] {
			if strings.Contains(got, mcptest.Canary(c)) {
				t.Fatalf("%s\nshows %s/%s:\n%s", body, c.Workspace, c.ID, got)
			}
		}
		if rec.Code >= 500 || strings.Contains(got, "-32603") {
			t.Fatalf("%s\nfails: %d %s", body, rec.Code, got)
		}
		if strings.Contains(got, "canary") {
			answered++
		}
	}
	if answered < calls/50 {
		t.Errorf("only %d of %d calls were answered: the test asks for nothing real", answered, calls)
	}
}

// anything returns a request whose names and values are mixed at random from what is
// real, what is foreign and what is broken.
func anything(r *rand.Rand) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	text := func(s string) string {
		raw, _ := json.Marshal(s) //nolint:errchkjson // a string
		return string(raw)
	}
	ids := []string{"C1", "C2", "C9", "deploys", "#deploys", "support", "T1", "T2", "T2/C1", "slack/T2/C1", "*", "", "%", "C1\u0000", "Ｃ1", "С1", "C1\u202e", "c1", "../C2", "' OR 1=1 --"}
	value := func() string {
		switch r.IntN(8) {
		case 0:
			return fmt.Sprint(r.IntN(12))
		case 1:
			return "[" + text(pick(ids...)) + "," + text(pick(ids...)) + "]"
		case 2:
			return pick("null", "true", "{}", "-1", "1e3", `"\ud800"`, `{"id":"C2"}`)
		case 3:
			return text(pick("1.000000", "3.000000", "4.000000", "5.000000", "last", "lock", "migration", "today"))
		}
		return text(pick(ids...))
	}
	var args []string
	for range r.IntN(5) {
		args = append(args, text(pick("channel", "workspace", "platform", "query", "intent", "message", "thread_id", "message_ids", "turn", "agent", "policy", "name", "since", "until", "cursor", "authors", "limit", "Channel", "channel_id", "scope"))+":"+value())
	}
	at, said := pick("C1", "C2", "deploys"), pick("lock", "migration", "today")
	if r.IntN(3) == 0 { // one that is nearly right
		args = []string{pick(`"intent":`+text(said), `"thread_id":"1.000000"`, `"query":`+text(said), `"channel":`+text(at)+`,"intent":`+text(said), `"channel":`+text(at)+`,"message":"last"`, `"intent":`+text(said)+`,"until":"2026-01-01"`, `"channel":`+text(at)+`,"message":"4.000000"`, fmt.Sprintf(`"turn":%d`, 1+r.IntN(6)),
			`"channel":"C1","workspace":`+text(pick("T1", "T2"))+`,"intent":`+text(said))}
	}
	object := "{" + strings.Join(args, ",") + "}"
	switch r.IntN(6) {
	case 0:
		uri := "earshot://channels/" + pick("slack", "*", "") + "/" + pick("T1", "T2", "T1%2F..%2FT2") + "/" + pick("C1", "C2", "%43%31") + "/threads/" + pick("1.000000", "3.000000", "*")
		return `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":` + text(pick(uri, fmt.Sprintf("earshot://turns/%d", r.IntN(8)), "earshot://turns/01", "earshot://turns/%31")) + `}}`
	case 1:
		return `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":` + text(pick("catch_up", "answer_as_bot", "why_did_it_say")) + `,"arguments":` + object + `}}`
	case 2:
		return `{"jsonrpc":"2.0","id":1,"method":` + text(pick("resources/list", "tools/list", "prompts/list", "resources/templates/list", "completion/complete", "logging/setLevel", "ping", "nothing")) + `,"params":` + object + `}`
	}
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":` + text(pick("channel_context", "channel_messages", "conversation_search", mcp.ListChannels, mcp.GetContext, mcp.ExplainTurn, mcp.Search)) + `,"arguments":` + object + `}}`
}
