package mcpclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	neturl "net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/tools/mcpclient"
	"github.com/earshot-ai/earshot/tools/toolbox"
)

// Each way to reach the hostile server.
func everyTransport(t *testing.T, test func(t *testing.T, s mcpclient.Server)) {
	t.Parallel()
	t.Run("stdio", func(t *testing.T) {
		t.Parallel()
		test(t, child("hostile"))
	})
	for name, o := range map[string]*mcp.StreamableHTTPOptions{
		"http": nil, "http with JSON answers": {JSONResponse: true}, "http without sessions": {Stateless: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, mcpclient.Server{Name: "srv", URL: overHTTP(t, hostile(t.Context().Done()), o, nil)})
		})
	}
}

func TestToolsAreListedSortedWithTheirEffects(t *testing.T) {
	everyTransport(t, func(t *testing.T, s mcpclient.Server) {
		s.Deny = []string{"d*"}
		c, _ := start(t, mcpclient.Options{Servers: []mcpclient.Server{s}})
		list, err := c.Tools(t.Context(), here)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, one := range list {
			got[one.Name] = fmt.Sprint(one.Effect, " ", one.Approve)
		}
		if got["srv__good"] != "reads false" || got["srv__write"] != "writes true" || got["srv__die"] != "" {
			t.Errorf("got %v", got)
		}
		if all := names(t, c, here); !slices.IsSorted(all) || len(all) != 13 {
			t.Errorf("got %v", all)
		}
	})
}

func TestEachKindOfContentIsAPart(t *testing.T) {
	everyTransport(t, func(t *testing.T, s mcpclient.Server) {
		c, _ := start(t, mcpclient.Options{Servers: []mcpclient.Server{s}})
		r, err := call(t, c, "media", "{}")
		want := "see\n<image image/png 3>\n<audio audio/wav 3>\n[image/png: 6291456 bytes, more than 5242880, not shown]\nlink: a file:///a.txt\nresource: file:///b.txt\nbee\n<document application/pdf 4>\n[file:///d.zip application/zip: 2 bytes, of a kind that is not shown]"
		if diff := cmp.Diff(written(r), want); err != nil || diff != "" {
			t.Errorf("-got +want\n%s %v", diff, err)
		}
		r, err = call(t, c, "structured", "")
		if got, want := written(r), `{"a":[2],"b":1}`; err != nil || got != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
		if r, err = call(t, c, "fail", ""); err != nil || !r.Failed || written(r) != "no such issue" {
			t.Errorf("got %v, %v", r, err)
		}
	})
}

func TestACallHasItsID(t *testing.T) {
	t.Parallel()
	var keys sync.Map
	url := overHTTP(t, hostile(t.Context().Done()), nil, func(r *http.Request) {
		if k := r.Header.Get("Idempotency-Key"); k != "" {
			keys.Store(k, r.Header.Get("X-Api"))
		}
	})
	c, _ := start(t, mcpclient.Options{Servers: []mcpclient.Server{{Name: "srv", URL: url, Headers: map[string]string{"X-Api": "canary-of-the-header"}}}})
	r, err := call(t, c, "good", `{"a": 1}`)
	if got, want := written(r), `id "call-1" args {"a":1}`; err != nil || strings.ReplaceAll(got, " 1}", "1}") != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	if got, _ := keys.Load("call-1"); got != "canary-of-the-header" {
		t.Errorf("the header of the call: got %v", got)
	}
}

func TestProgressIsShown(t *testing.T) {
	everyTransport(t, func(t *testing.T, s mcpclient.Server) {
		c, _ := start(t, mcpclient.Options{Servers: []mcpclient.Server{s}})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var got []string // Call returns after the last one
		_, err := c.Call(ctx, here, toolbox.Call{ID: "p", Name: "srv__progress", Progress: func(s string) {
			if got = append(got, s); len(got) == 3 {
				cancel()
			}
		}})
		slices.Sort(got)
		if diff := cmp.Diff(got, []string{"step 1", "step 2", "step 3"}); err == nil || diff != "" {
			t.Errorf("%v, -got +want\n%s", err, diff)
		}
	})
}

