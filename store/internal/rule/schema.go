package rule

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/pressly/goose/v3"
)

// A Migration is one step of a schema: a file of SQL whose name begins with its
// version.
type Migration struct {
	Version int64
	Name    string // the file's name, without its folder and its ending
	File    string
}

// A Schema is what a program knows of its migrations, compared with those that a
// database has.
type Schema struct {
	Stored  int64       // the highest version in the database
	Known   int64       // the highest that the program knows
	Missing []Migration // which the database lacks, in order
}

// UpToDate reports whether there is nothing to do.
func (s Schema) UpToDate() bool { return s.Stored == s.Known && len(s.Missing) == 0 }

// Newer returns [earshot.ErrSchema] if the database is newer than the program.
func (s Schema) Newer() error {
	if s.Stored <= s.Known {
		return nil
	}
	return fmt.Errorf("%w: the database has version %d, this program knows %d; use a newer earshot", earshot.ErrSchema, s.Stored, s.Known)
}

// A Querier is a database, or a transaction in it.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// AppliedVersions returns the versions that a database has, which must have goose's table.
func AppliedVersions(ctx context.Context, db Querier) (applied []int64, _ error) {
	rows, err := db.QueryContext(ctx, `SELECT version_id FROM goose_db_version WHERE is_applied AND version_id > 0`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var v int64
		if err := rows.Scan(&v); err != nil {
			return nil, err
		}
		applied = append(applied, v)
	}
	return applied, rows.Err()
}

// Compare returns the migrations that a database lacks. They are not only those
// after its highest version: two branches that each add one leave a hole in the
// databases of whoever ran one of them alone.
func Compare(migrations fs.FS, applied []int64) (Schema, error) {
	files, err := fs.Glob(migrations, "migrations/*.sql") // in order
	if err != nil {
		return Schema{}, err
	}
	has := map[int64]bool{}
	var s Schema
	for _, v := range applied {
		has[v] = true
		s.Stored = max(s.Stored, v)
	}
	for _, f := range files {
		v, err := goose.NumericComponent(f)
		if err != nil {
			return Schema{}, err
		}
		s.Known = max(s.Known, v)
		if !has[v] {
			s.Missing = append(s.Missing, Migration{Version: v, Name: strings.TrimSuffix(path.Base(f), ".sql"), File: f})
		}
	}
	return s, nil
}
