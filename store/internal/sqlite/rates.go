package sqlite

import (
	"context"
	"database/sql"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// BookCalls implements [earshot.Rates]. It does not wait for the disk: after a power
// cut no replica is left that would exceed the rate.
func (s *Store) BookCalls(ctx context.Context, key string, r earshot.Rate, calls int, now earshot.Time) (out earshot.Booking, err error) {
	if key, err = rule.CheckRate(key, r, calls); err != nil {
		return out, err
	}
	span := rule.Span(r, calls)
	err = s.volatile(ctx, "book calls", func(t *tx) error {
		var next earshot.Time
		_, err := t.one(`INSERT INTO rate (key, next) VALUES (?1, ?2 + ?3)
			ON CONFLICT (key) DO UPDATE SET next = max(next, ?2) + ?3 RETURNING next`, []any{key, int64(now), span}, []any{&next})
		out = rule.Booked(r, calls, next)
		return err
	})
	return out, err
}

// BlockCalls implements [earshot.Rates].
func (s *Store) BlockCalls(ctx context.Context, key string, r earshot.Rate, until earshot.Time) error {
	key, err := rule.CheckRate(key, r, 1)
	if err != nil {
		return err
	}
	return s.volatile(ctx, "block calls", func(t *tx) error {
		return t.exec(`INSERT INTO rate (key, next) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET next = max(next, excluded.next)`,
			key, int64(rule.Blocked(r, until)))
	})
}

// PruneRates implements [earshot.Rates].
func (s *Store) PruneRates(ctx context.Context, before earshot.Time) (n int, err error) {
	err = s.volatile(ctx, "prune rates", func(t *tx) error {
		gone, err := all(t, `DELETE FROM rate WHERE next < ? RETURNING key`, []any{int64(before)},
			func(rows *sql.Rows, key *string) error { return rows.Scan(key) })
		n = len(gone)
		return err
	})
	return n, err
}
