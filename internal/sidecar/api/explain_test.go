package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/search"
)

// TestTurnsOfAnyMakeAreExplainedAlike explains the turns of a chat that the bot has
// answered, and a program over HTTP: each part of the prompt is told with the message
// that it shows and the turn that said it.
func TestTurnsOfAnyMakeAreExplainedAlike(t *testing.T) {
	t.Parallel()
	for _, policy := range assemble.Policies() {
		t.Run(policy.Name, func(t *testing.T) {
			t.Parallel()
			chat := rounds()
			ours, theirs := explainedOf(t, playBot(t, policy, chat)), explainedOf(t, playSidecar(t, policy, chat))
			if diff := cmp.Diff(theirs, ours); diff != "" {
				t.Errorf("explained; -sidecar +bot\n%s", diff)
			}
			if policy.Name != "standard" {
				return
			}
			// The question of a turn, what is shown twice because it was edited, what came
			// late, what a tool returned, and the answers.
			want := []string{
				"0 1 m0", "0 1 m1", "0 1 m3", "1 1 r0",
				"2 2 m2", "2 2 m1", "2 2 m12", "5 2 r1",
				"6 0 m20", "6 0 m21",
			}
			if diff := cmp.Diff(want, ours[len(ours)-1].shows); diff != "" {
				t.Errorf("the last prompt shows; -want +got\n%s", diff)
			}
		})
	}
}

// A shownTurn is what a prompt's segments say.
type shownTurn struct {
	shows  []string // part, turn and message of each segment that shows one
	before []earshot.TurnID
	cached explain.CachedPrefix
}

// Equal is what cmp compares them by.
func (s shownTurn) Equal(o shownTurn) bool { return fmt.Sprint(s) == fmt.Sprint(o) }

// explainedOf explains all turns of a chat, the oldest first.
func explainedOf(t *testing.T, p played) []shownTurn {
	t.Helper()
	reader := explain.New(p.store, search.New(p.store, nil), explain.Options{})
	all := access.Principal{Kind: access.Key}
	turns, _, err := reader.Turns(t.Context(), all, explain.TurnQuery{})
	if err != nil || len(turns) == 0 {
		t.Fatal(turns, err)
	}
	out := make([]shownTurn, len(turns))
	before := ""
	said := map[earshot.TurnID]map[earshot.MessageID]string{} // what each turn itself shows
	for i, q := range slices.Backward(turns) {
		told, x, err := reader.Explain(t.Context(), all, q.ID)
		if err != nil || x == nil {
			t.Fatalf("turn %d: %v %s", q.ID, err, told.Changed)
		}
		s := &out[len(turns)-1-i]
		checkSegments(t, *x)
		own := map[earshot.MessageID]string{}
		said[q.ID] = own
		for _, g := range x.Segments {
			switch {
			case g.Shows == "":
			case g.Turn == 0:
				own[g.Shows] = g.Text
			case g.Role == earshot.User && said[g.Turn][g.Shows] != g.Text:
				t.Errorf("turn %d: of turn %d %s is %q, which had %q", q.ID, g.Turn, g.Shows, g.Text, said[g.Turn][g.Shows])
			}
			if g.Shows != "" {
				s.shows = append(s.shows, fmt.Sprint(g.Part, g.Turn, " ", g.Shows))
			}
		}
		for _, b := range x.Before {
			s.before = append(s.before, b.ID)
		}
		s.cached = x.Cached
		// A session has what tools said too, which stood in no prompt.
		now := promptOf(x.Result)
		common := 0
		for common < min(len(before), len(now)) && before[common] == now[common] {
			common++
		}
		if n := x.Cached.Bytes; n < common || n > common && !x.Input.Policy.Session {
			t.Errorf("turn %d: %d bytes are cached, %d are those of the prompt before", q.ID, n, common)
		}
		before = now
	}
	return out
}

// promptOf is the text of a prompt.
func promptOf(r assemble.Result) string {
	s := r.System
	for _, m := range r.Messages {
		s += m.Text
	}
	return s
}

// checkSegments checks that the segments are the whole prompt, and that what this
// turn adds shows what the ledger says.
func checkSegments(t *testing.T, x explain.Explanation) {
	t.Helper()
	texts, shows := make([]strings.Builder, len(x.Result.Messages)+1), map[earshot.MessageID]bool{}
	for _, s := range x.Segments {
		texts[s.Part+1].WriteString(s.Text)
		if s.Section != assemble.SessionPart && s.Shows != "" {
			shows[s.Shows] = true
		}
	}
	for i, m := range append([]assemble.Message{{Text: x.Result.System}}, x.Result.Messages...) {
		if got := texts[i].String(); got != m.Text {
			t.Errorf("the segments of part %d are %q, the prompt is %q", i-1, got, m.Text)
		}
	}
	for _, c := range x.Candidates {
		if in := c.Row.Verdict != earshot.Out && c.Row.Section != "tools"; shows[c.Message.ID] != in || c.Message.ID != c.Row.ID {
			t.Errorf("%+v: a segment shows it: %v", c.Row, shows[c.Message.ID])
		}
	}
	if x.Cached.Tokens > x.Result.Tokens.Total || x.Anchor.ID != x.Input.Anchor {
		t.Errorf("cached %+v of %d, anchor %s", x.Cached, x.Result.Tokens.Total, x.Anchor.ID)
	}
}
