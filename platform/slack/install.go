package slack

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/internal/settings"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
	"github.com/earshot-ai/earshot/platform/slack/slackmsg"
	"github.com/earshot-ai/earshot/secret"
)

// The paths of an [Installer], below its URL.
const (
	InstallPath  = "/slack/install" // where somebody begins to install the app
	RedirectPath = "/slack/oauth"   // where Slack sends them back to
)

// InstallerOptions configure an [Installer]. The first five are required.
type InstallerOptions struct {
	URL          string // where people reach the two paths, such as https://bot.example.com
	ClientID     secret.Secret
	ClientSecret secret.Secret
	Keys         *secret.Keyring
	Store        TokenStore

	APIURL string // default: [DefaultAPIURL]
	// App is the app's id, where that is known: an installation of another one is refused.
	App string
	// Installed is called with an installation once it is stored. It must not block. nil:
	// not called.
	Installed func(Installation)

	HTTPClient *http.Client
	Now        func() time.Time
	Log        *slog.Logger
}

// An Installer lets people install the app in workspaces (docs.slack.dev, Installing with
// OAuth). It is an [http.Handler] of [InstallPath] and [RedirectPath].
//
// The state that Slack hands back is what the installer itself has sealed: for ten
// minutes, for the browser that has its cookie, and once, over all processes of the
// store. Until somebody comes back with one nothing is stored.
type Installer struct {
	o        InstallerOptions
	installs *Installations
	client   *slackapi.Client
}

// NewInstaller returns an installer. The error names every problem of the options.
func NewInstaller(o InstallerOptions) (*Installer, error) {
	problems := settings.Problems{Platform: earshot.Slack}
	o.APIURL = cmp.Or(o.APIURL, DefaultAPIURL)
	o.URL = strings.TrimSuffix(o.URL, "/")
	if u, err := url.Parse(o.URL); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		problems.Add("the URL of installations is not of the form https://host")
	}
	if o.ClientID.Empty() || o.ClientSecret.Empty() {
		problems.Add("installations need the app's client id and secret: set SLACK_CLIENT_ID and SLACK_CLIENT_SECRET")
	}
	if o.Keys == nil || o.Store == nil {
		problems.Add("installations need a key and a store")
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	if o.Installed == nil {
		o.Installed = func(Installation) {}
	}
	jitter := func(time.Duration) time.Duration { return 0 }
	settings.Outside(&o.HTTPClient, &o.Now, &jitter, &o.Log)
	return &Installer{
		o: o, installs: NewInstallations(o.Keys, o.Store),
		client: slackapi.New(slackapi.Options{URL: o.APIURL, HTTP: o.HTTPClient, Now: o.Now, Log: o.Log}),
	}, nil
}

// ServeHTTP implements [http.Handler].
func (x *Installer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method != http.MethodGet:
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "installations are begun by a link", http.StatusMethodNotAllowed)
	case strings.HasSuffix(r.URL.Path, InstallPath):
		x.begin(w, r)
	case strings.HasSuffix(r.URL.Path, RedirectPath):
		x.end(w, r)
	default:
		http.NotFound(w, r)
	}
}

const (
	installCookie = "__Host-earshot-install"
	stateTime     = 10 * time.Minute
	redeemTime    = 20 * time.Second
	// Bounds of what the redirect carries. Slack's codes have some 80 characters.
	maxState = 512
	maxCode  = 512
)

// A sealedState is what a state says.
type sealedState struct {
	Until int64 `json:"until"` // in Unix seconds
}

// begin sends somebody to Slack.
func (x *Installer) begin(w http.ResponseWriter, r *http.Request) {
	browser := rand.Text()
	data, _ := json.Marshal(sealedState{x.o.Now().Add(stateTime).Unix()}) // never fails
	state := base64.RawURLEncoding.EncodeToString(x.o.Keys.Seal(data, stateOf(browser)))
	// Lax: the way back is a link from Slack's page, with which Strict sends no cookie.
	http.SetCookie(w, &http.Cookie{Name: installCookie, Value: browser, Path: "/", MaxAge: int(stateTime.Seconds()), Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode})
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	var scopes []string
	for _, s := range ScopeNeeds() {
		scopes = append(scopes, s.Scope)
	}
	to, _ := url.Parse(x.o.APIURL) // it is one: the client calls it
	to.Path = "/oauth/v2/authorize"
	to.RawQuery = url.Values{"client_id": {x.o.ClientID.Reveal()}, "scope": {strings.Join(scopes, ",")}, "redirect_uri": {x.redirect()}, "state": {state}}.Encode()
	http.Redirect(w, r, to.String(), http.StatusFound)
}

