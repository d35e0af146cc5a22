package modeltest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// StartScripted starts a model server for the time of a test and returns its URL
// without a path. It needs nothing but Go. It speaks the three providers' APIs
// as their documentation has them, shares no code with the adapters, and reads
// what [Aimock] reads: the same fixture files, the same headers for faults and
// the same journal of requests. A test that runs against both proves more than
// one against either.
func StartScripted(t *testing.T, more ...string) string {
	t.Helper()
	s := &scriptedServer{matched: map[string]map[int]int{}, journal: map[string][]exchange{}}
	for _, content := range append([]string{string(fixtures)}, more...) {
		var file struct{ Fixtures []fixture }
		if err := json.Unmarshal([]byte(content), &file); err != nil {
			t.Fatalf("a fixture file: %v", err)
		}
		s.fixtures = append(s.fixtures, file.Fixtures...)
	}
	h := httptest.NewServer(s.routes())
	t.Cleanup(h.Close)
	return h.URL
}

// A fixture is a reply and the requests that get it. The first that fits wins.
type fixture struct {
	Match struct {
		UserMessage        string `json:"userMessage"`        // part of the last message of the role user
		ToolResultContains string `json:"toolResultContains"` // part of the last tool result behind it
		HasToolResult      *bool  `json:"hasToolResult"`      // whether there is one
		SequenceIndex      *int   `json:"sequenceIndex"`      // how often it was used before
	} `json:"match"`
	Response            reply `json:"response"`
	TruncateAfterChunks int   `json:"truncateAfterChunks"` // then the connection is closed; 0: never
	Latency             int   `json:"latency"`             // milliseconds between chunks
}

