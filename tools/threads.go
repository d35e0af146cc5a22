package tools

import (
	"cmp"
	"context"
	"math"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/coverage"
)

// A thread is what is known of a thread, up to Set.at.
type thread struct {
	id     earshot.MessageID
	root   *earshot.Message // nil where it is not stored or not visible
	hidden bool             // the root is stored and not visible
	// withheld is how many of its messages that were read the operator withholds.
	withheld     int
	withheldRoot bool
	stored       int                // replies that are stored
	total        int                // these, and those that only the platform has told of
	last         earshot.Time       // of the newest reply, stored or told of
	untried      bool               // a fetch failed, and its outcome is not known
	open         []earshot.Coverage // stretches that are not known and have no entry of their own
}

// unread returns how many replies the store lacks.
func (t *thread) unread() int { return t.total - t.stored }

// threads looks up what is known of threads, by root.
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
		t.withheldRoot = s.exists(*m) && s.withheld(*m)
		if t.hidden = !s.visible(*m); t.hidden {
			continue
		}
		t.root = m
		if err := s.count(ctx, t, known); err != nil {
			return nil, err
		}
	}
	for _, id := range roots {
		if t := out[id]; t.root == nil && t.stored > 0 && t.open == nil {
			if err := s.leftOpen(ctx, t, known); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// leftOpen sets what is not known of a thread by what is known of its channel.
func (s *Set) leftOpen(ctx context.Context, t *thread, known []earshot.Coverage) error {
	x := coverage.Thread{ID: t.id, Rootless: t.root == nil && !t.hidden}
	if t.root != nil {
		x.Began = t.root.Time
	} else if timeOf := s.scope.Platform.Info().TimeOf; timeOf != nil {
		x.Began, _ = timeOf(t.id)
	}
	c, err := s.store.Count(ctx, s.scope, earshot.ThreadOf(t.id), earshot.Position{})
	x.First = c.From
	t.open = coverage.OfThread(known, x, cmp.Or(s.at.Time, coverage.Forever))
	return err
}

// count sets stored, total and last of a thread whose number of replies the
// platform has told. (Activity does not say how many of them are stored.) Replies
// after s.at do not count, as far as it is known which ones these are.
func (s *Set) count(ctx context.Context, t *thread, known []earshot.Coverage) error {
	a := t.root.Replies
	if a == nil || a.Count <= 0 {
		return nil
	}
	upTo, err := s.store.Count(ctx, s.scope, earshot.ThreadOf(t.id), s.at)
	if err != nil {
		return err
	}
	t.stored, t.last = max(0, upTo.Count-1), 0 // the root is in the count
	if t.stored > 0 {
		t.last = upTo.To
	}
	t.total = t.stored
	count, last := a.Count, a.Last
	if !s.at.IsZero() && last > s.at.Time {
		all, err := s.store.Count(ctx, s.scope, earshot.ThreadOf(t.id), earshot.Position{})
		if err != nil {
			return err
		}
		count -= all.Count - upTo.Count
		last = t.last
	}
	if count > t.stored && !s.isWhole(known, *t.root, max(last, t.last)) {
		t.total, t.last = count, max(last, t.last)
	}
	return nil
}

// isWhole reports whether all of a thread is known, up to its last reply, or up to
// s.at where last is 0. The store's count is then right, while the platform's may
// include replies that were deleted since.
func (s *Set) isWhole(list []earshot.Coverage, root earshot.Message, last earshot.Time) bool {
	last = cmp.Or(last, s.at.Time, math.MaxInt64)
	return len(coverage.KnownOf(list, root.ID).Missing(coverage.Span{From: root.Time, To: last})) == 0
}

// fetch calls do, within FetchTime. The error is ctx's alone; done is false where
// do failed.
func (s *Set) fetch(ctx context.Context, do func(ctx context.Context) error) (done bool, err error) {
	call, cancel := context.WithTimeout(ctx, s.o.FetchTime)
	defer cancel()
	failed := do(call)
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	return failed == nil, nil
}

// fetchThreads fetches threads, and returns those whose fetch failed.
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
