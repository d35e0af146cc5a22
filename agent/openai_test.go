package agent_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/agent"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/secret"
)

// behindAPI is an agent behind OpenAI's API, at a path of a server that answers with f.
func behindAPI(t *testing.T, o agent.Options, path string, f http.HandlerFunc) *agent.OpenAI {
	t.Helper()
	web := httptest.NewServer(f)
	t.Cleanup(web.Close)
	o.URL, o.Key = web.URL+path, secret.New(canary)
	a, err := agent.NewOpenAI(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

const (
	chatEnds      = `{"model":"m1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":3}}}`
	responsesEnds = `{"type":"response.completed","response":{"model":"m1","usage":{"input_tokens":9,"output_tokens":2,"input_tokens_details":{"cached_tokens":3}}}}`
)

func chats(delta string) string { return `{"choices":[{"index":0,"delta":{` + delta + `}}]}` }

// asked is a turn after one in which a question was asked and answered.
func asked() llm.Request {
	r := turn()
	question := llm.Calling(llm.Call{ID: "q1", Name: "ask", Args: `{"question":"Which one?"}`})
	r.Messages = append([]llm.Message{
		r.Messages[0], {Role: earshot.Assistant, Parts: []llm.Part{question}},
		{Role: earshot.User, Parts: llm.Results(llm.Result{Call: "q1", Name: "ask", Parts: []llm.Part{llm.Text(`{"answer":"production"}`)}})},
	}, r.Messages[1:]...)
	r.Turn.New = 4
	return r
}

func TestWhatAnAgentBehindTheAPIIsSent(t *testing.T) {
	t.Parallel()
	metadata := map[string]any{
		"key": strings.Repeat("k", 32), "turn": "7", "conversation": strings.Repeat("c", 32), "new": "4", "asker_name": "Ann", "asker_zone": "Europe/Berlin", "asker_standing": "external", "asker_kind": "human",
		"platform": "slack", "workspace": "T1", "channel": "C1", "channel_name": "ops", "channel_kind": "channel", "thread": "m1",
	}
	message := func(role string, content any) any { return map[string]any{"role": role, "content": content} }
	part := func(kind, text string) any { return map[string]any{"type": kind, "text": text} }
	image := "data:image/png;base64,cG5n"
	newest := message("user", []any{map[string]any{"type": "image_url", "image_url": map[string]any{"url": image}}, part("text", "and this?")})
	newestInput := message("user", []any{map[string]any{"type": "input_image", "image_url": image}, part("input_text", "and this?")})
	for name, c := range map[string]struct {
		path, at, model string
		theirs          bool
		want            map[string]any
	}{
		"chat completions": {path: "/v1", at: "/v1/chat/completions", want: map[string]any{
			"model": "agent", "stream": true, "stream_options": map[string]any{"include_usage": true}, "user": "U1", "metadata": metadata,
			"messages": []any{message("system", "Be brief."), message("user", "what broke?"), message("assistant", "Which one?"), message("user", "production"), message("assistant", "The importer."), newest},
		}},
		"chat completions, named, theirs": {path: "/v1/chat/completions", at: "/v1/chat/completions", model: "ops", theirs: true, want: map[string]any{
			"model": "ops", "stream": true, "stream_options": map[string]any{"include_usage": true}, "user": "U1", "metadata": metadata, "messages": []any{message("system", "Be brief."), newest},
		}},
		"responses": {path: "/v1/responses", at: "/v1/responses", want: map[string]any{
			"model": "agent", "stream": true, "user": "U1", "metadata": metadata, "instructions": "Be brief.",
			"input": []any{message("user", []any{part("input_text", "what broke?")}), message("assistant", []any{part("output_text", "Which one?")}), message("user", []any{part("input_text", "production")}), message("assistant", []any{part("output_text", "The importer.")}), newestInput},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := behindAPI(t, agent.Options{Theirs: c.theirs, Model: c.model}, c.path, func(w http.ResponseWriter, r *http.Request) {
				data, _ := io.ReadAll(r.Body)
				var got map[string]any
				if err := json.Unmarshal(data, &got); err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff(got, c.want); diff != "" {
					t.Errorf("-got +want\n%s", diff)
				}
				for name, want := range map[string]string{"Authorization": "Bearer " + canary, "Idempotency-Key": strings.Repeat("k", 32), "Earshot-Mcp-Url": "http://here/mcp", "Earshot-Mcp-Token": "a token"} {
					if got := r.Header.Get(name); got != want {
						t.Errorf("%s is %q, want %q", name, got, want)
					}
				}
				if r.URL.Path != c.at || strings.Contains(string(data), "a token") {
					t.Errorf("%s with %s", r.URL.Path, data)
				}
				emits(w, chats(`"content":"fine"`), chatEnds, `{"type":"response.output_text.delta","delta":"fine"}`, responsesEnds)
			})
			got, err := a.Generate(t.Context(), asked(), nil)
			want := llm.Response{Parts: []llm.Part{llm.Text("fine")}, Stop: llm.StopEnd, Usage: earshot.Usage{Input: 6, Output: 2, CacheRead: 3}, Provider: "agent", Model: "m1"}
			if diff := cmp.Diff(got, want); err != nil || diff != "" {
				t.Errorf("%v -got +want\n%s", err, diff)
			}
		})
	}
}

func TestHowAnAgentBehindTheAPIAnswers(t *testing.T) {
	t.Parallel()
	calls := chats(`"tool_calls":[{"index":0,"id":"c1","function":{"name":"search","arguments":"{}"}}]`)
	for name, c := range map[string]struct {
		path   string
		status int
		events []string
		want   string
		does   string // its status
		says   string // of an error
		retry  bool
	}{
		"chat":                        {path: "/v1", events: []string{chats(`"content":"It "`), chats(`"content":"runs."`), chatEnds, "[DONE]"}, want: "It runs."},
		"chat with a tool of its own": {path: "/v1", events: []string{calls, chats(`"content":"It runs."`), chatEnds}, want: "It runs.", does: "search"},
		"chat with nothing but a tool": {path: "/v1", events: []string{calls, `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`},
			says: "calls a tool, and none is offered"},
		"chat that breaks off":          {path: "/v1", events: []string{chats(`"content":"It ru"`)}, says: "broke off", retry: true},
		"chat at work on the key":       {path: "/v1", status: http.StatusConflict, says: "409", retry: true},
		"chat that fails":               {path: "/v1", status: http.StatusBadRequest, says: "400"},
		"responses":                     {path: "/v1/responses", events: []string{`{"type":"response.output_item.added","item":{"type":"web_search_call"}}`, `{"type":"response.output_text.delta","delta":"It "}`, `{"type":"response.function_call_arguments.delta","delta":"{}"}`, `{"type":"response.output_text.delta","delta":"runs."}`, responsesEnds}, want: "It runs.", does: "web_search"},
		"responses that break off":      {path: "/v1/responses", events: []string{`{"type":"response.output_text.delta","delta":"It "}`}, says: "broke off", retry: true},
		"responses that fail":           {path: "/v1/responses", events: []string{`{"type":"response.failed","response":{"error":{"code":"server_error","message":"full"}}}`}, says: "server_error: full", retry: true},
		"responses with an error":       {path: "/v1/responses", events: []string{`{"type":"error","code":"invalid_prompt","message":"no"}`}, says: "invalid_prompt: no"},
		"responses at work on the key":  {path: "/v1/responses", status: http.StatusConflict, says: "at work", retry: true},
		"responses that are no JSON":    {path: "/v1/responses", events: []string{`{`}, says: "no JSON of the protocol"},
		"responses with another's text": {path: "/v1/responses", events: []string{`{"type":"response.output_text.delta","delta":{}}`}, says: "no JSON of the protocol"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := behindAPI(t, agent.Options{}, c.path, func(w http.ResponseWriter, _ *http.Request) {
				if c.status != 0 {
					w.WriteHeader(c.status)
					_, _ = io.WriteString(w, `{"error":{"message":"at work"}}`)
					return
				}
				emits(w, c.events...)
			})
			var stream []llm.Event
			got, err := a.Generate(t.Context(), turn(), func(e llm.Event) { stream = append(stream, e) })
			if c.says != "" {
				var e *llm.Error
				if !errors.As(err, &e) || e.Provider != "agent" || e.Retryable != c.retry || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), canary) || strings.Contains(err.Error(), "127.0.0.1") {
					t.Errorf("got %v, %+v", err, e)
				}
				return
			}
			if text, _ := heard(stream); err != nil || got.Text() != c.want || text != c.want || got.Stop != llm.StopEnd || len(got.Calls()) != 0 {
				t.Errorf("got %+v, %v, streamed %q", got, err, text)
			}
			if c.does != "" && stream[0].Status != c.does {
				t.Errorf("streamed %+v", stream)
			}
		})
	}
}

