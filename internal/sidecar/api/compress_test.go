package api_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
)

// packed makes a request that accepts gzip and returns the answer as it came: Go's client
// unpacks what it asked for itself.
func (w *world) packed(t *testing.T, method, path, body, accept string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, w.server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer C1")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept-Encoding", accept)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res
}

func TestLongAnswersAreCompressed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var list []earshot.Message
	for i := range 100 {
		list = append(list, said(i, "Alice", fmt.Sprintf("the mirror in rack %d is slow again", i)))
	}
	w.tell(t, list...)
	const context = `{"channel":"C1","anchor":"m99","agent":"U0BOT"}`
	_, _, plain := w.call(t, "C1", http.MethodPost, "/v1/context", context)
	for _, accept := range []string{"gzip", "br, gzip;q=0.5"} {
		res := w.packed(t, http.MethodPost, "/v1/context", context, accept)
		if res.Header.Get("Content-Encoding") != "gzip" || !strings.Contains(res.Header.Get("Vary"), "Accept-Encoding") || res.Header.Get("Content-Type") != "application/json" {
			t.Fatalf("%s: %v", accept, res.Header)
		}
		raw, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		unpacked, err := gzip.NewReader(strings.NewReader(string(raw)))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(unpacked)
		if err != nil || string(text) != plain || len(raw) > len(plain)/3 {
			t.Errorf("%s: %d bytes of %d, %v", accept, len(raw), len(plain), err)
		}
	}
	for what, res := range map[string]*http.Response{
		"a caller that does not accept it": w.packed(t, http.MethodPost, "/v1/context", context, "identity"),
		"a short answer":                   w.packed(t, http.MethodGet, "/v1/me", "", "gzip"),
		"a problem":                        w.packed(t, http.MethodGet, "/v1/channels/C9", "", "gzip"),
		"the stream":                       w.packed(t, http.MethodGet, "/v1/turns/events?channel=C1", "", "gzip"),
	} {
		if got := res.Header.Get("Content-Encoding"); got != "" {
			t.Errorf("%s is answered in %s", what, got)
		}
	}
}
