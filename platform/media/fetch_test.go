package media_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot/platform/media"
)

func TestAFileIsFetchedWithTheToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) { _, _ = rw.Write(picture(t, 3, 3)) })
	kind, err := load(t.Context(), w.open(at("https://files.slack.com/files-pri/T1-F1/plan.png"), nil))
	if err != nil || kind != "image/png" || w.owed != 1 {
		t.Errorf("got %q, %v, the token %d times; want a picture, and the token once", kind, err, w.owed)
	}
}

// tricks are URLs that lead to another host than they seem to, or that no file
// has: each in every spelling that parsers have been found to disagree about.
func tricks() []string {
	evil := []string{
		"evil.example", "files.slack.com.evil.example", "evil-files.slack.com.example", "xfiles.slack.com", "files-slack.com", "slack.com", "other.slack.com",
		"files.slack.com.", "acme.slack.com.", "files.slack.com..", ".files.slack.com", "files.slack.co", "files.slack.comm", "files%2eslack%2ecom", "files.slack.com%00.evil.example",
		"files.slack.com%20", "fіles.slack.com", "files。slack。com", "files.slack.com", "xn--fles-vpa.slack.com", "f\u200biles.slack.com", "files.slack.com\u3002evil.example",
		"127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0", "0.0.0.0", "localhost", "169.254.169.254", "2852039166", "10.0.0.1", "192.168.1.1", "172.16.0.1", "100.64.0.1",
		"[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[fe80::1]", "[fe80::1%25eth0]", "[fd00::1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[::127.0.0.1]", "93.184.216.35", "[2606:2800:220:1::]",
	}
	forms := []string{
		"https://%s/f", "http://%s/f", "https://files.slack.com@%s/f", "https://u:p@%s/f", "https://%s:443/f", "https://%s:8443/f",
		"https://%s#@files.slack.com/f", "https://%s?@files.slack.com/f", "https://%s\\@files.slack.com/f", "https://files.slack.com\\@%s/f", "//%s/f", "https:\\\\%s/f",
	}
	list := []string{
		"", "/", "files.slack.com", "https://", "https:///f", "https://:443/f", "https://@/f", "ftp://files.slack.com/f", "file:///etc/passwd", "gopher://files.slack.com/", "data:text/plain,x",
		"http://files.slack.com/f", "HTTP://files.slack.com/f", "https://files.slack.com:80/f", "https://files.slack.com:0443x/f", "https://user@files.slack.com/f", "https://files.slack.com\n.evil.example/f",
		"https://files.slack.com\t/f", " https://evil.example/f", "javascript:alert(1)", "https://[files.slack.com]/f", "wss://files.slack.com/f", "https://files.slack.com%2f@evil.example/f",
	}
	for _, host := range evil {
		for _, form := range forms {
			list = append(list, fmt.Sprintf(form, host))
		}
	}
	return list
}

// The token goes to the hosts that the platform has named and to no other,
// whatever a file's URL looks like, and wherever a redirect leads.
func TestTheTokenGoesNowhereElse(t *testing.T) {
	t.Parallel()
	list := tricks()
	if len(list) < 500 {
		t.Fatalf("%d tricks are fewer than 500", len(list))
	}
	var redirect string
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header()["Location"] = []string{redirect}
		rw.WriteHeader(http.StatusFound)
	})
	for _, u := range list {
		// Spelled otherwise it may be the platform itself, which may be asked.
		if p, err := url.Parse(u); err == nil && p.User == nil && strings.EqualFold(p.Hostname(), "files.slack.com") && p.Scheme == "https" {
			continue
		}
		before := w.owed
		if _, err := load(t.Context(), w.open(at(u), nil)); err == nil {
			t.Errorf("%q was fetched", u)
		}
		if w.asked != 0 || w.owed != before {
			t.Fatalf("%q was asked for", u)
		}
	}
	followed := 0
	x := w.open(at("https://files.slack.com/f"), &media.Options{Cache: -1})
	defer x.KeepAlive()()
	for _, u := range list {
		redirect = u
		if _, err := load(t.Context(), x); err != nil && strings.Contains(err.Error(), token) {
			t.Errorf("redirected to %q: the token stands in an error: %v", u, err)
		}
		if w.asked > followed {
			followed = w.asked
		}
		if w.tokens != 0 {
			t.Fatalf("redirected to %q: the token was sent there", u)
		}
	}
	if followed == 0 {
		t.Error("no redirect was followed: the test does not see what it looks for")
	}
	for _, a := range w.dialed {
		if ip, err := netip.ParseAddrPort(a); err != nil || !media.Public(ip.Addr()) {
			t.Errorf("%s was dialled", a)
		}
	}
}

