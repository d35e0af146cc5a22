package sqlite

import (
	"context"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// Merge implements [earshot.Queue].
func (s *Store) Merge(ctx context.Context, l earshot.Lease, into earshot.TurnID, turns ...earshot.TurnID) error {
	return s.under(ctx, "merge turns", l, into, func(t *tx, r *running) error {
		if err := r.final(); err != nil {
			return err
		}
		for _, id := range turns {
			q, err := t.queued(id)
			if err != nil {
				return err
			}
			if q.Conversation != r.Conversation || id == into {
				return fmt.Errorf("turn %d: %w", id, earshot.ErrNotFound)
			}
			if !rule.Unfinished(q.State) {
				continue
			}
			if err := t.end(q, earshot.TurnDropped, rule.AnsweredWith(into), 0, r.now); err != nil {
				return err
			}
		}
		return nil
	})
}

// part opens the turns again that one would have answered too.
func (t *tx) part(q queued, now earshot.Time) error {
	return t.exec(`UPDATE queued_turn SET state = 'open', why = '', pruned = 0, updated = ?`+ofConversation+` AND +state = 'dropped' AND why = ?`,
		append([]any{int64(now)}, own(q.Conversation, q.Conversation.Name, rule.AnsweredWith(q.ID))...)...)
}
