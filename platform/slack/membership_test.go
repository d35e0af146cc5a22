package slack_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/counted"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/simulate"
)

// A clock is set by a test: so much later than it is.
type clock struct{ later atomic.Int64 }

func (c *clock) now() time.Time           { return time.Now().Add(time.Duration(c.later.Load())) }
func (c *clock) forward(by time.Duration) { c.later.Add(int64(by)) }

// A leaver is an inbox whose clock is set, and what it was told to have left.
type leaver struct {
	*inbox
	clock *clock
	left  chan earshot.Scope
	ts    string // of what was said in general
}

// leaving makes one, in whose channel something was said.
func leaving(t *testing.T, settings ...setting) *leaver {
	t.Helper()
	x := &leaver{clock: &clock{}, left: make(chan earshot.Scope, 10)}
	x.inbox = listenTo(t, append(settings, func(_ *simulate.SlackOptions, o *slack.Options) {
		o.Now = x.clock.now
		o.Left = func(_ context.Context, s earshot.Scope) error { x.left <- s; return nil }
	})...)
	x.ts = x.slack.Say(x.general, x.mara, "<@"+x.me+"> remember this")
	x.settle()
	return x
}

// confirm has Slack asked again where the bot seems to be gone.
func (x *leaver) confirm() {
	x.Helper()
	if err := x.platform.Confirm(x.Context()); err != nil {
		x.Fatal(err)
	}
}

// refused is confirm while Slack gives no answer that counts: it ends when Confirm gives
// up, or once Slack is asked for the second time, which shows that the first answer was
// taken for none.
func (x *leaver) refused() {
	x.Helper()
	ctx, stop := context.WithCancel(x.Context())
	defer stop()
	asked := func() (n int) {
		for _, c := range x.slack.Calls() {
			if c.Method == "conversations.info" {
				n++
			}
		}
		return n
	}
	before, ended := asked(), make(chan error, 1)
	go func() { ended <- x.platform.Confirm(ctx) }()
	for {
		select {
		case err := <-ended:
			if err != nil && !errors.Is(err, context.Canceled) {
				x.Fatal(err)
			}
			if asked() == before {
				x.Fatal("slack was not asked")
			}
			return
		case <-time.After(time.Millisecond):
			if asked() > before+1 {
				stop()
			}
		}
	}
}

// wantKept checks whether what was said is still stored.
func (x *leaver) wantKept(when string, want bool) {
	x.Helper()
	_, err := x.store.Message(x.Context(), x.scope(x.general), earshot.MessageID(x.ts))
	if kept := err == nil; kept != want || err != nil && !errors.Is(err, earshot.ErrNotFound) {
		x.Errorf("%s: kept: got %v, want %v (%v)", when, kept, want, err)
	}
}

func TestLeavingAChannelKeepsWhatWasHeard(t *testing.T) {
	t.Parallel()
	x := leaving(t)
	x.slack.Kick(x.general, x.me, x.mara)
	x.settle()
	x.clock.forward(time.Hour)
	x.confirm()
	x.wantKept("after an hour", true)
	if got := <-x.left; got != x.scope(x.general) {
		t.Errorf("told to have left %v", got)
	}
}

func TestLeavingAChannelErasesItOnceSlackHasSaidItTwice(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]simulate.Kind{"a public channel": simulate.Public, "a private channel": simulate.Private} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := leaving(t, purging)
			if kind == simulate.Private {
				x.general = x.slack.AddChannel(simulate.Channel{Name: "secret", Kind: kind, Members: []string{x.me, x.mara}})
				x.ts = x.slack.Say(x.general, x.mara, "remember this too")
				x.settle()
			}
			x.slack.Kick(x.general, x.me, x.mara)
			x.settle()
			x.wantKept("said once", true)
			if got := <-x.left; got != x.scope(x.general) {
				t.Errorf("told to have left %v", got)
			}
			x.clock.forward(30 * time.Second)
			x.confirm()
			x.wantKept("too soon for a second time", true)
			x.clock.forward(time.Minute)
			x.confirm()
			x.wantKept("said twice", false)
			x.slack.ForgetCalls()
			x.clock.forward(time.Hour)
			x.confirm()
			if got := x.called(); len(got) > 0 {
				t.Errorf("calls about what is erased: %v", got)
			}
		})
	}
}

// What Slack said once is remembered by the store, and not by the process.
func TestASecondProcessErasesWhatTheFirstHasLeft(t *testing.T) {
	t.Parallel()
	x := leaving(t, purging)
	x.slack.Kick(x.general, x.me, x.mara)
	x.settle()
	x.clock.forward(2 * time.Minute)
	var err error
	x.platform, err = slack.Open(t.Context(), slack.Options{APIURL: x.slack.URL() + "/api/", BotToken: x.botToken(), Store: x.store, Purge: true, Now: x.clock.now})
	if err != nil {
		t.Fatal(err)
	}
	x.confirm()
	x.wantKept("asked by another process", false)
}

func TestNothingIsErasedWhereTheBotIsThereOnceAgain(t *testing.T) {
	t.Parallel()
	t.Run("before the event comes", func(t *testing.T) {
		t.Parallel()
		x := leaving(t, purging)
		x.slack.Inject(simulate.Fault{Kind: simulate.SwapEvent, On: "channel_left"})
		x.slack.Kick(x.general, x.me, x.mara)
		x.slack.Join(x.general, x.me)
		x.settle()
		x.clock.forward(2 * time.Minute)
		x.confirm()
		x.wantKept("it was back by then", true)
	})
	t.Run("between the two questions", func(t *testing.T) {
		t.Parallel()
		x := leaving(t, purging)
		x.slack.Kick(x.general, x.me, x.mara)
		x.settle()
		x.slack.Join(x.general, x.me)
		x.settle()
		x.clock.forward(2 * time.Minute)
		x.confirm()
		x.wantKept("it was invited back", true)
		x.slack.Inject(simulate.Fault{Kind: simulate.APIError, Error: "channel_not_found", On: "conversations.info"})
		x.confirm()
		x.wantKept("an answer to no question", true)
	})
	t.Run("and its invitation was not heard of", func(t *testing.T) {
		t.Parallel()
		x := leaving(t, purging)
		x.slack.Kick(x.general, x.me, x.mara)
		x.settle()
		x.slack.Inject(simulate.Fault{Kind: simulate.DropEvent})
		x.slack.Join(x.general, x.me)
		x.clock.forward(2 * time.Minute)
		x.confirm()
		x.wantKept("Slack says that it is there", true)
	})
}

