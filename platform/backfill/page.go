package backfill

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/coverage"
)

// A sourceError is a refusal or failure of the platform; other errors are the
// store's.
type sourceError struct{ err error }

func (e *sourceError) Error() string { return e.err.Error() }
func (e *sourceError) Unwrap() error { return e.err }

// callTime bounds one request.
const callTime = 30 * time.Second

// fetchPage requests one page, records its messages, and notes what is known by
// it. The caller holds the timeline's lock and has taken the request from the
// rate.
func (f *Filler) fetchPage(ctx context.Context, t *timeline, w coverage.Window) (Page, error) {
	f.mu.Lock()
	start := t.Now(f.Now())
	f.mu.Unlock()
	page, err := f.request(ctx, t, w)
	if err != nil {
		return Page{}, err
	}
	// What came is recorded even if the turn's time is over.
	ctx = context.WithoutCancel(ctx)
	outline := page.outline()
	sight := t.Examine(w, outline, start)
	if err := f.record(ctx, t, w, page, sight, start); err != nil {
		return Page{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	t.Learn(w, outline, sight, f.Tier.sizes())
	t.fetchedAt, t.fetchedUpTo, t.refusedAt = time.Now(), start, time.Time{}
	f.Log.Debug("history", append(t.logAttrs(), "from", sight.Known.From, "to", sight.Known.To, "messages", len(page.Messages))...)
	return page, nil
}

// request makes one request of the platform.
func (f *Filler) request(ctx context.Context, t *timeline, w coverage.Window) (Page, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	var page Page
	var err error
	if t.Thread() == "" {
		page, err = f.Source.History(ctx, t.channel.Channel, Window(w))
	} else {
		page, err = f.Source.Replies(ctx, t.channel.Channel, t.Thread(), Window(w))
	}
	if err == nil && page.Cursor != "" && page.Cursor == w.Cursor {
		err = errors.New("the platform gives the same page again")
	}
	ofTimeline := func(m HistoryMessage) bool { return m.Message.ID != t.Thread() }
	if err == nil && page.More && page.Cursor == "" && !slices.ContainsFunc(page.Messages, ofTimeline) {
		err = errors.New("the platform says that there is more, and shows nothing")
	}
	f.rate.made(t.rateKey(), err)
	if err == nil {
		return page, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	t.Stop()
	if limit := (*LimitError)(nil); !errors.As(err, &limit) && ctx.Err() == nil {
		t.refusedAt = time.Now()
	}
	return Page{}, &sourceError{fmt.Errorf("%s: %w", t.method(), err)}
}

// outline returns the page without its messages' contents.
func (p *Page) outline() coverage.Page {
	out := coverage.Page{NewestFirst: p.NewestFirst, Cursor: p.Cursor, More: p.More || p.Cursor != "", Hidden: p.Hidden, Messages: make([]coverage.Message, len(p.Messages))}
	for i, m := range p.Messages {
		out.Messages[i] = m.outline()
	}
	return out
}

func (m HistoryMessage) outline() coverage.Message {
	return coverage.Message{ID: m.Message.ID, Time: m.Message.Time, Replies: m.Message.Replies}
}

// sizes returns how many messages the tier's pages hold.
func (t Tier) sizes() coverage.Sizes { return coverage.Sizes{Turn: t.Objects, Max: t.Most} }

// clocks is how far the platform's clock and ours may be apart.
const clocks earshot.Time = coverage.Clocks
