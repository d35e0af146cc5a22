package simulate

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/earshot-ai/earshot/simulate/internal/fake"
)

// SlackAppOptions configure a [SlackApp].
type SlackAppOptions struct {
	Listen   string // as [SlackOptions.Listen]
	Listener net.Listener
	Now      func() time.Time // nil is time.Now

	// App has the app's name, id and credentials. ClientID and ClientSecret get fixed
	// values too; its bot and tokens are those of each workspace.
	App App
	// Redirects are the app's redirect URLs. Empty: every address is one.
	Redirects []string
	// SocketMode says that events and interactions of all workspaces go by the app's sockets.
	SocketMode bool
	// Rotates says that the tokens of installations end after twelve hours.
	Rotates bool
}

// A SlackApp is one app that several fake workspaces may install by OAuth: one Web API for
// all of them, at URL/api/, and Slack's page that asks whether to allow the app, at
// URL/oauth/v2/authorize. Whoever opens that page has allowed the app in the workspace
// that [SlackApp.Choose] names. It is safe for concurrent use.
type SlackApp struct {
	o    SlackAppOptions
	host *fake.Host

	mu         sync.Mutex // guards what follows; a workspace's mutex may be taken while it is held
	workspaces []*Slack
	hub        *Slack // has the app's sockets; nil without SocketMode
	chosen     string // the workspace in which the next one who is asked allows the app; "" denies it
	codes      map[string]*grant
	tamper     func(answer map[string]any)
}

// A grant is what a code stands for.
type grant struct {
	workspace *Slack
	redirect  string
	scopes    []string
	until     time.Time
	used      bool
}

// codeTime is how long a code works (docs.slack.dev, Installing with OAuth).
const codeTime = 10 * time.Minute

// NewSlackApp starts a fake Slack of which no workspace has installed the app yet; nil means the
// default options. The caller must call [SlackApp.Close].
func NewSlackApp(o *SlackAppOptions) (*SlackApp, error) {
	a := &SlackApp{codes: map[string]*grant{}}
	if o != nil {
		a.o = *o
	}
	if a.o.Now == nil {
		a.o.Now = time.Now
	}
	app := &a.o.App
	app.ID, app.Name = cmp.Or(app.ID, "A0EARSHOT"), cmp.Or(app.Name, "earshot")
	app.ClientID, app.ClientSecret = cmp.Or(app.ClientID, "1.2"), cmp.Or(app.ClientSecret, "simulated-client-secret")
	app.SigningSecret, app.AppToken = cmp.Or(app.SigningSecret, "simulated-signing-secret"), cmp.Or(app.AppToken, "xapp-simulated")
	var err error
	if a.host, err = fake.Listen("Slack", &a.mu, a.o.Listener, a.o.Listen); err != nil {
		return nil, err
	}
	if a.o.SocketMode {
		if a.hub, err = NewSlack(&SlackOptions{App: *app, SocketMode: true, Now: a.o.Now}); err != nil {
			return nil, errors.Join(err, a.host.Close(func() {}))
		}
	}
	m := http.NewServeMux()
	m.HandleFunc("GET /oauth/v2/authorize", a.serveAuthorize)
	m.HandleFunc("/api/{method}", a.serveMethod)
	m.HandleFunc("/team/{team}/", a.serveWorkspace)
	a.host.Serve(m)
	return a, nil
}

// URL returns the base URL, as [Slack.URL] does.
func (a *SlackApp) URL() string { return a.host.URL }

// App returns the app with its credentials, without a bot.
func (a *SlackApp) App() App { return a.o.App }

// AddWorkspace starts a workspace that has not installed the app. Its options' app has the
// bot there, as far as a test sets it. The workspace ends with the app.
func (a *SlackApp) AddWorkspace(o SlackOptions) (*Slack, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := len(a.workspaces) + 1
	o.Team.ID = cmp.Or(o.Team.ID, fmt.Sprintf("T0SIMULATE%d", n))
	bot := o.App
	o.App = a.o.App
	o.App.UserID, o.App.BotID = cmp.Or(bot.UserID, fmt.Sprintf("U0EARSHOT%d", n)), cmp.Or(bot.BotID, fmt.Sprintf("B0EARSHOT%d", n))
	o.App.BotToken, o.App.RefreshToken, o.App.AgentView = "xoxb-none-"+o.Team.ID, "", bot.AgentView
	o.Now, o.SocketMode = a.o.Now, a.o.SocketMode
	s, err := NewSlack(&o)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.removed, s.hub, s.front = true, a.hub, a.host.URL+"/team/"+o.Team.ID
	s.mu.Unlock()
	a.workspaces = append(a.workspaces, s)
	return s, nil
}

// Choose says in which workspace those who are asked from now on allow the app; "" denies
// it.
func (a *SlackApp) Choose(team string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.chosen = team
}

// Tamper changes the answers to codes from now on, before they are sent; nil ends that.
func (a *SlackApp) Tamper(f func(answer map[string]any)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tamper = f
}

// Close stops the app's server and its workspaces. It may be called twice.
func (a *SlackApp) Close() error {
	a.mu.Lock()
	list := slices.Clone(a.workspaces)
	if a.hub != nil {
		list = append(list, a.hub)
	}
	a.mu.Unlock()
	problems := []error{a.host.Close(func() {})}
	for _, s := range list {
		problems = append(problems, s.Close())
	}
	return errors.Join(problems...)
}

// workspace returns the first workspace that is what, or nil. The mutex is held.
func (a *SlackApp) workspace(is func(*Slack) bool) *Slack {
	return fake.Find(a.workspaces, func(s *Slack) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return is(s)
	})
}