func TestSamplingAndRootsAreDeclined(t *testing.T) {
	everyTransport(t, func(t *testing.T, s mcpclient.Server) {
		c, _ := start(t, mcpclient.Options{Servers: []mcpclient.Server{s}})
		if r, err := call(t, c, "asks", ""); err != nil || written(r) != "true true" {
			t.Errorf("got %s, %v", written(r), err)
		}
	})
}

func TestACallThatIsTooLargeOrTooSlowCostsItself(t *testing.T) {
	everyTransport(t, func(t *testing.T, s mcpclient.Server) {
		s.Timeout = 5 * time.Minute
		c, log := start(t, mcpclient.Options{Servers: []mcpclient.Server{s}, Limits: mcpclient.Limits{Answer: 8 << 20}})
		// Beside all that follows, a call hangs until it is cancelled.
		ctx, cancel := context.WithCancel(t.Context())
		hung := make(chan error)
		go func() {
			_, err := c.Call(ctx, here, toolbox.Call{ID: "h", Name: "srv__hang"})
			hung <- err
		}()
		if r, err := call(t, c, "huge", ""); err != nil || !r.Failed || !strings.Contains(written(r), "larger than 8388608 bytes") {
			t.Errorf("10 MB: got %.200s, %v", written(r), err)
		}
		r, err := call(t, c, "long", "")
		if got := written(r); err != nil || len(got) > 66<<10 || !strings.HasSuffix(got, "[the text is cut after 65536 bytes]") {
			t.Errorf("a long text: got %d bytes, %v", len(got), err)
		}
		if r, err := call(t, c, "good", ""); err != nil || r.Failed {
			t.Errorf("a call after that: got %v, %v", r, err)
		}
		cancel()
		if err := <-hung; err == nil || errors.Is(err, toolbox.ErrNotRun) {
			t.Errorf("the call that hung: got %v", err)
		}
		if r, err := call(t, c, "good", ""); err != nil || r.Failed {
			t.Errorf("a call after that: got %v, %v", r, err)
		}
		if n := strings.Count(log.String(), "a server of tools answers"); n != 1 {
			t.Errorf("it was connected to %d times", n)
		}
	})
}

func TestACallThatHangsEndsWithItsTime(t *testing.T) {
	everyTransport(t, func(t *testing.T, s mcpclient.Server) {
		s.Timeout = 50 * time.Millisecond
		c, _ := start(t, mcpclient.Options{Servers: []mcpclient.Server{s}})
		if _, err := call(t, c, "hang", ""); err == nil || errors.Is(err, toolbox.ErrNotRun) || !strings.Contains(err.Error(), "did not answer within 50ms") {
			t.Errorf("got %v", err)
		}
	})
}

// firstOf returns the first of the tools at a place.
func firstOf(t *testing.T, c *mcpclient.Client) toolbox.Tool {
	t.Helper()
	list, err := c.Tools(t.Context(), here)
	if err != nil || len(list) == 0 {
		t.Fatalf("%d tools, %v", len(list), err)
	}
	return list[0]
}

func TestResultsAreCleaned(t *testing.T) {
	everyTransport(t, func(t *testing.T, s mcpclient.Server) {
		c, _ := start(t, mcpclient.Options{Servers: []mcpclient.Server{s}})
		if r, err := call(t, c, "forge", ""); err != nil || written(r) != "red evil ab end" {
			t.Errorf("got %q, %v", written(r), err)
		}
		told := firstOf(t, c).Description
		if len(told) > 2100 || strings.ContainsAny(told, "\x1b") || !strings.HasPrefix(told, "What the server says about all of its tools: Be careful.") {
			t.Errorf("instructions: got %v", told)
		}
	})
}

