package api_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/inspect/picture"
	"github.com/earshot-ai/earshot/tokens"
)

// ts is the id of the nth message of a thread on Slack, whose root is message 0.
func ts(n int) string { return fmt.Sprintf("%d.000100", 1_772_442_000+n*60) }

// heard is the nth message of the thread.
func heard(n int, who, text string) earshot.Message {
	m := said(n, who, text)
	m.ID, m.Time, m.Thread = earshot.MessageID(ts(n)), m.Time+100, earshot.MessageID(ts(0))
	if who == "earshot" {
		m.Author = earshot.Author{ID: "U0BOT", Name: "earshot", Kind: earshot.Bot}
	}
	return m
}

// conversationOf creates the conversation of the thread, and returns its id.
func (w *world) conversationOf(t testing.TB) string {
	t.Helper()
	return w.create(t, "T1", fields{"agent_id": "U0BOT", "idempotency_key": "slack:T1:C1:" + ts(0), "metadata": fields{"channel_id": "C1", "thread_ts": ts(0)}})
}

// processed tells that the conversation was processed up to a message.
func (w *world) processed(t testing.TB, conversation string, n int) {
	t.Helper()
	w.chat(t, "T1", http.MethodPatch, conversations+"/"+conversation+"/metadata", fields{"metadata": fields{"last_processed_ts": ts(n)}}, http.StatusOK)
}

// deltaFor returns the prompt for a message under policy delta, its parts joined.
func (w *world) deltaFor(t testing.TB, conversation string, n int, more object) string {
	t.Helper()
	body := object{"conversation": conversation, "anchor": ts(n), "policy": "delta"}
	for k, v := range more {
		body[k] = v
	}
	status, c := w.context(t, "T1", body)
	if status != http.StatusOK {
		t.Fatalf("context for %d: %d %s", n, status, c.Detail)
	}
	return joined(c)
}

// joined returns the parts of a prompt, with a line between them.
func joined(c contextJSON) string {
	var parts []string
	for _, m := range c.Prompt.Messages {
		parts = append(parts, m.Text)
	}
	return strings.Join(parts, "\n===\n")
}

const sinceYours = "Since your last message, the following conversation took place"

func TestADeltaCountsFromWhatACallerHasProcessed(t *testing.T) {
	t.Parallel()
	w := newChat(t, "memory:")
	w.tell(t, heard(0, "Alice", "staging is down"), heard(1, "Bob", "<@U0BOT> why?"))
	id := w.conversationOf(t)
	if got, want := w.deltaFor(t, id, 1, nil), "Previous conversation:\n---\nAlice: staging is down\n---\nCurrent question: @earshot why?"; got != want {
		t.Errorf("the first turn: %q, want %q", got, want)
	}
	w.tell(t, heard(2, "earshot", "A lock."), heard(3, "Carol", "I restarted it"), heard(4, "Bob", "<@U0BOT> and now?"))
	w.processed(t, id, 1)
	if got, want := w.deltaFor(t, id, 4, nil), sinceYours+" (last 1 messages):\n---\nCarol: I restarted it\n---\nCurrent question: @earshot and now?"; got != want {
		t.Errorf("the second turn: %q, want %q", got, want)
	}
	w.processed(t, id, 4)
	w.tell(t, heard(5, "earshot", "It runs."), heard(6, "Bob", "<@U0BOT> sure?"))
	if got, want := w.deltaFor(t, id, 6, nil), "@earshot sure?"; got != want {
		t.Errorf("nothing new: %q, want %q", got, want)
	}
	if got := w.deltaFor(t, id, 6, object{"policy": "standard"}); !strings.Contains(got, "09:00 Alice: staging is down") {
		t.Errorf("another policy: %q", got)
	}

	// What opens a turn begins with everything, and from its commit on the session counts.
	_, opened := w.context(t, "T1", object{"conversation": id, "anchor": ts(6), "policy": "delta", "open": true})
	if got := joined(opened); !strings.HasPrefix(got, "Previous conversation:\n---\nAlice: staging is down\n") {
		t.Errorf("a turn that is opened: %q", got)
	}
	if status, c := w.commit(t, "T1", opened.Turn.ID, says("Quite.", ts(7))); status != http.StatusOK {
		t.Fatalf("commit: %d %+v", status, c)
	}
	w.tell(t, heard(8, "Carol", "thanks"), heard(9, "Bob", "<@U0BOT> and tomorrow?"))
	w.processed(t, id, 8) // hides nothing from a conversation in which a turn was committed
	got := w.deltaFor(t, id, 9, nil)
	if parts := strings.Split(got, "\n===\n"); len(parts) != 3 || !strings.HasPrefix(parts[0], "Previous conversation:") || parts[1] != "Quite." ||
		!strings.HasPrefix(parts[2], sinceYours+" (last 1 messages):\n---\nCarol: thanks\n---\n") {
		t.Errorf("after a commit: %q", got)
	}
}

