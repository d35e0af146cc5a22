package slack_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/simulate"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/tokens"
)

// direct calls a server without a network.
type direct struct{ handler http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	d.handler.ServeHTTP(w, r)
	return w.Result(), nil
}

// A talker is a model that says ten words a second.
type talker struct{ takes time.Duration }

func (m talker) Generate(ctx context.Context, _ llm.Request, show func(llm.Event)) (llm.Response, error) {
	var said strings.Builder
	for i := range int(m.takes / (100 * time.Millisecond)) {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return llm.Response{}, context.Cause(ctx)
		}
		word := fmt.Sprintf("word%d ", i)
		said.WriteString(word)
		if show != nil {
			show(llm.Event{Text: word})
		}
	}
	return llm.Response{Parts: []llm.Part{llm.Text(said.String())}, Stop: llm.StopEnd}, nil
}

// A crowd asks a bot on a fake Slack with Slack's limits.
type crowd struct {
	reply     string
	takes     time.Duration // the model, for one answer
	questions int
	every     time.Duration // between two questions
	channels  int
	limits    bot.Limits
	replicas  int // that share their rates; 0: one that is alone
}

// What came of a crowd's questions.
type served struct {
	all     time.Duration   // from the first question to the last answer
	waits   []time.Duration // of each question, in the order of the answers
	calls   map[string]int  // by method
	refused int             // calls that the fake Slack answered by 429
	updates []simulate.Call
	at      []time.Duration // of each answer, from the first question

	placeholders int
}

// serve asks the questions, and waits until all are answered. Time is that of
// a bubble.
func (c crowd) serve(t *testing.T) (out served) {
	t.Helper()
	s, err := simulate.NewSlack(nil) // its socket must not be the bubble's
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	synctest.Test(t, func(t *testing.T) { out = c.within(t, s) })
	return out
}

