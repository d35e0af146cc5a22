package simtest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-ai/earshot/simulate"
)

// stage runs a test in a world without a script.
func stage(t *testing.T, reply string, play func(w *world)) {
	t.Helper()
	dir, err := os.MkdirTemp(filepath.Dir(empty), "stage-") //nolint:usetesting // in memory where possible, see TestMain
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, script{seed: 1, tier: simulate.TierInternal, environ: []string{"EARSHOT_SLACK_REPLY=" + reply}}, dir)
		w.start(crash{})
		time.Sleep(5 * time.Second)
		play(w)
		w.rest()
		w.checkEnd()
		w.end()
		for _, s := range w.broken {
			t.Error(s)
		}
	})
}

// question lets a person ask in the first channel, and returns the question.
func (w *world) question(thread, word string) *spoken {
	m := &spoken{channel: w.channels[0], user: w.people[0], word: word, words: []string{word}, ask: true, thread: thread}
	m.ts = w.slack.Post(simulate.PostedMessage{Channel: m.channel, User: m.user, Thread: thread, Text: w.text(act{ask: true, word: word}, 0)})
	w.said = append(w.said, m)
	return m
}

// replies returns the bot's messages in a thread, as people see them.
func (w *world) replies(root *spoken) []string {
	var out []string
	for _, m := range w.slack.Thread(root.channel, root.ts) {
		if m.Bot != "" {
			out = append(out, m.Text)
		}
	}
	return out
}

// kill ends the process like kill -9, and starts another.
func (w *world) kill() {
	w.living()[0].die("killed")
	time.Sleep(3 * time.Second)
	w.revive()
}

// TestRefusedEditsLeaveNoPlaceholder has Slack refuse chat.update from before or
// after the placeholder on, and kills the process in between: people see each
// answer once, and no placeholder.
func TestRefusedEditsLeaveNoPlaceholder(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{"update", "stream"} {
		for _, code := range []string{"edit_window_closed", "cant_update_message"} {
			for _, killed := range []bool{false, true} {
				stage(t, reply, func(w *world) {
					w.slack.Inject(simulate.Fault{Kind: simulate.APIError, On: "chat.update", Error: code})
					root := w.question("", "w1xbcdfghjkl")
					time.Sleep(700 * time.Millisecond)
					if killed {
						w.kill()
					}
					time.Sleep(time.Minute)
					w.question(root.ts, "w2xbcdfghjkm")
					time.Sleep(time.Minute)
					if got := w.replies(root); len(got) != 2 || slices.Contains(got, "…") {
						t.Errorf("%s, %s, killed %v: people see %q, want two answers", reply, code, killed, got)
					}
				})
			}
		}
	}
}

// TestAQuestionDeletedLateInAnOutageLeavesNoPlaceholder deletes a question when its
// answer has waited for most of answer.post_minutes.
func TestAQuestionDeletedLateInAnOutageLeavesNoPlaceholder(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{"update", "stream"} {
		for _, killed := range []bool{false, true} {
			stage(t, reply, func(w *world) {
				root := w.question("", "w1xbcdfghjkl")
				time.Sleep(1200 * time.Millisecond)
				w.slack.Inject(simulate.Fault{Kind: simulate.ServerError, On: "chat.*", Status: 503})
				time.Sleep(12 * time.Minute)
				w.slack.Delete(root.channel, root.ts)
				root.deleted = true
				if killed {
					w.kill()
				}
				time.Sleep(8 * time.Minute)
				w.slack.Heal()
				time.Sleep(3 * time.Minute)
				if got, want := w.replies(root), []string{"(The message that I was answering was deleted.)"}; !slices.Equal(got, want) {
					t.Errorf("%s, killed %v: people see %q, want %q", reply, killed, got, want)
				}
			})
		}
	}
}
