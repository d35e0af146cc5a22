package sqlite

import (
	"context"
	"database/sql"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// AddCalls implements [earshot.Meter].
func (s *Store) AddCalls(ctx context.Context, counts ...earshot.CallCount) error {
	counts, forget, err := rule.CheckCalls(counts)
	if err != nil || len(counts) == 0 {
		return err
	}
	const query = `INSERT INTO call_count (` + rule.CallColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (hour, platform, workspace, method) DO UPDATE SET calls = calls + excluded.calls, limited = limited + excluded.limited,
			failed = failed + excluded.failed, waits = waits + excluded.waits, waited = waited + excluded.waited`
	return s.apply(ctx, "add calls", func(t *tx) error {
		for _, c := range counts {
			err := t.exec(query, rule.CallValues(c)...)
			if err != nil {
				return err
			}
		}
		return t.exec(`DELETE FROM call_count WHERE hour < ?`, int64(forget))
	})
}

// Calls implements [earshot.Meter].
func (s *Store) Calls(ctx context.Context, since earshot.Time) ([]earshot.CallCount, error) {
	return list(ctx, s, "list calls", `SELECT `+rule.CallColumns+` FROM call_count
		WHERE hour >= ? ORDER BY hour, platform, workspace, method`, []any{int64(since)},
		func(rows *sql.Rows, c *earshot.CallCount) error {
			return rows.Scan(rule.CallFields(c)...)
		})
}
