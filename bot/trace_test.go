package bot_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm/llmtest"
)

// TestEachPartOfATurnIsTold expects the parts of a turn whose post waits for the platform, in
// the order of their ends, with the parts that they are in: the context goes down.
func TestEachPartOfATurnIsTold(t *testing.T) {
	t.Parallel()
	type key struct{}
	var mu sync.Mutex // guards what follows
	var parts []string
	turns := map[earshot.TurnID]bool{}
	var usage map[string]earshot.Usage
	in(t, func(o *bot.Options) {
		o.Platform.(*board).faults = []fault{busy, busy, busy}
		o.Model = llmtest.New(llmtest.Call("channel_context", `{}`), llmtest.Call("made_up", `{}`), llmtest.Say("Yes."))
		o.Done = func(r bot.Report) { usage = r.Models }
		o.Trace = func(ctx context.Context, p bot.Part) (context.Context, func(error)) {
			within, _ := ctx.Value(key{}).(string)
			name := within + string(p.Kind)
			return context.WithValue(ctx, key{}, name+"/"), func(err error) {
				mu.Lock()
				defer mu.Unlock()
				switch {
				case p.Kind == bot.PartTool && p.Known:
					name += " " + p.Call.Name
				case err != nil:
					name += ": an error"
				}
				parts, turns[p.Turn.ID] = append(parts, name), true
			}
		}
	}, func(w *world) {
		w.say(general, alice, "m1", "<@U0BOT> is it up?")
		w.rest(time.Minute)
		same(t, "parts", parts, []string{
			"gather", "assemble", "generate/tool channel_context", "generate/tool", "generate", "post: an error",
			"generate", "post: an error", "generate", "post",
		})
		if len(turns) != 1 {
			t.Errorf("the parts are of the turns %v", turns)
		}
		if got := usage[llmtest.ModelName]; got.Input == 0 || got.Output == 0 || len(usage) != 1 {
			t.Errorf("the models have used %v", usage)
		}
	})
}
