package inspect_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/inspect"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/store"
)

// token opens the inspectors of these tests.
const token = "the-token-of-this-run"

// A world is a store with two channels, and an inspector over it.
type world struct {
	store earshot.Store
	gate  *access.Gate
	url   string
}

func newWorld(t *testing.T, change func(*inspect.Options)) world {
	t.Helper()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	for _, id := range []earshot.ChannelID{"ops", "hr"} {
		c := earshot.Channel{Platform: earshot.Local, Workspace: "local", ID: id, Name: string(id), Kind: earshot.KindChannel}
		if err := st.PutChannel(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		m := earshot.Message{ID: "1", Time: 1e6, Author: earshot.Author{ID: "sam", Name: "Sam", Kind: earshot.Human}, Text: "said in " + string(id)}
		if _, err := st.Record(t.Context(), c.Scope(), m); err != nil {
			t.Fatal(err)
		}
	}
	gate, err := access.Open(st, access.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := inspect.Options{Reader: explain.New(st, search.New(st, nil), explain.Options{}), Gate: gate, Token: secret.New(token)}
	if change != nil {
		change(&o)
	}
	srv := httptest.NewServer(inspect.New(o))
	t.Cleanup(srv.Close)
	return world{st, gate, srv.URL}
}

// key makes an API key.
func (w world) key(t *testing.T, spec access.KeySpec) string {
	t.Helper()
	s, _, err := access.CreateKey(t.Context(), w.store, spec)
	if err != nil {
		t.Fatal(err)
	}
	return s.Reveal()
}

// do sends a request and returns status and body.
func (w world) do(t *testing.T, client *http.Client, method, path string, body url.Values, header ...string) (int, string) {
	t.Helper()
	status, _, text := w.sent(t, client, method, path, body, header...)
	return status, text
}

// knock is do for a visitor who keeps no cookies and follows no redirects, with the
// answer's header.
func (w world) knock(t *testing.T, method, path string, body url.Values, header ...string) (int, http.Header, string) {
	t.Helper()
	return w.sent(t, still(), method, path, body, header...)
}

func (w world) sent(t *testing.T, client *http.Client, method, path string, body url.Values, header ...string) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, w.url+path, strings.NewReader(body.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	all, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(all)
}

// browser returns a client that keeps cookies.
func browser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar}
}

func TestALinkWithTheTokenOpensASession(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	b := browser(t)
	if status, body := w.do(t, b, "GET", "/", nil); status != http.StatusUnauthorized || strings.Contains(body, "#ops") || !strings.Contains(body, "API key") {
		t.Errorf("without a token: %d %s", status, body)
	}
	if status, _ := w.do(t, b, "GET", "/?token=wrong", nil); status != http.StatusUnauthorized {
		t.Errorf("with a wrong token: %d", status)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/?token="+token, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := b.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK || res.Request.URL.RawQuery != "" {
		t.Errorf("with the token: %d at %s", res.StatusCode, res.Request.URL)
	}
	if status, body := w.do(t, b, "GET", "/index.json", nil); status != http.StatusOK || !strings.Contains(body, `"channels": 2`) || !strings.Contains(body, `"turns": []`) {
		t.Errorf("afterwards: %d %s", status, body)
	}
	if status, _ := w.do(t, b, "POST", "/logout", nil); status != http.StatusOK {
		t.Errorf("leaving: %d", status)
	}
	if status, _ := w.do(t, b, "GET", "/", nil); status != http.StatusUnauthorized {
		t.Errorf("after leaving: %d", status)
	}
}

func TestAKeySeesItsChannelsUntilItIsRevoked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	key := w.key(t, access.KeySpec{Name: "ops", Workspaces: []earshot.WorkspaceID{"local"}, Channels: []earshot.ChannelID{"ops"}, ReadOnly: true})
	b := browser(t)
	if status, body := w.do(t, b, "POST", "/login", url.Values{"token": {key}, "to": {"/index.json"}}); status != http.StatusOK || !strings.Contains(body, `"channels": 1`) {
		t.Errorf("came in with a key: %d %s", status, body)
	}
	if _, body := w.do(t, b, "GET", "/", nil); !strings.Contains(body, `class="standing">viewer<`) {
		t.Errorf("a key that may only read makes no viewer: %s", body)
	}
	if err := access.RevokeKey(t.Context(), w.store, "ops"); err != nil {
		t.Fatal(err)
	}
	if status, _ := w.do(t, b, "GET", "/", nil); status != http.StatusUnauthorized {
		t.Errorf("after the key was revoked: %d", status)
	}
	if status, _ := w.do(t, http.DefaultClient, "GET", "/index.json", nil, "Authorization", "Bearer "+token); status != http.StatusOK {
		t.Errorf("a program with the token: %d", status)
	}
}

