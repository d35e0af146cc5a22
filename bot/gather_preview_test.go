package bot_test

import (
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
)

// A question with a link waits for the preview, which platforms send a second later, and
// only so long; a question without one does not wait, nor does one in another
// conversation.
func TestAQuestionWithALinkWaitsForItsPreview(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		text  string
		wait  time.Duration
		after time.Duration // when the preview comes; 0: never
		shown bool
		took  time.Duration
	}{
		{"comes in time", "<@U0BOT> what does <https://wiki.example/lock> say?", 1500 * time.Millisecond, time.Second, true, time.Second},
		{"never comes", "<@U0BOT> what does <https://wiki.example/lock|the wiki> say?", 1500 * time.Millisecond, 0, false, 1500 * time.Millisecond},
		{"comes too late", "<@U0BOT> http://wiki.example?", 1500 * time.Millisecond, 4 * time.Second, false, 1500 * time.Millisecond},
		{"is not waited for", "<@U0BOT> what does <https://wiki.example/lock> say?", 0, time.Second, false, 0},
		{"is of a message", "<@U0BOT> see <https://team.slack.com/archives/C1/p1773154325646159>", 1500 * time.Millisecond, time.Second, false, 0},
		{"is of nothing", "<@U0BOT> how are you?", 1500 * time.Millisecond, time.Second, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			model := &echo{}
			in(t, func(o *bot.Options) { o.Model, o.Answer.PreviewWait = model, c.wait }, func(w *world) {
				began := time.Now()
				w.say(general, alice, "m1", c.text)
				w.say(general, bob, "m2", "<@U0BOT> and me?")
				var took, other time.Duration
				for i := range 80 {
					time.Sleep(50 * time.Millisecond)
					if at := time.Since(began); c.after > 0 && at >= c.after && at < c.after+50*time.Millisecond {
						m, err := w.store.Message(t.Context(), general.Scope(), "m1")
						if err == nil {
							m.Shared = []earshot.SharedContent{{Kind: earshot.Link, Place: "wiki.example", Text: "The lock table."}}
							_, err = w.store.Record(t.Context(), general.Scope(), m)
						}
						if err != nil {
							t.Fatal(err)
						}
					}
					for _, turn := range w.turns() {
						switch at := time.Duration(i+1) * 50 * time.Millisecond; {
						case turn == "m1 done" && took == 0:
							took = at
						case turn == "m2 done" && other == 0:
							other = at
						}
					}
				}
				same(t, "turns", w.turns(), []string{"m1 done", "m2 done"})
				if took < c.took || took > c.took+200*time.Millisecond {
					t.Errorf("it was answered after %s, want %s", took, c.took)
				}
				if other > 200*time.Millisecond {
					t.Errorf("the other conversation was answered after %s", other)
				}
				shown := false
				model.mu.Lock()
				for _, q := range model.asked {
					for _, m := range q.Messages {
						for _, p := range m.Parts {
							shown = shown || strings.Contains(p.Text, "The lock table.") && strings.Contains(p.Text, "+ link preview")
						}
					}
				}
				model.mu.Unlock()
				if shown != c.shown {
					t.Errorf("the first prompt has the preview: %v, want %v", shown, c.shown)
				}
			})
		})
	}
}
