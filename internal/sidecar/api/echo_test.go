package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/api"
	"github.com/earshot-ai/earshot/search"
)

// event tells of a message of the thread in the neutral form.
func (w *world) event(t testing.TB, n int, author, text string, more object) {
	t.Helper()
	message := object{"id": fmt.Sprint("m", n), "time": said(n, "", "").Time.String(), "thread": "m0", "author": object{"id": author, "name": author}, "text": text}
	for k, v := range more {
		message[k] = v
	}
	if status, _, text := w.call(t, "C1", http.MethodPost, "/v1/events", object{"events": []object{{"type": "message", "channel": "C1", "message": message}}}); status != http.StatusOK {
		t.Fatalf("tell %d: %d %s", n, status, text)
	}
}

// replies returns the ids of the replies of the thread's turns.
func (w *world) replies(t testing.TB) (out [][]earshot.MessageID) {
	t.Helper()
	_, turns := w.state(t)
	for _, turn := range turns {
		out = append(out, turn.Answer.Replies)
	}
	return out
}

// times counts how often a text is in the prompt for a message.
func (w *world) times(t testing.TB, anchor, text string) int {
	t.Helper()
	status, c := w.context(t, "C1", object{"channel": "C1", "anchor": anchor, "agent": "U0BOT"})
	if status != http.StatusOK {
		t.Fatalf("context for %s: %d %s", anchor, status, c.Detail)
	}
	return strings.Count(joined(c), text)
}

// restart puts another service over the same store.
func (w *world) restart(t testing.TB) {
	t.Helper()
	service := sidecar.New(w.store, search.New(w.store, nil), w.gate, sidecar.Options{Now: w.clock.now})
	w.server = httptest.NewServer(api.New(api.Options{Service: service, Reader: explain.New(w.store, search.New(w.store, nil), explain.Options{}), Gate: w.gate, Version: "test"}))
	t.Cleanup(w.server.Close)
}

