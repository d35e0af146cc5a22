package media

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Bounds of one fetch. The caller's context bounds its whole time.
const (
	maxRedirects  = 5
	maxHeader     = 64 << 10
	dialTime      = 5 * time.Second
	handshakeTime = 5 * time.Second
	headerTime    = 10 * time.Second
)

// A fetcher reads URLs that strangers wrote.
type fetcher struct {
	override  string // host:port; plain http is allowed if it is on this machine
	dialer    *guardedDialer
	transport *http.Transport
}

func newFetcher(override string) *fetcher {
	f := &fetcher{override: override}
	plain := &net.Dialer{Timeout: dialTime}
	f.dialer = &guardedDialer{override: f.override, lookup: net.DefaultResolver.LookupNetIP, dial: plain.DialContext}
	f.transport = &http.Transport{
		// No proxy: the address that a proxy dials could not be checked.
		DialContext:         f.dialer.DialContext,
		TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: handshakeTime, ResponseHeaderTimeout: headerTime, MaxResponseHeaderBytes: maxHeader,
		DisableCompression: true, // or few bytes could become many
		DisableKeepAlives:  true, // no connection, and no goroutine, outlives its file
	}
	return f
}

// fetch returns the body of a source's URL after redirects, at most most bytes. The
// token is sent to the hosts of the source only, and over https only. After a
// redirect to another host it is not sent any more.
func (f *fetcher) fetch(ctx context.Context, s Source, most int64) ([]byte, error) {
	at, err := url.Parse(s.URL)
	if err != nil {
		return nil, &Error{whyFailed, errors.New("its URL cannot be read")}
	}
	if err := f.check(at); err != nil {
		return nil, &Error{whyFailed, err}
	}
	if !f.ours(at, s.Hosts) {
		return nil, &Error{Why: whyExternal}
	}
	token := s.Token.Reveal()
	for hop := 0; hop <= maxRedirects; hop++ {
		resp, err := f.get(ctx, at, token)
		if err != nil {
			return nil, newReadError(ctx, err)
		}
		if !isRedirect(resp.StatusCode) {
			defer resp.Body.Close()
			return f.body(ctx, resp, s, hop > 0, most)
		}
		resp.Body.Close()
		next, err := at.Parse(resp.Header.Get("Location"))
		if err != nil || resp.Header.Get("Location") == "" {
			return nil, &Error{whyFailed, errors.New("a redirect leads nowhere")}
		}
		if err := f.check(next); err != nil {
			return nil, &Error{whyFailed, fmt.Errorf("redirected: %w", err)}
		}
		if !strings.EqualFold(next.Host, at.Host) || next.Scheme != at.Scheme || !f.ours(next, s.Hosts) {
			token = ""
		}
		at = next
	}
	return nil, &Error{whyFailed, fmt.Errorf("more than %d redirects", maxRedirects)}
}

// get sends one request.
func (f *fetcher) get(ctx context.Context, at *url.URL, token string) (*http.Response, error) {
	req := (&http.Request{Method: http.MethodGet, URL: at, Host: at.Host, Header: http.Header{
		"Accept": {"*/*"}, "User-Agent": {"earshot"},
	}}).WithContext(ctx)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return f.transport.RoundTrip(req) // not a Client: it would follow, and put URLs into errors
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// check refuses URLs that are not https on the usual port, and URLs with a user
// name. Plain http is allowed to the override if it is on this machine; the dialer
// checks that its address is not another one of the local network.
func (f *fetcher) check(u *url.URL) error {
	if standsIn(f.override, u.Host) && u.User == nil && u.Opaque == "" && (u.Scheme == "https" || u.Scheme == "http" && onLoopback(u.Hostname())) {
		return nil
	}
	switch {
	case u.Scheme != "https":
		return errors.New("its URL is not of https")
	case u.User != nil || u.Opaque != "" || u.Hostname() == "":
		return errors.New("its URL names a user or no host")
	case u.Port() != "" && u.Port() != "443":
		return errors.New("its URL names another port")
	}
	return nil
}

// ours reports whether a checked URL may get the token: its host is exactly one of
// the source's hosts, or the override.
func (f *fetcher) ours(u *url.URL, hosts []string) bool {
	if f.override != "" && strings.EqualFold(u.Host, f.override) {
		return true
	}
	return slices.Contains(hosts, strings.ToLower(u.Hostname()))
}

// standsIn reports whether host:port is the server that stands in for the platform:
// under the name in the override, or under another name of this machine with the
// same port, which an emulator uses for hosts that are not the platform's. Under
// another name it does not get the token.
func standsIn(override, address string) bool {
	if override == "" {
		return false
	}
	host, port, _ := net.SplitHostPort(address)
	o, p, err := net.SplitHostPort(override)
	return strings.EqualFold(address, override) || err == nil && port == p && onLoopback(o) && onLoopback(host)
}

func onLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// body reads an answer.
func (f *fetcher) body(ctx context.Context, resp *http.Response, s Source, redirected bool, most int64) ([]byte, error) {
	switch {
	case resp.StatusCode == http.StatusUnauthorized, resp.StatusCode == http.StatusForbidden:
		return nil, &Error{whyRefused, errors.New(resp.Status)}
	case resp.StatusCode == http.StatusNotFound, resp.StatusCode == http.StatusGone:
		return nil, &Error{whyGone, errors.New(resp.Status)}
	case resp.StatusCode != http.StatusOK:
		return nil, &Error{whyFailed, errors.New(resp.Status)}
	case resp.Header.Get("Content-Encoding") != "":
		return nil, &Error{whyFailed, errors.New("it came compressed, which was not asked for")}
	case resp.ContentLength > most:
		return nil, &Error{Why: whyLarge}
	}
	data, err := readLimited(ctx, resp.Body, most)
	if err != nil {
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if why := whyPage(bareMediaType(s.Type), kind, data, redirected); why != "" {
		return nil, &Error{Why: why}
	}
	return data, nil
}

// whyPage says why a body is a web page in place of the file; "" where it is the file.
// Slack answers with its login page and status 200 if the token may not read files. A file
// that was declared as a page may be one, and one declared as text may look like one.
func whyPage(declared, served string, data []byte, redirected bool) string {
	const page = "text/html"
	looks := sniffType(data) == page
	switch {
	case served != page && !looks:
		return ""
	case redirected:
		return whyLogin
	case isPageType(declared):
		return ""
	case served != page && (strings.HasPrefix(declared, "text/") || strings.Contains(declared, "xml")):
		return ""
	case asksToSignIn(data):
		return whyLogin
	}
	return whyOther
}

// readLimited reads all of r, at most most bytes.
func readLimited(ctx context.Context, r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	switch {
	case err != nil:
		return nil, newReadError(ctx, err)
	case int64(len(data)) > most:
		return nil, &Error{Why: whyLarge}
	case len(data) == 0:
		return nil, &Error{Why: whyEmpty}
	}
	return data, nil
}
