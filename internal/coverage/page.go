package coverage

import "github.com/earshot-ai/earshot"

// Clocks is how far the platform's clock and ours may be apart, one minute: a
// gap begins so much earlier, and so much more is read after it.
const Clocks = earshot.Time(60_000_000)

// A Window is a stretch of history that is asked for, both ends included.
type Window struct {
	Oldest earshot.Time
	Latest earshot.Time
	Cursor string // "" for the first page
	Limit  int    // messages of a page at most
}

// A Page is what one request brought, without the messages' contents.
type Page struct {
	Messages    []Message
	NewestFirst bool   // pages begin with the window's newest
	Cursor      string // of the next page; "" for none
	More        bool   // the window has more than the page shows; there may be no cursor to it
	Hidden      bool   // the platform does not show older messages
}

// A Message is one message of a page.
type Message struct {
	ID      earshot.MessageID
	Time    earshot.Time
	Replies *earshot.Activity // of a root
}

// A Sight is what a page shows of its window.
type Sight struct {
	Known Span // what of the window is known now; empty for nothing

	count          int  // messages in the window, the root not counted
	whole          bool // the window's end was reached
	oldest, newest earshot.Time
}

// Examine returns what a page shows of w. The page was asked for at start, by
// [Timeline.Now]. Where the page ends before the window does, further messages
// of the last one's time may follow: that moment is not known.
func (t *Timeline) Examine(w Window, page Page, start earshot.Time) Sight {
	s := Sight{Known: Span{w.Oldest, min(w.Latest, start)}, whole: !page.More && !page.hides()}
	for _, m := range page.Messages {
		if m.Time < w.Oldest || m.Time > w.Latest || t.thread != "" && m.ID == t.thread {
			continue
		}
		if s.count++; s.count == 1 {
			s.oldest, s.newest = m.Time, m.Time
		}
		s.oldest, s.newest = min(s.oldest, m.Time), max(s.newest, m.Time)
	}
	switch {
	case s.whole:
	case s.count == 0:
		s.Known = Span{1, 0}
	case page.Cursor == "" && !page.hides(): // nothing leads to more of that time
		if s.Known.To = min(s.Known.To, s.newest); page.NewestFirst {
			s.Known = Span{s.oldest, min(w.Latest, start)}
		}
	case page.NewestFirst:
		s.Known.From = s.oldest + 1
	default:
		s.Known.To = min(s.Known.To, s.newest-1)
	}
	return s
}

// hides reports whether messages older than the page may exist unseen.
func (p *Page) hides() bool { return p.Hidden && p.NewestFirst }

// Learn takes in a page of window w once its messages are stored: what is known
// by it, and how to go on. sight is what [Timeline.Examine] returned.
func (t *Timeline) Learn(w Window, page Page, sight Sight, sizes Sizes) {
	t.paged, t.newestFirst, t.next, t.why = true, page.NewestFirst, nil, ""
	missing := t.known().Missing(Span{w.Oldest, w.Latest})
	news := len(missing.Within(sight.Known)) > 0
	t.rootAsked = t.rootAsked || w.Cursor == "" && w.Oldest <= max(Dawn, t.first, t.floor)
	t.fetched = t.fetched.Add(sight.Known).Without(Span{Dawn, t.floor - 1})
	for _, m := range page.Messages {
		switch {
		case t.thread != "" && m.ID == t.thread:
			t.LearnRoot(m, sizes)
		case missing.Holds(m.Time): // pages that were asked for at once may overlap
			t.estimate.shown++
		}
	}
	switch {
	case page.hides() && !page.More:
		t.hidden = w.Latest + 1
		if sight.count > 0 {
			t.hidden = sight.oldest + 1
		}
	case page.More && len(missing) > 0 && !news && (page.Cursor != "" || sight.count > 0):
		if w.Cursor = page.Cursor; w.Cursor == "" && page.NewestFirst {
			w.Latest = min(w.Latest, sight.oldest) - 1
		} else if w.Cursor == "" {
			w.Oldest = max(w.Oldest, sight.newest) + 1
		}
		t.next = &w
	case !page.NewestFirst:
		t.estimate.learn(t.first, w, sight, sizes)
	}
	if t.hidden != 0 {
		t.why = "the platform hides what is older"
	}
}

// LearnRoot takes in what the platform shows of the thread's root.
func (t *Timeline) LearnRoot(root Message, sizes Sizes) {
	t.first = root.Time
	t.estimate.rootShown(root.Replies, sizes)
	t.rootFresh = true
}

