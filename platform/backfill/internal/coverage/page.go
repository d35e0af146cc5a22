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
	s := Sight{Known: Span{w.Oldest, min(w.Latest, start)}, whole: page.Cursor == "" && !page.hides()}
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
	t.fetched = t.fetched.Add(sight.Known).Without(Span{Dawn, t.floor - 1})
	t.estimate.shown += sight.count
	for _, m := range page.Messages {
		if t.thread != "" && m.ID == t.thread {
			t.LearnRoot(m, sizes)
		}
	}
	switch {
	case page.hides() && page.Cursor == "":
		t.hidden = w.Latest + 1
		if sight.count > 0 {
			t.hidden = sight.oldest + 1
		}
	case page.Cursor != "" && len(missing) > 0 && !news:
		w.Cursor = page.Cursor
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

// RepliesKnown reports whether it is known how many replies the root has.
func (t *Timeline) RepliesKnown() bool { return t.estimate.replies != nil }

// RootWindow returns the window that shows a thread's root where no page did.
func (t *Timeline) RootWindow(upTo earshot.Time, sizes Sizes) Window {
	t.rootAsked = true
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
	width := t.estimate.width
	if e := t.estimate.earlier; e != nil && !t.paged && e.Last < u.From && e.Last >= t.first && sizes.Small() {
		// Hardly anything was said in this stretch: one call reaches behind it.
		w.Oldest = max(t.first, t.floor, Dawn, e.Last-t.estimate.begin(sizes, t.first, e.Last))
		return w
	}
	top := t.estimate.top(u)
	switch {
	case t.thread == "" || t.newestFirst || !t.paged && !sizes.Small():
		if width = 0; !background {
			w.Limit = sizes.Turn
		}
	case t.heard.Missed(u) && t.untouched(u, Forever):
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
