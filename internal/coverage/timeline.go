package coverage

import (
	"slices"

	"github.com/earshot-ai/earshot"
)

// A Timeline is what is known of one thread, or of a channel's top level. It is
// not safe for concurrent use.
type Timeline struct {
	heard  *Heard
	thread earshot.MessageID // "" for the top level

	fetched Spans        // what pages covered
	first   earshot.Time // time of the thread's root; 0 when that is not known
	upTo    earshot.Time // turns have asked for what was said until then
	wanted  bool         // a turn has asked at all
	hidden  earshot.Time // the platform does not show what is older
	floor   earshot.Time // what is older is not kept
	why     string       // why something is missing, for the operator

	estimate    estimate
	newestFirst bool    // how the platform's pages come
	paged       bool    // at least one page came
	rootAsked   bool    // a page was learned that would have shown the root
	rootFresh   bool    // the platform has shown the root since the last gap
	next        *Window // the next page of a window that has shown nothing new yet
}

// Restore returns a thread's timeline (with "", the top level's) as the store's
// entries say it. It keeps h, which the channel's timelines share.
// newestFirst says that the platform's pages of replies begin with the newest, as far
// as that is known before the first one.
func Restore(h *Heard, thread earshot.MessageID, stored []earshot.Coverage, newestFirst bool) *Timeline {
	t := &Timeline{heard: h, thread: thread, newestFirst: newestFirst}
	for _, c := range stored {
		switch {
		case c.State == earshot.Known && c.To != 0:
			t.fetched = t.fetched.Add(Span{max(Dawn, c.From), c.To})
		case c.State != earshot.Known && (thread != "" || c.From < h.Since):
			t.wanted = true // a turn asked before the timeline was dropped from memory
		}
		if thread != "" {
			t.upTo = max(t.upTo, c.To)
		}
	}
	return t
}

// Thread returns the root of the thread, "" for the top level.
func (t *Timeline) Thread() earshot.MessageID { return t.thread }

// Wanted reports whether a turn has asked for the timeline.
func (t *Timeline) Wanted() bool { return t.wanted }

// Paged reports whether at least one page was learned.
func (t *Timeline) Paged() bool { return t.paged }

// RootAsked reports whether a page was learned that would have shown the root.
func (t *Timeline) RootAsked() bool { return t.rootAsked }

// Want notes that a turn needs what was said until a time.
func (t *Timeline) Want(upTo earshot.Time) {
	t.wanted, t.upTo = true, max(t.upTo, upTo)
}

// Explain notes why what is missing is missing. "" is the default.
func (t *Timeline) Explain(why string) { t.why = why }

// Now returns the time up to which a page that is asked for now shows what was
// said: what is known was said already, whatever the clock says.
func (t *Timeline) Now(clock earshot.Time) earshot.Time { return max(clock, t.upTo, t.heard.Since) }

// Lose forgets what was fetched of a gap, and with it the window under way.
func (t *Timeline) Lose(gap Span) {
	t.fetched, t.next, t.rootFresh = t.fetched.Without(gap), nil, false
}

// Stop gives up the window under way, as after a refusal.
func (t *Timeline) Stop() { t.next = nil }

// Forget notes that nothing is kept from before a time: it is missing, and is not
// asked for.
func (t *Timeline) Forget(before earshot.Time) {
	if before > t.floor {
		t.floor, t.fetched = before, t.fetched.Without(Span{Dawn, before - 1})
	}
}

// AddKnown notes that a stretch is known without a page of its own.
func (t *Timeline) AddKnown(s Span) { t.fetched = t.fetched.Add(s) }

// known returns what was heard or fetched.
func (t *Timeline) known() Spans { return t.heard.spans().With(t.fetched) }

// Unknown returns what is not known, up to a time. What was missed and what was
// said before the agent listened are separate spans, even where they touch.
func (t *Timeline) Unknown(upTo earshot.Time) []Span {
	known, since := t.known(), t.heard.Since
	from := max(Dawn, t.first)
	return append(known.Missing(Span{from, min(upTo, since-1)}), known.Missing(Span{max(from, since), upTo})...)
}

// NewestMissing returns the newest stretch that begins at or before upTo, is not
// known, and that the platform may show.
func (t *Timeline) NewestMissing(upTo earshot.Time) (Span, bool) {
	for _, u := range slices.Backward(t.Unknown(Forever)) {
		if shown := max(t.hidden, t.floor); u.From <= upTo && u.To >= shown {
			return Span{max(u.From, shown), u.To}, true
		}
	}
	return Span{}, false
}

// MissingOfGaps returns what is not known of the time in which events may have
// been missed.
func (t *Timeline) MissingOfGaps() Spans {
	var out Spans
	known := t.known()
	for _, g := range t.heard.Gaps {
		out = append(out, known.Missing(Span{max(g.From, t.first), g.To})...)
	}
	return out
}

// untouched reports whether nothing of u's gap was fetched: gaps are fetched
// from the newest backwards.
func (t *Timeline) untouched(u Span, upTo earshot.Time) bool {
	return slices.ContainsFunc(t.heard.Gaps, func(g Span) bool { return min(g.To, upTo) == u.To })
}
