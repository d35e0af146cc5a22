package daemon_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/pgtest"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/simulate"
)

// installURL is where people of a spacesWorld reach the bot.
const installURL = "https://bot.example"

// A spacesWorld is a fake app that two workspaces may install, and a bot that has no token.
type spacesWorld struct {
	botWorld
	app    *simulate.SlackApp
	spaces []*space
	log    *lines

	sockets bool
}

// A space is one of the workspaces.
type space struct {
	*simulate.Slack
	general, ann, canary string
}

func newSpacesWorld(t *testing.T, server string, o *simulate.SlackAppOptions, environ ...string) *spacesWorld {
	t.Helper()
	app, err := simulate.NewSlackApp(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := app.Close(); err != nil {
			t.Error(err)
		}
	})
	x := &spacesWorld{botWorld: newBotWorld(t, server), app: app, log: &lines{}}
	x.environ = append(append(x.environ, "EARSHOT_PLATFORM=slack", "EARSHOT_LISTEN=127.0.0.1:0", "EARSHOT_SLACK_API_URL="+app.URL()+"/api/", "EARSHOT_SLACK_INSTALL_URL="+installURL,
		"EARSHOT_TOKEN_KEY="+tokenKey(1), "EARSHOT_HEALTH=127.0.0.1:0", "EARSHOT_API=127.0.0.1:0", "SLACK_CLIENT_ID="+app.App().ClientID, "SLACK_CLIENT_SECRET="+app.App().ClientSecret, "SLACK_SIGNING_SECRET="+app.App().SigningSecret), environ...)
	if o != nil && o.SocketMode {
		x.environ, x.sockets = append(x.environ, "SLACK_APP_TOKEN="+app.App().AppToken), true
	}
	x.options.Confirm = 400 * time.Millisecond
	x.options.Log = slog.New(slog.NewTextHandler(x.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	for _, team := range []simulate.Team{{ID: "T0QUOKKA", Name: "Quokka & Co"}, {ID: "T0WOMBAT", Name: "Wombat"}} {
		s, err := app.AddWorkspace(simulate.SlackOptions{Team: team, Retries: []time.Duration{0, 200 * time.Millisecond, time.Second}})
		if err != nil {
			t.Fatal(err)
		}
		w := &space{Slack: s, canary: "canaryof" + strings.ToLower(team.Name[:6])}
		w.ann = s.AddUser(simulate.User{Name: "ann", RealName: "Ann of " + w.canary})
		w.general = s.AddChannel(simulate.Channel{Name: "general-" + w.canary, Members: []string{w.ann, s.App().UserID}})
		x.spaces = append(x.spaces, w)
	}
	return x
}

func tokenKey(b byte) string {
	return base64.StdEncoding.EncodeToString(slices.Repeat([]byte{b}, 32))
}

// start runs the daemon, to which events of all workspaces go.
func (x *spacesWorld) start() {
	x.t.Helper()
	x.run()
	x.deliver(x.daemon)
	if x.sockets {
		x.eventually("a socket is up", func() bool { return x.spaces[0].Connections() > 0 })
	}
}

func (x *spacesWorld) deliver(to *daemon.Daemon) {
	for _, s := range x.spaces {
		s.Deliver("http://" + to.Address + "/slack/events")
		s.Interact("http://" + to.Address + "/slack/interactions")
	}
}

// A visitor is the browser of somebody who installs the app.
type visitor struct {
	x      *spacesWorld
	cookie *http.Cookie
}

// open opens an address without following redirects. Those of the bot are at its front.
func (v *visitor) open(at string) (*http.Response, string) {
	v.x.t.Helper()
	to, atBot := strings.CutPrefix(at, installURL)
	if atBot {
		to = "http://" + v.x.daemon.Address + to
	}
	r, err := http.NewRequestWithContext(v.x.t.Context(), http.MethodGet, to, nil)
	if err != nil {
		v.x.t.Fatal(err)
	}
	if atBot && v.cookie != nil {
		r.AddCookie(v.cookie)
	}
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	w, err := c.Do(r)
	if err != nil {
		v.x.t.Fatal(err)
	}
	defer w.Body.Close()
	body, err := io.ReadAll(w.Body)
	if err != nil {
		v.x.t.Fatal(err)
	}
	for _, cookie := range w.Cookies() {
		if atBot {
			v.cookie = cookie
		}
	}
	return w, string(body)
}

// begins opens the link for installing the app, allows it in a workspace ("": denies it),
// and returns the address that Slack sends the browser back to.
func (v *visitor) begins(team string) string {
	v.x.t.Helper()
	v.x.app.Choose(team)
	w, _ := v.open(installURL + "/slack/install")
	to := w.Header.Get("Location")
	if !strings.HasPrefix(to, v.x.app.URL()+"/oauth/v2/authorize?") {
		v.x.t.Fatalf("the link leads to %q, with status %d", to, w.StatusCode)
	}
	w, body := v.open(to)
	back := w.Header.Get("Location")
	if !strings.HasPrefix(back, installURL+"/slack/oauth?") {
		v.x.t.Fatalf("Slack sends back to %q: %s", back, body)
	}
	return back
}

// install installs the app in a workspace.
func (x *spacesWorld) install(s *space) {
	x.t.Helper()
	v := &visitor{x: x}
	w, body := v.open(v.begins(s.Team().ID))
	if w.StatusCode != http.StatusOK || !strings.Contains(body, "Installed") {
		x.t.Fatalf("status %d: %s", w.StatusCode, body)
	}
}

// asks asks a question in a workspace, and checks that it is answered there.
func (x *spacesWorld) asks(s *space, text string) {
	x.t.Helper()
	root := s.Say(s.general, s.ann, "<@"+s.App().UserID+"> "+s.canary+" "+text)
	x.ends(earshot.TurnDone)
	var got []string
	for _, m := range s.Thread(s.general, root) {
		if m.User == s.App().UserID {
			got = append(got, m.Text)
		}
	}
	x.want("the answer in "+s.Team().ID, strings.Join(got, "\n"), "Noted.")
}

// left returns what of a text is found in the store, by table.
func (x *spacesWorld) left(text string) (out []string) {
	x.t.Helper()
	for p, err := range x.daemon.Store.Locate(x.t.Context(), text, nil) {
		if err != nil {
			x.t.Fatal(err)
		}
		out = append(out, p.Table)
	}
	return slices.Compact(out)
}

// gone waits until nothing of the texts is found. It looks seldom: a reader of a SQLite
// file keeps deleted bytes from being scrubbed.
func (x *spacesWorld) gone(texts ...string) {
	x.t.Helper()
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		texts = slices.DeleteFunc(texts, func(text string) bool { return len(x.left(text)) == 0 })
		if len(texts) == 0 {
			return
		}
		if time.Since(began) > enough {
			x.t.Fatalf("%q is left in %v", texts[0], x.left(texts[0]))
		}
	}
}

