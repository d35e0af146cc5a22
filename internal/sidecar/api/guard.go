package api

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

// A Gate recognises callers and slows down those who call too often. An
// *[access.Gate] is one.
type Gate interface {
	Authenticate(ctx context.Context, bearer string) (access.Principal, error)
	Brake
	Mint(ctx context.Context, p access.Principal, f access.CapabilityScope) (string, error)
}

// A Brake slows down those who call too often.
type Brake interface {
	Allow(p access.Principal, s earshot.Scope) (retryAfter time.Duration, ok bool)
	Allowance(p access.Principal) (a access.Allowance, ok bool)
}

// Guard is what every request passes first, those of MCP too: it gives the request
// an id and a line in the log, refuses hosts and origins that are not ours (so that a
// page in a browser cannot reach a loopback address under a name of its own), bounds
// the body, compresses the answer, and answers a panic.
func Guard(o Options, next http.Handler) http.Handler {
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	hosts := slices.Clone(o.Hosts)
	if u, err := url.Parse(o.URL); err == nil && u.Hostname() != "" {
		hosts = append(hosts, u.Hostname())
	}
	next = compressed(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := rand.Text()
		about := &guardedRequest{id: id, path: r.URL.Path}
		r = r.WithContext(context.WithValue(r.Context(), requestKey{}, about))
		answer, began := &statusRecorder{ResponseWriter: w, status: http.StatusOK}, time.Now()
		defer func() {
			took := time.Since(began)
			about.log(r, log, answer.status, took)
			if o.Answered != nil {
				o.Answered(about.route, answer.status, took)
			}
		}()
		w = answer
		w.Header().Set("X-Request-Id", id)
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if p == http.ErrAbortHandler {
				panic(p)
			}
			// The value of a panic may contain a message: only its type is logged.
			log.Error("a request broke", "request", id, "method", r.Method, "panic", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
			writeProblem(w, r, http.StatusInternalServerError, "", "something went wrong here; the log has the request's id")
		}()
		switch {
		case !goodHost(r.Host, hosts):
			writeProblem(w, r, http.StatusMisdirectedRequest, "", "this host name is not served here; the operator can allow it (api.hosts)")
			return
		case !goodOrigin(r.Header, o.Origins) && !(o.Loopback && loopbackOrigin(r.Header.Get("Origin"))):
			writeProblem(w, r, http.StatusForbidden, "foreign_origin", "pages of this origin may not call; the operator can allow it (api.origins)")
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" {
			allowOrigin(w.Header(), origin)
			if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
				w.WriteHeader(http.StatusNoContent)
				return
			}
		}
		most := int64(maxBody)
		if takesFile(r) {
			most = sidecar.MaxFile
		}
		r.Body = http.MaxBytesReader(w, r.Body, most+1)
		next.ServeHTTP(w, r)
	})
}

// A statusRecorder is an answer whose status is known afterwards.
type statusRecorder struct {
	http.ResponseWriter
	status int
	wrote  bool
}

// WriteHeader implements [http.ResponseWriter].
func (n *statusRecorder) WriteHeader(status int) {
	if !n.wrote {
		n.status, n.wrote = status, status >= http.StatusOK // what comes before is no answer
	}
	n.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (n *statusRecorder) Write(b []byte) (int, error) {
	n.wrote = true
	return n.ResponseWriter.Write(b)
}

// Flush implements [http.Flusher], for streams.
func (n *statusRecorder) Flush() {
	// A writer that cannot flush is one of a test.
	_ = http.NewResponseController(n.ResponseWriter).Flush()
}

// Unwrap is for [http.ResponseController].
func (n *statusRecorder) Unwrap() http.ResponseWriter { return n.ResponseWriter }

// goodHost reports whether a Host header names an address, this machine, or a host
// that is allowed.
func goodHost(host string, allowed []string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.Trim(name, "[]")
	if _, err := netip.ParseAddr(name); err == nil {
		return true // an address cannot be rebound
	}
	return strings.EqualFold(name, "localhost") || slices.ContainsFunc(allowed, func(a string) bool { return strings.EqualFold(a, name) })
}

// goodOrigin reports whether a request comes from no page of another origin, or from
// an allowed one. Browsers leave Origin out where a page only reads, such as a
// picture's address, and say in Sec-Fetch-Site where that page is from
// (https://www.w3.org/TR/fetch-metadata/). Programs send neither.
func goodOrigin(h http.Header, allowed []string) bool {
	if origin := h.Get("Origin"); origin != "" {
		return slices.Contains(allowed, origin)
	}
	site := h.Get("Sec-Fetch-Site")
	return site == "" || site == "same-origin" || site == "none"
}

// loopbackOrigin reports whether a page was served by this machine to itself, such as
// an inspector of MCP that runs in a browser. Which page answers under a name that was
// rebound to this machine is no concern here: its origin has that name.
func loopbackOrigin(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" || origin != "http://"+u.Host {
		return false
	}
	return slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname())
}

// allowOrigin tells a browser that pages of an origin may call with a key and read
// the answers. Cookies are never asked for.
func allowOrigin(h http.Header, origin string) {
	h.Set("Access-Control-Allow-Origin", origin)
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, Mcp-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name")
	h.Set("Access-Control-Expose-Headers", "X-Request-Id, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, Mcp-Session-Id")
	h.Set("Access-Control-Max-Age", "600")
}

