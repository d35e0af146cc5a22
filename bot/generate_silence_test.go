package bot_test

import (
	"context"
	"runtime"
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

// In a thread that the agent owns the model may say nothing; where it is called it may
// not. In the first turn it is called.
func TestTheModelMayStaySilentWhereNobodyCalledIt(t *testing.T) {
	t.Parallel()
	empty := llmtest.Say("")
	beside := llmtest.Do(func(llm.Request) (llm.Response, error) {
		return llm.Response{Parts: []llm.Part{llm.Text("I had better not"), llm.Calling(llm.Call{ID: "c1", Name: "stay_silent", Args: "{}"})}, Stop: llm.StopCalls}, nil
	})
	for _, c := range []struct {
		name, text string
		script     []llmtest.Step
		turn       string
		posts      []string
	}{
		{"by the tool", "thanks, Bob", []llmtest.Step{llmtest.Call("stay_silent", `{"reason":"they thank\neach other"}`)}, "m2 done silent: they thank each other", nil},
		{"by the tool, with words beside it", "thanks", []llmtest.Step{beside}, "m2 done silent: the model gave no reason", nil},
		{"by the word", "thanks", []llmtest.Step{llmtest.Say("`NO_REPLY`.")}, "m2 done silent: NO_REPLY", nil},
		{"by nothing", "thanks", []llmtest.Step{empty}, "m2 done silent: the model said nothing", nil},
		{"an answer about the word", "what is it?", []llmtest.Step{llmtest.Say("NO_REPLY is a word.")}, "m2 done", []string{"NO_REPLY is a word."}},
		{"after a tool", "thanks", []llmtest.Step{llmtest.Call("channel_messages", `{"message_ids":["m1"]}`), llmtest.Say("NO_REPLY")}, "m2 done silent: NO_REPLY", nil},
		{"called, by nothing", "<@U0BOT> hi", []llmtest.Step{empty, empty}, "m2 failed the model said nothing (end)", []string{"Sorry"}},
		{"called, by the word once", "<@U0BOT> hi", []llmtest.Step{llmtest.Say("NO_REPLY"), llmtest.Say("Well then.")}, "m2 done", []string{"Well then."}},
		{"called, by the word", "<@U0BOT> hi", []llmtest.Step{llmtest.Say("NO_REPLY"), llmtest.Say("NO_REPLY")}, "m2 failed the model said nothing (end)", []string{"Sorry"}},
		{"called, by a tool that it was not given", "<@U0BOT> hi", []llmtest.Step{llmtest.Call("stay_silent", `{"reason":"x"}`), llmtest.Say("Well then.")}, "m2 done", []string{"Well then."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			model := llmtest.New(append(append([]llmtest.Step{llmtest.Say("first")}, c.script...), llmtest.Say("last"))...)
			placing(t, func(o *bot.Options) { o.Model, o.Answer.OwnedThreads = model, true }, func(w *world, p *slate) {
				p.wipes = true
				w.say(general, alice, "m1", "<@U0BOT> hi")
				w.rest(time.Minute)
				w.say(general, alice, "m2", c.text, under("m1"))
				w.rest(time.Minute)
				w.say(general, alice, "m3", "<@U0BOT> and now?", under("m1"))
				w.rest(time.Minute)
				if got := w.turns(); len(got) != 3 || got[1] != c.turn {
					t.Errorf("turns: %q", got)
				}
				got := w.board.all()
				if len(got) != 2+len(c.posts) || len(c.posts) > 0 && !strings.HasPrefix(got[1], c.posts[0]) || got[len(got)-1] != "last" {
					t.Errorf("posts: %q", got)
				}
				for _, x := range p.posts {
					for _, text := range x.was {
						if strings.Contains(text, "NO_REPLY") && c.posts == nil {
							t.Errorf("people saw %q", text)
						}
					}
				}
				if offered := toolNames(model.Requests()[0]); strings.Contains(offered, "stay_silent") {
					t.Errorf("a turn that was called offers %s", offered)
				}
				if offered, called := toolNames(model.Requests()[1]), strings.Contains(c.text, "U0BOT"); strings.Contains(offered, "stay_silent") == called {
					t.Errorf("the second turn offers %s", offered)
				}
			})
		})
	}
}

// An edit that names the agent while the model works makes the prompt again, and whoever
// is named may not stay silent.
func TestAnEditThatCallsEndsTheLeaveToStaySilent(t *testing.T) {
	t.Parallel()
	in(t, func(o *bot.Options) { o.Model, o.Answer.OwnedThreads = quietModel{}, true }, func(w *world) {
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(time.Minute)
		w.say(general, alice, "m2", "thanks", under("m1"))
		w.rest(500 * time.Millisecond)
		w.say(general, alice, "m2", "<@U0BOT> thanks, and is v2 out?", under("m1"), edited(time.Second))
		w.rest(time.Minute)
		same(t, "turns", w.turns(), []string{"m1 done", "m2 done"})
		same(t, "posts", w.board.all(), []string{"here I am", "here I am"})
	})
}

// A quietModel takes a second, and stays silent wherever it may.
type quietModel struct{}

func (quietModel) Name() string { return "quiet" }

func (quietModel) Generate(_ context.Context, r llm.Request, _ func(llm.Event)) (llm.Response, error) {
	time.Sleep(time.Second)
	if strings.Contains(toolNames(r), "stay_silent") {
		return llm.Response{Parts: []llm.Part{llm.Text("NO_REPLY")}, Stop: llm.StopEnd}, nil
	}
	return llm.Response{Parts: []llm.Part{llm.Text("here I am")}, Stop: llm.StopEnd}, nil
}

func toolNames(r llm.Request) string {
	var names []string
	for _, x := range r.Tools {
		names = append(names, x.Name)
	}
	return strings.Join(names, " ")
}

// A process that ends between the model's silence and the end of the turn leaves no
// placeholder, and the next one does not ask again.
func TestSilenceSurvivesTheEndOfTheProcess(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"after_answer", "after_retract", "before_finish", "after_finish"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				counter, err := tokens.For("o200k")
				if err != nil {
					t.Fatal(err)
				}
				p := &slate{board: &board{}, wipes: true}
				w := &world{t: t, store: memory(t), board: p.board, said: map[string]earshot.Time{}}
				model := llmtest.New(llmtest.Say("first"), llmtest.Call("stay_silent", `{"reason":"thanks"}`), llmtest.Call("stay_silent", `{"reason":"thanks"}`))
				armed := false
				for i := range 3 {
					ctx, cancel := context.WithCancel(context.Background())
					w.bot = bot.New(bot.Options{
						Store: w.store, Model: model, Platform: p, Placeholder: "…", Identity: self, Counter: counter,
						Answer: bot.Answer{OwnedThreads: true}, Limits: bot.Limits{Lease: 10 * time.Second},
						Fault: func(point string) {
							if armed && point == at {
								armed = false
								cancel()
								runtime.Goexit()
							}
						},
					})
					switch i {
					case 0:
						w.say(general, alice, "m1", "<@U0BOT> hi")
					case 1:
						w.say(general, alice, "m2", "thanks", under("m1"))
						armed = true
					}
					time.AfterFunc(time.Minute, cancel)
					if err := w.bot.Run(ctx); err != nil {
						t.Errorf("Run: %v", err)
					}
				}
				same(t, "turns", w.turns(), []string{"m1 done", "m2 done silent: thanks"})
				same(t, "posts", w.board.all(), []string{"first"})
			})
		})
	}
}
