// Package store opens an [earshot.Store] from a spec string.
//
//	s, err := store.Open(ctx, "sqlite:earshot.db", nil)
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//
// [Open] opens one, [Migrate] brings a database's schema up to date, and
// [Version] says which it has. Whoever writes a store of their own runs it
// through the package storetest.
package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/memory"
	"github.com/earshot-ai/earshot/store/internal/postgres"
	"github.com/earshot-ai/earshot/store/internal/sqlite"
)

// Options are what Open can be told besides the spec. Zero fields mean their
// defaults.
type Options struct {
	Log *slog.Logger     // nil discards
	Now func() time.Time // what conversations and turns are dated by; nil is time.Now
}

// ErrForeign is returned for a SQLite file that is another program's. Nothing
// was written to it.
var ErrForeign = errors.New("this database is not Earshot's, and nothing was written to it; choose another path")

// ErrSpec is returned for a spec string that names no store.
var ErrSpec = errors.New("not a store")

// Open opens the store that spec names:
//
//	sqlite:PATH   a SQLite file; it and its folders are created if need be,
//	              and its schema is brought up to date
//	PATH          the same
//	memory:       in this process, gone when it is closed
//	postgres://…  a PostgreSQL database, which must exist; the tables are made
//	              in the first schema of its search_path, for any number of
//	              processes at once (postgresql:// is the same)
//	host=… dbname=…
//	              the same, by keywords as libpq has them
//
// A PostgreSQL URL takes what libpq's does and pool_max_conns (16); a password
// may stand in PGPASSWORD or ~/.pgpass instead, and is in no error or log.
// [Shown] is the spec to print.
//
// A file whose name begins like a URL, with a word and a colon, or like the
// keywords above, is written with sqlite: or ./ before it. A path that reads as
// if a password stood in it is refused, whatever stands before it: it is a
// server's address, mistyped. A SQLite file that cannot be written to can be read.
//
// The error is [ErrSpec] for a spec that names none, [ErrForeign] for a SQLite
// file that is not Earshot's, [earshot.ErrSchema] for a database that is newer
// than the program.
func Open(ctx context.Context, spec string, o *Options) (earshot.Store, error) {
	kind, at, err := parse(spec)
	if err != nil {
		return nil, err
	}
	var opts Options
	if o != nil {
		opts = *o
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	var s earshot.Store
	switch kind {
	case inMemory:
		return memory.Open(opts.Now), nil
	case inPostgres:
		s, err = postgres.Open(ctx, at, opts.Now, opts.Log)
	default:
		s, err = sqlite.Open(ctx, at, opts.Now, opts.Log)
	}
	if err != nil {
		return nil, opening(kind, spec, err)
	}
	return s, nil
}

// opening says what failed with which store. The PostgreSQL store names itself,
// without a password.
func opening(k kind, spec string, err error) error {
	switch {
	case errors.Is(err, postgres.ErrURL):
		return fmt.Errorf("%w: %w", ErrSpec, err)
	case errors.Is(err, sqlite.ErrForeign):
		err = ErrForeign
	case k == inPostgres:
		return fmt.Errorf("open %w", err)
	}
	return fmt.Errorf("open %s: %w", spec, err)
}

// Migrate brings the schema of the store that spec names up to date, creating
// a SQLite file if need be, and returns the versions before and after: 0 for a
// new database, the same twice when there was nothing to do. A store in
// memory has no schema: 0 and 0.
func Migrate(ctx context.Context, spec string) (from, to int64, err error) {
	return versions(ctx, spec, sqlite.Migrate, postgres.Migrate)
}

// Version returns the schema version of the store that spec names, 0 when
// there is none yet, and the newest that this program knows.
func Version(ctx context.Context, spec string) (stored, known int64, err error) {
	return versions(ctx, spec, sqlite.Version, postgres.Version)
}

func versions(ctx context.Context, spec string, ofSQLite, ofPostgres func(context.Context, string) (int64, int64, error)) (a, b int64, err error) {
	kind, at, err := parse(spec)
	switch {
	case err != nil || kind == inMemory:
		return 0, 0, err
	case kind == inPostgres:
		a, b, err = ofPostgres(ctx, at)
	default:
		a, b, err = ofSQLite(ctx, at)
	}
	if err != nil {
		return a, b, opening(kind, spec, err)
	}
	return a, b, nil
}

// File returns the path of the SQLite file that spec names, and whether it
// names one.
func File(spec string) (path string, ok bool) {
	k, path, err := parse(spec)
	return path, err == nil && k == inSQLite
}

type kind int

const (
	inMemory kind = iota
	inSQLite
	inPostgres
)

// word is what stands before the colon of a URL. One letter is a drive's.
var word = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]+$`)

// parse reads a spec into its kind and where the store is: a path, or a URL of
// PostgreSQL. What it says of a spec with a password in it never repeats the
// spec.
func parse(spec string) (k kind, at string, err error) {
	const use = "use sqlite:PATH, a path, postgres://user@host/database, or memory:"
	scheme, rest, found := strings.Cut(spec, ":")
	switch {
	case spec == "":
		return 0, "", fmt.Errorf("%w: the spec is empty; %s", ErrSpec, use)
	case spec == "memory:":
		return inMemory, "", nil
	case isDSN(spec):
		at, err = dsnURL(spec)
		return inPostgres, at, err
	case found && scheme == "sqlite" && rest == "":
		return 0, "", fmt.Errorf("%w: sqlite: needs a path, as in sqlite:earshot.db", ErrSpec)
	case found && scheme == "sqlite" && strings.HasPrefix(rest, "//") && !strings.HasPrefix(rest, "///"):
		return 0, "", fmt.Errorf("%w: sqlite: has no host; write sqlite:earshot.db, or sqlite:/folder/earshot.db", ErrSpec)
	case found && scheme == "sqlite":
		return sqliteAt(rest)
	case found && (scheme == "postgres" || scheme == "postgresql"):
		if !strings.HasPrefix(rest, "//") {
			return 0, "", fmt.Errorf("%w: %s: needs a URL, as in postgres://user@host/database", ErrSpec, scheme)
		}
		return inPostgres, spec, nil
	case found && (scheme == "memory" || word.MatchString(scheme)):
		return 0, "", fmt.Errorf("%w: unknown kind %q; %s", ErrSpec, scheme, use)
	}
	return sqliteAt(spec)
}

// sqliteAt takes a path, unless it reads as if a password stood in it.
func sqliteAt(path string) (kind, string, error) {
	if isDSN(path) || credentials.MatchString(path) {
		return 0, "", fmt.Errorf("%w: this reads as a server's address with a password, not as a path; use postgres://user@host/database, with the password in PGPASSWORD", ErrSpec)
	}
	return inSQLite, path, nil
}