func (c crowd) within(t *testing.T, s *simulate.Slack) served {
	t.Helper()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	ended := make(chan bot.Report, c.questions)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer func() {
		cancel()
		running.Wait()
		time.Sleep(time.Minute) // until no status line is shown
	}()
	var bots []*bot.Bot
	var p *slack.Platform
	for range max(c.replicas, 1) {
		var b *bot.Bot
		b, p = c.open(t, s, st, func(r bot.Report) { ended <- r })
		bots = append(bots, b)
		running.Go(func() {
			if err := b.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	mara := s.AddUser(simulate.User{Name: "mara"})
	var rooms []string
	for i := range c.channels {
		rooms = append(rooms, s.AddChannel(simulate.Channel{Name: fmt.Sprint("room-", i), Members: []string{mara, s.App().UserID}}))
	}
	s.ForgetCalls()
	began := time.Now()
	go func() {
		for i := range c.questions {
			c.ask(t, s, bots[i%len(bots)], p, rooms[i%len(rooms)], mara)
			time.Sleep(c.every)
		}
	}()
	out := served{calls: map[string]int{}}
	for range c.questions {
		r := <-ended
		if r.Turn.State != earshot.TurnDone {
			t.Errorf("a turn is %s: %s", r.Turn.State, r.Turn.Why)
		}
		out.at = append(out.at, time.Since(began))
		out.waits = append(out.waits, time.Duration(earshot.TimeOf(time.Now())-r.Turn.Opened)*time.Microsecond)
	}
	out.all = time.Since(began)
	out.updates = s.Calls("chat.update")
	for _, call := range s.Calls() {
		out.calls[call.Method]++
		if call.Method == "chat.postMessage" && call.Args["text"] == "…" {
			out.placeholders++
		}
		if call.Status == http.StatusTooManyRequests {
			out.refused++
		}
	}
	for _, room := range rooms {
		for _, m := range s.Messages(room) {
			if m.Streaming || m.Text == "…" || strings.HasSuffix(m.Text, " …") {
				t.Errorf("people see %+v", m)
			}
		}
	}
	return out
}

// open makes one replica of the bot.
func (c crowd) open(t *testing.T, s *simulate.Slack, st earshot.Store, done func(bot.Report)) (*bot.Bot, *slack.Platform) {
	t.Helper()
	options := slack.Options{
		APIURL: "http://slack.test/api/", BotToken: secret.New(s.App().BotToken), Store: st, Reply: c.reply,
		HTTPClient: &http.Client{Transport: direct{s.Handler()}},
	}
	if c.replicas > 0 {
		options.Rates = st
	}
	p, err := slack.Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	counter, err := tokens.For("o200k")
	if err != nil {
		t.Fatal(err)
	}
	o := bot.Options{
		Store: st, Platform: p, Identity: p.Identity(), Counter: counter, Model: talker{c.takes}, Limits: c.limits, Done: done,
	}
	if c.reply != slack.ReplyPost {
		o.Placeholder = "…"
	}
	return bot.New(o), p
}

func (c crowd) ask(t *testing.T, s *simulate.Slack, b *bot.Bot, p *slack.Platform, room, mara string) {
	text := "<@" + s.App().UserID + "> why?"
	id := s.Post(simulate.PostedMessage{Channel: room, User: mara, Text: text})
	at, err := earshot.ParseTime(id)
	if err != nil {
		t.Error(err)
		return
	}
	channel := earshot.Channel{Platform: earshot.Slack, Workspace: p.Workspace(), ID: earshot.ChannelID(room), Kind: earshot.KindChannel}
	m := earshot.Message{
		ID: earshot.MessageID(id), Time: at, Text: text, Author: earshot.Author{ID: earshot.AuthorID(mara), Kind: earshot.Human},
		Mentions: []earshot.AuthorID{p.Identity().ID},
	}
	if _, err := b.Handle(t.Context(), bot.Event{Event: earshot.Event{Delivery: id, Message: m}, Channel: channel}); err != nil {
		t.Error(err)
	}
}

// TestACrowdIsAnsweredAtOnce has 24 people ask at the same moment, each in a
// thread of their own. What is left of the time is the model's, and a post a
// second and channel.
func TestACrowdIsAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		crowd
		most time.Duration
	}{
		{"update, in six channels", crowd{reply: slack.ReplyUpdate, takes: time.Second, channels: 6}, 4 * time.Second},
		{"update, in one channel", crowd{reply: slack.ReplyUpdate, takes: time.Second, channels: 1}, 26 * time.Second},
		{"update, long answers", crowd{reply: slack.ReplyUpdate, takes: 10 * time.Second, channels: 6}, 13 * time.Second},
		{"stream, in six channels", crowd{reply: slack.ReplyStream, takes: time.Second, channels: 6}, 4 * time.Second},
		{"stream, in one channel", crowd{reply: slack.ReplyStream, takes: time.Second, channels: 1}, 8 * time.Second},
		{"stream, long answers", crowd{reply: slack.ReplyStream, takes: 10 * time.Second, channels: 6}, 13 * time.Second},
		{"post, in six channels", crowd{reply: slack.ReplyPost, takes: time.Second, channels: 6}, 4 * time.Second},
		{"post, in one channel", crowd{reply: slack.ReplyPost, takes: time.Second, channels: 1}, 26 * time.Second},
		// Which replica books which moments is the scheduler's choice, and what is
		// booked and not used is lost: on a busy machine more than on an idle one.
		{"update, two replicas", crowd{reply: slack.ReplyUpdate, takes: time.Second, channels: 6, replicas: 2}, 12 * time.Second},
		{"update, two replicas, long answers", crowd{reply: slack.ReplyUpdate, takes: 10 * time.Second, channels: 6, replicas: 2}, 24 * time.Second},
		{"stream, two replicas", crowd{reply: slack.ReplyStream, takes: time.Second, channels: 6, replicas: 2}, 16 * time.Second},
		{"post, two replicas in one channel", crowd{reply: slack.ReplyPost, takes: time.Second, channels: 1, replicas: 2}, 40 * time.Second},
		{"update, by eight at a time", crowd{reply: slack.ReplyUpdate, takes: time.Second, channels: 6, limits: bot.Limits{Parallel: 8}}, 5 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.questions = 24
			got := c.serve(t)
			t.Logf("answered in %s with %v", got.all, got.calls)
			if got.all > c.most && !raceEnabled {
				t.Errorf("24 questions were answered in %s, want %s", got.all, c.most)
			}
			if got.refused > 0 {
				t.Errorf("slack refused %d calls for its limits", got.refused)
			}
		})
	}
}

