package bot_test

import (
	"context"
	"errors"
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

// What a model decides about a message that nobody addressed to anybody.
var (
	quiet   = llmtest.Call("stay_silent", `{"reason":"they talk"}`)
	speaks  = llmtest.Call("speak", `{"reason":"the wiki has it"}`)
	reactsE = llmtest.Call("react", `{"emoji":"eyes"}`)
)

// alongside runs f with a bot that reads along in the channel general: decider decides,
// and model answers.
func alongside(t *testing.T, decider, model *llmtest.Model, change func(*bot.Options), f func(w *world, p *stamped)) {
	t.Helper()
	p := &stamped{slate: &slate{board: &board{}, wipes: true}}
	in(t, func(o *bot.Options) {
		o.Model, o.Platform, o.Placeholder = model, p, "…"
		o.Ambient = bot.Ambient{Channels: []earshot.ChannelID{general.ID}, Speak: true, Model: decider}
		if change != nil {
			change(o)
		}
	}, func(w *world) {
		w.board = p.board
		f(w, p)
	})
}

// TestAModelDecidesWhetherToSaySomething: what is no clear decision is silence with its
// reason, and whatever goes wrong, nobody reads an apology or sees a placeholder.
func TestAModelDecidesWhetherToSaySomething(t *testing.T) {
	t.Parallel()
	broken := &llm.Error{Provider: "script", Status: 400, Message: "no"}
	for _, c := range []struct {
		name     string
		decision llmtest.Step
		answer   []llmtest.Step
		onlyMark bool // answer.ambient: react
		fails    []error
		turn     string
		posts    []string
		given    []string
	}{
		{name: "silence", decision: quiet, turn: "done ambient; silent: they talk"},
		{name: "words", decision: speaks, answer: []llmtest.Step{llmtest.Say("It stands in the wiki.")}, turn: "done ambient", posts: []string{"It stands in the wiki."}},
		{name: "words after a look", decision: speaks, answer: []llmtest.Step{llmtest.Call("channel_context", `{"intent":"notes"}`), llmtest.Say("Here.")}, turn: "done ambient", posts: []string{"Here."}},
		{name: "an emoji", decision: reactsE, turn: "done ambient; reacted :eyes:", given: []string{"👀 m1"}},
		{name: "an emoji where only that may be", decision: reactsE, onlyMark: true, turn: "done ambient; reacted :eyes:", given: []string{"👀 m1"}},
		{name: "an emoji that the platform refuses", decision: reactsE, fails: []error{&bot.PostError{Err: errors.New("missing_scope")}}, turn: "done ambient; silent: could not give :eyes:"},
		{name: "an emoji at a bot's message", decision: llmtest.Call("react", `{"emoji":"eyes","message":"m0"}`), turn: "done ambient; silent: no emoji of that name, or no message of a person to give it to"},
		{name: "words where only an emoji may be", decision: llmtest.Say("In the wiki!"), onlyMark: true, turn: "done ambient; silent: it wanted words, and may only give an emoji here (answer.ambient)"},
		{name: "leave to speak where only an emoji may be", decision: speaks, onlyMark: true, turn: "done ambient; silent: it wanted words, and may only give an emoji here (answer.ambient)"},
		{name: "no decision", decision: llmtest.Say("In the wiki!"), turn: "done ambient; silent: the model did not decide"},
		{name: "an empty one", decision: llmtest.Say(""), turn: "done ambient; silent: the model did not decide"},
		{name: "the word for silence", decision: llmtest.Say("NO_REPLY"), turn: "done ambient; silent: NO_REPLY"},
		{name: "a model that fails", decision: llmtest.Fail(broken), turn: "done ambient; silent: the decision failed: script: status 400: no"},
		{name: "a model that cannot be reached", decision: llmtest.Fail(&llm.Error{Provider: "script", Status: 503, Retryable: true}), turn: "done ambient; silent: the decision failed: script: status 503"},
		{name: "a model that hangs", decision: llmtest.Hang(), turn: "done ambient; silent: no decision within 20s"},
		{name: "words, and then silence", decision: speaks, answer: []llmtest.Step{llmtest.Call("stay_silent", `{"reason":"not sure"}`)}, turn: "done ambient; silent: not sure"},
		{name: "words, and then none", decision: speaks, answer: []llmtest.Step{llmtest.Say("")}, turn: "done ambient; silent: the model said nothing"},
		{name: "words, and then an emoji", decision: speaks, answer: []llmtest.Step{reactsE}, turn: "done ambient; reacted :eyes:", given: []string{"👀 m1"}},
		{name: "words of a model that fails", decision: speaks, answer: []llmtest.Step{llmtest.Fail(broken)}, turn: "done ambient; silent: script: status 400: no"},
		{name: "words of a model that cannot be reached", decision: speaks, answer: []llmtest.Step{llmtest.Fail(&llm.Error{Provider: "script", Status: 503, Retryable: true})}, turn: "done ambient; silent: script: status 503"},
		{name: "words of a model that hangs", decision: speaks, answer: []llmtest.Step{llmtest.Hang()}, turn: "done ambient; silent: no answer within 2m0s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			decider, model := llmtest.New(c.decision), llmtest.New(c.answer...)
			alongside(t, decider, model, func(o *bot.Options) { o.Ambient.Speak = !c.onlyMark }, func(w *world, p *stamped) {
				p.fails = c.fails
				w.say(general, ci, "m0", "build 812 is green")
				if got := w.say(general, alice, "m1", "where do the release notes go?"); !got.Opened || got.Why != "ambient" {
					t.Errorf("the message: %+v", got)
				}
				same(t, "at once", w.turns(), []string{"m1 open ambient"})
				w.rest(10 * time.Minute)
				got := w.turns()
				if len(got) != 1 || !strings.HasPrefix(got[0], "m1 "+c.turn) {
					t.Errorf("turns: %q, want %q", got, c.turn)
				}
				same(t, "posts", w.board.all(), c.posts)
				same(t, "given", p.given, c.given)
				if decider.Left()+model.Left() > 0 || len(p.private) > 0 {
					t.Errorf("left: %d decisions, %d answers; told in private: %q", decider.Left(), model.Left(), p.private)
				}
				for _, x := range p.posts {
					if len(x.was) > 0 {
						t.Errorf("people saw %q", x.was)
					}
				}
			})
		})
	}
}

