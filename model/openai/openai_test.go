package openai_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/model/openai"
	"github.com/earshot-ai/earshot/secret"
)

func at(t *testing.T, s *modeltest.Server) llm.Model {
	t.Helper()
	m, err := openai.New(model.Options{Model: "m", APIKey: secret.New(modeltest.Key), BaseURL: s.URL + "/v1"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func chunk(delta, finish string) string {
	if finish == "" {
		finish = "null"
	} else {
		finish = `"` + finish + `"`
	}
	return `{"id":"c","object":"chat.completion.chunk","model":"m-1","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + `}]}`
}

const (
	used = `{"id":"c","object":"chat.completion.chunk","model":"m-1","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":60}}}`
	done = "[DONE]"
)

var ok = modeltest.Events(chunk(`{"role":"assistant","content":"o"}`, ""), chunk(`{"content":"k"}`, ""), chunk(`{}`, "stop"), used, done)

var lookUp = llm.Tool{Name: "look_up", Description: "Looks up.", Schema: `{"type":"object","properties":{"q":{"type":"string"}}}`}

func user(parts ...llm.Part) llm.Message { return llm.Message{Role: earshot.User, Parts: parts} }

var question = llm.Request{MaxTokens: 7, Tools: []llm.Tool{lookUp}, Messages: []llm.Message{user(llm.Text("q"))}}

func TestTheRequest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		r    llm.Request
		want map[string]string // field, JSON
	}{
		{
			"plain texts stay plain",
			llm.Request{System: "guide", Tools: []llm.Tool{lookUp}, MaxTokens: 7, NoCalls: true, Cache: true, Messages: []llm.Message{
				user(llm.Text("q1")), {Role: earshot.Assistant, Parts: []llm.Part{llm.Text("a1")}, Cache: true}, user(llm.Text("q2"))}},
			map[string]string{
				"messages":   `[{"role":"system","content":"guide"},{"role":"user","content":"q1"},{"role":"assistant","content":"a1"},{"role":"user","content":"q2"}]`,
				"tools":      `[{"type":"function","function":{"name":"look_up","description":"Looks up.","parameters":{"type":"object","properties":{"q":{"type":"string"}}}}}]`,
				"max_tokens": `7`, "max_completion_tokens": ``, "tool_choice": `"none"`, "stream": `true`, "stream_options": `{"include_usage":true}`,
			},
		},
		{
			"files",
			llm.Request{MaxTokens: 7, Messages: []llm.Message{user(
				llm.Image(llm.Media{Type: "image/png", Data: []byte{1}}), llm.Document(llm.Media{Name: "a.pdf", Type: "application/pdf", Data: []byte{2}}),
				llm.Document(llm.Media{Name: "a.csv", Type: "text/csv", Data: []byte("a,b")}),
				llm.Audio(llm.Media{Type: "audio/x-wav", Data: []byte{3}}), llm.Audio(llm.Media{Name: "v.ogg", Type: "audio/ogg", Data: []byte{4}}), llm.Text("q"))}},
			map[string]string{"messages": `[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AQ=="}},` +
				`{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,Ag=="}},{"type":"text","text":"[a.csv (text/csv)]\na,b"},` +
				`{"type":"input_audio","input_audio":{"data":"Aw==","format":"wav"}},{"type":"text","text":"[v.ogg (audio/ogg) is attached, but you cannot be given files of this type]"},{"type":"text","text":"q"}]}]`},
		},
		{
			"files of results follow them",
			llm.Request{MaxTokens: 7, Tools: []llm.Tool{lookUp}, Messages: []llm.Message{
				user(llm.Text("q")),
				{Role: earshot.Assistant, Parts: []llm.Part{
					llm.OpaquePart("anthropic", `{"type":"thinking"}`), llm.Text("I look."),
					llm.Calling(llm.Call{ID: "c1", Name: "look_up", Args: `{"q":"x"}`}), llm.Calling(llm.Call{ID: "c2", Name: "look_up", Args: `{}`}),
				}},
				user(llm.Results(
					llm.Result{Call: "c1", Name: "look_up", Parts: []llm.Part{llm.Text("yes"), llm.Image(llm.Media{Name: "a.png", Type: "image/png", Data: []byte{1}})}},
					llm.Result{Call: "c2", Name: "look_up", Parts: []llm.Part{llm.Text("no")}})...),
			}},
			map[string]string{"messages": `[{"role":"user","content":"q"},` +
				`{"role":"assistant","content":"I look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"look_up","arguments":"{\"q\":\"x\"}"}},{"id":"c2","type":"function","function":{"name":"look_up","arguments":"{}"}}]},` +
				`{"role":"tool","tool_call_id":"c1","content":"yes\n[a.png (image/png) follows below]"},{"role":"tool","tool_call_id":"c2","content":"no"},` +
				`{"role":"user","content":[{"type":"text","text":"[a.png (image/png), which look_up returned]"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AQ=="}}]}]`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := c.r.Check(); err != nil {
				t.Fatal(err)
			}
			s := modeltest.Serve(t, ok)
			answer, err := at(t, s).Generate(t.Context(), c.r, nil)
			if err != nil {
				t.Fatal(err)
			}
			if want := (earshot.Usage{Input: 40, CacheRead: 60, Output: 20}); answer.Usage != want || answer.Model != "m-1" {
				t.Errorf("got %+v, want usage %+v", answer, want)
			}
			sent := s.Requests()[0]
			var body map[string]json.RawMessage
			if err := json.Unmarshal([]byte(sent.Body), &body); err != nil {
				t.Fatal(err)
			}
			for field, want := range c.want {
				if got := string(body[field]); !same(got, want) {
					t.Errorf("%s is\n%s\nwant\n%s", field, got, want)
				}
			}
			if sent.Path != "/v1/chat/completions" || sent.Header.Get("Authorization") != "Bearer "+modeltest.Key {
				t.Errorf("sent to %s with %v", sent.Path, sent.Header)
			}
		})
	}
}

