package gemini_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/model/gemini"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/secret"
)

func at(t *testing.T, s *modeltest.Server, name string) llm.Model {
	t.Helper()
	m, err := gemini.New(model.Options{Model: name, APIKey: secret.New(modeltest.Key), BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// chunk is a piece of an answer with parts, and its end where there is one.
func chunk(parts, finish string) string {
	c := `{"candidates":[{"index":0,"content":{"role":"model","parts":[` + parts + `]}`
	if finish != "" {
		c += `,"finishReason":"` + finish + `"`
	}
	return c + `}],"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":60,"candidatesTokenCount":7,"thoughtsTokenCount":20},"modelVersion":"gemini-test-1"}`
}

var lookUp = llm.Tool{Name: "look_up", Description: "Looks up.", Schema: `{"type":"object","properties":{"q":{"type":"string"}}}`}

func user(parts ...llm.Part) llm.Message { return llm.Message{Role: earshot.User, Parts: parts} }

var question = llm.Request{MaxTokens: 7, Tools: []llm.Tool{lookUp}, Messages: []llm.Message{user(llm.Text("q"))}}

func TestTheRequest(t *testing.T) {
	t.Parallel()
	foreign := llm.Request{MaxTokens: 7, Tools: []llm.Tool{lookUp}, Messages: []llm.Message{
		user(llm.Text("q")),
		{Role: earshot.Assistant, Parts: []llm.Part{
			llm.OpaquePart("anthropic", `{"type":"thinking"}`),
			llm.Calling(llm.Call{ID: "toolu_1", Name: "look_up", Args: `{"q":"x"}`}),
			llm.Calling(llm.Call{ID: "toolu_2", Name: "look_up", Args: `broken`}),
		}},
		user(llm.Results(
			llm.Result{Call: "toolu_1", Name: "look_up", Parts: []llm.Part{llm.Text("yes"), llm.Image(llm.Media{Name: "a.png", Type: "image/png", Data: []byte{1}})}},
			llm.Result{Call: "toolu_2", Name: "look_up", Parts: []llm.Part{llm.Text("no JSON")}, Failed: true})...),
	}}
	results := `{"role":"user","parts":[{"functionResponse":{"name":"look_up","response":{"output":"yes\n[a.png (image/png) follows below]"}}},` +
		`{"functionResponse":{"name":"look_up","response":{"error":"no JSON"}}},{"text":"[a.png (image/png), which look_up returned]"},{"inlineData":{"mimeType":"image/png","data":"AQ=="}}]}`
	for _, c := range []struct {
		name, model string
		r           llm.Request
		want        map[string]string // field, JSON
	}{
		{
			"system, tools and the bound", "gemini-test",
			llm.Request{System: "guide", Tools: []llm.Tool{lookUp, {Name: "now", Description: "Tells.", Schema: `{"type":"object","properties":{}}`}}, MaxTokens: 7, NoCalls: true, Cache: true, Messages: []llm.Message{
				user(llm.Text("q1")), {Role: earshot.Assistant, Parts: []llm.Part{llm.Text("a1")}, Cache: true}, user(llm.Text("q2"))}},
			map[string]string{
				"systemInstruction": `{"role":"user","parts":[{"text":"guide"}]}`,
				"tools":             `[{"functionDeclarations":[{"name":"look_up","description":"Looks up.","parametersJsonSchema":{"type":"object","properties":{"q":{"type":"string"}}}},{"name":"now","description":"Tells."}]}]`,
				"toolConfig":        `{"functionCallingConfig":{"mode":"NONE"}}`,
				"generationConfig":  `{"maxOutputTokens":7}`,
				"contents":          `[{"role":"user","parts":[{"text":"q1"}]},{"role":"model","parts":[{"text":"a1"}]},{"role":"user","parts":[{"text":"q2"}]}]`,
			},
		},
		{
			"files", "gemini-test",
			llm.Request{MaxTokens: 7, Messages: []llm.Message{user(
				llm.Image(llm.Media{Type: "image/png", Data: []byte{1}}), llm.Document(llm.Media{Type: "application/pdf", Data: []byte{2}}),
				llm.Document(llm.Media{Name: "a.csv", Type: "text/csv", Data: []byte("a,b")}), llm.Audio(llm.Media{Type: "audio/ogg", Data: []byte{3}}))}},
			map[string]string{"contents": `[{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"AQ=="}},{"inlineData":{"mimeType":"application/pdf","data":"Ag=="}},{"text":"[a.csv (text/csv)]\na,b"},{"inlineData":{"mimeType":"audio/ogg","data":"Aw=="}}]}]`, "tools": ``},
		},
		{
			"another provider's calls", "gemini-2.5-test", foreign,
			map[string]string{"contents": `[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"name":"look_up","args":{"q":"x"}}},{"functionCall":{"name":"look_up","args":{"not_an_object":"broken"}}}]},` + results + `]`},
		},
		{
			"another provider's calls, where the first of them needs a signature", "gemini-3-test", foreign,
			map[string]string{"contents": `[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"name":"look_up","args":{"q":"x"}},"thoughtSignature":"c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="},{"functionCall":{"name":"look_up","args":{"not_an_object":"broken"}}}]},` + results + `]`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := c.r.Check(); err != nil {
				t.Fatal(err)
			}
			s := modeltest.Serve(t, modeltest.Events(chunk(`{"text":"ok"}`, "STOP")))
			if _, err := at(t, s, c.model).Generate(t.Context(), c.r, nil); err != nil {
				t.Fatal(err)
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
			if want := "/v1beta/models/" + c.model + ":streamGenerateContent"; sent.Path != want || sent.Header.Get("X-Goog-Api-Key") != modeltest.Key {
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

func TestSignaturesAreReplayedUntouched(t *testing.T) {
	t.Parallel()
	s := modeltest.Serve(t,
		modeltest.Events(
			chunk(`{"text":"Let me "},{"text":"look."}`, ""),
			chunk(`{"functionCall":{"name":"look_up","args":{"q":"a<b"}},"thoughtSignature":"EqQBCgIYAhIM+/8="},{"functionCall":{"id":"own","name":"look_up"}}`, ""),
			chunk(`{"text":"","thoughtSignature":"bGFzdA=="}`, "STOP")),
		modeltest.Events(chunk(`{"text":"ok"}`, "STOP")))
	m := at(t, s, "gemini-3-test")
	answer, err := m.Generate(t.Context(), question, nil)
	if err != nil {
		t.Fatal(err)
	}
	calls := answer.Calls()
	want := []llm.Call{{ID: "earshot_gemini_1", Name: "look_up", Args: `{"q":"a<b"}`}, {ID: "own", Name: "look_up", Args: `{}`}}
	if diff := cmp.Diff(calls, want); diff != "" || answer.Stop != llm.StopCalls || answer.Text() != "Let me look." {
		t.Fatalf("%s %q: -got +want\n%s", answer.Stop, answer.Text(), diff)
	}
	if want := (earshot.Usage{Input: 40, CacheRead: 60, Output: 27}); answer.Usage != want {
		t.Errorf("usage %+v, want %+v", answer.Usage, want)
	}
	if got := answer.Model; got != "gemini-test-1" {
		t.Errorf("the model is %q", got)
	}
	next := question.Append(answer, llm.Results(
		llm.Result{Call: calls[0].ID, Name: "look_up", Parts: []llm.Part{llm.Text("yes")}},
		llm.Result{Call: calls[1].ID, Name: "look_up", Parts: []llm.Part{llm.Text("no")}}))
	if _, err := m.Generate(t.Context(), next, nil); err != nil {
		t.Fatal(err)
	}
	var body struct {
		Contents []struct{ Parts []json.RawMessage }
	}
	if err := json.Unmarshal([]byte(s.Requests()[1].Body), &body); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		`{"text":"Let me look."}`,
		`{"functionCall":{"name":"look_up","args":{"q":"a<b"}},"thoughtSignature":"EqQBCgIYAhIM+/8="}`,
		`{"functionCall":{"id":"own","name":"look_up"}}`,
		`{"text":"","thoughtSignature":"bGFzdA=="}`,
	} {
		if got := string(body.Contents[1].Parts[i]); !same(got, want) {
			t.Errorf("part %d is %s, want %s", i, got, want)
		}
	}
	for i, want := range []string{ // an id goes back only where there was one
		`{"functionResponse":{"name":"look_up","response":{"output":"yes"}}}`,
		`{"functionResponse":{"id":"own","name":"look_up","response":{"output":"no"}}}`,
	} {
		if got := string(body.Contents[2].Parts[i]); !same(got, want) {
			t.Errorf("result %d is %s, want %s", i, got, want)
		}
	}
}

func TestStops(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, parts, finish string
		want                llm.Stop
		text                string
	}{
		{"the end", `{"text":"yes"}`, "STOP", llm.StopEnd, "yes"},
		{"thoughts are not told", `{"text":"hm","thought":true},{"text":"yes"}`, "STOP", llm.StopEnd, "yes"},
		{"its bound", `{"text":"and so"}`, "MAX_TOKENS", llm.StopLength, "and so"},
		{"it is held back", `{"text":"and"}`, "SAFETY", llm.StopRefused, "and"},
		{"nothing, for a reason that is yet to come", ``, "NEW_REASON", llm.StopRefused, ""},
		{"a call that is held back is none", `{"functionCall":{"name":"look_up"}}`, "SPII", llm.StopRefused, ""},
	} {
		answer, err := at(t, modeltest.Serve(t, modeltest.Events(chunk(c.parts, c.finish))), "m").Generate(t.Context(), question, nil)
		if err != nil || answer.Stop != c.want || answer.Text() != c.text || len(answer.Calls()) > 0 {
			t.Errorf("%s: got %+v, %v, want %s %q", c.name, answer, err, c.want, c.text)
		}
	}
	blocked := modeltest.Events(`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":3}}`)
	if answer, err := at(t, modeltest.Serve(t, blocked), "m").Generate(t.Context(), question, nil); err != nil || answer.Stop != llm.StopRefused {
		t.Errorf("a blocked prompt: got %+v, %v", answer, err)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	failed := func(status, text string) string {
		return `{"error":{"code":` + status + `,"message":"` + text + `","status":"S"}}`
	}
	answer := func(status int, body string) modeltest.Answer {
		return modeltest.Answer{Status: status, Header: map[string]string{"Content-Type": "application/json"}, Body: body}
	}
	const large = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
	cut := modeltest.Events(chunk(`{"text":"half"}`, ""), chunk(`{"text":"half"}`, "STOP"))
	cut.Body, cut.Cut = cut.Body[:len(cut.Body)/2+20], true
	for _, c := range []struct {
		name   string
		answer modeltest.Answer
		want   llm.Error
	}{
		{"a quota tells its time", answer(429, `{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}`),
			llm.Error{Status: 429, Code: "RESOURCE_EXHAUSTED", Message: "quota", Retryable: true, RetryAfter: 34.5e9}},
		{"overload", answer(503, failed("503", "The model is overloaded.")), llm.Error{Status: 503, Code: "S", Message: "The model is overloaded.", Retryable: true}},
		{"an error in the middle of a stream", modeltest.Events(chunk(`{"text":"half"}`, ""), failed("503", "overloaded")), llm.Error{Status: 503, Code: "S", Message: "overloaded", Retryable: true}},
		{"a context that is too large", answer(400, failed("400", large)), llm.Error{Status: 400, Code: "S", Message: large, TooLarge: true}},
		{"too many bytes", answer(400, failed("400", "Request payload size exceeds the limit: 20971520 bytes.")), llm.Error{Status: 400, Code: "S", Message: "Request payload size exceeds the limit: 20971520 bytes.", TooLarge: true}},
		{"a wrong key, which it repeats", answer(400, failed("400", "API key "+modeltest.Key+" not valid. See https://aistudio.example.com/?key=AIzaSyA-1234567890")), llm.Error{Status: 400, Code: "S", Message: "API key *** not valid. See [url]"}},
		{"a gateway's page", answer(502, "<html>bad gateway</html>"), llm.Error{Status: 502, Message: "Bad Gateway", Retryable: true}},
		{"a gateway's text", answer(503, "no healthy upstream"), llm.Error{Status: 503, Message: "no healthy upstream", Retryable: true}},
		{"errors in a list", answer(400, "["+failed("400", "bad")+"]"), llm.Error{Status: 400, Code: "S", Message: "bad"}},
		{"an error with the status 200", answer(200, failed("503", "overloaded")), llm.Error{Status: 503, Code: "S", Message: "overloaded", Retryable: true}},
		{"a stream that ends early", modeltest.Events(chunk(`{"text":"half"}`, "")), llm.Error{Message: "the answer broke off", Retryable: true}},
		{"a connection that is closed", cut, llm.Error{Message: "the answer broke off: unexpected EOF", Retryable: true}},
		{"a call that cannot be read", modeltest.Events(chunk(``, "MALFORMED_FUNCTION_CALL")), llm.Error{Status: 500, Code: "MALFORMED_FUNCTION_CALL", Message: "the model's answer is a call that cannot be read", Retryable: true}},
	} {
		s := modeltest.Serve(t, c.answer)
		_, err := at(t, s, "m").Generate(t.Context(), question, nil)
		var e *llm.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: got %v", c.name, err)
			continue
		}
		got := *e
		got.Err = nil
		c.want.Provider, c.want.Model = "gemini", "m"
		if diff := cmp.Diff(got, c.want); diff != "" {
			t.Errorf("%s: -got +want\n%s", c.name, diff)
		}
		if n := len(s.Requests()); n != 1 {
			t.Errorf("%s: %d requests", c.name, n)
		}
	}
}

func TestOnlyTheOptionsAreUsed(t *testing.T) {
	for _, name := range []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT"} {
		t.Setenv(name, "from-the-environment")
	}
	t.Setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
	t.Setenv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:1")
	s := modeltest.Serve(t, modeltest.Events(chunk(`{"text":"ok"}`, "STOP")))
	m, err := gemini.New(model.Options{Model: "m", BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Generate(t.Context(), question, nil); err != nil {
		t.Fatal(err)
	}
	for name, values := range s.Requests()[0].Header {
		if strings.Contains(strings.Join(values, " "), "from-the-environment") {
			t.Errorf("%s is from the environment", name)
		}
	}
}

func TestNamesOfModels(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"gemini-test":        "/v1beta/models/gemini-test:streamGenerateContent",
		"models/gemini-test": "/v1beta/models/gemini-test:streamGenerateContent",
		"tunedModels/mine-1": "/v1beta/tunedModels/mine-1:streamGenerateContent",
		"../../upload":       "", "m?key=1": "", "m#x": "",
	} {
		s := modeltest.Serve(t, modeltest.Events(chunk(`{"text":"ok"}`, "STOP")))
		m, err := gemini.New(model.Options{Model: name, BaseURL: s.URL})
		if want == "" {
			if !errors.Is(err, model.ErrOptions) {
				t.Errorf("%s: got %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Generate(t.Context(), question, nil); err != nil {
			t.Fatal(err)
		}
		if got := s.Requests()[0].Path; got != want {
			t.Errorf("%s: sent to %s, want %s", name, got, want)
		}
	}
}
