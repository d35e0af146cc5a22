package slack_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot/platform/check"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/simulate"
	"github.com/earshot-ai/earshot/store"
)

func TestCheckSaysWhatIsMissingAndPostsNowhereElse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		set     func(s *simulate.Slack, o *slack.Options)
		sockets bool
		deaf    bool   // events lead nowhere
		channel string // "" posts nothing
		want    map[string]check.State
		says    string // in some finding
	}{
		{
			name: "all is well over a socket", sockets: true, channel: "#general",
			want: map[string]check.State{
				"bot token": check.Good, "scopes": check.Good, "app-level token": check.Good, "channel": check.Good,
				"history": check.Good, "posting": check.Good, "events": check.Good, "removing": check.Good,
			},
		},
		{
			name: "all is well over HTTP", channel: "general",
			want: map[string]check.State{"HTTP front": check.Good, "events": check.Good, "removing": check.Good},
		},
		{
			name: "no channel is named", sockets: true,
			want: map[string]check.State{"posting and events": check.Unknown},
		},
		{
			name: "the bot token is wrong", sockets: true, channel: "general",
			set:  func(_ *simulate.Slack, o *slack.Options) { o.BotToken = secret.New("xoxb-canary") },
			want: map[string]check.State{"bot token": check.Bad}, says: "not valid",
		},
		{
			name: "the app-level token is wrong", sockets: true, channel: "general",
			set:  func(_ *simulate.Slack, o *slack.Options) { o.AppToken = secret.New("xapp-canary") },
			want: map[string]check.State{"app-level token": check.Bad, "events": check.Bad}, says: "connections:write",
		},
		{
			name: "scopes are missing", sockets: true, channel: "C",
			set: func(s *simulate.Slack, _ *slack.Options) {
				s.Grant("app_mentions:read", "channels:read", "chat:write", "reactions:read", "reactions:write", "im:history", "mpim:history", "groups:history", "groups:read", "files:read", "usergroups:read", "assistant:write")
			},
			want: map[string]check.State{"scope channels:history": check.Bad, "scope users:read": check.Poor, "history": check.Poor, "channel": check.Good},
			says: "people have ids in place of names",
		},
		{
			name: "the bot is no member", sockets: true, channel: "elsewhere",
			want: map[string]check.State{"channel": check.Bad}, says: "/invite @earshot",
		},
		{
			name: "there is no such channel", sockets: true, channel: "nowhere",
			want: map[string]check.State{"channel": check.Bad},
		},
		{
			name: "no event comes", channel: "general", deaf: true,
			want: map[string]check.State{"posting": check.Good, "events": check.Bad, "removing": check.Good}, says: "Request URL",
		},
		{
			name: "nothing is set for events", channel: "general",
			set:  func(_ *simulate.Slack, o *slack.Options) { o.SigningSecrets = nil },
			want: map[string]check.State{"signing secret": check.Bad, "events": check.Bad}, says: "SLACK_SIGNING_SECRET",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := simulate.NewSlack(&simulate.SlackOptions{SocketMode: c.sockets})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			app := s.App()
			general := s.AddChannel(simulate.Channel{Name: "general", Members: []string{app.UserID}})
			elsewhere := s.AddChannel(simulate.Channel{Name: "elsewhere"})
			st, err := store.Open(t.Context(), "memory:", nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = st.Close() })
			o := slack.Options{APIURL: s.URL() + "/api/", BotToken: secret.New(app.BotToken), Store: st}
			r := slack.CheckRequest{Channel: c.channel, Patience: 2 * time.Second}
			if c.channel == "C" {
				r.Channel = general
			}
			if c.sockets {
				o.AppToken = secret.New(app.AppToken)
			} else {
				o.SigningSecrets = []secret.Secret{secret.New(app.SigningSecret)}
				r.Serve = func(h http.Handler) (func(), error) {
					front := httptest.NewServer(h)
					if !c.deaf {
						s.Deliver(front.URL)
					}
					return front.Close, nil
				}
			}
			if c.deaf {
				r.Patience = 50 * time.Millisecond
			}
			if c.set != nil {
				c.set(s, &o)
			}
			got := map[string]check.State{}
			var said strings.Builder
			slack.Check(t.Context(), o, r, func(f check.Finding) {
				got[f.What] = f.State
				said.WriteString(f.What + ": " + f.Found + "; " + f.Costs + "; " + f.Remedy + "\n")
			})
			for what, state := range c.want {
				if got[what] != state {
					t.Errorf("%s is %q, want %q", what, got[what], state)
				}
			}
			if !strings.Contains(said.String(), c.says) || strings.Contains(said.String(), "canary") {
				t.Errorf("want %q and no token in:\n%s", c.says, said.String())
			}
			if left := len(s.Messages(general)) + len(s.Messages(elsewhere)); left != 0 {
				t.Errorf("%d messages stay", left)
			}
			for _, call := range s.Calls("chat.postMessage") {
				if call.Args["channel"] != general {
					t.Errorf("it posted in %s", call.Args["channel"])
				}
			}
		})
	}
}
