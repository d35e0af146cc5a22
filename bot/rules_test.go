package bot_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
)

// byChannel is a rule for one channel; the others have what holds in all.
func byChannel(id earshot.ChannelID, change func(*bot.ChannelOptions)) func(earshot.Channel, bot.ChannelOptions) bot.ChannelOptions {
	return func(c earshot.Channel, all bot.ChannelOptions) bot.ChannelOptions {
		if c.ID == id {
			change(&all)
		}
		return all
	}
}

func TestAChannelHasRulesOfItsOwn(t *testing.T) {
	t.Parallel()
	model := llmtest.New(llmtest.Say("one"), llmtest.Say("two"), llmtest.Say("three"))
	other := general
	other.ID, other.Name = "C2", "incidents"
	in(t, func(o *bot.Options) {
		o.Model, o.Instructions = model, "Be kind."
		o.Rules = byChannel(other.ID, func(own *bot.ChannelOptions) {
			own.Instructions += "\n\nAn incident has a number."
			own.Policy, _ = assemble.ByName("thread")
			own.Answer.Roots, own.Ask.All = true, true
		})
	}, func(w *world) {
		w.say(general, alice, "m1", "nobody is asked here")
		w.say(general, alice, "m2", "<@U0BOT> what broke?")
		w.rest(time.Second)
		w.say(other, alice, "m3", "what broke here?")
		w.rest(time.Second)
		same(t, "turns", w.turns(), []string{"m2 done", "m3 done"})
		asked := model.Requests()
		if len(asked) != 2 {
			t.Fatalf("asked %d times", len(asked))
		}
		for i, want := range []struct {
			instructions, ask bool
			policy            string
		}{{false, false, "standard"}, {true, true, "thread"}} {
			r := asked[i]
			if got := strings.Contains(r.System, "An incident has a number."); got != want.instructions || !strings.Contains(r.System, "Be kind.") {
				t.Errorf("request %d has the system text\n%s", i, r.System)
			}
			names := []string{}
			for _, x := range r.Tools {
				names = append(names, x.Name)
			}
			if slices.Contains(names, bot.AskTool) != want.ask {
				t.Errorf("request %d has the tools %q", i, names)
			}
			id := conversation([]string{"m2", "m3"}[i])
			id.Scope.Channel = []earshot.ChannelID{general.ID, other.ID}[i]
			if list, err := w.store.Turns(t.Context(), id, 1); err != nil || len(list) != 1 || list[0].Policy != want.policy {
				t.Errorf("turn %d is %+v, %v, want one of the policy %s", i, list, err, want.policy)
			}
		}
	})
}

// groupBoard is a board that knows who is in a group.
type groupBoard struct {
	*board
	err error
}

func (groupBoard) members() []earshot.AuthorID { return []earshot.AuthorID{bob.ID} }

func (g groupBoard) InGroups(_ context.Context, _ earshot.Scope, who earshot.AuthorID, ids []string) (bool, error) {
	return slices.Contains(g.members(), who) && slices.Contains(ids, "S1"), g.err
}

func TestOnlyThoseWhomTheRuleNamesMayAsk(t *testing.T) {
	t.Parallel()
	carol := earshot.Author{ID: "U3", Name: "Carol", Kind: earshot.Human}
	roles := func(ids ...string) func(*bot.Event) { return func(e *bot.Event) { e.Groups = ids } }
	for _, c := range []struct {
		name string
		err  error
		bob  string
	}{{"known groups", nil, "m3 done"}, {"a platform that does not say", errors.New("busy"), "m3 refused not-allowed"}} {
		var told []string
		in(t, refusals(&told, func(o *bot.Options) {
			o.Platform = groupBoard{o.Platform.(*board), c.err}
			o.Rules = byChannel(general.ID, func(own *bot.ChannelOptions) { own.MayAsk = []string{string(alice.ID), "S1"} })
		}), func(w *world) {
			w.say(general, carol, "m1", "<@U0BOT> hi")
			w.say(general, carol, "m2", "hi") // asks nobody
			w.say(general, bob, "m3", "<@U0BOT> hi")
			w.say(general, bob, "m4", "<@U0BOT> hi", roles("S2")) // where the event says it, nobody is asked
			w.say(general, carol, "m5", "<@U0BOT> hi", roles("S1"))
			w.rest(time.Second)
			w.say(general, alice, "m6", "<@U0BOT> hi")
			w.rest(time.Second)
			want := []string{"m1 refused not-allowed", c.bob, "m4 refused not-allowed", "m5 done", "m6 done"}
			same(t, c.name, w.turns(), want)
		})
	}
}