// A guardedRequest is what is known of one before its route.
type guardedRequest struct {
	id     string
	path   string
	route  string // its pattern, once it is known
	caller access.Principal
	bearer string
	code   string // of a problem that it was answered with
}

// log writes the one line of a request, without anything that it says. The route stands
// there as the document has it, since a path may hold what somebody made up.
func (about *guardedRequest) log(r *http.Request, log *slog.Logger, status int, took time.Duration) {
	level, code := slog.LevelDebug, ""
	if status >= http.StatusBadRequest {
		level, code = slog.LevelInfo, cmp.Or(about.code, codeOf[status])
	}
	log.Log(r.Context(), level, "request", "request", about.id, "route", cmp.Or(about.route, r.Method), "status", status, "code", code,
		"caller", about.caller.ID, "ms", took.Milliseconds())
}

type requestKey struct{}

// requestOf returns the request that a context belongs to.
func requestOf(ctx context.Context) *guardedRequest {
	r, _ := ctx.Value(requestKey{}).(*guardedRequest)
	if r == nil {
		return &guardedRequest{}
	}
	return r
}

// SetRoute notes under which route a guarded request is counted.
func SetRoute(r *http.Request, route string) { requestOf(r.Context()).route = route }

// Called notes who calls, for the log.
func Called(r *http.Request, p access.Principal) { requestOf(r.Context()).caller = p }

// requireAuth lets callers through whom the gate recognises and does not hold
// back. The document of the routes needs no key.
func (s *server) requireAuth(next http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /openapi.json", s.document)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		p, err := s.Gate.Authenticate(r.Context(), Bearer(r))
		switch {
		case errors.Is(err, access.ErrUnauthenticated):
			w.Header().Set("WWW-Authenticate", "Bearer")
			writeProblem(w, r, http.StatusUnauthorized, "", "send Authorization: Bearer with a valid key; earshot key create makes one")
			return
		case err != nil:
			s.logError(r.Context(), err)
			writeProblem(w, r, http.StatusServiceUnavailable, "", "the key cannot be checked right now; try again")
			return
		}
		Called(r, p)
		if !Allowed(w.Header(), s.Gate, p) {
			writeProblem(w, r, http.StatusTooManyRequests, "", "too many requests with this key; wait as Retry-After says")
			return
		}
		if !isJSON(r) {
			writeProblem(w, r, http.StatusUnsupportedMediaType, "", "the body must be JSON; send Content-Type: application/json")
			return
		}
		if takesFile(r) {
			select {
			case s.uploads <- struct{}{}:
				defer func() { <-s.uploads }()
			case <-r.Context().Done():
				return
			}
		}
		requestOf(r.Context()).bearer = Bearer(r)
		next.ServeHTTP(w, r)
	})
	return mux
}

// Allowed counts a request of a caller, and reports whether it may be served. The
// answer's header says how often the caller may call, and how often still, as
// https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/ has it.
func Allowed(h http.Header, b Brake, p access.Principal) bool {
	wait, ok := b.Allow(p, earshot.Scope{})
	if !ok {
		h.Set("Retry-After", seconds(wait))
	}
	if a, bounded := b.Allowance(p); bounded {
		h.Set("RateLimit-Policy", fmt.Sprintf(`"caller";q=%d;w=%d`, a.Burst, max(1, int(math.Round(float64(a.Burst)/a.PerSecond)))))
		h.Set("RateLimit", fmt.Sprintf(`"caller";r=%d;t=%s`, a.Left, seconds(a.Full)))
	}
	return ok
}

// seconds writes a time in whole seconds, rounded up.
func seconds(d time.Duration) string { return strconv.Itoa(int(math.Ceil(d.Seconds()))) }

// takesFile reports whether a request's body is a file.
func takesFile(r *http.Request) bool {
	return r.Method == http.MethodPut && strings.HasPrefix(r.URL.Path, filePath)
}

// isJSON reports whether a request has no body, or one that is not said to be
// anything but JSON.
func isJSON(r *http.Request) bool {
	kind := r.Header.Get("Content-Type")
	if r.ContentLength == 0 || kind == "" || takesFile(r) {
		return true
	}
	kind, _, err := mime.ParseMediaType(kind)
	return err == nil && (kind == "application/json" || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json"))
}

// Bearer returns the token of a request's Authorization header, "" if it has none.
func Bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// document serves the OpenAPI document.
func (s *server) document(w http.ResponseWriter, r *http.Request) {
	b, err := s.spec()
	if err != nil {
		s.logError(r.Context(), err)
		writeProblem(w, r, http.StatusInternalServerError, "", "the document cannot be written; the log has the request's id")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(b)
}

// logError logs an error that the caller is not told of.
func (s *server) logError(ctx context.Context, err error) {
	if s.Log != nil && ctx.Err() == nil {
		s.Log.ErrorContext(ctx, "a request failed", "request", requestOf(ctx).id, "err", err)
	}
}

// writeProblem answers with an error before a route is reached.
func writeProblem(w http.ResponseWriter, r *http.Request, status int, code, detail string) {
	e := newProblem(r.URL.Path, status, code, detail)
	requestOf(r.Context()).code = codeIn(e)
	kind := "application/json"
	if p, ok := e.(*Problem); ok {
		kind = p.ContentType("")
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(e.GetStatus())
	// An error of writing is ignored: the client has gone.
	_ = json.NewEncoder(w).Encode(e)
}
