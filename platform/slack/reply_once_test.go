package slack_test

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/simulate"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/tokens"
)

// TestOneReplyEachWhateverIsLost asks a bot questions on a fake Slack that loses
// the answers to what is posted. Each question gets one visible reply, or its
// turn is parked and listed, which the channel is told once.
func TestOneReplyEachWhateverIsLost(t *testing.T) {
	t.Parallel()
	const certain, often, seldom = 0, 0.3, 0.1
	lost := func(kind simulate.FaultKind, on string, chance float64) simulate.Fault {
		return simulate.Fault{Kind: kind, On: on, Chance: chance}
	}
	for _, c := range []struct {
		name      string
		questions int
		reply     string
		faults    []simulate.Fault
		may, must bool          // some be parked
		post      time.Duration // for how long an answer waits; 0: however long
	}{
		{
			name: "every answer to a post", questions: 1000, reply: slack.ReplyPost,
			faults: []simulate.Fault{lost(simulate.LostResponse, "chat.postMessage", certain)},
		},
		{
			name: "every answer to a placeholder, and some to its update", questions: 1000, reply: slack.ReplyUpdate,
			faults: []simulate.Fault{
				lost(simulate.LostResponse, "chat.postMessage", certain),
				lost(simulate.LostResponse, "chat.update", often), lost(simulate.LostRequest, "chat.update", seldom),
			},
		},
		{
			name: "requests and answers, of posts and looks", questions: 300, reply: slack.ReplyPost, may: true,
			faults: []simulate.Fault{
				lost(simulate.LostResponse, "chat.postMessage", often), lost(simulate.LostRequest, "chat.postMessage", often),
				lost(simulate.FailedLate, "chat.postMessage", seldom), lost(simulate.BadJSON, "chat.postMessage", seldom),
				lost(simulate.ServerError, "chat.postMessage", seldom), lost(simulate.ServerError, "conversations.replies", seldom),
			},
		},
		{
			name: "posts, with events dropped and no way to look", questions: 100, reply: slack.ReplyPost, may: true, must: true, post: 2 * time.Second,
			faults: []simulate.Fault{
				lost(simulate.LostResponse, "chat.postMessage", often), lost(simulate.DropEvent, "message", often),
				{Kind: simulate.APIError, Error: "missing_scope", On: "conversations.*"},
			},
		},
		{
			name: "starts and ends of streams", questions: 100, reply: slack.ReplyStream,
			faults: []simulate.Fault{
				lost(simulate.LostResponse, "chat.startStream", often), lost(simulate.LostRequest, "chat.startStream", seldom),
				lost(simulate.LostResponse, "chat.stopStream", often), lost(simulate.LostRequest, "chat.stopStream", seldom),
				lost(simulate.LostResponse, "chat.appendStream", often), lost(simulate.LostResponse, "chat.update", often),
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if raceEnabled { // the race detector needs concurrent questions, not many
				c.questions = min(c.questions, 80)
			}
			x := newAsked(t, c.reply, cmp.Or(c.post, time.Hour), llmtest.New(repeat(5*c.questions, llmtest.Say("It is so because **that** is how it was done before."))...))
			x.slack.Inject(c.faults...)
			x.ask(t, c.questions)
			if parked := x.check(t); parked > 0 && !c.may || parked == 0 && c.must {
				t.Errorf("%d turns are parked", parked)
			}
		})
	}
}

// An asked is a bot on a fake Slack.
type asked struct {
	slack     *simulate.Slack
	store     earshot.Store
	mara      string
	channels  []string
	questions map[earshot.MessageID]string // the channel of each

	reports chan bot.Report
}