// stateOf is what the state of a browser is bound to.
func stateOf(browser string) string { return "slack/state/" + browser }

// redirect is the address that Slack sends people back to.
func (x *Installer) redirect() string { return x.o.URL + RedirectPath }

// end takes somebody who comes back from Slack.
func (x *Installer) end(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), redeemTime)
	defer cancel()
	http.SetCookie(w, &http.Cookie{Name: installCookie, Path: "/", MaxAge: -1, Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode})
	i, err := x.install(ctx, r)
	var refused *installRefusal
	switch {
	case err == nil:
		x.o.Log.Info("the app was installed", "workspace", i.Workspace, "by", i.By)
		x.showInstalled(w, i)
	case errors.As(err, &refused):
		x.o.Log.Warn("an installation was refused", "why", refused.what, "err", refused.cause)
		x.showRefused(w, refused)
	default:
		x.o.Log.Error("an installation has failed", "err", err)
		x.showRefused(w, &installRefusal{status: http.StatusInternalServerError, what: "The installation could not be stored.", remedy: "Begin again in a few minutes. The log of the bot says what is wrong."})
	}
}

// An installRefusal says why an installation is refused, for who installs. cause is for
// the log.
type installRefusal struct {
	status       int
	what, remedy string
	cause        error
}

func (e *installRefusal) Error() string { return e.what }

// refuse returns a refusal of what the browser has sent.
func refuse(what, remedy string) error {
	return &installRefusal{status: http.StatusBadRequest, what: what, remedy: remedy}
}

const beginAgain = "Begin again at the link for installing the app, in one go and in one browser."

// install checks what the redirect carries, gets the tokens and stores them.
func (x *Installer) install(ctx context.Context, r *http.Request) (Installation, error) {
	q := r.URL.Query()
	if err := x.checkState(ctx, r, q["state"]); err != nil {
		return Installation{}, err
	}
	if q.Get("error") == "access_denied" {
		return Installation{}, refuse("You did not allow the app, so it was not installed.", "If that was a mistake, begin again at the link for installing the app.")
	}
	if code := q["code"]; len(code) != 1 || code[0] == "" || len(code[0]) > maxCode {
		return Installation{}, refuse("Slack gave no code for the installation.", beginAgain)
	}
	g, err := x.client.Redeem(ctx, x.o.ClientID, x.o.ClientSecret, secret.New(q.Get("code")), x.redirect())
	if err != nil {
		return Installation{}, notRedeemed(err)
	}
	if err := x.checkGranted(ctx, g); err != nil {
		return Installation{}, err
	}
	i := Installation{
		Workspace: earshot.WorkspaceID(g.Team), Name: shortName(g.TeamName), App: g.App, Bot: earshot.AuthorID(g.Bot), By: earshot.AuthorID(g.By),
		Scopes: g.Scopes, At: earshot.TimeOf(x.o.Now()), Token: g.Access, Refresh: g.Refresh,
	}
	err = x.installs.Put(ctx, i)
	if errors.Is(err, ErrErasing) {
		return i, &installRefusal{status: http.StatusConflict, what: "What was stored of this workspace is being erased.", remedy: "Install the app once more in a few minutes.", cause: err}
	}
	if err != nil {
		return i, err
	}
	x.o.Installed(i)
	return i, nil
}

