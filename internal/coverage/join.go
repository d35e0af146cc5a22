package coverage

import (
	"maps"
	"slices"

	"github.com/earshot-ai/earshot"
)

// Join returns the entries of a channel of which two lists were kept, as after it got
// another id. What one of them knows is known. What neither knows, and one says is missing
// or stale, is so; where both say it, as b does.
func Join(a, b []earshot.Coverage) []earshot.Coverage {
	threads := map[earshot.MessageID]bool{}
	for _, e := range slices.Concat(a, b) {
		threads[e.Thread] = true
	}
	var out []earshot.Coverage
	for _, thread := range slices.Sorted(maps.Keys(threads)) {
		out = append(out, bounded(joinParts(thread, part(a, thread), part(b, thread)))...)
	}
	return sorted(out)
}

// joinParts is Join of the entries of one thread, or of the top level.
func joinParts(thread earshot.MessageID, a, b []earshot.Coverage) []earshot.Coverage {
	both := slices.Concat(b, a)
	var out []earshot.Coverage
	var known, heard Spans
	since := Forever
	if thread == "" {
		x, y := RestoreHeard(a), RestoreHeard(b)
		heard = x.spans().With(y.spans())
		for _, e := range both {
			if isHeard(e) && spanOf(e).From < since {
				out, since = []earshot.Coverage{e}, spanOf(e).From
			}
		}
	}
	for _, e := range both {
		if e.State == earshot.Known && !isHeard(e) {
			known = known.Add(spanOf(e))
		}
	}
	// What was heard needs no entry besides the one that says since when. A gap that was
	// filled has one: of threads it stays a gap.
	for _, x := range parted(withoutAll(known, heard), since) {
		out = append(out, entry(earshot.Coverage{Thread: thread, State: earshot.Known}, x))
	}
	said := known.With(heard)
	for _, e := range both {
		if e.State != earshot.Known {
			for _, left := range parted(withoutAll(Spans{spanOf(e)}, said), since) {
				out = append(out, entry(e, left))
			}
			said = said.Add(spanOf(e))
		}
	}
	return joined(out, since)
}

// withoutAll returns s less what is in not.
func withoutAll(s, not Spans) Spans {
	for _, x := range not {
		s = s.Without(x)
	}
	return s
}

// parted returns stretches in their parts before and after a time: only what begins after
// it is a gap.
func parted(s Spans, since earshot.Time) []Span {
	return slices.Concat(s.Within(Span{Dawn, since - 1}), s.Within(Span{since, Forever}))
}
