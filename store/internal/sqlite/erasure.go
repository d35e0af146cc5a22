package sqlite

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// StepErasure implements [earshot.Erasures]. A power cut may undo steps, which are then
// done again; the end of an erasure it cannot undo.
func (s *Store) StepErasure(ctx context.Context, id earshot.ErasureID) (earshot.Erasure, error) {
	var x rule.Erasure
	step := func(ctx context.Context, t *tables.Tx) error { return t.StepErasure(ctx, id, &x) }
	err := s.runJob(ctx, "step an erasure", &job{heavy: true, volatile: true, apply: s.queueing(ctx, step)})
	if err != nil || x.Ended == 0 {
		return x.Erasure, err
	}
	return x.Erasure, s.inTx(ctx, "end an erasure", func(t *tx) error {
		return t.exec(`UPDATE erasure SET ended = ? WHERE id = ?`, int64(x.Ended), int64(id))
	})
}
