package daemon_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/simulate"
)

// outages are the ways in which Slack's API fails, each with a function that ends it.
var outages = map[string]func(x *slackWorld) (heal func()){
	"503": func(x *slackWorld) func() {
		x.Inject(simulate.Fault{Kind: simulate.ServerError, Status: http.StatusServiceUnavailable})
		return x.Heal
	},
	"service_unavailable": func(x *slackWorld) func() {
		x.Inject(simulate.Fault{Kind: simulate.APIError, Error: "service_unavailable"})
		return x.Heal
	},
	"it hangs": func(x *slackWorld) func() {
		x.Inject(simulate.Fault{Kind: simulate.HungResponse, On: "auth.test"}, simulate.Fault{Kind: simulate.ServerError})
		return x.Heal
	},
	"connection refused": refusing,
}

// refusing makes the API's address refuse connections until heal is called.
func refusing(x *slackWorld) func() {
	x.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		x.t.Fatal(err)
	}
	at := l.Addr().String()
	if err := l.Close(); err != nil {
		x.t.Fatal(err)
	}
	to, err := url.Parse(x.URL())
	if err != nil {
		x.t.Fatal(err)
	}
	x.environ = append(x.environ, "EARSHOT_SLACK_API_URL=http://"+at+"/api/")
	return func() {
		l, err := net.Listen("tcp", at)
		if err != nil {
			x.t.Fatal(err)
		}
		proxy := httputil.NewSingleHostReverseProxy(to)
		proxy.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // calls that the test's end cuts off
		srv := &http.Server{Handler: proxy, ReadHeaderTimeout: enough}
		go func() { _ = srv.Serve(l) }()
		x.t.Cleanup(func() { _ = srv.Close() })
	}
}

// TestSlackIsUnreachableAtTheStart: the daemon runs, stores events, and answers once
// Slack does, whether or not an earlier start has stored the bot's identity.
func TestSlackIsUnreachableAtTheStart(t *testing.T) {
	t.Parallel()
	server := modeltest.StartScripted(t, slackScript)
	for name, outage := range outages {
		for _, before := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", and it ran before"}[before], func(t *testing.T) {
				t.Parallel()
				x := newSlackWorld(t, server, byHTTP, nil)
				if before {
					x.start()
					x.stop()
				}
				heal := outage(x)
				x.options.Patience = 50 * time.Millisecond
				x.start()
				// Events do not wait for Slack: each is acknowledged.
				root := x.Say(x.general, x.ann, x.at("is it raining?"))
				x.settled()
				if lost := x.Undelivered(); len(lost) > 0 {
					t.Fatalf("not acknowledged: %s, %s", lost[0].Type, lost[0].Last)
				}
				if said := x.said(root); len(said) > 0 {
					t.Errorf("it said %q without knowing whether it may", said)
				}
				if _, err := x.daemon.Store.Message(t.Context(), x.scope(), earshot.MessageID(root)); (err == nil) != before {
					t.Errorf("the question is stored as a message: %v, want that only where it is known who the bot is", err)
				}
				status, body := x.get("/healthz", "")
				if status != http.StatusOK || !strings.HasPrefix(body, "ok\nslack: unreachable since ") {
					t.Errorf("healthz: %d %q, want 200 and since when Slack is unreachable", status, body)
				}
				if status, _ := x.get("/readyz", ""); status != http.StatusServiceUnavailable {
					t.Errorf("readyz: %d, want 503", status)
				}
				heal()
				x.ends(earshot.TurnDone)
				x.wantSaid(root, "Noted.")
				x.eventually("it is ready", func() bool { status, _ := x.get("/readyz", ""); return status == http.StatusOK })
				if n := len(x.said(root)); n != 1 {
					t.Errorf("%d answers, want one", n)
				}
			})
		}
	}
}

// scope is the channel general.
func (x *slackWorld) scope() earshot.Scope {
	return earshot.Scope{Platform: earshot.Slack, Workspace: earshot.WorkspaceID(x.Team().ID), Channel: earshot.ChannelID(x.general)}
}

