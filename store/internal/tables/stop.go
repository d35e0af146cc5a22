package tables

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// StopTurn implements [earshot.Stopper].
func (s *Store) StopTurn(ctx context.Context, id earshot.TurnID, by earshot.AuthorID) (earshot.QueuedTurn, error) {
	by, err := rule.CheckStop(by)
	if err != nil {
		return earshot.QueuedTurn{}, err
	}
	var out rule.StoredTurn
	var input []byte
	err = s.operate(ctx, "stop a turn", id, func(t *Tx, _ rule.StoredTurn) {
		input = nil
		t.Ask(`SELECT input FROM queued_turn WHERE id = $1`, []any{int64(id)}, ScanOne(new(bool), &input))
	}, func(q rule.StoredTurn, now earshot.Time) (rule.Change, error) {
		c, err := rule.DecideStop(q, by, now)
		if out = q; len(c.Turns) > 0 {
			out = c.Turns[0]
		}
		out.Input = input
		return c, err
	})
	if out.ID == 0 {
		return earshot.QueuedTurn{}, err
	}
	return out.Export(), err
}
