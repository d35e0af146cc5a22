package sqlite

import (
	"context"

	"github.com/earshot-ai/earshot"
)

// PruneRates implements [earshot.Rates].
func (s *Store) PruneRates(ctx context.Context, before earshot.Time) (n int, err error) {
	err = s.do(ctx, "prune rates", &job{volatile: true, apply: func(t *tx) (err error) {
		n, err = t.affected(`DELETE FROM rate WHERE next < ?`, int64(before))
		return err
	}})
	return n, err
}
