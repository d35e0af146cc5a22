package postgres

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// PruneRates implements [earshot.Rates].
func (s *Store) PruneRates(ctx context.Context, before earshot.Time) (int, error) {
	return s.prune(ctx, "prune rates", func(ctx context.Context, t *tx) (n int, err error) {
		t.Ask(`DELETE FROM rate WHERE key = ANY(ARRAY(SELECT key FROM rate WHERE next < $1 ORDER BY next LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING key`,
			[]any{int64(before), pruneRows}, func(tables.Row) error { n++; return nil })
		err = t.Send(ctx)
		return n, err
	})
}