func TestAChildSeesLittleAndItsSecretsAreNowhere(t *testing.T) {
	t.Parallel()
	s := child("hostile")
	s.Secrets = []secret.Secret{secret.New("another-canary")}
	s.Env["ADDRESS"] = "https://x?k=another-canary"
	c, log := start(t, mcpclient.Options{Servers: []mcpclient.Server{s}, Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=/tmp", "LANG=C", "SLACK_BOT_TOKEN=xoxb-canary", "EARSHOT_DB=canary.db"}})
	r, err := call(t, c, "env", "")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(written(r)) {
		name, _, _ := strings.Cut(line, "=")
		got = append(got, name)
	}
	slices.Sort(got)
	if want := []string{"ADDRESS", childVariable, "HOME", "LANG", "MY_TOKEN", "PATH"}; !cmp.Equal(got, want) {
		t.Errorf("the child has %v, want %v", got, want)
	}
	failed, err := call(t, c, "error", "")
	if err != nil || !failed.Failed || !strings.Contains(written(failed), "it broke") {
		t.Errorf("got %v, %v", failed, err)
	}
	log.wait(t, "starting hostile with *** red")
	for where, text := range map[string]string{"results": written(r) + written(failed), "the log": log.String()} {
		if strings.Contains(text, "canary") {
			t.Errorf("a secret stands in %s:\n%s", where, text)
		}
	}
}

func TestAChildThatDiesIsStartedAgain(t *testing.T) {
	t.Parallel()
	c, log := start(t, mcpclient.Options{Servers: []mcpclient.Server{child("hostile")}})
	before := names(t, c, here)
	if _, err := call(t, c, "die", ""); err == nil || errors.Is(err, toolbox.ErrNotRun) {
		t.Errorf("the call that killed it: got %v", err)
	}
	if diff := cmp.Diff(names(t, c, here), before); diff != "" {
		t.Errorf("its tools while it is away:\n%s", diff)
	}
	for { // until it is back
		r, err := call(t, c, "good", "")
		if err == nil && !r.Failed {
			break
		}
		if !errors.Is(err, toolbox.ErrNotRun) {
			t.Fatalf("while it is away: got %v, %v", r, err)
		}
		<-log.news
	}
}

func TestAChildThatDoesNotSpeakEndsWithTheClient(t *testing.T) {
	t.Parallel()
	c, err := mcpclient.New(mcpclient.Options{Servers: []mcpclient.Server{child("dumb")}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c.Start(ctx)
	if list, err := c.Tools(t.Context(), here); err != nil || len(list) != 0 {
		t.Errorf("got %v, %v", list, err)
	}
	if err := errors.Join(c.Close(), c.Close()); err != nil {
		t.Error(err)
	}
}

func TestAServerThatIsAwayLeavesTheOthers(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	c, log := start(t, mcpclient.Options{Servers: []mcpclient.Server{
		{Name: "away", URL: gone.URL + "/canary?key=canary"}, {Name: "missing", Command: "/no/such/program"}, {Name: "srv", URL: overHTTP(t, hostile(t.Context().Done()), nil, nil), Allow: []string{"good"}},
	}})
	if diff := cmp.Diff(names(t, c, here), []string{"srv__good"}); diff != "" {
		t.Error(diff)
	}
	for _, r := range c.Reports() {
		if r.Connected != (r.Server == "srv") || (r.Err == "") != r.Connected {
			t.Errorf("got %+v", r)
		}
	}
	if strings.Contains(log.String(), "canary") {
		t.Errorf("the log has an address:\n%s", log)
	}
	if n := strings.Count(log.String(), "a server of tools is away"); n != 2 {
		t.Errorf("the log says it %d times", n)
	}
}

func TestACallThatWasNotSentDidNotRun(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return hostile(nil) }, &mcp.StreamableHTTPOptions{Stateless: true}))
	web.Config.SetKeepAlivesEnabled(false) // else the call may meet a connection of which nobody knows yet that it is closed
	c, _ := start(t, mcpclient.Options{Servers: []mcpclient.Server{{Name: "srv", URL: web.URL}}})
	web.CloseClientConnections()
	web.Close()
	_, err := call(t, c, "write", "")
	if !errors.Is(err, toolbox.ErrNotRun) || strings.Contains(err.Error(), "127.0.0.1:") && strings.Contains(err.Error(), "http://") {
		t.Errorf("got %v", err)
	}
	for _, args := range []string{"[]", "no", `{"a":`, strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 300)} {
		if _, err := call(t, c, "write", args); !errors.Is(err, toolbox.ErrNotRun) {
			t.Errorf("%.20s: got %v", args, err)
		}
	}
}