// late sends a message of a workspace as Slack would, whatever the fake thinks of the app.
func (x *spacesWorld) late(s *space) int {
	x.t.Helper()
	body := fmt.Sprintf(`{"type":"event_callback","event_id":"Ev0LATE","team_id":%q,"api_app_id":%q,"authorizations":[{"team_id":%[1]q}],"event":{"type":"message","channel":%q,"channel_type":"channel","user":%q,"text":%q,"ts":"1796070000.000100"}}`,
		s.Team().ID, x.app.App().ID, s.general, s.ann, s.canary)
	r, err := http.NewRequestWithContext(x.t.Context(), http.MethodPost, "http://"+x.daemon.Address+"/slack/events", strings.NewReader(body))
	if err != nil {
		x.t.Fatal(err)
	}
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Slack-Request-Timestamp", stamp)
	r.Header.Set("X-Slack-Signature", simulate.Sign(x.app.App().SigningSecret, stamp, []byte(body)))
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		x.t.Fatal(err)
	}
	defer w.Body.Close()
	return w.StatusCode
}

// metricsOf returns a daemon's metrics.
func metricsOf(t *testing.T, d *daemon.Daemon) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+d.Health+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	body, err := io.ReadAll(w.Body)
	if err != nil || w.StatusCode != http.StatusOK {
		t.Errorf("the metrics are answered with status %d, %v", w.StatusCode, err)
	}
	return string(body)
}

