package storetest

import (
	"fmt"
	"time"

	"github.com/earshot-ai/earshot"
)

// prune forgets turns that ended before a time and returns how many.
func (s *suite) prune(before earshot.Time) int {
	s.Helper()
	n, err := s.PruneTurns(s.Context(), before)
	s.check(err)
	return n
}

var pruneCases = []testCase{
	{"pruning a final turn deletes its data but not the fact that it was answered", func(s *suite) {
		done := s.answered(1, "dm")
		var failed []earshot.TurnID
		for n, state := range []earshot.TurnState{earshot.TurnFailed, earshot.TurnParked, earshot.TurnDropped} {
			id := s.asked(n+2, fmt.Sprint("c", n))
			l, _ := s.claim("me", timeAt(n+2))
			s.begin(l, id, prompt(n+2))
			s.step(l, id, 0)
			s.put(l, newPost(id, 0, earshot.PostAmbiguous))
			s.check(s.Finish(s.Context(), l, id, state, "why", nil))
			s.check(s.Release(s.Context(), l, 0))
			failed = append(failed, id)
		}
		l, running := s.ready(8, "running")
		s.step(l, running, 0)
		s.put(l, newPost(running, 0, earshot.PostPlanned))
		waits := s.asked(9, "waits")
		before, err := s.QueuedTurns(s.Context(), earshot.TurnQuery{})
		s.check(err)
		later := earshot.TimeOf(time.Now().Add(time.Hour))

		s.equal("of none that is younger", s.prune(timeAt(0)), 0)
		s.equal("journal, input and post", s.text(failed[0]), []string{"input", "journal", "post"})
		s.equal("of all that are final", s.prune(later), 4)
		s.equal("again", s.prune(later), 0)
		for _, id := range failed {
			s.equal("failed", s.text(id), []string{})
			s.equal("journal", len(s.steps(id)), 0)
			s.equal("post", s.posts(id)[0].State, earshot.PostAmbiguous)
		}
		s.equal("done", s.text(done), []string{"session"})
		s.equal("under way", s.text(running), []string{"input", "journal", "post"})
		after, err := s.QueuedTurns(s.Context(), earshot.TurnQuery{})
		s.check(err)
		s.equal("the turns", after, before)

		again := deliveryOf(1, "question 1")
		again.Delivery = "again"
		s.equal("heard again", s.ask(again, "dm").Opened, false)
		posted := s.posts(done)[0]
		_, err = s.Posted(s.Context(), s.scope, posted.Message)
		s.check(err)
		s.check(s.Finish(s.Context(), l, running, earshot.TurnDropped, "why", nil))
		s.equal("one that has ended since", s.prune(later), 1)
		s.equal("one that waits", s.queued(waits).State, earshot.TurnOpen)
	}},
	{"a turn that is opened again after it was pruned is pruned again", func(s *suite) {
		l, id := s.ready(1, "m1")
		s.step(l, id, 0)
		s.check(s.Finish(s.Context(), l, id, earshot.TurnFailed, "why", nil))
		later := earshot.TimeOf(time.Now().Add(time.Hour))
		s.equal("pruned", s.prune(later), 1)
		s.check(s.Reopen(s.Context(), id))
		s.check(s.Release(s.Context(), l, 0))
		l, _ = s.claim("me", timeAt(60))
		s.begin(l, id, prompt(1))
		s.step(l, id, 0)
		s.equal("begun anew", s.text(id), []string{"input", "journal"})
		s.equal("not while it is answered", s.prune(later), 0)
		s.check(s.Finish(s.Context(), l, id, earshot.TurnFailed, "why", nil))
		s.equal("pruned again", s.prune(later), 1)
		s.equal("text", s.text(id), []string{})
	}},
}
