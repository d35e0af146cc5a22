package slack_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/backfill"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/simulate"
	"github.com/earshot-ai/earshot/store"
)

// A script answers calls without a network, so that time can stand still.
type script struct {
	mu     sync.Mutex
	answer func(method string, n int) (status int, header http.Header, body string)
	err    error
	calls  []time.Time // of the method that is looked at
	method string
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	method := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	status, header, body := http.StatusOK, http.Header{}, `{"ok":true,"url":"https://acme.slack.com/","user":"earshot","user_id":"U0","team_id":"T1","bot_id":"B0","bot":{"app_id":"A0"}}`
	if method == s.method {
		s.calls = append(s.calls, time.Now())
		if s.err != nil {
			return nil, s.err
		}
		status, header, body = s.answer(method, len(s.calls))
	}
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// opened is a platform whose calls of one method are answered by a script.
func opened(t *testing.T, s *script, o slack.Options) *slack.Platform {
	t.Helper()
	if o.Store == nil {
		o.Store = memory(t)
	}
	o.APIURL, o.BotToken, o.HTTPClient = "https://slack.test/api/", secret.New("xoxb-canary-1"), &http.Client{Transport: s}
	p, err := slack.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// memory opens a store in memory.
func memory(t *testing.T) earshot.Store {
	t.Helper()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return st
}

var (
	window = backfill.Window{Oldest: 1, Latest: 1 << 50, Limit: 100}
	random = earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "C1", Kind: earshot.KindChannel}
)

const empty = `{"ok":true,"messages":[]}`

func ok(string, int) (int, http.Header, string) { return http.StatusOK, nil, empty }

func TestARateIsKept(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		tier string
		want time.Duration // from the first of 60 calls to the last, at least
	}{
		"40 a minute after a burst, for apps of one's own": {slack.Internal, 49 * 60 * time.Second / 40},
		"one a minute for those that are sold":             {slack.Distributed, 59 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{method: "conversations.history", answer: ok}
				p := opened(t, s, slack.Options{Tier: tt.tier})
				for range 60 {
					if _, err := p.History(t.Context(), random, window); err != nil {
						t.Fatal(err)
					}
				}
				if got := s.calls[59].Sub(s.calls[0]); got < tt.want || got > tt.want*11/10 {
					t.Errorf("60 calls took %s, want %s", got, tt.want)
				}
			})
		})
	}
}

func TestALimitThatATurnCannotWaitForIsAnError(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		overflow string
		patience time.Duration
	}{
		"for want of time":               {slack.Queue, 3 * time.Second},
		"because the setting is degrade": {slack.Degrade, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{method: "conversations.history", answer: ok}
				p := opened(t, s, slack.Options{Tier: slack.Distributed, Overflow: tt.overflow})
				ctx, cancel := context.WithTimeout(t.Context(), tt.patience)
				defer cancel()
				if _, err := p.History(ctx, random, window); err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				_, err := p.History(ctx, random, window)
				var limited *backfill.LimitError
				if !errors.As(err, &limited) || limited.Wait < 50*time.Second || limited.Wait > time.Minute {
					t.Errorf("got %v, want a LimitError of about a minute", err)
				}
				if waited := time.Since(began); waited > 0 {
					t.Errorf("it waited %s for what it could not have", waited)
				}
				if len(s.calls) != 1 {
					t.Errorf("%d calls, want 1", len(s.calls))
				}
			})
		})
	}
}

func TestA429IsWaitedOutInFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{method: "conversations.history", answer: func(_ string, n int) (int, http.Header, string) {
			if n == 1 {
				return http.StatusTooManyRequests, http.Header{"Retry-After": {"30"}}, ""
			}
			return http.StatusOK, nil, empty
		}}
		p := opened(t, s, slack.Options{})
		if _, err := p.History(t.Context(), random, window); err != nil {
			t.Fatal(err)
		}
		if got := s.calls[1].Sub(s.calls[0]); got < 30*time.Second || got > 36*time.Second {
			t.Errorf("again after %s, want 30 s and a little", got)
		}
		want := earshot.CallCount{Platform: earshot.Slack, Method: "conversations.history", Calls: 2, Limited: 1, Waits: 1}
		for _, c := range p.Calls() {
			if c.Method == want.Method {
				want.Waited = c.Waited
				if diff := cmp.Diff(want, c); diff != "" || c.Waited < 30*time.Second {
					t.Errorf("counted %+v (-want +got):\n%s", c, diff)
				}
			}
		}
	})
}

func TestABrokenServerIsAskedAgainAFewTimes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status int
		body   string
		calls  int
	}{
		"500":                              {http.StatusInternalServerError, "<html>", 3},
		"an error of Slack's own":          {http.StatusOK, `{"ok":false,"error":"internal_error"}`, 3},
		"what is no JSON":                  {http.StatusOK, `<html>`, 3},
		"a refusal is final":               {http.StatusOK, `{"ok":false,"error":"channel_not_found"}`, 1},
		"a redirect is not followed":       {http.StatusFound, ``, 1},
		"404 is no server that gets well":  {http.StatusNotFound, ``, 1},
		"a page without messages is wrong": {http.StatusOK, `{"ok":true}`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{method: "conversations.history", answer: func(string, int) (int, http.Header, string) {
					return tt.status, http.Header{"Location": {"https://evil.test/"}}, tt.body
				}}
				p := opened(t, s, slack.Options{})
				if _, err := p.History(t.Context(), random, window); err == nil {
					t.Error("no error")
				}
				if len(s.calls) != tt.calls {
					t.Errorf("%d calls, want %d", len(s.calls), tt.calls)
				}
			})
		})
	}
}

