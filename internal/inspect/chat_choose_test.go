package inspect_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/tools/toolbox"
)

// A gate is a toolbox whose one tool needs a person's yes. It counts its calls.
type gate struct{ calls atomic.Int32 }

func (*gate) Tools(context.Context, toolbox.Place) ([]toolbox.Tool, error) {
	return []toolbox.Tool{{Effect: toolbox.Writes, Approve: true, Tool: llm.Tool{Name: "close_gate", Description: "closes a gate", Schema: `{"type":"object"}`}}}, nil
}

func (g *gate) Call(context.Context, toolbox.Place, toolbox.Call) (toolbox.Result, error) {
	g.calls.Add(1)
	return toolbox.Result{Parts: []llm.Part{llm.Text("closed")}}, nil
}

// asked returns the page's message with buttons, once there is one.
func (w world) asked(t *testing.T, header ...string) said {
	t.Helper()
	for until := time.Now().Add(hang); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		for _, m := range w.read(t, "channel=ops", header...).Messages {
			if m.Replies == nil {
				continue
			}
			for _, r := range m.Replies.Newest {
				if len(r.Choices) > 0 {
					return r
				}
			}
		}
	}
	t.Fatal("nobody is asked")
	return said{}
}

// What the bot asks before a tool acts has buttons on the page, for who writes there, and
// they count as any platform's: once, and from who may agree.
func TestABotsQuestionHasButtonsOnThePage(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name, choice, words, message, reply string
		calls                               int32
	}{
		{"a yes", "do", "", "agreed; it was done.", "It is closed.", 1},
		{"a no and why", "dont", "somebody is <b>in</b> it", "said no: ", "I left it open.", 0},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			g := &gate{}
			model := llmtest.New(llmtest.Call("close_gate", `{"gate":4}`), llmtest.Say(x.reply))
			st, err := store.Open(t.Context(), "memory:", nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = st.Close() })
			w := newChatWith(t, st, bot.Options{Store: st, Model: model, Tools: []toolbox.Toolbox{g}}, nil)
			operator := []string{"Authorization", "Bearer " + token}
			viewer := []string{"Authorization", "Bearer " + w.key(t, access.KeySpec{Name: "viewer", ReadOnly: true})}
			w.post(t, "/chat/say", in("ops", "new", "Ada", "text", "@earshot close gate 4"), http.StatusOK, operator...)
			ask := w.asked(t, operator...)
			if page := w.get(t, "/chat?channel=ops&as=ada", http.StatusOK, viewer...); strings.Contains(page, "/chat/choose") {
				t.Errorf("who only reads has buttons: %s", page)
			}
			page := w.get(t, "/chat?channel=ops&as=ada", http.StatusOK, operator...)
			if n := strings.Count(page, `action="/chat/choose"`); n != 2 || !strings.Contains(page, ">Do it</button>") || !strings.Contains(page, `placeholder="Why not?"`) {
				t.Fatalf("%d forms on %s", n, page)
			}
			choose := func(as, choice string, want int) string {
				return w.post(t, "/chat/choose", in("ops", "as", as, "message", string(ask.ID), "choice", choice, "words", x.words), want, operator...)
			}
			if page := choose("bob", x.choice, http.StatusOK); !strings.Contains(page, "Only somebody else can answer this.") {
				t.Errorf("Bob is told %s", page)
			}
			choose("ada", "all", http.StatusUnprocessableEntity)
			choose("ada", x.choice, http.StatusOK)
			w.end(t)
			page = choose("ada", x.choice, http.StatusOK) // again, at an old page
			if strings.Contains(page, ">Do it</button>") || strings.Contains(page, "<b>in</b>") {
				t.Errorf("after the decision the page is %s", page)
			}
			d := w.read(t, "channel=ops&thread="+string(ask.Thread), operator...)
			if d.Thread == nil || len(d.Thread.Messages) != 3 || !strings.Contains(d.Thread.Messages[1].Text, x.message) || d.Thread.Messages[2].Text != x.reply {
				t.Errorf("the thread is %+v", d.Thread)
			}
			if page := w.get(t, "/turns/1", http.StatusOK, operator...); !strings.Contains(page, "The descriptions of your own tools: ") {
				t.Errorf("the turn's page does not say what the tools cost: %s", page)
			}
			if n := g.calls.Load(); n != x.calls {
				t.Errorf("it was called %d times, want %d", n, x.calls)
			}
		})
	}
}
