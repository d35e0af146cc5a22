package gather_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
)

// However much was said since a caller that keeps the session has processed the
// conversation, the preamble counts it, and what was edited since comes with it.
func TestWhatWasSaidSinceAConversationWasProcessed(t *testing.T) {
	t.Parallel()
	const start = earshot.Time(1_772_442_000_000_000)
	st := open(t, "memory:")
	list := []earshot.Message{{ID: "r", Time: start, Author: earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}, Text: "staging is down"}}
	for i := range 600 {
		at := start + earshot.Time(i+1)*1_000_000
		list = append(list, earshot.Message{ID: earshot.MessageID(fmt.Sprintf("n%03d", i)), Time: at, Thread: "r", Author: earshot.Author{ID: "U2", Name: "Bob", Kind: earshot.Human}, Text: fmt.Sprintf("number %03d", i)})
	}
	record(t, st, general.Scope(), list...)
	id := earshot.ConversationID{Agent: "U0BOT", Scope: general.Scope(), Name: "r"}
	processed := func(n int) {
		t.Helper()
		if _, _, err := st.OpenConversation(t.Context(), id, ""); err != nil {
			t.Fatal(err)
		}
		ts := list[n].Time.TS()
		if _, err := st.MergeMetadata(t.Context(), id, map[string]*string{"last_processed_ts": &ts}); err != nil {
			t.Fatal(err)
		}
	}
	delta, _ := assemble.ByName("delta")
	prompt := func() string {
		t.Helper()
		_, res, err := gather.Turn(t.Context(), st, gather.Request{Channel: general, Anchor: "n599", Identity: self, Counter: counter(t), Policy: delta, Conversation: id, Elsewhere: true})
		if err != nil {
			t.Fatal(err)
		}
		return res.Messages[len(res.Messages)-1].Text
	}
	processed(100) // 499 messages stand between n099 and n599
	if got := prompt(); !strings.HasPrefix(got, "Since your last message, the following conversation took place (last 50 of 499 messages; 449 earlier ones were left out):\n---\nBob: number 549\n") {
		t.Errorf("much that is new: %.200q", got)
	}
	processed(598)
	edited := list[590]
	edited.Text, edited.Edited = "number 589, corrected", list[599].Time
	record(t, st, general.Scope(), edited)
	if got, want := prompt(), "Since your last message, the following conversation took place (last 2 messages):\n---\nBob: (edited) number 589, corrected\nBob: number 598\n---\nCurrent question: number 599"; got != want {
		t.Errorf("an edit: %q, want %q", got, want)
	}
}
