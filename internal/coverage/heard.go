package coverage

import "github.com/earshot-ai/earshot"

// maxGaps is how many gaps of a channel are kept.
const maxGaps = 16

// Heard is when the agent received a channel's events. The zero Heard is of a
// channel that the agent has not listened to.
type Heard struct {
	Since earshot.Time // when the agent began to listen; 0: it has not
	Gaps  Spans        // in which time after it events may have been missed
}

// RestoreHeard returns what the stored entries of a channel's top level say. The
// open entry that is known says since when the agent has listened, and the
// closed ones after it are the gaps, whether or not they were fetched since.
func RestoreHeard(topLevel []earshot.Coverage) Heard {
	var h Heard
	for _, c := range topLevel {
		if c.State == earshot.Known && c.To == 0 {
			h.Since = max(h.Since, c.From)
		}
	}
	if h.Since == 0 {
		return h
	}
	for _, c := range topLevel {
		if c.From >= h.Since && c.To != 0 {
			h.Gaps = h.Gaps.Add(Span{c.From, c.To})
		}
	}
	return h
}

// Begin notes that the agent listens since a time, unless it did before.
func (h *Heard) Begin(since earshot.Time) {
	if h.Since == 0 {
		h.Since = since
	}
}

// Forget notes that nothing is kept from before a time.
func (h *Heard) Forget(before earshot.Time) {
	if h.Since != 0 && h.Since < before {
		h.Since, h.Gaps = before, h.Gaps.Without(Span{Dawn, before - 1})
	}
}

// Miss notes a gap and returns the part of it in which the agent listened; ok is
// false where it did not. Of more than [maxGaps] gaps the oldest are dropped: the
// agent then counts as listening only since their end.
func (h *Heard) Miss(gap Span) (missed Span, ok bool) {
	gap.From = max(gap.From, h.Since)
	if h.Since == 0 || gap.From > gap.To {
		return Span{}, false
	}
	h.Gaps = h.Gaps.Add(gap)
	for len(h.Gaps) > maxGaps {
		h.Since = h.Gaps[0].To + 1
		h.Gaps = h.Gaps[1:]
	}
	return gap, true
}

// Missed reports whether u, a stretch that is not known, lies after the agent
// began to listen: it was missed, and not said before.
func (h *Heard) Missed(u Span) bool { return h.Since != 0 && u.From >= h.Since }

// spans returns when the agent listened, the gaps left out.
func (h *Heard) spans() Spans {
	if h.Since == 0 {
		return nil
	}
	out := Spans{{h.Since, Forever}}
	for _, g := range h.Gaps {
		out = out.Without(g)
	}
	return out
}
