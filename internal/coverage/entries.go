package coverage

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
)

// Entries returns what the store is to keep of the timeline, in order of time.
//
// The top level has one open entry that is known: the agent has listened since
// its beginning. Closed entries after that are the gaps, known where they were
// fetched since; those before it were fetched, or are missing. A thread has what
// was fetched, and what a turn asked for and is not known. A gap of which nothing
// was fetched counts as stale, not missing, until staleServe after it began.
func (t *Timeline) Entries(now earshot.Time, staleServe time.Duration) []earshot.Coverage {
	var out []earshot.Coverage
	got, upTo := t.fetched, t.upTo
	if t.thread == "" {
		// Gaps stand by themselves, so that they are found again.
		got, upTo = t.fetched.Within(Span{Dawn, t.heard.Since - 1}), Forever
		for _, g := range t.heard.Gaps {
			got = append(got, t.fetched.Within(g)...)
		}
		if t.heard.Since != 0 {
			out = append(out, earshot.Coverage{From: t.heard.Since, State: earshot.Known})
		}
	}
	for _, k := range got {
		out = append(out, earshot.Coverage{Thread: t.thread, From: k.From, To: k.To, State: earshot.Known})
	}
	for _, u := range t.Unknown(upTo) {
		gap := t.heard.Missed(u)
		if !gap && !t.wanted {
			continue
		}
		c := earshot.Coverage{Thread: t.thread, From: u.From, To: u.To, State: earshot.Missing, Why: cmp.Or(t.why, "not loaded yet")}
		if u.To < t.floor {
			c.Why = earshot.ErasedBefore
		}
		if u.From <= max(Dawn, t.first) {
			c.From = 0
		}
		if age := time.Duration(now-u.From) * time.Microsecond; gap && t.untouched(u, upTo) && age <= staleServe {
			c.State = earshot.Stale
			c.Why = fmt.Sprintf("as it was %s ago: %s", age.Round(time.Second), cmp.Or(t.why, "events may have been missed"))
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b earshot.Coverage) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return out
}

// Changes returns the entries to write so that the store has want in place of
// have. Those to remove have no State.
func Changes(have, want []earshot.Coverage) []earshot.Coverage {
	var out []earshot.Coverage
	for _, c := range want {
		if !slices.Contains(have, c) {
			out = append(out, c)
		}
	}
	for _, c := range have {
		if !slices.ContainsFunc(want, func(w earshot.Coverage) bool { return w.Thread == c.Thread && w.From == c.From && w.To == c.To }) {
			c.State = ""
			out = append(out, c)
		}
	}
	return out
}
