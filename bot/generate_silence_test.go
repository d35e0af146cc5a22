package bot_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

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
		{"called, by the tool once", "<@U0BOT> hi", []llmtest.Step{llmtest.Call("stay_silent", `{"reason":"x"}`), llmtest.Say("Well then.")}, "m2 done", []string{"Well then."}},
		{"called, by the tool", "<@U0BOT> hi", []llmtest.Step{llmtest.Call("stay_silent", "{}"), llmtest.Call("stay_silent", "{}")}, "m2 failed the model said nothing (calls)", []string{"Sorry"}},
		{"called, by the tool, with words beside it", "<@U0BOT> hi", []llmtest.Step{beside, beside}, "m2 done", []string{"I had better not"}},
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
				sameTools(t, model)
			})
		})
	}
}

// The tools stand before everything else in a request: were they others in a turn that
// was called, no turn of the conversation would find the one before it in the provider's
// cache.
func TestEachTurnOfAConversationHasTheSameTools(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer bot.Answer
		want   string
	}{
		"in a thread that it owns":      {bot.Answer{OwnedThreads: true}, "stay_silent react stop_listening"},
		"where it answers each message": {bot.Answer{Roots: true}, "stay_silent react"},
		"where it is always called":     {bot.Answer{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := llmtest.New(llmtest.Say("first"), llmtest.Say("second"))
			in(t, func(o *bot.Options) {
				o.Model, o.Answer = model, c.answer
				o.Platform = &stamped{slate: &slate{board: o.Platform.(*board), wipes: true}}
			}, func(w *world) {
				w.say(general, alice, "m1", "<@U0BOT> hi")
				w.rest(time.Minute)
				w.say(general, alice, "m2", map[bool]string{true: "and", false: "<@U0BOT> and"}[c.answer.OwnedThreads], under("m1"))
				w.rest(time.Minute)
				sameTools(t, model)
				got := toolNames(model.Requests()[0])
				if want := strings.TrimSpace("channel_context channel_messages conversation_search " + c.want); got != want {
					t.Errorf("it offers %s, want %s", got, want)
				}
			})
		})
	}
}

// sameTools checks that a model was offered the same tools with each request.
func sameTools(t *testing.T, m *llmtest.Model) {
	t.Helper()
	asked := m.Requests()
	for i, r := range asked[1:] {
		if diff := cmp.Diff(asked[0].Tools, r.Tools); diff != "" {
			t.Errorf("the tools of request %d (-first +this):\n%s", i+1, diff)
		}
	}
}

// A model that stays silent where it was called reads why that cannot be.
func TestSilenceWhereTheAgentIsCalledIsRefused(t *testing.T) {
	t.Parallel()
	model := llmtest.New(llmtest.Calls(callOf("stay_silent", `{"reason":"x"}`), callOf("channel_messages", `{"message_ids":["m1"]}`)), llmtest.Say("Well then."))
	in(t, func(o *bot.Options) { o.Model, o.Answer.OwnedThreads = model, true }, func(w *world) {
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(time.Minute)
		parts := model.Requests()[1].Messages[2].Parts
		if got, want := parts[0].Result.Parts[0].Text, `{"error":"you were called by name: answer in words"}`; got != want || !parts[0].Result.Failed {
			t.Errorf("it reads %s, want %s", got, want)
		}
		if parts[1].Result.Failed {
			t.Errorf("the call beside it failed: %s", parts[1].Result.Parts[0].Text)
		}
	})
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

// A quietModel takes a second, and stays silent wherever nobody names the agent.
type quietModel struct{}

func (quietModel) Name() string { return "quiet" }

func (quietModel) Generate(_ context.Context, r llm.Request, _ func(llm.Event)) (llm.Response, error) {
	time.Sleep(time.Second)
	last := r.Messages[len(r.Messages)-1].Parts
	if text := last[len(last)-1].Text; !strings.Contains(text, "@earshot") {
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
