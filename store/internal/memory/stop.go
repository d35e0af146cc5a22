package memory

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// StopTurn implements [earshot.Stopper].
func (s *Store) StopTurn(ctx context.Context, id earshot.TurnID, by earshot.AuthorID) (out earshot.QueuedTurn, err error) {
	if by, err = rule.CheckStop(by); err != nil {
		return out, err
	}
	err = s.write(ctx, func() error {
		t, err := s.queue.turn(id)
		if err != nil {
			return err
		}
		c, err := rule.DecideStop(t.StoredTurn, by, s.time())
		s.applyChange(t, c)
		out = t.export()
		return err
	})
	return out, err
}