// A reply is what the model says, whatever the API.
type reply struct {
	Content   string `json:"content"`
	ToolCalls []struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"toolCalls"`
	FinishReason string `json:"finishReason"` // "length", or "" for a whole answer
	Usage        struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	} `json:"usage"`
	Status int `json:"status"`
	Error  *struct {
		Message string `json:"message"`
		Type    string `json:"type"`
	} `json:"error"`
}

// chunks cuts the text of a reply as a stream does.
func (r reply) chunks() (list []string) {
	const size = 8
	text := []rune(r.Content)
	for ; len(text) > size; text = text[size:] {
		list = append(list, string(text[:size]))
	}
	return append(list, string(text))
}

// A turn is a message of a request, whatever the API. Roles are system, user,
// assistant and tool.
type turn struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// An exchange is a request as the journal has it.
type exchange struct {
	Body struct {
		Messages []turn `json:"messages"`
	} `json:"body"`
}

// An api reads a provider's requests and writes its answers.
type api interface {
	// read returns the messages of a request.
	read(body []byte) ([]turn, error)
	// events returns a streamed answer, each event as it stands in the stream.
	events(r reply) []string
	// whole returns the same answer in one piece.
	whole(r reply) any
	// failure returns the body of an error.
	failure(status int, kind, text string) any
	// limit returns the body of the error that asks the caller to wait for a
	// second, and sets the header where the API says that there.
	limit(h http.Header) any
	// streams reports whether a request wants events.
	streams(r *http.Request, body []byte) bool
}

type scriptedServer struct {
	fixtures []fixture

	mu      sync.Mutex             // guards what follows
	matched map[string]map[int]int // by test and fixture: how often
	journal map[string][]exchange  // by test
}

func (s *scriptedServer) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /v1/messages", s.serve(anthropicAPI{}))
	mux.Handle("POST /v1/chat/completions", s.serve(openaiAPI{}))
	mux.Handle("POST /v1beta/models/{call}", s.serve(geminiAPI{}))
	mux.HandleFunc("GET /__aimock/journal", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		_ = json.NewEncoder(w).Encode(append([]exchange{}, s.journal[r.URL.Query().Get("testId")]...))
	})
	return mux
}

// serve answers requests of one API.
func (s *scriptedServer) serve(a api) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the caller has gone
		}
		messages, err := a.read(body)
		if err != nil {
			fail(w, a, http.StatusBadRequest, "invalid_request_error", err.Error())
			return
		}
		test := r.Header.Get("X-Test-Id")
		s.record(test, messages)
		if fault(w, r, a) {
			return
		}
		f, ok := s.choose(test, messages)
		switch e := f.Response.Error; {
		case !ok:
			fail(w, a, http.StatusNotFound, "not_found_error", "no fixture fits the request")
		case e != nil:
			fail(w, a, f.Response.Status, e.Type, e.Message)
		case a.streams(r, body):
			stream(w, r, f, a.events(f.Response))
		default:
			writeJSON(w, http.StatusOK, a.whole(f.Response))
		}
	})
}

func (s *scriptedServer) record(test string, messages []turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var x exchange
	x.Body.Messages = messages
	s.journal[test] = append(s.journal[test], x)
}

// choose returns the first fixture that fits.
func (s *scriptedServer) choose(test string, messages []turn) (fixture, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.matched[test] == nil {
		s.matched[test] = map[int]int{}
	}
	question, result, answered := lastOf(messages)
	for i, f := range s.fixtures {
		m := f.Match
		if strings.Contains(question, m.UserMessage) && strings.Contains(result, m.ToolResultContains) &&
			(m.HasToolResult == nil || *m.HasToolResult == answered) &&
			(m.SequenceIndex == nil || *m.SequenceIndex == s.matched[test][i]) {
			s.matched[test][i]++
			return f, true
		}
	}
	return fixture{}, false
}

// lastOf returns the last message of the role user, and the last tool result
// behind it.
func lastOf(messages []turn) (question, result string, answered bool) {
	for _, m := range messages {
		switch m.Role {
		case "user":
			question, result, answered = m.Content, "", false
		case "tool":
			result, answered = m.Content, true
		}
	}
	return question, result, answered
}

// fault treats a request as its headers ask, and reports whether that was the
// answer: a delay is not.
func fault(w http.ResponseWriter, r *http.Request, a api) bool {
	if ms, err := strconv.Atoi(r.Header.Get("X-Aimock-Chaos-Latency")); err == nil {
		select {
		case <-time.After(time.Duration(ms) * time.Millisecond):
		case <-r.Context().Done():
			return true // the caller has gone
		}
	}
	asks := func(name string) bool { return r.Header.Get("X-Aimock-Chaos-"+name) == "1" }
	switch {
	case asks("Ratelimit"):
		writeJSON(w, http.StatusTooManyRequests, a.limit(w.Header()))
	case asks("Drop"):
		fail(w, a, http.StatusInternalServerError, "api_error", "something broke")
	case asks("Malformed"):
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"malformed`)
	case asks("Disconnect"):
		panic(http.ErrAbortHandler)
	default:
		return false
	}
	return true
}

// stream writes server-sent events, and closes the connection early where the
// fixture says so.
func stream(w http.ResponseWriter, r *http.Request, f fixture, events []string) {
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w).Flush
	for i, e := range events {
		if f.TruncateAfterChunks > 0 && i >= f.TruncateAfterChunks {
			panic(http.ErrAbortHandler)
		}
		if _, err := io.WriteString(w, e+"\n\n"); err != nil || flush() != nil {
			return // the caller has gone
		}
		select {
		case <-time.After(time.Duration(f.Latency) * time.Millisecond):
		case <-r.Context().Done():
			return
		}
	}
}

func fail(w http.ResponseWriter, a api, status int, kind, text string) {
	writeJSON(w, status, a.failure(status, kind, text))
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// event returns a server-sent event. Its name is "" where the API has none.
func event(name string, data any) string {
	raw, err := json.Marshal(data)
	if err != nil {
		panic(err) // the values are made here
	}
	if name != "" {
		return "event: " + name + "\ndata: " + string(raw)
	}
	return "data: " + string(raw)
}

// an object of JSON.
type object = map[string]any