// Two workspaces install the app, and each has its own bot, over a restart. One removes
// the app: nothing of it is left, and the other goes on.
func TestTwoWorkspacesInstallTheAppAndOneRemovesIt(t *testing.T) {
	t.Parallel()
	server := modeltest.StartScripted(t, slackScript)
	for name, how := range map[string]struct {
		db string
		by transport
	}{"sqlite": {"", byHTTP}, "postgres": {"postgres", byHTTP}, "by socket": {"", bySocket}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			environ := []string{"EARSHOT_LIMIT_WORKSPACE=2M", "EARSHOT_LIMIT_PERSON=1M", "EARSHOT_SLACK_WELCOME=true"} // which leave traces
			if how.db != "" {
				environ = append(environ, "EARSHOT_DB="+pgtest.Spec(t))
			}
			x := newSpacesWorld(t, server, &simulate.SlackAppOptions{SocketMode: how.by == bySocket}, environ...)
			one, two := x.spaces[0], x.spaces[1]
			x.start()
			if status, body := x.get("/readyz", ""); status != http.StatusOK {
				t.Errorf("before anybody has installed the app it is not ready: %s", body)
			}
			x.install(one)
			x.install(two)
			x.asks(one, "is it raining?")
			x.asks(two, "is it raining?")
			x.stop()
			x.start()
			x.asks(two, "is it raining still?")
			x.asks(one, "is it raining still?")
			for _, text := range []string{one.Team().ID, one.canary, two.Team().ID, two.canary} {
				if len(x.left(text)) == 0 {
					t.Errorf("%q is not found while it is stored", text)
				}
			}
			for _, s := range []*space{one, two} {
				if got := told(t, s.Command(s.general, s.ann, "/earshot", "why")); !strings.Contains(got, "For my last answer to you here I read") {
					t.Errorf("the command in %s is answered %q", s.Team().ID, got)
				}
				s.Join(s.AddChannel(simulate.Channel{Name: "more", Members: []string{s.ann}}), s.App().UserID)
			}
			x.install(one) // once more, and the new token takes the old one's place
			x.asks(one, "is it raining with another token?")
			if body := metricsOf(t, x.daemon); !strings.Contains(body, `earshot_api_calls_total{method="chat.postMessage",result="ok"}`) {
				t.Errorf("the metrics are %s", body)
			}
			kept := x.left(two.canary)

			one.Uninstall()
			x.gone(one.Team().ID, one.canary, one.App().UserID)
			x.want("what is kept of the other", strings.Join(x.left(two.canary), ","), strings.Join(kept, ","))
			x.asks(two, "is it raining now?")
			if status := x.late(one); status != http.StatusOK || len(x.left(one.canary)) > 0 {
				t.Errorf("an event that comes late is answered %d, and %q is in %v", status, one.canary, x.left(one.canary))
			}
			x.stop()
			x.start()
			x.asks(two, "and after a restart?")
			if found := x.left(one.Team().ID); len(found) > 0 {
				t.Errorf("after a restart the workspace is in %v", found)
			}
			x.install(one) // it comes back, and begins anew
			x.asks(one, "is it raining here?")
		})
	}
}

// No token is in the store or in the log in clear, and with another key no workspace is
// served under a wrong token: the error names the remedy.
func TestTokensOfWorkspacesAreEncrypted(t *testing.T) {
	t.Parallel()
	x := newSpacesWorld(t, modeltest.StartScripted(t, slackScript), nil)
	one := x.spaces[0]
	x.start()
	x.install(one)
	x.asks(one, "is it raining?")
	for _, s := range []string{"xoxb-", one.App().BotToken, x.app.App().ClientSecret, tokenKey(1)} {
		if found := x.left(s); len(found) > 0 {
			t.Errorf("%q is in %v", s, found)
		}
		if strings.Contains(x.log.String(), s) {
			t.Errorf("%q is in the log", s)
		}
	}
	x.stop()
	environ := x.environ
	x.environ = append(slices.Clone(environ), "EARSHOT_TOKEN_KEY="+tokenKey(2))
	c, err := config.Load("", x.environ)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := daemon.Open(t.Context(), daemon.Options{Config: c}); err == nil || !strings.Contains(err.Error(), "EARSHOT_TOKEN_KEY_OLD") {
		t.Errorf("with another key: got %v, want the remedy", err)
	}
	x.environ = append(x.environ, "EARSHOT_TOKEN_KEY_OLD="+tokenKey(1))
	x.start() // encrypts anew
	x.asks(one, "is it raining still?")
	x.stop()
	x.environ = append(slices.Clone(environ), "EARSHOT_TOKEN_KEY="+tokenKey(2))
	x.start()
	x.asks(one, "is it raining now?")
}

