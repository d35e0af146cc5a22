package postgres

import (
	"context"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// Merge implements [earshot.Queue].
func (s *Store) Merge(ctx context.Context, l earshot.Lease, into earshot.TurnID, turns ...earshot.TurnID) error {
	var found []queued
	return s.under(ctx, "merge turns", l, into, func(t *tx) {
		found = make([]queued, len(turns))
		for i, id := range turns {
			t.askQueued(id, &found[i])
		}
	}, func(_ context.Context, t *tx, r *running) error {
		if err := r.final(); err != nil {
			return err
		}
		for i, q := range found {
			if !q.found || q.Conversation != r.Conversation || q.ID == into {
				return fmt.Errorf("turn %d: %w", turns[i], earshot.ErrNotFound)
			}
			if rule.Unfinished(q.State) {
				t.end(q, earshot.TurnDropped, rule.AnsweredWith(into), 0, r.now)
			}
		}
		return nil
	})
}

// part opens the turns again that one would have answered too.
func (t *tx) part(q queued, now earshot.Time) {
	t.write(`UPDATE queued_turn SET state = 'open', why = '', pruned = 0, updated = $6`+ofConversation+` AND state = 'dropped' AND why = $7`,
		own(q.Conversation, q.Conversation.Name, int64(now), rule.AnsweredWith(q.ID))...)
}
