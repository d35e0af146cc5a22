package gather_test

import (
	"slices"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
)

// TestAThreadBelowADMQuestionBringsItsAnswer has a person open a thread below a
// question that the agent answered at the DM's top level, a long talk ago.
func TestAThreadBelowADMQuestionBringsItsAnswer(t *testing.T) {
	t.Parallel()
	const start = earshot.Time(1_772_442_000_000_000)
	alice, bot := earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}, earshot.Author{ID: "U0BOT", Name: "earshot", Kind: earshot.Bot}
	dm := earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "D1", Kind: earshot.KindDM}
	list := []earshot.Message{{ID: "1", Author: alice, Text: "list the VMs"}, {ID: "2", Author: bot, Text: "vm-1, vm-2"}}
	for i := range 400 {
		list = append(list, earshot.Message{ID: earshot.MessageID("n" + string(rune('a'+i/26%26)) + string(rune('a'+i%26)) + string(rune('a'+i/676))), Author: []earshot.Author{alice, bot}[i%2], Text: "something else"})
	}
	list = append(list, earshot.Message{ID: "q", Author: alice, Text: "are they running?", Thread: "1"})
	for i := range list {
		list[i].Time = start + earshot.Time(i)*1_000_000
	}
	st := open(t, "memory:")
	record(t, st, dm.Scope(), list...)
	for _, name := range []string{"transcript", "thread", "delta", "standard"} {
		p, _ := assemble.ByName(name)
		_, res, err := gather.Turn(t.Context(), st, gather.Request{Channel: dm, Anchor: "q", Identity: self, Counter: counter(t), Policy: p})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(res.Ledger, func(row earshot.LedgerRow) bool { return row.ID == "2" && row.Verdict == earshot.Full }) {
			t.Errorf("%s: the answer is not in\n%s", name, promptOf(res))
		}
		t.Logf("%s\n%.1500s", name, promptOf(res))
	}
}
