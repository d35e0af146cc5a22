package bot_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
	"github.com/earshot-ai/earshot/tokens"
)

// A chatterer writes a word each second, for a minute.
type chatterer struct{ asked []llm.Request }

func (*chatterer) Name() string { return "slow" }

func (m *chatterer) Generate(ctx context.Context, r llm.Request, show func(llm.Event)) (llm.Response, error) {
	m.asked = append(m.asked, r)
	var said strings.Builder
	for n := range 60 {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return llm.Response{}, ctx.Err()
		}
		word := fmt.Sprintf("word%d ", n+1)
		said.WriteString(word)
		if show != nil {
			show(llm.Event{Text: word})
		}
	}
	return llm.Response{Parts: []llm.Part{llm.Text(said.String())}, Stop: llm.StopEnd}, nil
}

// chattering runs f with a bot whose model is a chatterer, on a platform with buttons.
func chattering(t *testing.T, change func(*bot.Options), f func(w *world, m *chatterer)) {
	t.Helper()
	m := &chatterer{}
	in(t, func(o *bot.Options) {
		o.Model, o.Placeholder, o.Platform = m, "…", panel{&slate{board: o.Platform.(*board), wipes: true}}
		if change != nil {
			change(o)
		}
	}, func(w *world) { f(w, m) })
}

func TestAButtonStopsAnAnswer(t *testing.T) {
	t.Parallel()
	chattering(t, nil, func(w *world, _ *chatterer) {
		w.say(general, alice, "m1", "<@U0BOT> tell me all")
		w.rest(4500 * time.Millisecond)
		asks := w.board.asks()
		if len(asks) != 1 || len(asks[0].Choices) != 1 || asks[0].Choices[0].Label != "Stop" {
			t.Fatalf("buttons %+v", asks)
		}
		same(t, "somebody else", w.choose(asks[0], "stop", bob), "Only who asked can stop this.")
		same(t, "a post that is not there", w.choose(asks[0], "stop", alice, func(c *bot.Chosen) { c.Key = "pXYZ" }), "This has ended already.")
		same(t, "the asker", w.choose(asks[0], "stop", alice), "")
		w.rest(10 * time.Millisecond) // at once
		same(t, "posts", w.board.all(), []string{"word1 word2 word3 word4\n\n(Stopped.)"})
		same(t, "turns", w.turns(), []string{"m1 dropped stopped"})
		same(t, "buttons", len(w.board.asks()), 0)
		same(t, "twice", w.choose(asks[0], "stop", alice), "This has ended already.")
		w.rest(time.Minute)
		same(t, "posts", len(w.board.all()), 1)
	})
}

func TestAWordStopsAnAnswer(t *testing.T) {
	t.Parallel()
	chattering(t, nil, func(w *world, m *chatterer) {
		w.say(general, alice, "m1", "<@U0BOT> tell me all")
		w.rest(4500 * time.Millisecond)
		out := w.say(general, alice, "m2", "<@U0BOT> Stop!", under("m1"))
		same(t, "the word", []any{out.Why, out.Opened}, []any{"stop", false})
		w.rest(time.Second)
		// The platform delivers it once more, and she says it once more.
		again := w.say(general, alice, "m2", "<@U0BOT> Stop!", under("m1"), func(e *bot.Event) { e.Delivery = "other" })
		same(t, "the word again", []any{again.Why, again.Opened}, []any{"stop", false})
		w.say(general, alice, "m3", "<@U0BOT> stop", under("m1"))
		w.rest(time.Second)
		same(t, "turns", w.turns(), []string{"m1 dropped stopped"})
		same(t, "posts", w.board.all(), []string{"word1 word2 word3 word4\n\n(Stopped.)"})
		w.rest(2 * time.Minute)
		w.say(general, alice, "m4", "<@U0BOT> go on after all", under("m1"))
		w.rest(time.Second)
		if got := fmt.Sprint(m.asked[len(m.asked)-1].Messages); !strings.Contains(got, "(you): word1 word2 word3 word4") || !strings.Contains(got, "(Stopped.)") {
			t.Errorf("the next question is asked with\n%s", got)
		}
	})
}

func TestWhatIsNoStop(t *testing.T) {
	t.Parallel()
	for name, say := range map[string]func(w *world) bot.Outcome{
		"of somebody else":           func(w *world) bot.Outcome { return w.say(general, bob, "m2", "<@U0BOT> stop", under("m1")) },
		"not to the bot":             func(w *world) bot.Outcome { return w.say(general, alice, "m2", "stop", under("m1")) },
		"elsewhere":                  func(w *world) bot.Outcome { return w.say(general, alice, "m2", "<@U0BOT> stop") },
		"with more words":            func(w *world) bot.Outcome { return w.say(general, alice, "m2", "<@U0BOT> stop the build", under("m1")) },
		"with nothing to be stopped": func(w *world) bot.Outcome { return w.say(general, alice, "m3", "<@U0BOT> stop") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chattering(t, nil, func(w *world, _ *chatterer) {
				w.say(general, alice, "m1", "<@U0BOT> tell me all")
				w.rest(4500 * time.Millisecond)
				if out := say(w); out.Why == "stop" {
					t.Errorf("it is %+v", out)
				}
				w.rest(2 * time.Minute)
				if got := w.board.all(); !strings.HasSuffix(got[0], "word60") {
					t.Errorf("posts %q", got)
				}
			})
		})
	}
}

