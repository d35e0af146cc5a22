package tables

import (
	"context"
	"fmt"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// queuedFor selects an agent's turn for an anchor.
const queuedFor = In + ` AND anchor = $4 AND agent = $5`

// scanQueued reads a row of rule.QueuedColumns.
func scanQueued(row Row, q *rule.StoredTurn) error { return row.Scan(rule.QueuedFields(q)...) }

// ScanTurn reads a row of rule.QueuedColumns, as callers see it.
func ScanTurn(row Row, out *earshot.QueuedTurn) error {
	var q rule.StoredTurn
	err := scanQueued(row, &q)
	*out = q.Export()
	return err
}

// scanWhole reads a row of rule.QueuedColumns with the input.
func scanWhole(row Row, out *earshot.QueuedTurn) error {
	var q rule.StoredTurn
	err := row.Scan(append(rule.QueuedFields(&q), &q.Input)...)
	*out = q.Export()
	return err
}

// putResume stores a resume state.
func (t *Tx) putResume(p earshot.Platform, r *earshot.Resume) {
	t.Write(`INSERT INTO resume (platform, key, state) VALUES ($1, $2, $3) ON CONFLICT (platform, key) DO UPDATE SET state = excluded.state`,
		string(p), r.Key, Blob(r.State))
}

// Resume implements [earshot.Queue].
func (s *Store) Resume(ctx context.Context, p earshot.Platform, key string) ([]byte, error) {
	key = rule.Text(key)
	return readFirst(ctx, s.engine, "read a resume state", `SELECT state FROM resume WHERE platform = $1 AND key = $2`, []any{string(rule.ID(p)), key},
		rule.NoResume(key), Scan[[]byte])
}

// Events implements [earshot.Queue].
func (s *Store) Events(ctx context.Context, scope earshot.Scope, id earshot.MessageID) ([]earshot.Event, error) {
	return List(ctx, s.engine, "list events", `SELECT delivery, message, client, received, raw FROM event`+s.sql.MessagesIn+` AND message = $4 ORDER BY id`,
		Args(rule.Scope(scope), string(rule.ID(id))),
		func(row Row, e *earshot.Event) error {
			err := row.Scan(&e.Delivery, &e.Message.ID, &e.Client, &e.Received, &e.Raw)
			e.Raw = orNil(e.Raw)
			return err
		})
}

// QueuedTurn implements [earshot.Queue].
func (s *Store) QueuedTurn(ctx context.Context, id earshot.TurnID) (earshot.QueuedTurn, error) {
	return readFirst(ctx, s.engine, "read a turn", `SELECT `+rule.QueuedColumns+`, input FROM queued_turn WHERE id = $1`, []any{int64(id)}, rule.NoTurn(id), scanWhole)
}

// Depth implements [earshot.Queue].
func (s *Store) Depth(ctx context.Context, states ...earshot.TurnState) (map[earshot.TurnState]int, error) {
	if len(states) == 0 {
		states = earshot.TurnStates()
	}
	marks, args := make([]string, len(states)), make([]any, len(states))
	for i, state := range states {
		marks[i], args[i] = fmt.Sprintf("$%d", i+1), string(state)
	}
	out := map[earshot.TurnState]int{}
	err := s.engine.Read(ctx, "count turns", func(a Asker) {
		clear(out)
		a.Ask(`SELECT state, count(*) FROM queued_turn WHERE state IN (`+strings.Join(marks, ", ")+`) GROUP BY state`, args, func(row Row) error {
			var state earshot.TurnState
			var n int
			err := row.Scan(&state, &n)
			out[state] = n
			return err
		})
	})
	return out, err
}
