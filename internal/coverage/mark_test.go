package coverage_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/coverage"
)

const told = "told"

func known(from, to earshot.Time) earshot.Coverage {
	return earshot.Coverage{From: from, To: to, State: earshot.Known}
}

func missing(from, to earshot.Time) earshot.Coverage {
	return earshot.Coverage{From: from, To: to, State: earshot.Missing}
}

// heard is a channel whose events are told since 100, and what was said before.
func heard(before ...earshot.Coverage) []earshot.Coverage {
	return append(before, earshot.Coverage{From: 100, State: earshot.Known, Why: told})
}

func TestMark(t *testing.T) {
	t.Parallel()
	in := func(thread earshot.MessageID, c earshot.Coverage) earshot.Coverage {
		c.Thread = thread
		return c
	}
	for name, c := range map[string]struct {
		have []earshot.Coverage
		said earshot.Coverage
		all  bool
		want []earshot.Coverage
	}{
		"a page of the past": {heard(missing(0, 99)), known(50, 80), false, heard(missing(0, 49), known(50, 80), missing(81, 99))},
		"the next page touches it": {
			heard(missing(0, 49), known(50, 99)), known(20, 49), false, heard(missing(0, 19), known(20, 99))},
		"all of the past":                          {heard(missing(0, 99)), known(0, 500), false, heard(known(0, 99))},
		"all of the past, with its threads":        {heard(missing(0, 99)), known(0, 500), true, []earshot.Coverage{{From: 1, State: earshot.Known, Why: told}}},
		"a part of it, with threads, that touches": {heard(missing(0, 99)), known(60, 99), true, []earshot.Coverage{missing(0, 59), {From: 60, State: earshot.Known, Why: told}}},
		"what was heard is known already":          {heard(missing(0, 99)), known(120, 150), false, heard(missing(0, 99))},
		"a gap":                                    {heard(missing(0, 99)), missing(150, 200), false, append(heard(missing(0, 99)), missing(150, 200))},
		"a gap that reaches back ends before it":   {heard(), missing(90, 200), false, append(heard(missing(90, 99)), missing(100, 200))},
		"a gap that is filled stays one for threads": {
			append(heard(), missing(150, 200)), known(140, 180), false, append(heard(), known(150, 180), missing(181, 200))},
		"a gap that is filled for threads too": {append(heard(), missing(150, 200)), known(140, 180), true, append(heard(), missing(181, 200))},
		"nobody listens":                       {nil, known(10, 20), false, []earshot.Coverage{known(10, 20)}},
		"a thread": {
			heard(in("r", missing(0, 50))), in("r", known(20, 120)), false, append(heard(), in("r", missing(0, 19)), in("r", known(20, 120)))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := slices.Clone(c.have)
			got := coverage.AddCoverage(c.have, c.said, c.all)
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			if d := cmp.Diff(got, coverage.AddCoverage(got, c.said, c.all)); d != "" {
				t.Errorf("said again, -once +twice:\n%s", d)
			}
			if !slices.Equal(before, c.have) {
				t.Error("its argument was changed")
			}
		})
	}
}

func TestBegin(t *testing.T) {
	t.Parallel()
	past := earshot.Coverage{State: earshot.Missing, Why: "past"}
	from := func(a, b earshot.Time) earshot.Coverage {
		past.From, past.To = a, b
		return past
	}
	for name, c := range map[string]struct {
		have   []earshot.Coverage
		stored earshot.Time
		want   []earshot.Coverage
	}{
		"nothing is known":        {nil, 0, heard(from(0, 99))},
		"an export is stored":     {nil, 60, heard(from(61, 99))},
		"history was told before": {[]earshot.Coverage{missing(0, 40), known(41, 120)}, 60, heard(missing(0, 40), known(41, 99))},
		"somebody listens":        {[]earshot.Coverage{{From: 7, State: earshot.Known}}, 0, []earshot.Coverage{{From: 7, State: earshot.Known}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := coverage.Begin(c.have, 100, c.stored, told, "past")
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			if since := coverage.ToldSince(got, told); (since == 100) != (name != "somebody listens") {
				t.Errorf("told since %d", since)
			}
		})
	}
}

