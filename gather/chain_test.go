package gather_test

import (
	"fmt"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
)

// All parts of an answer are read, also where the window does not reach back to
// them: those that are recorded, and those that say what they reply to.
func TestTheChainReadsAllPartsOfAnAnswer(t *testing.T) {
	t.Parallel()
	recorded := []earshot.Answer{{Anchor: "q1", Replies: []earshot.MessageID{"a1", "a2", "a3"}}}
	for _, c := range []struct {
		name    string
		parts   []earshot.Message
		turns   []earshot.Answer
		replyTo earshot.MessageID
	}{
		{"with references", []earshot.Message{own(2, "a1", "q1"), own(3, "a2", "q1"), own(4, "a3", "q1")}, nil, "a1"},
		{"recorded", []earshot.Message{own(2, "a1", "q1"), own(3, "a2", ""), own(4, "a3", "")}, recorded, "a1"},
		{"through a part without a reference", []earshot.Message{own(2, "a1", "q1"), own(3, "a2", ""), own(4, "a3", "")}, recorded, "a3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			stores(t, func(t *testing.T, st earshot.Store) {
				record(t, st, guild.Scope(), line(1, "q1", ""))
				record(t, st, guild.Scope(), c.parts...)
				for i := range 400 {
					record(t, st, guild.Scope(), line(10+i, earshot.MessageID(fmt.Sprintf("x%03d", i)), ""))
				}
				record(t, st, guild.Scope(), line(500, "q2", c.replyTo))
				for _, name := range []string{"window", "standard"} {
					p, _ := assemble.ByName(name)
					state := assemble.ConversationState{Turns: c.turns}
					req := gather.Request{Channel: guild, Anchor: "q2", Identity: self, Counter: counter(t), Policy: withoutGuesses(p), State: &state}
					_, res, err := gather.Turn(t.Context(), st, req)
					if err != nil {
						t.Fatal(err)
					}
					chain := map[earshot.MessageID]bool{}
					for _, row := range res.Ledger {
						if row.Verdict != earshot.Out && row.Section == string(assemble.Chain) {
							chain[row.ID] = true
						}
					}
					if len(chain) != 4 || !chain["q1"] || !chain["a1"] || !chain["a2"] || !chain["a3"] {
						t.Errorf("%s: the chain is %v:\n%s", name, chain, promptOf(res))
					}
					same(t, st, req, state)
				}
			})
		})
	}
}
