package store_test

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/storetest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if subprocess() {
		return
	}
	if raceEnabled && os.Getenv("RAPID_CHECKS") == "" {
		if err := flag.Set("rapid.checks", "10"); err != nil {
			panic(err)
		}
	}
	rule.PlanTime = time.Hour // the suite compares plans with what is removed
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if dir := millionDir.Load(); dir != nil {
			os.RemoveAll(*dir)
		}
		os.Exit(code)
	}))
}

// open opens the store spec and closes it when t ends.
func open(t testing.TB, spec string) earshot.Store {
	t.Helper()
	s, err := store.Open(t.Context(), spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// empty is an empty SQLite store: migrations take five times as long as a copy,
// and the race detector makes both ten times slower.
var empty = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "empty")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "x.db")
	if _, _, err := store.Migrate(context.Background(), path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// blank returns the path of an empty SQLite store of t's own.
func blank(t *testing.T) string {
	t.Helper()
	db, err := empty()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.db")
	if err := os.WriteFile(path, db, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestConformance(t *testing.T) {
	t.Parallel()
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		storetest.Run(t, func(t *testing.T) earshot.Store { return open(t, "memory:") })
	})
	t.Run("messages alone", func(t *testing.T) {
		t.Parallel()
		storetest.RunMessages(t, func(t *testing.T) earshot.Messages {
			return struct{ earshot.Messages }{open(t, "memory:")} // without the other methods
		})
	})
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		storetest.Run(t, func(t *testing.T) earshot.Store { return open(t, "sqlite:"+blank(t)) })
		storetest.Reopen(t, func(t *testing.T) func() earshot.Store {
			path := filepath.Join(t.TempDir(), "folder", "of its own", "odd name%20?#.db")
			return func() earshot.Store { return open(t, path) }
		})
	})
}

func TestASpecThatNamesNoStoreIsRefused(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{
		"":                          "empty",
		"sqlite:":                   "needs a path",
		"postgres:u:secret@h/db":    "needs a URL",
		"postgres://u:sec%ret@h/db": "write %",
		"mysql://u:secret@h/db":     `unknown kind "mysql"`,
		"memory:name":               `unknown kind "memory"`,
		"mysql:foo":                 `unknown kind "mysql"; use sqlite:PATH`,
		"sqlite://x.db":             "has no host",
	} {
		s, err := store.Open(t.Context(), spec, nil)
		if !errors.Is(err, store.ErrSpec) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: got %v, %v, want ErrSpec with %q and no secret", spec, s, err, want)
		}
	}
}

func TestAFileThatIsNoDatabaseIsAnErrorThatNamesIt(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("this is no database ", 300)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(t.Context(), path, nil); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want an error that names the file", err)
	}
	if _, err := store.Open(t.Context(), filepath.Join(path, "inside", "y.db"), nil); err == nil {
		t.Error("a folder below a file: no error")
	}
}

func TestMigrateTellsFromAndTo(t *testing.T) {
	t.Parallel()
	spec := "sqlite:" + filepath.Join(t.TempDir(), "new", "x.db")
	stored, known, err := store.Version(t.Context(), spec)
	if err != nil || stored != 0 || known < 1 {
		t.Fatalf("before: got %d, %d, %v, want 0 and what is known", stored, known, err)
	}
	if _, err := os.Stat(filepath.Dir(strings.TrimPrefix(spec, "sqlite:"))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("asking for the version made a folder: %v", err)
	}
	for _, want := range []int64{0, known} {
		from, to, err := store.Migrate(t.Context(), spec)
		if err != nil || from != want || to != known {
			t.Errorf("got %d to %d, %v, want %d to %d", from, to, err, want, known)
		}
	}
	if stored, _, err := store.Version(t.Context(), spec); err != nil || stored != known {
		t.Errorf("after: got %d, %v, want %d", stored, err, known)
	}
}

