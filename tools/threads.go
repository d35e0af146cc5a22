package tools

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/earshot-ai/earshot"
)

// A thread is what is known of one, up to the set's bound.
type thread struct {
	id      earshot.MessageID
	root    *earshot.Message // nil where it is not stored or must not be seen
	hidden  bool             // the root is stored and must not be seen
	stored  int              // replies
	total   int              // replies in all: those that the platform has told of, too
	last    earshot.Time     // the newest reply that is known of
	untried bool             // fetching failed, so that nothing is known of the outcome
}

// unread is how many replies there are that the store lacks.
func (t *thread) unread() int { return t.total - t.stored }

// threads looks up what is known of threads.
func (s *Set) threads(ctx context.Context, known []earshot.Coverage, roots ...earshot.MessageID) (map[earshot.MessageID]*thread, error) {
	out := make(map[earshot.MessageID]*thread, len(roots))
	for _, id := range roots {
		out[id] = &thread{id: id}
	}
	if len(out) == 0 {
		return out, nil
	}
	list, err := s.store.ByID(ctx, s.scope, roots...)
	if err != nil {
		return nil, err
	}
	stored, err := s.store.Activity(ctx, s.scope, s.at, roots...)
	if err != nil {
		return nil, err
	}
	for id, a := range stored {
		if t := out[id]; t != nil {
			t.stored, t.total, t.last = a.Count, a.Count, a.Last
		}
	}
	for i := range list {
		m := &list[i]
		t := out[m.ID]
		if t.hidden = !s.visible(*m); t.hidden {
			continue
		}
		t.root = m
		if err := s.count(ctx, t, known); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// count takes up what is stored of a thread whose length the platform has told,
// and what it has told. Activity does not tell the two apart. Replies after the
// set's bound do not count, as far as they are known.
func (s *Set) count(ctx context.Context, t *thread, known []earshot.Coverage) error {
	a := t.root.Replies
	if a == nil || a.Count <= 0 {
		return nil
	}
	here, err := s.store.Count(ctx, s.scope, earshot.ThreadOf(t.id), s.at)
	if err != nil {
		return err
	}
	t.stored, t.last = max(0, here.Count-1), 0 // the root is in the count
	if t.stored > 0 {
		t.last = here.To
	}
	t.total = t.stored
	count, last := a.Count, a.Last
	if !s.at.IsZero() && last > s.at.Time {
		all, err := s.store.Count(ctx, s.scope, earshot.ThreadOf(t.id), earshot.Position{})
		if err != nil {
			return err
		}
		count -= all.Count - here.Count
		last = t.last
	}
	if count > t.stored && !s.isWhole(known, *t.root, max(last, t.last)) {
		t.total, t.last = count, max(last, t.last)
	}
	return nil
}

// isWhole reports whether all of a thread is known, up to its last reply as far
// as that is told, else up to the set's bound. Then the store's count is right,
// and the platform's, which a deletion may not have reached, is not.
func (s *Set) isWhole(list []earshot.Coverage, root earshot.Message, last earshot.Time) bool {
	last = cmp.Or(last, s.at.Time, math.MaxInt64)
	return isKnown(list, root.ID, root.Time, last)
}

// isKnown reports whether coverage says that a thread is known between two
// times: it was fetched, or heard.
func isKnown(list []earshot.Coverage, id earshot.MessageID, from, to earshot.Time) bool {
	var known []earshot.Coverage
	heard := earshot.Time(-1)
	for _, c := range list {
		switch {
		case c.State != earshot.Known:
		case c.Thread == id:
			known = append(known, c)
		case c.Thread == "" && c.To == 0:
			heard = max(heard, c.From)
		}
	}
	if heard >= 0 {
		// Closed stretches behind the beginning are times in which events may
		// have been missed, those of threads too.
		for _, c := range list {
			if c.Thread == "" && c.To != 0 && c.From >= heard {
				known = append(known, earshot.Coverage{From: heard, To: c.From - 1})
				heard = c.To + 1
			}
		}
		known = append(known, earshot.Coverage{From: heard})
	}
	slices.SortFunc(known, func(a, b earshot.Coverage) int { return cmp.Compare(a.From, b.From) })
	for _, c := range known {
		if c.From > from {
			return false
		}
		if c.To == 0 || c.To >= to {
			return true
		}
		from = max(from, c.To+1)
	}
	return false
}

// fetch brings something into the store, within the time that there is for it.
// The error is ctx's: a failure to fetch is none, but done is false then.
func (s *Set) fetch(ctx context.Context, do func(ctx context.Context) error) (done bool, err error) {
	call, cancel := context.WithTimeout(ctx, s.o.FetchTime)
	defer cancel()
	failed := do(call)
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	return failed == nil, nil
}

// fetchThreads fetches threads of which the store knows something. It returns
// those of which it is not known what came of it.
func (s *Set) fetchThreads(ctx context.Context, ids ...earshot.MessageID) (failed []earshot.MessageID, err error) {
	_, err = s.fetch(ctx, func(ctx context.Context) error {
		for _, id := range ids {
			if s.o.Fetcher.FetchThread(ctx, s.scope, id, s.at) != nil {
				failed = append(failed, id)
			}
		}
		return nil
	})
	return failed, err
}
