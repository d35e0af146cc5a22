package storetest

import "github.com/earshot-ai/earshot"

// stops stops a turn and returns it.
func (s *suite) stops(id earshot.TurnID, by earshot.AuthorID) earshot.QueuedTurn {
	s.Helper()
	q, err := s.StopTurn(s.Context(), id, by)
	s.check(err)
	stored, err := s.QueuedTurn(s.Context(), id)
	s.check(err)
	s.equal("returned", q, stored)
	return q
}

var stopCases = []testCase{
	{"the first who stops a turn is noted, and a repeat changes nothing", func(s *suite) {
		for n, by := range []earshot.AuthorID{"U2", ""} {
			l, id := s.ready(n, "dm")
			first := s.stops(id, by)
			s.equal("stopped", []any{first.Stopped != 0, first.StoppedBy, first.State}, []any{true, by, earshot.TurnGenerating})
			s.equal("again", []earshot.QueuedTurn{s.stops(id, "U3"), s.stops(id, by)}, []earshot.QueuedTurn{first, first})
			s.step(l, id, 0)
			s.put(l, newPost(id, 0, earshot.PostSent))
			s.check(s.Finish(s.Context(), l, id, earshot.TurnFailed, "stopped", nil))
			s.check(s.Release(s.Context(), l, 0))
			s.equal("at the end", []any{s.queued(id).Stopped, s.queued(id).StoppedBy}, []any{first.Stopped, by})
		}
		open := s.asked(5, "dm")
		s.stops(open, "U2")
		_, turns := s.claim("me", timeAt(9))
		s.equal("one that is open", []any{turnIDs(turns), turns[0].StoppedBy}, []any{[]earshot.TurnID{open}, earshot.AuthorID("U2")})
	}},
	{"a turn that has ended is not stopped, and is returned", func(s *suite) {
		l, id := s.ready(1, "m1")
		s.finish(l, id)
		stored, err := s.QueuedTurn(s.Context(), id)
		s.check(err)
		got, err := s.StopTurn(s.Context(), id, "U2")
		wantError(s.T, err, earshot.ErrConflict)
		s.equal("returned", got, stored)
		s.equal("nothing is noted", stored.Stopped, earshot.Time(0))
		_, err = s.StopTurn(s.Context(), id+99, "U2")
		wantError(s.T, err, earshot.ErrNotFound)
		_, err = s.StopTurn(s.Context(), id, earshot.AuthorID(make([]byte, 513)))
		wantError(s.T, err, earshot.ErrInvalid)
	}},
	{"a turn that waits is opened, and whoever ends it withdraws what is open", func(s *suite) {
		l, id, a := s.waiting(1, "m1")
		s.check(s.Release(s.Context(), l, timeAt(900)))
		s.equal("state", s.stops(id, "U2").State, earshot.TurnOpen)
		s.equal("still open", s.states(a), []earshot.ApprovalState{askOpen})
		l, turns := s.claim("me", timeAt(5))
		s.equal("claimed", turnIDs(turns), []earshot.TurnID{id})
		s.begin(l, id, prompt(1))
		s.equal("journal", len(s.steps(id)), 1)
		s.equal("it does not wait again", s.awaits(l, id), false)
		s.check(s.Finish(s.Context(), l, id, earshot.TurnDropped, "stopped", nil))
		s.equal("withdrawn", s.states(a), []earshot.ApprovalState{askWithdrawn})
	}},
	{"a turn that is reopened is not stopped any more", func(s *suite) {
		l, id := s.ready(1, "m1")
		s.stops(id, "U2")
		s.check(s.Finish(s.Context(), l, id, earshot.TurnFailed, "stopped", nil))
		s.check(s.Reopen(s.Context(), id))
		s.equal("reopened", []any{s.queued(id).Stopped, s.queued(id).StoppedBy}, []any{earshot.Time(0), earshot.AuthorID("")})
		s.equal("stopped again", s.stops(id, "U3").StoppedBy, earshot.AuthorID("U3"))
	}},
}
