package inspect_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/inspect"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/llm"
)

// still follows no redirect.
func still() *http.Client {
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func opsOnly(name string) access.KeySpec {
	return access.KeySpec{Name: name, Workspaces: []earshot.WorkspaceID{"local"}, Channels: []earshot.ChannelID{"ops"}, ReadOnly: true}
}

func TestManySessionsOfOneKeyEndNobodyElses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	operator, first := browser(t), browser(t)
	if status, _ := w.do(t, operator, "POST", "/login", url.Values{"token": {token}}); status != http.StatusOK {
		t.Fatalf("the operator comes in: %d", status)
	}
	key := w.key(t, opsOnly("ops"))
	if status, _ := w.do(t, first, "POST", "/login", url.Values{"token": {key}}); status != http.StatusOK {
		t.Fatalf("the key comes in: %d", status)
	}
	for range 1001 {
		if status, _ := w.do(t, still(), "POST", "/login", url.Values{"token": {key}}); status != http.StatusSeeOther {
			t.Fatalf("the key comes in again: %d", status)
		}
	}
	if status, _ := w.do(t, operator, "GET", "/", nil); status != http.StatusOK {
		t.Errorf("the operator, after the key came in often: %d", status)
	}
	if status, _ := w.do(t, first, "GET", "/", nil); status != http.StatusUnauthorized {
		t.Errorf("the key's first session goes on: %d", status)
	}
}

func TestManyStreamsOfOneVisitorLeaveSomeToOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	key := w.key(t, opsOnly("ops"))
	open := func(bearer string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+bearer)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = res.Body.Close() })
		return res.StatusCode
	}
	refused := 0
	for range 60 {
		if open(key) == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused != 20 {
		t.Errorf("of 60 streams of one key %d were refused", refused)
	}
	if status := open(token); status != http.StatusOK {
		t.Errorf("a stream of somebody else: %d", status)
	}
}

func TestALoginLeadsToThesePagesOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for to, want := range map[string]string{
		"/turns?channel=ops": "/turns?channel=ops", "/turns/7#m-1": "/turns/7#m-1",
		"https://evil.example/": "/", "//evil.example": "/", "/\\evil.example": "/", "/\t/evil.example": "/", "/\n/evil.example": "/", "\t//evil.example": "/",
		"/.\\/evil.example": "/", "javascript:alert(1)": "/", "evil.example": "/", "": "/", "/login": "/", "/login?to=x": "/",
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/login", strings.NewReader(url.Values{"token": {token}, "to": {to}}.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		res, err := still().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if got := res.Header.Get("Location"); res.StatusCode != http.StatusSeeOther || got != want {
			t.Errorf("to %q: %d, to %q", to, res.StatusCode, got)
		}
	}
}

// TestASessionIsNotChosenByOthers: what a browser brings before it comes in opens
// nothing afterwards, and scripts and other sites do not get the session.
func TestASessionIsNotChosenByOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	_, port, _ := strings.Cut(strings.TrimPrefix(w.url, "http://"), ":")
	name := "earshot_inspect_" + port // two inspectors of one host do not take each other's place
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/login", strings.NewReader(url.Values{"token": {token}}.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.AddCookie(&http.Cookie{Name: name, Value: "planted"})
	res, err := still().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if len(res.Cookies()) != 1 {
		t.Fatalf("coming in sets the cookies %v", res.Cookies())
	}
	c := res.Cookies()[0]
	if c.Name != name || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || len(c.Value) < 26 || strings.Contains(c.Value, token) || c.Value == "planted" {
		t.Errorf("the cookie is %s", c)
	}
	if status, _ := w.do(t, http.DefaultClient, "GET", "/", nil, "Cookie", name+"=planted"); status != http.StatusUnauthorized {
		t.Errorf("the planted session: %d", status)
	}
	if status, _ := w.do(t, http.DefaultClient, "GET", "/", nil, "Cookie", name+"="+token); status != http.StatusUnauthorized {
		t.Errorf("the token as a session: %d", status)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	if status, _ := w.do(t, &http.Client{Jar: jar}, "POST", "/?token="+token, url.Values{}); status == http.StatusOK || status == http.StatusSeeOther {
		t.Errorf("a POST with a token in its address: %d", status)
	}
}

// TestOnlyOperatorsChange: who reads, and who an issuer knows, changes nothing.
func TestOnlyOperatorsChange(t *testing.T) {
	t.Parallel()
	users := map[string]access.Principal{"user": {ID: "user:https://issuer sam", Kind: access.User, Subject: "sam", Reach: access.Reach{Workspaces: []earshot.WorkspaceID{"local"}}}}
	w := newChat(t, llm.Offline{}, func(o *inspect.Options) {
		o.Gate = people{users, o.Gate.(*access.Gate)} //nolint:forcetypeassert // newWorldOver's
	})
	reads := w.key(t, access.KeySpec{Name: "reads", Workspaces: []earshot.WorkspaceID{"local"}, ReadOnly: true})
	for _, pattern := range inspect.Patterns() {
		path, ok := strings.CutPrefix(pattern, "POST ")
		if !ok || path == "/login" || path == "/logout" {
			continue
		}
		for _, bearer := range []string{"user", reads} {
			status, _ := w.do(t, http.DefaultClient, "POST", strings.ReplaceAll(path, "{id}", "1"), in("ops", "as", "Sam", "text", "hello", "name", "new"), "Authorization", "Bearer "+bearer)
			if status != http.StatusForbidden {
				t.Errorf("POST %s: got %d", path, status)
			}
		}
	}
}

