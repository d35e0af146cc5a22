package tables

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// AddCalls implements [earshot.Meter].
func (s *Store) AddCalls(ctx context.Context, counts ...earshot.CallCount) error {
	counts, forget, err := rule.CheckCalls(counts)
	if err != nil || len(counts) == 0 {
		return err
	}
	// They come in one order, so that two replicas wait for each other in it.
	const query = `INSERT INTO call_count AS was (` + rule.CallColumns + `) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (hour, platform, workspace, method) DO UPDATE SET calls = was.calls + excluded.calls, limited = was.limited + excluded.limited,
			failed = was.failed + excluded.failed, waits = was.waits + excluded.waits, waited = was.waited + excluded.waited`
	return s.engine.Apply(ctx, "add calls", func(_ context.Context, t *Tx) error {
		for _, c := range counts {
			t.Write(query, rule.CallValues(c)...)
		}
		t.Write(`DELETE FROM call_count WHERE hour < $1`, int64(forget))
		return nil
	})
}

// Calls implements [earshot.Meter].
func (s *Store) Calls(ctx context.Context, since earshot.Time) ([]earshot.CallCount, error) {
	return List(ctx, s.engine, "list calls", `SELECT `+rule.CallColumns+` FROM call_count
		WHERE hour >= $1 ORDER BY hour, platform, workspace, method`, []any{int64(since)},
		func(row Row, c *earshot.CallCount) error { return row.Scan(rule.CallFields(c)...) })
}

// BookCalls implements [earshot.Rates]. It does not wait for the disk: after a power
// cut no replica is left that would exceed the rate, or only the bookings of the last
// moments are lost.
func (s *Store) BookCalls(ctx context.Context, key string, r earshot.Rate, calls int, now earshot.Time) (out earshot.Booking, err error) {
	if key, err = rule.CheckRate(key, r, calls); err != nil {
		return out, err
	}
	err = s.engine.Volatile(ctx, "book calls", func(ctx context.Context, t *Tx) error {
		var next earshot.Time
		t.Lax()
		t.Ask(`INSERT INTO rate AS was (key, next) VALUES ($1, CAST($2 AS bigint) + CAST($3 AS bigint))
			ON CONFLICT (key) DO UPDATE SET next = `+t.SQL.Greatest+`(was.next, $2) + $3 RETURNING next`, []any{key, int64(now), rule.Span(r, calls)}, ScanOne(new(bool), &next))
		err := t.Send(ctx)
		out = rule.NewBooking(r, calls, next)
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
	return s.engine.Volatile(ctx, "block calls", func(_ context.Context, t *Tx) error {
		t.Lax()
		t.Write(`INSERT INTO rate AS was (key, next) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET next = `+t.SQL.Greatest+`(was.next, excluded.next)`,
			key, int64(rule.BlockedUntil(r, until)))
		return nil
	})
}
