package postgres

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/jackc/pgx/v5"
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
	return s.apply(ctx, "add calls", func(_ context.Context, t *tx) error {
		for _, c := range counts {
			t.write(query, rule.CallValues(c)...)
		}
		t.write(`DELETE FROM call_count WHERE hour < $1`, int64(forget))
		return nil
	})
}

// Calls implements [earshot.Meter].
func (s *Store) Calls(ctx context.Context, since earshot.Time) ([]earshot.CallCount, error) {
	return list(ctx, s, "list calls", `SELECT `+rule.CallColumns+` FROM call_count
		WHERE hour >= $1 ORDER BY hour, platform, workspace, method`, []any{int64(since)},
		func(rows pgx.Rows, c *earshot.CallCount) error {
			return rows.Scan(rule.CallFields(c)...)
		})
}
