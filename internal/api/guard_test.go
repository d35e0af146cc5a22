package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
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
		{"all", "/v1/channels?colour=red", http.StatusBadRequest, "unknown query parameter"},
	} {
		status, header, body := w.call(t, c.as, http.MethodGet, c.path, nil)
		if status != c.status || !strings.Contains(body, c.holds) || header.Get("X-Request-Id") == "" {
			t.Errorf("%s as %q: %d %v %s", c.path, c.as, status, header, body)
		}
	}
}