// TestMarksAddUp compares what was said in any order with a model that has a state for
// each moment.
func TestMarksAddUp(t *testing.T) {
	t.Parallel()
	const moments = 60
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		var list []earshot.Coverage
		var model [moments]earshot.CoverageState
		since := earshot.Time(0)
		for step := range 30 {
			if step == 10 {
				since = 30
				list = coverage.Begin(list, since, 0, told, "")
				for i := 1; i < 30; i++ {
					if model[i] == "" {
						model[i] = earshot.Missing
					}
				}
				for i := 30; i < moments; i++ {
					if model[i] == "" {
						model[i] = earshot.Known
					}
				}
			}
			from := 1 + r.IntN(moments-1)
			c := earshot.Coverage{From: earshot.Time(from), To: earshot.Time(min(moments-1, from+r.IntN(12))), State: []earshot.CoverageState{earshot.Known, earshot.Missing, earshot.Stale}[r.IntN(3)]}
			list = coverage.AddCoverage(list, c, r.IntN(2) == 0)
			for i := c.From; i <= c.To; i++ {
				model[i] = c.State
			}
			if err := compare(list, model[:], since); err != "" {
				t.Fatalf("seed %d, step %d, %+v: %s\n%+v", seed, step, c, err, list)
			}
		}
	}
}

// compare says where entries and a model differ, "" where they do not.
func compare(list []earshot.Coverage, model []earshot.CoverageState, since earshot.Time) string {
	for at := range model[1:] {
		at := earshot.Time(at + 1)
		state, n := earshot.CoverageState(""), 0
		for _, e := range list {
			if e.To == 0 && e.State == earshot.Known {
				if state == "" && at >= e.From {
					state = earshot.Known
				}
				continue
			}
			if e.From <= at && at <= e.To {
				state = e.State
				n++
			}
		}
		if n > 1 || state != model[at] {
			return fmt.Sprintf("at %d: %d entries, %q, want %q", at, n, state, model[at])
		}
	}
	return ""
}

func TestEntriesAreBounded(t *testing.T) {
	t.Parallel()
	list := heard(missing(0, 99))
	for i := range earshot.Time(100) {
		list = coverage.AddCoverage(list, missing(1000+10*i, 1004+10*i), false)
	}
	if len(list) > 18 || coverage.ToldSince(list, told) != 1834+1 {
		t.Errorf("%d entries: %+v", len(list), list)
	}
	for i := range 400 {
		list = coverage.AddCoverage(list, earshot.Coverage{Thread: earshot.MessageID(fmt.Sprint(i)), To: earshot.Time(1000 + i), State: earshot.Known}, false)
	}
	threads := map[earshot.MessageID]bool{}
	for _, e := range list {
		threads[e.Thread] = true
	}
	if len(threads) > 257 || !threads["399"] || threads["0"] {
		t.Errorf("%d threads", len(threads))
	}
}

func TestOfThread(t *testing.T) {
	t.Parallel()
	open := func(from, to earshot.Time) earshot.Coverage {
		return earshot.Coverage{Thread: "r", From: from, To: to, State: earshot.Missing}
	}
	gap := append(heard(missing(0, 99)), missing(150, 200))
	for name, c := range map[string]struct {
		list   []earshot.Coverage
		thread coverage.Thread
		want   []earshot.Coverage
	}{
		"nobody keeps coverage":               {nil, coverage.Thread{First: 80, Rootless: true}, nil},
		"no root":                             {heard(missing(0, 99)), coverage.Thread{First: 180, Rootless: true}, []earshot.Coverage{open(0, 99)}},
		"no root, begun while heard":          {heard(missing(0, 99)), coverage.Thread{Began: 110, First: 180, Rootless: true}, nil},
		"no root, in a channel that is whole": {[]earshot.Coverage{{From: 1, State: earshot.Known}}, coverage.Thread{First: 180, Rootless: true}, nil},
		"no root, known by itself":            {heard(earshot.Coverage{Thread: "r", To: 120, State: earshot.Known}), coverage.Thread{First: 90, Rootless: true}, nil},
		"no root, and its thread says so":     {heard(earshot.Coverage{Thread: "r", To: 50, State: earshot.Missing}), coverage.Thread{First: 180, Rootless: true}, nil},
		"replies are told of":                 {heard(missing(0, 99)), coverage.Thread{Began: 50, Lacks: 90}, []earshot.Coverage{open(50, 90)}},
		"replies are told of, and read":       {heard(earshot.Coverage{Thread: "r", From: 40, To: 99, State: earshot.Known}), coverage.Thread{Began: 50, Lacks: 90}, nil},
		"a gap while it went on":              {gap, coverage.Thread{Began: 120, First: 120}, []earshot.Coverage{open(150, 200)}},
		"a gap before it began":               {gap, coverage.Thread{Began: 220, First: 220}, nil},
		"a gap that is filled above":          {append(heard(), known(150, 200)), coverage.Thread{Began: 120, First: 120}, []earshot.Coverage{open(150, 200)}},
		"a gap after the question":            {append(heard(), missing(400, 500)), coverage.Thread{Began: 120, First: 120}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.thread.ID = "r"
			got := coverage.OfThread(c.list, c.thread, 300)
			for i := range got {
				got[i].Why = ""
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}
