package mcpclient_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tools/mcpclient"
	"github.com/earshot-ai/earshot/tools/toolbox"
)

// childVariable names the server that this test's program is when it is run as a child.
const childVariable = "EARSHOT_TEST_MCP_CHILD"

func TestMain(m *testing.M) {
	if name := os.Getenv(childVariable); name != "" {
		os.Exit(runChild(name))
	}
	os.Exit(m.Run())
}

// runChild is a server over standard input and output.
func runChild(name string) int {
	fmt.Fprintln(os.Stderr, "starting", name, "with", os.Getenv("MY_TOKEN"), "\x1b[31mred")
	if name == "parent" { // of a child, until it is killed
		s := child("dumb")
		s.Env["PID_FILE"] = os.Getenv("PID_FILE")
		c, err := mcpclient.New(mcpclient.Options{Servers: []mcpclient.Server{s}})
		if err != nil {
			return 1
		}
		c.Start(context.Background())
		time.Sleep(time.Hour)
	}
	if name == "dumb" {
		if file := os.Getenv("PID_FILE"); file != "" {
			if os.WriteFile(file+".new", []byte(strconv.Itoa(os.Getpid())), 0o600) != nil || os.Rename(file+".new", file) != nil {
				return 1
			}
		}
		time.Sleep(time.Hour)
	}
	fmt.Println("this line is no message")
	if err := hostile(nil).Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		return 1
	}
	return 0
}

// object is the schema of a tool without arguments.
var object = map[string]any{"type": "object"}

// hostile is a server with tools of each bad kind, and good ones beside them. What hangs
// does so until it is cancelled or stop is closed.
func hostile(stop <-chan struct{}) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "hostile\u202e", Version: "1"}, &mcp.ServerOptions{Instructions: "Be careful.\x1b[2J " + strings.Repeat("x", 5000)})
	tool := func(name string, a *mcp.ToolAnnotations, f mcp.ToolHandler) {
		s.AddTool(&mcp.Tool{Name: name, Description: "does " + name, InputSchema: object, Annotations: a}, f)
	}
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true}
	tool("good", reads, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		meta, _ := json.Marshal(r.Params.Meta[mcpclient.CallIDKey])
		return text(fmt.Sprintf("id %s args %s", meta, r.Params.Arguments)), nil
	})
	tool("write", nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return text("written"), nil })
	tool("huge", reads, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(strings.Repeat("0123456789", 1<<20)), nil
	})
	tool("long", reads, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(strings.Repeat("é", 1<<20)), nil
	})
	tool("hang", reads, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		select {
		case <-ctx.Done():
		case <-stop:
		}
		return text("stopped"), nil
	})
	tool("fail", reads, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		r := text("no such issue")
		r.IsError = true
		return r, nil
	})
	tool("error", reads, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, fmt.Errorf("it broke: %s", os.Getenv("MY_TOKEN"))
	})
	tool("die", nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		os.Exit(3)
		return nil, nil
	})
	tool("env", reads, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(strings.Join(os.Environ(), "\n")), nil
	})
	tool("forge", reads, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text("\x1b[31mred\x1b[0m \u202eevil\u2069 a\u200bb \x00end"), nil
	})
	tool("media", reads, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		size := int64(3)
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.TextContent{Text: "see"},
			&mcp.ImageContent{MIMEType: "image/png", Data: []byte("png")},
			&mcp.AudioContent{MIMEType: "audio/wav", Data: []byte("wav")},
			&mcp.ImageContent{MIMEType: "image/png", Data: bytes.Repeat([]byte("x"), 6<<20)},
			&mcp.ResourceLink{URI: "file:///a.txt", Name: "a", Size: &size},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///b.txt", MIMEType: "text/plain", Text: "bee"}},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///c.pdf", MIMEType: "application/pdf", Blob: []byte("%PDF")}},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///d.zip", MIMEType: "application/zip", Blob: []byte("PK")}},
		}}, nil
	})
	tool("structured", reads, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{}, StructuredContent: map[string]any{"b": 1, "a": []int{2}}}, nil
	})
	tool("progress", reads, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range 3 {
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i + 1), Total: 3, Message: fmt.Sprintf("step\n%d", i+1)})
		}
		select {
		case <-ctx.Done():
		case <-stop:
		}
		return text("done"), nil
	})
	tool("asks", reads, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		_, err := r.Session.CreateMessage(ctx, &mcp.CreateMessageParams{MaxTokens: 10}) //nolint:staticcheck // servers still ask
		_, err2 := r.Session.ListRoots(ctx, nil)                                        //nolint:staticcheck // servers still ask
		return text(fmt.Sprint(err != nil, err2 != nil)), nil
	})
	return s
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

// overHTTP serves a server, and returns its URL.
func overHTTP(t *testing.T, s *mcp.Server, o *mcp.StreamableHTTPOptions, seen func(*http.Request)) string {
	t.Helper()
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, o)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if seen != nil {
			seen(r)
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	return web.URL
}

// child is a server of this test's program.
func child(name string) mcpclient.Server {
	program, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return mcpclient.Server{Name: "srv", Command: program, Env: map[string]string{childVariable: name, "MY_TOKEN": "canary-of-the-environment"}}
}

// A notebook is a log that a test reads. It is safe for concurrent use.
type notebook struct {
	mu   sync.Mutex
	text bytes.Buffer
	news chan struct{}
}

func newNotebook() *notebook { return &notebook{news: make(chan struct{}, 1)} }

func (n *notebook) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	select {
	case n.news <- struct{}{}:
	default:
	}
	return n.text.Write(p)
}

func (n *notebook) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.String()
}

// wait waits until the log has a text.
func (n *notebook) wait(t *testing.T, what string) {
	t.Helper()
	for !strings.Contains(n.String(), what) {
		select {
		case <-n.news:
		case <-t.Context().Done():
			t.Fatalf("the log does not say %q:\n%s", what, n)
		case <-time.After(time.Minute):
			t.Fatalf("the log does not say %q:\n%s", what, n)
		}
	}
}

// start starts a client of servers, for the time of a test.
func start(t *testing.T, o mcpclient.Options) (*mcpclient.Client, *notebook) {
	t.Helper()
	log := newNotebook()
	o.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if o.Backoff == 0 {
		o.Backoff = 10 * time.Millisecond
	}
	c, err := mcpclient.New(o)
	if err != nil {
		t.Fatal(err)
	}
	c.Start(t.Context())
	t.Cleanup(func() { _ = c.Close() })
	return c, log
}

var here = toolbox.Place{Channel: earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "C1"}, Asker: earshot.Author{ID: "U1"}}

// names returns the names of the tools at a place.
func names(t *testing.T, c *mcpclient.Client, p toolbox.Place) []string {
	t.Helper()
	list, err := c.Tools(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, one := range list {
		all = append(all, one.Name)
	}
	return all
}

// call calls a tool of the server srv.
func call(t *testing.T, c *mcpclient.Client, name, args string) (toolbox.Result, error) {
	t.Helper()
	return c.Call(t.Context(), here, toolbox.Call{ID: "call-1", Name: "srv__" + name, Args: args})
}

// written returns the texts of a result, and the kinds of its other parts.
func written(r toolbox.Result) string {
	var all []string
	for _, p := range r.Parts {
		if p.Kind == llm.KindText {
			all = append(all, p.Text)
		} else {
			all = append(all, fmt.Sprintf("<%s %s %d>", p.Kind, p.Media.Type, len(p.Media.Data)))
		}
	}
	return strings.Join(all, "\n")
}
