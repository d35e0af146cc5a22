package coverage

import (
	"cmp"
	"slices"

	"github.com/earshot-ai/earshot"
)

// Bounds of what is kept as entries, beyond which the oldest are given up: what they
// said counts as missing then, and is told or fetched again.
const (
	maxEntries = 64  // of a channel's top level, or of a thread
	maxThreads = 256 // with entries, of a channel
)

// AddCoverage returns a channel's entries after somebody has said that a stretch of its top
// level, or of a thread, is known, missing or stale. The stretch replaces what was
// said of that time before. With all, what is known of a channel is known of its
// threads too: what reaches back from the time since when its events are heard is as
// if it had been heard. Else the gap that it fills stays one for threads.
func AddCoverage(list []earshot.Coverage, said earshot.Coverage, all bool) []earshot.Coverage {
	m := marking{said: said, span: spanOf(said), known: said.State == earshot.Known}
	if said.Thread == "" {
		m.since = RestoreHeard(part(list, "")).Since
	}
	m.whole = all && m.known && m.since != 0
	if m.whole && m.span.From < m.since && m.span.To >= m.since-1 {
		m.since = m.span.From
	}
	var rest []earshot.Coverage
	for _, e := range list {
		if e.Thread != said.Thread {
			rest = append(rest, e)
		} else {
			m.keep(e)
		}
	}
	for _, x := range m.pieces() {
		m.out = append(m.out, entry(said, x))
	}
	return sorted(append(bounded(joined(m.out, m.since)), dropThreads(rest, said.Thread)...))
}

// A marking is one call of Mark.
type marking struct {
	said         earshot.Coverage
	span         Span
	known, whole bool
	since        earshot.Time // when the channel began to be heard; 0: it is not, or this is a thread
	filled       Spans        // parts of gaps that are known now
	out          []earshot.Coverage
}

// keep keeps what of an entry lies outside of the stretch.
func (m *marking) keep(e earshot.Coverage) {
	if isHeard(e) {
		e.From = m.since
		m.out = append(m.out, e)
		return
	}
	for _, left := range (Spans{spanOf(e)}).Without(m.span) {
		m.out = append(m.out, entry(e, left))
	}
	if m.since != 0 && m.known && !m.whole && e.From >= m.since {
		m.filled = m.filled.With(Spans{spanOf(e)}.Within(m.span))
	}
}

// pieces returns the parts of the stretch that become entries. What begins before the
// channel was heard is no gap, and ends there.
func (m *marking) pieces() []Span {
	if m.since == 0 {
		return []Span{m.span}
	}
	out := slices.Clone(Spans{m.span}.Within(Span{Dawn, m.since - 1}))
	if m.known {
		return append(out, m.filled...)
	}
	return append(out, Spans{m.span}.Within(Span{m.since, Forever})...)
}

// Begin returns a channel's entries once its events are told from a time on. Where
// nothing was said of the time before, it is missing, from after a time on that the
// store has something of (0: nothing). Why is kept with the entry that says since when:
// [ToldSince] finds it by that. A channel that is heard already stays as it is.
func Begin(list []earshot.Coverage, since, stored earshot.Time, why, missing string) []earshot.Coverage {
	if slices.ContainsFunc(list, isHeard) {
		return list
	}
	out := []earshot.Coverage{{From: since, State: earshot.Known, Why: why}}
	said, before := Spans{}, Span{Dawn, since - 1}
	for _, e := range list {
		pieces := Spans{spanOf(e)}
		if e.Thread == "" {
			said = said.Add(spanOf(e))
			if e.State == earshot.Known { // after that time it would look like a gap that was filled
				pieces = pieces.Within(before)
			}
		}
		for _, x := range pieces {
			out = append(out, entry(e, x))
		}
	}
	if len(said) == 0 && stored > 0 {
		before.From = stored + 1
	}
	for _, u := range said.Missing(before) {
		out = append(out, entry(earshot.Coverage{State: earshot.Missing, Why: missing}, u))
	}
	return sorted(out)
}

