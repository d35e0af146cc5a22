package bot_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
)

// A stutterer answers in a thousand parts at one instant.
type stutterer struct {
	allocations float64 // of each part
}

func (m *stutterer) Generate(_ context.Context, _ llm.Request, stream func(llm.Event)) (llm.Response, error) {
	const part, parts = "a word. ", 1000
	m.allocations = testing.AllocsPerRun(parts-1, func() { stream(llm.Event{Text: part}) })
	return llm.Response{Parts: []llm.Part{llm.Text(strings.Repeat(part, parts))}, Stop: llm.StopEnd, Usage: earshot.Usage{Input: 1, Output: 1}}, nil
}

// TestAPartOfAnAnswerThatIsNotShownCostsNothing: the text of a draft is made of the
// whole answer so far. Made for each of an answer's parts, that is quadratic work
// between the model and its reader; on a tenth of a core, an answer of 3,500
// characters took longer than the two minutes that a turn has.
func TestAPartOfAnAnswerThatIsNotShownCostsNothing(t *testing.T) {
	m := &stutterer{allocations: -1}
	placing(t, func(o *bot.Options) { o.Model = m }, func(w *world, _ *slate) {
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(time.Minute)
		same(t, "turns", w.turns(), []string{"m1 done"})
	})
	if m.allocations != 0 {
		t.Errorf("each part costs %v allocations, want none", m.allocations)
	}
}
