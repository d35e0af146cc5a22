package slack_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/store"
)

// A server that stands in for Slack may say less than Slack does.
func TestWhoTheBotIsMayBeToldInPart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, token, auth, bots string
		aliases                 int
		want                    string // in the error; "" for none
	}{
		{"all is told", "xoxb-1", `{"ok":true,"user_id":"U1","user":"bot","team_id":"T1","bot_id":"B1"}`, `{"ok":true,"bot":{"app_id":"A1"}}`, 2, ""},
		{"no app", "xoxb-1", `{"ok":true,"user_id":"U1","user":"bot","team_id":"T1","bot_id":"B1"}`, `{"ok":false,"error":"unknown_method"}`, 1, ""},
		{"not of the API", "xoxb-1", `{"ok":true,"user_id":"U1","user":"bot","team_id":"T1","bot_id":"B1"}`, `not found`, 1, ""},
		{"a bot's token without its id", "xoxb-1", `{"ok":true,"user_id":"U1","user":"bot","team_id":"T1"}`, ``, 0, ""},
		{"a person's token", "xoxp-1", `{"ok":true,"user_id":"U1","user":"ann","team_id":"T1"}`, ``, 0, "is a person's and not a bot's"},
		{"no user", "xoxb-1", `{"ok":true,"team_id":"T1"}`, ``, 0, "does not say who the bot is"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body := c.auth
				if strings.HasSuffix(r.URL.Path, "bots.info") {
					body = c.bots
				}
				_, _ = io.WriteString(w, body)
			}))
			t.Cleanup(server.Close)
			st, err := store.Open(t.Context(), "memory:", nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = st.Close() })
			p, err := slack.Open(t.Context(), slack.Options{APIURL: server.URL, BotToken: secret.New(c.token), Store: st})
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %q", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if me := p.Identity(); me.ID != "U1" || me.Name != "bot" || len(me.Aliases) != c.aliases {
				t.Errorf("it is %+v, want %d aliases", me, c.aliases)
			}
		})
	}
}

// A proxy that answers in Slack's place says nothing about the token.
func TestWhatIsNotSlacksAnswerIsAnOutage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		want   bool
	}{
		"a page in its place":   {http.StatusOK, "<html>sign in</html>", true},
		"a proxy that forbids":  {http.StatusForbidden, "blocked", true},
		"a gateway":             {http.StatusBadGateway, "", true},
		"an address of nothing": {http.StatusNotFound, "", false},
		"a refused token":       {http.StatusOK, `{"ok":false,"error":"invalid_auth"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			defer srv.Close()
			st, err := store.Open(t.Context(), "memory:", nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { st.Close() })
			_, err = slack.Open(t.Context(), slack.Options{APIURL: srv.URL + "/api/", BotToken: secret.New("xoxb-1"), Store: st})
			if err == nil || slack.Unreachable(err) != c.want {
				t.Errorf("got %v, unreachable %v, want %v", err, slack.Unreachable(err), c.want)
			}
		})
	}
}
