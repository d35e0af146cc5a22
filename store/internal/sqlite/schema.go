package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/earshot-ai/earshot"
	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Version returns the schema version of the database at path (0 when it is
// new or not there) and the newest that this program knows. It creates and
// writes nothing.
func Version(ctx context.Context, path string) (stored, known int64, err error) {
	found, err := inspect(ctx, path)
	if err != nil {
		return 0, 0, err
	}
	known, err = newest()
	return found.stored, known, err
}

// Migrate brings the database at path to the newest schema, creating it if
// need be, and returns the versions before and after. The error is
// [earshot.ErrSchema] when the database is newer than the program.
func Migrate(ctx context.Context, path string) (from, to int64, err error) {
	found, err := inspect(ctx, path)
	if err != nil {
		return 0, 0, err
	}
	db, err := connect(path, found, 1, writerPragmas)
	if err != nil {
		return 0, 0, err
	}
	defer db.Close()
	if from, to, err = migrate(ctx, db); err != nil {
		return from, to, remedy(err)
	}
	return from, to, nil
}

// migrate applies what is missing. Another process may be doing the same:
// whoever comes second finds it done.
func migrate(ctx context.Context, db *sql.DB) (from, to int64, err error) {
	from, to, err = versions(ctx, db)
	if err != nil || from == to {
		return from, to, err
	}
	if from > to {
		return from, to, fmt.Errorf("%w: the database has version %d, this program knows %d; use a newer earshot", earshot.ErrSchema, from, to)
	}
	if from == 0 {
		if err := mark(ctx, db); err != nil {
			return from, to, err
		}
	}
	p, err := provider(db)
	if err != nil {
		return from, to, err
	}
	if _, err := p.Up(ctx); err != nil {
		if now, _, e := versions(ctx, db); e != nil || now != to {
			return from, to, fmt.Errorf("migrate from version %d to %d: %w", from, to, err)
		}
	}
	return from, to, nil
}

func provider(db *sql.DB) (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithDisableGlobalRegistry(true))
}

// newest returns the newest version that this program knows.
func newest() (int64, error) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return 0, err
	}
	var known int64
	for _, f := range files {
		v, err := goose.NumericComponent(f)
		if err != nil {
			return 0, err
		}
		known = max(known, v)
	}
	return known, nil
}

// versions reads the stored version without writing anything.
func versions(ctx context.Context, db *sql.DB) (stored, known int64, err error) {
	if known, err = newest(); err != nil {
		return 0, 0, err
	}
	var tables int
	err = db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'goose_db_version'`).Scan(&tables)
	if err == nil && tables > 0 {
		err = db.QueryRowContext(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`).Scan(&stored)
	}
	if err != nil {
		return 0, known, fmt.Errorf("read the schema version: %w", err)
	}
	return stored, known, nil
}
