package store_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store"
)

// made returns a SQLite file of another program, created by statements.
func made(t *testing.T, statements string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), statements); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestADatabaseOfAnotherProgramIsRefusedAndNotTouched(t *testing.T) {
	t.Parallel()
	for name, statements := range map[string]string{
		"with tables":               `CREATE TABLE message (id TEXT); INSERT INTO message VALUES ('mine')`,
		"with a view alone":         `CREATE VIEW v AS SELECT 1`,
		"with an id of its own":     `PRAGMA application_id = 252006674`,
		"that goose migrates too":   `CREATE TABLE goose_db_version (id INTEGER, version_id INTEGER, is_applied INTEGER); CREATE TABLE users (id TEXT)`,
		"with a write-ahead log":    `PRAGMA journal_mode = WAL; CREATE TABLE t (x)`,
		"with one of Earshot's own": `CREATE TABLE channel (x); CREATE TABLE goose_db_version (version_id INTEGER, is_applied INTEGER)`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := made(t, statements)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, openErr := store.Open(t.Context(), path, nil)
			_, _, migrateErr := store.Migrate(t.Context(), path)
			_, _, versionErr := store.Version(t.Context(), path)
			for what, err := range map[string]error{"Open": openErr, "Migrate": migrateErr, "Version": versionErr} {
				if !errors.Is(err, store.ErrForeign) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "another path") {
					t.Errorf("%s: got %v, want ErrForeign that names the file and the remedy", what, err)
				}
			}
			if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
				t.Errorf("the file has changed, or %v", err)
			}
		})
	}
}

func TestADatabaseFromBeforeTheMarkGoesOnWorking(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	if _, _, err := store.Migrate(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	var id int64
	if err := db.QueryRowContext(t.Context(), `PRAGMA application_id`).Scan(&id); err != nil || id == 0 {
		t.Errorf("the mark: got %d, %v, want one", id, err)
	}
	if _, err := db.ExecContext(t.Context(), `PRAGMA application_id = 0`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, path).Record(t.Context(), benchScope, chatter(1)); err != nil {
		t.Error(err)
	}
}

func TestWhatCannotBeOpenedIsOneLineWithItsPathAndTheRemedy(t *testing.T) {
	t.Parallel()
	damaged := filepath.Join(t.TempDir(), "x.db")
	if _, _, err := store.Migrate(t.Context(), damaged); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(damaged)
	if err != nil {
		t.Fatal(err)
	}
	for i := 100; i < 4096; i++ {
		raw[i] = 0xff
	}
	text := filepath.Join(t.TempDir(), "notes.txt")
	if err := errors.Join(os.WriteFile(damaged, raw, 0o600), os.WriteFile(text, []byte("short notes\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ path, want string }{
		"a folder":           {t.TempDir(), "name a file, as in"},
		"a text file":        {text, "no SQLite database; choose another path"},
		"a damaged database": {damaged, "restore it from a backup"},
	} {
		_, err := store.Open(t.Context(), tt.path, nil)
		if err == nil || !strings.Contains(err.Error(), tt.path) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want one line with %q", name, err, tt.want)
		}
	}
}

func TestAReadOnlyDatabaseCanBeReadAndAChangeSaysWhyNot(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("the superuser may write to every file")
	}
	for name, modes := range map[string][2]os.FileMode{
		"the file":                {0o400, 0o700},
		"the file and its folder": {0o400, 0o500},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "x.db")
			s, err := store.Open(t.Context(), path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Record(t.Context(), benchScope, chatter(1)); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(s.Close(), os.Chmod(path, modes[0]), os.Chmod(dir, modes[1])); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
			for range 2 {
				s, err := store.Open(t.Context(), path, nil)
				if err != nil {
					t.Fatal(err)
				}
				count, err := s.Count(t.Context(), benchScope, earshot.Whole(), earshot.Position{})
				if err != nil || count.Count != 1 {
					t.Errorf("reading: got %d, %v, want 1", count.Count, err)
				}
				if _, err := s.Record(t.Context(), benchScope, chatter(2)); !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), "right to write") {
					t.Errorf("writing: got %v, want that it may not be written to", err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestASpecNamesTheSameFileForAll(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{
		"sqlite:we ird?#%20.db": "we ird?#%20.db",
		"we ird?#%20.db":        "we ird?#%20.db",
		`C:\data\earshot.db`:    `C:\data\earshot.db`,
		"./mysql:foo":           "./mysql:foo",
		"sqlite:mysql:foo":      "mysql:foo",
	} {
		if got, ok := store.File(spec); got != want || !ok {
			t.Errorf("%q: got %q, %t, want %q", spec, got, ok, want)
		}
	}
	for _, spec := range []string{"memory:", "postgres://h/db", "mysql:foo", ""} {
		if got, ok := store.File(spec); ok {
			t.Errorf("%q: got the file %q, want none", spec, got)
		}
	}
}