// A forgotten session is answered with 404, without or with an error as JSON, or with 400.
func TestAForgottenSessionIsOpenedAgain(t *testing.T) {
	t.Parallel()
	for name, forget := range map[string]func(http.ResponseWriter){
		"404":           func(w http.ResponseWriter) { http.Error(w, "session not found", http.StatusNotFound) },
		"404 with JSON": func(w http.ResponseWriter) { jsonError(w, 404, "Session not found") },
		"400 with JSON": func(w http.ResponseWriter) { jsonError(w, 400, "Bad Request: No valid session ID provided") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var gone sync.Map
			var forgetting atomic.Bool
			h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return oldServer() }, nil)
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				id := r.Header.Get("Mcp-Session-Id")
				if forgetting.CompareAndSwap(true, false) {
					gone.Store(id, true)
				}
				if _, ok := gone.Load(id); ok && id != "" {
					forget(w)
					return
				}
				h.ServeHTTP(w, r)
			}))
			defer web.Close()
			c, _ := start(t, mcpclient.Options{Servers: []mcpclient.Server{{Name: "srv", URL: web.URL}}})
			forgetting.Store(true)
			if r, err := call(t, c, "good", ""); err != nil || written(r) != "fine" {
				t.Errorf("got %v, %v", r, err)
			}
			_ = c.Close()
		})
	}
}