// serveAuthorize is the page that asks whether to allow the app.
func (a *SlackApp) serveAuthorize(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	switch {
	case q.Get("client_id") != a.o.App.ClientID:
		http.Error(w, "invalid client_id", http.StatusBadRequest)
		return
	case err != nil || back.Host == "" || len(a.o.Redirects) > 0 && !slices.Contains(a.o.Redirects, q.Get("redirect_uri")):
		http.Error(w, "redirect_uri did not match any configured URIs", http.StatusBadRequest)
		return
	case q.Get("scope") == "":
		http.Error(w, "invalid_scope", http.StatusBadRequest)
		return
	}
	answer := back.Query()
	if state := q.Get("state"); state != "" {
		answer.Set("state", state)
	}
	s := a.workspace(func(s *Slack) bool { return s.o.Team.ID == a.chosen })
	if s == nil {
		answer.Set("error", "access_denied")
	} else {
		code := rand.Text()
		a.codes[code] = &grant{workspace: s, redirect: q.Get("redirect_uri"), scopes: strings.Split(q.Get("scope"), ","), until: a.o.Now().Add(codeTime)}
		answer.Set("code", code)
	}
	back.RawQuery = answer.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

// serveMethod answers a call: that of the workspace whose token it carries.
func (a *SlackApp) serveMethod(w http.ResponseWriter, h *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, h.Body, 8<<20))
	if err != nil {
		return
	}
	h.Body = io.NopCloser(bytes.NewReader(body))
	r, err := parseCall(h)
	h.Body = io.NopCloser(bytes.NewReader(body))
	h.Form, h.PostForm, h.MultipartForm = nil, nil, nil
	a.mu.Lock()
	s := a.workspace(func(s *Slack) bool {
		return r.token != "" && s.knows(r.token) || r.refresh != "" && (r.refresh == s.o.App.RefreshToken || r.refresh == s.nextRefresh)
	})
	if s == nil && r.token == a.o.App.AppToken {
		s = a.hub
	}
	a.mu.Unlock()
	switch {
	case s != nil:
		s.mux().ServeHTTP(w, h)
	case err == nil && r.method == "oauth.v2.access":
		a.serveAccess(w, r)
	default:
		fake.Write(w, "application/json; charset=utf-8", http.StatusOK, object{"ok": false, "error": "invalid_auth"})
	}
}

// serveWorkspace passes on what is at an address of one workspace, such as a file.
func (a *SlackApp) serveWorkspace(w http.ResponseWriter, r *http.Request) {
	team := r.PathValue("team")
	a.mu.Lock()
	s := a.workspace(func(s *Slack) bool { return s.o.Team.ID == team })
	a.mu.Unlock()
	if s == nil {
		http.NotFound(w, r)
		return
	}
	http.StripPrefix("/team/"+team, s.mux()).ServeHTTP(w, r)
}

// serveAccess exchanges a code, which installs the app.
func (a *SlackApp) serveAccess(w http.ResponseWriter, r *request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	answer, err := a.access(r)
	if failed := (*apiError)(nil); errors.As(err, &failed) {
		answer = object{"ok": false, "error": failed.code}
	} else if a.tamper != nil {
		a.tamper(answer)
	}
	fake.Write(w, "application/json; charset=utf-8", http.StatusOK, answer)
}

func (a *SlackApp) access(r *request) (object, error) {
	g := a.codes[r.args["code"]]
	switch {
	case r.client != a.o.App.ClientID:
		return nil, fail("invalid_client_id")
	case r.clientSecret != a.o.App.ClientSecret:
		return nil, fail("bad_client_secret")
	case r.args["grant_type"] == "refresh_token":
		return nil, fail("invalid_refresh_token")
	case g == nil || !a.o.Now().Before(g.until):
		return nil, fail("invalid_code")
	case g.used:
		return nil, fail("code_already_used")
	case g.redirect != r.args["redirect_uri"]:
		return nil, fail("bad_redirect_uri")
	}
	g.used = true
	answer := g.workspace.grant(g.scopes, a.o.Rotates)
	answer["ok"] = true
	return answer, nil
}

// grant installs the app in the workspace, and returns what oauth.v2.access answers.
func (s *Slack) grant(scopes []string, rotates bool) object {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := &s.o.App
	a.Scopes = slices.DeleteFunc(slices.Clone(scopes), func(scope string) bool { return scope == "" })
	s.removed = false
	s.newToken(tokenRevoked)
	answer := object{}
	if rotates {
		a.BotToken = "xoxe." + a.BotToken
		a.RefreshToken, s.nextRefresh = strings.Replace(a.BotToken, "xoxe.xoxb-", "xoxe-1-", 1), ""
		maps.Copy(answer, object{"refresh_token": a.RefreshToken, "expires_in": 43200})
	}
	maps.Copy(answer, object{
		"access_token": a.BotToken, "token_type": "bot", "scope": strings.Join(a.Scopes, ","), "bot_user_id": a.UserID, "app_id": a.ID,
		"team": object{"id": s.o.Team.ID, "name": s.o.Team.Name}, "enterprise": nil, "is_enterprise_install": false,
		"authed_user": object{"id": "U0INSTALLER"},
	})
	return answer
}

// knows reports whether a token is, or was, of the workspace's bot.
func (s *Slack) knows(token string) bool {
	return token == s.o.App.BotToken || s.olderTokens[token] || s.endedTokens[token] != ""
}

// address is the base of what is served for the workspace alone.
func (s *Slack) address() string { return cmp.Or(s.front, s.host.URL) }

// tokenName is the end of a new token, which no other workspace of the app has.
func (s *Slack) tokenName() string {
	s.lastID++
	if s.front == "" {
		return fmt.Sprintf("simulated-%d", s.lastID)
	}
	return fmt.Sprintf("simulated-%s-%d", s.o.Team.ID, s.lastID)
}
