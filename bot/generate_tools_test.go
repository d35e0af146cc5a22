package bot_test

import (
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
)

const (
	fetchFX = `{"media_artifact_id":"FX"}`
	fetchF1 = `{"media_artifact_id":"F1"}`
)

// lastResults returns the parts of the last results in a request: a text as its
// bracketed lines, a file as its kind and id.
func lastResults(r llm.Request) []string {
	var out []string
	for _, p := range r.Messages[len(r.Messages)-1].Parts {
		if p.Result == nil {
			continue
		}
		for _, q := range p.Result.Parts {
			if q.Media != nil {
				out = append(out, string(q.Kind)+" "+string(q.Media.ID)+" "+string(q.Media.Data))
			} else if strings.HasPrefix(q.Text, "[") {
				out = append(out, q.Text)
			}
			var file struct {
				ID      string `json:"artifact_id"`
				Content string `json:"content"`
			}
			if json.Unmarshal([]byte(q.Text), &file) == nil && strings.Contains(file.Content, "above") {
				out = append(out, file.ID+" stands above")
			}
		}
	}
	return out
}

func TestAToolAttachesAFileOnce(t *testing.T) {
	t.Parallel()
	m := llmtest.New(
		llmtest.Call("channel_messages", fetchFX), llmtest.Call("channel_messages", fetchFX), llmtest.Call("channel_messages", fetchF1), llmtest.Say("Seen."),
		llmtest.Call("channel_messages", fetchFX), llmtest.Say("As before."))
	withFiles(t, func(o *bot.Options, _ *drawer) { o.Model = m }, func(w *world, d *drawer, _ *llmtest.Model) {
		w.say(general, bob, "x1", "the plan", sharing("FX"))
		w.say(general, alice, "m1", "<@U0BOT> what does this show?", sharing("F1"))
		w.rest(time.Second)
		w.say(general, alice, "m2", "<@U0BOT> and the plan?", under("m1"))
		w.rest(time.Second)
		same(t, "posts", w.board.all(), []string{"Seen.", "As before."})
		asked := m.Requests()
		same(t, "what the tool said", lastResults(asked[1]), []string{"image FX " + canary + "FX"})
		same(t, "asked again in the turn", lastResults(asked[2]), []string{"FX stands above"})
		same(t, "asked for what came with the question", lastResults(asked[3]), []string{"F1 stands above"})
		same(t, "asked again in the next turn", lastResults(asked[5]), []string{"FX stands above"})
		got := w.attachments("m1")
		if len(got) != 2 || !strings.HasPrefix(got[0], "F1 ") || !strings.HasPrefix(got[1], "FX ") {
			t.Errorf("the manifest holds %q", got)
		}
		list, err := w.store.QueuedTurns(t.Context(), earshot.TurnQuery{Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range list {
			steps, err := w.store.Steps(t.Context(), q.ID)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range steps {
				if strings.Contains(string(s.Data), "canary") || strings.Contains(string(s.Data), "Y2FuYXJ5") {
					t.Errorf("the bytes of a file are in the journal: %s", s.Data)
				}
			}
		}
	})
}

// A turn that continues after a kill has the same bytes of the file that a tool
// opened, or a line where they are gone.
func TestAToolsFileAfterAKill(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(k *keeper, d *drawer)
		want   []string
	}{
		{"is read from the store", func(_ *keeper, d *drawer) { d.errs["FX"] = errors.New("the platform is down") }, []string{"image FX " + canary + "FX"}},
		{"is loaded again", func(k *keeper, _ *drawer) { k.lose() }, []string{"image FX " + canary + "FX"}},
		{"is not given as other bytes", func(k *keeper, d *drawer) {
			k.lose()
			d.holds["FX"] = llm.Media{Type: "image/png", Data: []byte("other")}
		}, []string{"[FX.png was not attached: it is not there any more as it was]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := llmtest.New(llmtest.Call("channel_messages", fetchFX), llmtest.Say("never heard"), llmtest.Say("Seen."), llmtest.Say("Again."))
			withFiles(t, func(o *bot.Options, d *drawer) {
				o.Model = m
				answers, k := 0, o.Store.(*keeper)
				o.Fault = func(at string) {
					if at != "after_answer" {
						return
					}
					if answers++; answers == 2 {
						d.mu.Lock()
						defer d.mu.Unlock()
						c.change(k, d)
						runtime.Goexit()
					}
				}
			}, func(w *world, d *drawer, _ *llmtest.Model) {
				w.say(general, bob, "x1", "the plan", sharing("FX"))
				w.say(general, alice, "m1", "<@U0BOT> what does the plan show?")
				w.rest(time.Minute)
				same(t, "posts", w.board.all(), []string{"Seen."})
				asked := m.Requests()
				same(t, "asked again", lastResults(asked[2]), c.want)
				w.say(general, alice, "m2", "<@U0BOT> and now?", under("m1"))
				w.rest(time.Second)
				asked = m.Requests()
				if diff := cmp.Diff(asked[3].Messages[2].Parts, asked[2].Messages[2].Parts); diff != "" {
					t.Errorf("the next turn has other results (-got +want):\n%s", diff)
				}
			})
		})
	}
}

// A message that only a tool's result contains is in the session too: its deletion
// ends the epoch, like the deletion of a message that the prompt shows.
func TestAMessageInAToolsResultIsErased(t *testing.T) {
	t.Parallel()
	delta, _ := assemble.ByName("delta") // shows nothing of the channel around
	m := llmtest.New(llmtest.Call("channel_context", `{"intent":"canary"}`), llmtest.Say("I found it."), llmtest.Say("Nothing."))
	withFiles(t, func(o *bot.Options, _ *drawer) { o.Model, o.Policy = m, delta }, func(w *world, _ *drawer, _ *llmtest.Model) {
		w.say(general, bob, "x1", "the canary sings at noon")
		w.say(general, alice, "m1", "<@U0BOT> what is there of birds?")
		w.rest(time.Second)
		held := func() string {
			var b strings.Builder
			list, err := w.store.Session(t.Context(), conversation("m1"))
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range list {
				b.WriteString(string(e.Role) + " " + e.Text + "\n")
			}
			return b.String()
		}
		if got := held(); !strings.Contains(got, "sings at noon") {
			t.Fatalf("the session holds %s", got)
		}
		w.say(general, bob, "x1", "", func(e *bot.Event) {
			e.Delivery, e.Message = "gone", earshot.Message{ID: "x1", Time: e.Message.Time, Deleted: true}
		})
		if got := held(); got != "" {
			t.Errorf("after the deletion the session holds %s", got)
		}
		w.say(general, alice, "m2", "<@U0BOT> and now?", under("m1"))
		w.rest(time.Second)
		if got := m.Requests()[2]; len(got.Messages) != 1 {
			t.Errorf("the next turn goes on with %d messages", len(got.Messages))
		}
	})
}

// An address in a tool's result of an earlier turn was written by somebody in the
// channel, and may still be clickable.
func TestALinkInAToolsResultStaysClickable(t *testing.T) {
	t.Parallel()
	delta, _ := assemble.ByName("delta")
	m := llmtest.New(llmtest.Call("channel_context", `{"intent":"runbook"}`), llmtest.Say("I found it."), llmtest.Say("It is at https://wiki.example/runbook."))
	withFiles(t, func(o *bot.Options, _ *drawer) { o.Model, o.Policy = m, delta }, func(w *world, _ *drawer, _ *llmtest.Model) {
		w.say(general, bob, "x1", "the runbook is https://wiki.example/runbook")
		w.say(general, alice, "m1", "<@U0BOT> is there a runbook?")
		w.rest(time.Second)
		w.say(general, alice, "m2", "<@U0BOT> where?", under("m1"))
		w.rest(time.Second)
		same(t, "posts", w.board.all(), []string{"I found it.", "It is at https://wiki.example/runbook."})
	})
}

func TestWhatATurnAddsToItsSession(t *testing.T) {
	t.Parallel()
	withFiles(t, func(o *bot.Options, _ *drawer) {
		o.Zone = "Europe/Berlin"
		o.FileTokens = func(m llm.Media) int { return 100 + len(m.Data) }
	}, func(w *world, d *drawer, _ *llmtest.Model) {
		d.holds["F2"] = llm.Media{Type: "text/plain", Data: []byte("one two three four")}
		w.say(general, alice, "m1", "<@U0BOT> what do these show?", sharing("F1", "F2"))
		w.rest(time.Second)
		got, err := w.store.Turn(t.Context(), conversation("m1"), 0)
		if err != nil {
			t.Fatal(err)
		}
		if got.Form != string(assemble.Log) || got.Zone != "Europe/Berlin" {
			t.Errorf("form %q, zone %q", got.Form, got.Zone)
		}
		var tokens []int
		for _, a := range got.Attached {
			tokens = append(tokens, a.Tokens)
		}
		if want := []int{100 + len(d.holds["F1"].Data), 4}; !slices.Equal(tokens, want) {
			t.Errorf("files cost %v, want %v: the picture by its formula, the text as it is counted", tokens, want)
		}
	})
}