func jsonError(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"jsonrpc":"2.0","error":{"code":-32000,"message":%q},"id":null}`, text)
}

// oldServer speaks the versions before that without sessions.
func oldServer(versions ...string) *mcp.Server {
	if len(versions) == 0 {
		versions = []string{"2025-11-25"}
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "old", Version: "1"}, &mcp.ServerOptions{SupportedProtocolVersions: versions})
	s.AddTool(&mcp.Tool{Name: "good", InputSchema: object}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return text("fine"), nil })
	return s
}

func TestOldAndNewVersionsAreSpoken(t *testing.T) {
	t.Parallel()
	for _, version := range mcp.SupportedProtocolVersions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			c, _ := start(t, mcpclient.Options{Servers: []mcpclient.Server{{Name: "srv", URL: overHTTP(t, oldServer(version), &mcp.StreamableHTTPOptions{Stateless: version == mcp.SupportedProtocolVersions()[0]}, nil)}}})
			if r, err := call(t, c, "good", ""); err != nil || written(r) != "fine" {
				t.Errorf("got %v, %v", r, err)
			}
			if got := c.Reports()[0].Protocol; got != version {
				t.Errorf("got version %s, want %s", got, version)
			}
		})
	}
}

func TestAListThatChangesIsReadAgain(t *testing.T) {
	everyKind := map[string]*mcp.Server{"old": oldServer(), "new": oldServer(mcp.SupportedProtocolVersions()[0])}
	t.Parallel()
	for name, s := range everyKind {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, log := start(t, mcpclient.Options{Servers: []mcpclient.Server{{Name: "srv", URL: overHTTP(t, s, &mcp.StreamableHTTPOptions{Stateless: name == "new"}, nil)}}})
			s.AddTool(&mcp.Tool{Name: "later", InputSchema: object}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return text("later"), nil })
			log.wait(t, "tools=2")
			if diff := cmp.Diff(names(t, c, here), []string{"srv__good", "srv__later"}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPagesOfTheListAreRead(t *testing.T) {
	t.Parallel()
	s := mcp.NewServer(&mcp.Implementation{Name: "pages", Version: "1"}, &mcp.ServerOptions{PageSize: 7})
	for i := range 300 {
		s.AddTool(&mcp.Tool{Name: fmt.Sprintf("t%03d", i), InputSchema: object}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return text("x"), nil })
	}
	c, _ := start(t, mcpclient.Options{Servers: []mcpclient.Server{{Name: "srv", URL: overHTTP(t, s, nil, nil)}}})
	all := names(t, c, here)
	if len(all) != 256 || all[255] != "srv__t255" {
		t.Errorf("got %d tools, the last %s", len(all), all[len(all)-1])
	}
	if p := c.Reports()[0].Problems; len(p) != 44 {
		t.Errorf("got %d problems", len(p))
	}
}

func TestToolsAreOfferedByChannelAndCalledForWhomTheyAre(t *testing.T) {
	t.Parallel()
	url := overHTTP(t, oldServer(), nil, nil)
	c, _ := start(t, mcpclient.Options{Offered: func(server string, _ earshot.Channel) bool { return server != "elsewhere" }, Servers: []mcpclient.Server{
		{Name: "all", URL: url}, {Name: "channel", URL: url, Channels: []string{"C1"}}, {Name: "user", URL: url, Users: []string{"U1"}}, {Name: "nobody", URL: url, Channels: []string{"C1"}, Users: []string{"U9"}},
		{Name: "elsewhere", URL: url},
	}})
	if diff := cmp.Diff(names(t, c, here), []string{"all__good", "channel__good", "nobody__good", "user__good"}); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(names(t, c, toolbox.Place{}), []string{"all__good", "user__good"}); diff != "" {
		t.Error(diff) // the same for whoever asks: the list stands in the prefix that is cached
	}
	if _, err := c.Call(t.Context(), toolbox.Place{}, toolbox.Call{ID: "x", Name: "channel__good"}); !errors.Is(err, toolbox.ErrNotRun) {
		t.Errorf("a call where it is not offered: got %v", err)
	}
	if _, err := c.Call(t.Context(), here, toolbox.Call{ID: "x", Name: "elsewhere__good"}); !errors.Is(err, toolbox.ErrNotRun) {
		t.Errorf("a call where the caller does not offer it: got %v", err)
	}
	var told interface{ Reason() string }
	if _, err := c.Call(t.Context(), toolbox.Place{}, toolbox.Call{ID: "x", Name: "user__good"}); !errors.Is(err, toolbox.ErrNotRun) || !errors.As(err, &told) {
		t.Errorf("a call for somebody else: got %v", err)
	}
	if r, err := c.Call(t.Context(), here, toolbox.Call{ID: "x", Name: "user__good"}); err != nil || r.Failed {
		t.Errorf("a call for who is named: got %v, %v", r, err)
	}
}

func TestWhatNeedsApproval(t *testing.T) {
	t.Parallel()
	url := overHTTP(t, hostile(t.Context().Done()), nil, nil)
	for _, one := range []struct {
		name    string
		approve mcpclient.Approve
		want    string // of good, which reads, and of write
	}{
		{"by default what writes", nil, "false true"},
		{"default is the default", mcpclient.Approve{"default"}, "false true"},
		{"always", mcpclient.Approve{"always"}, "true true"},
		{"never", mcpclient.Approve{"never"}, "false false"},
		{"those that are named", mcpclient.Approve{"goo*"}, "true false"},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			c, _ := start(t, mcpclient.Options{Servers: []mcpclient.Server{{Name: "srv", URL: url, Allow: []string{"good", "write"}, Approve: one.approve}}})
			list, err := c.Tools(t.Context(), here)
			if err != nil || len(list) != 2 {
				t.Fatalf("got %v, %v", list, err)
			}
			if got := fmt.Sprint(list[0].Approve, " ", list[1].Approve); got != one.want {
				t.Errorf("got %s, want %s", got, one.want)
			}
		})
	}
}

// A server whose list has each kind of tool that cannot be offered as it is.
func TestListsThatLie(t *testing.T) {
	t.Parallel()
	deep := any(map[string]any{"type": "string"})
	for range 40 {
		deep = map[string]any{"type": "object", "properties": map[string]any{"x": deep}}
	}
	recursion := map[string]any{"type": "object", "properties": map[string]any{"next": map[string]any{"$ref": "#"}}}
	tools := []map[string]any{
		{"name": "plain", "description": "fine", "inputSchema": object},
		{"name": "a b", "inputSchema": object}, {"name": "a.b", "inputSchema": object}, {"name": "a_b", "inputSchema": object},
		{"name": strings.Repeat("long", 40), "inputSchema": object}, {"name": "\u202ebidi", "description": "\x1b[31mred\u200b\u202e", "inputSchema": object},
		{"name": "wordy", "description": strings.Repeat("words ", 1000), "inputSchema": object},
		{"name": "recursion", "inputSchema": recursion}, {"name": "deep", "inputSchema": deep},
		{"name": "large", "inputSchema": map[string]any{"type": "object", "description": strings.Repeat("x", 20<<10)}},
		{"name": "text", "inputSchema": map[string]any{"type": "string"}}, {"name": "none"}, {"name": "list", "inputSchema": []any{1}},
		{"name": "either", "inputSchema": map[string]any{"oneOf": []any{object}, "properties": map[string]any{"a": map[string]any{}}}},
		{"name": "argument", "inputSchema": map[string]any{"type": "object", "properties": map[string]any{"a b": map[string]any{}}}},
		{"name": "twice", "description": "b", "inputSchema": object}, {"name": "twice", "description": "a", "inputSchema": object},
		{"name": "canary-secret-1", "description": "canary-secret-1", "inputSchema": object}, {"name": "", "inputSchema": object},
	}
	var first []string
	for _, turn := range []int{0, 7} { // in another order it is the same
		list := append(slices.Clone(tools[turn:]), tools[:turn]...)
		url := scripted(t, func(method string, id json.RawMessage) string {
			if method == "tools/list" {
				out, err := json.Marshal(map[string]any{"tools": list})
				if err != nil {
					t.Error(err)
				}
				return string(out)
			}
			return ""
		})
		c, log := start(t, mcpclient.Options{Servers: []mcpclient.Server{{Name: "srv", URL: url, Secrets: []secret.Secret{secret.New("canary-secret-1")}}}})
		offered, err := c.Tools(t.Context(), here)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, one := range offered {
			if len(one.Name) > 64 || len([]rune(one.Description)) > 1024 || strings.ContainsAny(one.Description, "\x1b\u202e\u200b") || !one.Schema.Valid() {
				t.Errorf("got %v", one)
			}
			got = append(got, fmt.Sprintf("%s %.10s %.120s", one.Name, one.Description, one.Schema))
		}
		if first == nil {
			first = got
		}
		if diff := cmp.Diff(got, first); diff != "" {
			t.Errorf("in another order:\n%s", diff)
		}
		if strings.Contains(strings.Join(got, "\n")+log.String()+fmt.Sprint(c.Reports()[0].Problems), "canary") && !strings.Contains(strings.Join(got, "\n"), "srv__canary-secret-1") {
			t.Errorf("a secret is shown:\n%s\n%s", strings.Join(got, "\n"), log)
		}
	}
	t.Log(strings.Join(first, "\n"))
	var only []string
	for _, one := range first {
		name, _, _ := strings.Cut(one, " ")
		only = append(only, strings.TrimPrefix(name, "srv__"))
	}
	for _, left := range []string{"deep", "large", "text", "list", "argument"} {
		if slices.Contains(only, left) {
			t.Errorf("%s is offered", left)
		}
	}
	for _, kept := range []string{"plain", "a_b", "a_b_c8687a08", "recursion", "none", "either", "twice", "wordy"} {
		if kept != "a_b_c8687a08" && !slices.Contains(only, kept) {
			t.Errorf("%s is not offered", kept)
		}
	}
	if n := len(slices.DeleteFunc(slices.Clone(only), func(s string) bool { return !strings.HasPrefix(s, "a_b") })); n != 3 {
		t.Errorf("of three names that look alike %d are offered: %v", n, only)
	}
}

// scripted is a server over HTTP whose results are written by hand: result returns one, or
// "" for what a server needs to be connected to.
func scripted(t *testing.T, result func(method string, id json.RawMessage) string) string {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		if m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		answer := result(m.Method, m.ID)
		switch {
		case answer != "" && answer[0] == '!': // whole
			fmt.Fprint(w, answer[1:])
			return
		case answer != "":
		case m.Method == "server/discover":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, m.ID)
			return
		case m.Method == "initialize":
			answer = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`
		case m.Method == "tools/list":
			answer = `{"tools":[{"name":"good","inputSchema":{"type":"object"}},{"name":"other","inputSchema":{"type":"object"}}]}`
		default:
			answer = `{"content":[{"type":"text","text":"fine"}]}`
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, answer)
	}))
	t.Cleanup(web.Close)
	return web.URL
}