func TestAnEchoOfAReplyIsTheReply(t *testing.T) {
	t.Parallel()
	const answer = "The certificate expired: see https://ops.example/c & renew <now>."
	bare := func(text string) object { return object{"reply": object{"text": text}} }
	long := "Begin: " + strings.Repeat("a step of the plan and ", 20) + "done"
	for name, c := range map[string]struct {
		answer string
		play   func(w *world, t *testing.T, turn int64)
		want   string // of the replies of all turns
		shown  int    // how often the next prompt has the answer
	}{
		"after the commit": {answer, func(w *world, t *testing.T, turn int64) {
			w.commit(t, "C1", turn, bare(answer))
			w.event(t, 3, "U0BOT", answer, nil)
		}, "[[m3]]", 1},
		"before the commit": {answer, func(w *world, t *testing.T, turn int64) {
			w.event(t, 3, "U0BOT", answer, nil)
			if _, c := w.commit(t, "C1", turn, bare(answer)); !slices.Equal(c.Replies, []string{"m3"}) {
				t.Errorf("the commit says %v", c.Replies)
			}
		}, "[[m3]]", 1},
		"with a restart between": {answer, func(w *world, t *testing.T, turn int64) {
			w.commit(t, "C1", turn, bare(answer))
			w.restart(t)
			w.event(t, 3, "U0BOT", answer, nil)
		}, "[[m3]]", 1},
		"as Slack writes it": {answer, func(w *world, t *testing.T, turn int64) {
			w.commit(t, "C1", turn, bare("\n"+answer+"  \n"))
			w.event(t, 3, "U0BOT", "The certificate expired: see <https://ops.example/c> &amp; renew &lt;now&gt;.", nil)
		}, "[[m3]]", 1},
		"by the agent's other id": {answer, func(w *world, t *testing.T, turn int64) {
			w.call(t, "C1", http.MethodPut, "/v1/agents/U0BOT", object{"name": "earshot", "aliases": []string{"B0BOT"}})
			w.commit(t, "C1", turn, bare(answer))
			w.event(t, 3, "B0BOT", answer, nil)
		}, "[[m3]]", 1},
		"told twice, and posted twice": {answer, func(w *world, t *testing.T, turn int64) {
			w.commit(t, "C1", turn, bare(answer))
			for _, n := range []int{3, 3, 4} {
				w.event(t, n, "U0BOT", answer, nil)
			}
		}, "[[m3]]", 2},
		"another bot's same text": {answer, func(w *world, t *testing.T, turn int64) {
			w.commit(t, "C1", turn, bare(answer))
			w.event(t, 3, "U1BOT", answer, object{"author": object{"id": "U1BOT", "name": "other", "kind": "bot"}})
		}, "[[]]", 2},
		"said in another thread, where the channel has it": {answer, func(w *world, t *testing.T, turn int64) {
			w.commit(t, "C1", turn, bare(answer))
			w.event(t, 3, "U0BOT", answer, object{"thread": "m99"})
		}, "[[]]", 2},
		"said before the turn was opened": {answer, func(w *world, t *testing.T, turn int64) {
			w.call(t, "C1", http.MethodPost, fmt.Sprintf("/v1/turns/%d/abort", turn), nil)
			w.event(t, 3, "U0BOT", answer, nil)
			turn = w.opened(t, "m2").Turn.ID
			w.event(t, 4, "U0BOT", answer, nil)
			w.commit(t, "C1", turn, bare(answer))
		}, "[[m4]]", 2},
		"in parts, the second first": {"First the plan.\n\nThen the work.", func(w *world, t *testing.T, turn int64) {
			w.commit(t, "C1", turn, bare("First the plan.\n\nThen the work."))
			w.event(t, 4, "U0BOT", "Then the work.", nil)
			w.event(t, 3, "U0BOT", "First the plan.", nil)
		}, "[[m3 m4]]", 1},
		"in parts, before the commit, cut within a word": {long, func(w *world, t *testing.T, turn int64) {
			w.event(t, 3, "U0BOT", long[:205], nil)
			w.event(t, 4, "U0BOT", long[205:], nil)
			w.commit(t, "C1", turn, bare(long))
		}, "[[m3 m4]]", 1},
		"of another text": {answer, func(w *world, t *testing.T, turn int64) {
			w.commit(t, "C1", turn, bare(answer))
			w.event(t, 3, "U0BOT", "The", object{"text": "There is more."})
		}, "[[]]", 1},
		"with ids": {answer, func(w *world, t *testing.T, turn int64) {
			w.commit(t, "C1", turn, says(answer, "m3"))
			w.event(t, 4, "U0BOT", answer, nil)
		}, "[[m3]]", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.tell(t, said(0, "Alice", "staging is down"), said(1, "Bob", "since noon"), said(2, "Alice", "<@U0BOT> why?"))
			c.play(w, t, w.opened(t, "m2").Turn.ID)
			if got := fmt.Sprint(w.replies(t)); got != c.want {
				t.Errorf("the replies are %s, want %s", got, c.want)
			}
			w.event(t, 9, "U-Bob", "<@U0BOT> and now?", nil)
			first := strings.Fields(c.answer)[:2]
			if got := w.times(t, "m9", strings.Join(first, " ")); got != c.shown {
				t.Errorf("the next prompt has the answer %d times, want %d", got, c.shown)
			}
		})
	}
}