// A workspace whose token is refused is parked, with the reason, and ends nothing else.
func TestAWorkspaceWhoseTokenIsRevokedDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	x := newSpacesWorld(t, modeltest.StartScripted(t, slackScript), nil)
	one, two := x.spaces[0], x.spaces[1]
	x.start()
	x.install(one)
	x.install(two)
	x.asks(one, "is it raining?")
	one.Inject(simulate.Fault{Kind: simulate.DropEvent})
	one.RevokeToken() // which the bot is not told of
	x.stop()
	x.start()
	x.asks(two, "is it raining?")
	x.eventually("the status tells of the workspace", func() bool {
		status, body := x.get("/readyz", "")
		return status == http.StatusOK && strings.Contains(body, "workspace T0QUOKKA is signed out") && strings.Contains(body, "token_revoked")
	})
	if found := x.left(one.canary); len(found) == 0 {
		t.Error("what is stored of it was erased, and nobody had removed the app")
	}
	one.Heal()
	x.install(one) // anew, with another token
	x.asks(one, "is it raining again?")
	if _, body := x.get("/readyz", ""); strings.Contains(body, "T0QUOKKA") {
		t.Errorf("the status is still %s", body)
	}
}

// What a browser, or Slack's answer, may bring that is no installation of ours installs
// nothing.
func TestWhatIsNoInstallationInstallsNothing(t *testing.T) {
	t.Parallel()
	x := newSpacesWorld(t, modeltest.StartScripted(t, slackScript), nil)
	one := x.spaces[0].Team().ID
	x.start()
	change := func(at string, f func(url.Values)) string {
		u, err := url.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		q := u.Query()
		f(q)
		u.RawQuery = q.Encode()
		return u.String()
	}
	refused := func(what string, v *visitor, at, says string) {
		t.Helper()
		w, body := v.open(at)
		if w.StatusCode < 400 || !strings.Contains(body, "Not installed") || !strings.Contains(body, says) {
			t.Errorf("%s: status %d, want a refusal that says %q: %s", what, w.StatusCode, says, body)
		}
		if w.Header.Get("Content-Security-Policy") == "" || strings.Contains(body, "<script") {
			t.Errorf("%s: a page that may run something: %v %s", what, w.Header, body)
		}
		if found := x.left("slack/installed/"); len(found) > 0 {
			t.Fatalf("%s: it is installed", what)
		}
	}
	v := &visitor{x: x}
	refused("a state that was made up", v, change(v.begins(one), func(q url.Values) { q.Set("state", "AAAA<script>") }), "has not begun")
	refused("two states", v, change(v.begins(one), func(q url.Values) { q.Add("state", "x") }), "has not begun")
	refused("no state", v, change(v.begins(one), func(q url.Values) { q.Del("state") }), "has not begun")
	refused("another browser", &visitor{x: x}, v.begins(one), "has not begun")
	other := &visitor{x: x}
	other.begins(one)
	refused("another browser that has begun too", other, v.begins(one), "has not begun")
	refused("denied", v, v.begins(""), "did not allow")
	refused("a code that was made up", v, change(v.begins(one), func(q url.Values) { q.Set("code", "nothing") }), "does not accept the code")
	refused("no code", v, change(v.begins(one), func(q url.Values) { q.Del("code") }), "no code")
	refused("a long code", v, change(v.begins(one), func(q url.Values) { q.Set("code", strings.Repeat("x", 5000)) }), "no code")
	for what, answer := range map[string]struct {
		says   string
		tamper func(map[string]any)
	}{
		"an organisation":       {"whole organisation", func(a map[string]any) { a["is_enterprise_install"], a["team"] = true, nil }},
		"a missing scope":       {"chat:write", func(a map[string]any) { a["scope"] = "channels:history,app_mentions:read" }},
		"a person's token":      {"does not say", func(a map[string]any) { a["token_type"] = "user" }},
		"no workspace":          {"does not say", func(a map[string]any) { a["team"] = map[string]any{"id": "../T1"} }},
		"no token":              {"does not say", func(a map[string]any) { delete(a, "access_token") }},
		"a token of lines":      {"does not say", func(a map[string]any) { a["access_token"] = "xoxb-1\r\nX: y" }},
		"an oversized answer":   {"does not answer", func(a map[string]any) { a["more"] = strings.Repeat("x", 17<<20) }},
		"fields of other kinds": {"does not answer", func(a map[string]any) { a["team"] = "T1" }},
	} {
		x.app.Tamper(answer.tamper)
		refused(what, v, v.begins(one), answer.says)
	}
	x.app.Tamper(nil)

	at := v.begins(one)
	cookie := v.cookie
	if w, body := v.open(at); w.StatusCode != http.StatusOK || !strings.Contains(body, "Quokka &amp; Co") || !strings.Contains(body, "records") || !strings.Contains(body, "forgotten") {
		t.Errorf("status %d: %s", w.StatusCode, body)
	}
	if found := x.left("slack/installed/"); len(found) == 0 {
		t.Error("an installation is not found where it is looked for")
	}
	v.cookie = cookie
	if w, body := v.open(at); w.StatusCode != http.StatusBadRequest || !strings.Contains(body, "ended already") {
		t.Errorf("opened again: status %d: %s", w.StatusCode, body)
	}
	x.app.Tamper(func(a map[string]any) { a["app_id"] = "A0OTHER" })
	if w, body := v.open(v.begins(x.spaces[1].Team().ID)); w.StatusCode != http.StatusBadRequest || !strings.Contains(body, "another app") {
		t.Errorf("another app: status %d: %s", w.StatusCode, body)
	}
	if v.cookie == nil || v.cookie.Name != "__Host-earshot-install" {
		t.Errorf("the cookie is %+v", v.cookie)
	}
	if strings.Contains(x.log.String(), "xoxb-") {
		t.Error("a token is in the log")
	}
}