func TestASessionEnds(t *testing.T) {
	t.Parallel()
	now := time.Now()
	w := newWorld(t, func(o *inspect.Options) { o.Now = func() time.Time { return now } })
	b := browser(t)
	if status, _ := w.do(t, b, "GET", "/?token="+token, nil); status != http.StatusOK {
		t.Fatalf("came in: %d", status)
	}
	now = now.Add(13 * time.Hour)
	if status, _ := w.do(t, b, "GET", "/", nil); status != http.StatusUnauthorized {
		t.Errorf("after 13 hours: %d", status)
	}
}

func TestOnlyNamesOfOursAreServed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		host        string
		open, hosts bool
		want        int
	}{
		{"127.0.0.1:7300", true, false, 200}, {"localhost:7300", true, false, 200}, {"[::1]:7300", true, false, 200}, {"127.9.9.9", true, false, 200},
		{"rebound.example.com:7300", true, false, 421}, {"10.0.0.5:7300", true, false, 421}, {"localhost.example.com", true, false, 421}, {"", true, false, 400},
		{"rebound.example.com", true, true, 421}, // an open page has no further names
		{"10.0.0.5:7300", false, false, 401}, {"rebound.example.com", false, false, 421}, {"inspect.example.com", false, true, 401},
	} {
		w := newWorld(t, func(o *inspect.Options) {
			if o.Open = c.open; c.hosts {
				o.Hosts = []string{"inspect.example.com", "rebound.example.com"}
			}
		})
		if c.want == 400 {
			continue // net/http refuses an empty name before we see it
		}
		if status, _ := w.do(t, http.DefaultClient, "GET", "/", nil, "Host", c.host); status != c.want {
			t.Errorf("Host %q (open %v, further names %v): got %d, want %d", c.host, c.open, c.hosts, status, c.want)
		}
	}
}

func TestAPostOfAnotherSiteIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *inspect.Options) { o.Open = true })
	for _, h := range [][]string{{"Origin", "https://evil.example"}, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}} {
		if status, _ := w.do(t, http.DefaultClient, "POST", "/logout", url.Values{}, h...); status != http.StatusForbidden {
			t.Errorf("with %v: got %d", h, status)
		}
	}
}

func TestAPageRunsNothingInline(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *inspect.Options) { o.Open = true })
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	csp := res.Header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "script-src 'self';", "style-src 'self';", "frame-ancestors 'none'", "base-uri 'none'"} {
		if !strings.Contains(csp, want) {
			t.Errorf("the policy has no %s: %s", want, csp)
		}
	}
	if strings.Contains(csp, "unsafe") {
		t.Errorf("the policy allows what is inline: %s", csp)
	}
}

func TestWhatDoesNotExistAndWhatIsForeignAreTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	key := w.key(t, access.KeySpec{Name: "ops", Workspaces: []earshot.WorkspaceID{"local"}, Channels: []earshot.ChannelID{"ops"}})
	ask := func(path string) string {
		_, body := w.do(t, http.DefaultClient, "GET", path, nil, "Authorization", "Bearer "+key)
		return body
	}
	if foreign, unknown := ask("/events?channel=hr"), ask("/events?channel=xx"); foreign != unknown || foreign == "" {
		t.Errorf("a foreign channel: %q\nan unknown one: %q", foreign, unknown)
	}
}

func TestTheStreamTellsOfAChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *inspect.Options) { o.Open = true })
	ctx, stop := context.WithTimeout(t.Context(), hang)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+"/events?channel=ops", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	buf := make([]byte, 4096)
	read := func() string {
		n, err := res.Body.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		return string(buf[:n])
	}
	if said := read(); said != ": hello\n\n" {
		t.Fatalf("the stream begins with %q", said)
	}
	scope := earshot.Scope{Platform: earshot.Local, Workspace: "local", Channel: "ops"}
	if _, err := w.store.Record(ctx, scope, earshot.Message{ID: "2", Time: 2e6, Author: earshot.Author{ID: "sam"}, Text: "a secret word"}); err != nil {
		t.Fatal(err)
	}
	said := read()
	if !strings.HasPrefix(said, "event: message\ndata: ") || strings.Contains(said, "secret") {
		t.Errorf("the stream says %q", said)
	}
	var e struct{ Seq int64 }
	if err := json.Unmarshal([]byte(strings.TrimPrefix(said, "event: message\ndata: ")), &e); err != nil || e.Seq != 2 {
		t.Errorf("the event is %+v, %v", e, err)
	}
}
