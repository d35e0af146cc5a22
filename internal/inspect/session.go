package inspect

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/secret"
)

// cookieName returns the name of the cookie that carries a session. It has the port,
// because a browser sends a cookie of one port to all ports of a host, and two
// inspectors would take each other's place. The key or token that opened the session
// stays in this process.
func cookieName(r *http.Request) string {
	const name = "earshot_inspect"
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		if _, err := strconv.ParseUint(port, 10, 16); err == nil {
			return name + "_" + port
		}
	}
	return name
}

// How long a session lasts, and how many there may be.
const (
	sessionLasts   = 12 * time.Hour
	maxSessions    = 1000
	maxOwnSessions = 50 // of one caller
)

// How many wrong tokens one address may show at once, and how long it waits for each
// further one.
const (
	wrongTokens   = 10
	wrongInterval = 6 * time.Second
)

// sessions are the browsers that have shown a token or a key.
type sessions struct {
	now  func() time.Time
	mu   sync.Mutex // guards what follows
	open map[[sha256.Size]byte]session
}

type session struct {
	of     string // the caller's id
	bearer secret.Secret
	until  time.Time
}

// oldest finds the session that ends first.
type oldest struct {
	id    [sha256.Size]byte
	until time.Time
	count int
}

func (o *oldest) look(id [sha256.Size]byte, until time.Time) {
	if o.count++; o.count == 1 || until.Before(o.until) {
		o.id, o.until = id, until
	}
}

// begin returns the id of a new session of a caller with a token or a key. Where there
// are too many, the one that ends first ends: of this caller, so that nobody ends those
// of others, else of all.
func (x *sessions) begin(of access.Principal, bearer secret.Secret) string {
	id := rand.Text()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.open == nil {
		x.open = map[[sha256.Size]byte]session{}
	}
	now := x.now()
	var all, own oldest
	for k, s := range x.open {
		if s.until.Before(now) {
			delete(x.open, k)
			continue
		}
		all.look(k, s.until)
		if s.of == of.ID {
			own.look(k, s.until)
		}
	}
	switch {
	case own.count >= maxOwnSessions:
		delete(x.open, own.id)
	case all.count >= maxSessions:
		delete(x.open, all.id)
	}
	x.open[sha256.Sum256([]byte(id))] = session{of.ID, bearer, now.Add(sessionLasts)}
	return id
}

// bearer returns what opened a session that has not ended.
func (x *sessions) bearer(id string) (secret.Secret, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	s, ok := x.open[sha256.Sum256([]byte(id))]
	return s.bearer, ok && x.now().Before(s.until)
}

// end ends a session.
func (x *sessions) end(id string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.open, sha256.Sum256([]byte(id)))
}

// everyone is who visits a demo, and owner who has the token of this process.
var (
	everyone = access.Principal{ID: "local:demo", Name: "demo", Kind: access.Local}
	owner    = access.Principal{ID: "local:inspect", Name: "operator", Kind: access.Local}
)

// caller returns who sent a request: by its session, or by a bearer token for programs
// that read the JSON. The key is looked up each time, so that a revoked one ends its
// sessions at once.
func (s *server) caller(r *http.Request) (access.Principal, error) {
	if s.Open {
		return everyone, nil
	}
	if scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		return s.tryToken(r, secret.New(strings.TrimSpace(token)))
	}
	c, err := r.Cookie(cookieName(r))
	if err != nil {
		return access.Principal{}, access.ErrUnauthenticated
	}
	bearer, ok := s.sessions.bearer(c.Value)
	if !ok {
		return access.Principal{}, access.ErrUnauthenticated
	}
	return s.recognise(r, bearer)
}

// A slowedVisitor comes from an address that has shown too many wrong tokens.
type slowedVisitor struct{ wait time.Duration }

func (e slowedVisitor) Error() string {
	return fmt.Sprintf("too many wrong tokens came from this address; try again in %d seconds", e.seconds())
}

func (e slowedVisitor) seconds() int { return int(math.Ceil(e.wait.Seconds())) }

// tryToken is recognise for a token that the visitor shows. From an address with too many
// wrong ones none is looked at for a while; sessions that are open go on.
func (s *server) tryToken(r *http.Request, bearer secret.Secret) (access.Principal, error) {
	if wait := s.tries.Wait(r.RemoteAddr, s.Now()); wait > 0 {
		return access.Principal{}, slowedVisitor{wait}
	}
	p, err := s.recognise(r, bearer)
	if errors.Is(err, access.ErrUnauthenticated) && s.tries.Wrong(r.RemoteAddr, s.Now()) {
		s.log.Warn("too many wrong tokens: this address is slowed", "address", r.RemoteAddr)
	}
	return p, err
}

