package bot_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
)

// A typist is a model that streams one word after another.
type typist struct {
	words string
	every time.Duration
	err   error // at the end
}

func (m typist) Generate(ctx context.Context, _ llm.Request, tell func(llm.Event)) (llm.Response, error) {
	for word := range strings.SplitAfterSeq(m.words, " ") {
		select {
		case <-time.After(m.every):
		case <-ctx.Done():
			return llm.Response{}, context.Cause(ctx)
		}
		if tell != nil {
			tell(llm.Event{Text: word})
		}
	}
	return llm.Response{Parts: []llm.Part{llm.Text(m.words)}, Stop: llm.StopEnd}, m.err
}

// placing runs f with a bot that posts placeholders.
func placing(t *testing.T, change func(*bot.Options), f func(w *world, p *slate)) {
	t.Helper()
	p := &slate{board: &board{}}
	in(t, func(o *bot.Options) {
		o.Platform, o.Placeholder = p, "…"
		if change != nil {
			change(o)
		}
	}, func(w *world) {
		w.board = p.board
		f(w, p)
	})
}

// own returns our message as it is stored.
func (w *world) own(id earshot.MessageID) earshot.Message {
	w.t.Helper()
	m, err := w.store.Message(w.t.Context(), general.Scope(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}

func TestAReplyGrowsInThePlaceholder(t *testing.T) {
	t.Parallel()
	said := strings.TrimSpace(strings.Repeat("word ", 100))
	placing(t, func(o *bot.Options) { o.Model = typist{words: said, every: 100 * time.Millisecond} }, func(w *world, p *slate) {
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(500 * time.Millisecond)
		same(t, "posts at once", w.board.all(), []string{"…"})
		if got := w.own("p001"); got.Text != "" {
			t.Errorf("the store has a draft: %q", got.Text)
		}
		w.rest(time.Minute)
		same(t, "posts", w.board.all(), []string{said})
		was := p.posts[0].was
		if was[0] != "…" || len(was) < 5 || len(was) > 12 {
			t.Errorf("in 10 seconds people saw %d texts: %q", len(was), was)
		}
		for i, text := range was[1:] {
			if !strings.HasPrefix(said, strings.TrimSuffix(text, " …")) || !strings.HasSuffix(text, " …") || len(text) <= len(was[i]) {
				t.Errorf("draft %d is %q", i, text)
			}
		}
		same(t, "turns", w.turns(), []string{"m1 done"})
		if got := w.own("p001"); got.Text != said || got.Author.ID != self.ID || got.Edited != 0 || got.Root() != "m1" {
			t.Errorf("the store has %+v", got)
		}
		turns, err := w.store.Turns(t.Context(), earshot.ConversationID{Agent: "U0BOT", Scope: general.Scope(), Name: "m1"}, 0)
		if err != nil || len(turns) != 1 || len(turns[0].Answer.Replies) != 1 || turns[0].Answer.Replies[0] != "p001" {
			t.Errorf("turns: %+v, %v", turns, err)
		}
	})
}

func TestALongReplyBeginsInThePlaceholder(t *testing.T) {
	t.Parallel()
	placing(t, func(o *bot.Options) {
		o.Model = typist{words: strings.Repeat("word ", 100) + "end", every: time.Second}
	}, func(w *world, p *slate) {
		w.board.max = 200
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(5 * time.Minute)
		got := w.board.all()
		if len(got) != 3 || !strings.HasPrefix(got[0], "word") || !strings.HasSuffix(got[2], "end") {
			t.Errorf("posts: %q", got)
		}
		for _, x := range p.posts {
			for _, text := range append(x.was, x.Text) {
				if len([]rune(text)) > 200 {
					t.Errorf("%d characters: %q", len([]rune(text)), text)
				}
			}
		}
		turns, err := w.store.Turns(t.Context(), earshot.ConversationID{Agent: "U0BOT", Scope: general.Scope(), Name: "m1"}, 0)
		if err != nil || len(turns) != 1 || len(turns[0].Answer.Replies) != 3 || turns[0].Answer.Replies[0] != "p001" {
			t.Errorf("turns: %+v, %v", turns, err)
		}
	})
}

func TestWhatThePlaceholderBecomes(t *testing.T) {
	t.Parallel()
	broken := &llm.Error{Provider: "script", Status: 400, Message: "bad request"}
	for _, c := range []struct {
		name    string
		model   llm.Model
		lost    []fault // of the placeholder's post
		smudged []fault // of its updates
		posts   []string
		turn    string
	}{
		{"the reply", &echo{}, nil, nil, []string{"you said: Alice: @earshot hi"}, "m1 done"},
		{"the reply, where its post was lost", &echo{}, []fault{lostAnswer}, nil, []string{"you said: Alice: @earshot hi"}, "m1 done"},
		{"the reply, where an update was lost", &echo{}, nil, []fault{lostRequest}, []string{"you said: Alice: @earshot hi"}, "m1 done"},
		{"the reply, where the answer to an update was lost", &echo{}, nil, []fault{lostAnswer, lostRequest}, []string{"you said: Alice: @earshot hi"}, "m1 done"},
		{"the reply, where a limit was reached", &echo{}, nil, []fault{busy, busy}, []string{"you said: Alice: @earshot hi"}, "m1 done"},
		{"nothing, where somebody deleted it", &echo{}, nil, []fault{refused}, []string{"…", "you said: Alice: @earshot hi"}, "m1 done"},
		{"the apology", &echo{errs: []error{broken}}, nil, nil, []string{sorry}, "m1 failed script: status 400: bad request"},
		{"nothing, where it was refused", &echo{}, []fault{refused, refused}, nil, nil, "m1 failed not posted: the channel is archived"},
		{"the reply, at the second try", typist{words: "It is up.", every: time.Second}, nil, []fault{busy, lostRequest}, []string{"It is up."}, "m1 done"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			placing(t, func(o *bot.Options) { o.Model = c.model }, func(w *world, p *slate) {
				w.board.faults, p.smudged = c.lost, c.smudged
				w.say(general, alice, "m1", "<@U0BOT> hi")
				w.rest(5 * time.Minute)
				same(t, "posts", w.board.all(), c.posts)
				same(t, "turns", w.turns(), []string{c.turn})
				if n := len(c.posts); n > 0 {
					if got := w.own(p.posts[n-1].id); got.Text != c.posts[n-1] {
						t.Errorf("the store has %q", got.Text)
					}
				}
				if n := len(p.private); n != 0 && len(c.posts) > 0 {
					t.Errorf("what everybody sees was also told alone: %q", p.private)
				}
			})
		})
	}
}

const sorry = "Sorry, I could not answer this: something went wrong on my side. The people who run me can see what."

// TestALateDraftDoesNotReplaceTheReply has a draft's update fail and still arrive, a
// second later.
func TestALateDraftDoesNotReplaceTheReply(t *testing.T) {
	t.Parallel()
	p := &tardy{slate: slate{board: &board{}}}
	in(t, func(o *bot.Options) {
		o.Platform, o.Placeholder, o.Model = p, "…", typist{words: "It is up.", every: 600 * time.Millisecond}
	}, func(w *world) {
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(time.Minute)
		same(t, "posts", p.all(), []string{"It is up."})
		if !p.late {
			t.Error("no draft came late")
		}
	})
}

type tardy struct {
	slate
	late bool
}

func (p *tardy) Update(ctx context.Context, d bot.Draft, id earshot.MessageID) error {
	if !strings.HasSuffix(d.Text, "…") {
		return p.slate.Update(ctx, d, id)
	}
	p.late = true
	time.AfterFunc(time.Second, func() { _ = p.slate.Update(ctx, d, id) })
	return errReset
}

func TestADeletedQuestionIsNotAnswered(t *testing.T) {
	t.Parallel()
	placing(t, func(o *bot.Options) { o.Model = &echo{takes: 20 * time.Second} }, func(w *world, _ *slate) {
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(5 * time.Second)
		same(t, "posts", w.board.all(), []string{"…"})
		w.say(general, alice, "m1", "", func(e *bot.Event) { e.Delivery, e.Message.Deleted = "del", true })
		w.rest(5 * time.Second)
		same(t, "posts after the deletion", w.board.all(), []string{"(The message that I was answering was deleted.)"})
		same(t, "turns", w.turns(), []string{"m1 dropped anchor deleted"})
		w.rest(time.Minute)
		same(t, "posts at the end", w.board.all(), []string{"(The message that I was answering was deleted.)"})
		if got := w.own("p001"); got.Text != w.board.all()[0] || len(w.reports) != 1 {
			t.Errorf("the store has %q, there are %d reports", got.Text, len(w.reports))
		}
	})
}

// A threaded platform finds a post only in its own thread, and none while it is
// down.
type threaded struct {
	*slate
	down atomic.Bool
}

func (p *threaded) Find(_ context.Context, d bot.Draft) (earshot.Message, error) {
	if p.down.Load() {
		return earshot.Message{}, errReset
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range p.posts {
		if x.Key == d.Key && x.Thread == d.Thread {
			return x.message(), nil
		}
	}
	return earshot.Message{}, earshot.ErrNotFound
}

// A tombstone does not have the question's thread. The placeholder was looked for at
// the top level, not found, and stayed.
func TestThePlaceholderOfAQuestionDeletedInAThreadIsFound(t *testing.T) {
	t.Parallel()
	p := &threaded{slate: &slate{board: &board{faults: []fault{lostAnswer}}}}
	p.down.Store(true)
	in(t, func(o *bot.Options) { o.Platform, o.Placeholder = p, "…" }, func(w *world) {
		w.say(general, alice, "m1", "good morning")
		w.say(general, alice, "m2", "<@U0BOT> hi", func(e *bot.Event) { e.Message.Thread = "m1" })
		w.rest(time.Second)
		same(t, "posts", p.all(), []string{"…"})
		w.say(general, alice, "m2", "", func(e *bot.Event) { e.Delivery, e.Message.Deleted, e.Message.Thread = "del", true, "" })
		w.rest(20 * time.Second)
		p.down.Store(false)
		w.rest(5 * time.Minute)
		same(t, "posts after the deletion", p.all(), []string{"(The message that I was answering was deleted.)"})
		same(t, "turns", w.turns(), []string{"m2 dropped anchor deleted"})
	})
}

func TestWithoutAPlaceholderTheReplyIsPostedWhole(t *testing.T) {
	t.Parallel()
	model := func(o *bot.Options) { o.Model = typist{words: "It is up.", every: time.Second} }
	for name, run := range map[string]func(f func(w *world)){
		"no text": func(f func(w *world)) {
			placing(t, func(o *bot.Options) { model(o); o.Placeholder = "" }, func(w *world, _ *slate) { f(w) })
		},
		"no Updater": func(f func(w *world)) { in(t, func(o *bot.Options) { model(o); o.Placeholder = "…" }, f) },
	} {
		run(func(w *world) {
			w.say(general, alice, "m1", "<@U0BOT> hi")
			w.rest(2 * time.Second)
			if got := w.board.all(); len(got) != 0 {
				t.Errorf("%s: posts before the answer: %q", name, got)
			}
			w.rest(time.Minute)
			same(t, name, w.board.all(), []string{"It is up."})
			if len(w.board.posts[0].was) != 0 {
				t.Errorf("%s: the post said before: %q", name, w.board.posts[0].was)
			}
		})
	}
}

// TestAnEventAboutAPlaceholderStoresNoDraft delivers events about the
// placeholder before Post returns, about a draft, and about the reply late and with
// another text.
func TestAnEventAboutAPlaceholderStoresNoDraft(t *testing.T) {
	t.Parallel()
	placing(t, func(o *bot.Options) { o.Model = typist{words: "It is up now.", every: 2 * time.Second} }, func(w *world, p *slate) {
		tell := func(text, delivery, key string, edited earshot.Time) {
			w.say(general, earshot.Author{ID: "B0BOT", Kind: earshot.Bot}, "p001", text, under("m1"), func(e *bot.Event) {
				e.Message.Time, e.Delivery, e.Key, e.Message.Edited = p.posts[0].at, delivery, key, edited
			})
		}
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(time.Second)
		tell("…", "d1", "", 0)
		w.rest(4 * time.Second)
		tell("It is …", "d2", p.posts[0].Key, earshot.TimeOf(time.Now()))
		if got := w.own("p001"); got.Text != "" {
			t.Errorf("while it is written the store has %q", got.Text)
		}
		if events, err := w.store.Events(t.Context(), general.Scope(), "p001"); err != nil || len(events) != 2 || events[1].Raw != nil {
			t.Errorf("drafts are kept: %+v, %v", events, err)
		}
		w.rest(time.Minute)
		tell("It is up, now.", "d3", "", earshot.TimeOf(time.Now()))
		if got := w.own("p001"); got.Text != "It is up now." || got.Edited != 0 {
			t.Errorf("the store has %q, edited %s", got.Text, got.Edited)
		}
		w.say(general, earshot.Author{ID: "U0BOT", Kind: earshot.Bot}, "p001", "", func(e *bot.Event) { e.Delivery, e.Message.Deleted = "d4", true })
		if got := w.own("p001"); !got.Deleted {
			t.Error("the deletion of a reply was not heard")
		}
	})
}

// TestHistoryThatShowsAPlaceholderIsCorrected records the placeholder's text, as a
// reader of the platform's history might.
func TestHistoryThatShowsAPlaceholderIsCorrected(t *testing.T) {
	t.Parallel()
	placing(t, func(o *bot.Options) { o.Model = &echo{takes: 10 * time.Second} }, func(w *world, p *slate) {
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(5 * time.Second)
		seen := p.posts[0].message()
		seen.Author, seen.Text, seen.Edited = earshot.Author{ID: "B0BOT", Kind: earshot.Bot}, "a draft …", earshot.TimeOf(time.Now())
		if _, err := w.store.Record(t.Context(), general.Scope(), seen); err != nil {
			t.Fatal(err)
		}
		w.rest(time.Minute)
		if got := w.own("p001"); got.Text != "you said: Alice: @earshot hi" {
			t.Errorf("the store has %q", got.Text)
		}
	})
}

func TestAnApologyIsShownToThePersonAlone(t *testing.T) {
	t.Parallel()
	broken := &llm.Error{Provider: "script", Status: 400, Message: "bad request"}
	for _, c := range []struct {
		name    string
		deaf    error
		private []string
		posts   []string
	}{
		{"where the platform can", nil, []string{"U1: " + sorry}, nil},
		{"and to all where it refuses", &bot.PostError{Err: errors.New("user_not_in_channel")}, nil, []string{sorry}},
		{"and not again where it may have arrived", errReset, []string{"U1: " + sorry}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			placing(t, func(o *bot.Options) { o.Placeholder, o.Model = "", &echo{errs: []error{broken, broken}} }, func(w *world, p *slate) {
				p.deaf = c.deaf
				out := w.say(general, alice, "m1", "<@U0BOT> hi")
				w.rest(time.Minute)
				same(t, "posts", w.board.all(), c.posts)
				same(t, "told alone", p.private, c.private)
				same(t, "turns", w.turns(), []string{"m1 failed script: status 400: bad request"})
				// Opened again by an operator, it fails again, without a second apology.
				for range 2 {
					if err := w.store.Reopen(t.Context(), out.Turn); err != nil {
						t.Fatal(err)
					}
					w.rest(time.Minute)
					if len(w.board.all())+len(p.private) > 1 && w.turns()[0] != "m1 done" {
						t.Errorf("told twice: %q, %q", w.board.all(), p.private)
					}
				}
				if got := w.board.all(); w.turns()[0] != "m1 done" || got[len(got)-1] != "you said: Alice: @earshot hi" {
					t.Errorf("at last: %q, %q", w.turns(), got)
				}
			})
		})
	}
}

// TestADraftDoesNotOverwriteTheReplyOfAnotherProcess has the store say that the placeholder
// has its last text, as it does after a takeover.
func TestADraftDoesNotOverwriteTheReplyOfAnotherProcess(t *testing.T) {
	t.Parallel()
	p := &slate{board: &board{}}
	over := &takenOver{}
	in(t, func(o *bot.Options) {
		over.Store = o.Store
		o.Store, o.Platform, o.Placeholder = over, p, "…"
		o.Model = typist{words: strings.TrimSpace(strings.Repeat("word ", 20)), every: time.Second}
	}, func(w *world) {
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(5 * time.Second)
		drafts := len(p.posts[0].was)
		over.yes.Store(true)
		w.rest(10 * time.Second)
		if now := len(p.posts[0].was); now != drafts || drafts < 2 {
			t.Errorf("%d drafts before, %d after the takeover", drafts, now)
		}
		over.yes.Store(false)
		w.rest(time.Minute)
	})
}

type takenOver struct {
	bot.Store
	yes atomic.Bool
}

func (s *takenOver) Posts(ctx context.Context, id earshot.TurnID) ([]earshot.Post, error) {
	list, err := s.Store.Posts(ctx, id)
	for i := range list {
		if s.yes.Load() {
			list[i].Text = "the reply of another"
		}
	}
	return list, err
}
