package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// dialect is how SQLite writes what package tables leaves open. The writer is alone, so
// nothing is locked. A column after a plus is not looked up by its index.
var dialect = tables.SQL{
	Greatest: "max", NoIndex: `+`,
	NextTurn:      `SELECT ` + nextTurn,
	ByIndex:       ` INDEXED BY `, // without statistics SQLite may prefer one that begins with the platform
	Channel:       `place`,
	ChannelValues: numberedPlace,
	MessagesIn:    ` WHERE place = ` + numberedPlace,
	MessagesIn4:   ` WHERE place = ` + otherPlace,
	ToChannel:     `place = ` + otherPlace,
	ToSeq:         `seq = seq + $5, no = (` + otherPlace + ` << 40) + seq + $5`,
	OfChannelC:    `place = c.place`,
	OtherChannels: `place IN (SELECT place FROM channel WHERE platform = $1 AND workspace = $2 AND id <> $3)`,
	BySeq:         bySeq,
	InSeq:         `no`,
	AllEarly:      ` AND place >= 0`,
	NoBytes:       `x''`,
	Find:          "instr",
	JoinMessage:   true, // the driver takes several locks for each column
	PruneRows:     500,
	Among:         func(column, query string) string { return column + ` IN (` + query + `)` },
	Any: func(column string, n int) string {
		return fmt.Sprintf(`%s IN (SELECT value FROM json_each($%d))`, column, n)
	},
	List: asJSON,
}

// nextTurn is the id of the next turn or draft.
const nextTurn = `1 + max((SELECT coalesce(max(id), 0) FROM queued_turn), (SELECT coalesce(max(id), 0) FROM draft), (SELECT turn FROM erased WHERE one = 1))`

// asJSON writes a list of texts or numbers, which never fails.
func asJSON(list any) any {
	b, _ := json.Marshal(list)
	return string(b)
}

// Apply implements [tables.Engine]. The writer runs f, and ctx cannot end it any more.
func (s *Store) Apply(ctx context.Context, what string, f func(context.Context, *tables.Tx) error) error {
	return s.inTx(ctx, what, s.queueing(ctx, f))
}

// inTx runs f in a transaction of the writer's.
func (s *Store) inTx(ctx context.Context, what string, f func(*tx) error) error {
	return s.runJob(ctx, what, &job{apply: f})
}

func (s *Store) runJob(ctx context.Context, what string, j *job) error {
	if err := s.writer.do(ctx, j); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// Volatile implements [tables.Engine].
func (s *Store) Volatile(ctx context.Context, what string, f func(context.Context, *tables.Tx) error) error {
	return s.runJob(ctx, what, &job{apply: s.queueing(ctx, f), volatile: true})
}

func (s *Store) queueing(ctx context.Context, f func(context.Context, *tables.Tx) error) func(*tx) error {
	ctx = context.WithoutCancel(ctx)
	return func(t *tx) error { return t.did(f(ctx, &t.Tx)) }
}

// did returns err, or else the first error of what was queued since Send.
func (t *tx) did(err error) error {
	failed := t.Send(context.Background())
	if err != nil {
		return err
	}
	return failed
}

// txAsker is an Asker.
type txAsker func(query string, args []any, each func(tables.Row) error)

func (a txAsker) Ask(query string, args []any, each func(tables.Row) error) { a(query, args, each) }

// Read implements [tables.Engine].
func (s *Store) Read(ctx context.Context, what string, build func(tables.Asker)) error {
	var err error
	build(txAsker(func(query string, args []any, each func(tables.Row) error) {
		if err == nil {
			var rows *sql.Rows
			rows, err = s.query(ctx, query, args...)
			err = eachRow(rows, err, each)
		}
	}))
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// eachRow passes all rows to each and closes them; err is the error of the query.
func eachRow(rows *sql.Rows, err error, each func(tables.Row) error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

// Idle implements [tables.Engine]: a read does not occupy the writer.
func (s *Store) Idle(ctx context.Context, query string, args []any) (bool, error) {
	found := false
	err := s.Read(ctx, "look", func(a tables.Asker) {
		a.Ask(query, args, func(tables.Row) error { found = true; return nil })
	})
	return !found, err
}

// Ask implements [tables.Conn], as the methods below do: each runs its statement at
// once, unless one before it has failed.
func (t *tx) Ask(query string, args []any, each func(tables.Row) error) {
	t.try(func() error {
		rows, err := t.query(query, args...)
		return eachRow(rows, err, each)
	})
}

func (t *tx) try(f func() error) {
	if t.failed == nil {
		t.failed = f()
	}
}

// Write implements [tables.Conn].
func (t *tx) Write(query string, args ...any) {
	t.try(func() error { return t.exec(query, args...) })
}

// Count implements [tables.Conn].
func (t *tx) Count(n *int, query string, args ...any) {
	t.try(func() error {
		changed, err := t.affected(query, args...)
		*n += changed
		return err
	})
}

// Rows implements [tables.Conn].
func (t *tx) Rows(into string, fixed []any, rows [][]any) {
	for len(rows) > 0 {
		n := largestChunk(len(rows))
		var a []any
		for _, row := range rows[:n] {
			a = append(append(a, fixed...), row...)
		}
		t.Write(`INSERT INTO `+into+` VALUES `+placeholders(len(a)/n, n)+` ON CONFLICT DO NOTHING`, a...)
		rows = rows[n:]
	}
}

// Send implements [tables.Conn].
func (t *tx) Send(context.Context) error {
	err := t.failed
	t.failed = nil
	return err
}

// Lock implements [tables.Conn], as the next ones do: the writer is alone.
func (t *tx) Lock(string, ...any) {}

// Shared implements [tables.Conn].
func (t *tx) Shared(earshot.Scope) {}

// Exclusive implements [tables.Conn].
func (t *tx) Exclusive(earshot.Scope) {}

// Naming implements [tables.Conn].
func (t *tx) Naming(earshot.ConversationID) {}

// Beginning implements [tables.Conn].
func (t *tx) Beginning() {}

// Lax implements [tables.Conn]: see Volatile.
func (t *tx) Lax() {}

// RaiseErased implements [tables.Conn].
func (t *tx) RaiseErased(which string, args ...any) {
	t.Write(`UPDATE erased SET turn = max(turn, coalesce((SELECT max(id) FROM queued_turn`+which+`), 0), coalesce((SELECT max(id) FROM draft`+which+`), 0)) WHERE one = 1`, args...)
}

// RaiseDrafts implements [tables.Conn].
func (t *tx) RaiseDrafts(ids any) {
	t.Write(`UPDATE erased SET turn = max(turn, (SELECT max(value) FROM json_each($1))) WHERE one = 1`, ids)
}

// Erased implements [tables.Conn].
func (t *tx) Erased() { t.try(t.needScrub) }