// The commit looks for the echo and the echo for the commit: whichever comes first, one
// message is taken, and no second one.
func TestACommitAndItsEchoesAtOnceFindEachOther(t *testing.T) {
	t.Parallel()
	for range 20 {
		w := newWorld(t)
		w.tell(t, said(0, "Alice", "staging is down"), said(1, "Alice", "<@U0BOT> restart it"))
		turn := w.opened(t, "m1").Turn.ID
		var all sync.WaitGroup
		all.Go(func() { w.commit(t, "C1", turn, object{"reply": object{"text": "ok"}}) })
		for n := range 3 {
			all.Go(func() {
				if _, err := w.store.Record(t.Context(), ops.Scope(), said(9, "Bob", "at the same time")); err != nil {
					t.Error(err)
				}
				body := object{"events": []object{{"type": "message", "channel": "C1", "message": object{"id": fmt.Sprint("m", 2+n), "time": said(2+n, "", "").Time.String(), "thread": "m0", "author": object{"id": "U0BOT", "name": "earshot"}, "text": "ok"}}}}
				if status, _, text := w.call(t, "C1", http.MethodPost, "/v1/events", body); status != http.StatusOK {
					t.Errorf("%d %s", status, text)
				}
			})
		}
		all.Wait()
		if got := w.replies(t); len(got) != 1 || len(got[0]) != 1 {
			t.Fatalf("the replies are %v", got)
		}
	}
}

func TestEachOfTwoTurnsWithTheSameReplyHasItsEcho(t *testing.T) {
	t.Parallel()
	ok := object{"reply": object{"text": "ok"}}
	w := newWorld(t)
	w.tell(t, said(0, "Alice", "staging is down"), said(1, "Alice", "<@U0BOT> restart it"))
	w.commit(t, "C1", w.opened(t, "m1").Turn.ID, ok)
	w.event(t, 2, "U0BOT", "ok", nil)
	w.event(t, 3, "U-Alice", "<@U0BOT> and again", nil)
	second := w.opened(t, "m3")
	if got := strings.Count(joined(second), "ok"); got != 1 {
		t.Errorf("the second turn has the first reply %d times: %s", got, joined(second))
	}
	w.event(t, 4, "U0BOT", "ok", nil)
	w.commit(t, "C1", second.Turn.ID, ok)
	if got := fmt.Sprint(w.replies(t)); got != "[[m2] [m4]]" {
		t.Errorf("the replies are %s", got)
	}
}

// Where the answer has no reference, only the turn's reply ids lead from a reply to it
// to the conversation.
func TestAReplyToAnEchoGoesOnWithTheConversation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tell(t)
	ask := func(n int, more object) { w.event(t, n, "U-Alice", "<@U0BOT> well?", more) }
	ask(1, object{"thread": nil})
	w.commit(t, "C1", w.opened(t, "m1").Turn.ID, object{"reply": object{"text": "Not yet."}})
	w.event(t, 2, "U0BOT", "Not yet.", object{"thread": nil})
	ask(3, object{"thread": nil, "reply_to": "m2"})
	c := w.opened(t, "m3")
	if got := joined(c); !strings.Contains(got, "\n===\nNot yet.\n===\n") || strings.Count(got, "Not yet.") != 1 {
		t.Errorf("the prompt is %s", got)
	}
}

func TestAnAssistantsMessageOfTheConversationAPIIsTheReply(t *testing.T) {
	t.Parallel()
	w := newChat(t, "memory:")
	w.call(t, "T1", http.MethodPut, "/v1/agents/U0BOT", fields{"name": "earshot"})
	id := w.create(t, "T1", fields{"agent_id": "U0BOT"})
	post := func(name, role, text string) {
		t.Helper()
		w.chat(t, "T1", http.MethodPost, conversations+"/"+id+"/messages", fields{"message_id": name, "role": role, "content": text}, http.StatusCreated)
	}
	post("a", "user", "well?")
	_, c := w.context(t, "T1", object{"conversation": id, "anchor": "a", "open": true})
	w.commit(t, "T1", c.Turn.ID, object{"reply": object{"text": "Not yet."}})
	post("b", "assistant", "Not yet.")
	post("c", "user", "and now?")
	if _, c = w.context(t, "T1", object{"conversation": id, "anchor": "c"}); strings.Count(joined(c), "Not yet.") != 1 {
		t.Errorf("the prompt is %s", joined(c))
	}
}