// A refusal of the question is not the answer no: neither for the first time nor
// for the second.
func TestARefusalIsNotHavingLeft(t *testing.T) {
	t.Parallel()
	for _, f := range []simulate.Fault{
		{Kind: simulate.APIError, Error: "missing_scope"},
		{Kind: simulate.APIError, Error: "team_access_not_granted"},
		{Kind: simulate.APIError, Error: "enterprise_is_restricted"},
		{Kind: simulate.APIError, Error: "access_denied"},
		{Kind: simulate.APIError, Error: "org_login_required"},
		{Kind: simulate.APIError, Error: "invalid_auth"},
		{Kind: simulate.APIError, Error: "account_inactive"},
		{Kind: simulate.APIError, Error: "token_revoked"},
		{Kind: simulate.APIError, Error: "no_permission"},
		{Kind: simulate.APIError, Error: "ratelimited"},
		{Kind: simulate.APIError, Error: "a_code_of_tomorrow"},
		{Kind: simulate.ServerError, Status: http.StatusServiceUnavailable},
		{Kind: simulate.ServerError, Status: http.StatusNotFound},
		{Kind: simulate.LostRequest},
		{Kind: simulate.BadJSON},
	} {
		name := string(f.Kind) + f.Error
		if f.Status != 0 {
			name += http.StatusText(f.Status)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := leaving(t, purging)
			f.On = "conversations.info"
			// The event and both later questions meet it: nothing was said yet.
			x.slack.Inject(f)
			x.slack.Kick(x.general, x.me, x.mara)
			x.settle()
			for range 3 {
				x.clock.forward(time.Hour)
				x.refused()
				x.wantKept("refused", true)
			}
			// Said for the first time, refused, then said for the second.
			x.slack.Heal()
			x.clock.forward(time.Hour)
			x.confirm()
			x.wantKept("said once", true)
			x.slack.Inject(f)
			x.clock.forward(time.Hour)
			x.refused()
			x.wantKept("said once, then refused", true)
			x.slack.Heal()
			x.clock.forward(time.Hour)
			x.confirm()
			x.wantKept("said twice", false)
		})
	}
}

func TestRemovingTheAppErasesTheWorkspaceWhereThatIsWanted(t *testing.T) {
	t.Parallel()
	var st *counted.Store
	x := leaving(t, purging, func(_ *simulate.SlackOptions, o *slack.Options) {
		st = counted.Crowd(t, o.Store.(earshot.Store), 400) // of other workspaces
		o.Store = st
	})
	other := x.slack.AddChannel(simulate.Channel{Name: "other", Members: []string{x.me, x.mara}})
	x.slack.Say(other, x.mara, "two")
	x.settle()
	elsewhere := earshot.Channel{Platform: earshot.Slack, Workspace: "T2", ID: "C1", Name: "theirs", Kind: earshot.KindChannel}
	if err := x.store.PutChannel(t.Context(), elsewhere); err != nil {
		t.Fatal(err)
	}
	x.slack.Uninstall()
	x.settle()
	x.wantKept("said once", true)
	x.clock.forward(2 * time.Minute)
	st.Reset(nil)
	x.confirm()
	counted.CallBound{Calls: 40, Rows: 40}.Check(t, st, "an uninstall")
	list, err := x.store.Channels(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		if c.Workspace != "T2" && c.Messages > 0 {
			t.Errorf("%s is still there, with %d messages", c.Name, c.Messages)
		}
	}
	if !slices.ContainsFunc(list, func(c earshot.ChannelInfo) bool { return c.Channel == elsewhere }) {
		t.Error("another workspace's channel is gone")
	}
}

// The start that ends because the app is gone is the second time that Slack
// says so.
func TestAStartWithoutTheAppErasesWhatWasToBeErased(t *testing.T) {
	t.Parallel()
	x := leaving(t, purging)
	x.slack.Uninstall()
	x.settle()
	x.clock.forward(2 * time.Minute)
	_, err := slack.Open(t.Context(), slack.Options{APIURL: x.slack.URL() + "/api/", BotToken: x.botToken(), Store: x.store, Purge: true, Now: x.clock.now})
	if err == nil {
		t.Error("it starts without the app")
	}
	x.wantKept("said twice", false)
}

// Of a token only what says that the app is gone counts.
func TestARefusedTokenIsNotARemovedApp(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"invalid_auth", "token_expired", "org_login_required", "team_access_not_granted", "missing_scope", "not_authed"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			x := leaving(t, purging)
			x.slack.Inject(simulate.Fault{Kind: simulate.APIError, Error: code, On: "auth.test"})
			if status := x.send(`{"type":"event_callback","event_id":"Ev1","team_id":"` + x.slack.Team().ID + `","event":{"type":"app_uninstalled"}}`); status != http.StatusOK {
				t.Errorf("got status %d, want 200", status)
			}
			for range 3 {
				x.clock.forward(time.Hour)
				x.confirm()
			}
			x.wantKept("refused", true)
		})
	}
}