// TestWhatIsNotReadAlong: only what a person says now, to no one, in a channel where the
// agent is to read along.
func TestWhatIsNotReadAlong(t *testing.T) {
	t.Parallel()
	other := general
	other.ID = "C9"
	for name, c := range map[string]struct {
		at    earshot.Channel
		who   earshot.Author
		text  string
		event func(*bot.Event)
		why   string
	}{
		"another channel":        {other, alice, "where?", nil, "not-addressed"},
		"a bot":                  {general, ci, "build 813 is red", nil, "bot"},
		"a bot of this program":  {general, earshot.Author{ID: "U8BOT", Name: "earshot", Kind: earshot.Bot}, "It stands in the wiki.", nil, "bot"},
		"itself":                 {general, earshot.Author{ID: "U0BOT", Kind: earshot.Bot}, "hi", nil, "self"},
		"the system":             {general, earshot.Author{ID: "U1", Kind: earshot.System}, "joined", nil, "system"},
		"who may not ask":        {general, alice, "where?", notAllowed, "not-addressed"},
		"somebody else is named": {general, alice, "<@U2> where?", nil, "not-addressed"},
		"a reply to somebody":    {general, alice, "in the wiki", func(e *bot.Event) { e.Message.ReplyTo = "m0" }, "not-addressed"},
		"history":                {general, alice, "where?", func(e *bot.Event) { e.Past = true }, "not-addressed"},
		"an edit":                {general, alice, "where?", edited(time.Second), "edit"},
		"nothing but marks":      {general, alice, "…", nil, "not-addressed"},
		"an isolated one":        {general, alice, "🚫 where?", nil, "not-addressed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			alongside(t, llmtest.New(), llmtest.New(), nil, func(w *world, _ *stamped) {
				w.say(general, ci, "b0", "build 812 is green")
				w.said["m0"] = earshot.TimeOf(time.Now())
				if _, err := w.store.Record(t.Context(), general.Scope(), earshot.Message{ID: "m0", Time: w.said["m0"], Author: bob, Text: "hm"}); err != nil {
					t.Fatal(err)
				}
				change := []func(*bot.Event){}
				if c.event != nil {
					change = append(change, c.event)
				}
				if got := w.say(c.at, c.who, "m1", c.text, change...); got.Opened || got.Why != c.why {
					t.Errorf("got %+v, want %s", got, c.why)
				}
				same(t, "turns", w.turns(), nil)
			})
		})
	}
}

