// Package store opens an [earshot.Store], which keeps what is said in chat and
// what agents have answered: in one SQLite file, in PostgreSQL, or in memory.
//
//	s, err := store.Open(ctx, "sqlite:earshot.db", nil)
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	_, err = s.Record(ctx, scope, messages...)
//
// [Open] opens a store by a spec string. [Migrate] brings a database's schema up
// to date without opening it, [Plan] tells what that would do, [Backup] copies a
// store, and [RedactSpec] is a spec without its password, to print. All three kinds of store pass the
// same tests, return the same results in the same order, and are safe for
// concurrent use.
//
// Use SQLite on one machine, PostgreSQL for several replicas, and memory for
// tests and first tries. To bring a store of your own, implement the interfaces
// that you need: four methods for package history (history.Store), [earshot.Messages]
// for what reads messages alone. Package storetest tests it.
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
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/sqlite"
)

// Options are the optional arguments of Open. Zero fields mean their defaults.
type Options struct {
	Log *slog.Logger     // nil discards
	Now func() time.Time // the clock that dates conversations, turns and blobs; nil is time.Now, on PostgreSQL the database's

	// Memory bounds a store in memory; nil means no bound. It is an error with any
	// other store.
	Memory *MemoryLimits
}

// MemoryLimits bound a store in memory, for agents that run for long. A conversation
// is a channel's top level, or the replies in one thread. What is over a limit is
// evicted: of a conversation the oldest messages, of all conversations the one that
// was recorded into or read least recently, with what agents keep of it. Coverage
// then says that history is missing there, and search does not find it.
//
// Never evicted are tombstones, the question of an unfinished turn, what such a turn
// or a session shows, and the root of a thread that is held. A conversation of which
// only these are left is not counted.
type MemoryLimits struct {
	Conversations int // default: 500
	Messages      int // of each conversation; default: 500
}

// ErrForeign is the error for a SQLite file that another program made. Nothing
// was written to it.
var ErrForeign = errors.New("this database is not Earshot's, and nothing was written to it; choose another path")

// ErrSpec is the error for a spec string that names no store.
var ErrSpec = errors.New("not a store")

// Open opens the store that spec names:
//
//	sqlite:PATH   a SQLite file; the file and its folders are created if
//	              need be
//	PATH          the same
//	postgres://…  a PostgreSQL database (postgresql:// is the same), which must
//	              exist; the tables are made in the first schema of its
//	              search_path
//	host=… dbname=…
//	              the same, in the keyword form of libpq
//	memory:       in this process; Close forgets everything
//
// The schema is brought up to date. Any number of processes may open the same
// database at once, SQLite files included: one migrates it and the others wait.
// A SQLite file that cannot be written to is opened for reading, if its schema is
// up to date; then every change returns an error that wraps [io/fs.ErrPermission].
//
// A PostgreSQL URL has the parameters of libpq and pool_max_conns, the most
// connections that the store opens (16). Leave the password out of the spec by
// PGPASSWORD or ~/.pgpass. No error and no log line contains it.
//
// Write sqlite: or ./ before the name of a file that begins like a URL, with a
// word and a colon, or like the keywords above. A path that looks like a server's
// address with a password in it is refused even then, because it is most likely
// mistyped.
//
// o may be nil. ctx bounds the opening, not the store. The error is [ErrSpec] for
// a spec that names no store, [ErrForeign] for a SQLite file that is not
// Earshot's, and [earshot.ErrSchema] for a database whose schema is newer than
// this program. The caller closes the store; a method that is called after Close
// returns an error that wraps [os.ErrClosed].
func Open(ctx context.Context, spec string, o *Options) (earshot.Store, error) {
	kind, at, err := parseSpec(spec)
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
	if opts.Now == nil && kind != inPostgres {
		opts.Now = time.Now
	}
	if opts.Memory != nil && kind != inMemory {
		return nil, fmt.Errorf("%w: Options.Memory is for a store in memory only; leave it out, or open \"memory:\"", earshot.ErrInvalid)
	}
	var s earshot.Store
	switch kind {
	case inMemory:
		if opts.Memory == nil {
			return memory.Open(opts.Now), nil
		}
		return memory.OpenBounded(opts.Now, opts.Memory.limits()), nil
	case inPostgres:
		s, err = postgres.Open(ctx, at, opts.Now, opts.Log)
	default:
		s, err = sqlite.Open(ctx, at, opts.Now, opts.Log)
	}
	if err != nil {
		return nil, wrapOpenError(kind, spec, err)
	}
	return s, nil
}

