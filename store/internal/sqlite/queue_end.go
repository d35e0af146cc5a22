package sqlite

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
	scope := rule.Lease(l).Conversation.Scope
	return s.apply(ctx, "finish a turn", func(t *tx) error {
		if len(messages) > 0 { // what is refused is rolled back
			r := &recording{scope: scope, messages: messages, outcomes: make([]earshot.Recorded, len(messages))}
			if err := t.record([]*recording{r}); err != nil {
				return err
			}
		}
		h, err := t.leased(l, id, earshot.TimeOf(s.now()))
		if err != nil {
			return err
		}
		if e.Turn != nil && h.Turn.ID != 0 {
			if e.Answered, err = t.answered(h.Turn.Conversation, *e.Turn); err != nil {
				return err
			}
		}
		for i, x := range e.Confirmed {
			if e.Confirmed[i].Stored, err = t.postByKey(scope, x.Key); err != nil {
				return err
			}
		}
		c, err := rule.Finish(h, e)
		if err != nil {
			return err
		}
		return t.change(h.Turn, c, h.Now)
	})
}

// Merge implements [earshot.Queue].
func (s *Store) Merge(ctx context.Context, l earshot.Lease, into earshot.TurnID, turns ...earshot.TurnID) error {
	return s.under(ctx, "merge turns", l, into, func(t *tx, h rule.LeasedTurn) (rule.Change, error) {
		others := make([]rule.Queued, len(turns))
		for i, id := range turns {
			var err error
			if others[i], err = t.queued(id); err != nil {
				return rule.Change{}, err
			}
		}
		unfinished, err := t.unfinished(h.Lease.Conversation)
		if err != nil {
			return rule.Change{}, err
		}
		return rule.Merge(h, turns, others, unfinished)
	})
}

// Reopen implements [earshot.Queue].
func (s *Store) Reopen(ctx context.Context, id earshot.TurnID) error {
	return s.apply(ctx, "reopen a turn", func(t *tx) error {
		q, err := t.queued(id)
		if err != nil {
			return err
		}
		if q.ID == 0 {
			return rule.NoTurn(id)
		}
		gone, err := t.anyDeleted(q.Conversation.Scope, q.Anchor)
		if err != nil {
			return err
		}
		unfinished, err := t.unfinished(q.Conversation)
		if err != nil {
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
	return s.apply(ctx, "discard a turn", func(t *tx) error {
		q, err := t.queued(id)
		if err != nil {
			return err
		}
		if q.ID == 0 {
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