// Events that a process stored before Slack answered are processed by the next
// process.
func TestStoredEventsOutliveTheProcess(t *testing.T) {
	t.Parallel()
	x := newSlackWorld(t, modeltest.StartScripted(t, slackScript), byHTTP, nil)
	x.options.Patience = 50 * time.Millisecond
	x.Inject(simulate.Fault{Kind: simulate.ServerError})
	x.start()
	root := x.Say(x.general, x.ann, x.at("is it raining?"))
	edited := x.Say(x.general, x.bob, "not yet")
	x.Edit(x.general, edited, "now it is")
	x.settled()
	x.stop()
	x.Heal()
	x.start()
	x.ends(earshot.TurnDone)
	x.wantSaid(root, "Noted.")
	m, err := x.daemon.Store.Message(t.Context(), x.scope(), earshot.MessageID(edited))
	if err != nil || m.Text != "now it is" {
		t.Errorf("the edited message is %q, %v", m.Text, err)
	}
	x.eventually("nothing is kept any more", func() bool {
		kept, err := x.daemon.Store.Notes(t.Context(), "slack/inbox/", 0)
		if err != nil {
			t.Fatal(err)
		}
		return len(kept) == 0
	})
}

// A question that is older than answer.fresh_minutes when Slack answers at last is
// stored and not answered.
func TestAQuestionThatWaitedTooLongForSlackIsNotAnswered(t *testing.T) {
	t.Parallel()
	past := time.Now().Add(-time.Hour)
	x := newSlackWorld(t, modeltest.StartScripted(t, slackScript), byHTTP, nil)
	x.options.Patience = 50 * time.Millisecond
	x.Inject(simulate.Fault{Kind: simulate.ServerError})
	x.start()
	root := x.Post(simulate.PostedMessage{Channel: x.general, User: x.ann, Text: x.at("is it raining?"), At: past})
	x.settled()
	x.Heal()
	x.ends(earshot.TurnDropped)
	if said := x.said(root); len(said) > 0 {
		t.Errorf("it said %q", said)
	}
}

// Socket Mode cannot start before Slack answers: messages of that time are read
// from history.
func TestSocketsOpenOnceSlackAnswers(t *testing.T) {
	t.Parallel()
	x := newSlackWorld(t, modeltest.StartScripted(t, slackScript), bySocket, nil)
	x.options.Patience = 50 * time.Millisecond
	x.down = true
	x.Inject(simulate.Fault{Kind: simulate.ServerError})
	x.start()
	x.Heal()
	x.eventually("a socket is up", func() bool { return x.Connections() > 0 })
	root := x.Say(x.general, x.ann, x.at("is it raining?"))
	x.ends(earshot.TurnDone)
	x.wantSaid(root, "Noted.")
}

// A token that Slack refuses is not an outage: the daemon ends with the remedy,
// at the start or when Slack answers later.
func TestARefusedTokenEndsTheStart(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"invalid_auth", "account_inactive", "token_revoked", "missing_scope", "not_allowed_token_type"} {
		for _, late := range []bool{false, true} {
			t.Run(code+map[bool]string{true: " after an outage"}[late], func(t *testing.T) {
				t.Parallel()
				x := newSlackWorld(t, "http://127.0.0.1:1", byHTTP, nil)
				c, err := config.Load("", x.environ)
				if err != nil {
					t.Fatal(err)
				}
				refuses := simulate.Fault{Kind: simulate.APIError, Error: code, On: "auth.test"}
				if late {
					x.Inject(simulate.Fault{Kind: simulate.ServerError, Times: 1})
				}
				x.Inject(refuses)
				ctx, cancel := context.WithTimeout(t.Context(), enough)
				defer cancel()
				o := daemon.Options{Config: c}
				if late {
					o.Patience = 50 * time.Millisecond
				}
				d, err := daemon.Open(ctx, o)
				if late {
					if err != nil {
						t.Fatal(err)
					}
					err = errors.Join(d.Run(ctx), d.Close())
				}
				if err == nil || !strings.Contains(err.Error(), "auth.test: "+code+": ") {
					t.Errorf("got %v, want why and what to do", err)
				}
			})
		}
	}
}

func TestHealthIsToldAsJSONToo(t *testing.T) {
	t.Parallel()
	x := newSlackWorld(t, "http://127.0.0.1:1", byHTTP, nil)
	x.options.Patience = 50 * time.Millisecond
	x.Inject(simulate.Fault{Kind: simulate.ServerError})
	x.start()
	status, body := x.get("/healthz", "application/json")
	var got struct {
		Store, Platform, State string
		Since                  time.Time
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil || status != http.StatusOK || got.Store != "ok" || got.Platform != "slack" || got.State != "unreachable" || got.Since.IsZero() {
		t.Errorf("got %d %s, %v", status, body, err)
	}
}