// checkState checks that a redirect belongs to an installation that this browser has begun
// here, and not to one that has ended before.
func (x *Installer) checkState(ctx context.Context, r *http.Request, states []string) error {
	cookie, err := r.Cookie(installCookie)
	if err != nil || len(states) != 1 || len(states[0]) > maxState {
		return refuse("This browser has not begun an installation here.", beginAgain)
	}
	sealed, err := base64.RawURLEncoding.DecodeString(states[0])
	var state sealedState
	if err == nil {
		var data []byte
		if data, err = x.o.Keys.Open(sealed, stateOf(cookie.Value)); err == nil {
			err = json.Unmarshal(data, &state)
		}
	}
	if err != nil {
		return refuse("This browser has not begun an installation here.", beginAgain)
	}
	if x.o.Now().Unix() >= state.Until {
		return refuse("The installation took longer than ten minutes.", beginAgain)
	}
	// Of all who ask, one gets the moment now. Later ones get later ones.
	sum := sha256.Sum256(sealed)
	now := earshot.TimeOf(x.o.Now())
	booked, err := x.o.Store.BookCalls(ctx, "slack/state/"+hex.EncodeToString(sum[:16]), earshot.Rate{Every: 2 * stateTime, Burst: 1}, 1, now)
	if err != nil {
		return fmt.Errorf("slack: use the state of an installation: %w", err)
	}
	if booked.From > now {
		return refuse("This installation has ended already: the page was opened twice.", "If the app is not in the workspace, begin again at the link for installing it.")
	}
	return nil
}

// notRedeemed says why Slack gave no tokens.
func notRedeemed(err error) error {
	x := &installRefusal{status: http.StatusBadGateway, what: "Slack does not answer as it should.", remedy: "Begin again in a few minutes. The log of the bot says what is wrong.", cause: err}
	var api *slackapi.Error
	if !errors.As(err, &api) {
		return x
	}
	switch api.Code {
	case "invalid_code", "code_already_used", "code_expired":
		x.status, x.what, x.remedy = http.StatusBadRequest, "Slack does not accept the code of this installation.", beginAgain
	case "bad_redirect_uri":
		x.what, x.remedy = "The app does not know this address.", "Who runs the bot adds it under OAuth & Permissions, Redirect URLs: the setting slack.install.url with "+RedirectPath+"."
	case "invalid_client_id", "bad_client_secret":
		x.what, x.remedy = "The bot is not set up with this app.", "Who runs the bot sets SLACK_CLIENT_ID and SLACK_CLIENT_SECRET to the app's, from Basic Information, App Credentials."
	}
	return x
}

// checkGranted checks what Slack says was granted.
func (x *Installer) checkGranted(ctx context.Context, g slackapi.Granted) error {
	switch {
	case g.EnterpriseWide:
		return refuse("The app was installed for a whole organisation, which is not supported.", "Remove it from the organisation, and install it in the workspaces that want it, one by one.")
	case g.Kind != "bot" || g.Access.Empty() || g.Access.Flaw() != "" || !slackmsg.IsID(g.Team) || !slackmsg.IsID(g.Bot) || !slackmsg.IsID(g.App):
		return &installRefusal{status: http.StatusBadGateway, what: "Slack does not say where the app was installed.", remedy: "Begin again in a few minutes.", cause: slackapi.ErrAnswer}
	case x.o.App != "" && g.App != x.o.App:
		return refuse("This is another app.", "Who runs the bot sets SLACK_CLIENT_ID, SLACK_CLIENT_SECRET and SLACK_APP_TOKEN to those of one app.")
	}
	for _, need := range ScopeNeeds() {
		if need.Vital && !slices.Contains(g.Scopes, need.Scope) {
			return refuse("The app was not given the scope "+need.Scope+", without which "+need.Costs+".", "Begin again, and allow all that the app asks for.")
		}
	}
	list, err := x.installs.List(ctx)
	if err != nil && len(list) == 0 {
		return err
	}
	for _, i := range list {
		switch {
		case i.App != g.App:
			return refuse("This is another app than the one that other workspaces have installed.", "Who runs the bot uses one app and one store for all workspaces.")
		case i.Workspace != earshot.WorkspaceID(g.Team) && i.Bot == earshot.AuthorID(g.Bot):
			// Whose turns are whose is told by this id.
			return refuse("Slack gave the bot an id that it has in another workspace already.", "Remove the app from this workspace and install it again.")
		}
	}
	return nil
}

// shortName returns the name of a workspace in one line of some length.
func shortName(name string) string {
	const most = 80
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	if r := []rune(clean); len(r) > most {
		clean = string(r[:most]) + "…"
	}
	return clean
}