// Whoever hears it, the process that answers ends the turn, and one that takes over does.
func TestAStopReachesAnotherProcess(t *testing.T) {
	t.Parallel()
	chattering(t, nil, func(w *world, _ *chatterer) {
		w.say(general, alice, "m1", "<@U0BOT> tell me all")
		w.rest(4500 * time.Millisecond)
		other := bot.New(w.options)
		if running, err := other.Stop(t.Context(), 1, ""); err != nil || !running {
			t.Fatal(running, err)
		}
		w.rest(3 * time.Second)
		got := w.board.all()
		if len(got) != 1 || !strings.HasSuffix(got[0], "\n\n(Stopped.)") || !strings.HasPrefix(got[0], "word1 ") {
			t.Errorf("posts %q", got)
		}
		same(t, "turns", w.turns(), []string{"m1 dropped stopped"})
	})
}

func TestAStopBeforeAnythingIsShownPostsNothing(t *testing.T) {
	t.Parallel()
	chattering(t, func(o *bot.Options) { o.Placeholder = "" }, func(w *world, m *chatterer) {
		w.say(general, alice, "m1", "<@U0BOT> tell me all")
		w.rest(4500 * time.Millisecond)
		w.say(general, alice, "m2", "<@U0BOT> stop", under("m1"))
		w.rest(time.Minute)
		same(t, "posts", w.board.all(), nil)
		same(t, "turns", w.turns(), []string{"m1 dropped stopped"})
	})
	// One that nobody has begun is not begun.
	chattering(t, nil, func(w *world, m *chatterer) {
		w.stop()
		w.say(general, alice, "m1", "<@U0BOT> tell me all")
		w.say(general, alice, "m2", "<@U0BOT> stop", under("m1"))
		w.start()
		w.rest(time.Minute)
		same(t, "posts", w.board.all(), nil)
		same(t, "turns", w.turns(), []string{"m1 dropped stopped"})
		same(t, "asked", len(m.asked), 0)
	})
}

func TestAStopEndsWhatPeopleAreAsked(t *testing.T) {
	t.Parallel()
	withApprovals(t, nil, func(w *world, b *tracker, _ *llmtest.Model) {
		ask := w.asked(b)
		w.say(general, alice, "m2", "<@U0BOT> stop", under("m1"))
		w.rest(time.Second)
		same(t, "turns", w.turns(), []string{"m1 dropped stopped"})
		same(t, "done", b.done(), nil)
		same(t, "posts", w.board.all(), []string{"A call of `create_issue`:\n```\n{\n  \"text\": \"staging\"\n}\n```\nNobody is asked for this any more; it was not done."})
		same(t, "a click later", w.choose(ask, "do", alice), "Nobody is asked this any more.")
	}, llmtest.Call("create_issue", `{"text":"staging"}`))
}

// What a tool has done is told where an answer is stopped after it.
func TestAStopAfterAToolHasActedSaysSo(t *testing.T) {
	t.Parallel()
	withTracker(t, func(o *bot.Options, _ *tracker) {
		o.Platform, o.Placeholder = panel{&slate{board: o.Platform.(*board), wipes: true}}, "…"
	}, func(w *world, b *tracker, _ *llmtest.Model) {
		w.say(general, alice, "m1", "<@U0BOT> open an issue")
		w.rest(time.Second)
		same(t, "done", len(b.done()), 1)
		w.say(general, alice, "m2", "<@U0BOT> stop", under("m1"))
		w.rest(time.Second)
		same(t, "posts", w.board.all(), []string{"(Stopped, after a tool had already done something. The people who run me can see what was done.)"})
		same(t, "turns", w.turns(), []string{"m1 dropped stopped"})
	}, llmtest.Call("create_issue", `{"text":"staging"}`), llmtest.After(time.Minute, llmtest.Say("Opened.")))
}

// Wherever a process ends while an answer is stopped, it ends as stopped, once, what was
// written stays, and nothing more is written.
func TestKillsWhileAnAnswerIsStopped(t *testing.T) {
	t.Parallel()
	for _, at := range slices.Concat(bot.FaultPoints(), bot.PlaceholderFaultPoints()) {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { killWhileStopping(t, at) })
		})
	}
}

func killWhileStopping(t *testing.T, at string) {
	counter, err := tokens.For("o200k")
	if err != nil {
		t.Fatal(err)
	}
	p := panel{&slate{board: &board{}, wipes: true}}
	w := &world{t: t, store: memory(t), board: p.board, said: map[string]earshot.Time{}}
	killed, stopped := false, false
	for i := range 3 {
		ctx, cancel := context.WithCancel(context.Background())
		o := bot.Options{
			Store: w.store, Model: &chatterer{}, Platform: p, Placeholder: "…", Identity: self, Counter: counter, Owner: fmt.Sprint("p", i),
			Limits: bot.Limits{Lease: 10 * time.Second},
		}
		w.bot = bot.New(o) // hears, and does not die
		o.Fault = func(point string) {
			if stopped && !killed && point == at {
				killed = true
				cancel()
				runtime.Goexit()
			}
		}
		if i == 0 {
			w.say(general, alice, "m1", "<@U0BOT> tell me all")
			time.AfterFunc(4500*time.Millisecond, func() {
				stopped = true
				w.say(general, alice, "m2", "<@U0BOT> stop", under("m1"))
			})
		}
		time.AfterFunc(time.Minute, cancel)
		if err := bot.New(o).Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
	}
	posts := w.board.all()
	if len(posts) != 1 || !strings.HasPrefix(posts[0], "word1 ") || !strings.HasSuffix(posts[0], "\n\n(Stopped.)") {
		t.Errorf("posts %q", posts)
	}
	same(t, "turns", w.turns(), []string{"m1 dropped stopped"})
	same(t, "buttons", len(w.board.asks()), 0)
}
