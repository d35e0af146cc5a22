package simulate_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/earshot-ai/earshot/simulate"
)

// newApp starts an app with two workspaces.
func newApp(t *testing.T, o *simulate.SlackAppOptions) (*simulate.SlackApp, *simulate.Slack, *simulate.Slack) {
	t.Helper()
	a, err := simulate.NewSlackApp(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	var list []*simulate.Slack
	for _, id := range []string{"T0ONE", "T0TWO"} {
		s, err := a.AddWorkspace(simulate.SlackOptions{Team: simulate.Team{ID: id}})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	return a, list[0], list[1]
}

const redirect = "https://bot.example/slack/oauth"

// allow opens the page that asks, and returns what the redirect carries.
func allow(t *testing.T, a *simulate.SlackApp, change func(url.Values)) url.Values {
	t.Helper()
	q := url.Values{"client_id": {a.App().ClientID}, "scope": {"chat:write,channels:history"}, "redirect_uri": {redirect}, "state": {"mine"}}
	if change != nil {
		change(q)
	}
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := c.Get(a.URL() + "/oauth/v2/authorize?" + q.Encode())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusFound {
		return url.Values{"status": {r.Status}}
	}
	to, err := r.Location()
	if err != nil || !strings.HasPrefix(to.String(), redirect+"?") {
		t.Fatalf("sent to %v, %v", to, err)
	}
	return to.Query()
}

// callApp calls a method of the app's Web API.
func callApp(t *testing.T, a *simulate.SlackApp, method, token string, args url.Values) map[string]any {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.URL()+"/api/"+method, strings.NewReader(args.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	} else {
		r.SetBasicAuth(a.App().ClientID, a.App().ClientSecret)
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	raw, err := io.ReadAll(w.Body)
	var out map[string]any
	if err != nil || json.Unmarshal(raw, &out) != nil {
		t.Fatalf("%s: %s, %v", method, raw, err)
	}
	return out
}

// redeem exchanges a code.
func redeem(t *testing.T, a *simulate.SlackApp, code string) map[string]any {
	t.Helper()
	return callApp(t, a, "oauth.v2.access", "", url.Values{"code": {code}, "redirect_uri": {redirect}})
}

func TestEachWorkspaceThatAllowsTheAppHasItsOwnToken(t *testing.T) {
	t.Parallel()
	a, one, two := newApp(t, nil)
	tokens := map[string]string{}
	for _, s := range []*simulate.Slack{one, two} {
		if got := callApp(t, a, "auth.test", s.App().BotToken, nil); got["ok"] != false {
			t.Errorf("before it is installed: %v", got)
		}
		a.Choose(s.Team().ID)
		q := allow(t, a, nil)
		if q.Get("state") != "mine" {
			t.Errorf("the state comes back as %q", q.Get("state"))
		}
		got := redeem(t, a, q.Get("code"))
		team, _ := got["team"].(map[string]any)
		if got["ok"] != true || team["id"] != s.Team().ID || got["bot_user_id"] != s.App().UserID || got["scope"] != "chat:write,channels:history" || got["token_type"] != "bot" {
			t.Errorf("got %v", got)
		}
		tokens[s.Team().ID], _ = got["access_token"].(string)
		if again := redeem(t, a, q.Get("code")); again["error"] != "code_already_used" {
			t.Errorf("the second time the code gives %v", again)
		}
	}
	for id, token := range tokens {
		if got := callApp(t, a, "auth.test", token, nil); got["team_id"] != id {
			t.Errorf("the token of %s says %v", id, got)
		}
	}
	one.Uninstall()
	if got := callApp(t, a, "auth.test", tokens["T0ONE"], nil); got["error"] != "account_inactive" {
		t.Errorf("uninstalled: %v", got)
	}
	if got := callApp(t, a, "auth.test", tokens["T0TWO"], nil); got["ok"] != true {
		t.Errorf("the other: %v", got)
	}
}

func TestWhatIsNotAllowedGivesNoToken(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	a, _, _ := newApp(t, &simulate.SlackAppOptions{Redirects: []string{redirect}, Now: func() time.Time { return now }})
	if q := allow(t, a, nil); q.Get("error") != "access_denied" || q.Has("code") || q.Get("state") != "mine" {
		t.Errorf("denied: %v", q)
	}
	a.Choose("T0ONE")
	for _, change := range []func(url.Values){
		func(q url.Values) { q.Set("client_id", "3.4") },
		func(q url.Values) { q.Set("redirect_uri", "https://evil.example/slack/oauth") },
		func(q url.Values) { q.Del("scope") },
	} {
		if q := allow(t, a, change); !strings.HasPrefix(q.Get("status"), "400") {
			t.Errorf("got %v, want a refusal", q)
		}
	}
	code := allow(t, a, nil).Get("code")
	if got := callApp(t, a, "oauth.v2.access", "", url.Values{"code": {code}, "redirect_uri": {"https://other.example"}}); got["error"] != "bad_redirect_uri" {
		t.Errorf("with another address: %v", got)
	}
	now = now.Add(10 * time.Minute)
	if got := redeem(t, a, code); got["error"] != "invalid_code" {
		t.Errorf("after ten minutes: %v", got)
	}
	if got := redeem(t, a, "made up"); got["error"] != "invalid_code" {
		t.Errorf("made up: %v", got)
	}
}

func TestTokensOfAnInstallationRotateWhereTheAppSaysSo(t *testing.T) {
	t.Parallel()
	a, one, two := newApp(t, &simulate.SlackAppOptions{Rotates: true})
	for _, s := range []*simulate.Slack{one, two} {
		a.Choose(s.Team().ID)
		got := redeem(t, a, allow(t, a, nil).Get("code"))
		refresh, _ := got["refresh_token"].(string)
		next := callApp(t, a, "oauth.v2.access", "", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}})
		token, _ := next["access_token"].(string)
		if who := callApp(t, a, "auth.test", token, nil); who["team_id"] != s.Team().ID {
			t.Errorf("the exchanged token says %v", who)
		}
	}
}

// Workspaces of one app share its sockets.
func TestOneSocketBringsTheEventsOfAllWorkspaces(t *testing.T) {
	t.Parallel()
	a, one, two := newApp(t, &simulate.SlackAppOptions{SocketMode: true})
	at := callApp(t, a, "apps.connections.open", a.App().AppToken, nil)
	url, _ := at["url"].(string)
	conn, _, err := websocket.DefaultDialer.DialContext(t.Context(), url, nil)
	if err != nil {
		t.Fatalf("%v: %v", at, err)
	}
	defer conn.Close()
	for i, s := range []*simulate.Slack{one, two} {
		a.Choose(s.Team().ID)
		redeem(t, a, allow(t, a, nil).Get("code"))
		user := s.AddUser(simulate.User{Name: "ann"})
		s.Say(s.AddChannel(simulate.Channel{Members: []string{user, s.App().UserID}}), user, "hello")
		for {
			var frame struct {
				ID      string `json:"envelope_id"`
				Payload struct {
					Team string `json:"team_id"`
				} `json:"payload"`
			}
			if err := conn.ReadJSON(&frame); err != nil {
				t.Fatal(err)
			}
			if frame.ID == "" {
				continue // hello
			}
			if frame.Payload.Team != s.Team().ID {
				t.Errorf("event %d is of %q", i, frame.Payload.Team)
			}
			if err := conn.WriteJSON(map[string]string{"envelope_id": frame.ID}); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
}
