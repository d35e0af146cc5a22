package memory

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// Finish implements [earshot.Queue].
func (s *Store) Finish(ctx context.Context, lease earshot.Lease, id earshot.TurnID, state earshot.TurnState, why string, turn *earshot.Turn, arrived ...earshot.Arrival) error {
	e, messages, err := rule.CheckEnd(ctx, state, why, turn, arrived)
	if err != nil {
		return err
	}
	scope := rule.Lease(lease).Conversation.Scope
	decide := func() (*queuedTurn, rule.Change, error) {
		h, t := s.leased(lease, id)
		if e.Turn != nil {
			e.Answered = s.answered(h.Lease.Conversation, *e.Turn)
		}
		for i, x := range e.Confirmed {
			e.Confirmed[i].Stored = s.queue.posts[scopedID{scope, x.Key}]
		}
		c, err := rule.DecideFinish(h, e)
		return t, c, err
	}
	return s.write(ctx, func() error {
		if _, _, err := decide(); err != nil { // what is refused records nothing
			return err
		}
		for _, m := range messages {
			s.record(scope, s.channel(scope), m)
		}
		t, c, err := decide()
		if err == nil {
			s.applyChange(t, c)
		}
		return err
	})
}

// Merge implements [earshot.Queue].
func (s *Store) Merge(ctx context.Context, lease earshot.Lease, into earshot.TurnID, turns ...earshot.TurnID) error {
	return s.under(ctx, lease, into, func(h rule.LeasedTurn, _ *queuedTurn) (rule.Change, error) {
		others := make([]rule.StoredTurn, len(turns))
		for i, id := range turns {
			if t, err := s.queue.turn(id); err == nil {
				others[i] = t.StoredTurn
			}
		}
		return rule.DecideMerge(h, turns, others, s.queue.unfinished(h.Lease.Conversation))
	})
}

// Reopen implements [earshot.Queue].
func (s *Store) Reopen(ctx context.Context, id earshot.TurnID) error {
	return s.write(ctx, func() error {
		t, err := s.queue.turn(id)
		if err != nil {
			return err
		}
		c, err := rule.DecideReopen(t.StoredTurn, s.anyDeleted(t.Conversation.Scope, []earshot.MessageID{t.Anchor}), s.queue.unfinished(t.Conversation), s.time())
		if err == nil {
			s.applyChange(t, c)
		}
		return err
	})
}

// Discard implements [earshot.Queue].
func (s *Store) Discard(ctx context.Context, id earshot.TurnID, why string) error {
	why, err := rule.CheckDiscard(why)
	if err != nil {
		return err
	}
	return s.write(ctx, func() error {
		t, err := s.queue.turn(id)
		if err != nil {
			return err
		}
		c, err := rule.DecideDiscard(t.StoredTurn, why, s.time())
		if err == nil {
			s.applyChange(t, c)
		}
		return err
	})
}

// unfinished returns a conversation's turns in line.
func (q *queue) unfinished(id earshot.ConversationID) []earshot.QueuedTurn {
	l := q.conversations[id]
	if l == nil {
		return nil
	}
	var out []earshot.QueuedTurn
	for _, t := range l.turns {
		out = append(out, t.QueuedTurn)
	}
	return out
}
