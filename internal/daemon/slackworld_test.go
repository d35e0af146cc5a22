package daemon_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/simulate"
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
	t       *testing.T
	by      transport
	wire    *wire
	db      string
	environ []string

	general        string // a channel of which the bot is a member
	ann, bob, self string

	options daemon.Options // what it is started with, besides the configuration
	daemon  *daemon.Daemon
	ended   chan bot.Report
	stop    func()
	down    bool          // Slack is, when the daemon starts
	lasts   time.Duration // how long the daemon may run; 0 means enough
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
	p := endToEnd{server: server, provider: "anthropic", url: "ANTHROPIC_BASE_URL", key: "ANTHROPIC_API_KEY"}
	x := &slackWorld{
		Slack: s, t: t, by: by, wire: p.wire(t), db: filepath.Join(t.TempDir(), "slack.db"), self: s.App().UserID,
		ended: make(chan bot.Report, 10_000),
	}
	app := s.App()
	x.environ = append(append(p.environ(x.wire, x.db),
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

// start runs the daemon until the test or stopDaemon ends it.
func (x *slackWorld) start() {
	x.t.Helper()
	c, err := config.Load("", x.environ)
	if err != nil {
		x.t.Fatal(err)
	}
	p, _ := assemble.ByName(c.Policy)
	ctx, stop := context.WithTimeout(context.Background(), cmp.Or(x.lasts, enough))
	var log *slog.Logger
	if testing.Verbose() {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	o := x.options
	o.Config, o.Policy, o.Done = c, p, func(r bot.Report) { x.ended <- r }
	if o.Log == nil {
		o.Log = log
	}
	d, err := daemon.Open(ctx, o)
	if err != nil {
		stop()
		x.t.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() { ran <- d.Run(ctx) }()
	x.daemon = d
	once := false
	x.stop = func() {
		if once {
			return
		}
		once = true
		stop()
		if err := errors.Join(<-ran, d.Close()); err != nil {
			x.t.Error(err)
		}
	}
	x.t.Cleanup(x.stop)
	if x.by == byHTTP {
		x.Deliver("http://" + d.Address + "/slack/events")
		return
	}
	if !x.down {
		x.eventually("a socket is up", func() bool { return x.Connections() > 0 })
	}
}

// at returns a text that mentions the bot.
func (x *slackWorld) at(text string) string { return "<@" + x.self + "> " + text }

// ends waits for the next turn to end, and checks its state.
func (x *slackWorld) ends(want earshot.TurnState) bot.Report {
	x.t.Helper()
	select {
	case r := <-x.ended:
		if r.Turn.State != want {
			x.t.Fatalf("the turn is %s (%s), want %s", r.Turn.State, r.Turn.Why, want)
		}
		return r
	case <-time.After(enough):
		x.t.Fatal("no turn has ended")
	}
	return bot.Report{}
}

// eventually waits until a condition holds.
func (x *slackWorld) eventually(what string, is func() bool) {
	x.t.Helper()
	for end := time.Now().Add(enough); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			x.t.Fatalf("after %s it does not hold that %s", enough, what)
		}
	}
}

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

// prompts returns the last user message of each request to the model.
func (x *slackWorld) prompts() []string {
	x.t.Helper()
	var out []string
	for _, r := range x.wire.recorded(x.t) {
		last := ""
		for _, m := range r.Body.Messages {
			if m.Role == "user" {
				last = content(m.Content)
			}
		}
		out = append(out, last)
	}
	return out
}

// prompt returns the last of the prompts.
func (x *slackWorld) prompt() string {
	x.t.Helper()
	list := x.prompts()
	if len(list) == 0 {
		x.t.Fatal("the model was not asked")
	}
	return list[len(list)-1]
}

// content reads a message's text, which is a string or a list of parts.
func content(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &parts) // what has another form has no text
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}
