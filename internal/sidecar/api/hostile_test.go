package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/sidecar/api"
)

func TestRequestsThatNoRouteTakes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(t, earshot.Channel{Platform: "slack", Workspace: "T1", ID: "C1", Kind: earshot.KindChannel}, 1)
	for _, c := range []struct {
		method, path, host, origin string
		status                     int
		code                       string
	}{
		{"GET", "/v1/channels", "evil.example", "", http.StatusMisdirectedRequest, "wrong_host"},
		{"GET", "/v1/channels", "localhost:7301", "", http.StatusOK, ""},
		{"GET", "/v1/channels", "[::1]:7301", "", http.StatusOK, ""},
		{"GET", "/v1/channels", "", "https://evil.example", http.StatusForbidden, "foreign_origin"},
		{"GET", "/v1/channels", "", "null", http.StatusForbidden, "foreign_origin"},
		{"GET", "/v1/channels", "", "site cross-site", http.StatusForbidden, "foreign_origin"},
		{"GET", "/v1/channels", "", "site same-site", http.StatusForbidden, "foreign_origin"},
		{"GET", "/v1/channels", "", "site whatever-comes-next", http.StatusForbidden, "foreign_origin"},
		{"POST", "/v1/events", "", "site cross-site", http.StatusForbidden, "foreign_origin"},
		{"GET", "/v1/channels", "", "site same-origin", http.StatusOK, ""},
		{"GET", "/v1/channels", "", "site none", http.StatusOK, ""},
		{"GET", "/v1/nothing", "", "", http.StatusNotFound, "not_found"},
		{"GET", "/v1/channels/", "", "", http.StatusNotFound, "not_found"},
		{"GET", "/", "", "", http.StatusNotFound, "not_found"},
		{"PATCH", "/v1/channels", "", "", http.StatusMethodNotAllowed, "method_not_allowed"},
		{"HEAD", "/v1/channels/C1", "", "", http.StatusOK, ""},
		{"HEAD", "/v1/channels/C9", "", "", http.StatusNotFound, ""},
	} {
		req := httptest.NewRequestWithContext(t.Context(), c.method, c.path, nil)
		req.Host = "127.0.0.1:7301"
		if c.host != "" {
			req.Host = c.host
		}
		if site, ok := strings.CutPrefix(c.origin, "site "); ok {
			req.Header.Set("Sec-Fetch-Site", site) // as of a picture or a link, without an Origin
		} else if c.origin != "" {
			req.Header.Set("Origin", c.origin)
		}
		req.Header.Set("Authorization", "Bearer T1")
		res := httptest.NewRecorder()
		w.server.Config.Handler.ServeHTTP(res, req)
		if res.Code != c.status || !strings.Contains(res.Body.String(), c.code) {
			t.Errorf("%s %s at %q from %q: %d %s; want %d %s", c.method, c.path, c.host, c.origin, res.Code, res.Body, c.status, c.code)
		}
		if kind := res.Header().Get("Content-Type"); c.code != "" && kind != "application/problem+json" {
			t.Errorf("%s %s: the problem is %s", c.method, c.path, kind)
		}
	}
}

func TestBodiesHaveBounds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, c := range map[string]struct {
		body   string
		status int
	}{
		"too large":   {batch(saidIn("C1", "m1", strings.Repeat("x", 1<<20))), http.StatusRequestEntityTooLarge},
		"just fits":   {batch(saidIn("C1", "m1", strings.Repeat("x", 1<<20-400))), http.StatusOK},
		"empty":       {"", http.StatusBadRequest},
		"two values":  {batch(saidIn("C1", "m1", "x")) + "{}", http.StatusBadRequest},
		"no object":   {`"events"`, http.StatusBadRequest},
		"1001 events": {batch(strings.Split(strings.TrimSuffix(strings.Repeat(`{"type":"delete","channel":{"id":"C1"},"message_id":"x"}|`, 1001), "|"), "|")...), http.StatusBadRequest},
	} {
		if status, _, got := w.call(t, "T1", http.MethodPost, "/v1/events", c.body); status != c.status {
			t.Errorf("%s: %d %.200s, want %d", name, status, got, c.status)
		}
	}
}

// broken is a gate that fails as a test wants it to.
type broken struct {
	gate
	fail func() error
}

func (b broken) Authenticate(context.Context, string) (p access.Principal, err error) {
	return p, b.fail()
}

func TestWhatGoesWrongHereIsToldWithoutItsText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fail   func() error
		status int
	}{
		"a panic":  {func() error { panic("secret words") }, http.StatusInternalServerError},
		"an error": {func() error { return errors.New("secret words") }, http.StatusServiceUnavailable},
	} {
		req := httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost/v1/channels", nil)
		res := httptest.NewRecorder()
		api.New(api.Options{Gate: broken{fail: c.fail}}).ServeHTTP(res, req)
		if res.Code != c.status || strings.Contains(res.Body.String(), "secret") || res.Header().Get("X-Request-Id") == "" {
			t.Errorf("%s: %d %s", name, res.Code, res.Body)
		}
	}
}

// fuzzed sends a body to a route and checks what every answer promises.
func fuzzed(t *testing.T, w *world, method, path, body string) {
	t.Helper()
	status, header, got := w.call(t, "T1", method, path, body)
	switch {
	case status >= 500:
		t.Fatalf("%d %s to %q", status, got, body)
	case !json.Valid([]byte(got)):
		t.Fatalf("%d with %q", status, got)
	case status >= 400 && header.Get("Content-Type") != "application/problem+json":
		t.Fatalf("%d with %v", status, header)
	}
	if list, err := w.store.Channels(t.Context()); err != nil {
		t.Fatal(err)
	} else {
		for _, c := range list {
			if c.Workspace != "T1" {
				t.Fatalf("a channel of workspace %q came from %q", c.Workspace, body)
			}
		}
	}
}

