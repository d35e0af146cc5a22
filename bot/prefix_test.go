package bot_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/model/anthropic"
	"github.com/earshot-ai/earshot/model/gemini"
	"github.com/earshot-ai/earshot/model/openai"
	"github.com/earshot-ai/earshot/secret"
)

// A wire is the network of a provider: it answers each new request with the next of
// its answers, a repeated one with the same answer, and keeps the requests.
type wire struct {
	mu      sync.Mutex // guards what follows
	answers []string   // bodies of server-sent events
	bodies  []map[string]any
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var body map[string]any
	if err := json.Unmarshal(raw, &body); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	// A process that repeats a request after a restart gets the same answer.
	if n := len(w.bodies); n == 0 || !reflect.DeepEqual(body, w.bodies[n-1]) {
		if n == len(w.answers) {
			return nil, fmt.Errorf("request %d is not in the script", n+1)
		}
		w.bodies = append(w.bodies, body)
	}
	answer := w.answers[len(w.bodies)-1]
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: r, Body: io.NopCloser(strings.NewReader(answer)),
	}, nil
}

func (w *wire) asked() []map[string]any {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]map[string]any(nil), w.bodies...)
}

// A provider is a model adapter over a wire. Each answer contains thinking, and either
// calls a tool or has a text.
type provider struct {
	name  string
	model func(o model.Options) (llm.Model, error)
	field string // where the messages stand in a request
	call  func(n int, tool, args string) string
	say   func(n int, text string) string
}

func quoted(s string) string {
	raw, _ := json.Marshal(s)
	return string(raw)
}

func events(named bool, list ...string) string {
	var b strings.Builder
	for _, e := range list {
		var kind struct{ Type string }
		if named && json.Unmarshal([]byte(e), &kind) == nil {
			b.WriteString("event: " + kind.Type + "\n")
		}
		b.WriteString("data: " + e + "\n\n")
	}
	return b.String()
}

var providers = []provider{
	{
		name: "anthropic", field: "messages", model: func(o model.Options) (llm.Model, error) { return anthropic.New(o) },
		call: func(n int, tool, args string) string {
			return claude(n, "tool_use", `{"type":"tool_use","id":"toolu_`+fmt.Sprint(n)+`","name":"`+tool+`","input":{}}`, `{"type":"input_json_delta","partial_json":`+quoted(args)+`}`)
		},
		say: func(n int, text string) string {
			return claude(n, "end_turn", `{"type":"text","text":""}`, `{"type":"text_delta","text":`+quoted(text)+`}`)
		},
	},
	{
		name: "gemini", field: "contents", model: func(o model.Options) (llm.Model, error) { return gemini.New(o) },
		call: func(n int, tool, args string) string {
			return google(`{"functionCall":{"name":"` + tool + `","args":` + args + `},"thoughtSignature":"` + signature(n) + `"}`)
		},
		say: func(n int, text string) string {
			return google(`{"text":` + quoted(text) + `,"thoughtSignature":"` + signature(n) + `"}`)
		},
	},
	{
		name: "openai", field: "messages", model: func(o model.Options) (llm.Model, error) { return openai.New(o) },
		call: func(n int, tool, args string) string {
			return chat(n, "tool_calls", `"tool_calls":[{"index":0,"id":"call_`+fmt.Sprint(n)+`","type":"function","function":{"name":"`+tool+`","arguments":`+quoted(args)+`}}]`)
		},
		say: func(n int, text string) string { return chat(n, "stop", `"content":`+quoted(text)) },
	},
}

func signature(n int) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "signature %d", n))
}

func claude(n int, stop, block, delta string) string {
	return events(true,
		`{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"test-1","content":[],"usage":{"input_tokens":5,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"thought `+fmt.Sprint(n)+`"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"`+signature(n)+`"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":`+block+`}`,
		`{"type":"content_block_delta","index":1,"delta":`+delta+`}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"message_delta","delta":{"stop_reason":"`+stop+`","stop_sequence":null},"usage":{"output_tokens":9}}`,
		`{"type":"message_stop"}`)
}

func google(part string) string {
	return events(false, `{"candidates":[{"index":0,"content":{"role":"model","parts":[`+part+`]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":7},"modelVersion":"gemini-test-1"}`)
}

func chat(n int, finish, delta string) string {
	return events(false,
		`{"id":"c","object":"chat.completion.chunk","model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","reasoning_content":"thought `+fmt.Sprint(n)+`"},"finish_reason":null}]}`,
		`{"id":"c","object":"chat.completion.chunk","model":"m-1","choices":[{"index":0,"delta":{`+delta+`},"finish_reason":null}]}`,
		`{"id":"c","object":"chat.completion.chunk","model":"m-1","choices":[{"index":0,"delta":{},"finish_reason":"`+finish+`"}]}`,
		"[DONE]")
}

// unmarked returns a part of a request without the cache breakpoints, which may move.
func unmarked(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = unmarked(x)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for name, x := range v {
			if name != "cache_control" {
				out[name] = unmarked(x)
			}
		}
		return out
	}
	return v
}

// extends fails the test unless each request begins with the one before it.
func extends(t *testing.T, field string, asked []map[string]any) {
	t.Helper()
	for i := 1; i < len(asked); i++ {
		before, now := unmarked(asked[i-1]).(map[string]any), unmarked(asked[i]).(map[string]any)
		for _, name := range []string{"system", "tools", "systemInstruction"} {
			if diff := cmp.Diff(now[name], before[name]); diff != "" {
				t.Errorf("request %d: %s is another (-got +want):\n%s", i+1, name, diff)
			}
		}
		a, b := before[field].([]any), now[field].([]any)
		if len(a) >= len(b) {
			t.Errorf("request %d has %d messages, the one before it %d", i+1, len(b), len(a))
			continue
		}
		if diff := cmp.Diff(b[:len(a)], a); diff != "" {
			t.Errorf("request %d does not begin with the one before it (-got +want):\n%s", i+1, diff)
		}
	}
}

