package inspect

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// policy is the Content-Security-Policy of every page: scripts, styles, pictures and
// connections from here only, and nothing inline, so that a text which got into a page
// unescaped would still run nothing.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// maxQuery bounds the bytes of an address's query: pages take it apart for each link
// and each setting.
const maxQuery = 16 << 10

// guard is what every request passes first: it refuses names that are not ours, so
// that no page of another site reaches a loopback address under a name of its own
// (DNS rebinding), and tells the browser what a page may do.
func (s *server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
		h.Set("Cache-Control", "no-store")
		if !s.goodHost(r.Host) {
			http.Error(w, "this host name is not served here; the operator can allow it (inspect.hosts)", http.StatusMisdirectedRequest)
			return
		}
		if len(r.URL.RawQuery) > maxQuery {
			s.write(w, &visit{Request: r}, http.StatusRequestURITooLong, problemPage(http.StatusRequestURITooLong, "this address is too long; shorten what its query says"), asPage)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// goodHost reports whether a Host header names this machine or a name that is allowed.
// Where no token is asked for it must name the loopback interface; else any address
// will do, because an address cannot be rebound.
func (s *server) goodHost(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.Trim(name, "[]")
	if strings.EqualFold(name, "localhost") {
		return true
	}
	if ip, err := netip.ParseAddr(name); err == nil {
		return !s.Open || ip.Unmap().IsLoopback()
	}
	return !s.Open && slices.ContainsFunc(s.Hosts, func(a string) bool { return strings.EqualFold(a, name) })
}
