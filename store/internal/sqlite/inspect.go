package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/earshot-ai/earshot/store/internal/rule"
	driver "modernc.org/sqlite"
)

// applicationID marks a file as Earshot's: "Ears" in its header. Older files have 0
// and are recognised by their tables.
const applicationID = 0x45617273

// ErrForeign is the error for a database that another program made. Nothing is
// written to it.
var ErrForeign = errors.New("not Earshot's database")

// Result codes of SQLite, in the low byte of what the driver returns.
const (
	codeBusy     = 5
	codeReadOnly = 8
	codeCorrupt  = 11
	codeFull     = 13
	codeCantOpen = 14
	codeNotADB   = 26
)

// resultCode returns SQLite's primary result code of err, 0 when it is none of
// SQLite's.
func resultCode(err error) int {
	var e *driver.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// isBusy reports whether err says that another process writes.
func isBusy(err error) bool { return resultCode(err) == codeBusy }

// withRemedy replaces an error of SQLite by one that tells an operator what to do.
func withRemedy(err error) error {
	switch resultCode(err) {
	case codeNotADB:
		return errors.New("the file is no SQLite database; choose another path")
	case codeCorrupt:
		return errors.New("the database is damaged; restore it from a backup, or move it away and import again")
	case codeFull:
		return errors.New("the disk is full, and this is not stored; make room and do it again; an upgrade of the schema needs twice the size of the database besides it")
	case codeReadOnly:
		return fmt.Errorf("the database cannot be written to; give this user the right to write to the file and its folder, or choose another path: %w", fs.ErrPermission)
	case codeCantOpen:
		return errors.New("the database cannot be opened; see whether this user may read and write the file and its folder")
	}
	return err
}

// An inspection is what inspect found at a path.
type inspection struct {
	there     bool
	empty     bool // no tables yet
	schema    rule.Schema
	immutable bool // neither the file nor its folder can be written to
}

// inspectFile reads what is at path over a connection that cannot write. The error is
// [ErrForeign] for a database of another program.
func inspectFile(ctx context.Context, path string) (inspection, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		known, err := rule.Compare(migrations, nil)
		return inspection{empty: true, schema: known}, err
	case err != nil:
		return inspection{}, err
	case info.IsDir():
		return inspection{}, fmt.Errorf("it is a folder; name a file, as in %s", filepath.Join(path, "earshot.db"))
	case !info.Mode().IsRegular():
		return inspection{}, errors.New("it is no regular file; choose another path")
	}
	l, err := inspectAs(ctx, path, readOnly)
	if isReadOnlyError(err) {
		// After a crash SQLite must roll back first, for which it needs to write.
		l, err = inspectAs(ctx, path, readWrite)
	}
	if isReadOnlyError(err) && !hasPendingLog(path) {
		l, err = inspectAs(ctx, path, immutable)
		l.immutable = err == nil
	}
	if err != nil {
		return inspection{}, withRemedy(err)
	}
	return l, nil
}

// isReadOnlyError reports whether err says that a file or its folder cannot be written
// to.
func isReadOnlyError(err error) bool {
	return resultCode(err) == codeCantOpen || resultCode(err) == codeReadOnly
}

// hasPendingLog reports whether a WAL or a rollback journal of the database at path has
// something that is not in the database yet.
func hasPendingLog(path string) bool {
	for _, end := range []string{"-wal", "-journal"} {
		if info, err := os.Stat(path + end); err == nil && info.Size() > 0 {
			return true
		}
	}
	return false
}

func inspectAs(ctx context.Context, path string, a fileAccess) (inspection, error) {
	db, err := dial(path, a, 1, []string{"busy_timeout(10000)"})
	if err != nil {
		return inspection{}, err
	}
	defer db.Close()
	var id, tables, versioned, ours int64
	err = db.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id), count(*),
		coalesce(sum(name = 'goose_db_version'), 0), coalesce(sum(name IN ('channel', 'author', 'message', 'ledger', 'chore')), 0)
		FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`).Scan(&id, &tables, &versioned, &ours)
	if err != nil {
		return inspection{}, err
	}
	l := inspection{there: true, empty: tables == 0}
	switch {
	case id == applicationID:
	case id != 0:
		return inspection{}, ErrForeign
	case tables == 0:
		// Without tables it is an empty file, which is fine, or one with only views,
		// which is somebody else's.
		var objects int
		if err := db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master`).Scan(&objects); err != nil {
			return inspection{}, err
		}
		if objects > 0 {
			return inspection{}, ErrForeign
		}
	case versioned == 0 || tables > 1 && ours < 5:
		return inspection{}, ErrForeign
	}
	l.schema, err = readSchema(ctx, db)
	return l, err
}

// setApplicationID sets the application id in an empty database.
func setApplicationID(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, fmt.Sprintf(`PRAGMA application_id = %d`, applicationID)); err != nil {
		return fmt.Errorf("mark the database: %w", err)
	}
	return nil
}
