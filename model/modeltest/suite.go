package modeltest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/secret"
)

// An Adapter is an adapter under test.
type Adapter struct {
	Provider string
	Model    string
	New      func(model.Options) (llm.Model, error)
	// Body is the adapter's, for what [llm.SentBody] has of the request.
	Body func(s llm.SentBody, r llm.Request) []byte
	// Path is the end of the provider's base URL, such as /v1.
	Path string
}

// Key is the key that tests give to the models. It must appear in headers only.
const Key = "sk-canary-0123456789abcdef"

// Run runs the suite against the server in Go, and against aimock where Node is
// installed.
func Run(t *testing.T, a Adapter) {
	t.Run("scripted", func(t *testing.T) { suite{a, StartScripted(t)}.run(t) })
	t.Run("aimock", func(t *testing.T) { suite{a, Aimock(t)}.run(t) })
}

func (s suite) run(t *testing.T) {
	t.Parallel()
	t.Run("a plain answer", s.plain)
	t.Run("a streamed answer", s.streamed)
	t.Run("a round of tool calls", s.tools)
	t.Run("a picture arrives byte for byte", s.picture)
	t.Run("an answer that is cut at its bound", s.length)
	t.Run("faults", s.faults)
	t.Run("a stream that breaks off", s.cut)
	t.Run("a caller that gives up", s.givesUp)
	t.Run("a fault is overcome by asking again", s.again)
	t.Run("an error without an answer", s.nobody)
	t.Run("a service of another name", s.another)
}

type suite struct {
	Adapter
	server string
}

// A wire is the network of one test: it adds headers to requests and records
// their bodies.
type wire struct {
	mu      sync.Mutex // guards what follows
	faults  []string   // a header of aimock's for each request, in order; "" for none
	every   string     // for those beyond
	bodies  []string
	started int
}

// RoundTrip sends a request.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	w.mu.Lock()
	fault := w.every
	if w.started < len(w.faults) {
		fault = w.faults[w.started]
	}
	w.started++
	w.bodies = append(w.bodies, string(body))
	w.mu.Unlock()
	if name, value, ok := strings.Cut(fault, ": "); ok {
		r.Header.Set(name, value)
	}
	return http.DefaultTransport.RoundTrip(r)
}

func (w *wire) sent() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.bodies...)
}

