package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/earshot-ai/earshot/store/internal/tables"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A tx is a transaction that sends its statements in batches. Ask and Write queue
// statements; Send sends the queued ones and reads their answers. BEGIN goes with
// the first batch and COMMIT with the last.
type tx struct {
	tables.Tx
	store *Store
	conn  *pgx.Conn
	batch *pgx.Batch
	added int // how many messages are new
}

func (s *Store) newTx(conn *pgx.Conn) *tx {
	t := &tx{store: s, conn: conn, batch: &pgx.Batch{}}
	t.Tx = tables.Tx{Conn: t, SQL: &dialect, Now: s.now}
	return t
}

// inTx runs f in a transaction and commits it, unless f returns an error. f may run
// more than once, so it must reset what it sets outside of itself.
func (s *Store) inTx(ctx context.Context, what string, f func(context.Context, *tx) error) error {
	err := s.withConn(ctx, func(conn *pgx.Conn) error {
		t := s.newTx(conn)
		if s.clock.due() {
			s.clock.ask(t.batch)
		}
		// Read committed: a statement that follows a lock sees what was committed
		// by the last holder of the lock.
		t.Write(`BEGIN ISOLATION LEVEL READ COMMITTED`)
		err := f(ctx, t)
		switch {
		case err == nil:
			t.Write(`COMMIT`)
			err = t.Send(ctx)
		case conn.IsClosed():
			err = &beforeCommitError{err}
		}
		if err != nil {
			t.rollback(ctx)
			return mapAnsweredError(err, t.Answers)
		}
		s.stats.grown(t.added)
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// A beforeCommitError is what ended a connection before COMMIT was sent, so that nothing
// was written: the server ends one that is idle in its transaction for too long.
type beforeCommitError struct{ error }

func (e *beforeCommitError) Unwrap() error { return e.error }

// rollback ends the transaction. If that fails, the pool discards the connection.
func (t *tx) rollback(ctx context.Context) {
	if t.conn.IsClosed() || t.conn.PgConn().TxStatus() == 'I' {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_, _ = t.conn.Exec(ctx, `ROLLBACK`)
}

// Write implements [tables.Conn].
func (t *tx) Write(query string, args ...any) { t.batch.Queue(query, args...) }

// Count implements [tables.Conn].
func (t *tx) Count(n *int, query string, args ...any) {
	t.batch.Queue(query, args...).Exec(func(done pgconn.CommandTag) error {
		*n += int(done.RowsAffected())
		return nil
	})
}

// Ask implements [tables.Conn].
func (t *tx) Ask(query string, args []any, each func(tables.Row) error) {
	t.batch.Queue(query, args...).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			if err := each(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// Send implements [tables.Conn].
func (t *tx) Send(ctx context.Context) error {
	b := t.batch
	t.batch = &pgx.Batch{}
	if b.Len() == 0 {
		return nil
	}
	return t.conn.SendBatch(ctx, b).Close()
}

// read sends the queries that build queues, in one batch and without a transaction:
// each sees what was committed when it began. build may run more than once.
func (s *Store) read(ctx context.Context, build func(*tx)) error {
	return s.withConn(ctx, func(conn *pgx.Conn) error {
		t := s.newTx(conn)
		build(t)
		return t.Send(ctx)
	})
}
