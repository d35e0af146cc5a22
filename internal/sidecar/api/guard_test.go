package api_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/contexts"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/sidecar/api"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/store"
)

func TestCallersSeeTheirChannels(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []earshot.Channel{
		{Platform: "slack", Workspace: "T1", ID: "C1", Name: "general", Kind: earshot.KindChannel},
		{Platform: "slack", Workspace: "T1", ID: "C2", Name: "deploys", Kind: earshot.KindChannel},
		{Platform: "slack", Workspace: "T2", ID: "C1", Name: "other", Kind: earshot.KindChannel},
	} {
		if err := w.store.PutChannel(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	for as, want := range map[string]int{"all": 3, "T1": 2, "C1": 1, "T2": 1} {
		status, _, body := w.call(t, as, http.MethodGet, "/v1/channels", nil)
		if got := strings.Count(body, `"id"`); status != http.StatusOK || got != want {
			t.Errorf("%s sees %d channels, want %d: %d %s", as, got, want, status, body)
		}
	}
}

func TestAKeyIsNeededForEverythingButTheDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct {
		as, path string
		status   int
		holds    string
	}{
		{"", "/v1/channels", http.StatusUnauthorized, `"code":"unauthenticated"`},
		{"nobody", "/v1/channels", http.StatusUnauthorized, `"code":"unauthenticated"`},
		{"", "/openapi.json", http.StatusOK, `"openapi": "3.1.0"`},
		{"", "/openapi.json", http.StatusOK, `"url": "/"`},
		{"all", "/v1/channels?colour=red", http.StatusBadRequest, "unknown query parameter"},
	} {
		status, header, body := w.call(t, c.as, http.MethodGet, c.path, nil)
		if status != c.status || !strings.Contains(body, c.holds) || header.Get("X-Request-Id") == "" {
			t.Errorf("%s as %q: %d %v %s", c.path, c.as, status, header, body)
		}
	}
}

func TestPagesOfAllowedOriginsMayCall(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	g := gate{"key": {ID: "key:1", Kind: access.Key}}
	h := api.New(api.Options{Service: sidecar.New(st, search.New(st, nil), g, sidecar.Options{}), Reader: explain.New(st, search.New(st, nil), explain.Options{}), Gate: g, Origins: []string{"https://desk.example"}})
	for _, c := range []struct {
		method, origin string
		status         int
		allowed        string
	}{
		{http.MethodOptions, "https://desk.example", http.StatusNoContent, "https://desk.example"},
		{http.MethodGet, "https://desk.example", http.StatusOK, "https://desk.example"},
		{http.MethodOptions, "https://evil.example", http.StatusForbidden, ""},
		{http.MethodGet, "https://evil.example", http.StatusForbidden, ""},
		{http.MethodGet, "null", http.StatusForbidden, ""},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, "http://localhost/v1/channels", nil)
		r.Header.Set("Origin", c.origin)
		r.Header.Set("Sec-Fetch-Site", "cross-site") // where there is an Origin, it decides
		r.Header.Set("Authorization", "Bearer key")
		r.Header.Set("Access-Control-Request-Method", http.MethodGet)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := w.Header().Get("Access-Control-Allow-Origin"); w.Code != c.status || got != c.allowed {
			t.Errorf("%s from %s: %d, allowed %q", c.method, c.origin, w.Code, got)
		}
	}
}

func TestOneBusyChannelHoldsContextsToolsAndEventsBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tell(t, said(0, "Alice", "<@U0BOT> why?"))
	wait := func(s earshot.Scope) (time.Duration, bool) { return 1500 * time.Millisecond, s.Channel != "C1" }
	searcher := search.New(w.store, nil)
	maker := contexts.New(w.store, searcher, contexts.Options{AllowChannel: wait})
	srv := httptest.NewServer(api.New(api.Options{Service: sidecar.New(w.store, searcher, w.gate, sidecar.Options{Maker: maker}), Reader: explain.New(w.store, searcher, explain.Options{Maker: maker}), Gate: w.gate}))
	t.Cleanup(srv.Close)
	w.server = srv
	for path, body := range map[string]string{
		"/v1/context":               `{"channel":"C1","anchor":"m0","agent":"U0BOT"}`,
		"/v1/tools/channel_context": `{"intent":"why"}`,
		"/v1/events":                `{"events":[{"type":"delete","channel":{"id":"C1","workspace":"T1","platform":"slack"},"message_id":"m0"}]}`,
	} {
		if status, header, raw := w.call(t, "C1", http.MethodPost, path, body); status != http.StatusTooManyRequests || header.Get("Retry-After") != "2" {
			t.Errorf("%s: %d %v %s", path, status, header, raw)
		}
		if status, _, raw := w.call(t, "T2", http.MethodPost, path, body); status == http.StatusTooManyRequests {
			t.Errorf("%s tells T2 how busy a channel of T1 is: %s", path, raw)
		}
	}
}

