// Package sqlite is an [earshot.Store] in one SQLite file, for one machine.
//
// One goroutine writes, over one connection. All writes that arrive while it
// waits for the disk share the next transaction (see writer). Reads use other
// connections and never wait for the writer: the file is in WAL mode.
//
// A write is durable when the call returns (synchronous=FULL). Two writes are not,
// since a power cut makes them meaningless: the claim or release of a lease,
// whose holder dies with the machine, and the prompt of a turn, which is then
// made again.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/earshot-ai/earshot/store/internal/tables"
)

// readers is the number of connections for reads.
const readers = 8

// Store is an [earshot.Store] in a SQLite file.
type Store struct {
	tables.Store
	now         func() time.Time
	log         *slog.Logger
	reader      *sql.DB
	writer      *writer
	checkpoints *checkpointer // nil where the file is only read

	mu    sync.Mutex // guards stmts
	stmts map[string]*preparedStmt

	closing  sync.Once
	closeErr error
}

// The settings of connections. secure_delete overwrites deleted rows. With a large
// WAL a page that changes with every message is rarely written back;
// journal_size_limit truncates the WAL afterwards.
var (
	commonPragmas = []string{"busy_timeout(10000)", "journal_mode(WAL)", "temp_store(MEMORY)"}
	writerPragmas = append(commonPragmas[:len(commonPragmas):len(commonPragmas)],
		"synchronous(FULL)", "secure_delete(1)", "cache_size(-32768)", "wal_autocheckpoint(8000)", "journal_size_limit(33554432)")
	checkpointPragmas = []string{"synchronous(FULL)"}
	readerPragmas     = append(commonPragmas[:len(commonPragmas):len(commonPragmas)],
		"query_only(1)", "cache_size(-8192)", "mmap_size(1073741824)")
)

// Open opens the database at path, creates it and its folders if need be, and
// brings its schema up to date. A database that cannot be written to is opened
// for reading if its schema is the newest; then every change is an error.
func Open(ctx context.Context, path string, now func() time.Time, log *slog.Logger) (*Store, error) {
	found, err := inspectFile(ctx, path)
	if err != nil {
		return nil, err
	}
	w, err := connect(path, found, 1, writerPragmas)
	if err != nil {
		return nil, err
	}
	if _, _, err := migrateAll(ctx, w); err != nil {
		return nil, errors.Join(withRemedy(err), w.Close())
	}
	r, err := connect(path, found, readers, readerPragmas)
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	s := &Store{now: now, log: log, reader: r, stmts: map[string]*preparedStmt{}}
	s.Store = tables.New(s, &dialect, now)
	if !found.immutable {
		c, err := dial(path, readWrite, 1, checkpointPragmas)
		if err != nil {
			return nil, errors.Join(err, r.Close(), w.Close())
		}
		s.checkpoints = newCheckpointer(c, log)
	}
	if s.writer, err = newWriter(ctx, w, s.checkpoints, now, log); err != nil {
		return nil, errors.Join(withRemedy(err), s.checkpoints.close(), r.Close(), w.Close())
	}
	return s, nil
}

// connect returns a pool of connections to the database at path; found is what
// inspect returned. A missing file is created, readable by its owner only; SQLite
// gives the WAL the same rights. An existing file is not opened here: closing it
// would drop the POSIX locks that another store in this process holds on it.
func connect(path string, found inspection, connections int, pragmas []string) (*sql.DB, error) {
	if found.immutable {
		return dial(path, immutable, connections, []string{"query_only(1)", "temp_store(MEMORY)"})
	}
	if !found.there {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, fmt.Errorf("create the database's folder: %w", err)
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if err == nil {
			err = f.Close()
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("create the database: %w", err)
		}
	}
	return dial(path, readWrite, connections, pragmas)
}

// A fileAccess says what a connection may do to the file.
type fileAccess string

const (
	readWrite fileAccess = "rw"
	readOnly  fileAccess = "ro"
	immutable fileAccess = "immutable" // nobody writes to it: no locks, no files beside it
)

// dial returns a pool of connections to the file at path, whatever characters
// its name has.
func dial(path string, a fileAccess, connections int, pragmas []string) (*sql.DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	escaped := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(filepath.ToSlash(abs))
	q := url.Values{"_pragma": pragmas}
	switch a {
	case readWrite:
		q.Set("mode", "rw")
		q.Set("_txlock", "immediate")
	case readOnly:
		q.Set("mode", "ro")
	case immutable:
		q.Set("mode", "ro")
		q.Set("immutable", "1")
	}
	db, err := sql.Open("sqlite", "file:"+escaped+"?"+q.Encode())
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// Close waits for the writes under way, writes the WAL back and closes the file.
// Later calls of other methods return [os.ErrClosed].
func (s *Store) Close() error {
	s.closing.Do(func() {
		err := errors.Join(s.checkpoints.close(), s.writer.close())
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, st := range s.stmts {
			err = errors.Join(err, st.Close())
		}
		s.stmts = nil
		s.closeErr = errors.Join(err, s.reader.Close())
	})
	return s.closeErr
}

// stmt returns the prepared statement of query, for the readers.
func (s *Store) stmt(ctx context.Context, query string) (*preparedStmt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stmts == nil {
		return nil, errClosed
	}
	if st := s.stmts[query]; st != nil {
		return st, nil
	}
	st, err := prepare(ctx, s.reader, query)
	if err != nil {
		return nil, err
	}
	s.stmts[query] = st
	return st, nil
}

var errClosed = fmt.Errorf("sqlite store: %w", os.ErrClosed)

// query runs a read. ctx is checked only before it: each read is short, and to
// interrupt one the driver would start a goroutine for every query.
func (s *Store) query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx)
	st, err := s.stmt(ctx, query)
	if err != nil {
		return nil, err
	}
	return st.QueryContext(ctx, st.args(args)...)
}
