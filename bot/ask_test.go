package bot_test

import (
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm/llmtest"
)

const asksWhere = `{"question":"Which one, <@U9> or <https://evil.example|this>?","options":["staging","production, with all that runs there for the whole of the company and for everybody else too"]}`

// asking runs f with a bot whose model may ask, on a platform with buttons.
func asking(t *testing.T, change func(*bot.Options), f func(w *world, m *llmtest.Model), script ...llmtest.Step) {
	t.Helper()
	m := llmtest.New(script...)
	in(t, func(o *bot.Options) {
		o.Model, o.Ask, o.Platform = m, bot.Ask{Channels: []earshot.ChannelID{general.ID}}, panel{&slate{board: o.Platform.(*board), wipes: true}}
		if change != nil {
			change(o)
		}
	}, func(w *world) { f(w, m) })
}

func TestTheModelAsksWhoAskedIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer func(w *world, ask posted)
		told   string // to the model
		shown  string
	}{
		"by an option": {func(w *world, ask posted) { same(w.t, "told", w.choose(ask, "option0", alice), "") }, `{"answer":"staging"}`, "<@U1>: `staging`"},
		"by a long one": {func(w *world, ask posted) { w.choose(ask, "option1", alice) },
			`{"answer":"production, with all that runs there for the whole of the company and for everybody else too"}`, "<@U1>: `production, with all that runs there for the whole of the company and for everybody else too`"},
		"by a form": {func(w *world, ask posted) {
			w.choose(ask, "other", alice, func(x *bot.Chosen) { x.Words = " both " })
		}, `{"answer":"both"}`, "<@U1>: `both`"},
		"by a message": {func(w *world, _ posted) {
			out := w.say(general, alice, "m2", "<@U0BOT> both, please", under("m1"))
			same(w.t, "the message", []any{out.Why, out.Opened}, []any{"answer", false})
			again := w.say(general, alice, "m2", "<@U0BOT> both, please", under("m1"), func(e *bot.Event) { e.Delivery = "x" })
			same(w.t, "again", []any{again.Why, again.Opened}, []any{"answer", false})
		}, `{"answer":"both, please"}`, "<@U1>: `both, please`"},
		"by nobody": {func(w *world, _ posted) { w.rest(time.Hour + 10*time.Second) },
			`nobody answered in time`, "Nobody answered within 60 minutes."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asking(t, nil, func(w *world, m *llmtest.Model) {
				w.say(general, alice, "m1", "<@U0BOT> restart it")
				w.rest(time.Second)
				asks := w.board.asks()
				if len(asks) != 1 {
					t.Errorf("posts %q, turns %q", w.board.all(), w.turns())
					return
				}
				if text := asks[0].Text; !strings.HasPrefix(text, "<@U1>, Which one, somebody or this (`https://evil.example`)?\n") ||
					!strings.HasSuffix(text, "\n- `production, with all that runs there for the whole of the company and for everybody else too`\n(Answer within 60 minutes: here, with my name.)") {
					t.Errorf("it asks %q", text)
				}
				var labels []string
				for _, x := range asks[0].Choices {
					labels = append(labels, x.Label)
				}
				same(t, "buttons", labels, []string{"staging", "production, with all that runs there for the whole of the company and for…", "Something else"})
				same(t, "turns", w.turns(), []string{"m1 waiting"})
				same(t, "somebody else", w.choose(asks[0], "option0", bob), "Only somebody else can answer this.")
				same(t, "what is no answer", w.choose(asks[0], "option7", alice), "I do not know this answer.")
				same(t, "a yes", w.choose(asks[0], "do", alice), "I do not know this answer.")
				c.answer(w, asks[0])
				w.rest(time.Second)
				same(t, "turns", w.turns(), []string{"m1 done"})
				if n := len(m.Requests()); n != 2 {
					t.Errorf("%d requests, posts %q, turns %q", n, w.board.all(), w.turns())
					return
				}
				if got := answers(m.Requests()[1]); len(got) != 1 || !strings.Contains(got[0], c.told) {
					t.Errorf("the model was told %q, want %q", got, c.told)
				}
				all := w.board.all()
				if len(all) != 2 || !strings.HasSuffix(all[0], "\n"+c.shown) || strings.Contains(all[0], "Answer within") || all[1] != "Restarted." {
					t.Errorf("posts %q", all)
				}
				same(t, "buttons", len(w.board.asks()), 0)
			}, llmtest.Call("ask", asksWhere), llmtest.Say("Restarted."))
		})
	}
}

