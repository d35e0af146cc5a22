package assemble_test

import (
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// TestAnIDIsNeverWrittenAsAName: where the channel's name is not known its id stands
// there, as an id.
func TestAnIDIsNeverWrittenAsAName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		frame, name, id string
		want, not       string
	}{
		{"log", "", "C0SIM00003", "\n+ id: C0SIM00003\n", "name:"},
		{"log", "#", "C0SIM00003", "\n+ id: C0SIM00003\n", "name:"},
		{"log", "ops", "C0SIM00003", "\n+ name: #ops\n", "C0SIM"},
		{"log", "", "", "You are earshot here.]\n\n", "+ "},
		{"brackets", "", "C0SIM00003", "[channel] id C0SIM00003 (Slack channel)", "#"},
		{"brackets", "ops", "C0SIM00003", "[channel] #ops (Slack channel)", "C0SIM"},
	} {
		p, _ := assemble.ByName("standard")
		if c.frame == "brackets" {
			p = assemble.Policy{Name: "brackets", Frame: assemble.Brackets, First: []assemble.Section{{Section: assemble.Place}, {Section: assemble.Anchor}}}
		}
		anchor := earshot.Message{ID: "1", Time: 1772442000e6, Author: earshot.Author{ID: "U1", Name: "Alice"}, Text: "<@U0> why?"}
		r, err := assemble.Turn(assemble.Input{
			Channel: earshot.Channel{Platform: earshot.Slack, ID: earshot.ChannelID(c.id), Name: c.name, Kind: earshot.KindChannel},
			Anchor:  anchor.ID, Messages: []earshot.Message{anchor}, Identity: earshot.Identity{ID: "U0", Name: "earshot"},
			Policy: p, Budget: assemble.DefaultBudget(), Counter: counterNamed("bytes4"),
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Messages[0].Text; !strings.Contains(strings.ToLower(got), strings.ToLower(c.want)) || strings.Contains(got, c.not) {
			t.Errorf("frame %s, name %q, id %q: want %q and no %q in\n%s", c.frame, c.name, c.id, c.want, c.not, got)
		}
	}
}
