package agent_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot/agent"
	"github.com/earshot-ai/earshot/secret"
)

// The parts of a message have what is new; what is not is marked as what it is, and said in words
// to an agent that does not read our extension.
func TestWhatAnAgentBehindAgent2AgentIsSent(t *testing.T) {
	t.Parallel()
	mark := func(kind string, part map[string]any) map[string]any {
		part["metadata"] = map[string]any{agent.TurnExtension: map[string]any{"part": kind}}
		return part
	}
	text1 := func(s string) map[string]any { return map[string]any{"text": s} }
	text03 := func(s string) map[string]any { return map[string]any{"kind": "text", "text": s} }
	file1 := map[string]any{"raw": "cG5n", "filename": "a.png", "mediaType": "image/png"}
	file03 := map[string]any{"kind": "file", "file": map[string]any{"bytes": "cG5n", "name": "a.png", "mimeType": "image/png"}}
	for _, c := range []struct {
		name          string
		theirs, knows bool
		old           bool
		inputs        string
		want          []any
	}{
		{"1.0, new only", true, true, false, "", []any{file1, text1("and this?")}},
		{"0.3, new only", true, true, true, "", []any{file03, text03("and this?")}},
		{"1.0, all", false, true, false, `"image/*"`, []any{mark("user", text1("what broke?")), mark("assistant", text1("The importer.")), file1, text1("and this?")}},
		{"0.3, all, in words", false, false, true, `"text/plain","*/*"`, []any{mark("instructions", text03("Be brief.")), mark("user", text03("what broke?")),
			mark("assistant", text03("Your own words, earlier:\nThe importer.")), file03, text03("and this?")}},
		{"1.0, new only, no pictures", true, false, false, `"text/plain"`,
			[]any{text1("(A file of the type image/png is not here: your agent card does not name it. It is called a.png.)"), text1("and this?")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &a2aServer{reply: func(w http.ResponseWriter, k a2aCall) { result(w, k, `{"message":{"parts":[{"text":"fine"}]}}`) }}
			s.card = func(url string) string {
				version, extension := "1.0", ""
				if c.old {
					version = "0.3.0"
				}
				if c.knows {
					extension = fmt.Sprintf(`{"uri":%q}`, agent.TurnExtension)
				}
				return fmt.Sprintf(`{"name":"A","capabilities":{"streaming":true,"extensions":[%s]},"defaultInputModes":[%s],"supportedInterfaces":[{"url":"%s/rpc","protocolBinding":"JSONRPC","protocolVersion":%q}]}`,
					extension, c.inputs, url, version)
			}
			s.t = t
			web := httptest.NewServer(s)
			t.Cleanup(web.Close)
			a, err := agent.NewA2A(agent.Options{URL: web.URL, Key: secret.New(canary), Theirs: c.theirs})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := a.Generate(t.Context(), turn(), nil); err != nil || got.Text() != "fine" {
				t.Fatalf("got %v, %v", got, err)
			}
			want := map[string]any{
				"messageId": strings.Repeat("k", 32), "contextId": strings.Repeat("c", 32), "role": "ROLE_USER", "extensions": []any{agent.TurnExtension}, "parts": c.want,
				"metadata": map[string]any{agent.TurnExtension: map[string]any{
					"version": 1.0, "key": strings.Repeat("k", 32), "turn": 7.0, "conversation": strings.Repeat("c", 32), "instructions": "Be brief.", "new": 2.0,
					"asker": map[string]any{"id": "U1", "name": "Ann", "zone": "Europe/Berlin", "standing": "external", "kind": "human"},
					"place": map[string]any{"platform": "slack", "workspace": "T1", "channel": "C1", "name": "ops", "kind": "channel", "thread": "m1"},
					"mcp":   map[string]any{"url": "http://here/mcp", "token": "a token", "expires": "2026-03-08T20:00:00Z"},
				}},
			}
			method := "SendStreamingMessage"
			if c.old {
				want["role"], want["kind"], method = "user", "message", "message/stream"
			}
			if diff := cmp.Diff(s.calls[0].Params.Message, want); diff != "" || s.calls[0].Method != method {
				t.Errorf("%s; -got +want\n%s", s.calls[0].Method, diff)
			}
		})
	}
}
