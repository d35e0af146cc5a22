package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
	"github.com/jackc/pgx/v5/pgconn"
)

// dialect is how PostgreSQL writes what package tables leaves open. An array is looked
// up by the index, whatever the planner thinks of the number of its values.
var dialect = tables.SQL{
	Lock: ` FOR UPDATE`, Skip: ` FOR UPDATE SKIP LOCKED`, Greatest: "greatest",
	NextTurn:      `SELECT nextval(pg_get_serial_sequence('queued_turn', 'id'))`,
	OwnID:         ` OVERRIDING SYSTEM VALUE`,
	Channel:       `platform, workspace, channel`,
	ChannelValues: `$1, $2, $3`,
	MessagesIn:    in,
	MessagesIn4:   ` WHERE platform = $1 AND workspace = $2 AND channel = $4`,
	ToChannel:     `channel = $4`,
	ToSeq:         `seq = seq + $5`,
	OfChannelC:    `platform = c.platform AND workspace = c.workspace AND channel = c.id`,
	OtherChannels: `platform = $1 AND workspace = $2 AND channel <> $3`,
	BySeq:         in + ` AND seq > 0 AND seq > $4 AND seq <= $5`,
	InSeq:         `seq`,
	NoBytes:       `''`,
	Find:          "strpos",
	PruneRows:     100,
	Among:         func(column, query string) string { return column + ` = ANY(ARRAY(` + query + `))` },
	Any:           func(column string, n int) string { return fmt.Sprintf(`%s = ANY($%d)`, column, n) },
	List:          func(list any) any { return list },
}

// Apply implements [tables.Engine].
func (s *Store) Apply(ctx context.Context, what string, f func(context.Context, *tables.Tx) error) error {
	return s.inTx(ctx, what, func(ctx context.Context, t *tx) error { return f(ctx, &t.Tx) })
}

// Volatile implements [tables.Engine]. Leases and prompts wait for the disk: other
// replicas go on when the server's machine ends.
func (s *Store) Volatile(ctx context.Context, what string, f func(context.Context, *tables.Tx) error) error {
	return s.Apply(ctx, what, f)
}

// Read implements [tables.Engine].
func (s *Store) Read(ctx context.Context, what string, build func(tables.Asker)) error {
	if err := s.read(ctx, func(t *tx) { build(t) }); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// Idle implements [tables.Engine]: a transaction is as many round trips as a read.
func (s *Store) Idle(context.Context, string, []any) (bool, error) { return false, nil }

// mapAnsweredError tells a second answer to an anchor, which another conversation of
// the agent's gave at the same moment, from other trouble.
func mapAnsweredError(err error, anchor earshot.MessageID) error {
	var e *pgconn.PgError
	if errors.As(err, &e) && e.Code == "23505" && e.ConstraintName == "turn_by_anchor" {
		return rule.AnsweredAlready(anchor)
	}
	return err
}

// Rows implements [tables.Conn]: one statement, whose values are arrays.
func (t *tx) Rows(into string, fixed []any, rows [][]any) {
	if len(rows) == 0 {
		return
	}
	var first, arrays []string
	a := append([]any{}, fixed...)
	for i, v := range fixed {
		first = append(first, fmt.Sprintf("$%d::%s", i+1, typeOf(v)))
	}
	for i, v := range rows[0] {
		kind := typeOf(v)
		arrays = append(arrays, fmt.Sprintf("$%d::%s[]", len(fixed)+i+1, kind))
		if kind == "text" {
			a = append(a, transposeColumn[string](rows, i))
		} else {
			a = append(a, transposeColumn[int64](rows, i))
		}
	}
	t.Write(`INSERT INTO `+into+` SELECT `+strings.Join(first, ", ")+`, v.* FROM unnest(`+strings.Join(arrays, ", ")+`) AS v ON CONFLICT DO NOTHING`, a...)
}

// typeOf returns the type of a column with a value.
func typeOf(v any) string {
	if _, ok := v.(string); ok {
		return "text"
	}
	return "bigint"
}

// transposeColumn returns the column i of rows.
func transposeColumn[T any](rows [][]any, i int) []T {
	out := make([]T, len(rows))
	for n, row := range rows {
		switch v := row[i].(type) {
		case T:
			out[n] = v
		case int:
			out[n] = any(int64(v)).(T)
		}
	}
	return out
}

// Lock implements [tables.Conn].
func (t *tx) Lock(query string, args ...any) { t.Write(query+` FOR UPDATE`, args...) }

// Lax implements [tables.Conn]. A crash of the server loses at most the last moments.
func (t *tx) Lax() { t.Write(`SET LOCAL synchronous_commit = off`) }

// Beginning implements [tables.Conn].
func (t *tx) Beginning() { t.Write(`SELECT pg_advisory_xact_lock($1)`, t.key("erasures")) }

// Erased implements [tables.Conn]: the server removes what is deleted by itself.
func (t *tx) Erased() {}

// RaiseErased implements [tables.Conn]: a sequence does not go back.
func (t *tx) RaiseErased(string, ...any) {}

// RaiseDrafts implements [tables.Conn]: a sequence does not go back.
func (t *tx) RaiseDrafts(any) {}