// TestNoGetChanges: the addresses of changes answer no other method than POST, however
// it is asked for.
func TestNoGetChanges(t *testing.T) {
	t.Parallel()
	w := newChat(t, llm.Offline{}, forAll)
	for _, pattern := range inspect.Patterns() {
		path, ok := strings.CutPrefix(pattern, "POST ")
		if !ok || path == "/login" {
			continue
		}
		path = strings.ReplaceAll(path, "{id}", "1")
		for _, method := range []string{"GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"} {
			status, _ := w.do(t, still(), method, path+"?_method=POST", nil, "X-Http-Method-Override", "POST")
			if status != http.StatusNotFound && status != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: got %d", method, path, status)
			}
		}
	}
}

// TestASearchTellsNobodyElsesName: a name that only others use, and one that nobody
// has, find the same.
func TestASearchTellsNobodyElsesName(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	if err := w.store.PutAuthors(t.Context(), earshot.Local, "local", earshot.Author{ID: "Uada", Name: "Adaada", Kind: earshot.Human}); err != nil {
		t.Fatal(err)
	}
	ask := func(path string) string {
		_, body := w.do(t, http.DefaultClient, "GET", path, nil, "Authorization", "Bearer "+w.key(t, opsOnly("k"+path)))
		return strings.NewReplacer("Adaada", "~", "Zoezoe", "~").Replace(body)
	}
	for _, path := range []string{"/search?channel=ops&q=said&person=", "/search.json?channel=ops&q=said&person="} {
		if foreign, unknown := ask(path+"Adaada"), ask(path+"Zoezoe"); foreign != unknown {
			t.Errorf("%s tells who there is:\n%s\n%s", path, foreign, unknown)
		}
	}
}

func TestALongAddressIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, forAll)
	for _, path := range []string{"/", "/login", "/search", "/context/what-if", "/turns.json"} {
		if status, body := w.do(t, http.DefaultClient, "GET", path+"?"+strings.Repeat("a.b=1&", 3000), nil); status != http.StatusRequestURITooLong || len(body) > 3000 || strings.Contains(body, "a.b=1") {
			t.Errorf("%s: got %d, %d bytes", path, status, len(body))
		}
	}
}

func TestTheLoginSlowsAfterTenWrongTokens(t *testing.T) {
	t.Parallel()
	doors := map[string]func(t *testing.T, w world, token string) (int, http.Header, string){
		"the form": func(t *testing.T, w world, token string) (int, http.Header, string) {
			return w.knock(t, "POST", "/login", url.Values{"token": {token}})
		},
		"a link": func(t *testing.T, w world, token string) (int, http.Header, string) {
			return w.knock(t, "GET", "/?token="+token, nil)
		},
		"a program": func(t *testing.T, w world, token string) (int, http.Header, string) {
			return w.knock(t, "GET", "/index.json", nil, "Authorization", "Bearer "+token)
		},
	}
	for name, door := range doors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.Now()
			w := newWorld(t, func(o *inspect.Options) { o.Now = func() time.Time { return now } })
			inside := browser(t)
			if status, _ := w.do(t, inside, "POST", "/login", url.Values{"token": {token}}); status != http.StatusOK {
				t.Fatalf("the operator comes in: %d", status)
			}
			for i := range 30 {
				if status, _, _ := door(t, w, token); status >= 400 {
					t.Fatalf("the right token, the %dth time: %d", i, status)
				}
			}
			for i := range 10 {
				if status, _, body := door(t, w, "wrong"); status != http.StatusUnauthorized {
					t.Fatalf("wrong token %d: %d %s", i+1, status, body)
				}
			}
			for other, door := range doors {
				status, header, body := door(t, w, token)
				if status != http.StatusTooManyRequests || header.Get("Retry-After") != "6" || !strings.Contains(body, "try again in 6 seconds") {
					t.Errorf("the next token, by %s: %d, Retry-After %q, %s", other, status, header.Get("Retry-After"), body)
				}
			}
			if status, _ := w.do(t, inside, "GET", "/", nil); status != http.StatusOK {
				t.Errorf("who was in before: %d", status)
			}
			now = now.Add(6 * time.Second)
			if status, _, _ := door(t, w, "wrong"); status != http.StatusUnauthorized {
				t.Errorf("a wrong token after the wait: %d", status)
			}
			if status, _, _ := door(t, w, token); status != http.StatusTooManyRequests {
				t.Errorf("the token after it: %d", status)
			}
			now = now.Add(6 * time.Second)
			if status, _, body := door(t, w, token); status >= 400 {
				t.Errorf("the right token after the wait: %d %s", status, body)
			}
		})
	}
}
