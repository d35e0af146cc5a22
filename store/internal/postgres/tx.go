package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A tx is a transaction that sends its statements in batches. ask and write queue
// statements; send sends the queued ones and reads their answers. BEGIN goes with
// the first batch and COMMIT with the last.
type tx struct {
	store *Store
	conn  *pgx.Conn
	batch *pgx.Batch

	tally earshot.ErasureCounts // what deletions have removed
}

// apply runs f in a transaction and commits it, unless f returns an error. f may run
// more than once, so it must reset what it sets outside of itself.
func (s *Store) apply(ctx context.Context, what string, f func(context.Context, *tx) error) error {
	err := s.withConn(ctx, func(conn *pgx.Conn) error {
		t := &tx{store: s, conn: conn, batch: &pgx.Batch{}}
		if s.clock.due() {
			s.clock.ask(t.batch)
		}
		// Read committed: a statement that follows a lock sees what was committed
		// by the last holder of the lock.
		t.write(`BEGIN ISOLATION LEVEL READ COMMITTED`)
		err := f(ctx, t)
		if err == nil {
			t.write(`COMMIT`)
			err = t.send(ctx)
		}
		if err != nil {
			t.rollback(ctx)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// rollback ends the transaction. If that fails, the pool discards the connection.
func (t *tx) rollback(ctx context.Context) {
	if t.conn.IsClosed() || t.conn.PgConn().TxStatus() == 'I' {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_, _ = t.conn.Exec(ctx, `ROLLBACK`)
}

// write queues a statement.
func (t *tx) write(query string, args ...any) { t.batch.Queue(query, args...) }

// counted queues a statement. send adds to n how many rows it changed.
func (t *tx) counted(n *int, query string, args ...any) {
	t.batch.Queue(query, args...).Exec(func(done pgconn.CommandTag) error {
		*n += int(done.RowsAffected())
		return nil
	})
}

// ask queues a query. send calls each with every row of its answer.
func (t *tx) ask(query string, args []any, each func(pgx.Rows) error) {
	t.batch.Queue(query, args...).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			if err := each(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// send sends the queued statements and reads their answers.
func (t *tx) send(ctx context.Context) error {
	b := t.batch
	t.batch = &pgx.Batch{}
	if b.Len() == 0 {
		return nil
	}
	return t.conn.SendBatch(ctx, b).Close()
}

// one returns a function for ask that scans a single row into dest and sets found.
func one(found *bool, dest ...any) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		*found = true
		return rows.Scan(dest...)
	}
}

// read sends the queries that build queues, in one batch and without a transaction:
// each sees what was committed when it began. build may run more than once.
func (s *Store) read(ctx context.Context, build func(*tx)) error {
	return s.withConn(ctx, func(conn *pgx.Conn) error {
		t := &tx{store: s, conn: conn, batch: &pgx.Batch{}}
		build(t)
		return t.send(ctx)
	})
}

// list reads all rows of a query, each with scan.
func list[T any](ctx context.Context, s *Store, what, query string, args []any, scan func(pgx.Rows, *T) error) ([]T, error) {
	var out []T
	err := s.read(ctx, func(t *tx) {
		out = nil
		t.ask(query, args, gather(&out, scan))
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return out, nil
}

// gather returns a function for ask that scans every row and appends it to out.
func gather[T any](out *[]T, scan func(pgx.Rows, *T) error) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		var v T
		if err := scan(rows, &v); err != nil {
			return err
		}
		*out = append(*out, v)
		return nil
	}
}
