package gather_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
)

// TestAPermalinkIsReadFromTheStore pastes the addresses of a message from long ago, and
// of one in another channel.
func TestAPermalinkIsReadFromTheStore(t *testing.T) {
	t.Parallel()
	const start = earshot.Time(1_772_442_000_000_100)
	alice := earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}
	list := []earshot.Message{{ID: "1772442000.000100", Time: start, Author: alice, Text: "the port is 9000"}}
	for i := range 400 {
		list = append(list, earshot.Message{ID: earshot.MessageID(fmt.Sprintf("n%03d", i)), Time: start + earshot.Time(i+1)*1_000_000, Author: alice, Text: "something else"})
	}
	list = append(list, earshot.Message{ID: "q", Time: start + 900*1_000_000, Author: alice,
		Text: "<@U0BOT> is https://acme.slack.com/archives/" + string(general.ID) + "/p1772442000000100 so, or https://acme.slack.com/archives/CELSE/p1772442001000100?"})
	st := open(t, "memory:")
	record(t, st, general.Scope(), list...)
	other := general.Scope()
	other.Channel = "CELSE"
	record(t, st, other, earshot.Message{ID: "1772442001.000100", Time: start + 1_000_000, Author: alice, Text: "our secret"})
	for _, p := range assemble.Policies() {
		_, res, err := gather.Turn(t.Context(), st, gather.Request{Channel: general, Anchor: "q", Identity: self, Counter: counter(t), Policy: p})
		if err != nil {
			t.Fatal(err)
		}
		got := promptOf(res)
		for _, want := range []string{"the port is 9000", "link to a message of a channel that is not this one"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%.3000s", p.Name, want, got)
			}
		}
		if strings.Contains(got, "secret") {
			t.Errorf("%s: the other channel's text stands in\n%s", p.Name, got)
		}
	}
}