// In a thread that it owns nothing is read along: there the rules of owned threads hold.
func TestOwnThreadsAreNotReadAlong(t *testing.T) {
	t.Parallel()
	decider := llmtest.New(quiet)
	alongside(t, decider, llmtest.New(llmtest.Say("first"), llmtest.Say("second")), func(o *bot.Options) { o.Answer.OwnedThreads = true }, func(w *world, _ *stamped) {
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(time.Minute)
		if got := w.say(general, alice, "m2", "and?", under("m1")); got.Why != "owned" {
			t.Errorf("in its thread: %+v", got)
		}
		w.rest(time.Minute)
		w.say(general, alice, "x1", "anybody for lunch?")
		w.rest(time.Minute)
		same(t, "turns", w.turns(), []string{"m1 done", "m2 done", "x1 done ambient; silent: they talk"})
		if got := w.say(general, bob, "x2", "me", under("x1")); got.Why != "ambient" {
			t.Errorf("in a thread of people: %+v", got)
		}
	})
}

// TestABurstIsLookedAtOnce: the last of several messages is, once nothing was said for a
// while, and none where the agent was called meanwhile.
func TestABurstIsLookedAtOnce(t *testing.T) {
	t.Parallel()
	const talk = " dropped ambient; silent: people went on talking"
	gone := strings.Replace(talk, " dropped", " done", 1)
	t.Run("at the top level", func(t *testing.T) {
		t.Parallel()
		decider := llmtest.New(quiet)
		alongside(t, decider, llmtest.New(), nil, func(w *world, _ *stamped) {
			for i, text := range []string{"the deploy", "of this morning", "who did it?"} {
				w.say(general, alice, fmt.Sprint("m", i), text)
				w.rest(3 * time.Second)
			}
			if n := len(decider.Requests()); n > 0 {
				t.Errorf("the model was asked %d times while they talk", n)
			}
			w.rest(time.Minute)
			same(t, "turns", w.turns(), []string{"m0" + gone, "m1" + gone, "m2 done ambient; silent: they talk"})
		})
	})
	t.Run("in a thread, and then it is called", func(t *testing.T) {
		t.Parallel()
		alongside(t, llmtest.New(), llmtest.New(llmtest.Say("here")), nil, func(w *world, _ *stamped) {
			w.say(general, bob, "b0", "the deploy", func(e *bot.Event) { e.Past = true })
			w.say(general, alice, "m0", "of this morning", under("b0"))
			w.say(general, alice, "m1", "who did it?", under("b0"))
			w.say(general, alice, "m2", "<@U0BOT> who did it?", under("b0"))
			w.rest(time.Minute)
			same(t, "turns", w.turns(), []string{"m0" + talk, "m1" + talk, "m2 done"})
			same(t, "posts", w.board.all(), []string{"here"})
		})
	})
	t.Run("a mention is added while it waits", func(t *testing.T) {
		t.Parallel()
		alongside(t, llmtest.New(), llmtest.New(llmtest.Say("here")), nil, func(w *world, _ *stamped) {
			w.say(general, alice, "m1", "who did it?")
			w.rest(time.Second)
			w.say(general, alice, "m1", "<@U0BOT> who did it?", edited(time.Second))
			w.rest(time.Minute)
			same(t, "turns", w.turns(), []string{"m1 done"})
			same(t, "posts", w.board.all(), []string{"here"})
		})
	})
}

