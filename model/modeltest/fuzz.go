package modeltest

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/secret"
)

// FuzzStream fuzzes what an adapter makes of the body of an answer, from the
// streams in testdata/streams on. Whatever a server writes, the adapter returns
// an [llm.Error] without the key, or a response that follows [llm.Model]'s
// contract: its texts were told, its calls and its stop agree, and it can be
// sent back in a valid request, in which what it keeps stands byte for byte.
func FuzzStream(f *testing.F, a Adapter) {
	files, _ := filepath.Glob(filepath.Join("testdata", "streams", "*.sse"))
	for _, file := range files {
		stream, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(stream)
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		s := &cannedTransport{body: string(stream)}
		m, err := a.New(model.Options{Model: a.Model, APIKey: secret.New(Key), BaseURL: "http://provider.test" + a.Path, HTTPClient: &http.Client{Transport: s}})
		if err != nil {
			t.Fatal(err)
		}
		r := llm.Request{MaxTokens: 100, Messages: []llm.Message{{Role: earshot.User, Parts: []llm.Part{llm.Text("q")}}}}
		told := 0
		answer, err := m.Generate(t.Context(), r, func(e llm.Event) { told += len(e.Text) })
		if err != nil {
			var e *llm.Error
			if !errors.As(err, &e) || strings.Contains(err.Error(), Key) {
				t.Fatalf("got %v", err)
			}
			return
		}
		if told != len(answer.Text()) {
			t.Errorf("%d bytes were told of %q", told, answer.Text())
		}
		var results []llm.Result
		for _, c := range answer.Calls() {
			results = append(results, llm.Result{Call: c.ID, Name: c.Name, Parts: []llm.Part{llm.Text("done")}})
		}
		if (len(results) > 0) != (answer.Stop == llm.StopCalls) {
			t.Errorf("%d calls in an answer that stops by %s", len(results), answer.Stop)
		}
		if len(answer.Parts) == 0 {
			return // nothing to send back
		}
		next := llm.Results(results...)
		if len(next) == 0 {
			next = []llm.Part{llm.Text("go on")}
		}
		r = r.Append(answer, next)
		if err := r.Check(); err != nil {
			t.Fatalf("what follows is no valid request: %v", err)
		}
		if _, err := m.Generate(t.Context(), r, nil); err != nil && errors.Is(err, llm.ErrInvalid) {
			t.Fatalf("what follows is not sent: %v", err)
		}
		if !json.Valid([]byte(s.asked)) {
			t.Fatalf("what follows is no JSON: %q", s.asked)
		}
		for _, kept := range keptBy(a.Provider, r) {
			if !strings.Contains(s.asked, kept) {
				t.Errorf("%q is not in %q", kept, s.asked)
			}
		}
	})
}

// cannedTransport is a network that answers every request with the same body.
type cannedTransport struct{ body, asked string }

func (s *cannedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	asked, err := io.ReadAll(r.Body)
	s.asked = string(asked)
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(strings.NewReader(s.body)), Request: r,
	}, err
}