// A server of the API that nobody here wrote answers in both of its forms, and takes a picture.
func TestAServerOfTheAPIAnswersAnAgentsRequests(t *testing.T) {
	t.Parallel()
	at := modeltest.Aimock(t)
	for _, path := range []string{"/v1", "/v1/chat/completions", "/v1/responses"} {
		a, err := agent.NewOpenAI(agent.Options{URL: at + path, Key: secret.New(canary), Model: "gpt-5.4-mini"})
		if err != nil {
			t.Fatal(err)
		}
		for says, want := range map[string]string{"say hello": "Hello from the other side, in a sentence that needs several pieces.", "what is in this picture": "A very small dot."} {
			r := turn()
			last := r.Messages[2].Parts
			last[len(last)-1] = llm.Text(says)
			var stream []llm.Event
			got, err := a.Generate(t.Context(), r, func(e llm.Event) { stream = append(stream, e) })
			if text, _ := heard(stream); err != nil || got.Text() != want || text != want || got.Stop != llm.StopEnd || len(stream) < 2 || !strings.HasPrefix(got.Model, "gpt-5.4-mini") {
				t.Errorf("%s: got %+v, %v, streamed %q", path, got, err, text)
			}
			if u := (earshot.Usage{Input: 21, Output: 13}); says == "say hello" && got.Usage != u {
				t.Errorf("%s: it used %+v", path, got.Usage)
			}
		}
	}
}

func FuzzResponsesStream(f *testing.F) {
	for _, seed := range []string{
		`{"type":"response.output_item.added","item":{"type":"function_call","name":"x"}}` + "\n" + `{"type":"response.output_text.delta","delta":"It "}` + "\n" + responsesEnds,
		`{"type":"response.failed","response":{"error":{"code":"server_error"}}}`, `{"type":"response.incomplete","response":{"usage":{"input_tokens":-1}}}`,
	} {
		f.Add(seed)
	}
	var stream string
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { emits(w, strings.Split(stream, "\n")...) }))
	f.Cleanup(web.Close)
	a, err := agent.NewOpenAI(agent.Options{URL: web.URL + "/responses"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in string) {
		stream = in
		var events []llm.Event
		got, err := a.Generate(t.Context(), turn(), func(e llm.Event) { events = append(events, e) })
		if err != nil {
			return
		}
		if text, _ := heard(events); text != got.Text() || len(text) > 3*len(in) || got.Usage.Input < 0 || got.Usage.Output < 0 {
			t.Errorf("got %+v, streamed %q", got, text)
		}
	})
}