// While half of a minute's updates are used or owed to placeholders, nothing
// grows: an answer is two calls, or one.
func TestATextGrowsFromWhatIsLeftOver(t *testing.T) {
	skipUnderRace(t)
	t.Parallel()
	got := crowd{reply: slack.ReplyUpdate, takes: 5 * time.Second, questions: 240, every: 500 * time.Millisecond, channels: 20}.serve(t)
	t.Logf("answered in %s with %v", got.all, got.calls)
	grown := 0
	for i, u := range got.updates {
		lately := 0
		for _, before := range got.updates[:i] {
			if u.At.Sub(before.At) < time.Minute {
				lately++
			}
		}
		if !strings.HasSuffix(u.Args["text"], "…") {
			continue
		}
		if grown++; lately > 23 {
			t.Errorf("update %d shows a text that grows after %d updates within the minute", i, lately)
		}
	}
	if grown == 0 {
		t.Error("nothing has grown: the test sees nothing")
	}
	if got.refused > 0 {
		t.Errorf("slack refused %d calls for its limits", got.refused)
	}
	for i, wait := range got.waits {
		if wait > 7*time.Second {
			t.Errorf("answer %d took %s, want the model's 5 s and a little", i, wait)
		}
	}
}

// A post that is told to come again, because the line is longer than a call may
// wait, keeps its place: who asks later does not overtake it.
func TestALongLineIsServedInOrder(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		replicas int
		most     time.Duration
	}{
		// 150 posts at 57 a minute take 157 s, and the last question comes after 75 s.
		"alone": {0, 90 * time.Second},
		// At 55 a minute it is 163 s, and each replica has booked some seconds ahead.
		"two replicas": {2, 110 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := crowd{
				reply: slack.ReplyPost, takes: time.Second, questions: 150, every: 500 * time.Millisecond, channels: 1,
				limits: bot.Limits{Patience: 10 * time.Minute, Post: 10 * time.Minute}, replicas: x.replicas,
			}.serve(t)
			t.Logf("answered in %s with %v, longest %s", got.all, got.calls, slices.Max(got.waits))
			if longest := slices.Max(got.waits); longest > x.most {
				t.Errorf("an answer took %s, want none to take longer than the last in the line", longest)
			}
			if got.refused > 0 {
				t.Errorf("slack refused %d calls for its limits", got.refused)
			}
		})
	}
}

// Two replicas that share the rate of updates: each reserves last calls by what
// it knows of the line, and growing texts take what is left.
func TestPlaceholdersOfTwoReplicasGetTheirTexts(t *testing.T) {
	skipUnderRace(t)
	t.Parallel()
	got := crowd{reply: slack.ReplyUpdate, takes: 5 * time.Second, questions: 240, every: 500 * time.Millisecond, channels: 20, replicas: 2}.serve(t)
	t.Logf("answered in %s with %v, %d placeholders, longest %s", got.all, got.calls, got.placeholders, slices.Max(got.waits))
	if got.refused > 0 {
		t.Errorf("slack refused %d calls for its limits", got.refused)
	}
	if got.placeholders < 40 {
		t.Errorf("%d placeholders in two minutes, want 20 a minute", got.placeholders)
	}
	if longest := slices.Max(got.waits); longest > 20*time.Second {
		t.Errorf("an answer took %s, want the model's 5 s and the wait for a last call", longest)
	}
}
