package sqlite

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// While another process makes a new database, its lock is waited for also by the
// statement that turns on the WAL, for which SQLite itself does not wait.
func TestTheMakingOfANewDatabaseIsWaitedFor(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	other, err := dial(path, readWrite, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	lock, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	waited, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, _, err := Migrate(waited, path); waited.Err() == nil {
		t.Fatalf("while another has the lock: got %v at once, want it to be waited for", err)
	}
	time.AfterFunc(50*time.Millisecond, func() { _ = lock.Rollback() })
	s, err := Open(t.Context(), path, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