// newAsked makes one. Each look at the platform's clock takes ten seconds, so that
// nothing waits for a rate.
func newAsked(t *testing.T, reply string, post time.Duration, model llm.Model) *asked {
	t.Helper()
	var looks atomic.Int64
	began := time.Now().Add(-24 * time.Hour)
	clock := func() time.Time { return began.Add(time.Duration(looks.Add(1)) * 10 * time.Second) }
	s, err := simulate.NewSlack(&simulate.SlackOptions{Tier: simulate.TierUnlimited, SocketMode: true, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	x := &asked{slack: s, store: st, mara: s.AddUser(simulate.User{Name: "mara"}), questions: map[earshot.MessageID]string{}, reports: make(chan bot.Report, 2000)}
	for i := range 50 {
		x.channels = append(x.channels, s.AddChannel(simulate.Channel{Name: fmt.Sprintf("room-%d", i), Members: []string{x.mara, s.App().UserID}}))
	}
	connected := make(chan struct{})
	up := sync.OnceFunc(func() { close(connected) })
	p, err := slack.Open(t.Context(), slack.Options{
		APIURL: s.URL() + "/api/", BotToken: secret.New(s.App().BotToken), AppToken: secret.New(s.App().AppToken),
		Store: st, Reply: reply, Now: clock, Missed: func(time.Time, time.Time) { up() },
	})
	if err != nil {
		t.Fatal(err)
	}
	counter, err := tokens.For("o200k")
	if err != nil {
		t.Fatal(err)
	}
	o := bot.Options{
		Store: st, Platform: p, Identity: p.Identity(), Counter: counter, Model: model,
		Limits: bot.Limits{
			Fresh: 100 * time.Hour, Patience: 2 * time.Second, Post: post, Look: 5 * time.Millisecond, Poll: 20 * time.Millisecond, Backoff: 5 * time.Millisecond,
			Parallel: 32, Tries: 30,
		},
		Done: func(r bot.Report) { x.reports <- r },
	}
	if reply != slack.ReplyPost {
		o.Placeholder = "…"
	}
	b := bot.New(o)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for _, run := range []func() error{
		func() error { return b.Run(ctx) },
		func() error { return p.Listen(ctx, b.Handle) },
	} {
		running.Go(func() {
			if err := run(); err != nil && ctx.Err() == nil {
				t.Errorf("run: %v", err)
			}
		})
	}
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	<-connected
	return x
}

// ask asks questions, and waits until each turn has ended.
func (x *asked) ask(t *testing.T, n int) {
	t.Helper()
	for i := range n {
		c := x.channels[i%len(x.channels)]
		id := x.slack.Say(c, x.mara, fmt.Sprintf("<@%s> question %d?", x.slack.App().UserID, i))
		x.questions[earshot.MessageID(id)] = c
	}
	for range n {
		<-x.reports
	}
}

// check checks what people see of each question's answer, and returns how many
// turns are parked.
func (x *asked) check(t *testing.T) (parked int) {
	t.Helper()
	turns, err := x.store.QueuedTurns(t.Context(), earshot.TurnQuery{Limit: len(x.questions) + 1})
	if err != nil {
		t.Fatal(err)
	}
	state := map[earshot.MessageID]earshot.QueuedTurn{}
	for _, q := range turns {
		state[q.Anchor] = q
	}
	for id, c := range x.questions {
		replies, notices := 0, 0
		for _, m := range x.slack.Thread(c, string(id)) {
			if strings.HasPrefix(m.Text, "I answered, but could not find out") {
				notices++
			} else if m.TS != string(id) {
				replies++
				if m.Streaming || m.Text == "…" {
					t.Errorf("question %s: people see %+v", id, m)
				}
			}
		}
		switch q := state[id]; {
		case replies > 1:
			t.Errorf("question %s has %d replies", id, replies)
		case notices > 1 || notices == 1 && q.State != earshot.TurnParked:
			t.Errorf("question %s is %s and has %d notices", id, q.State, notices)
		case q.State == earshot.TurnParked:
			parked++
		case q.State != earshot.TurnDone || replies != 1:
			t.Errorf("question %s is %s (%s) and has %d replies", id, q.State, q.Why, replies)
		}
	}
	inThreads := 0
	for id, c := range x.questions {
		inThreads += len(x.slack.Thread(c, string(id))) - 1
	}
	if all := len(x.slack.Posts()); all != inThreads {
		t.Errorf("%d posts stand elsewhere than in a question's thread", all-inThreads)
	}
	return parked
}