func FuzzEvents(f *testing.F) {
	w := newWorld(f)
	f.Add(batch(saidIn("C1", "m1", "x")))
	f.Add(`{"events":[{"type":"edit","channel":{"id":"C1","kind":"dm"},"message":{"id":"m1","time":"1.0","edited":"2.0","author":{},"text":"\ud800"}}]}`)
	f.Add(`{"events":[{"type":"reaction","id":"d","channel":{"id":"C1"},"message_id":"m1","reaction":{"name":"eyes","by":-1}},{"type":"delete","channel":{"id":"C1"},"message_id":"m1"}]}`)
	f.Add(`{"events":[{"type":"message","channel":{"id":"C1","workspace":"T2"},"message":null}]}`)
	f.Fuzz(func(t *testing.T, body string) { fuzzed(t, w, http.MethodPost, "/v1/events", body) })
}

func FuzzSlackEvents(f *testing.F) {
	w := newWorld(f)
	f.Add(`{"type":"event_callback","team_id":"T1","event_id":"E1","event":{"type":"message","channel":"C1","user":"U1","text":"hi","ts":"1700000000.000100"}}`)
	f.Add(`{"events":[{"type":"event_callback","team_id":"T2","event":{"type":"reaction_added"}}]}`)
	f.Add(`{"type":"event_callback","team_id":"T1","event":{"type":"message","subtype":"message_changed","channel":"C1","message":{"ts":"1.000000","text":"x"}}}`)
	f.Fuzz(func(t *testing.T, body string) { fuzzed(t, w, http.MethodPost, "/v1/events?platform=slack", body) })
}

func FuzzPutAgent(f *testing.F) {
	w := newWorld(f)
	f.Add(`{"name":"helper","aliases":["B1"],"workspace":"T1"}`)
	f.Add(`{"name":"x","platform":"~é/"}`)
	f.Fuzz(func(t *testing.T, body string) { fuzzed(t, w, http.MethodPut, "/v1/agents/U9", body) })
}

func FuzzPutChannel(f *testing.F) {
	w := newWorld(f)
	f.Add(`{"name":"deploys","kind":"dm","topic":"","workspace":"T1","platform":"slack"}`)
	f.Fuzz(func(t *testing.T, body string) { fuzzed(t, w, http.MethodPut, "/v1/channels/C1", body) })
}

func FuzzPutChannels(f *testing.F) {
	w := newWorld(f)
	f.Add(`{"channels":[{"id":"C1","name":"deploys","kind":"dm","workspace":"T1","platform":"slack"},{"id":"C2"}]}`)
	f.Add(`{"channels":[null]}`)
	f.Fuzz(func(t *testing.T, body string) { fuzzed(t, w, http.MethodPut, "/v1/channels", body) })
}

func FuzzHistory(f *testing.F) {
	w := newWorld(f)
	f.Add(`{"channel":"C1","from":"2026-03-01T10:00:00Z","messages":[{"id":"m1","time":"2026-03-02T10:00:00Z","author":{"id":"U1"},"text":"x","replies":{"count":3}}]}`)
	f.Add(`{"platform":"slack","channel":"C1","latest":"1772442005.000000","page":{"ok":true,"has_more":true,"messages":[{"type":"message","ts":"1772442000.000100","user":"U1","text":"hi","reply_count":2,"thread_ts":"1772442000.000100"}]}}`)
	f.Add(`{"platform":"slack","channel":"C1","thread":"1772442000.000100","page":{"ok":false,"error":"x","messages":[7]}}`)
	f.Add(`{"platform":"discord","channel":{"id":"800000000000000001","type":11,"parent_id":"700000000000000001"},"before":"900000000000000001","limit":1,"page":[{"id":"800000000000000002","channel_id":"800000000000000001","content":"x","author":{"id":"1"},"timestamp":"2026-03-02T10:00:00Z"}]}`)
	f.Add(`{"platform":"discord","channel":"1","page":[null]}`)
	f.Fuzz(func(t *testing.T, body string) { fuzzed(t, w, http.MethodPost, "/v1/history", body) })
}

func FuzzCoverage(f *testing.F) {
	w := newWorld(f)
	f.Add(`{"channel":"C1","coverage":[{"state":"known"},{"from":"2026-03-01T10:00:00Z","to":"2026-03-02T10:00:00Z","state":"missing","why":"x"},{"thread":"m1","state":"stale"}]}`)
	f.Add(`{"channel":{"id":"C1","workspace":"T2"},"coverage":[{"to":"1.0","state":"known"}]}`)
	f.Fuzz(func(t *testing.T, body string) { fuzzed(t, w, http.MethodPost, "/v1/coverage", body) })
}

func FuzzPutAuthors(f *testing.F) {
	w := newWorld(f)
	f.Add(`{"authors":[{"id":"U1","name":"Ann","kind":"bot","zone":"Europe/Berlin"}],"platform":"slack"}`)
	f.Fuzz(func(t *testing.T, body string) { fuzzed(t, w, http.MethodPut, "/v1/authors", body) })
}

// A batch of 100 new messages a request.
func BenchmarkEvents(b *testing.B) {
	w := newWorld(b)
	n := 0
	for b.Loop() {
		var events []string
		for range 100 {
			n++
			events = append(events, saidIn("C1", fmt.Sprintf("m%d", n), "The import is stuck again, at row 17,204."))
		}
		if status, _, got := w.call(b, "T1", http.MethodPost, "/v1/events", batch(events...)); status != http.StatusOK {
			b.Fatalf("%d %s", status, got)
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "messages/s")
}
