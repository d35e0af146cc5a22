package tables

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// Finish implements [earshot.Queue].
func (s *Store) Finish(ctx context.Context, l earshot.Lease, id earshot.TurnID, state earshot.TurnState, why string, turn *earshot.Turn, arrived ...earshot.Arrival) error {
	e, messages, err := rule.CheckEnd(ctx, state, why, turn, arrived)
	if err != nil {
		return err
	}
	in := rule.Lease(l).Conversation
	return s.engine.Apply(ctx, "finish a turn", func(ctx context.Context, t *Tx) (err error) {
		// First, since it takes the channel's exclusive lock. What is refused is rolled
		// back.
		if err := t.keep(ctx, in.Scope, messages); err != nil {
			return err
		}
		return t.under(ctx, l, id, func(t *Tx) {
			if e.Turn != nil {
				t.askAnswered(in, *e.Turn, &e.Answered)
			}
			for i, x := range e.Confirmed {
				t.askPost(in.Scope, x.Key, &e.Confirmed[i].Stored)
			}
		}, func(h leasedTurn) (rule.Change, error) {
			e.Answered.Conversation, e.Answered.Turns, e.Answered.Weight = h.conversation.Conversation, h.conversation.Turns, h.conversation.Weight
			return rule.DecideFinish(h.LeasedTurn, e)
		})
	})
}

// Merge implements [earshot.Queue].
func (s *Store) Merge(ctx context.Context, l earshot.Lease, into earshot.TurnID, turns ...earshot.TurnID) error {
	var others []rule.StoredTurn
	var unfinished []earshot.QueuedTurn
	return s.under(ctx, "merge turns", l, into, func(t *Tx) {
		unfinished = nil
		t.askUnfinished(rule.Lease(l).Conversation, &unfinished)
		others = make([]rule.StoredTurn, len(turns))
		for i, id := range turns {
			askQueued(t, id, &others[i])
		}
	}, func(h rule.LeasedTurn) (rule.Change, error) { return rule.DecideMerge(h, turns, others, unfinished) })
}

// Reopen implements [earshot.Queue].
func (s *Store) Reopen(ctx context.Context, id earshot.TurnID) error {
	var unfinished []earshot.QueuedTurn
	gone := false
	return s.operate(ctx, "reopen a turn", id, func(t *Tx, at rule.StoredTurn) {
		gone, unfinished = false, nil
		t.askDeleted(at.Conversation.Scope, []earshot.MessageID{at.Anchor}, &gone)
		t.askUnfinished(at.Conversation, &unfinished)
	}, func(q rule.StoredTurn, now earshot.Time) (rule.Change, error) {
		return rule.DecideReopen(q, gone, unfinished, now)
	})
}

// Discard implements [earshot.Queue].
func (s *Store) Discard(ctx context.Context, id earshot.TurnID, why string) error {
	why, err := rule.CheckDiscard(why)
	if err != nil {
		return err
	}
	return s.operate(ctx, "discard a turn", id, func(*Tx, rule.StoredTurn) {},
		func(q rule.StoredTurn, now earshot.Time) (rule.Change, error) { return rule.DecideDiscard(q, why, now) })
}

// operate changes a turn that nobody has a lease for. The queries that more queues are
// sent along; at is the turn as it was, for its conversation and anchor, which never
// change.
func (s *Store) operate(ctx context.Context, what string, id earshot.TurnID, more func(t *Tx, at rule.StoredTurn), decide func(rule.StoredTurn, earshot.Time) (rule.Change, error)) error {
	var at rule.StoredTurn
	if err := s.engine.Read(ctx, what, func(a Asker) { askQueued(a, id, &at) }); err != nil {
		return err
	}
	if at.ID == 0 {
		return rule.NoTurn(id)
	}
	return s.engine.Apply(ctx, what, func(ctx context.Context, t *Tx) error {
		var q rule.StoredTurn
		t.Shared(at.Conversation.Scope)
		t.LockLeases(at.Conversation) // of two operators one comes first
		askQueued(t, id, &q)
		more(t, at)
		if err := t.Send(ctx); err != nil {
			return err
		}
		if q.ID == 0 { // erased meanwhile
			return rule.NoTurn(id)
		}
		now := s.stamp()
		c, err := decide(q, now)
		if err != nil {
			return err
		}
		return t.Change(q, c, now)
	})
}