// TestSilenceLeavesNothing: the next question's prompt shows what was said, as if nobody
// had been asked about it, and the session is that of the questions alone.
func TestSilenceLeavesNothing(t *testing.T) {
	t.Parallel()
	model := llmtest.New(llmtest.Say("first"), llmtest.Say("second"))
	decider := llmtest.New(quiet, quiet)
	alongside(t, decider, model, nil, func(w *world, _ *stamped) {
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(time.Minute)
		w.say(general, bob, "m2", "the staging disk is full", under("m1"))
		w.rest(time.Minute)
		w.say(general, bob, "x1", "prod too, I think")
		w.rest(time.Minute)
		w.say(general, alice, "m3", "<@U0BOT> what is full?", under("m1"))
		w.rest(time.Minute)
		same(t, "turns", w.turns(), []string{"m1 done", "m2 done ambient; silent: they talk", "x1 done ambient; silent: they talk", "m3 done"})
		first, second := model.Requests()[0], model.Requests()[1]
		if len(second.Messages) != 3 || second.Messages[0].Parts[0].Text != first.Messages[0].Parts[0].Text {
			t.Fatalf("the second request does not go on from the first: %d messages", len(second.Messages))
		}
		text := second.Messages[2].Parts[0].Text
		for _, want := range []string{"Bob: the staging disk is full", "Bob: prod too, I think"} {
			if !strings.Contains(text, want) {
				t.Errorf("the question's prompt lacks %q:\n%s", want, text)
			}
		}
		sameTools(t, model)
		last := decider.Requests()[0].Messages
		parts := last[len(last)-1].Parts
		if got := toolNames(decider.Requests()[0]); got != "stay_silent react speak" || !strings.Contains(parts[len(parts)-1].Text, "nobody called you") {
			t.Errorf("the decision offers %s and says %q", got, parts[len(parts)-1].Text)
		}
	})
}

// TestTheHourIsCountedInTheStore: over a restart and two replicas, words and emoji, and
// what is decided at the same moment. The model that decides is asked no more then.
func TestTheHourIsCountedInTheStore(t *testing.T) {
	t.Parallel()
	t.Run("over a restart", func(t *testing.T) {
		t.Parallel()
		decider, model := llmtest.New(speaks, reactsE, quiet, speaks), llmtest.New(llmtest.Say("one"), llmtest.Say("two"))
		alongside(t, decider, model, func(o *bot.Options) { o.Ambient.Hourly = 2 }, func(w *world, _ *stamped) {
			for i := range 5 {
				w.say(general, alice, fmt.Sprint("m", i), "anybody?")
				w.rest(time.Minute)
				if i == 1 {
					w.stop()
					w.start()
				}
			}
			const enough = " done ambient; silent: it has said enough here within the last hour (answer.ambient_hourly)"
			same(t, "turns", w.turns(), []string{"m0 done ambient", "m1 done ambient; reacted :eyes:", "m2" + enough, "m3" + enough, "m4" + enough})
			w.rest(time.Hour)
			w.say(general, alice, "m5", "anybody?")
			w.rest(time.Minute)
			w.say(general, alice, "m6", "anybody?")
			w.rest(time.Minute)
			same(t, "later", w.turns()[5:], []string{"m5 done ambient; silent: they talk", "m6 done ambient"})
		})
	})
	t.Run("how often the model is asked", func(t *testing.T) {
		t.Parallel()
		decider := llmtest.New(slices.Repeat([]llmtest.Step{quiet}, bot.AsksPerAnswer)...)
		alongside(t, decider, llmtest.New(), func(o *bot.Options) { o.Ambient.Hourly = 1 }, func(w *world, _ *stamped) {
			for i := range bot.AsksPerAnswer + 1 {
				w.say(general, alice, fmt.Sprint("m", i), "anybody?")
				w.rest(time.Minute)
			}
			got := w.turns()
			if want := fmt.Sprint("m", bot.AsksPerAnswer, " done ambient; silent: a model was asked often enough here within the last hour (answer.ambient_hourly)"); got[len(got)-1] != want {
				t.Errorf("the last turn: %q", got[len(got)-1])
			}
		})
	})
	t.Run("two replicas decide at once", func(t *testing.T) {
		t.Parallel()
		slow := llmtest.New(llmtest.After(3*time.Second, speaks), llmtest.After(3*time.Second, speaks), llmtest.After(3*time.Second, speaks))
		model := llmtest.New(llmtest.After(time.Second, llmtest.Say("one")), llmtest.After(time.Second, llmtest.Say("two")), llmtest.After(time.Second, llmtest.Say("three")))
		alongside(t, slow, model, func(o *bot.Options) { o.Ambient.Hourly, o.Limits.Parallel = 1, 1 }, func(w *world, _ *stamped) {
			next := &world{t: t, options: w.options, said: w.said}
			next.options.Owner = "two"
			next.start()
			defer next.stop()
			for i := range 3 { // in threads of their own, so that none is the end of another's talk
				root := fmt.Sprint("b", i)
				w.say(general, bob, root, "the deploy", func(e *bot.Event) { e.Past = true })
				w.say(general, alice, fmt.Sprint("m", i), "anybody?", under(root))
			}
			w.rest(5 * time.Minute)
			if got := w.board.all(); len(got) > 1 {
				t.Errorf("they said %q within one hour: %q", got, w.turns())
			}
		})
	})
}

