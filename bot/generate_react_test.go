package bot_test

import (
	"context"
	"errors"
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

// A stamped slate is one on which emoji can be put at messages.
type stamped struct {
	*slate
	given []string // which, where, each once
	fails []error  // of the next ones
}

func (p *stamped) React(_ context.Context, at bot.Place, emoji string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var err error
	if len(p.fails) > 0 {
		err, p.fails = p.fails[0], p.fails[1:]
	}
	if s := emoji + " " + string(at.Anchor.ID); !slices.Contains(p.given, s) && err == nil {
		p.given = append(p.given, s)
	}
	return err
}

// In a thread that the agent owns the model may give an emoji in place of words. Where it
// is called it may not.
func TestTheModelMayReactWhereNobodyCalledIt(t *testing.T) {
	t.Parallel()
	lost, busy, refused := errors.New("lost"), &bot.PostError{Retry: 3 * time.Second, Err: errors.New("slow down")}, &bot.PostError{Err: errors.New("missing_scope")}
	for _, c := range []struct {
		name, text string
		fails      []error
		script     []llmtest.Step
		turn       string
		given      []string
		posts      []string
	}{
		{"at the question", "thanks", nil, []llmtest.Step{llmtest.Call("react", `{"emoji":"eyes"}`)}, "m2 done reacted :eyes:", []string{"👀 m2"}, nil},
		{"by its character", "thanks", nil, []llmtest.Step{llmtest.Call("react", `{"emoji":"❤"}`)}, "m2 done reacted :heart:", []string{"❤️ m2"}, nil},
		{"at another message", "thanks", nil, []llmtest.Step{llmtest.Call("react", `{"emoji":"+1","message":"00:00 Alice"}`)}, "m2 done reacted :+1:", []string{"👍 m1"}, nil},
		{"at a message by id", "thanks", nil, []llmtest.Step{llmtest.Call("react", `{"emoji":"+1","message":"m1"}`)}, "m2 done reacted :+1:", []string{"👍 m1"}, nil},
		{"at one that it was not shown", "thanks", nil, []llmtest.Step{llmtest.Call("react", `{"emoji":"+1","message":"m9"}`), llmtest.Say("NO_REPLY")}, "m2 done silent: NO_REPLY", nil, nil},
		{"an unknown emoji", "thanks", nil, []llmtest.Step{llmtest.Call("react", `{"emoji":"parrot"}`), llmtest.Say("You are welcome.")}, "m2 done", nil, []string{"You are welcome."}},
		{"while the platform is busy", "thanks", []error{busy, lost}, []llmtest.Step{llmtest.Call("react", `{"emoji":"eyes"}`)}, "m2 done reacted :eyes:", []string{"👀 m2"}, nil},
		{"without the permission", "thanks", []error{refused}, []llmtest.Step{llmtest.Call("react", `{"emoji":"eyes"}`)}, "m2 done silent: could not give :eyes:", nil, nil},
		{"called", "<@U0BOT> hi", nil, []llmtest.Step{llmtest.Call("react", `{"emoji":"eyes"}`), llmtest.Say("Well then.")}, "m2 done", nil, []string{"Well then."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			model := llmtest.New(append([]llmtest.Step{llmtest.Say("first")}, c.script...)...)
			in(t, func(o *bot.Options) {
				o.Model, o.Answer.OwnedThreads, o.Placeholder = model, true, "…"
				o.Platform = &stamped{slate: &slate{board: o.Platform.(*board), wipes: true}, fails: c.fails}
			}, func(w *world) {
				w.say(general, alice, "m1", "<@U0BOT> hi")
				w.rest(2 * time.Minute)
				w.say(general, alice, "m2", c.text, under("m1"))
				w.rest(2 * time.Minute)
				if got := w.turns(); len(got) != 2 || got[1] != c.turn {
					t.Errorf("turns: %q", got)
				}
				same(t, "posts", w.board.all(), append([]string{"first"}, c.posts...))
				same(t, "given", w.options.Platform.(*stamped).given, c.given)
				sameTools(t, model)
			})
		})
	}
}

// TestWithoutAReactorNothingIsOffered: the tool is there only where it does something.
func TestWithoutAReactorNothingIsOffered(t *testing.T) {
	t.Parallel()
	model := llmtest.New(llmtest.Say("first"), llmtest.Say("second"))
	in(t, func(o *bot.Options) { o.Model, o.Answer.OwnedThreads = model, true }, func(w *world) {
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(time.Minute)
		w.say(general, alice, "m2", "and?", under("m1"))
		w.rest(time.Minute)
		if offered := toolNames(model.Requests()[1]); strings.Contains(offered, " react") {
			t.Errorf("it offers %s", offered)
		}
	})
}

// A process that ends while it gives an emoji gives it once, and the next one does not
// ask again.
func TestAReactionSurvivesTheEndOfTheProcess(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"after_step", "before_post", "after_post", "before_finish", "after_finish"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				counter, err := tokens.For("o200k")
				if err != nil {
					t.Fatal(err)
				}
				p := &stamped{slate: &slate{board: &board{}, wipes: true}}
				w := &world{t: t, store: memory(t), board: p.board, said: map[string]earshot.Time{}}
				model := llmtest.New(llmtest.Say("first"), llmtest.Call("react", `{"emoji":"eyes"}`))
				armed := false
				for i := range 3 {
					ctx, cancel := context.WithCancel(context.Background())
					w.bot = bot.New(bot.Options{
						Store: w.store, Model: model, Platform: p, Identity: self, Counter: counter,
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
				if armed {
					t.Errorf("%s was not reached", at)
				}
				same(t, "turns", w.turns(), []string{"m1 done", "m2 done reacted :eyes:"})
				same(t, "posts", w.board.all(), []string{"first"})
				same(t, "given", p.given, []string{"👀 m2"})
			})
		})
	}
}

