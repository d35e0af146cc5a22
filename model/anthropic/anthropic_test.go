package anthropic_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/model/anthropic"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/secret"
)

func at(t *testing.T, s *modeltest.Server) llm.Model {
	t.Helper()
	m, err := anthropic.New(model.Options{Model: "claude-test", APIKey: secret.New(modeltest.Key), BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// event writes an event, named as its type.
func event(data string) string {
	var e struct{ Type string }
	_ = json.Unmarshal([]byte(data), &e)
	return e.Type + "\n" + data
}

func stream(events ...string) modeltest.Answer {
	for i, e := range events {
		events[i] = event(e)
	}
	return modeltest.Events(events...)
}

const (
	start = `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"claude-test-1","content":[],"usage":{"input_tokens":5,"cache_read_input_tokens":70,"cache_creation_input_tokens":30,"output_tokens":1}}}`
	stop  = `{"type":"message_stop"}`
)

func end(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + reason + `","stop_sequence":null},"usage":{"output_tokens":9}}`
}

func text(index, s string) []string {
	return []string{
		`{"type":"content_block_start","index":` + index + `,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":` + index + `,"delta":{"type":"text_delta","text":"` + s + `"}}`,
		`{"type":"content_block_stop","index":` + index + `}`,
	}
}

func said(s, reason string) modeltest.Answer {
	return stream(append(append([]string{start}, text("0", s)...), end(reason), stop)...)
}

var lookUp = llm.Tool{Name: "look_up", Description: "Looks up.", Schema: `{"type":"object","properties":{"q":{"type":"string"}},"additionalProperties":false}`}

func user(cache bool, parts ...llm.Part) llm.Message {
	return llm.Message{Role: earshot.User, Parts: parts, Cache: cache}
}

// requested returns the request's body as its fields.
func requested(t *testing.T, s *modeltest.Server, n int) map[string]json.RawMessage {
	t.Helper()
	var body map[string]json.RawMessage
	if err := json.Unmarshal([]byte(s.Requests()[n].Body), &body); err != nil {
		t.Fatal(err)
	}
	return body
}

func TestTheRequest(t *testing.T) {
	t.Parallel()
	mark := `"cache_control":{"type":"ephemeral"}`
	for _, c := range []struct {
		name string
		r    llm.Request
		want map[string]string // field, JSON
	}{
		{
			"marks for caching stand at the ends of system and messages",
			llm.Request{System: "guide", Tools: []llm.Tool{lookUp}, MaxTokens: 7, Cache: true, Messages: []llm.Message{
				user(false, llm.Text("q1")),
				{Role: earshot.Assistant, Parts: []llm.Part{llm.Text("a1")}, Cache: true},
				user(true, llm.Text("before"), llm.Text("q2")),
			}},
			map[string]string{
				"system":     `[{"text":"guide",` + mark + `,"type":"text"}]`,
				"tools":      `[{"input_schema":{"type":"object","properties":{"q":{"type":"string"}},"additionalProperties":false},"name":"look_up","description":"Looks up."}]`,
				"messages":   `[{"content":[{"text":"q1","type":"text"}],"role":"user"},{"content":[{"text":"a1",` + mark + `,"type":"text"}],"role":"assistant"},{"content":[{"text":"before","type":"text"},{"text":"q2",` + mark + `,"type":"text"}],"role":"user"}]`,
				"max_tokens": `7`, "model": `"claude-test"`, "stream": `true`, "tool_choice": ``,
			},
		},
		{
			"without a system text the tools are marked",
			llm.Request{Tools: []llm.Tool{lookUp}, MaxTokens: 7, Cache: true, NoCalls: true, Messages: []llm.Message{user(false, llm.Text("q"))}},
			map[string]string{
				"system": ``, "tool_choice": `{"type":"none"}`,
				"tools": `[{"input_schema":{"type":"object","properties":{"q":{"type":"string"}},"additionalProperties":false},"name":"look_up","description":"Looks up.",` + mark + `}]`,
			},
		},
		{
			"files",
			llm.Request{MaxTokens: 7, Messages: []llm.Message{user(false,
				llm.Image(llm.Media{Type: "image/PNG; x=y", Data: []byte{1}}),
				llm.Document(llm.Media{Name: "a.pdf", Type: "application/pdf", Data: []byte{2}}),
				llm.Document(llm.Media{Type: "text/csv", Data: []byte("a,b")}),
				llm.Audio(llm.Media{Name: "v\n].ogg", Type: "audio/ogg", Data: []byte{3}}),
				llm.Text("q"))}},
			map[string]string{"messages": `[{"content":[` +
				`{"source":{"data":"AQ==","media_type":"image/png","type":"base64"},"type":"image"},` +
				`{"source":{"data":"Ag==","media_type":"application/pdf","type":"base64"},"title":"a.pdf","type":"document"},` +
				`{"source":{"data":"a,b","media_type":"text/plain","type":"text"},"type":"document"},` +
				`{"text":"[v _.ogg (audio/ogg) is attached, but you cannot be given files of this type]","type":"text"},` +
				`{"text":"q","type":"text"}],"role":"user"}]`},
		},
		{
			"calls, results with pictures, and what other providers kept",
			llm.Request{MaxTokens: 7, Tools: []llm.Tool{lookUp}, Messages: []llm.Message{
				user(false, llm.Text("q")),
				{Role: earshot.Assistant, Parts: []llm.Part{
					llm.OpaquePart("gemini", `{"thoughtSignature":"x"}`),
					llm.Calling(llm.Call{ID: "c1", Name: "look_up", Args: `{"q":1}`}),
					llm.Calling(llm.Call{ID: "c2", Name: "look_up", Args: `{broken`}),
				}},
				user(true, llm.Results(
					llm.Result{Call: "c1", Name: "look_up", Parts: []llm.Part{llm.Text("yes"), llm.Image(llm.Media{Type: "image/png", Data: []byte{1}})}},
					llm.Result{Call: "c2", Name: "look_up", Parts: []llm.Part{llm.Text("no JSON")}, Failed: true})...),
			}},
			map[string]string{"messages": `[{"content":[{"text":"q","type":"text"}],"role":"user"},` +
				`{"content":[{"id":"c1","input":{"q":1},"name":"look_up","type":"tool_use"},{"id":"c2","input":{"not_an_object":"{broken"},"name":"look_up","type":"tool_use"}],"role":"assistant"},` +
				`{"content":[{"tool_use_id":"c1","content":[{"text":"yes","type":"text"},{"source":{"data":"AQ==","media_type":"image/png","type":"base64"},"type":"image"}],"type":"tool_result"},` +
				`{"tool_use_id":"c2","is_error":true,` + mark + `,"content":[{"text":"no JSON","type":"text"}],"type":"tool_result"}],"role":"user"}]`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := c.r.Check(); err != nil {
				t.Fatal(err)
			}
			s := modeltest.Serve(t, said("ok", "end_turn"))
			if _, err := at(t, s).Generate(t.Context(), c.r, nil); err != nil {
				t.Fatal(err)
			}
			body := requested(t, s, 0)
			for field, want := range c.want {
				if got := string(body[field]); !same(got, want) {
					t.Errorf("%s is\n%s\nwant\n%s", field, got, want)
				}
			}
			h := s.Requests()[0]
			if h.Path != "/v1/messages" || h.Header.Get("X-Api-Key") != modeltest.Key {
				t.Errorf("sent to %s with %v", h.Path, h.Header)
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

// A block with a signature goes back as it came, fields that nobody here knows
// and their order included, and it carries no mark.
func TestBlocksAreReplayedUntouched(t *testing.T) {
	t.Parallel()
	first := stream(start,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","future":{"b":1,"a":[2]},"thinking":"","signature":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"I should look "}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"it up: 1 < 2"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQBCgIYAhIM+/=="}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"c2VjcmV0"}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"look_up","input":{}}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"q\": "}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"12345678901234567890}"}}`,
		`{"type":"content_block_stop","index":2}`,
		end("tool_use"), stop)
	s := modeltest.Serve(t, first, said("ok", "end_turn"))
	m := at(t, s)
	r := llm.Request{MaxTokens: 7, Tools: []llm.Tool{lookUp}, Messages: []llm.Message{user(true, llm.Text("q"))}}
	answer, err := m.Generate(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	thinking := `{"type":"thinking","future":{"b":1,"a":[2]},"thinking":"I should look it up: 1 < 2","signature":"EqQBCgIYAhIM+/=="}`
	redacted := `{"type":"redacted_thinking","data":"c2VjcmV0"}`
	want := []llm.Part{
		llm.OpaquePart("anthropic", llm.JSON(thinking)), llm.OpaquePart("anthropic", llm.JSON(redacted)),
		llm.Calling(llm.Call{ID: "toolu_1", Name: "look_up", Args: `{"q": 12345678901234567890}`}),
	}
	if diff := cmp.Diff(answer.Parts, want); diff != "" || answer.Stop != llm.StopCalls {
		t.Fatalf("the answer (stop %s): -got +want\n%s", answer.Stop, diff)
	}
	if want := (earshot.Usage{Input: 5, Output: 9, CacheRead: 70, CacheWrite: 30}); answer.Usage != want {
		t.Errorf("usage %+v, want %+v", answer.Usage, want)
	}
	r = r.Append(answer, llm.Results(llm.Result{Call: "toolu_1", Name: "look_up", Parts: []llm.Part{llm.Text("yes")}}))
	if _, err := m.Generate(t.Context(), r, nil); err != nil {
		t.Fatal(err)
	}
	body := s.Requests()[1].Body
	for _, block := range []string{thinking, redacted, `"input":{"q": 12345678901234567890}`} {
		if !strings.Contains(body, block) {
			t.Errorf("%s is not in the next request:\n%s", block, body)
		}
	}
}

func TestStops(t *testing.T) {
	t.Parallel()
	cutCall := stream(start,
		`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"look_up","input":{}}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"q\""}}`,
		`{"type":"content_block_stop","index":0}`, end("max_tokens"), stop)
	for _, c := range []struct {
		name   string
		answer modeltest.Answer
		want   llm.Stop
		text   string
	}{
		{"the end", said("yes", "end_turn"), llm.StopEnd, "yes"},
		{"a stop sequence", said("yes", "stop_sequence"), llm.StopEnd, "yes"},
		{"its bound", said("and so", "max_tokens"), llm.StopLength, "and so"},
		{"the model's own bound", said("and so", "model_context_window_exceeded"), llm.StopLength, "and so"},
		{"a refusal", said("I cannot", "refusal"), llm.StopRefused, "I cannot"},
		{"a call that is cut off is none", cutCall, llm.StopLength, ""},
	} {
		answer, err := at(t, modeltest.Serve(t, c.answer)).Generate(t.Context(), llm.Request{MaxTokens: 7, Tools: []llm.Tool{lookUp}, Messages: []llm.Message{user(false, llm.Text("q"))}}, nil)
		if err != nil || answer.Stop != c.want || answer.Text() != c.text || len(answer.Calls()) > 0 {
			t.Errorf("%s: got %+v, %v, want %s %q", c.name, answer, err, c.want, c.text)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	failed := func(status int, kind, message string) modeltest.Answer {
		return modeltest.Answer{Status: status, Header: map[string]string{"Content-Type": "application/json"},
			Body: `{"type":"error","error":{"type":"` + kind + `","message":"` + message + `"}}`}
	}
	limited := failed(429, "rate_limit_error", "slow down")
	limited.Header["Retry-After"] = "12"
	cut := said("half", "end_turn")
	cut.Body, cut.Cut = cut.Body[:len(cut.Body)/2], true
	unfinished := stream(append([]string{start}, text("0", "half")...)...)
	for _, c := range []struct {
		name   string
		answer modeltest.Answer
		want   llm.Error
	}{
		{"a rate limit", limited, llm.Error{Status: 429, Code: "rate_limit_error", Message: "slow down", Retryable: true, RetryAfter: 12e9}},
		{"overload", failed(529, "overloaded_error", "Overloaded"), llm.Error{Status: 529, Code: "overloaded_error", Message: "Overloaded", Retryable: true}},
		{"overload in the middle of a stream", stream(start, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), llm.Error{Status: 529, Code: "overloaded_error", Message: "Overloaded", Retryable: true}},
		{"a context that is too large", failed(400, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"), llm.Error{Status: 400, Code: "invalid_request_error", Message: "prompt is too long: 208310 tokens > 200000 maximum", TooLarge: true}},
		{"too large with its answer", failed(400, "invalid_request_error", "input length and `max_tokens` exceed context limit: 199000 + 4096 > 200000"), llm.Error{Status: 400, Code: "invalid_request_error", Message: "input length and `max_tokens` exceed context limit: 199000 + 4096 > 200000", TooLarge: true}},
		{"too many bytes", failed(413, "request_too_large", "Request exceeds the maximum size"), llm.Error{Status: 413, Code: "request_too_large", Message: "Request exceeds the maximum size", TooLarge: true}},
		{"a wrong key, which it repeats", failed(401, "authentication_error", "invalid x-api-key "+modeltest.Key+", see https://console.example.com/keys"), llm.Error{Status: 401, Code: "authentication_error", Message: "invalid x-api-key ***, see [url]"}},
		{"a bad request", failed(400, "invalid_request_error", "messages: roles must alternate"), llm.Error{Status: 400, Code: "invalid_request_error", Message: "messages: roles must alternate"}},
		{"a gateway's page", modeltest.Answer{Status: 502, Body: "<html>bad gateway</html>"}, llm.Error{Status: 502, Message: "Bad Gateway", Retryable: true}},
		{"a redirect is not followed", modeltest.Answer{Status: 307, Header: map[string]string{"Location": "http://127.0.0.1:1/elsewhere"}}, llm.Error{Status: 307, Message: "redirected to elsewhere; the base URL is not the API's"}},
		{"an error with the status 200", modeltest.Answer{Body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}, llm.Error{Status: 529, Code: "overloaded_error", Message: "Overloaded", Retryable: true}},
		{"a stream that ends early", unfinished, llm.Error{Message: "the answer broke off", Retryable: true}},
		{"a page in place of a stream", modeltest.Answer{Body: "<html>log in</html>"}, llm.Error{Message: "the answer broke off", Retryable: true}},
		{"a connection that is closed", cut, llm.Error{Message: "the answer broke off: unexpected EOF", Retryable: true}},
	} {
		s := modeltest.Serve(t, c.answer)
		_, err := at(t, s).Generate(t.Context(), llm.Request{MaxTokens: 7, Messages: []llm.Message{user(false, llm.Text("q"))}}, nil)
		var e *llm.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: got %v", c.name, err)
			continue
		}
		got := *e
		got.Err = nil
		c.want.Provider, c.want.Model = "anthropic", "claude-test"
		if diff := cmp.Diff(got, c.want); diff != "" {
			t.Errorf("%s: -got +want\n%s", c.name, diff)
		}
		if n := len(s.Requests()); n != 1 {
			t.Errorf("%s: %d requests", c.name, n)
		}
	}
}

func TestOnlyTheOptionsAreUsed(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "from-the-environment")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "from-the-environment")
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	s := modeltest.Serve(t, said("ok", "end_turn"))
	m, err := anthropic.New(model.Options{Model: "claude-test", BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Generate(t.Context(), llm.Request{MaxTokens: 7, Messages: []llm.Message{user(false, llm.Text("q"))}}, nil); err != nil {
		t.Fatal(err)
	}
	for name, values := range s.Requests()[0].Header {
		if strings.Contains(strings.Join(values, " "), "from-the-environment") {
			t.Errorf("%s is from the environment", name)
		}
	}
}
