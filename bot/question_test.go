package bot_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
	"github.com/earshot-ai/earshot/tools/toolbox"
)

// asksPerson has each call of a tool ask a question, and say what was answered.
func asksPerson(o *bot.Options, b *tracker, q toolbox.Question) {
	o.Platform = panel{&slate{board: o.Platform.(*board), wipes: true}}
	b.answer = func(ctx context.Context, c toolbox.Call) (toolbox.Result, error) {
		answer, err := c.Ask(ctx, q)
		if errors.Is(err, toolbox.ErrNoAnswer) {
			return said("nobody answered")
		}
		return said("answered " + answer)
	}
}

// A tool asks who is answered while it runs, for longer than a call and an answer may last, and
// goes on with what they say.
func TestAToolAsksAPerson(t *testing.T) {
	t.Parallel()
	q := toolbox.Question{Text: "Which `project`,\n<@U9>? Agreed.", Options: []string{"web", "api"}}
	for name, c := range map[string]struct {
		answer func(w *world, ask posted)
		told   string // to the model
		shown  string
	}{
		"by a button": {func(w *world, ask posted) { w.choose(ask, "option1", alice) }, "answered api", "\n<@U1>: `api`"},
		"by a form": {func(w *world, ask posted) {
			w.choose(ask, "other", alice, func(x *bot.Chosen) { x.Words = "docs" })
		}, "answered docs", "\n<@U1>: `docs`"},
		"by a message": {func(w *world, _ posted) { w.say(general, alice, "m2", "<@U0BOT> docs", under("m1")) }, "answered docs", "\n<@U1>: `docs`"},
		"by nobody":    {func(w *world, _ posted) { w.rest(time.Hour) }, "nobody answered", "\nNobody answered within 60 minutes."},
	} {
		for _, tool := range []string{"find_issue", "create_issue"} {
			t.Run(name+" "+tool, func(t *testing.T) {
				t.Parallel()
				withTracker(t, func(o *bot.Options, b *tracker) { asksPerson(o, b, q) }, func(w *world, b *tracker, m *llmtest.Model) {
					w.say(general, alice, "m1", "<@U0BOT> file it")
					w.rest(5 * time.Minute)
					asks := w.board.asks()
					if len(asks) != 1 {
						t.Fatalf("posts %q, turns %q", w.board.all(), w.turns())
					}
					want := "<@U1>, `" + tool + "` asks: `Which \\u0060project\\u0060, somebody? Agreed.`\n(Answer within 60 minutes: here, with my name.)"
					same(t, "question", asks[0].Text, want)
					same(t, "somebody else", w.choose(asks[0], "option0", bob), "Only somebody else can answer this.")
					c.answer(w, asks[0])
					w.rest(10 * time.Second)
					same(t, "turns", w.turns(), []string{"m1 done"})
					same(t, "calls", len(b.done()), 1)
					same(t, "told", answers(m.Requests()[1]), []string{`{"result":"` + c.told + `"}`})
					all := w.board.all()
					if len(all) != 2 || !strings.HasSuffix(all[0], c.shown) || all[1] != "Filed." {
						t.Errorf("posts %q", all)
					}
				}, llmtest.Call(tool, `{}`), llmtest.Say("Filed."))
			})
		}
	}
}

// What a tool asks ends with its turn, and a stop need not wait for an answer.
func TestAStopEndsWhatAToolAsks(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"find_issue", "create_issue"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			withTracker(t, func(o *bot.Options, b *tracker) { asksPerson(o, b, toolbox.Question{Text: "Which?"}) }, func(w *world, _ *tracker, _ *llmtest.Model) {
				w.say(general, alice, "m1", "<@U0BOT> file it")
				w.rest(time.Minute)
				w.say(general, alice, "m2", "<@U0BOT> stop", under("m1"))
				w.rest(10 * time.Second)
				same(t, "turns", w.turns(), []string{"m1 dropped stopped"})
				if all := w.board.all(); len(all) == 0 || !strings.HasSuffix(all[0], "\nNobody is asked this any more.") {
					t.Errorf("posts %q", all)
				}
			}, llmtest.Call(tool, `{}`), llmtest.Say("Filed."))
		})
	}
}

