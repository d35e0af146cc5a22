package assemble_test

import (
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/tokens"
)

// TestTheGuideCountsWhatItSays compares the counts that stand beside the guide
// with those of its text.
func TestTheGuideCountsWhatItSays(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{"o200k", "o200k*1.15", "bytes4"} {
		counter, err := tokens.For(spec)
		if err != nil {
			t.Fatal(err)
		}
		res, err := assemble.Turn(assemble.Input{
			Identity: earshot.Identity{ID: "U0BOT", Name: "earshot"}, Anchor: "m1", Counter: counter, Policy: assemble.Standard(),
			Messages: []earshot.Message{{ID: "m1", Time: 1, Author: earshot.Author{ID: "U1", Name: "Ann", Kind: earshot.Human}, Text: "hello"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		for line := range strings.SplitSeq(res.System, "\n") {
			want++
			if line != "" {
				want += counter.Count(line)
			}
		}
		if got := res.Tokens.Sections[assemble.Guide]; got != want {
			t.Errorf("by %s the guide is counted as %d tokens, and has %d", spec, got, want)
		}
	}
}
