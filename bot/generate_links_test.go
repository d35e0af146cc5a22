package bot_test

import (
	"testing"
	"time"

	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm/llmtest"
)

// TestLinksOfTheConversationStayClickable answers with addresses from the question,
// from what an earlier turn showed, from a tool's result, from our own reply only,
// and from nowhere.
func TestLinksOfTheConversationStayClickable(t *testing.T) {
	t.Parallel()
	model := llmtest.New(
		llmtest.Say("see https://own.example/x"),
		llmtest.Call("channel_context", `{"intent":"runbook"}`),
		llmtest.Say("https://asked.example/x https://shown.example/x https://told.example/x https://own.example/x https://nobody.example/x"),
	)
	in(t, func(o *bot.Options) { o.Model = model }, func(w *world) {
		w.say(general, bob, "m0", "the runbook is at https://told.example/x")
		for range 40 { // push it out of what the prompt shows
			w.say(general, bob, "f"+time.Now().Format("150405.000"), "something else entirely")
		}
		w.say(general, alice, "m1", "<@U0BOT> what is https://shown.example/x about?")
		w.rest(time.Second)
		w.say(general, alice, "m2", "<@U0BOT> and https://asked.example/x?", under("m1"))
		w.rest(time.Second)
		same(t, "posts", w.board.all(), []string{
			"see `https://own.example/x`",
			"https://asked.example/x https://shown.example/x https://told.example/x `https://own.example/x` `https://nobody.example/x`",
		})
	})
}