// same compares JSON, whatever the order of fields.
func same(a, b string) bool {
	if a == b {
		return true
	}
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && cmp.Equal(x, y)
}

// What a server keeps in an answer for itself goes back in its place: the
// reasoning of a message, the signature of a call.
func TestFieldsAreReplayedUntouched(t *testing.T) {
	t.Parallel()
	s := modeltest.Serve(t,
		modeltest.Events(
			chunk(`{"role":"assistant","content":null,"reasoning_content":"I should "}`, ""),
			chunk(`{"reasoning_content":"look.","reasoning_details":[{"type":"reasoning.encrypted","data":"+/=="}]}`, ""),
			chunk(`{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"look_up","arguments":""},"extra_content":{"google":{"thought_signature":"EqQB+/=="}}}]}`, ""),
			chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"q\":"}}]}`, ""),
			chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}`, ""),
			chunk(`{}`, "tool_calls"), used, done),
		ok)
	m := at(t, s)
	answer, err := m.Generate(t.Context(), question, nil)
	if err != nil {
		t.Fatal(err)
	}
	call := llm.Calling(llm.Call{ID: "c1", Name: "look_up", Args: `{"q":1}`})
	call.Opaque = &llm.Opaque{Provider: "openai", JSON: `{"extra_content":{"google":{"thought_signature":"EqQB+/=="}}}`}
	want := []llm.Part{llm.OpaquePart("openai", `{"reasoning_content":"I should look.","reasoning_details":[{"type":"reasoning.encrypted","data":"+/=="}]}`), call}
	if diff := cmp.Diff(answer.Parts, want); diff != "" || answer.Stop != llm.StopCalls {
		t.Fatalf("%s: -got +want\n%s", answer.Stop, diff)
	}
	next := question.Append(answer, llm.Results(llm.Result{Call: "c1", Name: "look_up", Parts: []llm.Part{llm.Text("yes")}}))
	if _, err := m.Generate(t.Context(), next, nil); err != nil {
		t.Fatal(err)
	}
	var body struct{ Messages []json.RawMessage }
	if err := json.Unmarshal([]byte(s.Requests()[1].Body), &body); err != nil {
		t.Fatal(err)
	}
	wantSent := `{"role":"assistant","reasoning_content":"I should look.","reasoning_details":[{"type":"reasoning.encrypted","data":"+/=="}],` +
		`"tool_calls":[{"id":"c1","type":"function","function":{"name":"look_up","arguments":"{\"q\":1}"},"extra_content":{"google":{"thought_signature":"EqQB+/=="}}}]}`
	if got := string(body.Messages[1]); !same(got, wantSent) {
		t.Errorf("sent back\n%s\nwant\n%s", got, wantSent)
	}
}

