package daemon_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/simulate"
	"github.com/earshot-ai/earshot/store"
)

// slackScript holds the model's answers on the fake Slack: every question gets
// one that can be told from others.
const slackScript = `{"fixtures": [
	{"match": {"userMessage": "again please"}, "response": {"content": "Said once more."}},
	{"match": {"userMessage": "forbidden"}, "response": {"error": {"message": "no such thing", "type": "invalid_request_error"}, "status": 400}},
	{"match": {"userMessage": "?"}, "response": {"content": "Noted."}}
]}`

// A transport is how events come to the daemon.
type transport string

const (
	byHTTP   transport = "http"
	bySocket transport = "socket"
)

// transports runs a test over both.
func transports(t *testing.T, f func(t *testing.T, by transport)) {
	t.Helper()
	t.Parallel()
	for _, by := range []transport{byHTTP, bySocket} {
		t.Run(string(by), func(t *testing.T) {
			t.Parallel()
			f(t, by)
		})
	}
}

// A slackWorld is a fake Slack with a few people and the daemon's bot, and the
// requests to the model behind it.
type slackWorld struct {
	*simulate.Slack
	botWorld
	by transport

	general        string // a channel of which the bot is a member
	ann, bob, self string

	down bool // Slack is, when the daemon starts
}

// newSlackWorld makes the fake Slack; start starts the daemon in it.
func newSlackWorld(t *testing.T, server string, by transport, o *simulate.SlackOptions, environ ...string) *slackWorld {
	t.Helper()
	if o == nil {
		o = &simulate.SlackOptions{}
	}
	o.SocketMode = by == bySocket
	if o.Retries == nil {
		o.Retries = []time.Duration{0, 200 * time.Millisecond, time.Second}
	}
	s, err := simulate.NewSlack(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	x := &slackWorld{Slack: s, botWorld: newBotWorld(t, server), by: by, self: s.App().UserID}
	app := s.App()
	x.environ = append(append(x.environ,
		"EARSHOT_PLATFORM=slack", "EARSHOT_SLACK_API_URL="+s.URL()+"/api/", "SLACK_BOT_TOKEN="+app.BotToken), environ...)
	if by == bySocket {
		x.environ = append(x.environ, "SLACK_APP_TOKEN="+app.AppToken)
	} else {
		x.environ = append(x.environ, "EARSHOT_LISTEN=127.0.0.1:0", "SLACK_SIGNING_SECRET="+app.SigningSecret)
	}
	x.ann = s.AddUser(simulate.User{Name: "ann", RealName: "Ann"})
	x.bob = s.AddUser(simulate.User{Name: "bob", RealName: "Bob"})
	x.general = s.AddChannel(simulate.Channel{Name: "general", Topic: "what goes on", Members: []string{x.ann, x.bob, x.self}})
	return x
}

// knows has the store know Ann and Bob before the daemon starts. A name that Slack has
// not told within a second is an id, and a busy machine must not pass for a slow Slack.
func (x *slackWorld) knows() {
	x.t.Helper()
	st, err := store.Open(x.t.Context(), x.db, nil)
	if err == nil {
		err = errors.Join(st.PutAuthors(x.t.Context(), earshot.Slack, earshot.WorkspaceID(x.Team().ID),
			earshot.Author{ID: earshot.AuthorID(x.ann), Name: "Ann", Kind: earshot.Human}, earshot.Author{ID: earshot.AuthorID(x.bob), Name: "Bob", Kind: earshot.Human},
		), st.Close())
	}
	if err != nil {
		x.t.Fatal(err)
	}
}

// start runs the daemon until the test or stop ends it.
func (x *slackWorld) start() {
	x.t.Helper()
	x.run()
	if x.by == byHTTP {
		x.Deliver("http://" + x.daemon.Address + "/slack/events")
		x.Interact("http://" + x.daemon.Address + "/slack/interactions")
		return
	}
	if !x.down {
		x.eventually("a socket is up", func() bool { return x.Connections() > 0 })
	}
}

// at returns a text that mentions the bot.
func (x *slackWorld) at(text string) string { return "<@" + x.self + "> " + text }

// settled waits until every event has been taken, and no turn is under way.
func (x *slackWorld) settled() {
	x.t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), enough)
	defer stop()
	if err := x.Settle(ctx); err != nil {
		x.t.Fatal(err)
	}
}

// said returns the bot's messages in a thread, as people see them.
func (x *slackWorld) said(root string) []string {
	var out []string
	for _, m := range x.Thread(x.general, root) {
		if m.User == x.self || m.Bot != "" && m.Bot == x.App().BotID {
			out = append(out, m.Text)
		}
	}
	return out
}
