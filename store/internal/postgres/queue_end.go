package postgres

import (
	"context"
	"fmt"

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
	inserted := 0
	err = s.apply(ctx, "finish a turn", func(ctx context.Context, t *tx) (err error) {
		// First, since it takes the channel's exclusive lock (see lock.go).
		if inserted, err = t.arrive(ctx, in.Scope, messages); err != nil {
			return err
		}
		return t.under(ctx, l, id, func(t *tx) {
			if e.Turn != nil {
				t.askAnswered(in, *e.Turn, &e.Answered)
			}
			for i, x := range e.Confirmed {
				t.askPost(in.Scope, x.Key, &e.Confirmed[i].Stored)
			}
		}, func(h leased) (rule.Change, error) {
			e.Answered.Conversation, e.Answered.Turns, e.Answered.Weight = h.conversation.Conversation, h.conversation.Turns, h.conversation.Weight
			return rule.Finish(h.LeasedTurn, e)
		})
	})
	if err == nil {
		s.stats.grown(inserted)
	}
	if e.Turn != nil {
		err = answered(err, e.Turn.Answer.Anchor)
	}
	return err
}

// arrive records our own messages that arrived, and returns how many were new.
func (t *tx) arrive(ctx context.Context, scope earshot.Scope, messages []rule.Message) (int, error) {
	if len(messages) == 0 {
		return 0, nil
	}
	b, err := t.batchOf(ctx, scope, messages, nil)
	if err != nil {
		return 0, err
	}
	for _, m := range messages {
		b.Add(m)
	}
	return len(b.Inserts()), t.writeBatch(ctx, scope, b)
}

// Merge implements [earshot.Queue].
func (s *Store) Merge(ctx context.Context, l earshot.Lease, into earshot.TurnID, turns ...earshot.TurnID) error {
	var others []rule.Queued
	var unfinished []earshot.QueuedTurn
	return s.under(ctx, "merge turns", l, into, func(t *tx) {
		unfinished = nil
		t.askUnfinished(rule.Lease(l).Conversation, &unfinished)
		others = make([]rule.Queued, len(turns))
		for i, id := range turns {
			t.askQueued(id, &others[i])
		}
	}, func(h rule.LeasedTurn) (rule.Change, error) { return rule.Merge(h, turns, others, unfinished) })
}

// Reopen implements [earshot.Queue].
func (s *Store) Reopen(ctx context.Context, id earshot.TurnID) error {
	var at rule.Queued // for its conversation and anchor, which never change
	if err := s.read(ctx, func(t *tx) { t.askQueued(id, &at) }); err != nil {
		return fmt.Errorf("reopen a turn: %w", err)
	}
	if at.ID == 0 {
		return rule.NoTurn(id)
	}
	in := at.Conversation
	return s.apply(ctx, "reopen a turn", func(ctx context.Context, t *tx) error {
		var q rule.Queued
		var unfinished []earshot.QueuedTurn
		gone := false
		t.shared(in.Scope)
		t.lockLeases([]earshot.ConversationID{in})
		t.askQueued(id, &q)
		t.askDeleted(in.Scope, []earshot.MessageID{at.Anchor}, &gone)
		t.askUnfinished(in, &unfinished)
		if err := t.send(ctx); err != nil {
			return err
		}
		now := earshot.TimeOf(s.now())
		c, err := rule.Reopen(q, gone, unfinished, now)
		if err != nil {
			return err
		}
		return t.change(q, c, now)
	})
}

// Discard implements [earshot.Queue].
func (s *Store) Discard(ctx context.Context, id earshot.TurnID, why string) error {
	why, err := rule.CheckDiscard(why)
	if err != nil {
		return err
	}
	var at rule.Queued // for its conversation, which never changes
	if err := s.read(ctx, func(t *tx) { t.askQueued(id, &at) }); err != nil {
		return fmt.Errorf("discard a turn: %w", err)
	}
	if at.ID == 0 {
		return rule.NoTurn(id)
	}
	return s.apply(ctx, "discard a turn", func(ctx context.Context, t *tx) error {
		var q rule.Queued
		t.shared(at.Conversation.Scope)
		t.lockLeases([]earshot.ConversationID{at.Conversation}) // as Reopen does: one of the two comes first
		t.askQueued(id, &q)
		if err := t.send(ctx); err != nil {
			return err
		}
		if q.ID == 0 { // erased meanwhile
			return rule.NoTurn(id)
		}
		now := earshot.TimeOf(s.now())
		c, err := rule.Discard(q, why, now)
		if err != nil {
			return err
		}
		return t.change(q, c, now)
	})
}