func TestAnswersOfServers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		answer modeltest.Answer
		stop   llm.Stop
		text   string
		calls  []llm.Call
	}{
		{"no usage and no end mark", modeltest.Events(chunk(`{"content":"yes"}`, "stop")), llm.StopEnd, "yes", nil},
		{"its bound", modeltest.Events(chunk(`{"content":"and so"}`, "length"), done), llm.StopLength, "and so", nil},
		{"a filter", modeltest.Events(chunk(`{"content":"and"}`, "content_filter"), done), llm.StopRefused, "and", nil},
		{"a refusal", modeltest.Events(chunk(`{"refusal":"I "}`, ""), chunk(`{"refusal":"cannot."}`, "stop"), done), llm.StopRefused, "I cannot.", nil},
		{"a call at the bound is none", modeltest.Events(chunk(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"look_up","arguments":"{\"q"}}]}`, "length"), done), llm.StopLength, "", nil},
		{"whole calls with one index, and an end that does not tell of them", modeltest.Events(chunk(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"look_up","arguments":"{}"}},{"index":0,"id":"b","function":{"name":"look_up","arguments":""}}]}`, "stop"), done),
			llm.StopCalls, "", []llm.Call{{ID: "a", Name: "look_up", Args: "{}"}, {ID: "b", Name: "look_up", Args: "{}"}}},
		{"a call without an id", modeltest.Events(chunk(`{"tool_calls":[{"index":0,"function":{"name":"look_up","arguments":"{}"}}]}`, "tool_calls"), done),
			llm.StopCalls, "", []llm.Call{{ID: "earshot_openai_1", Name: "look_up", Args: "{}"}}},
		{"comments and an empty end reason", modeltest.Answer{Header: map[string]string{"Content-Type": "text/event-stream; charset=utf-8"},
			Body: ": PROCESSING\n\ndata: " + strings.Replace(chunk(`{"content":"yes"}`, ""), "null", `""`, 1) + "\n\ndata: " + chunk(`{}`, "stop") + "\n\ndata: [DONE]\n\n"}, llm.StopEnd, "yes", nil},
	} {
		answer, err := at(t, modeltest.Serve(t, c.answer)).Generate(t.Context(), question, nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(answer.Calls(), c.calls); diff != "" || answer.Stop != c.stop || answer.Text() != c.text {
			t.Errorf("%s: got %s %q, want %s %q; calls -got +want\n%s", c.name, answer.Stop, answer.Text(), c.stop, c.text, diff)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	answer := func(status int, body string) modeltest.Answer {
		return modeltest.Answer{Status: status, Header: map[string]string{"Content-Type": "application/json"}, Body: body}
	}
	failed := func(status int, code, text string) modeltest.Answer {
		return answer(status, `{"error":{"message":"`+text+`","type":"t","param":null,"code":`+code+`}}`)
	}
	limited := failed(429, `"rate_limit_exceeded"`, "slow down")
	limited.Header["Retry-After-Ms"] = "1500"
	large := func(status int, code, text string) llm.Error {
		return llm.Error{Status: status, Code: code, Message: text, TooLarge: true}
	}
	const (
		own   = "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens."
		vllm  = "The decoder prompt (length 5000) is longer than the maximum model length of 4096."
		llama = "the request exceeds the available context size, try increasing it"
		much  = "Request too large for gpt-test in organization org on tokens per min (TPM): Limit 30000, Requested 40000."
	)
	for _, c := range []struct {
		name   string
		answer modeltest.Answer
		want   llm.Error
	}{
		{"a rate limit", limited, llm.Error{Status: 429, Code: "rate_limit_exceeded", Message: "slow down", Retryable: true, RetryAfter: 1.5e9}},
		{"an account without money is not asked again", failed(429, `"insufficient_quota"`, "You exceeded your current quota"), llm.Error{Status: 429, Code: "insufficient_quota", Message: "You exceeded your current quota"}},
		{"overload", failed(503, `null`, "overloaded"), llm.Error{Status: 503, Code: "t", Message: "overloaded", Retryable: true}},
		{"too large", failed(400, `"context_length_exceeded"`, own), large(400, "context_length_exceeded", own)},
		{"too large for vLLM", answer(400, `{"object":"error","message":"`+vllm+`","type":"BadRequestError","param":null,"code":400}`), large(400, "400", vllm)},
		{"too large for llama.cpp", failed(500, `500`, llama), large(500, "500", llama)},
		{"too large for a minute", failed(429, `"rate_limit_exceeded"`, much), large(429, "rate_limit_exceeded", much)},
		{"a wrong key, which it repeats", failed(401, `"invalid_api_key"`, "Incorrect API key provided: sk-canar*********cdef. You can find yours at https://platform.example.com/keys."), llm.Error{Status: 401, Code: "invalid_api_key", Message: "Incorrect API key provided: *** You can find yours at [url]"}},
		{"an error that is a text", answer(404, `{"error":"model 'm' not found"}`), llm.Error{Status: 404, Message: "model 'm' not found"}},
		{"a page", modeltest.Answer{Status: 502, Body: "<html>"}, llm.Error{Status: 502, Message: "Bad Gateway", Retryable: true}},
		{"an error in the middle of a stream", modeltest.Events(chunk(`{"content":"half"}`, ""), `{"error":{"message":"overloaded","type":"server_error","code":null}}`), llm.Error{Status: 500, Code: "server_error", Message: "overloaded", Retryable: true}},
		{"one with a status", modeltest.Events(`{"error":{"message":"no","code":403}}`), llm.Error{Status: 403, Code: "403", Message: "no"}},
		{"an error with the status 200", answer(200, `{"error":{"message":"no","code":404}}`), llm.Error{Status: 404, Code: "404", Message: "no"}},
		{"an error by its event's name", modeltest.Events("error\n" + `{"message":"overloaded","type":"server_error"}`), llm.Error{Status: 500, Code: "server_error", Message: "overloaded", Retryable: true}},
		{"a stream that ends early", modeltest.Events(chunk(`{"content":"half"}`, "")), llm.Error{Message: "the answer broke off", Retryable: true}},
		{"a stream that says it is done, and is not", modeltest.Events(chunk(`{"content":"half"}`, ""), done), llm.Error{Message: "the answer broke off", Retryable: true}},
	} {
		s := modeltest.Serve(t, c.answer)
		_, err := at(t, s).Generate(t.Context(), question, nil)
		var e *llm.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: got %v", c.name, err)
			continue
		}
		got := *e
		got.Err = nil
		c.want.Provider, c.want.Model = "openai", "m"
		if diff := cmp.Diff(got, c.want); diff != "" {
			t.Errorf("%s: -got +want\n%s", c.name, diff)
		}
		if n := len(s.Requests()); n != 1 {
			t.Errorf("%s: %d requests", c.name, n)
		}
	}
}

func TestOnlyTheOptionsAreUsed(t *testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"} {
		t.Setenv(name, "from-the-environment")
	}
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
	s := modeltest.Serve(t, ok)
	m, err := openai.New(model.Options{Model: "m", BaseURL: s.URL + "/v1/"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Generate(t.Context(), question, nil); err != nil {
		t.Fatal(err)
	}
	sent := s.Requests()[0]
	for name, values := range sent.Header {
		if strings.Contains(strings.Join(values, " "), "from-the-environment") {
			t.Errorf("%s is from the environment", name)
		}
	}
	if got := sent.Header.Get("Authorization"); got != "" || sent.Path != "/v1/chat/completions" {
		t.Errorf("sent to %s with %q", sent.Path, got)
	}
}

// The provider's newer models refuse max_tokens, which others need.
func TestTheProviderItselfIsTold(t *testing.T) {
	t.Parallel()
	s := modeltest.Serve(t, ok)
	m, err := openai.New(model.Options{Model: "m", APIKey: secret.New("k"), HTTPClient: &http.Client{Transport: detour(s.URL)}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Generate(t.Context(), question, nil); err != nil {
		t.Fatal(err)
	}
	if body := s.Requests()[0].Body; !strings.Contains(body, `"max_completion_tokens":7`) || strings.Contains(body, `"max_tokens"`) {
		t.Errorf("sent %s", body)
	}
}

// A detour sends what is meant for the provider to a server of the test.
type detour string

func (d detour) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != "api.openai.com" {
		return nil, errors.New("sent to " + r.URL.Host)
	}
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = "http", strings.TrimPrefix(string(d), "http://")
	return http.DefaultTransport.RoundTrip(r)
}

// OpenAI's models since gpt-5.6 take tools by this API only when they are told
// not to reason, and others do not know the field.
func TestAModelThatTakesToolsOnlyWithoutReasoning(t *testing.T) {
	t.Parallel()
	refusal := modeltest.Answer{Status: 400, Body: `{"error":{"message":"Function tools with reasoning_effort are not supported for m in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.","type":"invalid_request_error","param":"reasoning_effort","code":null}}`}
	const none = `"reasoning_effort":"none"`
	s := modeltest.Serve(t, refusal, ok)
	m := at(t, s)
	for range 2 {
		a, err := m.Generate(t.Context(), question, nil)
		if err != nil || a.Text() != "ok" {
			t.Fatalf("got %q, %v", a.Text(), err)
		}
		sent := s.Requests()
		if got, want := string(openai.Body(a.Sent.Model, a.Sent.Form, question)), sent[len(sent)-1].Body; got != want {
			t.Errorf("the body made again: got %s, want %s", got, want)
		}
	}
	var with []bool
	for _, r := range s.Requests() {
		with = append(with, strings.Contains(r.Body, none))
	}
	if diff := cmp.Diff(with, []bool{false, true, true}); diff != "" {
		t.Errorf("which requests say %s: -got +want\n%s", none, diff)
	}

	never := modeltest.Serve(t, refusal)
	_, err := at(t, never).Generate(t.Context(), question, nil)
	var e *llm.Error
	if !errors.As(err, &e) || e.Status != 400 || e.Retryable || len(never.Requests()) != 2 {
		t.Errorf("a model that cannot be told: %v after %d requests; want a 400 after 2", err, len(never.Requests()))
	}
}

// A server that ignores "stream" answers with one JSON object. Asking again would
// cost the same answer again.
func TestAnAnswerWithoutAStreamIsNotAskedForAgain(t *testing.T) {
	t.Parallel()
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls++
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"hello"}}]}`)
	}))
	defer server.Close()
	m, err := openai.New(model.Options{Model: "gpt-test", APIKey: secret.New("k"), BaseURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	_, err = model.Retry(m, &model.RetryOptions{Base: time.Millisecond}).Generate(t.Context(), llm.Request{Messages: []llm.Message{{Role: earshot.User, Parts: []llm.Part{llm.Text("hi")}}}, MaxTokens: 10}, nil)
	var failed *llm.Error
	if !errors.As(err, &failed) || failed.Retryable || calls != 1 {
		t.Errorf("got %v after %d calls", err, calls)
	}
}
