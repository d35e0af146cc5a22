package slack_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/simulate"
	"github.com/earshot-ai/earshot/tokens"
)

// An inbox is a fake Slack, and a bot that hears what is said there and
// answers nothing.
type inbox struct {
	*testing.T
	slack    *simulate.Slack
	platform *slack.Platform
	store    earshot.Store
	bot      *bot.Bot
	log      *logged
	me       string // the bot's user id
	mara     string
	general  string // a public channel of both
}

// A setting changes what an inbox is made with.
type setting func(*simulate.SlackOptions, *slack.Options)

func bySocket(o *simulate.SlackOptions, _ *slack.Options) { o.SocketMode = true }
func purging(_ *simulate.SlackOptions, o *slack.Options)  { o.Purge = true }

// listenTo makes an inbox, with a person and a channel. By HTTP its events
// arrive; by socket once Listen runs.
func listenTo(t *testing.T, settings ...setting) *inbox {
	t.Helper()
	st := memory(t)
	x := &inbox{T: t, store: st, log: &logged{}}
	so := simulate.SlackOptions{Retries: []time.Duration{0, 0, 0}}
	o := slack.Options{Store: st, Log: slog.New(slog.NewTextHandler(x.log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	for _, set := range settings {
		set(&so, &o)
	}
	var err error
	if x.slack, err = simulate.NewSlack(&so); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.slack.Close() })
	app := x.slack.App()
	t.Cleanup(func() { // whatever happened, at debug level too
		hides(t, x.log.String(), app.BotToken, app.AppToken, app.SigningSecret, "simulated-verification-token", "ticket=")
	})
	o.APIURL = x.slack.URL() + "/api/"
	o.BotToken, o.AppToken = secret.New(app.BotToken), secret.New(app.AppToken)
	o.SigningSecrets = []secret.Secret{secret.New(app.SigningSecret)}
	if x.platform, err = slack.Open(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	x.bot = hearing(t, st, x.platform)
	x.me = app.UserID
	x.mara = x.slack.AddUser(simulate.User{Name: "mara", DisplayName: "Mara"})
	x.general = x.slack.AddChannel(simulate.Channel{Name: "general", Topic: "all of us", Members: []string{x.me, x.mara}})
	if !so.SocketMode {
		x.serve(x.bot.Handle)
	}
	x.slack.ForgetCalls()
	return x
}

// hearing is a bot that records what it hears.
func hearing(t *testing.T, st earshot.Store, p *slack.Platform, change ...func(*bot.Options)) *bot.Bot {
	t.Helper()
	counter, err := tokens.For("o200k")
	if err != nil {
		t.Fatal(err)
	}
	o := bot.Options{Store: st, Model: llm.Offline{}, Platform: mute{}, Counter: counter, Identity: p.Identity()}
	for _, f := range change {
		f(&o)
	}
	return bot.New(o)
}

// serve takes events and interactions by HTTP from now on.
func (x *inbox) serve(handle slack.Handler) {
	server := httptest.NewServer(x.platform.Handler(handle))
	x.Cleanup(server.Close)
	x.slack.Deliver(server.URL + "/slack/events")
	x.slack.Interact(server.URL + "/slack/interactions")
}

// botToken and signing are the app's secrets.
func (x *inbox) botToken() secret.Secret { return secret.New(x.slack.App().BotToken) }
func (x *inbox) signing() []secret.Secret {
	return []secret.Secret{secret.New(x.slack.App().SigningSecret)}
}

// send posts a body as Slack does, signed, and returns the answer's status.
func (x *inbox) send(body string) int {
	x.Helper()
	r := httptest.NewRequestWithContext(x.Context(), http.MethodPost, "/slack/events", strings.NewReader(body))
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	r.Header.Set("X-Slack-Request-Timestamp", stamp)
	r.Header.Set("X-Slack-Signature", simulate.Sign(x.slack.App().SigningSecret, stamp, []byte(body)))
	w := httptest.NewRecorder()
	x.platform.Handler(x.bot.Handle).ServeHTTP(w, r)
	return w.Code
}

// opening opens a platform on another server, with what x has.
func opening(t *testing.T, x *inbox, url string) *slack.Platform {
	t.Helper()
	p, err := slack.Open(t.Context(), slack.Options{
		APIURL: url, BotToken: x.botToken(), AppToken: secret.New(x.slack.App().AppToken), SigningSecrets: x.signing(), Store: x.store, Sockets: 1,
		Log: slog.New(slog.NewTextHandler(x.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// settle waits until everything that was said has arrived.
func (x *inbox) settle() {
	x.Helper()
	ctx, cancel := context.WithTimeout(x.Context(), hang)
	defer cancel()
	if err := x.slack.Settle(ctx); err != nil {
		x.Fatalf("events are still on their way: %v\n%s", err, x.log)
	}
	if lost := x.slack.Undelivered(); len(lost) > 0 {
		x.Fatalf("not acknowledged: %s after %d tries: %s\n%s", lost[0].Type, lost[0].Tries, lost[0].Last, x.log)
	}
}

func (x *inbox) scope(channel string) earshot.Scope {
	return earshot.Scope{Platform: earshot.Slack, Workspace: x.platform.Workspace(), Channel: earshot.ChannelID(channel)}
}

// message returns what is stored of a message.
func (x *inbox) message(channel, ts string) earshot.Message {
	x.Helper()
	m, err := x.store.Message(x.Context(), x.scope(channel), earshot.MessageID(ts))
	if err != nil {
		x.Fatalf("message %s: %v\n%s", ts, err, x.log)
	}
	return m
}

// turns returns the anchors of all turns, in order.
func (x *inbox) turns() []string {
	x.Helper()
	list, err := x.store.QueuedTurns(x.Context(), earshot.TurnQuery{})
	if err != nil {
		x.Fatal(err)
	}
	var out []string
	for _, q := range slices.Backward(list) {
		out = append(out, string(q.Anchor))
	}
	return out
}

// called returns the names of the methods that were called.
func (x *inbox) called() []string {
	var out []string
	for _, c := range x.slack.Calls() {
		out = append(out, c.Method)
	}
	slices.Sort(out)
	return out
}

// mute posts nothing.
type mute struct{}

func (mute) Post(context.Context, bot.Draft) (earshot.Message, error) {
	return earshot.Message{}, errors.New("this platform does not post")
}

// logged is what was logged.
type logged struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// hides fails where one of the secrets stands in a text.
func hides(t *testing.T, text string, secrets ...string) {
	t.Helper()
	for _, s := range secrets {
		if s != "" && strings.Contains(text, s) {
			t.Errorf("a secret is shown: %q", s)
		}
	}
}
