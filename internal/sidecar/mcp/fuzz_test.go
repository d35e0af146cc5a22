package mcp_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot/internal/sidecar/mcp"
	"github.com/earshot-ai/earshot/internal/sidecar/mcp/mcptest"
)

// FuzzMessages sends anything as a message, and as the arguments of each tool: the
// answer is a message, no failure of ours, and says nothing of another channel.
func FuzzMessages(f *testing.F) {
	w := newWorld(f)
	tools := []string{"", "channel_context", "channel_messages", "conversation_search", mcp.ListChannels, mcp.GetContext, mcp.ExplainTurn, mcp.Search}
	for i, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"intent":"lock"}`, `{"thread_id":"1.000000"}`, `{"query":"lock","limit":3}`, `{"name":"deploys"}`, `{"intent":"lock","until":"2026-01-01"}`,
		`{"channel":"C1","message":"last","policy":"window","budget":500}`, `{"turn":1,"prompt":true}`, `{"channel":"C1","intent":"lock","since":"1970-01-01","authors":["Ann"],"max_results":3}`,
		`{"jsonrpc":"2.0","id":"x","method":"resources/read","params":{"uri":"earshot://turns/1"}}`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, `[]`, "\xff", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
	} {
		f.Add(i%len(tools), seed)
	}
	f.Fuzz(func(t *testing.T, n int, text string) {
		tool := tools[((n%len(tools))+len(tools))%len(tools)]
		body := text
		if tool != "" {
			body = toolsCall(tool, text)
		}
		for token, foreign := range map[string][]string{
			w.one: {mcptest.Canary(mcptest.Support), mcptest.Canary(mcptest.Elsewhere)}, w.team: {mcptest.Canary(mcptest.Elsewhere)}, w.capability: {mcptest.Canary(mcptest.Support), mcptest.Canary(mcptest.Elsewhere)},
		} {
			status, _, got := w.post(t, token, body)
			for _, word := range foreign {
				if strings.Contains(got, word) && !strings.Contains(text, word) {
					t.Fatalf("%q shows %s: %s", body, word, got)
				}
			}
			if status >= 500 || strings.Contains(got, "-32603") || status != http.StatusAccepted && strings.HasPrefix(got, "{") && !json.Valid([]byte(got)) {
				t.Fatalf("%q: %d %s", body, status, got)
			}
		}
	})
}
