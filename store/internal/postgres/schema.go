package postgres

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Inspect compares the schema of the database that spec names (version 0 when it
// has none) with what this program knows. It creates nothing.
func Inspect(ctx context.Context, spec string) (rule.Schema, error) {
	c, err := parse(spec)
	if err != nil {
		return rule.Schema{}, err
	}
	db := stdlib.OpenDB(*c.pool.ConnConfig)
	defer db.Close()
	has, err := schema(ctx, db)
	return has, c.clean(err)
}

// Migrate brings the schema of the database that spec names up to date and
// returns the versions before and after. The error is [earshot.ErrSchema] when
// it is newer than the program.
func Migrate(ctx context.Context, spec string) (from, to int64, err error) {
	c, err := parse(spec)
	if err != nil {
		return 0, 0, err
	}
	from, to, err = c.migrate(ctx)
	return from, to, c.clean(err)
}

// migrate applies the missing migrations under an advisory lock: of several replicas
// that start at once one migrates, and the others wait and find it done.
func (c *config) migrate(ctx context.Context) (from, to int64, err error) {
	settings := c.pool.ConnConfig.Copy()
	settings.RuntimeParams["lock_timeout"] = "0" // a migration by another replica may take long
	db := stdlib.OpenDB(*settings)
	defer db.Close()
	has, err := schema(ctx, db)
	if err != nil || has.UpToDate() {
		return has.Stored, has.Known, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return has.Stored, has.Known, err
	}
	defer func() { _ = conn.Close() }() // which releases the lock
	if _, err := conn.ExecContext(ctx, migrationLock); err != nil {
		return has.Stored, has.Known, fmt.Errorf("wait for another that migrates: %w", err)
	}
	has, err = schema(ctx, db)
	if err == nil {
		err = has.Newer()
	}
	if err != nil || has.UpToDate() {
		return has.Stored, has.Known, err
	}
	if err := runMigrations(ctx, db); err != nil {
		return has.Stored, has.Known, fmt.Errorf("migrate from version %d to %d: %w", has.Stored, has.Known, err)
	}
	return has.Stored, has.Known, nil
}

// runMigrations runs the missing migrations, also those before the newest that is applied.
func runMigrations(ctx context.Context, db *sql.DB) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithDisableGlobalRegistry(true), goose.WithAllowOutofOrder(true))
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}

// migrationLock locks a schema against other migrations.
const migrationLock = `SELECT pg_advisory_lock(hashtextextended('earshot schema ' || coalesce(current_schema(), ''), 0))`

// The errors for a database that this store cannot use.
var (
	errEncoding = errors.New("the database's encoding is not UTF8; create one with ENCODING 'UTF8'")
	errServer   = errors.New("PostgreSQL 13 or newer is needed")
)

// schema reads which migrations are applied without writing anything, and refuses a
// server that the store cannot use.
func schema(ctx context.Context, db *sql.DB) (rule.Schema, error) {
	var applied []int64
	var encoding string
	var server int
	var there bool
	err := db.QueryRowContext(ctx, `SELECT current_setting('server_encoding'), current_setting('server_version_num')::int,
		EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'goose_db_version')`).Scan(&encoding, &server, &there)
	switch {
	case err != nil:
	case encoding != "UTF8":
		err = errEncoding
	case server < 130000:
		err = errServer
	case there:
		applied, err = rule.AppliedVersions(ctx, db)
	}
	if err != nil {
		return rule.Schema{}, fmt.Errorf("read the schema version: %w", err)
	}
	return rule.Compare(migrations, applied)
}
