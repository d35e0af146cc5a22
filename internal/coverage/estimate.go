package coverage

import (
	"time"

	"github.com/earshot-ai/earshot"
)

// An estimate is how long a window must be so that it probably holds the newest
// replies of a thread and no more than a page of them. It is needed where pages
// begin with the oldest, as those of Slack's conversations.replies do. The root
// says how many replies there are, but not how they are spread in time.
type estimate struct {
	replies *earshot.Activity // as the root showed last
	earlier *earshot.Activity // as it showed before the few that came since; nil: not known
	shown   int               // replies that pages held
	width   earshot.Time      // of the next window; 0: all that is missing
	edge    earshot.Time      // where the last page that was full ended
	pace    float64           // the mean time between two messages of it
	misses  int               // windows that held far too much or too little
	silent  earshot.Time      // the earliest empty window begins here; 0: none was empty
}

// Sizes are how many messages pages hold.
type Sizes struct {
	Turn int // of a page for a turn
	Max  int // of any page
}

// Small reports whether a page hardly ever holds a whole thread.
func (z Sizes) Small() bool { return z.Turn < smallPage }

const (
	// smallPage is below how many messages a page counts as small.
	smallPage = 100
	// firstPace is assumed of a thread of which nothing is known: six messages an
	// hour. Too narrow a window shows too little, too wide a one the wrong end.
	firstPace = 10 * time.Minute
	// A window is meant to fill 70 % of the largest page, and at most 1.5 pages
	// of a turn.
	fill, ample = 0.7, 1.5
	// After maxMisses misses the rest is read from its oldest, where that takes
	// at most maxPages pages.
	maxMisses, maxPages = 2, 3
	// grow is how many times wider a window gets, at most, after one that held too
	// little.
	grow = 8
)

// aim returns how many messages a window for a turn is meant to hold.
func (z Sizes) aim() float64 { return min(fill*float64(z.Max), ample*float64(z.Turn)) }

// usual is how long a stretch is that holds so many, of a thread of which nothing
// is known; lively, how long one that nearly fills the largest page of a thread
// with a message a second.
func (z Sizes) usual() earshot.Time {
	return earshot.Time(z.aim() * float64(firstPace/time.Microsecond))
}
func (z Sizes) lively() earshot.Time { return earshot.Time(fill * float64(z.Max) * 1e6) }

// rootShown takes in what a root shows of its replies. If only few have come
// since it was shown before, such as the question itself, the time of the last
// says nothing about the others: the thread may have been silent for weeks. The
// earlier activity is then kept. A root that does not tell how many there are says
// nothing.
func (x *estimate) rootShown(a *earshot.Activity, sizes Sizes) {
	if a != nil && a.Count <= 0 {
		return
	}
	old := x.replies
	x.replies = a
	switch {
	case a == nil || old == nil || a.Last <= old.Last:
	case float64(a.Count-old.Count) <= sizes.aim()/2:
		if x.earlier == nil {
			x.earlier = old
		}
	default:
		x.earlier = nil
	}
}

// top returns the time in u at which the newest replies end, as far as is known.
// Windows are measured back from it.
func (x *estimate) top(u Span) earshot.Time {
	if e := x.earlier; e != nil && e.Last >= u.From && e.Last <= u.To {
		return e.Last
	}
	if r := x.replies; r != nil && r.Last >= u.From {
		return min(u.To, r.Last)
	}
	return u.To
}

// begin estimates the width of the first window before top; 0 is all that is
// missing. Where the root has shown how many replies there are, and they are more
// than a page, they are assumed to be spread evenly from the root, at first, to
// the last one that is known of.
func (x *estimate) begin(t Sizes, first, top earshot.Time) earshot.Time {
	switch {
	case x.replies == nil && t.Small():
		return t.usual()
	case x.replies == nil || x.replies.Count < t.Max:
		return 0
	}
	want, of := t.aim(), x.replies
	if e := x.earlier; e != nil && e.Last == top {
		want, of = want-float64(of.Count-e.Count), e
	}
	return max(1, earshot.Time(want*float64(top-first)/float64(max(1, of.Count))))
}

// learn estimates the width of the next window from what the last one, w, showed.
// The thread begins at first.
func (x *estimate) learn(first earshot.Time, w Window, at Sight, t Sizes) {
	want, rest := t.aim(), x.rest()
	held := at.Known.To - max(at.Known.From, first) + 1
	if at.whole && at.count == 0 && (x.silent == 0 || at.Known.From < x.silent) {
		x.silent = at.Known.From
	}
	if !at.whole && x.pace > 0 || at.whole && float64(at.count) < want/grow {
		x.misses++
	}
	if !at.whole && at.count > 0 {
		x.edge, x.pace = at.Known.To, float64(held)/float64(at.count)
	}
	switch {
	case rest > 0 && x.misses >= maxMisses && rest <= float64(maxPages*t.Max):
		x.width = 0
	case !at.whole:
		x.width = x.narrower(w, at, want, rest, w.Oldest <= first)
	case float64(at.count) > want/4: // enough to know their pace
		x.width = 1 + earshot.Time(want*float64(at.newest-at.oldest)/float64(at.count))
	case at.count == 0:
		x.width = held * grow
	default:
		x.width = earshot.Time(float64(held) * min(grow, want/float64(at.count)))
	}
}

// narrower estimates the width after a window that held more than a page. whole
// says that the window was the whole thread, so that rest lies after the page.
func (x *estimate) narrower(w Window, at Sight, want, rest float64, whole bool) earshot.Time {
	left := w.Latest - at.Known.To
	if x.replies != nil && x.replies.Last > at.Known.To {
		left = min(left, x.replies.Last-at.Known.To)
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

// rest is how many replies no page has shown, negative where that is not known.
func (x *estimate) rest() float64 {
	if x.replies == nil {
		return -1
	}
	return float64(max(1, x.replies.Count-x.shown))
}

// after returns the width of the next window, which ends with u. Where the thread is
// known to be silent after u, and at the pace of the last full page has ended before,
// the window reaches back to the newest replies that are expected.
func (x *estimate) after(u Span, t Sizes) earshot.Time {
	want, rest := t.aim(), x.rest()
	newest := x.edge + earshot.Time(max(0, rest-want)*x.pace)
	if x.width > 0 && rest > 0 && x.pace > 0 && x.silent == u.To+1 && newest < x.silent {
		return x.silent - newest
	}
	return x.width
}
