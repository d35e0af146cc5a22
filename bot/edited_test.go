package bot_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
)

// A lateModel takes a second to answer, with the last line that it was asked.
type lateModel struct{ asked []string }

func (*lateModel) Name() string { return "slow" }

func (m *lateModel) Generate(ctx context.Context, r llm.Request, _ func(llm.Event)) (llm.Response, error) {
	line := lastLine(r)
	m.asked = append(m.asked, line)
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return llm.Response{}, ctx.Err()
	}
	return llm.Response{Parts: []llm.Part{llm.Text("to: " + line)}, Stop: llm.StopEnd}, nil
}

func TestAnEditWhileTheModelWorksIsAnswered(t *testing.T) {
	t.Parallel()
	for edits, want := range map[int]int{0: 1, 1: 2, 2: 3, 4: 3} {
		t.Run(fmt.Sprint(edits, " edits"), func(t *testing.T) {
			t.Parallel()
			model := &lateModel{}
			in(t, func(o *bot.Options) { o.Model = model }, func(w *world) {
				w.say(general, alice, "m1", "<@U0BOT> is v0 out?")
				for i := range edits {
					w.rest(500 * time.Millisecond)
					w.say(general, alice, "m1", fmt.Sprintf("<@U0BOT> is v%d out?", i+1), edited(time.Duration(i+1)*500*time.Millisecond))
					w.rest(500 * time.Millisecond)
				}
				w.rest(5 * time.Second)
				same(t, "turns", w.turns(), []string{"m1 done"})
				if len(model.asked) != want {
					t.Errorf("asked %q, want %d times", model.asked, want)
				}
				posts := w.board.all()
				last := fmt.Sprintf("v%d", want-1)
				if len(posts) != 1 || !strings.Contains(posts[0], last) {
					t.Errorf("posts %q, want one to %s", posts, last)
				}
				if !slices.ContainsFunc(model.asked, func(s string) bool { return strings.Contains(s, last) }) {
					t.Errorf("asked %q", model.asked)
				}
			})
		})
	}
}
