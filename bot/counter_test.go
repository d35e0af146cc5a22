package bot_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tokens"
)

// A learned counter changes during a conversation. The session so far is neither
// dropped from the prompt nor written again because of that.
func TestAnotherCounterKeepsThePrefix(t *testing.T) {
	t.Parallel()
	specs := []string{"o200k", "o200k*1.3", "o200k*0.7", "bytes4", "o200k*2", "o200k", "o200k*0.5", "o200k*1.04"}
	var asked atomic.Int64
	in(t, func(o *bot.Options) {
		o.Counter = nil
		o.Count = func() assemble.Counter {
			c, err := tokens.For(specs[int(asked.Add(1)-1)%len(specs)])
			if err != nil {
				t.Error(err)
			}
			return c
		}
	}, func(w *world) {
		turns := 2 * len(specs)
		for i := range turns {
			id := fmt.Sprintf("m%d", i)
			var at []func(*bot.Event)
			if i > 0 {
				at = append(at, under("m0"))
				w.say(general, bob, "b"+id, strings.Repeat("meanwhile the migration went on. ", 20), at...)
			}
			w.say(general, alice, id, "<@U0BOT> and now?", at...)
			w.rest(time.Second)
		}
		model := w.model.(*echo)
		if int(asked.Load()) != turns || len(model.asked) != turns {
			t.Fatalf("%d counters and %d answers were asked for; want one of each for %d turns", asked.Load(), len(model.asked), turns)
		}
		for i := 1; i < turns; i++ {
			was, is := model.asked[i-1], model.asked[i]
			if was.System != is.System || len(is.Messages) < len(was.Messages) || !cmp.Equal(texts(was.Messages), texts(is.Messages[:len(was.Messages)])) {
				t.Errorf("the prompt of turn %d does not go on where the one before ended", i)
			}
		}
		list, err := w.store.QueuedTurns(t.Context(), earshot.TurnQuery{})
		if err != nil {
			t.Fatal(err)
		}
		slices.Reverse(list)
		for i, brief := range list {
			q, err := w.store.QueuedTurn(t.Context(), brief.ID)
			if err != nil {
				t.Fatal(err)
			}
			input, err := bot.Input(t.Context(), w.store, q)
			if err != nil {
				t.Fatal(err)
			}
			res, err := assemble.Turn(input)
			if want := specs[i%len(specs)]; err != nil || res.Hash != q.Hash || res.Tokens.Counter != want || q.Epoch != 0 {
				t.Errorf("turn %d of epoch %d replays with %s to %s, %v; want %s and %s", i, q.Epoch, res.Tokens.Counter, res.Hash, err, want, q.Hash)
			}
		}
	})
}

// texts returns what messages say, without the marks for caching.
func texts(list []llm.Message) []string {
	var out []string
	for _, m := range list {
		for _, p := range m.Parts {
			out = append(out, string(m.Role)+": "+p.Text)
		}
	}
	return out
}