func TestADatabaseThatIsNewerThanTheProgramIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	_, known, err := store.Migrate(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9041, 1)`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	_, openErr := store.Open(t.Context(), path, nil)
	_, _, migrateErr := store.Migrate(t.Context(), path)
	for name, err := range map[string]error{"Open": openErr, "Migrate": migrateErr} {
		if !errors.Is(err, earshot.ErrSchema) || !strings.Contains(err.Error(), "9041") || !strings.Contains(err.Error(), fmt.Sprint("knows ", known)) {
			t.Errorf("%s: got %v, want ErrSchema naming 9041 and %d", name, err, known)
		}
	}
}

func TestADatabaseThatAKillLeftBeforeItsFirstMigrationIsMigrated(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), `CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY, version_id INTEGER NOT NULL, is_applied INTEGER NOT NULL)`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	from, to, err := store.Migrate(t.Context(), path)
	if err != nil || from != 0 || to < 2 {
		t.Fatalf("got %d to %d, %v, want 0 to the newest", from, to, err)
	}
	open(t, path)
}

func TestManyMayOpenANewDatabaseAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	errs := make([]error, 8)
	if raceEnabled {
		errs = errs[:4]
	}
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			s, err := store.Open(t.Context(), path, nil)
			if err == nil {
				_, err = s.Record(t.Context(), benchScope, chatter(i))
				err = errors.Join(err, s.Close())
			}
			errs[i] = err
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	count, err := open(t, path).Count(t.Context(), benchScope, earshot.Whole(), earshot.Position{})
	if err != nil || count.Count != len(errs) {
		t.Errorf("got %d, %v, want %d", count.Count, err, len(errs))
	}
}

// In a conversation of 200 turns that show equally many messages each, the last turns
// must not take more bytes than the first.
func TestBytesStoredOverManyTurnsGrowLinearly(t *testing.T) {
	t.Parallel()
	if raceEnabled {
		t.Skip("measures a file's size; nothing here runs at once")
	}
	path := filepath.Join(t.TempDir(), "x.db")
	size := func(turns int) int64 {
		s, err := store.Open(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		id := earshot.ConversationID{Agent: "a", Scope: benchScope, Name: "m0"}
		if _, _, err := s.OpenConversation(t.Context(), id, ""); err != nil {
			t.Fatal(err)
		}
		have, err := s.Turns(t.Context(), id, 0)
		if err != nil {
			t.Fatal(err)
		}
		for n := len(have); n < turns; n++ {
			turn := earshot.Turn{Answer: earshot.Answer{Anchor: chatterID(n)}, Session: []earshot.SessionEntry{
				{Role: earshot.User, Text: strings.Repeat("asked ", 300), Media: []earshot.ArtifactID{"F1"}},
				{Role: earshot.Assistant, Calls: []earshot.Call{{ID: "1", Name: "search", Args: strings.Repeat("args ", 20)}}, Opaque: strings.Repeat("opaque ", 50)},
				{Role: earshot.ToolRole, Call: "1", Text: strings.Repeat("found ", 100)}, {Role: earshot.Assistant, Text: strings.Repeat("told ", 200)}},
				Attached: []earshot.AttachedFile{{ID: "F1", SHA256: strings.Repeat("ab", 32), Tokens: 85}}, Form: "log", Zone: "Europe/Berlin"}
			for i := range 20 {
				turn.Shown = append(turn.Shown, earshot.ShownRevision{ID: chatterID(n*20 + i)})
				turn.Names = append(turn.Names, earshot.SessionName{ID: earshot.AuthorID(chatterID(n*20 + i)), Name: "Alice Example"})
				turn.Ledger = append(turn.Ledger, earshot.LedgerRow{ID: chatterID(n*20 + i), Section: "delta", Verdict: earshot.Full, Tokens: 20})
			}
			if _, err := s.CommitTurn(t.Context(), id, turn); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	empty, first, last := size(0), size(100), size(200)
	if grown, before := last-first, first-empty; grown > before*11/10 {
		t.Errorf("100 turns took %d bytes, the next 100 took %d", before, grown)
	}
}
