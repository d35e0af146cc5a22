package daemon_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
)

// toolServer is an MCP server with one tool that reads and one that writes.
func toolServer(t *testing.T) (url string) {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "tracker", Version: "1"}, nil)
	for name, reads := range map[string]bool{"list": true, "close": false} {
		s.AddTool(&mcp.Tool{Name: name, Description: name + " issues", InputSchema: map[string]any{"type": "object"}, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: reads}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			t.Error("a tool was called")
			return &mcp.CallToolResult{}, nil
		})
	}
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(web.Close)
	return web.URL
}

func TestAServerOfToolsThatIsAwayDoesNotStopTheStart(t *testing.T) {
	t.Parallel()
	c := defaults(t)
	c.Tools.MCP = []config.MCPServer{{Name: "away", URL: "http://127.0.0.1:1/"}, {Name: "tracker", URL: toolServer(t)}}
	var log bytes.Buffer
	d, err := daemon.Open(t.Context(), daemon.Options{Config: c, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil { // after it nothing is logged
		t.Error(err)
	}
	for _, want := range []string{"a server of tools is away", "a server of tools answers"} {
		if n := strings.Count(log.String(), want); n != 1 {
			t.Errorf("the log says %d times %q:\n%s", n, want, &log)
		}
	}
}

func TestCheckToolsListsThemAndCallsNone(t *testing.T) {
	t.Parallel()
	c := defaults(t)
	c.Tools.MCP = []config.MCPServer{{Name: "away", URL: "http://127.0.0.1:1/?k=canary"}, {Name: "tracker", URL: toolServer(t)}}
	found, err := daemon.CheckTools(t.Context(), daemon.Options{Config: c})
	if err != nil || len(found) != 2 {
		t.Fatalf("got %v, %v", found, err)
	}
	if a := found[0]; a.Reached || a.Problem == "" || strings.Contains(a.Problem, "canary") {
		t.Errorf("got %+v", a)
	}
	b := found[1]
	for i := range b.Tools {
		if b.Tools[i].Tokens == 0 {
			t.Errorf("%s has no tokens", b.Tools[i].Name)
		}
		b.Tools[i].Tokens = 0
	}
	want := []daemon.ToolFound{
		{Name: "tracker__close", Own: "close", Effect: "writes", Approve: true, Description: "close issues"},
		{Name: "tracker__list", Own: "list", Effect: "reads", Description: "list issues"},
	}
	if diff := cmp.Diff(b.Tools, want); diff != "" || !b.Reached || b.Tokens == 0 {
		t.Errorf("%+v\n-got +want\n%s", b, diff)
	}
}