// A rule that changes between two turns begins an epoch, and what was asked before is made
// again to the byte.
func TestARuleThatChangesBeginsAnEpoch(t *testing.T) {
	t.Parallel()
	var now atomic.Pointer[func(*bot.ChannelOptions)]
	set := func(f func(*bot.ChannelOptions)) { now.Store(&f) }
	set(func(*bot.ChannelOptions) {})
	in(t, func(o *bot.Options) {
		o.Instructions = "Be kind."
		o.Rules = byChannel(general.ID, func(own *bot.ChannelOptions) { (*now.Load())(own) })
	}, func(w *world) {
		w.ask("m1", "one")
		w.ask("m2", "two")
		set(func(own *bot.ChannelOptions) { own.Instructions = "Be short." })
		w.ask("m3", "three")
		w.ask("m4", "four")
		set(func(own *bot.ChannelOptions) { own.Instructions, own.MayMention = "Be short.", bot.MentionChannel }) // nothing that a prompt has
		w.ask("m5", "five")
		set(func(own *bot.ChannelOptions) {
			own.Instructions = "Be short."
			own.Policy, _ = assemble.ByName("delta")
			own.Policy.Frame = assemble.Standard().Frame
		})
		w.ask("m6", "six")
		set(func(*bot.ChannelOptions) {})
		w.ask("m7", "seven")
		same(t, "epochs", w.began(), []string{"conversation", "", "rule", "", "", "rule", "rule"})
		w.replays(7)
	})
}

// A prompt that is recorded is asked as it is, whatever the rule says when it is asked again.
func TestATurnKeepsItsPromptWhereItsRuleChanges(t *testing.T) {
	t.Parallel()
	var changed atomic.Bool
	model := &echo{errs: []error{&llm.Error{Retryable: true, Err: errors.New("busy")}}}
	in(t, func(o *bot.Options) {
		o.Model = model
		o.Rules = byChannel(general.ID, func(own *bot.ChannelOptions) {
			if own.Instructions = "Be kind."; changed.Load() {
				own.Instructions = "Be short."
				own.Policy, _ = assemble.ByName("thread")
			}
		})
	}, func(w *world) {
		w.say(general, alice, "m1", "<@U0BOT> one")
		w.rest(time.Second)
		changed.Store(true)
		w.rest(time.Minute)
		same(t, "turns", w.turns(), []string{"m1 done"})
		if len(model.asked) != 2 || model.asked[0].System != model.asked[1].System || !strings.Contains(model.asked[1].System, "Be kind.") {
			t.Errorf("asked %d times, %q", len(model.asked), model.asked[len(model.asked)-1].System)
		}
		w.replays(1)
		w.ask("m2", "two", under("m1"))
		if s := model.asked[len(model.asked)-1].System; !strings.Contains(s, "Be short.") {
			t.Errorf("the next turn has %q", s)
		}
	})
}

// Of a rule that shows less of a session the reason is the budget.
func TestARulesBudgetHolds(t *testing.T) {
	t.Parallel()
	in(t, func(o *bot.Options) {
		o.Rules = byChannel(general.ID, func(own *bot.ChannelOptions) {
			own.Budget = assemble.Budget{Tokens: 4000, Session: 300, Limit: 200_000}
		})
	}, func(w *world) {
		w.ask("m1", long())
		w.ask("m2", "two")
		same(t, "epochs", w.began(), []string{"conversation", "budget"})
	})
}

// The bot's own sentences are in the language of the channel, and people are understood in any.
func TestTheBotSpeaksTheChannelsLanguage(t *testing.T) {
	t.Parallel()
	german := func(o *bot.Options, _ *tracker) {
		o.Rules = byChannel(general.ID, func(own *bot.ChannelOptions) {
			own.Language, own.Words = "de", map[string]string{"agree_you": "Sag Ja, {time} lang{how}."}
		})
	}
	withApprovals(t, german, func(w *world, b *tracker, _ *llmtest.Model) {
		ask := w.asked(b)
		same(t, "the question", ask.Text, "<@U1>, darf ich `create_issue` damit aufrufen?\n```\n{\n  \"text\": \"staging\"\n}\n```\nSag Ja, 60 Minuten lang.")
		same(t, "the buttons", []string{ask.Choices[0].Label, ask.Choices[1].Label, ask.Choices[1].Words}, []string{"Ja, tu es", "Nein", "Warum nicht?"})
		same(t, "told", w.choose(ask, "do", bob), "Das kann nur jemand anders beantworten.")
		w.say(general, alice, "m2", "<@U0BOT> はい！", under("m1"))
		w.rest(time.Second)
		same(t, "posts", w.board.all(), []string{"Ein Aufruf von `create_issue`:\n```\n{\n  \"text\": \"staging\"\n}\n```\n<@U1> hat zugestimmt; es wurde getan.", "Opened."})
	}, llmtest.Call("create_issue", `{"text":"staging"}`), llmtest.Say("Opened."))

	model := llmtest.New(llmtest.Do(func(llm.Request) (llm.Response, error) { return llm.Response{Stop: llm.StopRefused}, nil }), llmtest.Say("yes"))
	in(t, func(o *bot.Options) {
		o.Model, o.Language, o.Words = model, "fr", map[string]string{"refused": "Non merci."}
	}, func(w *world) {
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(time.Second)
		same(t, "posts", w.board.all(), []string{"Non merci."})
		w.say(general, alice, "m2", "<@U0BOT> and now?", under("m1"))
		w.rest(time.Second)
		if got := fmt.Sprint(model.Requests()[1].Messages); strings.Contains(got, "Non merci") {
			t.Errorf("an apology is told as an answer: %s", got)
		}
	})
}
