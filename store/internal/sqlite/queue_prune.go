package sqlite

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// pruneRows is how many events or turns one transaction deletes: some ten
// milliseconds.
const pruneRows = 500

// PruneEvents implements [earshot.Queue].
func (s *Store) PruneEvents(ctx context.Context, before earshot.Time) (int, error) {
	if err := s.pruneEarly(ctx, before); err != nil {
		return 0, err
	}
	return s.prune(ctx, "prune events", func(t *tx) (int, error) {
		gone, err := all(t, `DELETE FROM event WHERE id IN (SELECT id FROM event WHERE received < ? ORDER BY received LIMIT ?) RETURNING id`,
			[]any{int64(before), pruneRows}, func(rows tables.Row, id *int64) error { return rows.Scan(id) })
		return len(gone), err
	})
}

// PruneTurns implements [earshot.Queue].
func (s *Store) PruneTurns(ctx context.Context, before earshot.Time) (int, error) {
	if err := s.pruneBlobs(ctx, before); err != nil {
		return 0, err
	}
	return s.prune(ctx, "prune turns", func(t *tx) (int, error) {
		turns, err := all(t, `SELECT id FROM queued_turn WHERE pruned = 0 AND +`+rule.FinalSQL+` AND updated < ? ORDER BY updated LIMIT ?`,
			[]any{int64(before), pruneRows}, func(rows tables.Row, id *int64) error { return rows.Scan(id) })
		if err != nil {
			return 0, err
		}
		for _, id := range turns {
			for _, query := range []string{
				`DELETE FROM journal WHERE turn = ?`, erasePosts, `UPDATE queued_turn SET input = x'', pruned = 1 WHERE id = ?`,
			} {
				if err := t.exec(query, id); err != nil {
					return 0, err
				}
			}
		}
		return len(turns), nil
	})
}

// prune runs step in one transaction after another, until it finds fewer than
// pruneRows rows. It returns the number of all.
func (s *Store) prune(ctx context.Context, what string, step func(*tx) (int, error)) (int, error) {
	for total := 0; ; {
		n := 0
		err := s.apply(ctx, what, func(t *tx) (err error) {
			if n, err = step(t); err != nil || n == 0 {
				return err
			}
			return t.needScrub()
		})
		if err != nil {
			return total, err
		}
		if total += n; n < pruneRows {
			return total, nil
		}
	}
}
