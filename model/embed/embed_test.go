package embed_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/model/embed"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/secret"
	"github.com/google/go-cmp/cmp"
)

var _ search.Encoder = (*embed.Encoder)(nil)

// open returns an encoder of a server.
func open(t *testing.T, url, name string, dimensions int) *embed.Encoder {
	t.Helper()
	e, err := embed.New(embed.Options{Options: model.Options{Model: name, BaseURL: url, APIKey: secret.New("k-1234567890")}, Dimensions: dimensions})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestVectorsComeInTheOrderOfTheTexts(t *testing.T) {
	t.Parallel()
	s := modeltest.Serve(t, modeltest.Answer{Body: `{"object":"list","data":[{"index":1,"embedding":[3,4]},{"index":0,"embedding":[1,2]}],"model":"m","usage":{"prompt_tokens":2}}`})
	got, err := open(t, s.URL+"/v1", "m", 2).Encode(t.Context(), []string{"one", "two"}, false)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([][]float32{{1, 2}, {3, 4}}, got); d != "" {
		t.Error(d)
	}
	r := s.Requests()[0]
	if r.Path != "/v1/embeddings" || r.Body != `{"model":"m","input":["one","two"],"dimensions":2}` || r.Header.Get("Authorization") != "Bearer k-1234567890" {
		t.Errorf("asked %s with %s, %v", r.Path, r.Body, r.Header)
	}
	if got, err := open(t, s.URL, "m", 0).Encode(t.Context(), nil, false); got != nil || err != nil || len(s.Requests()) != 1 {
		t.Errorf("nothing is encoded by %d requests: %v, %v", len(s.Requests()), got, err)
	}
}

// A model that was trained with something before a text gets it, and its vectors go under
// a name that says so.
func TestWhatStandsBeforeATextIsTheModels(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][3]string{
		"text-embedding-3-small":                  {"x", "x", "text-embedding-3-small"},
		"nomic-embed-text:v1.5":                   {"search_query: x", "search_document: x", `nomic-embed-text:v1.5 "search_document: "`},
		"intfloat/multilingual-e5-small":          {"query: x", "passage: x", `intfloat/multilingual-e5-small "passage: "`},
		"intfloat/multilingual-e5-large-instruct": {"Instruct: Given a question, retrieve the chat messages that answer it\nQuery: x", "x", "intfloat/multilingual-e5-large-instruct"},
		"Qwen3-Embedding:0.6b":                    {"Instruct: Given a question, retrieve the chat messages that answer it\nQuery: x", "x", "Qwen3-Embedding:0.6b"},
		"mxbai-embed-large":                       {"Represent this sentence for searching relevant passages: x", "x", "mxbai-embed-large"},
		"snowflake-arctic-embed2":                 {"query: x", "x", "snowflake-arctic-embed2"},
		"embeddinggemma":                          {"task: search result | query: x", "title: none | text: x", `embeddinggemma "title: none | text: "`},
	} {
		s := modeltest.Serve(t, modeltest.Answer{Body: `{"data":[{"index":0,"embedding":[1]}]}`})
		e := open(t, s.URL, name, 0)
		for _, queries := range []bool{true, false} {
			if _, err := e.Encode(t.Context(), []string{"x"}, queries); err != nil {
				t.Fatal(err)
			}
		}
		got := [3]string{input(t, s.Requests()[0].Body), input(t, s.Requests()[1].Body), e.Name()}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := open(t, "http://x", "m", 256).Name(); got != "m/256" {
		t.Errorf("with dimensions: %s", got)
	}
}

func input(t *testing.T, body string) string {
	t.Helper()
	var r struct{ Input []string }
	if err := json.Unmarshal([]byte(body), &r); err != nil || len(r.Input) != 1 {
		t.Fatalf("the request %s: %v", body, err)
	}
	return r.Input[0]
}

// A strict is a server that takes some texts at a time, none of them long.
type strict struct {
	mu       sync.Mutex // guards requests
	requests int
	status   int
	most     int // texts
}

func (s *strict) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Input []string }
	_ = json.NewDecoder(r.Body).Decode(&asked)
	s.mu.Lock()
	s.requests++
	s.mu.Unlock()
	bad := len(asked.Input) > s.most
	var data []string
	for i, text := range asked.Input {
		bad = bad || len(text) > 10
		data = append(data, fmt.Sprintf(`{"index":%d,"embedding":[%d]}`, i, len(text)))
	}
	if bad {
		w.WriteHeader(s.status)
		_, _ = w.Write([]byte(`{"error":"Input validation error: inputs must have less than 10 tokens","error_type":"Validation"}`))
		return
	}
	_, _ = fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(data, ","))
}