// Without what an installation needs the bot does not start, and says what is missing.
func TestWhatAnInstallationNeedsIsNamed(t *testing.T) {
	t.Parallel()
	x := newSpacesWorld(t, "http://127.0.0.1:1", nil)
	for _, c := range []struct{ set, want string }{
		{"EARSHOT_TOKEN_KEY=", "EARSHOT_TOKEN_KEY is not set"},
		{"EARSHOT_TOKEN_KEY=canary-key", "EARSHOT_TOKEN_KEY: it is not 32 random bytes"},
		{"EARSHOT_TOKEN_KEY_OLD=canary-key", "EARSHOT_TOKEN_KEY_OLD: it is not 32 random bytes"},
		{"SLACK_CLIENT_ID=", "SLACK_CLIENT_ID is not set"},
		{"SLACK_CLIENT_SECRET=", "SLACK_CLIENT_SECRET is not set"},
		{"SLACK_SIGNING_SECRET=", "SLACK_SIGNING_SECRET is not set"},
		{"EARSHOT_LISTEN=", "slack.listen"},
		{"SLACK_BOT_TOKEN=xoxb-canary-key", "SLACK_BOT_TOKEN is set beside slack.install.url"},
		{"EARSHOT_SLACK_INSTALL_URL=http://bot.example", "slack.install.url: must be https://HOST"},
	} {
		name, _, _ := strings.Cut(c.set, "=")
		environ := slices.DeleteFunc(slices.Clone(x.environ), func(v string) bool { return strings.HasPrefix(v, name+"=") })
		conf, err := config.Load("", append(environ, c.set))
		if err == nil {
			_, err = daemon.Open(context.Background(), daemon.Options{Config: conf})
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "canary-key") {
			t.Errorf("%s: got %v, want %q", c.set, err, c.want)
		}
	}
}

