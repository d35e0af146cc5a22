package bot_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
	"github.com/earshot-ai/earshot/tools/toolbox"
)

// withAgent is in, with an agent that follows a script, on a platform with buttons.
func withAgent(t *testing.T, change func(*bot.Options), f func(w *world, a *llmtest.Model), script ...llmtest.Step) {
	t.Helper()
	a := llmtest.New(script...)
	in(t, func(o *bot.Options) {
		o.Model, o.Agent, o.Platform = nil, a, panel{&slate{board: o.Platform.(*board), wipes: true}}
		if change != nil {
			change(o)
		}
	}, func(w *world) { f(w, a) })
}

func TestAnAgentIsToldWhoseQuestionItIs(t *testing.T) {
	t.Parallel()
	var at []earshot.Position
	withAgent(t, func(o *bot.Options) {
		o.Tools, o.Ask = []toolbox.Toolbox{&tracker{}}, bot.Ask{All: true}
		o.Access = func(_ context.Context, id earshot.ConversationID, p earshot.Position) (*llm.Access, error) {
			at = append(at, p)
			return &llm.Access{URL: "http://here/mcp", Token: "token of " + id.Name}, nil
		}
	}, func(w *world, a *llmtest.Model) {
		w.say(general, alice, "m1", "<@U0BOT> what broke?")
		w.rest(time.Second)
		w.say(general, bob, "m2", "<@U0BOT> and now?", under("m1"))
		w.rest(time.Second)
		w.say(general, bob, "m3", "<@U0BOT> elsewhere?")
		w.rest(time.Second)
		same(t, "turns", w.turns(), []string{"m1 done", "m2 done", "m3 done"})
		r := a.Requests()
		if len(r) != 3 {
			t.Fatalf("%d requests", len(r))
		}
		first, second, third := r[0].Turn, r[1].Turn, r[2].Turn
		for i, x := range r {
			if x.Turn == nil || len(x.Tools) != 0 || len(x.Turn.Key) != 32 || len(x.Turn.Conversation) != 32 || x.Turn.Channel.ID != general.ID || x.Turn.Access.URL != "http://here/mcp" {
				t.Errorf("request %d: %+v with %d tools", i, x.Turn, len(x.Tools))
			}
		}
		same(t, "askers", []earshot.AuthorID{first.Asker.ID, second.Asker.ID}, []earshot.AuthorID{alice.ID, bob.ID})
		same(t, "one conversation", first.Conversation == second.Conversation, true)
		same(t, "another one", third.Conversation == first.Conversation, false)
		same(t, "keys differ", first.Key != second.Key && second.Key != third.Key, true)
		same(t, "new from", []int{first.New, second.New, len(r[1].Messages)}, []int{0, 2, 3})
		same(t, "up to", []earshot.MessageID{at[0].ID, at[1].ID}, []earshot.MessageID{"m1", "m2"})
		same(t, "posts", w.board.all(), []string{"The importer.", "It runs.", "Yes."})
	}, llmtest.Say("The importer."), llmtest.Say("It runs."), llmtest.Say("Yes."))
}

// What an agent asks is put to the person, whether or not models may ask, and the agent is asked
// again under another key, with the answer.
func TestAnAgentAsksAPerson(t *testing.T) {
	t.Parallel()
	withAgent(t, nil, func(w *world, a *llmtest.Model) {
		w.say(general, alice, "m1", "<@U0BOT> restart it")
		w.rest(time.Second)
		same(t, "turns", w.turns(), []string{"m1 waiting"})
		w.choose(w.board.asks()[0], "option1", alice)
		w.rest(time.Second)
		same(t, "turns", w.turns(), []string{"m1 done"})
		r := a.Requests()
		same(t, "told", answers(r[1]), []string{`{"answer":"production"}`})
		same(t, "another key", r[0].Turn.Key != r[1].Turn.Key && r[0].Turn.Conversation == r[1].Turn.Conversation, true)
		if all := w.board.all(); len(all) != 2 || !strings.HasSuffix(all[0], "\n<@U1>: `production`") || all[1] != "Restarted." {
			t.Errorf("posts %q", all)
		}
	}, llmtest.Call("ask", `{"question":"Which one?","options":["staging","production"]}`), llmtest.Say("Restarted."))
}

// Where the process ends while the agent works, the next one asks it the same, under the same key.
func TestAnAgentIsAskedAgainUnderTheSameKey(t *testing.T) {
	t.Parallel()
	withAgent(t, nil, func(w *world, a *llmtest.Model) {
		w.say(general, alice, "m1", "<@U0BOT> what broke?")
		w.rest(time.Minute)
		w.stop()
		w.start()
		w.rest(time.Minute)
		same(t, "turns", w.turns(), []string{"m1 done"})
		var keys []string
		for _, r := range a.Requests() {
			keys = append(keys, r.Turn.Key)
		}
		same(t, "requests", len(keys), 2)
		same(t, "keys", len(slices.Compact(keys)), 1)
		same(t, "posts", w.board.all(), []string{"The importer."})
	}, llmtest.Hang(), llmtest.Say("The importer."))
}

// What an agent is doing is shown until it writes, and is no part of the answer.
func TestWhatAnAgentDoesIsShown(t *testing.T) {
	t.Parallel()
	withAgent(t, func(o *bot.Options) {
		o.Placeholder = "…"
		o.Agent = agentThat(func(ctx context.Context, stream func(llm.Event)) (llm.Response, error) {
			time.Sleep(5 * time.Second)
			stream(llm.Event{Status: "looking into <@U9>'s https://evil.example"})
			time.Sleep(5 * time.Second)
			stream(llm.Event{Text: "Done."})
			return llm.Response{Parts: []llm.Part{llm.Text("Done.")}, Stop: llm.StopEnd}, nil
		})
	}, func(w *world, _ *llmtest.Model) {
		w.say(general, alice, "m1", "<@U0BOT> look")
		w.rest(7 * time.Second)
		if all := w.board.all(); len(all) != 1 || !strings.HasPrefix(all[0], "looking into somebody's ") || strings.Contains(all[0], "(https") {
			t.Errorf("posts %q", all)
		}
		w.rest(time.Minute)
		same(t, "posts", w.board.all(), []string{"Done."})
	})
}

// agentThat is a function that answers.
type agentThat func(ctx context.Context, stream func(llm.Event)) (llm.Response, error)

func (f agentThat) Generate(ctx context.Context, _ llm.Request, stream func(llm.Event)) (llm.Response, error) {
	return f(ctx, stream)
}
