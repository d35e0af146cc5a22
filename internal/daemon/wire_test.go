package daemon_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// A wire stands between a daemon and its model server, for one test: it adds the
// test's name to requests, and the faults that the test asks for.
type wire struct {
	server string // the URL of the model server
	name   string
	url    string // where it listens

	mu     sync.Mutex // guards what follows
	faults []string   // a header for each request, in order, that makes the server fail
	times  []time.Time
	bodies []string // as they were sent
}

func (p endToEnd) wire(t *testing.T, faults ...string) *wire {
	t.Helper()
	to, err := url.Parse(p.server)
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{server: p.server, name: t.Name(), faults: faults}
	s := httptest.NewServer(&httputil.ReverseProxy{
		FlushInterval: -1,
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }, // a closed connection stays one
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			body, err := io.ReadAll(r.In.Body)
			if err != nil {
				panic(http.ErrAbortHandler)
			}
			w.note(string(body))
			r.Out.Body = io.NopCloser(bytes.NewReader(body))
			r.Out.Header.Set("X-Test-Id", w.name)
			if name, value, ok := strings.Cut(w.next(), ": "); ok {
				r.Out.Header.Set(name, value)
			}
		},
	})
	t.Cleanup(s.Close)
	w.url = s.URL + p.path
	return w
}

// next notes a request, and returns the fault that it is to have.
func (w *wire) next() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.times = append(w.times, time.Now())
	if n := len(w.times); n <= len(w.faults) {
		return w.faults[n-1]
	}
	return ""
}

func (w *wire) note(body string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bodies = append(w.bodies, body)
}

// sent returns the bodies of the requests, byte for byte.
func (w *wire) sent() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.bodies...)
}

// asked is when requests were made.
func (w *wire) asked() []time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]time.Time(nil), w.times...)
}

// A request is an entry of the server's journal, in one form for all providers:
// the system text is a message of the role system.
type request struct {
	Body struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	} `json:"body"`
}

// text joins the messages of a role.
func (r request) text(role string) string {
	var b strings.Builder
	for _, m := range r.Body.Messages {
		if m.Role == role {
			b.Write(m.Content)
		}
	}
	return b.String()
}

// recorded reads the journal of the test.
func (w *wire) recorded(t *testing.T) []request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.server+"/__aimock/journal?testId="+url.QueryEscape(w.name), nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var list []request
	if err := json.NewDecoder(res.Body).Decode(&list); err != nil {
		t.Fatalf("the journal, status %d: %v", res.StatusCode, err)
	}
	return list
}

// only checks how many requests there were, and that nothing that people said
// stands where the operator speaks.
func (w *wire) only(t *testing.T, n int, said ...string) []request {
	t.Helper()
	list := w.recorded(t)
	if len(list) != n || len(w.asked()) != n {
		t.Fatalf("%d requests were sent, and %d recorded; want %d", len(w.asked()), len(list), n)
	}
	for i, r := range list {
		system := r.text("system")
		if system == "" {
			t.Errorf("request %d has no system text", i)
		}
		for _, s := range said {
			if strings.Contains(system, s) {
				t.Errorf("%q stands in the system text of request %d: %s", s, i, system)
			}
			if !strings.Contains(r.text("user"), s) {
				t.Errorf("%q does not stand in what request %d tells of the chat: %s", s, i, r.text("user"))
			}
		}
	}
	return list
}