// The check looks at the token of each workspace, and posts in none.
func TestTheCheckLooksAtEachWorkspace(t *testing.T) {
	t.Parallel()
	x := newSpacesWorld(t, modeltest.StartScripted(t, slackScript), nil)
	one, two := x.spaces[0], x.spaces[1]
	checked := func() (out []string) {
		t.Helper()
		c, err := config.Load("", x.environ)
		if err == nil {
			err = daemon.CheckSlack(t.Context(), daemon.Options{Config: c, Log: slog.New(slog.DiscardHandler)}, one.general, func(f daemon.Finding) {
				if f.State != daemon.Good {
					out = append(out, f.What+": "+f.Found+"; "+f.Remedy)
				}
			})
		}
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if got := checked(); len(got) != 1 || !strings.Contains(got[0], "no workspace has installed the app yet") || !strings.Contains(got[0], installURL+"/slack/install") {
		t.Errorf("without an installation: %q", got)
	}
	x.start()
	x.install(one)
	x.install(two)
	x.asks(two, "is it raining?")
	two.Inject(simulate.Fault{Kind: simulate.DropEvent})
	two.RevokeToken()
	x.stop()
	posted := len(one.Calls("chat.postMessage"))
	if got := checked(); len(got) != 1 || !strings.HasPrefix(got[0], "T0WOMBAT: bot token: ") || !strings.Contains(got[0], "token_revoked") {
		t.Errorf("with one token that is revoked: %q", got)
	}
	if n := len(one.Calls("chat.postMessage")); n != posted {
		t.Errorf("it has posted %d times", n-posted)
	}
}

// Two replicas over one database: what one has seen installed the other serves too, and
// what was uninstalled neither does.
func TestReplicasServeTheSameWorkspaces(t *testing.T) {
	t.Parallel()
	x := newSpacesWorld(t, modeltest.StartScripted(t, slackScript), nil, "EARSHOT_DB="+pgtest.Spec(t))
	one, two := x.spaces[0], x.spaces[1]
	x.start()
	other := &spacesWorld{botWorld: x.botWorld, app: x.app, spaces: x.spaces, log: x.log}
	other.stop = nil
	other.run()
	x.install(one)
	x.deliver(other.daemon) // at once: the event may come before the other one has looked
	x.asks(one, "is it raining?")
	other.install(two)
	x.deliver(x.daemon)
	x.asks(two, "is it raining?")
	x.asks(one, "is it raining still?")
	for _, s := range x.spaces {
		x.eventually("both tell of workspace "+s.Team().ID, func() bool {
			return served(x.daemon, s) && served(other.daemon, s)
		})
	}
	x.deliver(other.daemon)
	one.Uninstall()
	x.gone(one.Team().ID, one.canary)
	x.asks(two, "is it raining now?")
	x.deliver(x.daemon)
	x.asks(two, "is it raining later?")
	x.stop()
	other.stop()
	x.start()
	if found := x.left(one.Team().ID); len(found) > 0 {
		t.Errorf("after both have ended the workspace is in %v", found)
	}
}

// served reports whether a daemon has an answerable bot in a workspace.
func served(d *daemon.Daemon, s *space) bool {
	r, err := http.Get("http://" + d.Address + "/readyz")
	if err != nil {
		return false
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	return err == nil && r.StatusCode == http.StatusOK && !strings.Contains(string(body), s.Team().ID)
}

// The tokens of each installation rotate, and nobody notices: not when they end early,
// nor over a restart. After an uninstallation no token is left.
func TestTokensOfEachWorkspaceRotate(t *testing.T) {
	t.Parallel()
	x := newSpacesWorld(t, modeltest.StartScripted(t, slackScript), &simulate.SlackAppOptions{Rotates: true})
	one, two := x.spaces[0], x.spaces[1]
	exchanges := func(s *space) (n int) {
		for _, c := range s.Calls("oauth.v2.access") {
			if c.Error == "" {
				n++
			}
		}
		return n
	}
	x.start()
	x.install(one)
	x.install(two)
	x.asks(one, "is it raining?")
	x.asks(two, "is it raining?")
	was := exchanges(two)
	one.ExpireToken()
	x.asks(one, "is it raining still?")
	x.stop()
	x.start()
	x.asks(one, "is it raining now?")
	x.asks(two, "is it raining now?")
	if exchanges(one) != 2 || exchanges(two) != was {
		t.Errorf("%d and %d exchanges, want one for each token: 2 and %d", exchanges(one), exchanges(two), was)
	}
	for _, shown := range []string{"xoxb-", "xoxe-1-"} {
		if found := x.left(shown); len(found) > 0 || strings.Contains(x.log.String(), shown) {
			t.Errorf("%q is in %v, or in the log", shown, found)
		}
	}
	x.stop()
	was = exchanges(one)
	x.environ = append(x.environ, "EARSHOT_TOKEN_KEY="+tokenKey(2), "EARSHOT_TOKEN_KEY_OLD="+tokenKey(1))
	x.start() // encrypts anew
	x.asks(one, "is it raining with another key?")
	x.asks(two, "is it raining with another key?")
	x.stop()
	x.environ = append(x.environ, "EARSHOT_TOKEN_KEY_OLD="+tokenKey(3))
	x.start()
	x.asks(one, "is it raining without the old one?")
	if n := exchanges(one); n != was {
		t.Errorf("another key causes %d exchanges", n-was)
	}
	one.Uninstall()
	x.gone(one.Team().ID, one.canary)
	if list, err := x.daemon.Store.Notes(t.Context(), "slack/tokens/", 0); err != nil || len(list) != 1 {
		t.Errorf("%d notes with exchanged tokens, %v; want that of the other workspace", len(list), err)
	}
	x.asks(two, "is it raining there?")
}

// With slack.install.on_uninstall: keep what was said stays, and the tokens do not.
func TestAWorkspaceThatRemovesTheAppMayBeKept(t *testing.T) {
	t.Parallel()
	x := newSpacesWorld(t, modeltest.StartScripted(t, slackScript), nil, "EARSHOT_SLACK_ON_UNINSTALL=keep")
	one := x.spaces[0]
	x.start()
	x.install(one)
	x.asks(one, "is it raining?")
	one.Uninstall()
	x.eventually("its tokens are gone", func() bool {
		var left []earshot.Note
		for _, prefix := range []string{"slack/installed/", "slack/uninstalled/"} {
			list, err := x.daemon.Store.Notes(t.Context(), prefix, 0)
			if err != nil {
				t.Fatal(err)
			}
			left = append(left, list...)
		}
		return len(left) == 0
	})
	if found := x.left(one.canary); len(found) == 0 {
		t.Error("what was said is gone")
	}
}

// A click at an answer is feedback in its own workspace, by HTTP and by socket, and a file
// is read with the token of its own.
func TestAClickGoesToItsWorkspace(t *testing.T) {
	server := modeltest.StartScripted(t, slackScript)
	transports(t, func(t *testing.T, by transport) {
		x := newSpacesWorld(t, server, &simulate.SlackAppOptions{SocketMode: by == bySocket}, "EARSHOT_FEEDBACK=buttons")
		x.start()
		for _, s := range x.spaces {
			x.install(s)
			x.asks(s, "is it raining?")
		}
		for i, s := range x.spaces {
			var answer string
			for _, m := range s.Messages(s.general) {
				if m.User == s.App().UserID {
					answer = m.TS
				}
			}
			s.Click(s.general, answer, s.ann, "👎")
			if c := s.Submit(s.ann, "it is not the time"); c.Outcome != "acked" {
				t.Errorf("the form is answered %+v", c)
			}
			for j, of := range x.spaces {
				scope := earshot.Scope{Platform: earshot.Slack, Workspace: earshot.WorkspaceID(of.Team().ID), Channel: earshot.ChannelID(of.general)}
				want := 0
				if j <= i {
					want = 1
				}
				if list, err := x.daemon.Store.Feedback(t.Context(), earshot.FeedbackQuery{Scope: &scope}); err != nil || len(list) != want {
					t.Errorf("after the click in %s: %d in %s, %v; want %d", s.Team().ID, len(list), of.Team().ID, err, want)
				}
			}
			f := s.AddFile(simulate.File{Name: "notes.txt", Data: []byte("the file of " + s.canary)})
			s.Upload(s.general, s.ann, "<@"+s.App().UserID+"> what of this file?", f)
			x.ends(earshot.TurnDone)
			if got := s.Calls("files.download"); len(got) != 1 || got[0].Error != "" {
				t.Errorf("the file was read by %+v", got)
			}
		}
		for i, s := range x.spaces {
			other := x.spaces[1-i]
			for _, p := range x.prompts() {
				if strings.Contains(p, s.canary) && strings.Contains(p, other.canary) {
					t.Errorf("a prompt has words of both: %s", p)
				}
			}
		}
	})
}
