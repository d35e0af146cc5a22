package store

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot/store/internal/sqlite"
)

// ErrNoBackup is the error of [Backup] for a store that is no SQLite file.
var ErrNoBackup = errors.New("is no SQLite file, which is all that Earshot copies by itself")

// Backup copies the SQLite file that spec names to a new file at path, which only
// its owner can read. It can be called at any time, also while other processes
// write: the copy is the database as it was at one moment, with all that was
// acknowledged before the call. It has the schema of the database, which is not
// migrated, and no bytes of what was deleted. Until it is complete and on the disk,
// its name has ".partial" at the end.
//
// The error wraps [io/fs.ErrExist] when there is a file of either name,
// [io/fs.ErrNotExist] when there is no database, and [ErrNoBackup] for a store in
// memory and for PostgreSQL, which is copied by the command that [DumpCommand]
// returns. Else the errors are those of Open.
func Backup(ctx context.Context, spec, path string) error {
	kind, at, err := parseSpec(spec)
	if err != nil {
		return err
	}
	if kind != inSQLite {
		return fmt.Errorf("%s %w", RedactSpec(spec), ErrNoBackup)
	}
	if err := sqlite.Backup(ctx, at, path); err != nil {
		if errors.Is(err, sqlite.ErrForeign) {
			err = ErrForeign
		}
		return fmt.Errorf("copy %s: %w", spec, err)
	}
	return nil
}

// DumpCommand returns the command that copies the tables of the PostgreSQL store
// that spec names to a new file, as the arguments of pg_dump; ok is false for
// another kind of store. No password is in it: pg_dump takes it from PGPASSWORD or
// ~/.pgpass, or asks for it.
func DumpCommand(spec, path string) (args []string, ok bool) {
	kind, at, err := parseSpec(spec)
	if err != nil || kind != inPostgres {
		return nil, false
	}
	u, err := url.Parse(at)
	if err != nil {
		return nil, false
	}
	args = []string{"pg_dump", "--format=custom", "--file=" + path}
	q := u.Query()
	if schema, _, _ := strings.Cut(q.Get("search_path"), ","); schema != "" {
		args = append(args, "--schema="+strings.Trim(schema, ` "`))
	}
	for key := range q {
		if !slices.Contains(dsnKeys, key) || strings.Contains(key, "password") {
			q.Del(key)
		}
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	u.RawQuery = q.Encode()
	return append(args, u.String()), true
}
