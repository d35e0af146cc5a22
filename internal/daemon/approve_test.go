package daemon_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/simulate"
)

const approveScript = `{"fixtures": [
	{"match": {"userMessage": "close the gate", "toolResultContains": "said no"}, "response": {"content": "I left it open."}},
	{"match": {"userMessage": "close the gate", "hasToolResult": true}, "response": {"content": "It is closed."}},
	{"match": {"userMessage": "close the gate", "hasToolResult": false}, "response": {"toolCalls": [{"name": "tracker__close", "arguments": {"gate": 4}}]}}
]}`

// withTracker gives the daemon an MCP server with a tool that writes, and returns how often
// it was called.
func (x *slackWorld) withTracker() *atomic.Int32 {
	x.t.Helper()
	var calls atomic.Int32
	s := mcp.NewServer(&mcp.Implementation{Name: "tracker", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "close", Description: "closes a gate", InputSchema: map[string]any{"type": "object"}}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		calls.Add(1)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "closed " + string(r.Params.Arguments)}}}, nil
	})
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	x.t.Cleanup(web.Close)
	x.file = filepath.Join(x.t.TempDir(), "earshot.yaml")
	if err := os.WriteFile(x.file, fmt.Appendf(nil, "tools:\n  mcp:\n    - {name: tracker, url: %q}\n", web.URL), 0o600); err != nil {
		x.t.Fatal(err)
	}
	return &calls
}

// clickIfThere clicks at a button unless it has gone, as once an earlier click was heard.
func (x *slackWorld) clickIfThere(ts, user, label string) {
	defer func() {
		if p := recover(); p != nil && !strings.Contains(fmt.Sprint(p), "has no button") {
			panic(p)
		}
	}()
	x.Click(x.general, ts, user, label)
}

// question waits for the message of a thread that asks for a yes, and returns it.
func (x *slackWorld) question(root string) (found simulate.Message) {
	x.t.Helper()
	return x.withButton(root, "Do it")
}

// withButton waits for the message of a thread that has a button, and returns it.
func (x *slackWorld) withButton(root, label string) (found simulate.Message) {
	x.t.Helper()
	x.eventually("there is a button "+label, func() bool {
		for _, m := range x.Thread(x.general, root) {
			if slices.ContainsFunc(m.Buttons, func(b simulate.Button) bool { return b.Label == label }) {
				found = m
			}
		}
		return found.TS != ""
	})
	return found
}

// A tool of an MCP server that writes waits for a click on Slack, also where another process
// hears it; only who asked may click.
func TestAPersonAgreesOnSlack(t *testing.T) {
	server := modeltest.StartScripted(t, approveScript)
	transports(t, func(t *testing.T, by transport) {
		x := newSlackWorld(t, server, by, nil)
		calls := x.withTracker()
		x.knows()
		x.start()
		root := x.Say(x.general, x.ann, x.at("close the gate"))
		ask := x.question(root)
		if !strings.Contains(ask.Text, "tracker__close") || !strings.Contains(ask.Text, `"gate": 4`) || calls.Load() != 0 {
			t.Fatalf("asked %q after %d calls", ask.Text, calls.Load())
		}
		x.stop()
		x.start() // another process
		x.Click(x.general, ask.TS, x.bob, "Do it")
		x.eventually("who may not agree is told so", func() bool { return len(x.Ephemerals()) == 1 })
		if e := x.Ephemerals()[0]; e.User != x.bob || !strings.Contains(e.Text, "Only somebody else") {
			t.Errorf("told %+v", e)
		}
		var fingers sync.WaitGroup
		for range 2 {
			fingers.Go(func() { x.clickIfThere(ask.TS, x.ann, "Do it") })
		}
		fingers.Wait()
		x.ends(earshot.TurnDone)
		x.settled()
		said := x.said(root)
		if len(said) != 2 || !strings.Contains(said[0], "agreed; it was done.") || said[1] != "It is closed." || calls.Load() != 1 {
			t.Errorf("said %q after %d calls", said, calls.Load())
		}
		for _, m := range x.Thread(x.general, root) {
			if len(m.Buttons) > 0 {
				t.Errorf("%q still has buttons", m.Text)
			}
		}
	})
}

func TestAPersonRefusesOnSlack(t *testing.T) {
	server := modeltest.StartScripted(t, approveScript)
	transports(t, func(t *testing.T, by transport) {
		x := newSlackWorld(t, server, by, nil)
		calls := x.withTracker()
		x.knows()
		x.start()
		root := x.Say(x.general, x.ann, x.at("close the gate"))
		x.Click(x.general, x.question(root).TS, x.ann, "Don't")
		x.Submit(x.ann, "somebody is in it")
		x.ends(earshot.TurnDone)
		x.settled()
		said := x.said(root)
		if len(said) != 2 || !strings.Contains(said[0], "said no: `somebody is in it`.") || said[1] != "I left it open." || calls.Load() != 0 {
			t.Errorf("said %q after %d calls", said, calls.Load())
		}
	})
}
