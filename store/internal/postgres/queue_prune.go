package postgres

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// pruneRows is how many events or turns one transaction deletes.
const pruneRows = 100

// PruneEvents implements [earshot.Queue]. It skips rows that another transaction has
// locked; the next call finds them.
func (s *Store) PruneEvents(ctx context.Context, before earshot.Time) (int, error) {
	if err := s.pruneEarly(ctx, before); err != nil {
		return 0, err
	}
	return s.prune(ctx, "prune events", func(ctx context.Context, t *tx) (n int, err error) {
		t.Ask(`DELETE FROM event WHERE id = ANY(ARRAY(SELECT id FROM event WHERE received < $1 ORDER BY received LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING id`,
			[]any{int64(before), pruneRows}, func(tables.Row) error { n++; return nil })
		err = t.Send(ctx)
		return n, err
	})
}

// PruneTurns implements [earshot.Queue]. It skips rows that another transaction has
// locked; the next call finds them.
func (s *Store) PruneTurns(ctx context.Context, before earshot.Time) (int, error) {
	if err := s.pruneBlobs(ctx, before); err != nil {
		return 0, err
	}
	return s.prune(ctx, "prune turns", func(ctx context.Context, t *tx) (int, error) {
		var turns []int64
		t.Ask(`SELECT id FROM queued_turn WHERE pruned = 0 AND `+rule.FinalSQL+` AND updated < $1
			ORDER BY updated LIMIT $2 FOR UPDATE SKIP LOCKED`, []any{int64(before), pruneRows},
			tables.Gather(&turns, func(rows tables.Row, id *int64) error { return rows.Scan(id) }))
		if err := t.Send(ctx); err != nil || len(turns) == 0 {
			return 0, err
		}
		t.Write(`UPDATE queued_turn SET input = '', pruned = 1 WHERE id = ANY($1)`, turns)
		t.Write(`DELETE FROM journal WHERE turn = ANY($1)`, turns)
		t.Write(`UPDATE outbox SET text = '' WHERE turn = ANY($1) AND text <> ''`, turns)
		return len(turns), nil
	})
}

// prune runs step in one transaction after another, until it finds fewer than
// pruneRows rows. It returns the number of all.
func (s *Store) prune(ctx context.Context, what string, step func(context.Context, *tx) (int, error)) (int, error) {
	for total := 0; ; {
		n := 0
		err := s.apply(ctx, what, func(ctx context.Context, t *tx) (err error) {
			n, err = step(ctx, t)
			return err
		})
		if err != nil {
			return total, err
		}
		if total += n; n < pruneRows {
			return total, nil
		}
	}
}
