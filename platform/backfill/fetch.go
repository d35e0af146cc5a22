package backfill

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
)

// A sourceError is the platform's refusal or failure, as against the store's.
type sourceError struct{ err error }

func (e *sourceError) Error() string { return e.err.Error() }
func (e *sourceError) Unwrap() error { return e.err }

// callTime bounds one request.
const callTime = 30 * time.Second

// fetch asks for one page, records it and notes what is known by it. The lane
// is held, and the call taken from the pace.
func (f *Filler) fetch(ctx context.Context, l *lane, w Window) (Page, error) {
	f.mu.Lock()
	start := max(f.Now(), l.upTo, l.room.since) // what is known was said already, whatever our clock says
	f.mu.Unlock()
	page, err := f.call(ctx, l, w)
	if err != nil {
		return Page{}, err
	}
	// What came is recorded, though the turn's time may be over.
	ctx = context.WithoutCancel(ctx)
	at := l.examine(w, page, start)
	if err := f.record(ctx, l, w, page, at, start); err != nil {
		return Page{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	l.learn(w, page, at, f.Tier)
	l.fetched, l.seen, l.refused, l.why = time.Now(), start, time.Time{}, ""
	if l.hidden != 0 {
		l.why = "the platform hides what is older"
	}
	f.Log.Debug("history", append(about(l), "from", at.known.from, "to", at.known.to, "messages", len(page.Messages))...)
	return page, nil
}

// call makes one request.
func (f *Filler) call(ctx context.Context, l *lane, w Window) (Page, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	var page Page
	var err error
	if l.thread == "" {
		page, err = f.Source.History(ctx, l.room.channel, w)
	} else {
		page, err = f.Source.Replies(ctx, l.room.channel, l.thread, w)
	}
	if err == nil && page.Cursor != "" && page.Cursor == w.Cursor {
		err = errors.New("the platform gives the same page again")
	}
	f.pace.made(f.line(l), err)
	if err == nil {
		return page, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	l.next = nil
	if limit := (*LimitError)(nil); !errors.As(err, &limit) && ctx.Err() == nil {
		l.refused = time.Now()
	}
	return Page{}, &sourceError{fmt.Errorf("%s: %w", l.method(), err)}
}

// rest returns for how long a stretch of the lane is left alone: the platform
// refused, or it may hold what was missed and was fetched a short time ago.
// f.mu is held.
func (f *Filler) rest(l *lane, u span) time.Duration {
	d := f.Refresh - time.Since(l.refused)
	if l.isGap(u) && u.to > l.seen {
		again := f.Refresh
		if l.thread == "" {
			// One call tells whether somebody has asked something meanwhile.
			again = min(again, channelRefresh)
		}
		d = max(d, again-time.Since(l.fetched))
	}
	return d
}

// channelRefresh is how long a channel's top level is left alone where
// connections come and go.
const channelRefresh = 10 * time.Second

func (f *Filler) line(l *lane) line { return line{l.room.channel.Workspace, l.method()} }

// newestMissing returns the newest stretch that is not known and that the
// platform may show.
func (l *lane) newestMissing(upTo earshot.Time) (span, bool) {
	for _, u := range slices.Backward(l.unknown(forever)) {
		if u.from <= upTo && u.to >= l.hidden {
			return span{max(u.from, l.hidden), u.to}, true
		}
	}
	return span{}, false
}

// rootWindow asks for a thread's beginning.
func (f *Filler) rootWindow(l *lane, upTo earshot.Time) *Window {
	f.mu.Lock()
	defer f.mu.Unlock()
	l.rootAsked = true
	return &Window{Oldest: dawn, Latest: upTo, Limit: f.Tier.Objects}
}

// A sight is what a page shows.
type sight struct {
	known span // what of the window is known now; from > to for nothing
	n     int  // messages in the window, the root not counted
	whole bool // the window's end was reached
	// The oldest and the newest of them.
	oldest, newest earshot.Time
}

// examine returns what w is known by a page that was asked for at start. At the
// end where a page breaks off, messages of the same time may be left.
func (l *lane) examine(w Window, page Page, start earshot.Time) sight {
	s := sight{known: span{w.Oldest, min(w.Latest, start)}, whole: page.Cursor == "" && !page.hides()}
	for _, m := range page.Messages {
		t := m.Message.Time
		if t < w.Oldest || t > w.Latest || l.thread != "" && m.Message.ID == l.thread {
			continue
		}
		if s.n++; s.n == 1 {
			s.oldest, s.newest = t, t
		}
		s.oldest, s.newest = min(s.oldest, t), max(s.newest, t)
	}
	switch {
	case s.whole:
	case s.n == 0:
		s.known = span{1, 0}
	case page.NewestFirst:
		s.known.from = s.oldest + 1
	default:
		s.known.to = min(s.known.to, s.newest-1)
	}
	return s
}

// hides reports whether what is older than the page may exist unseen.
func (p *Page) hides() bool { return p.Hidden && p.NewestFirst }

// learn takes up what a page shows: what is known, and how to go on.
func (l *lane) learn(w Window, page Page, at sight, t Tier) {
	l.asked, l.newestFirst, l.next = true, page.NewestFirst, nil
	wanted := l.known().missing(span{w.Oldest, w.Latest})
	news := len(wanted.within(at.known)) > 0
	l.got = l.got.add(at.known)
	l.walk.shown += at.n
	for _, m := range page.Messages {
		if l.thread != "" && m.Message.ID == l.thread {
			l.first = m.Message.Time
			l.walk.told(m.Message.Replies, t)
		}
	}
	switch {
	case page.hides() && page.Cursor == "":
		l.hidden = w.Latest + 1
		if at.n > 0 {
			l.hidden = at.oldest + 1
		}
	case page.Cursor != "" && len(wanted) > 0 && !news:
		w.Cursor = page.Cursor
		l.next = &w
	case !page.NewestFirst:
		l.walk.learn(l.first, w, at, t)
	}
}