// Where the process ends while a tool asks, a call that may be repeated goes on with the answer
// that was given meanwhile, to the one question.
func TestAQuestionOfAToolOutlivesAProcess(t *testing.T) {
	t.Parallel()
	withTracker(t, func(o *bot.Options, b *tracker) { asksPerson(o, b, toolbox.Question{Text: "Which?"}) }, func(w *world, b *tracker, m *llmtest.Model) {
		w.say(general, alice, "m1", "<@U0BOT> look")
		w.rest(time.Minute)
		asks := w.board.asks()
		w.stop()
		same(t, "asked", len(asks), 1)
		w.choose(asks[0], "other", alice, func(x *bot.Chosen) { x.Words = "docs" })
		w.start()
		w.rest(time.Minute)
		same(t, "turns", w.turns(), []string{"m1 done"})
		same(t, "calls", b.done(), []string{"find_issue {}", "find_issue {}"})
		r := m.Requests()
		same(t, "told", answers(r[len(r)-1]), []string{`{"result":"answered docs"}`})
		same(t, "posts", len(w.board.all()), 2)
	}, llmtest.Call("find_issue", `{}`), llmtest.Say("Found."), llmtest.Say("Found."))
}

// Calls that run beside one another ask one after another, and as often as they may.
func TestToolsAskOneAfterAnother(t *testing.T) {
	t.Parallel()
	withTracker(t, func(o *bot.Options, b *tracker) {
		asksPerson(o, b, toolbox.Question{})
		b.answer = func(ctx context.Context, c toolbox.Call) (toolbox.Result, error) {
			for n := 0; ; n++ {
				if _, err := c.Ask(ctx, toolbox.Question{Text: "Which?"}); err != nil {
					return said(strings.Repeat("x", n))
				}
			}
		}
	}, func(w *world, _ *tracker, m *llmtest.Model) {
		w.say(general, alice, "m1", "<@U0BOT> look")
		asked := 0
		for range 30 {
			w.rest(5 * time.Second)
			asks := w.board.asks()
			if len(asks) > 1 {
				t.Fatalf("two questions at once: %q", w.board.all())
			}
			for _, a := range asks {
				asked++
				w.choose(a, "other", alice, func(x *bot.Chosen) { x.Words = "docs" })
			}
		}
		same(t, "asked", asked, 2*toolbox.MaxQuestions)
		same(t, "told", answers(m.Requests()[1]), []string{`{"result":"xxxxxxxx"}`, `{"result":"xxxxxxxx"}`})
	}, llmtest.Calls(llm.Call{Name: "find_issue", Args: `{"text":"a"}`}, llm.Call{Name: "find_issue", Args: `{"text":"b"}`}), llmtest.Say("Found."))
}

// What is asked in the conversation meanwhile is answered afterwards, however long that took.
func TestAQuestionBesideThatOfAToolIsAnswered(t *testing.T) {
	t.Parallel()
	withTracker(t, func(o *bot.Options, b *tracker) { asksPerson(o, b, toolbox.Question{Text: "Which?"}) }, func(w *world, _ *tracker, _ *llmtest.Model) {
		w.say(general, alice, "m1", "<@U0BOT> file it")
		w.rest(time.Minute)
		w.say(general, bob, "m2", "<@U0BOT> is it up?", under("m1"))
		w.rest(40 * time.Minute)
		same(t, "turns", w.turns(), []string{"m1 posting", "m2 open"})
		w.choose(w.board.asks()[0], "other", alice, func(x *bot.Chosen) { x.Words = "docs" })
		w.rest(time.Minute)
		same(t, "turns", w.turns(), []string{"m1 done", "m2 done"})
	}, llmtest.Call("create_issue", `{}`), llmtest.Say("Filed."), llmtest.Say("It is."))
}
