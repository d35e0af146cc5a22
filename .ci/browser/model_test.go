package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Where the slow answer stops, and how it goes on.
const (
	slowBegin = "this is how it begins "
	slowEnd   = "and this is how it ends"
)

// A modelServer says the naughty strings and calls tools with them, in turn. Asked for
// something slowly it stops in the middle until somebody posts to /go; asked to break it
// refuses.
type modelServer struct{ *httptest.Server }

func newModel(t *testing.T) modelServer {
	t.Helper()
	gate := make(chan struct{}, 100)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /go", func(http.ResponseWriter, *http.Request) { gate <- struct{}{} })
	mux.Handle("/", provider("naughty-1", func(a Asked) Said {
		n := int(a.N)
		switch {
		case strings.Contains(a.Question, "please break"):
			return Said{Refuse: naughty[n%len(naughty)]}
		case strings.Contains(a.Question, "slowly"):
			return Said{Parts: []string{slowBegin, slowEnd}, Wait: func(done <-chan struct{}) {
				select {
				case <-gate:
				case <-done:
				}
			}}
		case a.Question != "":
			return Said{Parts: []string{naughty[(n+1)%len(naughty)]}, Tool: "conversation_search", Args: object{"query": naughty[n%len(naughty)]}}
		}
		return Said{Parts: []string{"an answer: ", naughty[n%len(naughty)]}}
	}))
	m := modelServer{httptest.NewServer(mux)}
	t.Cleanup(m.Close)
	return m
}

// settings are what makes the program ask this model.
func (m modelServer) settings() []string { return asking(m.URL, "naughty-1") }