// TestTheAgentStopsListening when somebody asks it to, in words or as the model takes it,
// until it is called again.
func TestTheAgentStopsListening(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		script     []llmtest.Step
		stops      bool
	}{
		{"in plain words", "Stop listening, please!", []llmtest.Step{llmtest.Say("NO_REPLY")}, true},
		{"in plain words, by its name", "<@U0BOT> stop listening here.", []llmtest.Step{llmtest.Say("As you like.")}, true},
		{"in plain words, while the model fails", "earshot, stop listening", []llmtest.Step{llmtest.Say(""), llmtest.Say("")}, true},
		{"as the model takes it", "could you leave us alone now?", []llmtest.Step{llmtest.Call("stop_listening", `{}`), llmtest.Say("As you like.")}, true},
		{"as the model takes it, without a word", "leave us alone now", []llmtest.Step{llmtest.Calls(callOf("stop_listening", `{}`), callOf("stay_silent", `{"reason":"asked to"}`))}, true},
		{"called, as the model takes it", "<@U0BOT> leave us alone now", []llmtest.Step{llmtest.Call("stop_listening", `{}`), llmtest.Say("As you like.")}, true},
		{"talk about it", "he should stop listening to that music", []llmtest.Step{llmtest.Say("True.")}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			model := llmtest.New(append([]llmtest.Step{llmtest.Say("first")}, append(c.script, llmtest.Say("again"), llmtest.Say("more"), llmtest.Say("more"))...)...)
			in(t, func(o *bot.Options) { o.Model, o.Answer.OwnedThreads = model, true }, func(w *world) {
				w.say(general, alice, "m1", "<@U0BOT> hi")
				w.rest(time.Minute)
				w.say(general, alice, "m2", c.text, under("m1"))
				w.rest(time.Minute)
				if got := w.say(general, alice, "m3", "and so on", under("m1")); got.Opened == c.stops {
					t.Errorf("then: %+v", got)
				}
				w.rest(time.Minute)
				if got := w.say(general, alice, "m4", "<@U0BOT> and now?", under("m1")); !got.Opened {
					t.Errorf("called again: %+v", got)
				}
				w.rest(time.Minute)
				if got := w.say(general, alice, "m5", "and so on", under("m1")); !got.Opened {
					t.Errorf("after it was called again: %+v", got)
				}
				w.rest(time.Minute)
			})
		})
	}
}

// Who may not ask cannot stop it either.
func TestWhoMayNotAskDoesNotStopIt(t *testing.T) {
	t.Parallel()
	in(t, func(o *bot.Options) { o.Answer.OwnedThreads = true }, func(w *world) {
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(time.Minute)
		w.say(general, bob, "m2", "stop listening", under("m1"), notAllowed)
		if got := w.say(general, alice, "m3", "and?", under("m1")); !got.Opened {
			t.Errorf("then: %+v", got)
		}
		w.rest(time.Minute)
	})
}

// TestPeopleWhoTalkToEachOtherAreLeftAlone: in a thread that the agent owns the model is
// not asked about every word for ever.
func TestPeopleWhoTalkToEachOtherAreLeftAlone(t *testing.T) {
	t.Parallel()
	steps := []llmtest.Step{llmtest.Say("first")}
	for range 6 {
		steps = append(steps, llmtest.Say("NO_REPLY"))
	}
	model := llmtest.New(append(steps, llmtest.Say("again"), llmtest.Say("more"))...)
	in(t, func(o *bot.Options) { o.Model, o.Answer.OwnedThreads = model, true }, func(w *world) {
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(time.Minute)
		for i, id := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			got := w.say(general, []earshot.Author{alice, bob}[i%2], id, "lunch at "+id, under("m1"))
			if want := map[bool]string{true: "owned", false: "among-people"}[i < 6]; got.Why != want || got.Opened != (i < 6) {
				t.Errorf("%s: %s, opened %v, want %s", id, got.Why, got.Opened, want)
			}
			w.rest(time.Minute)
		}
		if got := w.say(general, bob, "m2", "<@U0BOT> what do you say?", under("m1")); !got.Opened {
			t.Errorf("called: %+v", got)
		}
		w.rest(time.Minute)
		if got := w.say(general, bob, "m3", "and further?", under("m1")); got.Why != "owned" || !got.Opened {
			t.Errorf("after it was called: %+v", got)
		}
		w.rest(time.Minute)
	})
}

// Silence keeps no thread: what makes the agent its owner is an answer.
func TestSilenceDoesNotKeepAThread(t *testing.T) {
	t.Parallel()
	model := llmtest.New(llmtest.Say("first"), llmtest.Say("NO_REPLY"))
	in(t, func(o *bot.Options) { o.Model, o.Answer.OwnedThreads = model, true }, func(w *world) {
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(23 * time.Hour)
		w.say(general, alice, "m2", "thanks", under("m1"))
		w.rest(2 * time.Hour)
		same(t, "turns", w.turns(), []string{"m1 done", "m2 done silent: NO_REPLY"})
		if got := w.say(general, alice, "m3", "lunch?", under("m1")); got.Opened {
			t.Errorf("25 hours after its answer: %+v", got)
		}
	})
}

func callOf(name, args string) llm.Call { return llm.Call{ID: name, Name: name, Args: args} }
