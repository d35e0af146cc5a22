package tables

import (
	"context"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// QueuedTurns implements [earshot.Queue]. Each way to ask has its index, and is one
// statement: a turn that changes its state meanwhile would be missed by one
// statement for each state.
func (s *Store) QueuedTurns(ctx context.Context, q earshot.TurnQuery) ([]earshot.QueuedTurn, error) {
	q = rule.CheckTurnQuery(q)
	var p params
	end := func() (agent string) {
		if q.Agent != "" {
			agent = ` AND ` + s.sql.NoIndex + `agent = ` + p.add(string(q.Agent))
		}
		return agent + ` AND id < ` + p.add(int64(q.Before)) + rule.TurnOrder(q) + ` LIMIT ` + p.add(q.Limit) + ` + 0`
	}
	var where string
	switch {
	case q.Scope != nil && len(q.States) > 0:
		p = Args(*q.Scope, s.sql.List(Texts(q.States)))
		where = In + ` AND ` + s.sql.Any(s.sql.NoIndex+`state`, 4) + end()
	case q.Scope != nil:
		p = Args(*q.Scope)
		where = In + end()
	case len(q.States) == 0:
		where = ` WHERE true` + end()
	default:
		var first []string // of each state
		for _, state := range q.States {
			first = append(first, s.sql.Among(`id`, `SELECT id FROM queued_turn WHERE state = `+p.add(string(state))+end()))
		}
		where = ` WHERE ` + strings.Join(first, ` OR `)
	}
	found, err := List(ctx, s.engine, "list turns", `SELECT `+rule.QueuedColumns+` FROM queued_turn`+where, p, ScanTurn)
	return rule.FirstTurns(found, q), err
}
