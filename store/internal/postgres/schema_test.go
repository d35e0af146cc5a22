package postgres

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/pgtest"
	"github.com/jackc/pgx/v5"
)

func TestMigrateTellsFromAndTo(t *testing.T) {
	t.Parallel()
	spec := pgtest.Spec(t)
	before, err := Inspect(t.Context(), spec)
	known := before.Known
	if err != nil || before.Stored != 0 || known < 1 {
		t.Fatalf("before: got %+v, %v, want 0 and what is known", before, err)
	}
	for _, want := range []int64{0, known} {
		from, to, err := Migrate(t.Context(), spec)
		if err != nil || from != want || to != known {
			t.Errorf("got %d to %d, %v, want %d to %d", from, to, err, want, known)
		}
	}
	if after, err := Inspect(t.Context(), spec); err != nil || !after.UpToDate() {
		t.Errorf("after: got %+v, %v, want %d", after, err, known)
	}
}

func TestADatabaseThatIsNewerThanTheProgramIsRefused(t *testing.T) {
	t.Parallel()
	spec := pgtest.Spec(t)
	s := opened(t, spec)
	exec(t, s, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9041, true)`)
	has, err := Inspect(t.Context(), spec)
	known := has.Known
	check(t, err)
	_, openErr := Open(t.Context(), spec, s.now, s.log)
	_, _, migrateErr := Migrate(t.Context(), spec)
	for name, err := range map[string]error{"Open": openErr, "Migrate": migrateErr} {
		if !errors.Is(err, earshot.ErrSchema) || !strings.Contains(err.Error(), "9041") || !strings.Contains(err.Error(), fmt.Sprint("knows ", known)) {
			t.Errorf("%s: got %v, want ErrSchema naming 9041 and %d", name, err, known)
		}
	}
}

func TestManyReplicasMayStartAtOnce(t *testing.T) {
	t.Parallel()
	spec := pgtest.Spec(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			s, err := Open(t.Context(), spec, time.Now, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			if _, err := s.Record(t.Context(), scope, said(earshot.MessageID(fmt.Sprint("m", i)), 1, "x")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := stored(t, opened(t, spec)); got != 8 {
		t.Errorf("stored %d, want 8", got)
	}
}

func TestAReplicaWaitsForAMigrationHoweverLongItTakes(t *testing.T) {
	t.Parallel()
	spec := pgtest.With(pgtest.Spec(t), "lock_timeout", "1ms")
	other, err := pgx.Connect(t.Context(), spec)
	check(t, err)
	defer other.Close(t.Context())
	_, err = other.Exec(t.Context(), migrationLock)
	check(t, err)
	done := make(chan error)
	go func() { _, _, err := Migrate(t.Context(), spec); done <- err }()
	eventually(t, func() bool {
		n := 0
		check(t, other.QueryRow(t.Context(), `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`).Scan(&n))
		return n > 0
	})
	_, err = other.Exec(t.Context(), `SELECT pg_sleep(0.02), pg_advisory_unlock_all()`)
	check(t, err)
	check(t, <-done)
}
