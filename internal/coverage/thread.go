package coverage

import "github.com/earshot-ai/earshot"

// A Thread is what a store has of one.
type Thread struct {
	ID    earshot.MessageID
	Began earshot.Time // when its root was said; 0 where that is not known
	First earshot.Time // of its first stored message; 0 for none
	// Rootless says that its root is not stored, not even as deleted.
	Rootless bool
	// Lacks is up to when replies are told of that are not stored; 0 for none.
	Lacks earshot.Time
}

// OfThread returns what a channel's entries leave open of a thread, up to a time, as
// entries of the thread that are missing or stale: before its first stored message,
// where the root is not stored; up to its last reply, where not all that are told of
// are stored; and while the channel was not heard. What the thread has entries of its
// own for is not repeated. Without any entry all counts as known.
func OfThread(list []earshot.Coverage, t Thread, upTo earshot.Time) []earshot.Coverage {
	if len(list) == 0 {
		return nil
	}
	began := max(t.Began, Dawn)
	said := Spans{}
	for _, e := range part(list, t.ID) {
		said = said.Add(spanOf(e))
		if e.State != earshot.Known && e.From <= began {
			t.Rootless = false // that the beginning is missing stands there already
		}
	}
	known := KnownOf(list, t.ID).With(said)
	var out []earshot.Coverage
	open := func(s Span, state earshot.CoverageState, why string) {
		for _, u := range known.Missing(s) {
			out = append(out, entry(earshot.Coverage{Thread: t.ID, State: state, Why: why}, u))
		}
		known = known.Add(s)
	}
	switch {
	case t.Rootless && t.First > began:
		open(Span{began, t.First - 1}, earshot.Missing, "its root is not stored")
	case t.Lacks > began:
		open(Span{began, min(t.Lacks, upTo)}, earshot.Missing, "not all replies that are told of are stored")
	}
	if t.Began == 0 {
		began = max(began, t.First)
	}
	since := RestoreHeard(part(list, "")).Since
	for _, e := range part(list, "") {
		if since == 0 || e.From < since || e.To == 0 && e.State == earshot.Known {
			continue
		}
		if e.State == earshot.Known { // of the top level only
			e.State, e.Why = earshot.Missing, "the channel was not heard then"
		}
		for _, s := range (Spans{spanOf(e)}).Within(Span{began, upTo}) {
			open(s, e.State, e.Why)
		}
	}
	return sorted(out)
}

// KnownOf returns when a thread is known, as entries say it: it was fetched, or the
// channel was heard.
func KnownOf(list []earshot.Coverage, thread earshot.MessageID) Spans {
	h := RestoreHeard(part(list, ""))
	out := h.spans()
	for _, e := range part(list, thread) {
		if e.State == earshot.Known && thread != "" {
			out = out.Add(spanOf(e))
		}
	}
	return out
}
