package storetest

import "github.com/earshot-ai/earshot"

var mergeCases = []testCase{
	{"a turn that is merged into a later one is dropped", func(s *suite) {
		a, b, c := s.asked(1, "m1"), s.asked(2, "m1"), s.asked(3, "m1")
		l, _ := s.claim("me", timeAt(5))
		for range 2 {
			s.check(s.Merge(s.Context(), l, c, a, b))
		}
		q := s.queued(b)
		s.equal("the second", []any{q.State, q.Why}, []any{earshot.TurnDropped, "answered with turn 3"})
		s.begin(l, c, prompt(3))
		s.finish(l, c)
		s.equal("the first, at the end", s.queued(a).State, earshot.TurnDropped)
	}},
	{"a merged turn is open again when the later one's anchor is deleted", func(s *suite) {
		for n, drop := range []func(l earshot.Lease, id earshot.TurnID){
			func(earshot.Lease, earshot.TurnID) { s.accept(deletionOf(3, "")) },
			func(l earshot.Lease, id earshot.TurnID) { // a post of it can be seen: by hand
				s.begin(l, id, prompt(13))
				s.put(l, newPost(id, 0, earshot.PostSending))
				s.accept(deletionOf(13, ""))
				s.equal("while a post can be seen", s.queued(id).State, earshot.TurnPosting)
				s.check(s.Finish(s.Context(), l, id, earshot.TurnDropped, "anchor deleted", nil))
			},
		} {
			a, b, c := s.asked(1+10*n, "m1"), s.asked(2+10*n, "m1"), s.asked(3+10*n, "m1")
			l, _ := s.claim("me", timeAt(5))
			s.check(s.Merge(s.Context(), l, c, b, a))
			drop(l, c)
			wantError(s.T, s.Merge(s.Context(), l, c, a), earshot.ErrConflict)
			s.check(s.Release(s.Context(), l, 0))
			l, turns := s.claim("you", timeAt(6))
			s.equal("open again", turnIDs(turns), []earshot.TurnID{a, b})
			s.equal("without a reason", s.queued(b).Why, "")
			s.check(s.Merge(s.Context(), l, b, a))
			s.check(s.Finish(s.Context(), l, b, earshot.TurnDropped, "stale", nil))
			s.check(s.Release(s.Context(), l, 0))
			s.equal("dropped for another reason", s.queued(a).State, earshot.TurnDropped)
			s.idle(timeAt(9))
		}
	}},
	{"no unfinished turn may stand before a merged one", func(s *suite) {
		a, b, c := s.asked(1, "m1"), s.asked(2, "m1"), s.asked(3, "m1")
		d := s.asked(4, "m1")
		l, _ := s.claim("me", timeAt(5))
		for _, others := range [][]earshot.TurnID{{a}, {b}, {}, {b, d}, {a, a}, {a, d}} {
			wantError(s.T, s.Merge(s.Context(), l, c, others...), earshot.ErrConflict)
		}
		wantError(s.T, s.Merge(s.Context(), l, a, c), earshot.ErrConflict)
		s.equal("nothing was dropped", []any{s.queued(a).State, s.queued(b).State}, []any{earshot.TurnClaimed, earshot.TurnOpen})
		s.check(s.Finish(s.Context(), l, b, earshot.TurnDropped, "stale", nil))
		s.check(s.Merge(s.Context(), l, c, a)) // the one between has ended
		wantError(s.T, s.Begin(s.Context(), l, d, prompt(4)), earshot.ErrConflict)
		s.accept(deletionOf(3, ""))
		s.check(s.Begin(s.Context(), l, a, prompt(1)))
		wantError(s.T, s.Begin(s.Context(), l, d, prompt(4)), earshot.ErrConflict)
	}},
	{"a merge keeps the greatest count of ends", func(s *suite) {
		a, b := s.asked(1, "m1"), s.asked(2, "m1")
		for i := range 3 {
			s.claim("dead", timeAt(20*i))
		}
		l, _ := s.claim("me", timeAt(60))
		s.check(s.Merge(s.Context(), l, b, a))
		s.equal("ends", []any{s.queued(a).Ends, s.queued(b).Ends}, []any{3, 3})
	}},
	{"a merge is within a conversation, and under its lease", func(s *suite) {
		a, b, other := s.asked(1, "m1"), s.asked(2, "m1"), s.asked(3, "m3")
		l, _ := s.claim("me", timeAt(5))
		wantError(s.T, s.Merge(s.Context(), l, b, a, other), earshot.ErrNotFound)
		wantError(s.T, s.Merge(s.Context(), l, b, 999), earshot.ErrNotFound)
		wantError(s.T, s.Merge(s.Context(), l, b, b), earshot.ErrNotFound)
		wantError(s.T, s.Merge(s.Context(), l, other, a), earshot.ErrNotFound)
		s.equal("nothing was dropped", s.queued(a).State, earshot.TurnClaimed)
		s.check(s.Finish(s.Context(), l, a, earshot.TurnFailed, "x", nil))
		s.check(s.Merge(s.Context(), l, b, a))
		s.equal("what is final stays", s.queued(a).State, earshot.TurnFailed)
		s.check(s.Release(s.Context(), l, 0))
		wantError(s.T, s.Merge(s.Context(), l, b, a), earshot.ErrFenced)
	}},
}
