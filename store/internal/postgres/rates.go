package postgres

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/jackc/pgx/v5"
)

// BookCalls implements [earshot.Rates].
func (s *Store) BookCalls(ctx context.Context, key string, r earshot.Rate, calls int, now earshot.Time) (out earshot.Booking, err error) {
	if key, err = rule.CheckRate(key, r, calls); err != nil {
		return out, err
	}
	err = s.apply(ctx, "book calls", func(ctx context.Context, t *tx) error {
		var next earshot.Time
		t.write(volatile)
		t.ask(`INSERT INTO rate AS was (key, next) VALUES ($1, $2::bigint + $3::bigint)
			ON CONFLICT (key) DO UPDATE SET next = greatest(was.next, $2) + $3 RETURNING next`, []any{key, int64(now), rule.Span(r, calls)},
			func(rows pgx.Rows) error { return rows.Scan(&next) })
		err := t.send(ctx)
		out = rule.Booked(r, calls, next)
		return err
	})
	return out, err
}

// volatile makes the commit not wait for the disk. A crash of the server loses at
// most the bookings of its last moments.
const volatile = `SET LOCAL synchronous_commit = off`

// BlockCalls implements [earshot.Rates].
func (s *Store) BlockCalls(ctx context.Context, key string, r earshot.Rate, until earshot.Time) error {
	key, err := rule.CheckRate(key, r, 1)
	if err != nil {
		return err
	}
	return s.apply(ctx, "block calls", func(_ context.Context, t *tx) error {
		t.write(volatile)
		t.write(`INSERT INTO rate AS was (key, next) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET next = greatest(was.next, excluded.next)`,
			key, int64(rule.Blocked(r, until)))
		return nil
	})
}

// PruneRates implements [earshot.Rates].
func (s *Store) PruneRates(ctx context.Context, before earshot.Time) (int, error) {
	return s.prune(ctx, "prune rates", func(ctx context.Context, t *tx) (n int, err error) {
		t.ask(`DELETE FROM rate WHERE key = ANY(ARRAY(SELECT key FROM rate WHERE next < $1 ORDER BY next LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING key`,
			[]any{int64(before), pruneRows}, func(pgx.Rows) error { n++; return nil })
		err = t.send(ctx)
		return n, err
	})
}
