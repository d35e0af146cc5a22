package daemon_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/simulate"
)

// newRotatingWorld is newSlackWorld with an app whose tokens rotate.
func newRotatingWorld(t *testing.T, server string, by transport) *slackWorld {
	t.Helper()
	x := newSlackWorld(t, server, by, &simulate.SlackOptions{App: simulate.App{
		BotToken: "xoxe.xoxb-first", ClientID: "1.2", ClientSecret: "canary-client-secret", RefreshToken: "xoxe-1-canary-first",
	}})
	x.environ = append(x.environ, "SLACK_BOT_TOKEN=", "SLACK_CLIENT_ID=1.2", "SLACK_CLIENT_SECRET=canary-client-secret", "SLACK_REFRESH_TOKEN=xoxe-1-canary-first")
	return x
}

// exchanges counts the exchanges of tokens that Slack has made.
func (x *slackWorld) exchanges() (n int) {
	for _, c := range x.Calls("oauth.v2.access") {
		if c.Error == "" {
			n++
		}
	}
	return n
}

// With token rotation a token works for twelve hours. It is exchanged, the new one is
// kept, and nobody notices: not when it ends early, nor at the next start.
func TestATokenThatRotatesIsExchanged(t *testing.T) {
	server := modeltest.StartScripted(t, slackScript)
	transports(t, func(t *testing.T, by transport) {
		x := newRotatingWorld(t, server, by)
		log := &lines{}
		x.options.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		x.start()
		first := x.Say(x.general, x.ann, x.at("is it raining?"))
		x.ends(earshot.TurnDone)
		x.wantSaid(first, "Noted.")
		if n := x.exchanges(); n != 1 {
			t.Errorf("%d exchanges at the start, want one", n)
		}
		x.ExpireToken()
		second := x.Say(x.general, x.bob, x.at("is it raining still?"))
		x.ends(earshot.TurnDone)
		x.wantSaid(second, "Noted.")
		if n := x.exchanges(); n != 2 {
			t.Errorf("%d exchanges after the token ended, want two", n)
		}
		x.stop()
		x.start() // with the kept token
		third := x.Say(x.general, x.bob, x.at("is it raining now?"))
		x.ends(earshot.TurnDone)
		x.wantSaid(third, "Noted.")
		if n := x.exchanges(); n != 2 {
			t.Errorf("%d exchanges after a start with a kept token, want two", n)
		}
		// A check uses the bot's tokens and leaves them to it.
		c, err := config.Load("", x.environ)
		if err != nil {
			t.Fatal(err)
		}
		if err := daemon.CheckSlack(t.Context(), daemon.Options{Config: c, Log: slog.New(slog.DiscardHandler)}, "", func(f daemon.Finding) {
			if f.What == "bot token" && f.State != daemon.Good {
				t.Errorf("the check says %+v", f)
			}
		}); err != nil {
			t.Error(err)
		}
		if n := x.exchanges(); n != 2 {
			t.Errorf("%d exchanges after a check, want two", n)
		}
		x.stop()
		stored := log.String()
		files, err := filepath.Glob(x.db + "*")
		if err != nil || len(files) == 0 {
			t.Fatalf("no store: %v", err)
		}
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			stored += string(bytes.ToValidUTF8(data, nil))
		}
		for _, shown := range []string{"canary", "xoxe-1-", "xoxb-simulated"} {
			if i := strings.Index(stored, shown); i >= 0 {
				t.Errorf("the store or the log shows %q", stored[max(0, i-80):min(len(stored), i+80)])
			}
		}
	})
}

// A refresh token that no longer works is told with the remedy.
func TestARefreshTokenThatEndedIsTold(t *testing.T) {
	t.Parallel()
	x := newRotatingWorld(t, "http://127.0.0.1:1", byHTTP)
	x.environ = append(x.environ, "SLACK_REFRESH_TOKEN=xoxe-1-of-nobody")
	c, err := config.Load("", x.environ)
	if err != nil {
		t.Fatal(err)
	}
	_, err = daemon.Open(t.Context(), daemon.Options{Config: c})
	if err == nil || !strings.Contains(err.Error(), "invalid_refresh_token: ") || !strings.Contains(err.Error(), "SLACK_REFRESH_TOKEN") || strings.Contains(err.Error(), "of-nobody") {
		t.Errorf("got %v, want the remedy and no token", err)
	}
}
