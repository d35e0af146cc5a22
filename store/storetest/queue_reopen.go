package storetest

import (
	"fmt"
	"testing"

	"github.com/earshot-ai/earshot"
)

// reopenQueue tests that a queue goes on after a restart from any state.
func reopenQueue(t *testing.T, open func(t *testing.T) func() earshot.Store) {
	t.Run("a turn in any state is there after a restart, and goes on", func(t *testing.T) {
		t.Parallel()
		again := open(t)
		s := &suite{T: t, Store: again(), scope: earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "C1"}}
		s.accept(deletionOf(99, "canary"))
		stages := []func(l earshot.Lease, id earshot.TurnID, n int){
			func(l earshot.Lease, id earshot.TurnID, n int) { s.begin(l, id, prompt(n)) },
			func(l earshot.Lease, id earshot.TurnID, n int) { s.step(l, id, 0) },
			func(l earshot.Lease, id earshot.TurnID, n int) { s.put(l, newPost(id, 0, earshot.PostPlanned)) },
			func(l earshot.Lease, id earshot.TurnID, n int) { s.put(l, newPost(id, 0, earshot.PostSending)) },
			func(l earshot.Lease, id earshot.TurnID, n int) { s.put(l, newPost(id, 0, earshot.PostSent)) },
			func(l earshot.Lease, id earshot.TurnID, n int) { s.finish(l, id) },
		}
		var turns []earshot.TurnID
		var leases []earshot.Lease
		for n := range len(stages) + 2 { // turn n has passed n-1 stages; the first is not claimed
			turns = append(turns, s.asked(n, fmt.Sprint("m", n)))
		}
		failed, parked, discarded := s.asked(50, "m50"), s.asked(51, "m51"), s.asked(52, "m52")
		first, _ := s.claim("before", timeAt(0)) // released below: open again
		for n := 1; n < len(turns); n++ {
			l, list := s.claim("before", timeAt(0))
			leases = append(leases, l)
			for _, stage := range stages[:n-1] {
				stage(l, list[0].ID, n)
			}
		}
		for _, state := range []earshot.TurnState{earshot.TurnFailed, earshot.TurnParked, earshot.TurnParked} {
			l, list := s.claim("before", timeAt(0))
			s.check(s.Finish(s.Context(), l, list[0].ID, state, "why", nil))
		}
		s.check(s.Release(s.Context(), first, 0))
		s.check(s.Discard(s.Context(), discarded, "given up"))
		all := append(turns, failed, parked, discarded)
		before := s.queueTraces(all)
		s.check(s.Close())

		s.Store = again()
		s.equal("everything", s.queueTraces(all), before)
		s.equal("deliveries", []bool{s.ask(deliveryOf(0, "x"), "m0").Duplicate, s.accept(deletionOf(99, "x")).Duplicate}, []bool{true, true})
		s.begin(leases[0], turns[1], prompt(1)) // the lease is still valid
		_, list := s.claim("after", timeAt(5))
		s.equal("free now", turnIDs(list), turns[:1])
		s.idle(timeAt(5))
		for n := 1; n < len(turns)-1; n++ {
			l, list := s.claim("after", timeAt(10))
			s.equal("taken over", []any{list[0].ID, l.Fence, list[0].Tries, list[0].Ends}, []any{turns[n], int64(2), 1, 1})
			wantError(t, s.Begin(s.Context(), leases[n-1], turns[n], prompt(n)), earshot.ErrFenced)
			for _, stage := range stages[n-1:] {
				if q := s.queued(turns[n]); q.Hash == "" {
					s.begin(l, turns[n], prompt(n))
				}
				stage(l, turns[n], n)
			}
		}
		s.idle(timeAt(10))
		s.check(s.Reopen(s.Context(), failed))
		s.check(s.Reopen(s.Context(), parked))
		depth, err := s.Depth(s.Context())
		s.check(err)
		s.equal("depth", depth, map[earshot.TurnState]int{earshot.TurnDone: len(turns) - 1, earshot.TurnOpen: 2, earshot.TurnClaimed: 1, earshot.TurnDropped: 1})
		next := s.asked(60, "m60")
		s.equal("ids go on", next > discarded, true)
		s.check(s.Close())
	})
}

func (s *suite) queueTraces(ids []earshot.TurnID) []any {
	s.Helper()
	var out []any
	for _, id := range ids {
		out = append(out, s.traces(id))
	}
	for n := range ids {
		events, err := s.Events(s.Context(), s.scope, plainMessage(n, "").ID)
		s.check(err)
		out = append(out, events)
	}
	list, err := s.QueuedTurns(s.Context(), earshot.TurnQuery{})
	s.check(err)
	depth, err := s.Depth(s.Context())
	s.check(err)
	return append(out, list, depth)
}