// ToldSince returns since when a channel's events are told, by the entry that Begin
// made with this why; 0 where there is none.
func ToldSince(list []earshot.Coverage, why string) earshot.Time {
	for _, e := range list {
		if isHeard(e) && e.Why == why {
			return e.From
		}
	}
	return 0
}

// isHeard reports whether an entry says since when a channel's events are heard.
func isHeard(e earshot.Coverage) bool {
	return e.Thread == "" && e.State == earshot.Known && e.To == 0
}

// part returns the entries of a thread, or of the top level.
func part(list []earshot.Coverage, thread earshot.MessageID) []earshot.Coverage {
	var out []earshot.Coverage
	for _, e := range list {
		if e.Thread == thread {
			out = append(out, e)
		}
	}
	return out
}

// spanOf returns the stretch of an entry.
func spanOf(e earshot.Coverage) Span {
	s := Span{max(e.From, Dawn), e.To}
	if e.To == 0 {
		s.To = Forever
	}
	return s
}

// entry returns an entry as like with another stretch.
func entry(like earshot.Coverage, s Span) earshot.Coverage {
	if like.From, like.To = s.From, s.To; s.From == Dawn {
		like.From = 0
	}
	if s.To == Forever {
		like.To = 0
	}
	return like
}

// joined returns the entries of one part in the order of time, with those that touch
// and say the same as one, but for those before and after a time.
func joined(list []earshot.Coverage, since earshot.Time) []earshot.Coverage {
	list = sorted(list)
	var out []earshot.Coverage
	for _, e := range list {
		if n := len(out); n > 0 && !isHeard(e) && !isHeard(out[n-1]) && out[n-1].State == e.State && out[n-1].Why == e.Why &&
			out[n-1].To != 0 && e.From <= out[n-1].To+1 && (since == 0 || e.From != since) {
			out[n-1] = entry(e, Span{spanOf(out[n-1]).From, max(spanOf(out[n-1]).To, spanOf(e).To)})
			continue
		}
		out = append(out, e)
	}
	return out
}

// bounded returns the entries of one part, in the order of time, within the bounds. Of
// the top level no more gaps are kept than [Heard] keeps.
func bounded(list []earshot.Coverage) []earshot.Coverage {
	gaps := 0
	for i, e := range slices.Backward(list) {
		if isHeard(e) {
			continue
		}
		if e.State != earshot.Known {
			gaps++
		}
		if gaps <= maxGaps && len(list)-i <= maxEntries {
			continue
		}
		out := []earshot.Coverage{{Thread: e.Thread, To: e.To, State: earshot.Missing, Why: e.Why}}
		for j, x := range list {
			if isHeard(x) {
				x.From = max(x.From, e.To+1)
			} else if j <= i {
				continue
			}
			out = append(out, x)
		}
		return out
	}
	return list
}

// dropThreads leaves out the thread whose entries end earliest, where there would be
// too many with the one that is kept.
func dropThreads(list []earshot.Coverage, keep earshot.MessageID) []earshot.Coverage {
	ends := map[earshot.MessageID]earshot.Time{}
	for _, e := range list {
		if e.Thread != "" {
			ends[e.Thread] = max(ends[e.Thread], spanOf(e).To)
		}
	}
	if keep == "" || len(ends) < maxThreads {
		return list
	}
	var first earshot.MessageID
	for id, end := range ends {
		if first == "" || end < ends[first] || end == ends[first] && id < first {
			first = id
		}
	}
	return slices.DeleteFunc(slices.Clone(list), func(e earshot.Coverage) bool { return e.Thread == first })
}

// sorted returns entries as stores list them.
func sorted(list []earshot.Coverage) []earshot.Coverage {
	slices.SortFunc(list, func(a, b earshot.Coverage) int {
		return cmp.Or(cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return list
}
