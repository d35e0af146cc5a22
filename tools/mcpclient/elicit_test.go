package mcpclient_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-ai/earshot/internal/pause"
	"github.com/earshot-ai/earshot/tools/mcpclient"
	"github.com/earshot-ai/earshot/tools/toolbox"
)

// newest is the protocol in which a request for input is an answer to the call.
const newest = "2026-07-28"

// A person answers the questions of calls in order, and keeps them.
type person struct {
	mu      sync.Mutex // guards what follows
	asked   []toolbox.Question
	answers []string
}

func (p *person) ask(_ context.Context, q toolbox.Question) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, q)
	if len(p.answers) == 0 {
		return "", toolbox.ErrNoAnswer
	}
	a := p.answers[0]
	p.answers = p.answers[1:]
	return a, nil
}

// callWith calls a tool for which a person answers.
func callWith(t *testing.T, c *mcpclient.Client, name string, p *person) string {
	t.Helper()
	r, err := c.Call(t.Context(), here, toolbox.Call{ID: "call-" + name, Name: "srv__" + name, Args: "{}", Ask: p.ask})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return written(r)
}

// forms is a server whose tools ask for a form each, and say what they got.
func forms(version string, schemas map[string]map[string]any) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "forms", Version: "1"}, &mcp.ServerOptions{SupportedProtocolVersions: []string{version}})
	for name, schema := range schemas {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: object}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			form := &mcp.ElicitParams{Mode: "form", Message: "About \x1b[31mthis\u202e:", RequestedSchema: schema}
			if version != newest {
				got, err := r.Session.Elicit(ctx, form)
				if err != nil {
					return text("error " + err.Error()), nil
				}
				return text(fmt.Sprint(got.Action, " ", got.Content)), nil
			}
			if got, ok := r.Params.InputResponses["form"].(*mcp.ElicitResult); ok {
				return text(fmt.Sprint(got.Action, " ", got.Content)), nil
			}
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"form": form}, RequestState: "where I was"}, nil
		})
	}
	return s
}

func TestAServerAsksAPerson(t *testing.T) {
	t.Parallel()
	str := map[string]any{"type": "string"}
	field := func(schema map[string]any) map[string]any {
		return map[string]any{"type": "object", "properties": map[string]any{"x": schema, "more": str}, "required": []string{"x"}}
	}
	schemas := map[string]map[string]any{
		"nothing": {"type": "object", "properties": map[string]any{}},
		"text":    field(map[string]any{"type": "string", "title": "Project", "minLength": 3}),
		"count":   field(map[string]any{"type": "integer", "maximum": 9}),
		"price":   field(map[string]any{"type": "number"}),
		"flag":    field(map[string]any{"type": "boolean", "description": "Shall it be public?"}),
		"enum":    field(map[string]any{"type": "string", "enum": []string{"a-1", "b-2"}, "enumNames": []string{"Anna", "Ben"}}),
		"titled":  field(map[string]any{"type": "string", "oneOf": []any{map[string]any{"const": "h1", "title": "Superman"}, map[string]any{"const": "h2", "title": "Robin"}}}),
		"some":    field(map[string]any{"type": "array", "items": map[string]any{"type": "string", "enum": []string{"w", "x", "y", "z", "q"}}, "maxItems": 2}),
		"five":    {"type": "object", "properties": map[string]any{"a": str, "b": str, "c": str, "d": str, "e": str}, "required": []string{"a", "b", "c", "d", "e"}},
		"two":     {"type": "object", "properties": map[string]any{"a": str, "b": str}},
	}
	one := func(text string, options ...string) toolbox.Question {
		return toolbox.Question{Text: text, Options: options}
	}
	for name, c := range map[string]struct {
		answers []string
		asked   []toolbox.Question
		got     string
	}{
		"nothing": {[]string{"Yes"}, []toolbox.Question{one("About this:", "Yes", "No")}, "accept map[]"},
		"text":    {[]string{"ab", "abc"}, []toolbox.Question{one("About this: Project"), one("That is not what the tool takes. About this: Project")}, "accept map[x:abc]"},
		"count":   {[]string{"ten", "9"}, []toolbox.Question{one("About this: x"), one("That is no whole number. About this: x")}, "accept map[x:9]"},
		"price":   {[]string{"2.5"}, []toolbox.Question{one("About this: x")}, "accept map[x:2.5]"},
		"flag":    {[]string{"no"}, []toolbox.Question{one("About this: Shall it be public?", "Yes", "No")}, "accept map[x:false]"},
		"enum":    {[]string{"ben"}, []toolbox.Question{one("About this: x", "Anna", "Ben")}, "accept map[x:b-2]"},
		"titled":  {[]string{"Superman"}, []toolbox.Question{one("About this: x", "Superman", "Robin")}, "accept map[x:h1]"},
		"some":    {[]string{"w, Z"}, []toolbox.Question{one("About this: x: some, with commas between them, of w, x, y, z, q", "w", "x", "y", "z", "q")}, "accept map[x:[w z]]"},
		"five":    {nil, nil, "cancel map[]"},
		"two":     {[]string{"1", "2"}, []toolbox.Question{one("About this: a"), one("About this: b")}, "accept map[a:1 b:2]"},
		"flag no": {nil, []toolbox.Question{one("About this: Shall it be public?", "Yes", "No")}, "cancel map[]"},
		"text no": {[]string{"a", "b"}, []toolbox.Question{one("About this: Project"), one("That is not what the tool takes. About this: Project")}, "cancel map[]"},
	} {
		for _, version := range []string{"2025-11-25", newest} {
			t.Run(name+" "+version, func(t *testing.T) {
				t.Parallel()
				url := overHTTP(t, forms(version, schemas), &mcp.StreamableHTTPOptions{Stateless: version == newest}, nil)
				c1, _ := start(t, mcpclient.Options{Servers: []mcpclient.Server{{Name: "srv", URL: url}}})
				names(t, c1, here)
				p := &person{answers: c.answers}
				tool, _, _ := strings.Cut(name, " ")
				if got := callWith(t, c1, tool, p); got != c.got {
					t.Errorf("got %q, want %q", got, c.got)
				}
				if got := c1.Reports()[0].Protocol; got != version {
					t.Errorf("it speaks %s", got)
				}
				if !reflect.DeepEqual(p.asked, c.asked) {
					t.Errorf("asked %q, want %q", p.asked, c.asked)
				}
			})
		}
	}
}

