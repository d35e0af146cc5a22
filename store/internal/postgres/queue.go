package postgres

import (
	"context"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// QueuedTurns implements [earshot.Queue]. Each way to ask has its index, and is one
// statement: a turn that changes its state meanwhile would be missed by one
// statement for each state.
func (s *Store) QueuedTurns(ctx context.Context, q earshot.TurnQuery) ([]earshot.QueuedTurn, error) {
	q = rule.CheckTurnQuery(q)
	var a []any
	param := func(v any) string {
		a = append(a, v)
		return fmt.Sprintf("$%d", len(a))
	}
	first := func(where string) string {
		if q.Agent != "" {
			where += ` AND agent = ` + param(string(q.Agent))
		}
		return `SELECT ` + rule.QueuedColumns + ` FROM queued_turn WHERE ` + where + ` AND id < ` + param(int64(q.Before)) + rule.TurnOrder(q) + ` LIMIT ` + param(q.Limit)
	}
	var query string
	switch {
	case q.Scope != nil:
		a = tables.Args(*q.Scope)
		where := `platform = $1 AND workspace = $2 AND channel = $3`
		if len(q.States) > 0 {
			where += ` AND state = ANY(` + param(tables.Texts(q.States)) + `)`
		}
		query = first(where)
	case len(q.States) == 0:
		query = first(`true`)
	default:
		query = `SELECT ` + rule.QueuedColumns + ` FROM unnest(` + param(tables.Texts(q.States)) + `::text[]) AS wanted, LATERAL (` + first(`state = wanted`) + `) AS found`
	}
	found, err := tables.List(ctx, s, "list turns", query, a, tables.ScanTurn)
	return rule.FirstTurns(found, q), err
}