func TestATokenThatWasLeftBehindDoesNotComeBack(t *testing.T) {
	t.Parallel()
	for name, hops := range map[string][]string{
		"by way of the platform's other host": {"https://acme.slack.com/a", "https://files.slack.com/end"},
		"by the same host on its port":        {"https://files.slack.com:443/a", "https://files.slack.com/end"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen []string
			w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
				seen = append(seen, r.Header.Get("Authorization"))
				if len(seen) <= len(hops) {
					http.Redirect(rw, r, hops[len(seen)-1], http.StatusFound)
					return
				}
				_, _ = rw.Write(picture(t, 2, 2))
			})
			kind, err := load(t.Context(), w.open(at("https://files.slack.com/f"), nil))
			if err != nil || kind != "image/png" {
				t.Errorf("got %q, %v", kind, err)
			}
			if len(seen) != 3 || seen[0] == "" || seen[1] != "" || seen[2] != "" {
				t.Errorf("the token went along %q; want the first request only", seen)
			}
		})
	}
}

func TestANameThatMeansAnAddressInsideIsNotDialled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, "https://inside.example/f", http.StatusFound)
	})
	for _, a := range []string{
		"127.0.0.1", "10.1.2.3", "172.31.0.1", "192.168.0.1", "169.254.169.254", "100.100.100.200", "0.0.0.0", "255.255.255.255", "224.0.0.1", "198.18.0.1", "192.0.2.1",
		"::1", "::", "fe80::1", "fc00::1", "ff02::1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::", "2001:0:1::1", "fec0::1",
	} {
		w.names["inside.example"] = []netip.Addr{netip.MustParseAddr(a)}
		if _, err := load(t.Context(), w.open(at("https://files.slack.com/f"), nil)); reason(err) != "it could not be fetched" {
			t.Errorf("%s: got %v", a, err)
		}
	}
	if w.asked != 0 {
		t.Errorf("%d requests went inside", w.asked)
	}
	// Of several addresses the public ones are dialled.
	w.names["inside.example"] = []netip.Addr{netip.MustParseAddr("10.0.0.1"), elsewhereAt}
	if kind, err := load(t.Context(), w.open(at("https://files.slack.com/f"), nil)); err != nil || kind != "image/png" {
		t.Errorf("by its public address: got %q, %v", kind, err)
	}
}

func TestWhatThePlatformAnswers(t *testing.T) {
	t.Parallel()
	const login = `<!DOCTYPE html><html><head><title>Sign in to Acme | Slack</title></head><body>…</body></html>`
	answer := func(status int, kind, body string) http.HandlerFunc {
		return func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Type", kind)
			rw.WriteHeader(status)
			_, _ = rw.Write([]byte(body))
		}
	}
	for _, c := range []struct {
		name     string
		declared string
		handler  http.HandlerFunc
		want     string
	}{
		{"a login page with 200", "image/png", answer(200, "text/html; charset=utf-8", login), "the platform showed a login page in its place: the bot may lack the permission to read files"},
		{"a login page that says it is a picture", "image/png", answer(200, "image/png", login), "the platform showed a login page in its place: the bot may lack the permission to read files"},
		{"a login page in place of a text", "text/plain", answer(200, "text/html", login), "the platform showed a login page in its place: the bot may lack the permission to read files"},
		{"a login page in place of a page", "text/html", func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/login" {
				http.Redirect(rw, r, "/login", http.StatusFound)
				return
			}
			answer(200, "text/html", login)(rw, r)
		}, "the platform showed a login page in its place: the bot may lack the permission to read files"},
		{"a page that was shared", "text/html", answer(200, "text/html", login), ""},
		{"a canvas", "application/vnd.slack-docs", answer(200, "text/html", "<!DOCTYPE html><h1>Runbook</h1><p>Restart first."), ""},
		{"a canvas that speaks of signing in", "application/vnd.slack-docs", answer(200, "text/html", "<!DOCTYPE html><title>Your first day</title><h1>Sign in to your workspace</h1><p>Then log in to the VPN."), ""},
		{"a login page in place of a canvas", "application/vnd.slack-docs", answer(200, "text/html", login), "the platform showed a login page in its place: the bot may lack the permission to read files"},
		{"another page", "image/png", answer(200, "text/html", "<!DOCTYPE html><title>Be right back</title>"), "the platform sent a web page in its place"},
		{"a text that begins like a page", "text/markdown", answer(200, "text/plain", "<!-- notes -->\n# Notes"), ""},
		{"no permission", "image/png", answer(403, "text/plain", "no"), "the platform does not let the bot read it"},
		{"no token", "image/png", answer(401, "text/plain", "no"), "the platform does not let the bot read it"},
		{"not there", "image/png", answer(404, "text/plain", "no"), "the platform does not have it any more"},
		{"too many requests", "image/png", answer(429, "text/plain", "no"), "it could not be fetched"},
		{"out of order", "image/png", answer(500, "text/plain", "no"), "it could not be fetched"},
		{"nothing", "image/png", answer(200, "image/png", ""), "it is empty"},
		{"compressed unasked", "text/plain", func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Encoding", "gzip")
			_, _ = rw.Write([]byte("\x1f\x8b"))
		}, "it could not be fetched"},
		{"redirects in a circle", "image/png", func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, r.URL.Path, http.StatusFound) }, "it could not be fetched"},
		{"a redirect to nowhere", "image/png", answer(302, "text/plain", ""), "it could not be fetched"},
		{"a connection that breaks off", "image/png", func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Length", "1000")
			_, _ = rw.Write([]byte("\x89PNG"))
		}, "it could not be fetched"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := at("https://files.slack.com/f")
			s := o["F1"]
			s.Type = c.declared
			o["F1"] = s
			_, err := load(t.Context(), newWorld(t, c.handler).open(o, nil))
			if got := reason(err); got != c.want || c.want == "" && err != nil {
				t.Errorf("got %q (%v), want %q", got, err, c.want)
			}
			if err != nil && (strings.Contains(err.Error(), token) || strings.Contains(err.Error(), "https://")) {
				t.Errorf("a token or a URL stands in the error: %v", err)
			}
		})
	}
}