// recognise returns who a token or a key belongs to. A capability is refused: it is
// for the tools of one turn.
func (s *server) recognise(r *http.Request, bearer secret.Secret) (access.Principal, error) {
	given, want := sha256.Sum256([]byte(bearer.Reveal())), sha256.Sum256([]byte(s.Token.Reveal()))
	if !s.Token.Empty() && subtle.ConstantTimeCompare(given[:], want[:]) == 1 {
		return owner, nil
	}
	if s.Gate == nil {
		return access.Principal{}, access.ErrUnauthenticated
	}
	p, err := s.Gate.Authenticate(r.Context(), bearer.Reveal())
	if err == nil && p.Kind == access.Capability {
		err = access.ErrUnauthenticated
	}
	return p, err
}

// stranger answers a request of somebody who is not known. A link with a token opens a
// session, and leads to the same page without the token.
func (s *server) stranger(w http.ResponseWriter, r *http.Request, err error) {
	if token := r.URL.Query().Get("token"); token != "" && r.Method == http.MethodGet {
		entered := s.enter(w, r, token)
		if entered == nil {
			u := *r.URL
			q := u.Query()
			q.Del("token")
			u.RawQuery = q.Encode()
			http.Redirect(w, r, u.RequestURI(), http.StatusSeeOther)
			return
		}
		if err = entered; errors.Is(err, access.ErrUnauthenticated) {
			err = errors.New("the link's token is not valid any more: each start of the process makes a new one")
		}
	}
	s.askIn(w, r, err)
}

// enter opens a session for a token or a key.
func (s *server) enter(w http.ResponseWriter, r *http.Request, token string) error {
	bearer := secret.New(strings.TrimSpace(token))
	who, err := s.tryToken(r, bearer)
	if err != nil {
		return err
	}
	// Lax, so that a permalink in a chat opens; a POST of another site has no cookie,
	// and the cross-origin protection refuses it besides.
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(r), Value: s.sessions.begin(who, bearer), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https", MaxAge: int(sessionLasts / time.Second),
	})
	return nil
}

// loginPage asks for a token or a key.
func (s *server) loginPage(w http.ResponseWriter, r *http.Request) { s.askIn(w, r, nil) }

// askIn writes the page that asks for a token or a key; with an error for programs.
func (s *server) askIn(w http.ResponseWriter, r *http.Request, why error) {
	status, said := http.StatusOK, ""
	detail := "send Authorization: Bearer with the page's token or an API key"
	var slow slowedVisitor
	switch {
	case why == nil:
	case errors.As(why, &slow):
		status, said, detail = http.StatusTooManyRequests, why.Error(), why.Error()
		w.Header().Set("Retry-After", strconv.Itoa(slow.seconds()))
	case errors.Is(why, access.ErrUnavailable):
		s.log.Error("a visitor cannot be recognised", "err", why)
		status, said = http.StatusServiceUnavailable, "the key cannot be checked right now; try again"
	case errors.Is(why, access.ErrUnauthenticated):
		status = http.StatusUnauthorized
		w.Header().Set("WWW-Authenticate", "Bearer")
	default:
		status, said = http.StatusUnauthorized, why.Error()
	}
	if strings.HasSuffix(r.URL.Path, ".json") || r.URL.Path == "/events" {
		http.Error(w, `{"title":"`+http.StatusText(status)+`","detail":"`+detail+`"}`, status)
		return
	}
	p := page{title: "Come in", body: loginBody(r.URL.RequestURI(), said)}
	if r.URL.Path == "/login" {
		p.body = loginBody("/", said)
	}
	s.write(w, &visit{Request: r}, status, p, asPage)
}

// login opens a session for the token or key of a form.
func (s *server) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	if err := s.enter(w, r, r.PostFormValue("token")); err != nil {
		if errors.Is(err, access.ErrUnauthenticated) {
			err = errors.New("this is neither the token of the printed link nor a valid API key")
		}
		s.askIn(w, r, err)
		return
	}
	http.Redirect(w, r, localAddress(r.PostFormValue("to")), http.StatusSeeOther)
}

// localAddress returns an address if it is one of these pages, else that of the first page.
// Browsers skip tabs and line breaks in an address and take a backslash for a slash, so
// none may be in it.
func localAddress(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.Contains(to, "\\") || u.Path == "/login" {
		return "/"
	}
	return to
}

// logout ends the session.
func (s *server) logout(w http.ResponseWriter, r *http.Request) {
	if c, err := r.Cookie(cookieName(r)); err == nil {
		s.sessions.end(c.Value)
	}
	http.SetCookie(w, &http.Cookie{Name: cookieName(r), Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteLaxMode})
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}
