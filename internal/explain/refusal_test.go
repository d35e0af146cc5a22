package explain_test

import (
	"os"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/explain"
)

func TestEachRefusalIsSaidInPlainWordsAndHasItsRemedyInTheDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, why := range earshot.Refusals() {
		q := earshot.QueuedTurn{State: earshot.TurnRefused, Why: string(why)}
		if got := explain.WhyOf(q); got == string(why) || got == "" {
			t.Errorf("%s has no words", why)
		}
		if explain.RefusalRemedy(why) == "" {
			t.Errorf("%s has no remedy", why)
		}
		if !strings.Contains(string(page), "| `"+string(why)+"` |") {
			t.Errorf("docs/operations.md has no row for %s", why)
		}
	}
	if got := explain.WhyOf(earshot.QueuedTurn{State: earshot.TurnDropped, Why: "bot"}); got != "bot" {
		t.Errorf("a dropped turn: %q", got)
	}
}

// Who asks for the newest turn wants an answer explained: a message that was refused
// after it has none. It is found by its id.
func TestARefusedTurnIsNotTheNewest(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	done := w.add(1, turn{"C1", bob, earshot.TurnDone, nil})
	id := earshot.ConversationID{Agent: "agent", Scope: at("C1"), Name: "r"}
	m := earshot.Message{ID: "r1", Time: begin + 2*hour, Author: bob, Text: "@agent hi"}
	_, err := w.store.Accept(t.Context(), at("C1"), earshot.Event{Message: m, Refused: earshot.RefusedAuthor}, &id)
	w.must(err)
	for _, message := range []earshot.MessageID{"", explain.Newest} {
		if got, err := w.reader.TurnOf(t.Context(), everyone, at("C1"), message); got != done || err != nil {
			t.Errorf("newest by %q: turn %d, %v; want %d", message, got, err, done)
		}
	}
	if got, err := w.reader.TurnOf(t.Context(), everyone, at("C1"), "r1"); got == done || err != nil {
		t.Errorf("by its id: turn %d, %v", got, err)
	}
}
