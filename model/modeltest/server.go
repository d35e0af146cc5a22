package modeltest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// An Answer is the answer of a [Server] to one request.
type Answer struct {
	Status int // 0: 200
	Header map[string]string
	Body   string
	Cut    bool // the connection is closed behind the body
}

// Events returns an answer of server-sent events. Each event is given as its data,
// or as its name, a line break and its data.
func Events(events ...string) Answer {
	var b strings.Builder
	for _, e := range events {
		if name, data, ok := strings.Cut(e, "\n"); ok {
			b.WriteString("event: " + name + "\ndata: " + data + "\n\n")
		} else {
			b.WriteString("data: " + e + "\n\n")
		}
	}
	return Answer{Header: map[string]string{"Content-Type": "text/event-stream"}, Body: b.String()}
}

// A Server answers with scripted answers and records the requests.
type Server struct {
	URL string

	mu       sync.Mutex // guards what follows
	answers  []Answer
	requests []Request
}

// A Request is a request that a [Server] got.
type Request struct {
	Path   string
	Header http.Header
	Body   string
}

// Serve starts a server for the time of a test. It gives the answers in order, and
// then the last one again and again.
func Serve(t *testing.T, answers ...Answer) *Server {
	t.Helper()
	s := &Server{answers: answers}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.URL = h.URL
	return s
}

// Requests returns the requests so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	a := s.answers[min(len(s.requests), len(s.answers)-1)]
	s.requests = append(s.requests, Request{r.URL.Path, r.Header.Clone(), string(body)})
	s.mu.Unlock()
	for name, value := range a.Header {
		w.Header().Set(name, value)
	}
	if a.Status != 0 {
		w.WriteHeader(a.Status)
	}
	_, _ = io.WriteString(w, a.Body)
	if a.Cut {
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		panic(http.ErrAbortHandler)
	}
}
