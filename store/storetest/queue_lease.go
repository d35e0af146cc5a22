package storetest

import (
	"fmt"
	"time"

	"github.com/earshot-ai/earshot"
)

// prompt returns the nth prompt.
func prompt(n int, shows ...earshot.MessageID) earshot.Prompt {
	return earshot.Prompt{Input: fmt.Append(nil, "input ", n), Hash: fmt.Sprint("hash ", n), Began: earshot.BeganFull, Shows: shows}
}

// begin begins a turn.
func (s *suite) begin(l earshot.Lease, id earshot.TurnID, p earshot.Prompt) {
	s.Helper()
	s.check(s.Begin(s.Context(), l, id, p))
}

// finish ends a turn as done, with a commit of its own.
func (s *suite) finish(l earshot.Lease, id earshot.TurnID) {
	s.Helper()
	t := turn(0, fmt.Sprint("turn ", id))
	t.Answer.Anchor = s.queued(id).Anchor
	t.Shown, t.Ledger = []earshot.ShownRevision{{ID: t.Answer.Anchor}}, nil
	s.check(s.Finish(s.Context(), l, id, earshot.TurnDone, "", &t))
}

var leaseCases = []testCase{
	{"a conversation is claimed with its turns in order", func(s *suite) {
		a, b := s.asked(1, "m1"), s.asked(2, "m1")
		l, turns := s.claim("me", timeAt(10))
		s.equal("lease", l, earshot.Lease{Conversation: s.conversation("m1"), Owner: "me", Fence: 1, Until: timeAt(20)})
		s.equal("turns", turnIDs(turns), []earshot.TurnID{a, b})
		s.equal("states", []any{turns[0].State, turns[0].Tries, turns[1].State, turns[1].Tries}, []any{earshot.TurnClaimed, 1, earshot.TurnOpen, 0})
		stored := s.queued(a)
		turns[0].Updated = 0
		s.equal("stored", stored, turns[0])
	}},
	{"the conversation that has waited longest comes first", func(s *suite) {
		s.asked(1, "b")
		s.asked(2, "a")
		s.asked(3, "b")
		l, turns := s.claim("x", timeAt(10))
		s.equal("first", []any{l.Conversation.Name, len(turns)}, []any{"b", 2})
		l, _ = s.claim("y", timeAt(10))
		s.equal("second", l.Conversation.Name, "a")
		s.idle(timeAt(10))
	}},
	{"a leased conversation cannot be claimed, not even by its holder", func(s *suite) {
		s.asked(1, "m1")
		s.claim("me", timeAt(0))
		s.asked(2, "m1")
		_, _, err := s.Claim(s.Context(), "agent", "me", timeAt(5), hold)
		wantError(s.T, err, earshot.ErrNotFound)
		_, _, err = s.Claim(s.Context(), "agent", "you", timeAt(10)-1, hold)
		wantError(s.T, err, earshot.ErrNotFound)
	}},
	{"a lease whose end lies too far in the future can be claimed: its clock was wrong", func(s *suite) {
		s.asked(1, "m1")
		held, _ := s.claim("dead", timeAt(7200))
		s.idle(timeAt(7200 - 1700))
		l, _ := s.claim("alive", timeAt(0))
		s.equal("fence", l.Fence, held.Fence+1)
	}},
	{"a lease that ran out can be claimed, under the next fence", func(s *suite) {
		id := s.asked(1, "m1")
		old, _ := s.claim("dead", timeAt(0))
		s.begin(old, id, prompt(1))
		l, turns := s.claim("heir", timeAt(10))
		s.equal("fence", l.Fence, old.Fence+1)
		s.equal("turn", []any{turns[0].State, turns[0].Tries, turns[0].Ends, string(turns[0].Input), turns[0].Hash},
			[]any{earshot.TurnGenerating, 1, 1, "input 1", "hash 1"})
	}},
	{"every write under an old fence is refused and changes nothing", func(s *suite) {
		id := s.asked(1, "m1")
		old, _ := s.claim("same name", timeAt(0))
		s.begin(old, id, prompt(1))
		s.check(s.AddStep(s.Context(), old, id, earshot.Step{Kind: "model", Data: []byte("a")}))
		s.check(s.PutPost(s.Context(), old, earshot.Post{Turn: id, Key: "k", State: earshot.PostPlanned}))
		s.claim("same name", timeAt(10))
		before := s.traces(id)
		t := turn(1, "x")
		for _, c := range []struct {
			name  string
			write func() error
		}{
			{"Begin", func() error { return s.Begin(s.Context(), old, id, prompt(1)) }},
			{"AddStep", func() error {
				return s.AddStep(s.Context(), old, id, earshot.Step{N: 1, Kind: "model"})
			}},
			{"AddStep again", func() error { return s.AddStep(s.Context(), old, id, earshot.Step{Kind: "model"}) }},
			{"PutPost", func() error {
				return s.PutPost(s.Context(), old, earshot.Post{Turn: id, Key: "k", State: earshot.PostSending})
			}},
			{"Finish", func() error { return s.Finish(s.Context(), old, id, earshot.TurnDone, "", &t) }},
			{"Finish as failed", func() error { return s.Finish(s.Context(), old, id, earshot.TurnFailed, "x", nil) }},
			{"Renew", func() error {
				_, err := s.Renew(s.Context(), old, timeAt(11), hold)
				return err
			}},
		} {
			s.Log(c.name)
			wantError(s.T, c.write(), earshot.ErrFenced)
		}
		s.check(s.Release(s.Context(), old, 0))
		s.equal("traces", s.traces(id), before)
		s.idle(timeAt(15))
	}},
	{"a lease that ran out stays valid until somebody claims it", func(s *suite) {
		id := s.asked(1, "m1")
		l, _ := s.claim("slow", timeAt(0))
		s.begin(l, id, prompt(1))
		l, err := s.Renew(s.Context(), l, timeAt(60), hold)
		s.check(err)
		s.equal("until", l.Until, timeAt(70))
		s.idle(timeAt(69))
		s.claim("next", timeAt(70))
	}},
	{"a lease that was released can be claimed at once, and is no longer valid", func(s *suite) {
		a, b := s.asked(1, "m1"), s.asked(2, "m1")
		l, _ := s.claim("me", timeAt(0))
		s.begin(l, a, prompt(1))
		s.finish(l, a)
		s.check(s.Release(s.Context(), l, 0))
		wantError(s.T, s.Begin(s.Context(), l, b, prompt(2)), earshot.ErrFenced)
		next, turns := s.claim("me", timeAt(1))
		s.equal("turns", turnIDs(turns), []earshot.TurnID{b})
		s.equal("fence", next.Fence, l.Fence+1)
	}},
	{"a turn that was claimed and not begun is open again after a release", func(s *suite) {
		id := s.asked(1, "m1")
		l, _ := s.claim("me", timeAt(0))
		s.check(s.Release(s.Context(), l, timeAt(30)))
		s.equal("state", s.queued(id).State, earshot.TurnOpen)
		s.idle(timeAt(30) - 1)
		_, turns := s.claim("me", timeAt(30))
		s.equal("tries", turns[0].Tries, 2)
	}},
	{"an agent cannot claim conversations of another", func(s *suite) {
		s.asked(1, "m1")
		_, _, err := s.Claim(s.Context(), "other", "me", timeAt(0), hold)
		wantError(s.T, err, earshot.ErrNotFound)
		_, _, err = s.Claim(s.Context(), "", "me", timeAt(0), hold)
		wantError(s.T, err, earshot.ErrInvalid)
		_, _, err = s.Claim(s.Context(), "agent", "", timeAt(0), hold)
		wantError(s.T, err, earshot.ErrInvalid)
		_, _, err = s.Claim(s.Context(), "agent", "me", timeAt(0), 0)
		wantError(s.T, err, earshot.ErrInvalid)
	}},
	{"a lease does not allow writes to turns of another conversation", func(s *suite) {
		s.asked(1, "m1")
		other := s.asked(2, "m2")
		l, _ := s.claim("me", timeAt(0))
		wantError(s.T, s.Begin(s.Context(), l, other, prompt(1)), earshot.ErrNotFound)
		wantError(s.T, s.Finish(s.Context(), l, other, earshot.TurnDropped, "x", nil), earshot.ErrNotFound)
		wantError(s.T, s.Finish(s.Context(), l, 999, earshot.TurnDropped, "x", nil), earshot.ErrNotFound)
	}},
	{"a message that arrives while its conversation is leased waits for its turn", func(s *suite) {
		a := s.asked(1, "m1")
		l, _ := s.claim("me", timeAt(0))
		s.begin(l, a, prompt(1))
		b := s.asked(2, "m1")
		wantError(s.T, s.Begin(s.Context(), l, b, prompt(2)), earshot.ErrConflict)
		s.finish(l, a)
		s.begin(l, b, prompt(2))
		s.finish(l, b)
		s.check(s.Release(s.Context(), l, 0))
		s.idle(timeAt(99))
	}},
	{"eight owners claim concurrently and no conversation is claimed twice", func(s *suite) {
		q := earshot.Queue(s.Store)
		const conversations, turns, owners = 12, 5, 8
		for n := range conversations * turns {
			s.asked(n, fmt.Sprint("c", n%conversations))
		}
		owner := make(chan earshot.TurnID, conversations*turns)
		errs := runTogether(owners, func(i int) error {
			now := timeAt(100)
			for {
				l, list, err := q.Claim(s.Context(), "agent", fmt.Sprint("owner ", i), now, time.Hour)
				if err != nil {
					return err
				}
				for _, t := range list {
					if err := q.Begin(s.Context(), l, t.ID, prompt(int(t.ID))); err != nil {
						return err
					}
					if err := q.Finish(s.Context(), l, t.ID, earshot.TurnDone, "", nil); err != nil {
						return err
					}
					owner <- t.ID
				}
				if err := q.Release(s.Context(), l, 0); err != nil {
					return err
				}
			}
		})
		for _, err := range errs {
			wantError(s.T, err, earshot.ErrNotFound)
		}
		close(owner)
		seen := map[earshot.TurnID]bool{}
		for id := range owner {
			if seen[id] {
				s.Errorf("turn %d ran twice", id)
			}
			seen[id] = true
		}
		s.equal("turns", len(seen), conversations*turns)
		depth, err := q.Depth(s.Context())
		s.check(err)
		s.equal("depth", depth, map[earshot.TurnState]int{earshot.TurnDone: conversations * turns})
	}},
	{"of eight concurrent calls that accept one message one opens its turn", func(s *suite) {
		q := earshot.Queue(s.Store)
		opened := make(chan earshot.AcceptResult, 80)
		errs := runTogether(8, func(i int) error {
			for n := range 10 {
				id := s.conversation("dm")
				e := deliveryOf(n, "question")
				if i%2 == 0 {
					e.Delivery = fmt.Sprint("other ", i, n)
				}
				out, err := q.Accept(s.Context(), s.scope, e, &id)
				if err != nil {
					return err
				}
				opened <- out
			}
			return nil
		})
		s.equal("errors", len(errs), 0)
		close(opened)
		turns, first := map[earshot.MessageID]earshot.TurnID{}, 0
		for out := range opened {
			if out.Opened {
				first++
			}
			if have := turns[out.ID]; out.Turn == 0 || have != 0 && have != out.Turn {
				s.Errorf("%s has turn %d and turn %d", out.ID, have, out.Turn)
			}
			turns[out.ID] = out.Turn
		}
		s.equal("opened", first, 10)
	}},
}

// traces reads everything that is stored of a turn.
func (s *suite) traces(id earshot.TurnID) []any {
	s.Helper()
	steps, err := s.Steps(s.Context(), id)
	s.check(err)
	posts, err := s.Posts(s.Context(), id)
	s.check(err)
	q := s.queued(id)
	turns, err := s.Turns(s.Context(), q.Conversation, 0)
	s.check(err)
	c, err := s.Conversation(s.Context(), q.Conversation)
	s.check(err)
	return []any{q, steps, posts, turns, c}
}