func TestATurnAsksTwiceAtMost(t *testing.T) {
	t.Parallel()
	ask := llmtest.Call("ask", `{"question":"Sure?"}`)
	asking(t, nil, func(w *world, m *llmtest.Model) {
		w.say(general, alice, "m1", "<@U0BOT> restart it")
		for _, say := range []string{"yes", "no"} { // words that decide approvals are answers here
			w.rest(time.Second)
			same(t, "turns", w.turns(), []string{"m1 waiting"})
			w.say(general, alice, "m-"+say, "<@U0BOT> "+say, under("m1"))
		}
		w.rest(time.Second)
		r := m.Requests()
		same(t, "asked", len(r), 4)
		same(t, "told", append(answers(r[1]), append(answers(r[2]), answers(r[3])...)...), []string{
			`{"answer":"yes"}`, `{"answer":"no"}`, `{"error":"you have asked twice already","remedy":"answer with what you know, and say what you have assumed"}`,
		})
		same(t, "turns", w.turns(), []string{"m1 done"})
	}, ask, ask, ask, llmtest.Say("As you like."))
}

func TestWhereTheModelMayNotAsk(t *testing.T) {
	t.Parallel()
	asking(t, func(o *bot.Options) { o.Ask = bot.Ask{} }, func(w *world, m *llmtest.Model) {
		w.say(general, alice, "m1", "<@U0BOT> restart it")
		w.rest(time.Second)
		same(t, "turns", w.turns(), []string{"m1 done"})
		for _, x := range m.Requests()[0].Tools {
			if x.Name == "ask" {
				t.Error("it has the tool")
			}
		}
	}, llmtest.Call("ask", `{"question":"Sure?"}`), llmtest.Say("Fine."))
}

// A talk goes on while somebody is asked, and what they say to somebody else is no answer.
func TestTalkWhileSomebodyIsAsked(t *testing.T) {
	t.Parallel()
	asking(t, nil, func(w *world, _ *llmtest.Model) {
		w.say(general, alice, "m1", "<@U0BOT> restart it")
		w.rest(time.Second)
		w.say(general, alice, "m2", "bob, which one?", under("m1"))
		w.say(general, bob, "m3", "<@U0BOT> is it up?", under("m1"))
		w.rest(time.Second)
		same(t, "turns", w.turns(), []string{"m1 waiting", "m3 done"})
		w.say(general, alice, "m4", "<@U0BOT> stop", under("m1"))
		w.rest(time.Second)
		same(t, "turns", w.turns(), []string{"m1 dropped stopped", "m3 done"})
		if all := w.board.all(); !strings.HasSuffix(all[0], "\nNobody is asked this any more.") {
			t.Errorf("posts %q", all)
		}
	}, llmtest.Call("ask", `{"question":"Sure?"}`), llmtest.Say("It is."))
}

// A model does not ask in the name of a tool.
func TestAModelAsksInItsOwnName(t *testing.T) {
	t.Parallel()
	asking(t, nil, func(w *world, m *llmtest.Model) {
		w.say(general, alice, "m1", "<@U0BOT> restart it")
		w.rest(time.Second)
		same(t, "turns", w.turns(), []string{"m1 done"})
		same(t, "told", answers(m.Requests()[1]), []string{`{"error":"only a tool asks in its own name","remedy":"leave out tool"}`})
	}, llmtest.Call("ask", `{"question":"Your PIN?","tool":"bank__login"}`), llmtest.Say("No."))
}