// holds returns how often the bytes of a file are in a request.
func holds(t *testing.T, body map[string]any, data []byte) int {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(raw, []byte(base64.StdEncoding.EncodeToString(data))) + bytes.Count(raw, data)
}

// converse holds a conversation of four turns, with a picture, a text, a file that a tool
// opens, and calls. kill ends the process once, at a fault point.
func converse(t *testing.T, p provider, kill string) (asked []map[string]any, d *drawer) {
	t.Helper()
	w := &wire{answers: []string{
		p.call(1, "channel_context", `{"intent":"the plan"}`), p.say(2, "It is red."),
		p.say(3, "Red, as I said: see https://elsewhere.example/x."),
		p.call(4, "channel_messages", `{"media_artifact_id":"FX"}`), p.call(5, "channel_context", `{"intent":"budget"}`), p.say(6, "They agree."),
		p.say(7, "You are welcome."),
	}}
	m, err := p.model(model.Options{Model: "gemini-3-test", APIKey: secret.New("k"), BaseURL: "http://provider.example", HTTPClient: &http.Client{Transport: w}})
	if err != nil {
		t.Fatal(err)
	}
	d = newDrawer()
	d.holds["F4"] = llm.Media{Type: "text/plain", Data: []byte("  canary log of the build")}
	in(t, func(o *bot.Options) {
		o.Store, o.Model, o.Files = keeping(o.Store), m, d
		armed := kill
		o.Fault = func(at string) {
			if at == armed {
				armed = ""
				runtime.Goexit()
			}
		}
	}, func(x *world) {
		ask := func(id, text string, change ...func(*bot.Event)) {
			x.say(general, alice, id, text, change...)
			x.rest(30 * time.Second)
		}
		x.say(general, bob, "x1", "the plan is ready", sharing("FX"))
		ask("m1", "<@U0BOT> what colour is this? see the plan", sharing("F1"))
		ask("m2", "<@U0BOT> what colour is it?", under("m1"))
		x.stop()
		x.start()
		ask("m3", "<@U0BOT> does the log agree with bob's plan?", under("m1"), sharing("F4"))
		ask("m4", "<@U0BOT> thanks", under("m1"))
		same(t, "posts", x.board.all(), []string{"It is red.", "Red, as I said: see `https://elsewhere.example/x`.", "They agree.", "You are welcome."})
	})
	return w.asked(), d
}

func TestARequestBeginsWithTheOneBeforeIt(t *testing.T) {
	t.Parallel()
	for _, p := range providers {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			asked, d := converse(t, p, "")
			if len(asked) != 7 {
				t.Fatalf("%d requests", len(asked))
			}
			extends(t, p.field, asked)
			f1, fx, f4 := d.holds["F1"].Data, []byte(canary+"FX"), d.holds["F4"].Data
			for i, body := range asked {
				got := []int{holds(t, body, f1), holds(t, body, fx), holds(t, body, f4)}
				want := []int{1, 0, 0}
				if i >= 3 {
					want[2] = 1
				}
				if i >= 4 {
					want[1] = 1
				}
				if diff := cmp.Diff(got, want); diff != "" {
					t.Errorf("request %d holds picture, tool's file and text so often (-got +want):\n%s", i+1, diff)
				}
			}
			raw, _ := json.Marshal(asked[6])
			for _, n := range []int{1, 4, 5} {
				if thought := signature(n); p.name != "openai" && !strings.Contains(string(raw), thought) {
					t.Errorf("the last request does not hold what the provider signed in answer %d", n)
				}
			}
			same(t, "files were loaded", d.opened, []string{"F1", "F4", "FX"})
		})
	}
}

func TestARequestBeginsWithTheOneBeforeItAfterAKill(t *testing.T) {
	t.Parallel()
	points := bot.FaultPoints()
	for _, at := range points[slices.Index(points, "after_claim"):] {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			asked, _ := converse(t, providers[0], at)
			extends(t, "messages", asked)
		})
	}
}

// A session of which no valid request can be made, as after an import that has lost a
// call, ends its epoch. Otherwise no question in the conversation would be answered.
func TestASessionThatCannotBeSentEndsItsEpoch(t *testing.T) {
	t.Parallel()
	withFiles(t, nil, func(w *world, _ *drawer, m *llmtest.Model) {
		w.say(general, alice, "m1", "the plan")
		if _, _, err := w.store.OpenConversation(t.Context(), conversation("m1"), ""); err != nil {
			t.Fatal(err)
		}
		_, err := w.store.CommitTurn(t.Context(), conversation("m1"), earshot.Turn{
			Answer: earshot.Answer{Anchor: "m1"}, Policy: "standard", Hash: "x", Form: string(assemble.Log),
			Session: []earshot.SessionEntry{{Role: earshot.User, Text: "q"}, {Role: earshot.ToolRole, Call: "lost", Text: "{}"}, {Role: earshot.Assistant, Text: "a"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		w.say(general, alice, "m2", "<@U0BOT> is it good?", under("m1"))
		w.rest(time.Second)
		same(t, "posts", w.board.all(), []string{"I see."})
		if got := m.Requests(); len(got) != 1 || len(got[0].Messages) != 1 {
			t.Errorf("%d requests, want one that begins anew", len(got))
		}
		c, err := w.store.Conversation(t.Context(), conversation("m1"))
		if err != nil || c.Epoch != 1 {
			t.Errorf("epoch %d, %v", c.Epoch, err)
		}
	})
}
