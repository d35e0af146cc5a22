package daemon_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/daemon/otlp/otlptest"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
	"github.com/earshot-ai/earshot/platform/local"
	"github.com/earshot-ai/earshot/simulate"
)

// canaries are what people and the model write in the turn of these tests. Each is a word
// of its own, so that a part of a text is found too.
var canaries = []string{"questioncanary", "answercanary", "argumentcanary", "toolcanary", "namecanary", "chattercanary", "errorcanary"}

// tracedTurn has a bot on Slack answer one question, with a call that fails, tools and an
// answer, and returns what the collector was sent.
func tracedTurn(t *testing.T, environ ...string) (*otlptest.Collector, *slackWorld, earshot.QueuedTurn) {
	t.Helper()
	c := otlptest.New(t)
	x := newSlackWorld(t, "http://127.0.0.1:0", byHTTP, nil, append(environ, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL, "EARSHOT_MODEL=script-1")...)
	used := earshot.Usage{Input: 100, Output: 10, CacheRead: 20, CacheWrite: 3}
	tool := llmtest.Do(func(llm.Request) (llm.Response, error) {
		return llm.Response{Stop: llm.StopCalls, Usage: used, Provider: "script", Model: "script-1", Parts: []llm.Part{
			llm.Calling(llm.Call{ID: "c1", Name: "channel_context", Args: `{"intent":"argumentcanary"}`}),
			llm.Calling(llm.Call{ID: "c2", Name: "toolcanary", Args: `{"x":"argumentcanary"}`}),
		}}, nil
	})
	answer := llmtest.Do(func(llm.Request) (llm.Response, error) {
		return llm.Response{Stop: llm.StopEnd, Usage: used, Provider: "script", Model: "script-1", Parts: []llm.Part{llm.Text("It is answercanary.")}}, nil
	})
	x.options.Outside.Model = llmtest.New(llmtest.Fail(&llm.Error{Status: 529, Code: "overloaded", Message: "errorcanary", Retryable: true}), tool, answer)
	x.options.Version = "1.2.3"
	x.start()
	ann := x.AddUser(simulate.User{Name: "namecanary", RealName: "Namecanary Smith"})
	x.Join(x.general, ann)
	x.Say(x.general, ann, "chattercanary")
	x.Say(x.general, ann, x.at("is it questioncanary?"))
	turn := x.ends(earshot.TurnDone).Turn
	x.settled()
	x.stop()
	return c, x, turn
}

// TestATurnIsATrace reads the trace of one turn.
func TestATurnIsATrace(t *testing.T) {
	t.Parallel()
	c, x, turn := tracedTurn(t)
	spans := c.Spans()
	slices.SortStableFunc(spans, func(a, b *tracepb.Span) int {
		return int(a.GetStartTimeUnixNano()/1000) - int(b.GetStartTimeUnixNano()/1000) //nolint:gosec // times of now
	})
	byID := map[string]*tracepb.Span{}
	for _, s := range spans {
		byID[string(s.GetSpanId())] = s
	}
	var got []string
	for _, s := range spans {
		parent := byID[string(s.GetParentSpanId())]
		line := s.GetName() + " in " + parent.GetName()
		if s.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR {
			line += ", error " + otlptest.Facts(s.GetAttributes())["error.type"]
		}
		got = append(got, line)
		if string(s.GetTraceId()) != string(spans[0].GetTraceId()) || len(s.GetTraceId()) != 16 || len(s.GetSpanId()) != 8 {
			t.Errorf("%s is in the trace %x, with the id %x", s.GetName(), s.GetTraceId(), s.GetSpanId())
		}
		if s.GetStartTimeUnixNano() > s.GetEndTimeUnixNano() || time.Since(time.Unix(0, int64(s.GetStartTimeUnixNano()))) > time.Hour { //nolint:gosec // times of now
			t.Errorf("%s is from %d to %d", s.GetName(), s.GetStartTimeUnixNano(), s.GetEndTimeUnixNano())
		}
		if parent != nil && (s.GetStartTimeUnixNano() < parent.GetStartTimeUnixNano() || s.GetEndTimeUnixNano() > parent.GetEndTimeUnixNano()) {
			t.Errorf("%s is not within %s", s.GetName(), parent.GetName())
		}
	}
	if diff := gocmp.Diff(got, []string{
		"invoke_agent in ", "gather in invoke_agent", "assemble in invoke_agent", "generate in invoke_agent",
		"chat script-1 in generate, error 529", "chat script-1 in generate",
		"execute_tool channel_context in generate", "execute_tool unknown in generate", "chat script-1 in generate", "post in invoke_agent",
	}); diff != "" {
		t.Fatalf("-got +want\n%s", diff)
	}
	for _, want := range []struct {
		span  int
		facts map[string]string
	}{
		{0, map[string]string{
			"gen_ai.operation.name": "invoke_agent", "gen_ai.usage.input_tokens": "246", "gen_ai.usage.output_tokens": "20", "gen_ai.usage.cache_read.input_tokens": "40",
			"gen_ai.usage.cache_creation.input_tokens": "6", "gen_ai.agent.id": x.self, "earshot.turn.id": "1", "earshot.turn.state": "done", "earshot.turn.tries": "1",
			"earshot.model_calls": "2", "earshot.channel": x.general, "earshot.platform": "slack", "earshot.message": string(turn.Anchor),
		}},
		{4, map[string]string{"gen_ai.operation.name": "chat", "gen_ai.request.model": "script-1", "gen_ai.request.max_tokens": "4096"}},
		{5, map[string]string{
			"gen_ai.operation.name": "chat", "gen_ai.request.model": "script-1", "gen_ai.response.model": "script-1", "gen_ai.provider.name": "anthropic",
			"gen_ai.response.finish_reasons": "tool_call", "gen_ai.usage.input_tokens": "123", "gen_ai.usage.output_tokens": "10",
		}},
		{6, map[string]string{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "channel_context"}},
		{8, map[string]string{"gen_ai.response.finish_reasons": "stop"}},
	} {
		facts := otlptest.Facts(spans[want.span].GetAttributes())
		for key, value := range want.facts {
			if facts[key] != value {
				t.Errorf("%s of %s is %q, want %q", key, spans[want.span].GetName(), facts[key], value)
			}
		}
	}
	if at := time.Unix(0, int64(spans[0].GetStartTimeUnixNano())); !at.Equal(turn.Opened.UTC()) { //nolint:gosec // a time of now
		t.Errorf("the turn begins at %s, want %s", at, turn.Opened)
	}
	if kind := spans[5].GetKind(); kind != tracepb.Span_SPAN_KIND_CLIENT {
		t.Errorf("a call of the model is %s", kind)
	}
	for _, name := range []string{"earshot_turns_total", "earshot_queue_turns", "earshot_model_calls_total", "earshot_api_calls_total", "process_resident_memory_bytes"} {
		if c.Metric(name) == nil {
			t.Errorf("the metric %s is missing", name)
		}
	}
	for _, want := range []string{`key: "service.name"`, `string_value: "earshot"`, `string_value: "1.2.3"`} {
		if text := strings.ReplaceAll(c.Text(), ":  ", ": "); !strings.Contains(text, want) {
			t.Errorf("the resource lacks %s", want)
		}
	}
}

