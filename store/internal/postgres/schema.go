package postgres

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Version returns the schema version of the database that spec names (0 when
// it has none) and the newest that this program knows. It creates nothing.
func Version(ctx context.Context, spec string) (stored, known int64, err error) {
	c, err := parse(spec)
	if err != nil {
		return 0, 0, err
	}
	db := stdlib.OpenDB(*c.pool.ConnConfig)
	defer db.Close()
	stored, known, err = versions(ctx, db)
	return stored, known, c.clean(err)
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
	from, to, err = versions(ctx, db)
	if err != nil || from == to {
		return from, to, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return from, to, err
	}
	defer func() { _ = conn.Close() }() // which releases the lock
	if _, err := conn.ExecContext(ctx, migrationLock); err != nil {
		return from, to, fmt.Errorf("wait for another that migrates: %w", err)
	}
	from, to, err = versions(ctx, db)
	if err != nil || from == to {
		return from, to, err
	}
	if from > to {
		return from, to, fmt.Errorf("%w: the database has version %d, this program knows %d; use a newer earshot", earshot.ErrSchema, from, to)
	}
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return from, to, err
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return from, to, err
	}
	if _, err := p.Up(ctx); err != nil {
		return from, to, fmt.Errorf("migrate from version %d to %d: %w", from, to, err)
	}
	return from, to, nil
}

// migrationLock locks a schema against other migrations.
const migrationLock = `SELECT pg_advisory_lock(hashtextextended('earshot schema ' || coalesce(current_schema(), ''), 0))`

// The errors for a database that this store cannot use.
var (
	errEncoding = errors.New("the database's encoding is not UTF8; create one with ENCODING 'UTF8'")
	errServer   = errors.New("PostgreSQL 13 or newer is needed")
)

// versions reads the stored version without writing anything, and refuses a
// server that the store cannot use.
func versions(ctx context.Context, db *sql.DB) (stored, known int64, err error) {
	if known, err = rule.Newest(migrations); err != nil {
		return 0, 0, err
	}
	var encoding string
	var server int
	var there bool
	err = db.QueryRowContext(ctx, `SELECT current_setting('server_encoding'), current_setting('server_version_num')::int,
		EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'goose_db_version')`).Scan(&encoding, &server, &there)
	switch {
	case err != nil:
	case encoding != "UTF8":
		err = errEncoding
	case server < 130000:
		err = errServer
	case there:
		err = db.QueryRowContext(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`).Scan(&stored)
	}
	if err != nil {
		return 0, known, fmt.Errorf("read the schema version: %w", err)
	}
	return stored, known, nil
}
