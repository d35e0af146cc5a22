package mcp_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-ai/earshot/internal/sidecar/mcp"
)

// A client's mistake is answered, and the session goes on and ends with its input.
func TestOneWrongLineEndsNoSession(t *testing.T) {
	w := newWorld(t)
	p, err := w.gate.Authenticate(t.Context(), w.team)
	must(t, err)
	for name, c := range map[string]struct{ line, want string }{
		"another version":        {`{"jsonrpc":"1.0","id":7,"method":"ping"}`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32600,`},
		"no version":             {`{"id":7,"method":"ping"}`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32600,`},
		"a number as version":    {`{"jsonrpc":2.0,"id":7,"method":"ping"}`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32600,`},
		"a number as method":     {`{"jsonrpc":"2.0","id":7,"method":5}`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32600,`},
		"no method":              {`{"jsonrpc":"2.0","id":7}`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32600,`},
		"nothing":                {`{}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`},
		"an id of null":          {`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`},
		"an id of true":          {`{"jsonrpc":"2.0","id":true,"method":"ping"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`},
		"an id of an object":     {`{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`},
		"an id between":          {`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, `{"jsonrpc":"2.0","id":1.5,"error":{"code":-32600,`},
		"an id that is too long": {`{"jsonrpc":"2.0","id":123456789012345678901,"method":"ping"}`, `{"jsonrpc":"2.0","id":123456789012345678901,"error":{"code":-32600,`},
		"an answer":              {`{"jsonrpc":"2.0","id":7,"result":{}}`, ""},
		"an error":               {`{"jsonrpc":"2.0","id":7,"error":"none asked"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			const begin = `{"jsonrpc":"2.0","id":"begin","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` + "\n" +
				`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
			const end = `{"jsonrpc":"2.0","id":"end","method":"ping"}` + "\n"
			var out strings.Builder
			synctest.Test(t, func(t *testing.T) { // whose clock moves only while all wait
				started := time.Now()
				must(t, mcp.Serve(t.Context(), w.service, w.reader, p, "test", strings.NewReader(begin+c.line+"\n"+end), &out, nil))
				if waited := time.Since(started); waited > 0 {
					t.Errorf("the session waits for %v before it ends with its input", waited)
				}
			})
			if !strings.Contains(out.String(), `"id":"end","result"`) {
				t.Errorf("the line ends the session:\n%s", out.String())
			}
			answers := strings.Count(out.String(), "\n")
			switch {
			case c.want == "" && answers != 2:
				t.Errorf("%d messages, want the answers to begin and end only:\n%s", answers, out.String())
			case !strings.Contains(out.String(), c.want):
				t.Errorf("answers without %s\n%s", c.want, out.String())
			}
			if status, _, over := w.post(t, w.team, c.line); c.want != "" && (status != http.StatusBadRequest || !strings.HasPrefix(over, c.want)) {
				t.Errorf("over HTTP: %d %s, want 400 with %s", status, over, c.want)
			}
		})
	}
}

func TestSearchNamesItsOwnArgument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, query := range []string{"", " ", strings.Repeat("x", 2001)} {
		for _, where := range []string{"", `"channel":"C1",`} {
			got := w.tool(t, w.team, mcp.Search, `{`+where+`"intent":"`+query+`"}`)
			if !strings.Contains(got, "intent is missing, empty or too long") || !strings.Contains(got, `"isError":true`) {
				t.Errorf("%s, an intent of %d bytes: %s", where, len(query), got)
			}
		}
	}
}