func TestEachAnswerSaysHowOftenTheCallerMayCall(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	now := time.Unix(1_772_442_000, 0)
	door, err := access.Open(st, access.Options{Rates: access.Rates{Principal: access.Rate{PerSecond: 1, Burst: 2}}, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	key, _, err := access.CreateKey(t.Context(), st, access.KeySpec{Name: "bot"})
	if err != nil {
		t.Fatal(err)
	}
	searcher := search.New(st, nil)
	h := api.New(api.Options{Service: sidecar.New(st, searcher, door, sidecar.Options{}), Reader: explain.New(st, searcher, explain.Options{}), Gate: door})
	for _, want := range []struct {
		status      int
		left, retry string
	}{
		{http.StatusOK, `"caller";r=1;t=1`, ""},
		{http.StatusOK, `"caller";r=0;t=2`, ""},
		{http.StatusTooManyRequests, `"caller";r=0;t=2`, "1"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/v1/channels", nil)
		r.Header.Set("Authorization", "Bearer "+key.Reveal())
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		got := w.Header()
		if w.Code != want.status || got.Get("RateLimit") != want.left || got.Get("RateLimit-Policy") != `"caller";q=2;w=2` || got.Get("Retry-After") != want.retry {
			t.Errorf("%d %v, want %+v", w.Code, got, want)
		}
	}
}

// TestEachRequestIsALineInTheLogWithoutItsWords finds each request by its X-Request-Id.
func TestEachRequestIsALineInTheLogWithoutItsWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug}))
	searcher := search.New(w.store, nil)
	h := api.New(api.Options{Service: sidecar.New(w.store, searcher, w.gate, sidecar.Options{}), Reader: explain.New(w.store, searcher, explain.Options{}), Gate: w.gate, Log: log})
	for _, c := range []struct{ as, method, host, path, body, want string }{
		{"T1", "POST", "localhost", "/v1/events", batch(saidIn("C1", "m1", "canary")), `level=DEBUG msg=request request=ID route="POST /v1/events" status=200 code="" caller=key:T1 ms=`},
		{"T1", "POST", "localhost", "/v1/events", `{"events":[{"type":"canary"}]}`, `level=INFO msg=request request=ID route="POST /v1/events" status=400 code=invalid caller=key:T1 ms=`},
		{"read", "POST", "localhost", "/v1/events", batch(saidIn("C1", "m1", "canary")), `level=INFO msg=request request=ID route="POST /v1/events" status=403 code=read_only caller=key:read ms=`},
		{"T1", "GET", "localhost", "/v1/channels/canary", "", `level=INFO msg=request request=ID route="GET /v1/channels/{channel}" status=404 code=not_found caller=key:T1 ms=`},
		{"T1", "GET", "localhost", "/api/chat/conversations/canary", "", `level=INFO msg=request request=ID route="GET /api/chat/conversations/{id}" status=404 code=not_found caller=key:T1 ms=`},
		{"T1", "GET", "localhost", "/canary", "", `level=INFO msg=request request=ID route=GET status=404 code=not_found caller=key:T1 ms=`},
		{"canary", "GET", "localhost", "/v1/channels", "", `level=INFO msg=request request=ID route=GET status=401 code=unauthenticated caller="" ms=`},
		{"T1", "GET", "canary.example", "/v1/channels", "", `level=INFO msg=request request=ID route=GET status=421 code=wrong_host caller="" ms=`},
	} {
		text.Reset()
		r := httptest.NewRequestWithContext(t.Context(), c.method, c.path, strings.NewReader(c.body))
		r.Host = c.host
		r.Header.Set("Authorization", "Bearer "+c.as)
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, r)
		id := answer.Header().Get("X-Request-Id")
		_, got, _ := strings.Cut(strings.ReplaceAll(text.String(), id, "ID"), " ")
		if !strings.HasPrefix(got, c.want) || strings.Count(got, "\n") != 1 || strings.Contains(got, "canary") {
			t.Errorf("%s %s: got %swant %s", c.method, c.path, got, c.want)
		}
	}
}
