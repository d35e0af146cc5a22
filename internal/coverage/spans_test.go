package coverage

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/earshot-ai/earshot"
)

// TestSpansAreSetsOfMoments compares every operation with the same one on sets of
// single moments.
func TestSpansAreSetsOfMoments(t *testing.T) {
	t.Parallel()
	const last = 20
	type moments [last + 1]bool
	of := func(s Spans) (out moments) {
		for at := range earshot.Time(last + 1) {
			out[at] = s.Holds(at)
		}
		return out
	}
	spans := rapid.Custom(func(t *rapid.T) Span {
		from := earshot.Time(rapid.IntRange(1, last).Draw(t, "from"))
		return Span{from, earshot.Time(rapid.IntRange(int(from)-1, last).Draw(t, "to"))} // one before from: empty
	})
	rapid.Check(t, func(t *rapid.T) {
		var s Spans
		var want moments
		for _, x := range rapid.SliceOfN(spans, 0, 8).Draw(t, "added") {
			s = s.Add(x)
			for at := x.From; at <= x.To; at++ {
				want[at] = true
			}
		}
		if got := of(s); got != want {
			t.Fatalf("Add: got %v, want %v", got, want)
		}
		for i := 1; i < len(s); i++ {
			if s[i-1].To+1 >= s[i].From {
				t.Fatalf("%v: two spans touch or overlap", s)
			}
		}
		x := spans.Draw(t, "x")
		for at := range earshot.Time(last + 1) {
			in := x.From <= at && at <= x.To
			for _, c := range []struct {
				name      string
				got, want bool
			}{
				{"Without", s.Without(x).Holds(at), want[at] && !in},
				{"Within", s.Within(x).Holds(at), want[at] && in},
				{"Missing", s.Missing(x).Holds(at), !want[at] && in},
				{"With", s.With(Spans{x}).Holds(at), want[at] || in},
			} {
				if c.got != c.want {
					t.Fatalf("%s(%v) of %v holds %d: got %v, want %v", c.name, x, s, at, c.got, c.want)
				}
			}
		}
	})
}