// TestNoTextLeavesUnlessItMay looks for what people and the model wrote in all that a
// collector is sent.
func TestNoTextLeavesUnlessItMay(t *testing.T) {
	t.Parallel()
	t.Run("by default", func(t *testing.T) {
		t.Parallel()
		c, _, _ := tracedTurn(t)
		if len(c.Spans()) == 0 {
			t.Fatal("nothing was sent")
		}
		for _, word := range canaries {
			if strings.Contains(strings.ToLower(c.Text()), word) {
				t.Errorf("the collector was sent %s", word)
			}
		}
	})
	t.Run("with otel.content", func(t *testing.T) {
		t.Parallel()
		c, _, _ := tracedTurn(t, "EARSHOT_OTEL_CONTENT=true")
		for _, word := range canaries {
			if word != "errorcanary" && !strings.Contains(strings.ToLower(c.Text()), word) {
				t.Errorf("the collector was not sent %s", word)
			}
		}
		var last map[string]string
		for _, s := range c.Spans() {
			if s.GetName() == "chat script-1" {
				last = otlptest.Facts(s.GetAttributes())
			}
		}
		if got, want := last["gen_ai.output.messages"], `[{"role":"assistant","parts":[{"type":"text","content":"It is answercanary."}],"finish_reason":"stop"}]`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// TestACollectorThatHangsHoldsUpNoTurn: it takes requests and never answers.
func TestACollectorThatHangsHoldsUpNoTurn(t *testing.T) {
	t.Parallel()
	c := otlptest.New(t)
	asked := make(chan struct{}, 100)
	c.Answer(func(_ http.ResponseWriter, r *http.Request) bool {
		asked <- struct{}{}
		_, _ = io.Copy(io.Discard, r.Body) // the server hears of the end of the client only then
		<-r.Context().Done()
		return true
	})
	x := newSlackWorld(t, "http://127.0.0.1:0", byHTTP, nil, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL)
	var steps []llmtest.Step
	for range 6 {
		steps = append(steps, llmtest.Say("Yes."))
	}
	x.options.Outside.Model = llmtest.New(steps...)
	x.start()
	for n := range 6 {
		x.Say(x.general, x.ann, x.at("still there?"))
		x.ends(earshot.TurnDone)
		if n == 0 {
			<-asked // from here on it hangs
		}
	}
	x.stop()
	if len(c.Spans()) > 0 {
		t.Error("the collector has read something")
	}
}

// TestATurnOfACallerIsATrace opens a turn over the API of a sidecar, and commits it.
func TestATurnOfACallerIsATrace(t *testing.T) {
	t.Parallel()
	c := otlptest.New(t)
	cfg, err := config.Load("", []string{"EARSHOT_API=127.0.0.1:0", "EARSHOT_DB=" + filepath.Join(t.TempDir(), "s.db"), "OTEL_EXPORTER_OTLP_ENDPOINT=" + c.URL, "OTEL_SERVICE_NAME=side"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	d, err := daemon.OpenSidecar(ctx, daemon.Options{Config: cfg})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	ran := make(chan error, 1)
	go func() { ran <- d.Run(ctx) }()
	key, _, err := access.CreateKey(ctx, d.Store, access.KeySpec{Name: "bot", Workspaces: []earshot.WorkspaceID{"T1"}})
	if err != nil {
		t.Fatal(err)
	}
	call := func(method, path, body string, answer any) {
		r, err := http.NewRequestWithContext(ctx, method, "http://"+d.API+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+key.Reveal())
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		raw, err := io.ReadAll(res.Body)
		if err == nil {
			err = json.Unmarshal(raw, answer)
		}
		if err != nil || res.StatusCode >= 300 {
			t.Fatalf("%s: %d, %v: %s", path, res.StatusCode, err, raw)
		}
	}
	var opened struct {
		Turn struct {
			ID json.Number `json:"id"`
		} `json:"turn"`
	}
	call(http.MethodPut, "/v1/agents/UBOT", `{"name":"helper"}`, &struct{}{})
	call(http.MethodPost, "/v1/context", `{"channel":"C1","agent":"UBOT","open":true,"message":{"id":"m1","time":"2026-03-02T12:00:00Z","author":{"id":"U1","name":"namecanary"},"text":"is it questioncanary?"}}`, &opened)
	call(http.MethodPost, "/v1/turns/"+opened.Turn.ID.String()+"/commit", `{"reply":{"text":"answercanary"},"usage":{"input":30,"output":4}}`, &struct{}{})
	stop()
	if err := <-ran; err != nil {
		t.Fatal(err)
	}
	spans := c.Spans()
	if len(spans) != 2 || spans[0].GetName() != "context" || spans[1].GetName() != "invoke_agent" || string(spans[0].GetParentSpanId()) != string(spans[1].GetSpanId()) ||
		spans[0].GetStartTimeUnixNano() != spans[1].GetStartTimeUnixNano() || spans[0].GetEndTimeUnixNano() > spans[1].GetEndTimeUnixNano() {
		t.Fatalf("got %v", spans)
	}
	facts := otlptest.Facts(spans[1].GetAttributes())
	if facts["gen_ai.usage.input_tokens"] != "30" || facts["gen_ai.usage.output_tokens"] != "4" || facts["earshot.channel"] != "C1" {
		t.Errorf("got %v", facts)
	}
	for _, word := range canaries {
		if strings.Contains(strings.ToLower(c.Text()), word) {
			t.Errorf("the collector was sent %s", word)
		}
	}
}

// TestATraceSaysWhatATurnHasCost: of the whole where each model has a price.
func TestATraceSaysWhatATurnHasCost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		priced string
		want   map[string]string
	}{
		{"script", map[string]string{"chat offline": "2.5", "invoke_agent": "2.5"}},
		{"another", map[string]string{"chat offline": "", "invoke_agent": ""}},
	} {
		t.Run(c.priced, func(t *testing.T) {
			t.Parallel()
			collector := otlptest.New(t)
			cfg := defaults(t)
			cfg.Store, cfg.Otel.Endpoint = "memory:", collector.URL
			cfg.Model.Prices = map[string]config.Price{c.priced: {Input: 2, Output: 1}}
			says := llmtest.New(llmtest.Do(func(llm.Request) (llm.Response, error) {
				return llm.Response{Stop: llm.StopEnd, Model: "script-1-2026", Usage: earshot.Usage{Input: 1_000_000, Output: 500_000}, Parts: []llm.Part{llm.Text("Yes.")}}, nil
			}))
			d, err := daemon.Open(t.Context(), daemon.Options{Config: cfg, Outside: daemon.Outside{Model: says}})
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			ctx, stop := context.WithTimeout(t.Context(), enough)
			defer stop()
			ran := make(chan error, 1)
			go func() { ran <- d.Run(ctx) }()
			heard, err := d.Chat.Say(ctx, local.NewMessage{Channel: "general", As: "bob", Text: "@earshot hello"})
			if err == nil {
				err = d.Wait(ctx, heard.Turn)
			}
			if err != nil {
				t.Fatal(err)
			}
			stop()
			if err := <-ran; err != nil {
				t.Fatal(err)
			}
			costs := map[string]string{}
			for _, s := range collector.Spans() {
				if _, ok := c.want[s.GetName()]; ok {
					costs[s.GetName()] = otlptest.Facts(s.GetAttributes())["earshot.cost"]
				}
			}
			if diff := gocmp.Diff(costs, c.want); diff != "" {
				t.Errorf("-got +want\n%s", diff)
			}
		})
	}
}
