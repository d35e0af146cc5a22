package tables

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// Rows that another transaction has locked are passed over here; the next call finds
// them.

// PruneEvents implements [earshot.Queue].
func (s *Store) PruneEvents(ctx context.Context, before earshot.Time) (int, error) {
	if err := s.pruneEarly(ctx, before); err != nil {
		return 0, err
	}
	return s.prune(ctx, "prune events", `event WHERE received < $1`, `received`, before, func(t *Tx, ids any) {
		t.Write(`DELETE FROM event WHERE `+t.SQL.Any(`id`, 1), ids)
	})
}

// PruneTurns implements [earshot.Queue].
func (s *Store) PruneTurns(ctx context.Context, before earshot.Time) (int, error) {
	if err := s.pruneBlobs(ctx, before); err != nil {
		return 0, err
	}
	from := `queued_turn WHERE pruned = 0 AND ` + s.sql.NoIndex + rule.FinalSQL + ` AND updated < $1`
	return s.prune(ctx, "prune turns", from, `updated`, before, func(t *Tx, ids any) {
		t.Write(`UPDATE queued_turn SET input = `+t.SQL.NoBytes+`, pruned = 1 WHERE `+t.SQL.Any(`id`, 1), ids)
		t.Write(`DELETE FROM journal WHERE `+t.SQL.Any(`turn`, 1), ids)
		t.Write(`UPDATE outbox SET text = '' WHERE `+t.SQL.Any(`turn`, 1)+` AND text <> ''`, ids)
		t.eraseWords(t.SQL.Any(`turn`, 1), ids)
	})
}

// PruneDrafts implements [earshot.Drafts].
func (s *Store) PruneDrafts(ctx context.Context, before earshot.Time) (int, error) {
	change := func(how string) func(*Tx, any) {
		return func(t *Tx, ids any) {
			t.Write(`DELETE FROM draft_reading WHERE `+t.SQL.Any(`draft`, 1), ids)
			t.endAsks(t.SQL.Among(`turn`, `SELECT id FROM draft WHERE `+t.SQL.Any(`id`, 1)+` AND state <> 'committed'`), ids)
			t.Write(how+` WHERE `+t.SQL.Any(`id`, 1), ids)
		}
	}
	remove := change(`DELETE FROM draft`)
	gone, err := s.prune(ctx, "prune drafts", `draft WHERE expires < $1`, `expires, id`, rule.DraftGone(before), func(t *Tx, ids any) {
		t.RaiseDrafts(ids)
		remove(t, ids)
	})
	if err != nil {
		return gone, err
	}
	emptied, err := s.prune(ctx, "prune drafts", `draft WHERE expires < $1 AND `+rule.DraftContentsSQL, `expires, id`, before, change(`UPDATE draft SET `+rule.PruneDraftSQL))
	return gone + emptied, err
}

// PruneRates implements [earshot.Rates].
func (s *Store) PruneRates(ctx context.Context, before earshot.Time) (int, error) {
	for total := 0; ; {
		n := 0
		err := s.engine.Volatile(ctx, "prune rates", func(ctx context.Context, t *Tx) error {
			n = 0
			t.Count(&n, `DELETE FROM rate WHERE `+t.SQL.Among(`key`, `SELECT key FROM rate WHERE next < $1 ORDER BY next LIMIT $2`+t.SQL.Skip), int64(before), t.SQL.PruneRows)
			return t.Send(ctx)
		})
		if err != nil {
			return total, err
		}
		if total += n; n < s.sql.PruneRows {
			return total, nil
		}
	}
}

// prune passes the ids of rows from before a time to change, in one transaction after
// another with at most [SQL.PruneRows] of them, until there are fewer. It returns the
// number of all.
func (s *Store) prune(ctx context.Context, what, from, order string, before earshot.Time, change func(t *Tx, ids any)) (int, error) {
	for total := 0; ; {
		var ids []int64
		err := s.engine.Apply(ctx, what, func(ctx context.Context, t *Tx) error {
			ids = nil
			t.Ask(`SELECT id FROM `+from+` ORDER BY `+order+` LIMIT $2`+t.SQL.Skip, []any{int64(before), t.SQL.PruneRows}, Gather(&ids, Scan[int64]))
			if err := t.Send(ctx); err != nil || len(ids) == 0 {
				return err
			}
			change(t, t.SQL.List(ids))
			t.Erased()
			return t.Send(ctx)
		})
		if err != nil {
			return total, err
		}
		if total += len(ids); len(ids) < s.sql.PruneRows {
			return total, nil
		}
	}
}