func TestWhatAServerRefusesIsSentInParts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 11)
	for _, status := range []int{400, 413, 422} {
		s := &strict{status: status, most: 2}
		h := httptest.NewServer(s)
		t.Cleanup(h.Close)
		got, err := open(t, h.URL, "m", 0).Encode(t.Context(), []string{"a", "bb", "ccc", long, "eeeee"}, false)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([][]float32{{1}, {2}, {3}, nil, {5}}, got); d != "" {
			t.Errorf("status %d: %s", status, d)
		}
	}
}

// A server that refuses all, because of a setting, is not asked for each text.
func TestAServerThatRefusesAllIsAnError(t *testing.T) {
	t.Parallel()
	s := &strict{status: 400}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	_, err := open(t, h.URL, "m", 0).Encode(t.Context(), make([]string, 32), false)
	var e *llm.Error
	if !errors.As(err, &e) || e.Status != 400 || !strings.Contains(err.Error(), "must have less than 10 tokens") || s.requests > 8 {
		t.Errorf("after %d requests: %v", s.requests, err)
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	t.Parallel()
	for want, a := range map[string]modeltest.Answer{
		"index 0":                      {Body: `{"data":[{"index":0,"embedding":[1,2]},{"index":0,"embedding":[1,2]}]}`},
		"0 vectors for 1 texts":        {Body: `{"data":[]}`},
		"index 7":                      {Body: `{"data":[{"index":7,"embedding":[1,2]}]}`},
		"index -1":                     {Body: `{"data":[{"index":-1,"embedding":[1,2]}]}`},
		"set dimensions to 3, or to 0": {Body: `{"data":[{"index":0,"embedding":[1,2,3]}]}`},
		"cannot be read":               {Body: `<html>`},
		"no such model":                {Status: 404, Body: `{"error":{"message":"no such model","type":"not_found_error"}}`},
		"Service Unavailable":          {Status: 503, Body: `busy`},
	} {
		s := modeltest.Serve(t, a)
		_, err := open(t, s.URL, "m", 2).Encode(t.Context(), []string{"one"}, true)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "k-1234567890") {
			t.Errorf("%s: the error is %v", want, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := modeltest.Serve(t, modeltest.Answer{})
	if _, err := open(t, s.URL, "m", 0).Encode(ctx, []string{"one"}, true); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestOptionsThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for _, o := range []model.Options{{Model: "m"}, {BaseURL: "http://x"}, {Model: "m", BaseURL: "x"}} {
		if _, err := embed.New(embed.Options{Options: o}); !errors.Is(err, model.ErrOptions) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// Others wrote this server of the API.
func TestAimockEncodes(t *testing.T) {
	t.Parallel()
	url := modeltest.Aimock(t, `{"fixtures":[{"match":{"inputText":"hello"},"response":{"embedding":[0.5,-0.25]}}]}`)
	got, err := open(t, url+"/v1", "text-embedding-3-small", 0).Encode(t.Context(), []string{"hello"}, true)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([][]float32{{0.5, -0.25}}, got); d != "" {
		t.Error(d)
	}
}

// A real encoder, with its weights, has what means the same close together.
func TestAnEncoderWithWeights(t *testing.T) {
	t.Parallel()
	e := open(t, modeltest.Encoder(t), "use-lite", 512)
	got, err := e.Encode(t.Context(), []string{"the worker died of memory", "OOM killed the process", "lunch is at noon"}, false)
	if err != nil {
		t.Fatal(err)
	}
	if same, other := cosine(got[0], got[1]), cosine(got[0], got[2]); same < other+0.1 {
		t.Errorf("the same: %.2f, something else: %.2f", same, other)
	}
}

func cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
	}
	return dot / math.Sqrt(aa*bb)
}
