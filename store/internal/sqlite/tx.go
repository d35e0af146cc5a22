package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/earshot-ai/earshot/store/internal/tables"
)

// A tx is the writer's connection with a transaction open on it. Only the
// writer's goroutine uses it.
type tx struct {
	tables.Tx
	conn     *sql.Conn
	stmts    map[string]*preparedStmt
	erased   bool  // something was deleted that may still be in the files
	unsynced bool  // commits do not wait for the disk
	waited   bool  // another process held the lock
	failed   error // the first error of a statement that package tables has queued, until Send
}

func newTx(conn *sql.Conn, now func() time.Time) *tx {
	t := &tx{conn: conn, stmts: map[string]*preparedStmt{}}
	t.Tx = tables.Tx{Conn: t, SQL: &dialect, Now: now}
	return t
}

// sync sets whether the following commits wait for the disk. A commit that does
// makes all commits before it durable too.
func (t *tx) sync(wait bool) error {
	if t.unsynced == !wait {
		return nil
	}
	level := "FULL"
	if !wait {
		level = "NORMAL"
	}
	if err := t.pragma("synchronous = " + level); err != nil {
		return fmt.Errorf("set how a commit is written: %w", err)
	}
	t.unsynced = !wait
	return nil
}

func (t *tx) stmt(query string) (*preparedStmt, error) {
	if st := t.stmts[query]; st != nil {
		return st, nil
	}
	st, err := prepare(context.Background(), t.conn, query)
	if err != nil {
		return nil, err
	}
	t.stmts[query] = st
	return st, nil
}

func (t *tx) exec(query string, args ...any) error {
	st, err := t.stmt(query)
	if err != nil {
		return err
	}
	_, err = st.ExecContext(context.Background(), st.args(args)...)
	return err
}

// affected is exec, and returns how many rows it changed.
func (t *tx) affected(query string, args ...any) (int, error) {
	st, err := t.stmt(query)
	if err != nil {
		return 0, err
	}
	done, err := st.ExecContext(context.Background(), st.args(args)...)
	if err != nil {
		return 0, err
	}
	n, err := done.RowsAffected()
	return int(n), err
}

func (t *tx) query(query string, args ...any) (*sql.Rows, error) {
	st, err := t.stmt(query)
	if err != nil {
		return nil, err
	}
	return st.QueryContext(context.Background(), st.args(args)...)
}

// one reads a single row into dest. It reports whether there was one.
func (t *tx) one(query string, args, dest []any) (bool, error) {
	rows, err := t.query(query, args...)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	if !rows.Next() {
		return false, rows.Err()
	}
	if err := rows.Scan(dest...); err != nil {
		return false, err
	}
	return true, rows.Close()
}

// How long begin waits for the lock while another process writes, and how often it
// tries. SQLite's own busy handler backs off to ten tries a second and so hardly
// ever hits the pause between two transactions of another process's import.
const (
	lockWait = 10 * time.Second
	lockPoll = 500 * time.Microsecond
)

// begin opens a transaction that writes. It sets t.waited if another process held
// the lock.
func (t *tx) begin() error {
	const query = "BEGIN IMMEDIATE"
	err := t.exec(query)
	if !isBusy(err) {
		return err
	}
	t.waited = true
	for deadline := time.Now().Add(lockWait); isBusy(err) && time.Now().Before(deadline); err = t.exec(query) {
		time.Sleep(lockPoll)
	}
	return err
}

// within runs f in a transaction of its own.
func (t *tx) within(f func() error) (err error) {
	if err := t.begin(); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	erasedBefore := t.erased
	defer func() {
		if err != nil {
			t.erased = erasedBefore
			t.rollback()
		}
	}()
	if err := f(); err != nil {
		return err
	}
	if err := t.exec("COMMIT"); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// rollback ends a transaction that failed. The error is ignored: after some errors
// SQLite has rolled back already.
func (t *tx) rollback() {
	_, _ = t.conn.ExecContext(context.Background(), "ROLLBACK")
}

func (t *tx) close() error {
	var err error
	for _, st := range t.stmts {
		err = errors.Join(err, st.Close())
	}
	return errors.Join(err, t.conn.Close())
}

// placeholders returns n parameters in parentheses, rows times.
func placeholders(n, rows int) string {
	one := "(" + strings.TrimSuffix(strings.Repeat("?,", n), ",") + ")"
	return strings.TrimSuffix(strings.Repeat(one+",", rows), ",")
}