func TestADeltaOfAConversationWithoutAChannel(t *testing.T) {
	t.Parallel()
	w := newChat(t, "memory:")
	w.call(t, "T1", http.MethodPut, "/v1/agents/U0BOT", fields{"name": "earshot"})
	id := w.create(t, "T1", fields{"agent_id": "U0BOT"})
	post := func(n int, role, text string) {
		t.Helper()
		w.chat(t, "T1", http.MethodPost, conversations+"/"+id+"/messages", fields{"message_id": ts(n), "role": role, "content": text, "created_at": ts(n)}, http.StatusCreated)
	}
	post(0, "user", "staging is down")
	post(1, "assistant", "I see it.")
	w.processed(t, id, 0)
	post(2, "user", "it is the lock")
	post(3, "user", "well?")
	if got := w.deltaFor(t, id, 3, nil); !strings.HasPrefix(got, sinceYours+" (last 1 messages):\n---\nuser (2): it is the lock\n---\n") || strings.Contains(got, "staging") || strings.Contains(got, "I see it") {
		t.Errorf("got %q", got)
	}
}

// ownSession is what 40 questions in one thread send to an agent that keeps its own
// session, and what it then stores, in tokens: with the delta, and with the whole
// thread each time.
type ownSession struct{ sent, whole []float64 }

// threadTurns is how many questions are asked.
const threadTurns = 40

func playOwnSession(t *testing.T) (out ownSession) {
	t.Helper()
	w := newChat(t, "memory:")
	count, err := tokens.For("o200k")
	if err != nil {
		t.Fatal(err)
	}
	w.tell(t, heard(0, "Alice", "imports have been slow since the upgrade, can we look at it together in this thread?"))
	id := w.conversationOf(t)
	everything := object{
		"name": "whole", "form": "text", "frame": "preamble",
		"first": []object{{"section": "guide"}, {"section": "thread", "messages": 1000, "tokens": 100_000}, {"section": "anchor"}},
	}
	n := 0
	for turn := range threadTurns {
		for i, who := range []string{"Bob", "Carol", "Dan"} {
			n++
			w.tell(t, heard(n, who, fmt.Sprintf("worker %d took %d seconds for batch %d, and the queue behind it has %d files now", i+1, 40+turn, turn, 300-5*turn)))
		}
		n++
		w.tell(t, heard(n, "Alice", fmt.Sprintf("<@U0BOT> what do you make of batch %d?", turn)))
		out.sent = append(out.sent, float64(count.Count(w.deltaFor(t, id, n, nil))))
		out.whole = append(out.whole, float64(count.Count(w.deltaFor(t, id, n, object{"policy": everything, "budget": object{"tokens": 100_000, "session": 100_000, "limit": 200_000}}))))
		asked := n
		n++
		w.tell(t, heard(n, "earshot", fmt.Sprintf("Batch %d is slower than the one before: the workers wait for the lock table, not for the disk.", turn)))
		w.processed(t, id, asked)
	}
	return out
}

// soFar adds up.
func soFar(list []float64) []float64 {
	out, sum := make([]float64, len(list)), 0.0
	for i, x := range list {
		sum += x
		out[i] = sum
	}
	return out
}

// halves returns what the second half of the turns adds, as a multiple of the first.
func halves(list []float64) float64 {
	sums := soFar(list)
	first := sums[len(sums)/2-1]
	return (sums[len(sums)-1] - first) / first
}

func TestASessionOfTheAgentsOwnGrowsByWhatIsNew(t *testing.T) {
	t.Parallel()
	played := playOwnSession(t)
	if x := halves(played.sent); x > 1.3 {
		t.Errorf("the second half of the turns sends %.2f times what the first did: %v", x, played.sent)
	}
	if x := halves(played.whole); x < 2 {
		t.Errorf("the whole thread each time: the second half sends only %.2f times what the first did: %v", x, played.whole)
	}
	labels := make([]string, threadTurns)
	for i := range labels {
		labels[i] = strconv.Itoa(i + 1)
	}
	lines := func(title string, of func([]float64) []float64) picture.Picture {
		return picture.Lines(title, "turn", "", labels, nil,
			picture.Series{Name: "what is new since last_processed_ts", Class: "s1", Values: of(played.sent)},
			picture.Series{Name: "the whole thread each time", Class: "s2", Values: of(played.whole)})
	}
	delta, whole := soFar(played.sent), soFar(played.whole)
	chart := picture.Sheet(fmt.Sprintf("What %d questions in one thread cost an agent that keeps its own session", threadTurns),
		fmt.Sprintf("After %d questions the agent has been sent, and has stored, %.0f tokens; with the whole thread each time it would be %.0f.", threadTurns, delta[threadTurns-1], whole[threadTurns-1]),
		lines("Tokens sent with each question", func(x []float64) []float64 { return x }), lines("Tokens stored in the agent's session", soFar))
	const file = "../../../docs/own-session.svg"
	if *update {
		if err := os.WriteFile(file, chart, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(file); err != nil || !bytes.Equal(have, chart) {
		t.Errorf("docs/own-session.svg is not what is measured (%v); write it anew with: go test ./internal/sidecar/api -run Own -update", err)
	}
	page, err := os.ReadFile("../../../docs/own-session.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, figure := range []float64{delta[threadTurns-1], whole[threadTurns-1]} {
		if text := fmt.Sprintf("%d,%03d", int(figure)/1000, int(figure)%1000); !strings.Contains(string(page), text) {
			t.Errorf("docs/own-session.md does not have the figure %s", text)
		}
	}
	t.Logf("%.0f tokens against %.0f; halves %.2f and %.2f", delta[threadTurns-1], whole[threadTurns-1], halves(played.sent), halves(played.whole))
}