// TestAnAmbientTurnSurvivesTheEndOfTheProcess: wherever it ends, people see one answer or
// one emoji at most, and never an apology. Before there is a decision, the end of a
// process is silence.
func TestAnAmbientTurnSurvivesTheEndOfTheProcess(t *testing.T) {
	t.Parallel()
	for _, at := range bot.FaultPoints() {
		for name, decision := range map[string]llmtest.Step{"words": speaks, "an emoji": reactsE, "silence": quiet} {
			t.Run(name+" "+at, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					counter, err := tokens.For("o200k")
					if err != nil {
						t.Fatal(err)
					}
					p := &stamped{slate: &slate{board: &board{}, wipes: true}}
					w := &world{t: t, store: memory(t), board: p.board, said: map[string]earshot.Time{}}
					decider := llmtest.New(decision, decision)
					answer := llmtest.Say("In the wiki.")
					model := llmtest.New(answer, answer, answer)
					armed := true
					for i := range 3 {
						ctx, cancel := context.WithCancel(context.Background())
						w.bot = bot.New(bot.Options{
							Store: w.store, Model: model, Platform: p, Placeholder: "…", Identity: self, Counter: counter,
							Ambient: bot.Ambient{Channels: []earshot.ChannelID{general.ID}, Speak: true, Model: decider}, Limits: bot.Limits{Lease: 10 * time.Second},
							Fault: func(point string) {
								if i == 0 && armed && point == at && !strings.HasSuffix(at, "ommit") && !strings.HasSuffix(at, "ack") {
									armed = false
									cancel()
									runtime.Goexit()
								}
							},
						})
						if i == 0 {
							w.say(general, alice, "m1", "where do the notes go?")
						}
						time.AfterFunc(time.Minute, cancel)
						if err := w.bot.Run(ctx); err != nil {
							t.Errorf("Run: %v", err)
						}
					}
					turns := w.turns()
					if len(turns) != 1 || !strings.HasPrefix(turns[0], "m1 done ambient") {
						t.Errorf("turns: %q", turns)
					}
					if posts := w.board.all(); len(posts)+len(p.given) > 1 || len(posts) == 1 && posts[0] != "In the wiki." || len(p.private) > 0 {
						t.Errorf("posts %q, emoji %q, in private %q: %q", posts, p.given, p.private, turns)
					}
					silent := strings.Contains(turns[0], "silent: ")
					if said := len(w.board.all())+len(p.given) == 1; said == silent {
						t.Errorf("something was said: %v, and the turn is %q", said, turns[0])
					}
					undecided := slices.Contains([]string{"after_claim", "after_merge", "after_gather", "after_begin", "after_answer"}, at)
					if name != "silence" && silent != undecided && !armed {
						t.Errorf("the turn is %q", turns[0])
					}
				})
			})
		}
	}
}
