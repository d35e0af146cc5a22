package storetest

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/earshot-ai/earshot"
)

// stopped opens a conversation's turn for message n and ends it in a state, with a
// post that may be visible.
func (s *suite) stopped(n int, conversation string, state earshot.TurnState) earshot.TurnID {
	s.Helper()
	l, id := s.ready(n, conversation)
	s.step(l, id, 0)
	s.put(l, newPost(id, 0, earshot.PostAmbiguous))
	s.check(s.Finish(s.Context(), l, id, state, "who knows", nil))
	s.check(s.Release(s.Context(), l, 0))
	return id
}

// whyDiscarded is why a turn is dropped that stopped has made and that was discarded since.
func whyDiscarded(state earshot.TurnState, reason string) string {
	return fmt.Sprintf("discarded by an operator%s; it was %s: who knows", reason, state)
}

var discardCases = []testCase{
	{"a parked or failed turn can be discarded, and nobody answers it", func(s *suite) {
		for n, state := range []earshot.TurnState{earshot.TurnParked, earshot.TurnFailed} {
			conversation := fmt.Sprint("c", n)
			id := s.stopped(n, conversation, state)
			later := s.asked(10+n, conversation)
			s.check(s.Discard(s.Context(), id, " said\x00 again "))
			q := s.queued(id)
			s.equal("turn", []any{q.State, q.Why, q.Tries}, []any{earshot.TurnDropped, whyDiscarded(state, ": said␀ again"), 1})
			s.equal("its journal and its posts", []any{len(s.steps(id)), s.posts(id)}, []any{1, []earshot.Post{newPost(id, 0, earshot.PostAmbiguous)}})
			again := deliveryOf(n, "question")
			again.Delivery = "again"
			s.equal("heard again", s.ask(again, conversation).Opened, false)
			l, turns := s.claim("me", timeAt(60))
			s.equal("the next question goes on", turnIDs(turns), []earshot.TurnID{later})
			s.begin(l, later, prompt(10+n))
			s.finish(l, later)
			s.check(s.Release(s.Context(), l, 0))
			s.idle(timeAt(99))
		}
		waits, err := s.QueuedTurns(s.Context(), earshot.TurnQuery{States: []earshot.TurnState{earshot.TurnParked, earshot.TurnFailed}})
		s.check(err)
		s.equal("what waits", len(waits), 0)
		depth, err := s.Depth(s.Context())
		s.check(err)
		s.equal("depth", depth, map[earshot.TurnState]int{earshot.TurnDropped: 2, earshot.TurnDone: 2})
	}},
	{"a turn is discarded once, and the first reason stands", func(s *suite) {
		id := s.stopped(1, "m1", earshot.TurnParked)
		s.check(s.Discard(s.Context(), id, ""))
		before := s.traces(id)
		for _, why := range []string{"", "another"} {
			s.check(s.Discard(s.Context(), id, why))
			s.equal("again", s.traces(id), before)
		}
		s.equal("why", s.queued(id).Why, whyDiscarded(earshot.TurnParked, ""))
		wantError(s.T, s.Reopen(s.Context(), id), earshot.ErrConflict)
	}},
	{"only what is parked or failed can be discarded", func(s *suite) {
		wantError(s.T, s.Discard(s.Context(), 999, "x"), earshot.ErrNotFound)
		id := s.asked(1, "m1")
		refused := func(state earshot.TurnState) {
			s.Helper()
			wantError(s.T, s.Discard(s.Context(), id, "x"), earshot.ErrConflict)
			s.equal("state", s.queued(id).State, state)
		}
		refused(earshot.TurnOpen)
		l, _ := s.claim("me", timeAt(1))
		refused(earshot.TurnClaimed)
		s.begin(l, id, prompt(1))
		refused(earshot.TurnGenerating)
		s.put(l, newPost(id, 0, earshot.PostSending))
		refused(earshot.TurnPosting)
		s.check(s.Finish(s.Context(), l, id, earshot.TurnFailed, "x", nil))
		s.check(s.Reopen(s.Context(), id))
		refused(earshot.TurnOpen)
		s.begin(l, id, prompt(1))
		s.finish(l, id)
		refused(earshot.TurnDone)
		s.check(s.Release(s.Context(), l, 0))
		l, id = s.ready(2, "m2")
		s.check(s.Finish(s.Context(), l, id, earshot.TurnDropped, "too old", nil))
		refused(earshot.TurnDropped)
		s.equal("why", s.queued(id).Why, "too old")
	}},
	{"a reason that is too long is refused", func(s *suite) {
		id := s.stopped(1, "m1", earshot.TurnFailed)
		wantError(s.T, s.Discard(s.Context(), id, strings.Repeat("x", earshot.DiscardBytes+1)), earshot.ErrInvalid)
		s.equal("state", s.queued(id).State, earshot.TurnFailed)
		s.check(s.Discard(s.Context(), id, strings.Repeat("x", earshot.DiscardBytes)))
	}},
	{"a turn is discarded while another of its conversation is answered", func(s *suite) {
		id := s.stopped(1, "m1", earshot.TurnParked)
		l, later := s.ready(2, "m1")
		s.put(l, newPost(later, 0, earshot.PostSending))
		s.check(s.Discard(s.Context(), id, "x"))
		s.step(l, later, 0)
		s.finish(l, later)
		s.equal("states", []earshot.TurnState{s.queued(id).State, s.queued(later).State}, []earshot.TurnState{earshot.TurnDropped, earshot.TurnDone})
	}},
	{"the posts of a discarded turn take no more than the platform's word", func(s *suite) {
		l, id := s.ready(1, "m1")
		p := newPost(id, 0, earshot.PostAmbiguous)
		s.put(l, p)
		s.check(s.Finish(s.Context(), l, id, earshot.TurnParked, "who knows", nil))
		s.check(s.Discard(s.Context(), id, ""))
		wantError(s.T, s.PutPost(s.Context(), l, newPost(id, 0, earshot.PostSending)), earshot.ErrConflict)
		wantError(s.T, s.PutPost(s.Context(), l, newPost(id, 1, earshot.PostPlanned)), earshot.ErrConflict)
		s.equal("posts", s.posts(id), []earshot.Post{p})
		sent := newPost(id, 0, earshot.PostSent)
		s.check(s.Confirm(s.Context(), s.scope, sent.Key, sent.Message))
		s.equal("once it is seen after all", s.posts(id), []earshot.Post{sent})
		of, err := s.Posted(s.Context(), s.scope, sent.Message)
		s.check(err)
		s.equal("its turn", []any{of.ID, of.State}, []any{id, earshot.TurnDropped})
	}},
	{"turns that were merged into a discarded one stay dropped", func(s *suite) {
		a, b := s.asked(1, "m1"), s.asked(2, "m1")
		l, _ := s.claim("me", timeAt(5))
		s.check(s.Merge(s.Context(), l, b, a))
		s.begin(l, b, prompt(2))
		s.check(s.Finish(s.Context(), l, b, earshot.TurnFailed, "who knows", nil))
		s.check(s.Release(s.Context(), l, 0))
		s.check(s.Discard(s.Context(), b, "anchor deleted")) // the reason is an operator's, not the store's
		s.accept(deletionOf(2, ""))
		s.equal("the merged one", []any{s.queued(a).State, s.queued(a).Why}, []any{earshot.TurnDropped, fmt.Sprint("answered with turn ", b)})
		s.idle(timeAt(99))
	}},
	{"a turn is discarded before and after its question is deleted, and its text goes", func(s *suite) {
		before, after := s.stopped(1, "m1", earshot.TurnParked), s.stopped(2, "m2", earshot.TurnParked)
		s.check(s.Discard(s.Context(), before, "x"))
		s.accept(deletionOf(1, ""))
		s.accept(deletionOf(2, ""))
		wantError(s.T, s.Reopen(s.Context(), after), earshot.ErrConflict)
		s.check(s.Discard(s.Context(), after, "x"))
		for _, id := range []earshot.TurnID{before, after} {
			s.equal("why", s.queued(id).Why, whyDiscarded(earshot.TurnParked, ": x"))
			s.equal("text", s.text(id), []string{})
		}
		s.idle(timeAt(99))
	}},
	{"a discarded turn is pruned from the time when it was discarded", func(s *suite) {
		id := s.stopped(1, "m1", earshot.TurnFailed)
		later := earshot.TimeOf(time.Now().Add(time.Hour))
		s.equal("pruned", s.prune(later), 1)
		s.check(s.Discard(s.Context(), id, ""))
		s.equal("discarded", s.prune(later), 1)
		s.equal("state and text", []any{s.queued(id).State, s.text(id)}, []any{earshot.TurnDropped, []string{}})
	}},
	{"of those who open a turn again and those who discard it, one side wins", func(s *suite) {
		turns := sizeUnderRace(40, 10)
		ids := make([]earshot.TurnID, turns)
		for n := range ids {
			ids[n] = s.stopped(n, fmt.Sprint("c", n), earshot.TurnParked)
		}
		q := earshot.Queue(s.Store)
		won := make([][2]atomic.Int64, turns) // how many opened it, how many discarded it
		errs := runTogether(4, func(i int) error {
			for n := range ids {
				var err error
				if i%2 == 0 {
					err = q.Reopen(background, ids[n])
				} else {
					err = q.Discard(background, ids[n], "x")
				}
				if err == nil {
					won[n][i%2].Add(1)
				} else if !errors.Is(err, earshot.ErrConflict) {
					return err
				}
			}
			return nil
		})
		s.equal("errors", errs, []error{})
		for n, id := range ids {
			opened, dropped := won[n][0].Load(), won[n][1].Load()
			want := map[earshot.TurnState]bool{earshot.TurnOpen: opened == 1 && dropped == 0, earshot.TurnDropped: opened == 0 && dropped == 2}
			if state := s.queued(id).State; !want[state] {
				s.Errorf("turn %d is %s: %d opened it, %d discarded it", id, state, opened, dropped)
			}
		}
	}},
	{"a question that is deleted while its turn is discarded leaves no text", func(s *suite) {
		turns := sizeUnderRace(40, 10)
		ids := make([]earshot.TurnID, turns)
		for n := range ids {
			ids[n] = s.stopped(n, fmt.Sprint("c", n), earshot.TurnParked)
		}
		q := earshot.Queue(s.Store)
		errs := runTogether(2, func(i int) error {
			for n, id := range ids {
				var err error
				if i == 0 {
					err = q.Discard(background, id, "x")
				} else {
					_, err = q.Accept(background, s.scope, deletionOf(n, ""), nil)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		s.equal("errors", errs, []error{})
		for _, id := range ids {
			s.equal("state and text", []any{s.queued(id).State, s.text(id)}, []any{earshot.TurnDropped, []string{}})
		}
		s.idle(timeAt(99))
	}},
}