// A request of the older protocol names no call. Where two might have caused it, nobody is asked:
// they may be of two channels.
func TestNobodyIsAskedForAnotherCall(t *testing.T) {
	t.Parallel()
	both := make(chan struct{}, 2)
	var told atomic.Int32 // how often it has an answer: until both calls have, neither returns
	s := mcp.NewServer(&mcp.Implementation{Name: "old", Version: "1"}, &mcp.ServerOptions{SupportedProtocolVersions: []string{"2025-11-25"}})
	s.AddTool(&mcp.Tool{Name: "ask", InputSchema: object}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		both <- struct{}{}
		for len(both) < cap(both) {
			time.Sleep(time.Millisecond)
		}
		got, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Your password?", RequestedSchema: object})
		for told.Add(1); told.Load() < 2; {
			time.Sleep(time.Millisecond)
		}
		if err != nil {
			return nil, err
		}
		return text(got.Action), nil
	})
	c, _ := start(t, mcpclient.Options{Servers: []mcpclient.Server{{Name: "srv", URL: overHTTP(t, s, &mcp.StreamableHTTPOptions{}, nil)}}})
	names(t, c, here)
	p := &person{}
	var wait sync.WaitGroup
	for range 2 {
		wait.Go(func() {
			if r, err := c.Call(t.Context(), here, toolbox.Call{ID: "x", Name: "srv__ask", Args: "{}", Ask: p.ask}); err != nil || written(r) != "cancel" {
				t.Errorf("got %s, %v", written(r), err)
			}
		})
	}
	wait.Wait()
	if len(p.asked) > 0 {
		t.Errorf("somebody was asked %q", p.asked)
	}
	// A call that was given up may still be at work there.
	<-both
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	<-both
	if _, err := c.Call(ctx, here, toolbox.Call{ID: "y", Name: "srv__ask", Args: "{}", Ask: p.ask}); err == nil {
		t.Error("the call did not end with its context")
	}
	if r, err := c.Call(t.Context(), here, toolbox.Call{ID: "z", Name: "srv__ask", Args: "{}", Ask: p.ask}); err != nil || written(r) != "cancel" || len(p.asked) > 0 {
		t.Errorf("got %s, %v, asked %q", written(r), err, p.asked)
	}
}

// The time of a call does not run while a person is asked.
func TestWhatAServerAsksTakesNoTime(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2025-11-25", newest} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			schema := map[string]map[string]any{"ask": {"type": "object", "properties": map[string]any{}}}
			url := overHTTP(t, forms(version, schema), &mcp.StreamableHTTPOptions{Stateless: version == newest}, nil)
			c, _ := start(t, mcpclient.Options{Servers: []mcpclient.Server{{Name: "srv", URL: url, Timeout: time.Second}}})
			names(t, c, here)
			r, err := c.Call(t.Context(), here, toolbox.Call{ID: "x", Name: "srv__ask", Args: "{}", Ask: func(ctx context.Context, _ toolbox.Question) (string, error) {
				return "yes", pause.For(ctx, 1500*time.Millisecond)
			}})
			if err != nil || written(r) != "accept map[]" {
				t.Errorf("got %s, %v", written(r), err)
			}
		})
	}
}

func TestServerEverythingAsksAPerson(t *testing.T) {
	everything(t, func(t *testing.T, c *mcpclient.Client) {
		names(t, c, here)
		p := &person{answers: []string{"Ada Lovelace"}}
		got := callWith(t, c, "trigger-elicitation-request", p)
		if !strings.Contains(got, "- Name: Ada Lovelace") {
			t.Errorf("got %s", got)
		}
		want := []toolbox.Question{{Text: "Please provide inputs for the following fields: String: Your full, legal name"}}
		if !reflect.DeepEqual(p.asked, want) {
			t.Errorf("asked %q", p.asked)
		}
		if got := callWith(t, c, "trigger-elicitation-request", p); !strings.Contains(got, "cancelled") {
			t.Errorf("without an answer: got %s", got)
		}
	})
}
