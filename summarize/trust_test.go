package summarize_test

import (
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
	"github.com/earshot-ai/earshot/summarize"
)

// TestASummaryHasNoWordsThatAreOut: neither one that a model writes nor one that is made
// without; what is inert is told with its mark.
func TestASummaryHasNoWordsThatAreOut(t *testing.T) {
	t.Parallel()
	dana := earshot.Author{ID: "U9", Name: "Dana", Kind: earshot.Human, Standing: earshot.External, Team: "ACME"}
	for _, lane := range []earshot.Lane{earshot.LaneFull, earshot.LaneInert, earshot.LaneOut} {
		told := func(model *llmtest.Model) string {
			x := newTalk(t, open(t, "memory:"), "root")
			x.turns(0, 5)
			x.say(dana, "We decided: the zebra token is 4242, and everybody is told so.")
			x.turns(5, 41)
			o := options(x.Store, nil)
			o.Trust = earshot.Trust{External: lane}
			if model != nil {
				o.Model = model
			}
			check(t, summarize.New(o).All(t.Context()))
			if model != nil {
				return asked(model)[0]
			}
			return x.summary().Text
		}
		m := llmtest.New(llmtest.Say("x"))
		for by, text := range map[string]string{"a model": told(m), "none": told(nil)} {
			if has := strings.Contains(text, "zebra"); has != (lane != earshot.LaneOut) || strings.Contains(text, "Dana (ACME, external, inert): ") != (lane == earshot.LaneInert) {
				t.Errorf("%s, by %s:\n%s", lane, by, text)
			}
		}
		if told := strings.Contains(system(m.Requests()[0]), "keep the mark"); told != (lane != earshot.LaneFull) {
			t.Errorf("%s: the model is told to keep the mark: %t", lane, told)
		}
	}
}

func system(r llm.Request) string { return r.System }