func TestWhatAnEmulatorServesIsTakenFromLoopbackOnly(t *testing.T) {
	t.Parallel()
	var tokens, leaked int
	emulator := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			tokens++
			if strings.HasPrefix(r.Host, "localhost") {
				leaked++
			}
		}
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(rw, r, to, http.StatusFound)
			return
		}
		_, _ = rw.Write(picture(t, 2, 2))
	}))
	defer emulator.Close()
	other := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { t.Error("another server of this machine was asked") }))
	defer other.Close()
	here := strings.TrimPrefix(emulator.URL, "http://")
	for _, c := range []struct {
		name, override, url, want string
	}{
		{"the override", here, emulator.URL + "/f", ""},
		{"a redirect within it", here, emulator.URL + "/f?to=/g", ""},
		{"a redirect to another of its names", here, emulator.URL + "/f?to=" + url.QueryEscape(strings.Replace(emulator.URL, "127.0.0.1", "localhost", 1)+"/g"), ""},
		{"a first request by another of its names", here, strings.Replace(emulator.URL, "127.0.0.1", "localhost", 1) + "/f", "it lies on another service"},
		{"a redirect to another port", here, emulator.URL + "/f?to=" + url.QueryEscape(other.URL+"/f"), "it could not be fetched"},
		{"another port", here, other.URL + "/f", "it could not be fetched"},
		{"no override", "", emulator.URL + "/f", "it could not be fetched"},
		{"a user in the URL", here, "http://u@" + here + "/f", "it could not be fetched"},
		{"http to a host that is not this machine", "emulator.example:80", "http://emulator.example:80/f", "it could not be fetched"},
	} {
		if _, err := load(t.Context(), media.New(at(c.url), &media.Options{Override: c.override})); reason(err) != c.want || c.want == "" && err != nil {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
	if tokens == 0 || leaked > 0 {
		t.Errorf("the emulator was sent the token %d times, under another name %d times", tokens, leaked)
	}
}

func TestABodyThatDoesNotEndIsLeft(t *testing.T) {
	t.Parallel()
	endless := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		chunk := make([]byte, 1<<20)
		for r.Context().Err() == nil {
			if _, err := rw.Write(chunk); err != nil {
				return
			}
		}
	})
	if _, err := load(t.Context(), endless.open(at("https://files.slack.com/f"), nil)); reason(err) != "it is too large" {
		t.Errorf("an endless body: got %v", err)
	}
	told := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Length", fmt.Sprint(int64(1)<<40))
	})
	if _, err := load(t.Context(), told.open(at("https://files.slack.com/f"), nil)); reason(err) != "it is too large" {
		t.Errorf("a length of a terabyte: got %v", err)
	}
	slow := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = rw.Write([]byte{0})
			_ = http.NewResponseController(rw).Flush()
			<-time.After(5 * time.Millisecond)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := load(ctx, slow.open(at("https://files.slack.com/f"), nil)); reason(err) != "fetching it took too long" {
		t.Errorf("a slow drip: got %v", err)
	}
}

func TestAFileOfAnotherServiceIsNotFetched(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) { t.Error("it was asked for") })
	o := at("https://files.slack.com/f")
	s := o["F1"]
	s.External = true
	o["F1"] = s
	if _, err := load(t.Context(), w.open(o, nil)); reason(err) != "it lies on another service" {
		t.Errorf("marked as external: got %v", err)
	}
	if _, err := load(t.Context(), w.open(at("https://docs.example/f"), nil)); reason(err) != "it lies on another service" {
		t.Errorf("at another host: got %v", err)
	}
}