func TestAnswersThatAreNoneCostTheirCall(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"no JSON": "!<html>", "nothing": "!", "50 MB": "!" + `{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"` + strings.Repeat("0123456789", 5<<20) + `"}]}}`, "half": `!{"jsonrpc":"2.0","id":1,"resu`, "deep": "!" + strings.Repeat("[", 1<<20), "null": "null", "a list": "[]", "content of no kind": `{"content":[{"type":"hologram"}]}`,
		"content of null": `{"content":[null]}`, "resource of null": `{"content":[{"type":"resource","resource":null}]}`, "no content": `{}`, "content is a number": `{"content":7}`, "an image of no base64": `{"content":[{"type":"image","data":"%%","mimeType":"image/png"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var odd atomic.Bool
			odd.Store(true)
			url := scripted(t, func(method string, _ json.RawMessage) string {
				if method == "tools/call" && odd.CompareAndSwap(true, false) {
					return answer
				}
				return ""
			})
			c, log := start(t, mcpclient.Options{Servers: []mcpclient.Server{{Name: "srv", URL: url}}})
			_, err := call(t, c, "other", "")
			if errors.Is(err, toolbox.ErrNotRun) {
				t.Errorf("it was sent: got %v", err)
			}
			if r, err := call(t, c, "good", ""); err != nil || written(r) != "fine" {
				t.Errorf("the next call: got %v, %v", r, err)
			}
			if n := strings.Count(log.String(), "a server of tools answers"); n != 1 {
				t.Errorf("it was connected to %d times\n%s", n, log)
			}
		})
	}
}

// net/http sends a request with an Idempotency-Key again where a connection breaks.
func TestACallIsSentOnce(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	var web *httptest.Server
	h := scriptedHandler(t)
	web = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Idempotency-Key") != "" {
			calls.Add(1)
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_ = conn.Close()
			return
		}
		h(w, r)
	}))
	defer web.Close()
	c, _ := start(t, mcpclient.Options{Servers: []mcpclient.Server{{Name: "srv", URL: web.URL}}})
	if _, err := call(t, c, "good", ""); err == nil || errors.Is(err, toolbox.ErrNotRun) {
		t.Errorf("got %v", err)
	}
	if n := calls.Load(); n != 1 {
		t.Errorf("the call was sent %d times", n)
	}
}

// scriptedHandler passes requests on to a scripted server.
func scriptedHandler(t *testing.T) http.HandlerFunc {
	t.Helper()
	url := scripted(t, func(string, json.RawMessage) string { return "" })
	target, err := neturl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return httputil.NewSingleHostReverseProxy(target).ServeHTTP
}
