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
		if !strings.Contains(string(page), "| `"+string(why)+"` |") {
			t.Errorf("docs/operations.md has no row for %s", why)
		}
	}
	if got := explain.WhyOf(earshot.QueuedTurn{State: earshot.TurnDropped, Why: "bot"}); got != "bot" {
		t.Errorf("a dropped turn: %q", got)
	}
}
