package assemble_test

import (
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// TestAWindowSaysWhatItLeavesOut: a bot that reads twenty messages of a hundred, or a
// root without its replies, is told so.
func TestAWindowSaysWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	unread := said("x", "Carol", "who broke staging?")
	unread.Replies = &earshot.Activity{Count: 14, Last: unread.Time}
	checkRules(t, []rule{
		{
			name: "what is beyond its limits", in: asking("window", join(many(40), said("q", "Bob", "why?"))...),
			has: []string{"[recent channel context]\n[20 earlier messages were left out]\n\nthread (Alice, Bob):\n  Alice: number 021\n"}, ledger: "n020 out cap",
		},
		{
			name: "what is stored and not loaded",
			in: where(asking("window", said("x", "Carol", "lunch?"), said("q", "Bob", "why?")), func(in *assemble.Input) {
				in.Stored = []assemble.StoredCount{{Count: 300}}
			}),
			is: "[recent channel context]\n[298 earlier messages were left out]\n\nstandalone (Carol):\n  lunch?\n<<next>>\nBob: why?",
		},
		{
			name: "a root with replies", in: asking("window", unread, said("q", "Bob", "why?")),
			is: "[recent channel context]\n\nstandalone (Carol), 14 replies not shown, thread x:\n  who broke staging?\n<<next>>\nBob: why?",
		},
		{
			name: "a root of whose replies some are shown", in: asking("window", unread, said("y", "Alice", "me", in("x")), said("q", "Bob", "why?")),
			is: "[recent channel context]\n\nthread (Carol, Alice), 13 replies not shown, thread x:\n  Carol: who broke staging?\n  Alice: me\n<<next>>\nBob: why?",
		},
		{
			name: "nothing is left out", in: asking("window", said("x", "Carol", "lunch?"), said("y", "Alice", "now", in("x")), said("q", "Bob", "why?")),
			is: "[recent channel context]\n\nthread (Carol, Alice):\n  Carol: lunch?\n  Alice: now\n<<next>>\nBob: why?",
		},
	})
}
