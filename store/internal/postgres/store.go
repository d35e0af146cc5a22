// Package postgres is an [earshot.Store] in PostgreSQL, for any number of
// replicas over one database.
//
// A transaction that changes a channel first takes the channel's lock (lock.go), so
// that sequences have no gaps and no duplicates. It sends all its reads in one
// batch, and all its writes with the commit in another: two round trips (tx.go).
// Recordings of one channel that arrive while another is being written share the
// next transaction (record_queues.go).
//
// A write is durable when the call returns, if the server's fsync is on.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/earshot-ai/earshot/store/internal/tables"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Store is an [earshot.Store] in PostgreSQL.
type Store struct {
	tables.Store
	now          func() time.Time
	clock        clock
	log          *slog.Logger
	pool         *pgxpool.Pool
	schema       string // in which the tables are
	recordQueues recordQueues
	stats        stats

	closed  atomic.Bool
	closing sync.Once
}

// Open connects to the database that spec names, a URL as libpq has them
// (postgres://user@host/database), and brings the schema in it up to date.
// The database must exist; the tables are made in the first schema of its
// search_path. now nil is the database's clock.
func Open(ctx context.Context, spec string, now func() time.Time, log *slog.Logger) (*Store, error) {
	c, err := parse(spec)
	if err != nil {
		return nil, err
	}
	s, err := openConfig(ctx, c, now, log)
	if err != nil {
		return nil, c.clean(err)
	}
	return s, nil
}

func openConfig(ctx context.Context, c *config, now func() time.Time, log *slog.Logger) (*Store, error) {
	if _, _, err := c.migrate(ctx); err != nil {
		return nil, err
	}
	c.pool.AfterConnect = syncCommits
	pool, err := pgxpool.NewWithConfig(ctx, c.pool)
	if err != nil {
		return nil, err
	}
	s := &Store{now: now, clock: clock{began: time.Now()}, log: log, pool: pool}
	if now == nil {
		s.now = s.clock.Now
	}
	s.Store = tables.New(s, &dialect, s.now)
	s.recordQueues.store, s.stats.store = s, s
	if err := s.inspect(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	return s, nil
}

// syncCommits makes a connection's commits wait for the disk, whatever the defaults
// of the server and the role are.
func syncCommits(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`)
	return err
}

// inspect reads the schema's name and the time, and warns of a server that may lose
// what it acknowledged.
func (s *Store) inspect(ctx context.Context) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	var fsync string
	if err := conn.QueryRow(ctx, `SELECT current_setting('fsync'), current_schema()`).Scan(&fsync, &s.schema); err != nil {
		return err
	}
	if err := s.clock.set(ctx, conn.Conn()); err != nil {
		return err
	}
	if fsync != "on" {
		s.log.Warn("the PostgreSQL server does not wait for its disk: after a power loss acknowledged events may be gone", "fsync", fsync)
	}
	return nil
}

// Close waits for the writes under way and closes the connections. Later calls of
// other methods return [os.ErrClosed].
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.recordQueues.close()
		s.stats.close()
		s.closed.Store(true)
		s.pool.Close()
	})
	return nil
}

var errClosed = fmt.Errorf("postgres store: %w", os.ErrClosed)

// attempts is how often an operation is tried in all, where trying again is safe.
const attempts = 4

// withConn runs f on a connection. It runs f again after an error that is retryable.
func (s *Store) withConn(ctx context.Context, f func(*pgx.Conn) error) error {
	for try := 1; ; try++ {
		err := s.tryOnce(ctx, f)
		if err == nil || try == attempts || !isRetryable(err) || ctx.Err() != nil {
			return err
		}
	}
}

func (s *Store) tryOnce(ctx context.Context, f func(*pgx.Conn) error) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		if s.closed.Load() {
			return errClosed
		}
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Release()
	return f(conn.Conn())
}

// isRetryable reports whether nothing was written and another try may succeed: the
// connection was dead before anything was sent or ended before COMMIT was, or the
// server ended a deadlock with a program that takes locks in another order.
func isRetryable(err error) bool {
	if pgconn.SafeToRetry(err) {
		return true
	}
	if _, ok := errors.AsType[*beforeCommitError](err); ok {
		return true
	}
	switch sqlState(err) {
	case "40001", "40P01": // serialization_failure, deadlock_detected
		return true
	}
	return false
}

// sqlState returns the SQLSTATE of err, "" when it is not the server's.
func sqlState(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
