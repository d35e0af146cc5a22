package sqlite

import (
	"context"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// QueuedTurns implements [earshot.Queue]. Each way to ask has its index, and is one
// statement: a turn that changes its state meanwhile would be missed by one
// statement for each state.
func (s *Store) QueuedTurns(ctx context.Context, q earshot.TurnQuery) ([]earshot.QueuedTurn, error) {
	q = rule.CheckTurnQuery(q)
	end := ` AND id < ?` + rule.TurnOrder(q) + ` LIMIT ? + 0`
	bound := []any{int64(q.Before), q.Limit}
	agent, of := "", []any(nil)
	if q.Agent != "" {
		agent, of = ` AND +agent = ?`, []any{string(q.Agent)}
	}
	switch {
	case q.Scope != nil && len(q.States) > 0:
		states := make([]any, len(q.States))
		for i, state := range q.States {
			states[i] = string(state)
		}
		return s.queuedTurns(ctx, in+agent+` AND +state IN `+marks(len(states), 1)+end, slices.Concat(tables.Args(*q.Scope), of, states, bound)...)
	case q.Scope != nil:
		return s.queuedTurns(ctx, in+agent+end, slices.Concat(tables.Args(*q.Scope), of, bound)...)
	case len(q.States) == 0:
		return s.queuedTurns(ctx, ` WHERE true`+agent+end, slices.Concat(of, bound)...)
	}
	var first []string // of each state
	var a []any
	for _, state := range q.States {
		first = append(first, `id IN (SELECT id FROM queued_turn WHERE state = ?`+agent+end+`)`)
		a = slices.Concat(a, []any{string(state)}, of, bound)
	}
	found, err := s.queuedTurns(ctx, ` WHERE `+strings.Join(first, ` OR `), a...)
	return rule.FirstTurns(found, q), err
}

func (s *Store) queuedTurns(ctx context.Context, where string, a ...any) ([]earshot.QueuedTurn, error) {
	return tables.List(ctx, s, "list turns", `SELECT `+rule.QueuedColumns+` FROM queued_turn`+where, a, tables.ScanTurn)
}
