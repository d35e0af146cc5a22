package slack_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/platform/backfill"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/simulate"
	"github.com/earshot-ai/earshot/tokens"
)

// A reader is a bot with a store of its own that reads a fake Slack's history
// as the daemon does, and answers nothing.
type reader struct {
	store  earshot.Store
	filler *backfill.Filler
}

func newReader(t *testing.T, s *simulate.Slack) *reader {
	t.Helper()
	st := memory(t)
	p, err := slack.Open(t.Context(), slack.Options{APIURL: s.URL() + "/api/", BotToken: secret.New(s.App().BotToken), Store: st})
	if err != nil {
		t.Fatal(err)
	}
	counter, err := tokens.For("o200k")
	if err != nil {
		t.Fatal(err)
	}
	b := bot.New(bot.Options{Store: st, Model: llm.Offline{}, Platform: p, Counter: counter, Identity: p.Identity(), Placeholder: "…"})
	f, err := backfill.Open(t.Context(), backfill.Options{
		Store: st, Source: p, Platform: earshot.Slack, Workspace: p.Workspace(),
		Handle: func(ctx context.Context, c earshot.Channel, f backfill.HistoryMessage) error {
			_, err := b.Handle(ctx, bot.Event{Event: f.Event, Channel: c, Key: f.Key})
			return err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &reader{st, f}
}

// reads reads the thread of an answer and returns what is stored of the answer.
func (r *reader) reads(t *testing.T, at bot.Place, id earshot.MessageID) earshot.Message {
	t.Helper()
	if err := r.filler.Fill(t.Context(), at.Channel, at.Anchor, at.Anchor.ID); err != nil {
		t.Fatal(err)
	}
	m, err := r.store.Message(t.Context(), at.Channel.Scope(), id)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// answered has a question answered in a placeholder's stead, in so many
// updates, and returns where and by which message.
func (x *speaker) answered(t *testing.T, texts ...string) (bot.Place, earshot.MessageID) {
	t.Helper()
	d := bot.Draft{Place: x.asked(t, x.general, "", "why?"), Text: "…", Key: "pKEY", Growing: true}
	m, err := x.Post(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		d.Text, d.Growing = text, i < len(texts)-1 || strings.HasSuffix(text, "…")
		if err := x.Update(t.Context(), d, m.ID); err != nil {
			t.Fatal(err)
		}
	}
	return d.Place, m.ID
}

func TestAFreshStoreReadsOurAnswersWithTheirText(t *testing.T) {
	t.Parallel()
	x := newSpeaker(t, nil)
	at, id := x.answered(t, "be …", "**because**")
	m := newReader(t, x.slack).reads(t, at, id)
	if m.Text != "**because**" || m.Edited != 0 || m.Author.Kind != earshot.Bot {
		t.Errorf("got %q by %+v, edited %s, want the answer and no edit", m.Text, m.Author, m.Edited)
	}
}

// A placeholder that still waits says nothing, and neither does a draft.
func TestAFreshStoreReadsNoDrafts(t *testing.T) {
	t.Parallel()
	for name, texts := range map[string][]string{"a placeholder": nil, "a draft": {"be …"}} {
		x := newSpeaker(t, nil)
		at, id := x.answered(t, texts...)
		if m := newReader(t, x.slack).reads(t, at, id); m.Text != "" || m.Edited != 0 {
			t.Errorf("%s: got %q, edited %s", name, m.Text, m.Edited)
		}
	}
}

// Posts of versions that left their last update unmarked are told by their age.
func TestAnOldAnswerIsWholeWithoutAMark(t *testing.T) {
	t.Parallel()
	past := time.Now().Add(-2 * time.Hour)
	x := newSpeaker(t, func(so *simulate.SlackOptions, _ *slack.Options) { so.Now = func() time.Time { return past } })
	at, id := x.answered(t, "it was …")
	if m := newReader(t, x.slack).reads(t, at, id); m.Text != "it was …" || m.Edited != 0 {
		t.Errorf("got %q, edited %s", m.Text, m.Edited)
	}
}

// What a turn has stored of its answer is what it said: history has it in
// Slack's form, and the update is no edit.
func TestReadingHistoryDoesNotEditOurAnswers(t *testing.T) {
	t.Parallel()
	x := newSpeaker(t, nil)
	at, id := x.answered(t, "ask <b> & @here")
	r := newReader(t, x.slack)
	when, err := earshot.ParseTime(string(id))
	if err != nil {
		t.Fatal(err)
	}
	said := earshot.Message{ID: id, Time: when, Thread: at.Anchor.ID, Author: earshot.Author{ID: x.Identity().ID, Name: "earshot", Kind: earshot.Bot}, Text: "ask <b> & @here"}
	if _, err := r.store.Record(t.Context(), at.Channel.Scope(), said); err != nil {
		t.Fatal(err)
	}
	if m := r.reads(t, at, id); m.Text != said.Text || m.Edited != 0 {
		t.Errorf("got %q, edited %s, want what was said", m.Text, m.Edited)
	}
}

// The echo of our own update is no edit, and another store of the same app
// takes the text that it brings.
func TestTheEchoOfOurUpdateIsNoEdit(t *testing.T) {
	t.Parallel()
	x := newSpeaker(t, nil)
	p, err := slack.Open(t.Context(), slack.Options{
		APIURL: x.slack.URL() + "/api/", BotToken: secret.New(x.slack.App().BotToken),
		SigningSecrets: []secret.Secret{secret.New(x.slack.App().SigningSecret)}, Store: memory(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	type brief struct {
		Text, Key string
		Edited    earshot.Time
	}
	var mu sync.Mutex // guards got
	got := map[brief]bool{}
	server := httptest.NewServer(p.Handler(func(_ context.Context, e bot.Event) (bot.Outcome, error) {
		mu.Lock()
		defer mu.Unlock()
		if p.Identity().Is(e.Message.Author.ID) {
			got[brief{e.Message.Text, e.Key, e.Message.Edited}] = true
		}
		return bot.Outcome{}, nil
	}))
	t.Cleanup(server.Close)
	x.slack.Deliver(server.URL + "/slack/events")
	x.answered(t, "be …", "because")
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	if err := x.slack.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	want := map[brief]bool{{"…", "pKEY", 0}: true, {"be …", "pKEY", 0}: true, {"because", "", 0}: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events of our post (-want +got):\n%s", diff)
	}
}
