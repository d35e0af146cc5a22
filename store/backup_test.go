package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store"
)

// Four writers record without a pause while copies are made. Each copy is whole, has
// all that was acknowledged before it was begun, and is of one moment: of each
// writer's messages the first so many.
func TestABackupUnderConcurrentWritesIsOfOneMoment(t *testing.T) {
	t.Parallel()
	const writers, copies = 4, 5
	dir := t.TempDir()
	path := filepath.Join(dir, "x.db")
	s := open(t, path)
	var acknowledged [writers]atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	started := make(chan struct{}, writers)
	for w := range writers {
		scope := scopeOf(w)
		running.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				if _, err := s.Record(context.WithoutCancel(ctx), scope, word(fmt.Sprintf("m%06d", n), n+1, "", strings.Repeat("word ", 1+n%300))); err != nil {
					t.Error(err)
					return
				}
				if acknowledged[w].Store(int64(n + 1)); n == 9 {
					started <- struct{}{}
				}
			}
		})
	}
	for range writers {
		<-started
	}
	var before [copies][writers]int64
	for i := range copies {
		for w := range writers {
			before[i][w] = acknowledged[w].Load()
		}
		if err := store.Backup(t.Context(), path, filepath.Join(dir, fmt.Sprint("copy", i))); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	running.Wait()
	for i := range copies {
		name := filepath.Join(dir, fmt.Sprint("copy", i))
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("got %v, %v, want a file for its owner only", info, err)
		}
		if got := pragma(t, name, "integrity_check"); got != "ok" {
			t.Errorf("copy %d: %s", i, got)
		}
		c := open(t, name)
		for w := range writers {
			var got []earshot.MessageID
			list, err := c.Since(t.Context(), scopeOf(w), 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range list {
				got = append(got, m.ID)
			}
			if int64(len(got)) < before[i][w] {
				t.Errorf("copy %d of writer %d: %d messages, and %d were acknowledged before", i, w, len(got), before[i][w])
			}
			for n, id := range got {
				if id != earshot.MessageID(fmt.Sprintf("m%06d", n)) {
					t.Fatalf("copy %d of writer %d: message %d is %s", i, w, n, id)
				}
			}
			counted, err := c.Count(t.Context(), scopeOf(w), earshot.Whole(), earshot.Position{})
			if err != nil || counted.Count != len(got) {
				t.Errorf("copy %d of writer %d: counted %d, %v, want %d", i, w, counted.Count, err, len(got))
			}
		}
	}
	t.Logf("before each copy: %v; at the end %d, %d, %d, %d", before, acknowledged[0].Load(), acknowledged[1].Load(), acknowledged[2].Load(), acknowledged[3].Load())
}

func pragma(t *testing.T, path, name string) (out string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err == nil {
		err = errors.Join(db.QueryRowContext(t.Context(), "PRAGMA "+name).Scan(&out), db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestABackupIsOfTheDatabaseAsItIsAndOverwritesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, to := filepath.Join(dir, "x.db"), filepath.Join(dir, "copy.db")
	if err := store.Backup(t.Context(), path, to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of nothing: got %v, want fs.ErrNotExist", err)
	}
	s := open(t, path)
	gone := word("m2", 2, "", "canary")
	if _, err := s.Record(t.Context(), scopeOf(1), word("m1", 1, "", "hello"), gone); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Record(t.Context(), scopeOf(1), earshot.Message{ID: "m2", Time: 2, Deleted: true}); err != nil {
		t.Fatal(err)
	}
	if err := store.Backup(t.Context(), path, to); err != nil {
		t.Fatal(err)
	}
	copied, err := os.ReadFile(to)
	if err != nil || strings.Contains(string(copied), "canary") {
		t.Errorf("the copy has what was deleted, or cannot be read: %v", err)
	}
	if got, want := pragma(t, to, "application_id"), pragma(t, path, "application_id"); got != want {
		t.Errorf("got the mark %s, want %s", got, want)
	}
	was := slices.Clone(copied)
	if err := store.Backup(t.Context(), path, to); !errors.Is(err, fs.ErrExist) {
		t.Errorf("again: got %v, want fs.ErrExist", err)
	}
	if now, err := os.ReadFile(to); err != nil || !slices.Equal(now, was) {
		t.Errorf("the first copy was changed: %v", err)
	}
	unfinished := filepath.Join(dir, "third.db")
	if err := os.WriteFile(unfinished+".partial", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := store.Backup(t.Context(), path, unfinished); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), ".partial") {
		t.Errorf("beside an unfinished copy: got %v, want fs.ErrExist with its name", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	left := filepath.Join(dir, "left.db")
	if err := store.Backup(ctx, path, left); err == nil {
		t.Error("after a cancel: no error")
	}
	if found, _ := filepath.Glob(left + "*"); len(found) > 0 {
		t.Errorf("after a cancel %v is left", found)
	}
	if err := store.Backup(t.Context(), "memory:", left); !errors.Is(err, store.ErrNoBackup) {
		t.Errorf("of memory: got %v, want ErrNoBackup", err)
	}
}

func TestTheCommandForADumpHasNoPassword(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{
		"postgres://u:hunter2@db:5433/earshot?sslmode=require&pool_max_conns=3":                                  "pg_dump --format=custom --file=f postgres://u@db:5433/earshot?sslmode=require",
		"postgres:///db?host=/run/postgresql&user=u&password=hunter2&search_path=bot,public&sslpassword=hunter2": "pg_dump --format=custom --file=f --schema=bot postgres:///db?host=%2Frun%2Fpostgresql&user=u",
		"host=db dbname=earshot user=u password=hunter2":                                                         "pg_dump --format=custom --file=f postgres://u@db/earshot",
	} {
		args, ok := store.DumpCommand(spec, "f")
		if got := strings.Join(args, " "); !ok || got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if _, ok := store.DumpCommand("x.db", "f"); ok {
		t.Error("a SQLite file has a command")
	}
}
