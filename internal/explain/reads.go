package explain

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/search/index"
)

// A Page is a stretch of messages in the order of their positions. The page before
// it is asked for by its first message's position.
type Page struct {
	Messages []earshot.Message
	Older    bool // there are older ones
}

// A Span says which messages to read: those before a position, which is exclusive
// (zero: from the newest), and after a time, which is too (zero: no bound).
type Span struct {
	Before earshot.Position
	After  earshot.Time
	Limit  int
}

// Messages returns the newest messages of a span of a channel.
func (r *Reader) Messages(ctx context.Context, p access.Principal, c earshot.Channel, span Span) (Page, error) {
	return r.page(ctx, p, c.Scope(), earshot.Whole(), span, "")
}

// page reads a part's newest messages in a span, without one of them.
func (r *Reader) page(ctx context.Context, p access.Principal, at earshot.Scope, part earshot.ChannelPart, span Span, without earshot.MessageID) (Page, error) {
	if err := visible.Reads(p, at); err != nil {
		return Page{}, err
	}
	list, err := r.store.Newest(ctx, at, part, span.Before, span.Limit+3) // what is left out, and one to see whether there are more
	if err != nil {
		return Page{}, fmt.Errorf("read messages of %s: %w", at.Channel, err)
	}
	list = slices.DeleteFunc(list, func(m earshot.Message) bool {
		return m.ID == without || !span.Before.IsZero() && m.Position().Compare(span.Before) >= 0 || span.After != 0 && m.Time <= span.After
	})
	older := len(list) > span.Limit
	if older {
		list = list[len(list)-span.Limit:]
	}
	return Page{list, older}, nil
}

// Message returns one message; with revisions all that are stored, the oldest first.
// One that is deleted does not exist.
func (r *Reader) Message(ctx context.Context, p access.Principal, c earshot.Channel, id earshot.MessageID, revisions bool) (earshot.Message, []earshot.Message, error) {
	if err := visible.Reads(p, c.Scope()); err != nil {
		return earshot.Message{}, nil, err
	}
	var m earshot.Message
	var list []earshot.Message
	var err error
	if !revisions {
		m, err = r.store.Message(ctx, c.Scope(), id)
	} else if list, err = r.store.Revisions(ctx, c.Scope(), id); len(list) > 0 {
		m = list[len(list)-1] // of the same moment as the others
	}
	if err == nil && (m.ID == "" || m.Deleted) {
		err = visible.Absent
	}
	if err != nil {
		return earshot.Message{}, nil, err
	}
	return m, list, nil
}

// A Thread is a root with a page of its replies.
type Thread struct {
	Root  *earshot.Message // nil where it is not stored, or deleted
	ID    earshot.MessageID
	Total int // replies that are stored
	Page
}

// Thread returns the thread that a message begins or stands in. A message without
// replies is a thread of its own.
func (r *Reader) Thread(ctx context.Context, p access.Principal, c earshot.Channel, id earshot.MessageID, span Span) (Thread, error) {
	if err := visible.Reads(p, c.Scope()); err != nil {
		return Thread{}, err
	}
	t := Thread{ID: id}
	m, err := r.store.Message(ctx, c.Scope(), id)
	if err == nil && !m.Deleted && m.Root() != "" {
		t.ID = m.Root()
		m, err = r.store.Message(ctx, c.Scope(), t.ID)
	}
	if err != nil && !errors.Is(err, earshot.ErrNotFound) {
		return Thread{}, fmt.Errorf("read thread %s: %w", t.ID, err)
	}
	if err == nil && !m.Deleted {
		t.Root = &m
	}
	if t.Page, err = r.page(ctx, p, c.Scope(), earshot.ThreadOf(t.ID), span, t.ID); err != nil {
		return Thread{}, err
	}
	n, err := r.store.Count(ctx, c.Scope(), earshot.ThreadOf(t.ID), earshot.Position{})
	if err != nil {
		return Thread{}, fmt.Errorf("count thread %s: %w", t.ID, err)
	}
	if t.Total = n.Count; t.Root != nil && n.Count > 0 {
		t.Total--
	}
	if t.Root == nil && n.Count == 0 {
		return Thread{}, visible.Absent
	}
	return t, nil
}

// Search finds messages of one channel. Recency counts from the channel's newest
// message, so that an old import ranks as it did on its last day.
func (r *Reader) Search(ctx context.Context, p access.Principal, c earshot.Channel, q search.Query) ([]search.Hit, error) {
	if err := visible.Reads(p, c.Scope()); err != nil {
		return nil, err
	}
	if len(index.Terms(q.Text)) == 0 && len(q.Authors) == 0 {
		return nil, visible.InvalidField("q", "has no word to look for")
	}
	if q.At == 0 {
		last, err := r.store.Newest(ctx, c.Scope(), earshot.Whole(), q.Before, 1)
		if err != nil {
			return nil, fmt.Errorf("search %s: %w", c.ID, err)
		}
		if len(last) > 0 {
			q.At = last[0].Time
		}
	}
	return r.searcher.Search(ctx, c.Scope(), q)
}

// RecentThreads returns the roots of the threads that were active lately in a
// channel, the newest root first, at most limit of those among its newest 500 roots.
func (r *Reader) RecentThreads(ctx context.Context, p access.Principal, at earshot.Scope, limit int) ([]earshot.Message, error) {
	const look = 500
	if !p.Sees(at) || p.Kind == access.Capability {
		return nil, visible.Absent
	}
	roots, err := r.store.Newest(ctx, at, earshot.TopLevel(), earshot.Position{}, look)
	if err != nil || len(roots) == 0 {
		return nil, err
	}
	ids := make([]earshot.MessageID, len(roots))
	for i, m := range roots {
		ids[i] = m.ID
	}
	active, err := r.store.Activity(ctx, at, earshot.Position{}, ids...)
	if err != nil {
		return nil, err
	}
	var out []earshot.Message
	for _, m := range slices.Backward(roots) {
		if a := active[m.ID]; a.Count > 0 && !m.Deleted && len(out) < limit {
			out = append(out, m)
		}
	}
	return out, nil
}
