package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
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
	known, err = rule.Newest(migrations)
	return found.stored, known, err
}

// Migrate brings the database at path to the newest schema, creating it if need be,
// and returns the versions before and after. The error is [earshot.ErrSchema] when
// the database is newer than the program.
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

// migrate applies all missing migrations in one transaction, which locks out other
// writers: of several processes that start at once one migrates, and the others
// wait and find it done.
func migrate(ctx context.Context, db *sql.DB) (from, to int64, err error) {
	from, to, err = versions(ctx, db)
	if err != nil || from == to {
		return from, to, err
	}
	tx, err := db.BeginTx(ctx, nil) // immediate: see dial
	if err != nil {
		return from, to, fmt.Errorf("wait for another that migrates: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // after the commit it does nothing
	from, to, err = versions(ctx, tx)
	if err != nil || from == to {
		return from, to, err
	}
	if from > to {
		return from, to, fmt.Errorf("%w: the database has version %d, this program knows %d; use a newer earshot", earshot.ErrSchema, from, to)
	}
	if err := migrateFrom(ctx, tx, from); err != nil {
		return from, to, fmt.Errorf("migrate from version %d to %d: %w", from, to, err)
	}
	return from, to, nil
}

// migrateFrom runs the migrations after version from, and commits. A file is plain
// SQL, since migrations only go up.
func migrateFrom(ctx context.Context, tx *sql.Tx, from int64) error {
	applied, err := database.NewStore(database.DialectSQLite3, goose.DefaultTablename)
	if err != nil {
		return err
	}
	if from == 0 {
		if err := mark(ctx, tx); err != nil {
			return err
		}
		// An older program, killed before its first migration, left an empty table.
		if _, err := tx.ExecContext(ctx, `DROP TABLE IF EXISTS `+goose.DefaultTablename); err != nil {
			return err
		}
		err := errors.Join(applied.CreateVersionTable(ctx, tx), applied.Insert(ctx, tx, database.InsertRequest{Version: 0}))
		if err != nil {
			return err
		}
	}
	files, err := fs.Glob(migrations, "migrations/*.sql") // in order
	if err != nil {
		return err
	}
	for _, name := range files {
		version, err := goose.NumericComponent(name)
		if err != nil {
			return err
		}
		if version <= from {
			continue
		}
		file, err := migrations.ReadFile(name)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, string(file)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := applied.Insert(ctx, tx, database.InsertRequest{Version: version}); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// A querier is a database, or a transaction in it.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// versions reads the stored version without writing anything.
func versions(ctx context.Context, db querier) (stored, known int64, err error) {
	if known, err = rule.Newest(migrations); err != nil {
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