// limits returns l with its defaults.
func (l MemoryLimits) limits() memory.Limits {
	out := memory.Limits{Conversations: 500, Messages: 500}
	if l.Conversations > 0 {
		out.Conversations = l.Conversations
	}
	if l.Messages > 0 {
		out.Messages = l.Messages
	}
	return out
}

// wrapOpenError adds the store's name to an error. Errors of the PostgreSQL store have
// it already, without the password.
func wrapOpenError(k kind, spec string, err error) error {
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

// Migrate brings the schema of the store that spec names up to date, as Open
// does, and returns the versions before and after. A new database has version 0
// before. A store in memory has no schema: Migrate returns 0 and 0. What it does
// is told by [Plan]. The errors are those of Open.
func Migrate(ctx context.Context, spec string) (from, to int64, err error) {
	kind, at, err := parseSpec(spec)
	switch {
	case err != nil || kind == inMemory:
		return 0, 0, err
	case kind == inPostgres:
		from, to, err = postgres.Migrate(ctx, at)
	default:
		from, to, err = sqlite.Migrate(ctx, at)
	}
	if err != nil {
		return from, to, wrapOpenError(kind, spec, err)
	}
	return from, to, nil
}

// Version returns the schema version of the store that spec names, 0 when it has
// no schema yet or is not there, and the newest version that this program knows.
// It creates and writes nothing. The errors are those of Open, except
// [earshot.ErrSchema].
func Version(ctx context.Context, spec string) (stored, known int64, err error) {
	p, err := Plan(ctx, spec)
	return p.From, p.To, err
}

// A MigrationPlan is what Migrate would do.
type MigrationPlan struct {
	From int64 // the database's version; 0 when it has no schema yet or is not there
	To   int64 // the newest version that this program knows; less than From when the database is newer, which Migrate refuses
	// Migrations are the names of those that the database lacks, in the order in which
	// they are applied. Their names begin with their versions, which need not all be
	// above From. Empty means that there is nothing to do.
	Migrations []string
}

// Plan returns what Migrate would do to the store that spec names. It creates and
// writes nothing. A store in memory has no schema, and a plan without anything. The
// errors are those of Open, except [earshot.ErrSchema].
func Plan(ctx context.Context, spec string) (MigrationPlan, error) {
	var has rule.Schema
	kind, at, err := parseSpec(spec)
	switch {
	case err != nil || kind == inMemory:
		return MigrationPlan{}, err
	case kind == inPostgres:
		has, err = postgres.Inspect(ctx, at)
	default:
		has, err = sqlite.Inspect(ctx, at)
	}
	if err != nil {
		return MigrationPlan{}, wrapOpenError(kind, spec, err)
	}
	p := MigrationPlan{From: has.Stored, To: has.Known}
	for _, m := range has.Missing {
		p.Migrations = append(p.Migrations, m.Name)
	}
	return p, nil
}

// File returns the path of the SQLite file that spec names. ok is false when spec
// names another kind of store, or none.
func File(spec string) (path string, ok bool) {
	k, path, err := parseSpec(spec)
	return path, err == nil && k == inSQLite
}

type kind int

const (
	inMemory kind = iota
	inSQLite
	inPostgres
)

// word matches the scheme of a URL. One letter is not a scheme but a drive.
var word = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]+$`)

// parseSpec splits a spec into the kind of store and its address: a path, or a URL of
// PostgreSQL. No error repeats a spec that has a password in it.
func parseSpec(spec string) (k kind, at string, err error) {
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

// sqliteAt returns path, unless it looks like an address with a password.
func sqliteAt(path string) (kind, string, error) {
	if isDSN(path) || credentials.MatchString(path) {
		return 0, "", fmt.Errorf("%w: this reads as a server's address with a password, not as a path; use postgres://user@host/database, with the password in PGPASSWORD", ErrSpec)
	}
	return inSQLite, path, nil
}
