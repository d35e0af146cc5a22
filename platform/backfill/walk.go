package backfill

import (
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
)

// A walk finds the newest of a thread whose pages begin with the oldest: by
// windows that probably hold no more than a page. How its messages are spread
// is not known; the root tells how many there are.
type walk struct {
	replies *earshot.Activity // as the root told last
	earlier *earshot.Activity // as it told before the few that came since; nil: not known
	shown   int               // replies that pages held
	width   earshot.Time      // of the next window; 0: all that is missing
	edge    earshot.Time      // where the last page that was full broke off
	pace    float64           // the time between two messages of it
	misses  int               // windows that held far too much or too little
}

const (
	// smallPage is below how many messages a page hardly holds a whole thread.
	smallPage = 100
	// firstPace is what a thread's pace is taken to be before anything is known
	// of it: six messages an hour. Too narrow a window shows too little, too wide
	// a one the wrong end.
	firstPace = 10 * time.Minute
	// A window is made to hold no more of a page than this, and no more for a
	// turn than so many times its page.
	fill, ample = 0.7, 1.5
	// After so many misses the rest is read from its oldest, where that takes
	// so many pages at most.
	maxMisses, maxPages = 2, 3
	// grow is how much wider a window gets after one that held too little.
	grow = 8
)

// aim returns how many messages a window for a turn is made to hold.
func (t Tier) aim() float64 { return min(fill*float64(t.Most), ample*float64(t.Objects)) }

// window returns how u is asked for: as much as a turn reads, or in the
// background as much as may be had.
func (f *Filler) window(l *lane, u span, background bool) *Window {
	f.mu.Lock()
	defer f.mu.Unlock()
	if l.next != nil {
		return l.next
	}
	w := Window{Oldest: u.from, Latest: u.to, Limit: f.Tier.Most}
	if slices.ContainsFunc(l.room.gaps, func(g span) bool { return g.to == u.to }) {
		w.Latest += clocks
	}
	width := l.walk.width
	if e := l.walk.earlier; e != nil && !l.asked && e.Last < u.from && e.Last >= l.first && f.Tier.Objects < smallPage {
		// Hardly anything was said in this stretch: one call reaches behind it.
		w.Oldest = max(l.first, dawn, e.Last-l.walk.begin(f.Tier, l.first, e.Last))
		return &w
	}
	switch {
	case l.thread == "" || l.newestFirst || !l.asked && f.Tier.Objects >= smallPage:
		if width = 0; !background {
			w.Limit = f.Tier.Objects
		}
	case l.isGap(u) && l.untouched(u, forever):
		width = 0 // few are missed as a rule
	case !l.asked:
		width = l.walk.begin(f.Tier, l.first, l.walk.top(u))
	case background:
		width = earshot.Time(float64(width) / f.Tier.aim() * fill * float64(f.Tier.Most))
	}
	top := l.walk.top(u)
	if width > 0 {
		w.Oldest = max(u.from, top-width)
	}
	return &w
}

// told takes up what a root tells of its replies. Few that came since it told
// so before, such as the question itself, say nothing of when the others were
// said: a thread may have been silent for weeks.
func (x *walk) told(a *earshot.Activity, t Tier) {
	old := x.replies
	x.replies = a
	switch {
	case a == nil || old == nil || a.Last <= old.Last:
	case float64(a.Count-old.Count) <= t.aim()/2:
		if x.earlier == nil {
			x.earlier = old
		}
	default:
		x.earlier = nil
	}
}

// top returns where in u the newest end that a window is measured from.
func (x *walk) top(u span) earshot.Time {
	if e := x.earlier; e != nil && e.Last >= u.from && e.Last <= u.to {
		return e.Last
	}
	if r := x.replies; r != nil && r.Last >= u.from {
		return min(u.to, r.Last)
	}
	return u.to
}

// begin guesses how long the first window is before top, where a page is small:
// the replies are taken to be spread evenly from the root on, at first, to the
// last one that is known of. What the root tells comes from the channel's
// history, where it was seen or asked for.
func (x *walk) begin(t Tier, first, top earshot.Time) earshot.Time {
	switch {
	case x.replies == nil:
		return earshot.Time(t.aim() * float64(firstPace/time.Microsecond))
	case x.replies.Count < t.Most:
		return 0
	}
	want, of := t.aim(), x.replies
	if e := x.earlier; e != nil && e.Last == top {
		want, of = want-float64(of.Count-e.Count), e
	}
	return max(1, earshot.Time(want*float64(top-first)/float64(max(1, of.Count))))
}

// learn guesses how long a window is that holds most of a page for a turn.
// The thread begins at first.
func (x *walk) learn(first earshot.Time, w Window, at sight, t Tier) {
	want := t.aim()
	held := at.known.to - max(at.known.from, first) + 1
	rest := -1.0 // not known
	if x.replies != nil {
		rest = float64(max(1, x.replies.Count-x.shown))
	}
	if !at.whole && x.pace > 0 || at.whole && float64(at.n) < want/grow {
		x.misses++
	}
	if !at.whole && at.n > 0 {
		x.edge, x.pace = at.known.to, float64(held)/float64(at.n)
	}
	switch {
	case rest > 0 && x.misses >= maxMisses && rest <= float64(maxPages*t.Most):
		x.width = 0
	case !at.whole:
		x.width = x.narrower(w, at, want, rest, w.Oldest <= first)
	case at.n == 0 && x.endsBefore(at.known.from, want, rest):
		x.width = at.known.from - x.newest(want, rest)
	case float64(at.n) > want/4: // enough to know their pace
		x.width = 1 + earshot.Time(want*float64(at.newest-at.oldest)/float64(at.n))
	case at.n == 0:
		x.width = held * grow
	default:
		x.width = earshot.Time(float64(held) * min(grow, want/float64(at.n)))
	}
}

// narrower guesses the width after a window that held more than a page. Where
// it was the whole thread, the rest is what is left of it.
func (x *walk) narrower(w Window, at sight, want, rest float64, whole bool) earshot.Time {
	left := w.Latest - at.known.to
	if x.replies != nil && x.replies.Last > at.known.to {
		left = min(left, x.replies.Last-at.known.to)
	}
	expected := float64(left) / x.pace
	if rest > 0 && (expected > rest || whole) {
		expected = rest
	}
	if expected <= want {
		return left
	}
	return max(1, min(left/4, earshot.Time(float64(left)*want/expected)))
}

// newest returns where the newest begin, if what follows the last full page was
// said at its pace.
func (x *walk) newest(want, rest float64) earshot.Time {
	return x.edge + earshot.Time(max(0, rest-want)*x.pace)
}

// endsBefore reports whether the thread probably fell silent before t.
func (x *walk) endsBefore(t earshot.Time, want, rest float64) bool {
	return rest > 0 && x.pace > 0 && x.newest(want, rest) < t
}
