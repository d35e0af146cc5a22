package explain_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/step"
	"github.com/earshot-ai/earshot/llm"
)

// bigPrice has a price for one model: a hundredth for each token of an answer.
func bigPrice(model string, u earshot.Usage) (float64, bool) {
	return float64(u.Output) / 100, model == "big"
}

func TestCallsComeFromTheJournalElseFromWhatWasCommitted(t *testing.T) {
	t.Parallel()
	journal := []step.Entry{{N: 0, Answer: &llm.Response{Model: "big", Usage: earshot.Usage{Input: 5}}}, {N: 1}, {N: 2, Answer: &llm.Response{Model: "small", Usage: earshot.Usage{Output: 2}}}}
	committed := &earshot.Turn{Usage: earshot.Usage{Input: 9}}
	for name, c := range map[string]struct {
		journal   []step.Entry
		committed *earshot.Turn
		want      []explain.Call
	}{
		"a journal":        {journal, committed, []explain.Call{{Model: "big", Usage: earshot.Usage{Input: 5}}, {Model: "small", Usage: earshot.Usage{Output: 2}}}},
		"an erased one":    {[]step.Entry{{N: 0}}, committed, []explain.Call{{Model: explain.Erased, Usage: earshot.Usage{Input: 9}}}},
		"nothing":          {nil, nil, nil},
		"no usage is told": {nil, &earshot.Turn{}, nil},
	} {
		if diff := cmp.Diff(explain.Calls(c.journal, c.committed), c.want); diff != "" {
			t.Errorf("%s: -got +want\n%s", name, diff)
		}
	}
}

func TestASumCountsATurnOnceForEachKey(t *testing.T) {
	t.Parallel()
	var sum explain.Sum
	calls := []explain.Call{{Model: "big", Usage: earshot.Usage{Input: 10, Output: 4, CacheRead: 30}}, {Model: "big", Usage: earshot.Usage{Output: 2}}, {Model: "small", Usage: earshot.Usage{CacheWrite: 5, Output: 1}}}
	sum.Add(calls, bigPrice, func(c explain.Call) string { return c.Model })
	sum.Add(nil, bigPrice, nil)
	want := []explain.Row{
		{Key: "big", Turns: 1, Spending: explain.Spending{Calls: 2, Input: 10, Output: 6, Read: 30, Cost: 0.06, Priced: true, Cached: 0.75}},
		{Key: "small", Turns: 1, Spending: explain.Spending{Calls: 1, Output: 1, Write: 5, Cost: 0.01}},
	}
	if diff := cmp.Diff(sum.Rows(), want); diff != "" {
		t.Errorf("-got +want\n%s", diff)
	}
	total := explain.Total(sum.Rows())
	if total.Turns != 2 || total.Calls != 3 || total.All() != 45 || total.Priced || total.Money() != "0.0700+" || total.Percent() != "67 %" {
		t.Errorf("the total is %+v", total)
	}
}

func TestWhatIsNotKnownIsADash(t *testing.T) {
	t.Parallel()
	var none explain.Spending
	if none.Money() != "–" || none.Percent() != "–" {
		t.Errorf("nothing costs %s, and %s of it is cached", none.Money(), none.Percent())
	}
	var s explain.Spending
	s.Add(explain.Call{Model: "big", Usage: earshot.Usage{Output: 1}}, nil)
	if s.Priced || s.Money() != "–" {
		t.Errorf("without prices it costs %s", s.Money())
	}
}