// Whatever a server or the network answers, neither the tokens nor where calls
// go are told to anybody.
func TestNoErrorAndNoLogShowsAToken(t *testing.T) {
	t.Parallel()
	const token = "xoxb-canary-1"
	for name, s := range map[string]*script{
		"an error that repeats it": {answer: func(string, int) (int, http.Header, string) {
			return 200, nil, `{"ok":false,"error":"bad ` + token + `"}`
		}},
		"a scope that repeats it": {answer: func(string, int) (int, http.Header, string) {
			return 200, nil, `{"ok":false,"error":"missing_scope","needed":"` + token + `","provided":"` + token + `"}`
		}},
		"a page that repeats it": {answer: func(string, int) (int, http.Header, string) { return 502, nil, token }},
		"a message that repeats it": {answer: func(string, int) (int, http.Header, string) {
			return 200, nil, `{"ok":true,"messages":[{"text":"` + token + `"},"` + token + `"]}`
		}},
		"the network":                  {err: &url.Error{Op: "Post", URL: "https://slack.test/api/?token=" + token, Err: fmt.Errorf("refused %s", token)}},
		"a 429 with what is no number": {answer: func(string, int) (int, http.Header, string) { return 429, http.Header{"Retry-After": {token}}, token }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s.method = "conversations.history"
				log := &logged{}
				p := opened(t, s, slack.Options{Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				page, err := p.History(ctx, random, window)
				hides(t, fmt.Sprintf("%v %+v", err, err), token, "slack.test")
				hides(t, log.String(), token, "slack.test")
				hides(t, fmt.Sprintf("%+v %+v", p, p.Calls()), token)
				if err == nil && len(page.Messages) > 0 {
					t.Errorf("it was read: %+v", page)
				}
			})
		})
	}
}

func TestOpeningSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		arrange func(*simulate.Slack, *slack.Options)
		want    string
	}{
		"without a token":          {func(_ *simulate.Slack, o *slack.Options) { o.BotToken = secret.Secret{} }, "SLACK_BOT_TOKEN"},
		"with a wrong token":       {func(_ *simulate.Slack, o *slack.Options) { o.BotToken = secret.New("xoxb-wrong") }, "invalid_auth: the bot token (SLACK_BOT_TOKEN, xoxb-…) is not valid"},
		"with a strange tier":      {func(_ *simulate.Slack, o *slack.Options) { o.Tier = "gold" }, `tier "gold" is none of internal, distributed`},
		"with a strange URL":       {func(_ *simulate.Slack, o *slack.Options) { o.APIURL = "slack.com" }, "https://host/api/"},
		"after it was uninstalled": {func(s *simulate.Slack, _ *slack.Options) { s.Uninstall() }, "SLACK_BOT_TOKEN"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := listenTo(t)
			o := slack.Options{APIURL: x.slack.URL() + "/api/", BotToken: x.botToken(), Store: x.store}
			tt.arrange(x.slack, &o)
			_, err := slack.Open(t.Context(), o)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want it to say %q", err, tt.want)
			}
			hides(t, fmt.Sprint(err), "xoxb-wrong", x.slack.App().BotToken)
		})
	}
}

// It may lack what tells its app: then it goes by two ids in place of three.
func TestABotWithoutUsersReadCanStart(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	x.slack.Grant("chat:write")
	p, err := slack.Open(t.Context(), slack.Options{APIURL: x.slack.URL() + "/api/", BotToken: x.botToken(), Store: x.store})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]earshot.AuthorID{earshot.AuthorID(x.slack.App().BotID)}, p.Identity().Aliases); diff != "" {
		t.Errorf("aliases (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"chat:write"}, p.Scopes()); diff != "" {
		t.Errorf("scopes (-want +got):\n%s", diff)
	}
}

func TestTheBotKnowsWhoItIs(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	app := x.slack.App()
	want := earshot.Identity{ID: earshot.AuthorID(app.UserID), Name: app.Name, Aliases: []earshot.AuthorID{earshot.AuthorID(app.BotID), earshot.AuthorID(app.ID)}}
	if diff := cmp.Diff(want, x.platform.Identity()); diff != "" {
		t.Errorf("identity (-want +got):\n%s", diff)
	}
	if got := x.platform.Workspace(); string(got) != x.slack.Team().ID {
		t.Errorf("workspace: got %s, want %s", got, x.slack.Team().ID)
	}
	stored, err := x.store.Authors(t.Context(), earshot.Slack, x.platform.Workspace())
	if diff := cmp.Diff([]earshot.Author{{ID: want.ID, Name: want.Name, Kind: earshot.Bot}}, stored); err != nil || diff != "" {
		t.Errorf("stored (-want +got), error %v:\n%s", err, diff)
	}
}