func (s suite) model(t *testing.T, w *wire) llm.Model {
	t.Helper()
	m, err := s.New(model.Options{
		Model: s.Model, APIKey: secret.New(Key), BaseURL: s.server + s.Path, HTTPClient: &http.Client{Transport: w},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func askRequest(parts ...llm.Part) llm.Request {
	return llm.Request{System: "You are in a test.", MaxTokens: 200, Cache: true,
		Messages: []llm.Message{{Role: earshot.User, Parts: parts, Cache: true}}}
}

const hello = "Hello from the other side, in a sentence that needs several pieces."

func (s suite) plain(t *testing.T) {
	t.Parallel()
	w := &wire{}
	answer, err := s.model(t, w).Generate(t.Context(), askRequest(llm.Text("say hello")), nil)
	if err != nil {
		t.Fatal(err)
	}
	s.wasSent(t, answer, askRequest(llm.Text("say hello")), w.sent()[0])
	if diff := cmp.Diff(answer.Parts, []llm.Part{llm.Text(hello)}); diff != "" {
		t.Errorf("-got +want\n%s", diff)
	}
	if answer.Stop != llm.StopEnd || answer.Provider != s.Provider || answer.Model == "" {
		t.Errorf("got %+v", answer)
	}
	if answer.Usage.Input != 21 || answer.Usage.Output != 13 {
		t.Errorf("usage %+v, want 21 in and 13 out", answer.Usage)
	}
}

func (s suite) streamed(t *testing.T) {
	t.Parallel()
	var heard []string
	answer, err := s.model(t, &wire{}).Generate(t.Context(), askRequest(llm.Text("say hello")), func(e llm.Event) { heard = append(heard, e.Text) })
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(heard, ""); got != hello || got != answer.Text() || len(heard) < 3 {
		t.Errorf("heard %q, the answer is %q", heard, answer.Text())
	}
}

func (s suite) tools(t *testing.T) {
	t.Parallel()
	r := askRequest(llm.Text("weather in two towns"))
	r.Tools = []llm.Tool{{Name: "weather", Description: "Tells the weather.", Schema: `{"type":"object","properties":{"town":{"type":"string"}},"required":["town"]}`}}
	w := &wire{}
	m := s.model(t, w)
	var called []string
	answer, err := m.Generate(t.Context(), r, func(e llm.Event) {
		if e.Call != "" {
			called = append(called, e.Call)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	s.wasSent(t, answer, r, w.sent()[0])
	calls := answer.Calls()
	if answer.Stop != llm.StopCalls || len(calls) != 2 || len(called) != 2 {
		t.Fatalf("got %+v after the events %q, want two calls", answer, called)
	}
	var results []llm.Result
	for i, want := range []string{`{"town":"Oslo"}`, `{"town":"Rome"}`} {
		if got := strings.ReplaceAll(calls[i].Args, " ", ""); calls[i].Name != "weather" || got != want {
			t.Errorf("call %d is %+v, want %s", i, calls[i], want)
		}
		results = append(results, llm.Result{Call: calls[i].ID, Name: "weather", Parts: []llm.Part{llm.Text("some"), llm.Image(dot)}})
	}
	r = r.Append(answer, llm.Results(results...))
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	answer, err = m.Generate(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.wasSent(t, answer, r, w.sent()[1])
	if got, want := answer.Text(), "Oslo is cold, Rome is warm."; got != want || answer.Stop != llm.StopEnd {
		t.Errorf("got %q, %s, want %q", got, answer.Stop, want)
	}
}

// wasSent checks what an answer says of the body that was sent for a request, and
// that the same body can be made again.
func (a Adapter) wasSent(t *testing.T, answer llm.Response, r llm.Request, body string) {
	t.Helper()
	if answer.Sent == nil {
		t.Error("the answer does not say what was sent")
		return
	}
	s := *answer.Sent
	sum := sha256.Sum256([]byte(body))
	if s.SHA256 != hex.EncodeToString(sum[:]) || s.Bytes != len(body) || s.Model != a.Model || s.Path == "" || strings.Contains(s.Path, "//") ||
		s.MaxTokens != r.MaxTokens || s.Tools != len(r.Tools) || s.NoCalls != r.NoCalls {
		t.Errorf("it says that %+v was sent for a body of %d bytes", s, len(body))
	}
	if again := string(a.Body(s, r)); again != body {
		t.Errorf("the body made again: -got +want\n%s", cmp.Diff(again, body))
	}
}

// dot is the smallest PNG there is.
var dot = llm.Media{ID: "F1", Name: "dot.png", Type: "image/png", Data: []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\rIDATx\xdac\xfc\xcf\xc0P\x0f\x00\x04\x85\x01\x80\x84\xa9\x8c!\x00\x00\x00\x00IEND\xaeB`\x82")}

func (s suite) picture(t *testing.T) {
	t.Parallel()
	w := &wire{}
	answer, err := s.model(t, w).Generate(t.Context(), askRequest(llm.Image(dot), llm.Text("what is in this picture")), nil)
	if err != nil || answer.Text() != "A very small dot." {
		t.Errorf("got %q, %v", answer.Text(), err)
	}
	if body := w.sent()[0]; !strings.Contains(body, base64.StdEncoding.EncodeToString(dot.Data)) || strings.Contains(body, Key) {
		t.Errorf("the request was %s", body)
	}
}

func (s suite) length(t *testing.T) {
	t.Parallel()
	answer, err := s.model(t, &wire{}).Generate(t.Context(), askRequest(llm.Text("talk without end")), nil)
	if err != nil || answer.Stop != llm.StopLength || answer.Text() != "And so on and so" {
		t.Errorf("got %q, %s, %v, want it cut", answer.Text(), answer.Stop, err)
	}
}

func (s suite) faults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, fault string
		status      int
		waits       bool
	}{
		{"a rate limit tells its time", "x-aimock-chaos-ratelimit: 1", 429, true},
		{"the server fails", "x-aimock-chaos-drop: 1", 500, false},
		{"the answer is malformed", "x-aimock-chaos-malformed: 1", 0, false},
		{"the connection is closed", "x-aimock-chaos-disconnect: 1", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := &wire{every: c.fault}
			_, err := s.model(t, w).Generate(t.Context(), askRequest(llm.Text("say hello")), nil)
			e := s.fails(t, err)
			if e.Status != c.status || !e.Retryable || e.TooLarge || (e.RetryAfter > 0) != c.waits {
				t.Errorf("got %+v, want status %d", e, c.status)
			}
			if n := len(w.sent()); n != 1 {
				t.Errorf("%d requests were sent, want one: who calls decides about retries", n)
			}
		})
	}
}

// fails checks what every error must be.
func (s suite) fails(t *testing.T, err error) *llm.Error {
	t.Helper()
	var e *llm.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an *llm.Error", err)
	}
	if e.Provider != s.Provider || e.Model != s.Model {
		t.Errorf("the error is of %s %s, want %s %s", e.Provider, e.Model, s.Provider, s.Model)
	}
	for _, secret := range []string{Key, "://", s.server} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error tells %q: %v", secret, err)
		}
	}
	return e
}

func (s suite) cut(t *testing.T) {
	t.Parallel()
	var heard strings.Builder
	_, err := s.model(t, &wire{}).Generate(t.Context(), askRequest(llm.Text("break off")), func(e llm.Event) { heard.WriteString(e.Text) })
	if e := s.fails(t, err); !e.Retryable || e.Status != 0 {
		t.Errorf("got %+v", e)
	}
	if heard.Len() == 0 || !strings.HasPrefix("This answer is long enough to be cut before it has come to its end.", heard.String()) {
		t.Errorf("heard %q", heard.String())
	}
}

func (s suite) givesUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := s.model(t, &wire{every: "x-aimock-chaos-latency: 20000"}).Generate(ctx, askRequest(llm.Text("say hello")), nil)
	if e := s.fails(t, err); !errors.Is(err, context.DeadlineExceeded) || e.Retryable {
		t.Errorf("got %v", err)
	}
}

func (s suite) again(t *testing.T) {
	t.Parallel()
	w := &wire{faults: []string{"x-aimock-chaos-drop: 1", "x-aimock-chaos-disconnect: 1", "x-aimock-chaos-malformed: 1"}}
	m := model.Retry(s.model(t, w), &model.RetryOptions{Base: time.Millisecond})
	answer, err := m.Generate(t.Context(), askRequest(llm.Text("say hello")), nil)
	if err != nil || answer.Text() != hello || len(w.sent()) != 4 {
		t.Errorf("got %q, %v after %d requests", answer.Text(), err, len(w.sent()))
	}
	sent := w.sent()
	if sent[0] != sent[3] {
		t.Errorf("the same request was written in two ways:\n%s\n%s", sent[0], sent[3])
	}
}

func (s suite) nobody(t *testing.T) {
	t.Parallel()
	m, err := s.New(model.Options{Model: s.Model, APIKey: secret.New(Key), BaseURL: "http://127.0.0.1:1" + s.Path})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Generate(t.Context(), askRequest(llm.Text("say hello")), nil)
	if e := s.fails(t, err); !e.Retryable || e.Status != 0 {
		t.Errorf("got %+v", e)
	}
}

// another asks another service with the same API: errors and answers have its name.
func (s suite) another(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"", "x-aimock-chaos-drop: 1"} {
		m, err := s.New(model.Options{
			Model: s.Model, Provider: "another", APIKey: secret.New(Key), BaseURL: s.server + s.Path, HTTPClient: &http.Client{Transport: &wire{every: fault}},
		})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := m.Generate(t.Context(), askRequest(llm.Text("say hello")), nil)
		name := answer.Provider
		var e *llm.Error
		if errors.As(err, &e) {
			name = e.Provider
		}
		if name != "another" || (err != nil) != (fault != "") {
			t.Errorf("with the fault %q: %q answered, and the error %v", fault, name, err)
		}
	}
}
