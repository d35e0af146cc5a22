package daemon_test

import (
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/simulate"
)

// A token that ends while the daemon runs is a state of the platform: it says so, with
// the remedy, questions wait, and all goes on by itself once the token works again.
func TestATokenThatEndsWhileItRunsIsWaitedFor(t *testing.T) {
	t.Parallel()
	server := modeltest.StartScripted(t, slackScript)
	for _, c := range []struct {
		code  string
		end   func(*simulate.Slack)
		again func(*slackWorld) // makes a token work
	}{
		{"token_expired", (*simulate.Slack).ExpireToken, func(x *slackWorld) { x.RestoreToken() }},
		{"token_revoked", (*simulate.Slack).RevokeToken, func(x *slackWorld) { x.RestoreToken() }},
		{"token_revoked", (*simulate.Slack).RevokeToken, func(x *slackWorld) {
			x.stop()
			x.environ = append(x.environ, "SLACK_BOT_TOKEN="+x.RotateToken())
			x.start()
		}},
		{"invalid_auth", func(s *simulate.Slack) {
			s.Inject(simulate.Fault{Kind: simulate.APIError, Error: "invalid_auth"})
		}, func(x *slackWorld) { x.Heal() }},
	} {
		t.Run(c.code, func(t *testing.T) {
			transports(t, func(t *testing.T, by transport) {
				log := &lines{}
				x := newSlackWorld(t, server, by, nil, "EARSHOT_HEALTH=127.0.0.1:0")
				x.options.Log = slog.New(slog.NewTextHandler(log, nil))
				x.start()
				first := x.Say(x.general, x.ann, x.at("is it raining?"))
				x.ends(earshot.TurnDone)
				x.wantSaid(first, "Noted.")
				c.end(x.Slack)
				second := x.Say(x.general, x.bob, x.at("is it raining still?"))
				x.eventually("it says why it cannot answer", func() bool {
					status, body := x.healthPage("/readyz")
					return status == http.StatusServiceUnavailable && strings.Contains(body, "slack: signed out since ") &&
						strings.Contains(body, c.code+": the bot token (SLACK_BOT_TOKEN, xoxb-…)")
				})
				if status, body := x.healthPage("/healthz"); status != http.StatusOK {
					t.Errorf("healthz: %d %s, want 200: a restart is no remedy", status, body)
				}
				if _, body := x.healthPage("/metrics"); !strings.Contains(body, "\nearshot_platform_signed_out 1\n") || !strings.Contains(body, "\nearshot_platform_up 0\n") {
					t.Errorf("no metric tells of it")
				}
				x.eventually("the log says it", func() bool { return strings.Contains(log.String(), "refuses the token") })
				if n := strings.Count(log.String(), "refuses the token"); n > 1 {
					t.Errorf("the log says it %d times within a minute", n)
				}
				c.again(x)
				r := x.ends(earshot.TurnDone)
				if r.Turn.Ends > 0 {
					t.Errorf("a refusal counts as %d deaths", r.Turn.Ends)
				}
				x.wantSaid(second, "Noted.")
				if said := x.said(second); len(said) != 1 {
					t.Errorf("it said %q, want one answer and no apology", said)
				}
				x.eventually("it is ready", func() bool { status, _ := x.healthPage("/readyz"); return status == http.StatusOK })
				if _, body := x.healthPage("/metrics"); !strings.Contains(body, "\nearshot_platform_signed_out 0\n") {
					t.Errorf("the metric still tells of it")
				}
			})
		})
	}
}

// healthPage requests a page of the daemon's probes.
func (x *botWorld) healthPage(path string) (status int, body string) {
	x.t.Helper()
	w, err := http.Get("http://" + x.daemon.Health + path)
	if err != nil {
		x.t.Fatal(err)
	}
	defer w.Body.Close()
	raw, err := io.ReadAll(w.Body)
	if err != nil {
		x.t.Fatal(err)
	}
	return w.StatusCode, string(raw)
}

// Discord's is the same, by 401 of its API: the token is another, and then the old one
// works again.
func TestADiscordTokenThatEndsWhileItRunsIsWaitedFor(t *testing.T) {
	t.Parallel()
	x := newDiscordWorld(t, modeltest.StartScripted(t, discordScript()), nil, "EARSHOT_HEALTH=127.0.0.1:0")
	x.start()
	token := x.App().Token
	x.RotateToken("another.token.of-a-simulated-discord")
	x.Say(x.general, x.ann, x.at("is it raining?"))
	x.eventually("it says why it cannot answer", func() bool {
		status, body := x.healthPage("/readyz")
		return status == http.StatusServiceUnavailable && strings.Contains(body, "discord: signed out since ") && strings.Contains(body, "check DISCORD_BOT_TOKEN")
	})
	x.RotateToken(token)
	x.ends(earshot.TurnDone)
	x.wantSaid(x.general, "Noted.")
	x.eventually("it is ready", func() bool { status, _ := x.healthPage("/readyz"); return status == http.StatusOK })
}
