package postgres

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// StepErasure implements [earshot.Erasures].
func (s *Store) StepErasure(ctx context.Context, id earshot.ErasureID) (earshot.Erasure, error) {
	var x rule.Erasure
	err := s.Apply(ctx, "step an erasure", func(ctx context.Context, t *tables.Tx) error { return t.StepErasure(ctx, id, &x) })
	return x.Erasure, err
}
