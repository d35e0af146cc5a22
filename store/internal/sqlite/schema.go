package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Inspect compares the schema of the database at path (version 0 when it is new or
// not there) with what this program knows. It creates and writes nothing.
func Inspect(ctx context.Context, path string) (rule.Schema, error) {
	found, err := inspectFile(ctx, path)
	return found.schema, err
}

// Migrate brings the database at path to the newest schema, creating it if need be,
// and returns the versions before and after. The error is [earshot.ErrSchema] when
// the database is newer than the program.
func Migrate(ctx context.Context, path string) (from, to int64, err error) {
	found, err := inspectFile(ctx, path)
	if err != nil {
		return 0, 0, err
	}
	db, err := connect(path, found, 1, writerPragmas)
	if err != nil {
		return 0, 0, err
	}
	defer db.Close()
	if from, to, err = migrateAll(ctx, db); err != nil {
		return from, to, withRemedy(err)
	}
	return from, to, nil
}

// migrateAll applies all missing migrations in one transaction, which locks out other
// writers: of several processes that start at once one migrates, and the others
// wait and find it done.
func migrateAll(ctx context.Context, db *sql.DB) (from, to int64, err error) {
	if err := openReady(ctx, db); err != nil {
		return 0, 0, err
	}
	has, err := readSchema(ctx, db)
	if err != nil || has.UpToDate() {
		return has.Stored, has.Known, err
	}
	tx, err := db.BeginTx(ctx, nil) // immediate: see dial
	if err != nil {
		return has.Stored, has.Known, fmt.Errorf("wait for another that migrates: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // after the commit it does nothing
	has, err = readSchema(ctx, tx)
	if err == nil {
		err = has.Newer()
	}
	if err != nil || has.UpToDate() {
		return has.Stored, has.Known, err
	}
	if err := runMigrations(ctx, tx, has); err != nil {
		return has.Stored, has.Known, fmt.Errorf("migrate from version %d to %d: %w", has.Stored, has.Known, err)
	}
	return has.Stored, has.Known, nil
}

// openReady opens a connection, and waits for another process that makes the database:
// turning on the WAL fails at once where another has the lock, whatever busy_timeout is.
func openReady(ctx context.Context, db *sql.DB) error {
	err := db.PingContext(ctx)
	for deadline := time.Now().Add(lockWait); isBusy(err) && time.Now().Before(deadline); err = db.PingContext(ctx) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lockPoll):
		}
	}
	return err
}

// runMigrations runs the missing migrations, and commits. A file is plain SQL, since
// migrations only go up.
func runMigrations(ctx context.Context, tx *sql.Tx, has rule.Schema) error {
	applied, err := database.NewStore(database.DialectSQLite3, goose.DefaultTablename)
	if err != nil {
		return err
	}
	if has.Stored == 0 {
		if err := setApplicationID(ctx, tx); err != nil {
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
	for _, m := range has.Missing {
		file, err := migrations.ReadFile(m.File)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, string(file)); err != nil {
			return fmt.Errorf("%s: %w", m.File, err)
		}
		if err := applied.Insert(ctx, tx, database.InsertRequest{Version: m.Version}); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// A querier is a database, or a transaction in it.
type querier interface {
	rule.Querier
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// readSchema reads which migrations are applied, without writing anything.
func readSchema(ctx context.Context, db querier) (rule.Schema, error) {
	var applied []int64
	var tables int
	err := db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'goose_db_version'`).Scan(&tables)
	if err == nil && tables > 0 {
		applied, err = rule.AppliedVersions(ctx, db)
	}
	if err != nil {
		return rule.Schema{}, fmt.Errorf("read the schema version: %w", err)
	}
	return rule.Compare(migrations, applied)
}