// SetRootTime notes when the thread's root was said.
func (t *Timeline) SetRootTime(at earshot.Time) { t.first = at }

// UseStoredRoot takes in what the store has of the thread's root. What the
// platform has shown of its replies is newer.
func (t *Timeline) UseStoredRoot(root Message) {
	t.first = root.Time
	if t.estimate.replies == nil {
		t.estimate.replies = root.Replies
	}
}

// RepliesKnown reports whether it is known how many replies the root has. What the
// root showed before a gap says nothing about the gap u.
func (t *Timeline) RepliesKnown(u Span) bool {
	return t.estimate.replies != nil && (t.rootFresh || !t.heard.Missed(u))
}

// NeedsRoot reports whether the root would show how to ask for u: nothing else does,
// and u may hold more than a page. A page has room for nearly a message a second.
func (t *Timeline) NeedsRoot(u Span, sizes Sizes) bool {
	return t.first >= t.floor && !t.RepliesKnown(u) && (!t.paged || t.gap(u)) && (sizes.Small() || !t.short(u, sizes))
}

func (t *Timeline) short(u Span, sizes Sizes) bool { return u.To-u.From < sizes.lively() }

// Fits reports whether a window probably holds no more than a page, as far as is
// known: if as many replies as the root has are spread evenly.
func (t *Timeline) Fits(w Window, sizes Sizes) bool {
	r := t.estimate.replies
	if t.thread == "" || t.newestFirst || r == nil || w.Latest <= t.first {
		return true
	}
	part := float64(w.Latest-max(w.Oldest, t.first)) / float64(w.Latest-t.first)
	return part*float64(r.Count) < float64(sizes.Max)
}

// First returns the windows in which a turn asks at once for u, a stretch of
// [Timeline.NewestMissing], where pages begin with the oldest: as Window does, and
// where that may be more than a page also for what was said last, so that no answer
// is the only one and of the wrong end. Unsure says that the windows are a guess,
// because the root has not shown how many replies there are.
func (t *Timeline) First(u Span, sizes Sizes) (list []Window, unsure bool) {
	w := t.Window(u, false, sizes)
	list = []Window{w}
	switch {
	case t.thread == "" || t.newestFirst || t.next != nil || t.paged && !t.gap(u):
		return list, false
	case sizes.Small(): // there is one call
		return list, !t.RepliesKnown(u)
	case t.short(u, sizes), t.RepliesKnown(u) && t.estimate.replies.Count < sizes.Max:
		return list, false
	}
	for _, width := range []earshot.Time{sizes.lively(), sizes.usual()} {
		if from := t.estimate.top(u) - width; from > w.Oldest {
			w.Oldest = from
			list = append(list, w)
			w = list[0]
		}
	}
	return list, !t.RepliesKnown(u)
}

// gap reports whether u is a gap of which nothing was fetched.
func (t *Timeline) gap(u Span) bool { return t.heard.Missed(u) && t.untouched(u, Forever) }

// WindowOfRoot returns the window that shows a thread's root where no page did.
func (t *Timeline) WindowOfRoot(upTo earshot.Time, sizes Sizes) Window {
	return Window{Oldest: max(Dawn, t.floor), Latest: upTo, Limit: sizes.Turn}
}

// Window returns how u is asked for, a stretch of [Timeline.NewestMissing]: as
// many messages as a turn reads, or for the background as many as fit a page.
func (t *Timeline) Window(u Span, background bool, sizes Sizes) Window {
	if t.next != nil {
		return *t.next
	}
	w := Window{Oldest: u.From, Latest: u.To, Limit: sizes.Max}
	if t.untouched(u, Forever) {
		w.Latest += Clocks
	}
	width := t.estimate.after(u, sizes)
	if e := t.estimate.earlier; e != nil && !t.paged && e.Last < u.From && e.Last >= t.first && sizes.Small() {
		// Hardly anything was said in this stretch: one call reaches behind it.
		w.Oldest = max(t.first, t.floor, Dawn, e.Last-t.estimate.begin(sizes, t.first, e.Last))
		return w
	}
	top := t.estimate.top(u)
	switch {
	case t.thread == "" || t.newestFirst:
		if width = 0; !background {
			w.Limit = sizes.Turn
		}
	case t.gap(u):
		width = 0 // gaps hold few messages as a rule
	case !t.paged:
		width = t.estimate.begin(sizes, t.first, top)
	case background:
		width = earshot.Time(float64(width) / sizes.aim() * fill * float64(sizes.Max))
	}
	if width > 0 {
		w.Oldest = max(u.From, top-width)
	}
	return w
}
