package coverage_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/coverage"
)

func TestJoin(t *testing.T) {
	t.Parallel()
	missed := func(from, to earshot.Time, why string) earshot.Coverage {
		return earshot.Coverage{From: from, To: to, State: earshot.Missing, Why: why}
	}
	type list = []earshot.Coverage
	for name, c := range map[string]struct{ a, b, want list }{
		"of one alone nothing is said":                       {list{missed(0, 9, "a"), known(10, 0)}, nil, list{missed(0, 9, "a"), known(10, 0)}},
		"the earlier one has listened since":                 {list{missed(0, 9, "a"), known(10, 0)}, list{missed(0, 49, "b"), known(50, 0)}, list{missed(0, 9, "b"), known(10, 0)}},
		"a gap stays one where the other had not begun":      {list{known(10, 0), missed(20, 30, "a")}, list{known(50, 0)}, list{known(10, 0), missed(20, 30, "a")}},
		"a gap is none where the other listened":             {list{known(10, 0), missed(60, 70, "a")}, list{known(65, 0)}, list{known(10, 0), missed(60, 64, "a")}},
		"a gap that the other read from history is filled":   {list{known(10, 0), missed(20, 30, "a")}, list{known(5, 25), known(50, 0)}, list{known(5, 9), known(10, 0), known(20, 25), missed(26, 30, "a")}},
		"of a thread too, and nothing is claimed in between": {list{{Thread: "r", From: 10, To: 20, State: earshot.Known}}, list{{Thread: "r", From: 30, To: 40, State: earshot.Known}}, list{{Thread: "r", From: 10, To: 20, State: earshot.Known}, {Thread: "r", From: 30, To: 40, State: earshot.Known}}},
		"what one knows of a thread is not missing":          {list{{Thread: "r", To: 40, State: earshot.Missing, Why: "a"}}, list{{Thread: "r", From: 30, To: 40, State: earshot.Known}}, list{{Thread: "r", To: 29, State: earshot.Missing, Why: "a"}, {Thread: "r", From: 30, To: 40, State: earshot.Known}}},
		"two threads are two":                                {list{{Thread: "r", To: 9, State: earshot.Known}}, list{{Thread: "s", To: 9, State: earshot.Missing}}, list{{Thread: "r", To: 9, State: earshot.Known}, {Thread: "s", To: 9, State: earshot.Missing}}},
	} {
		if diff := cmp.Diff(coverage.Join(c.a, c.b), c.want); diff != "" {
			t.Errorf("%s (-got +want):\n%s", name, diff)
		}
	}
}

// Whatever two lists say: a moment is known if one of them knows it, and never else, and
// who listened is believed.
func TestAJoinClaimsWhatOneOfBothKnows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(name string) []earshot.Coverage {
			var list []earshot.Coverage
			if since := rapid.IntRange(0, 40).Draw(rt, name+" since"); since > 0 {
				list = coverage.Begin(nil, earshot.Time(since), 0, "", "not told")
			}
			for range rapid.IntRange(0, 5).Draw(rt, name+" entries") {
				from := rapid.IntRange(1, 50).Draw(rt, "from")
				list = coverage.AddCoverage(list, earshot.Coverage{
					From: earshot.Time(from), To: earshot.Time(rapid.IntRange(from, 50).Draw(rt, "to")),
					State: rapid.SampledFrom([]earshot.CoverageState{earshot.Known, earshot.Missing, earshot.Stale}).Draw(rt, "state"), Why: name,
				}, false)
			}
			return list
		}
		a, b := draw("a"), draw("b")
		got := coverage.Join(a, b)
		for at := coverage.Dawn; at < 60; at++ {
			if g, w := knows(got, at), knows(a, at) || knows(b, at); g != w {
				rt.Fatalf("known at %d: %v, want %v\na %v\nb %v\n= %v", at, g, w, a, b, got)
			}
			if g, w := listened(got, at), listened(a, at) || listened(b, at); g != w {
				rt.Fatalf("heard at %d: %v, want %v\na %v\nb %v\n= %v", at, g, w, a, b, got)
			}
			if says(got, at) != (says(a, at) || says(b, at)) {
				rt.Fatalf("said of %d: %v\na %v\nb %v\n= %v", at, says(got, at), a, b, got)
			}
		}
	})
}

// knows reports whether entries of a top level say that a moment is known.
func knows(list []earshot.Coverage, at earshot.Time) bool {
	if listened(list, at) {
		return true
	}
	for _, e := range list {
		if e.State == earshot.Known && e.To != 0 && e.From <= at && at <= e.To {
			return true
		}
	}
	return false
}

// says reports whether an entry is about a moment.
func says(list []earshot.Coverage, at earshot.Time) bool {
	for _, e := range list {
		if e.From <= at && (at <= e.To || e.To == 0) {
			return true
		}
	}
	return false
}

// listened reports whether a moment was heard as it happened.
func listened(list []earshot.Coverage, at earshot.Time) bool {
	h := coverage.RestoreHeard(list)
	return h.Since != 0 && h.Since <= at && !h.Gaps.Holds(at)
}
