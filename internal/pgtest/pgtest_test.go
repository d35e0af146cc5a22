package pgtest_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/earshot-ai/earshot/internal/pgtest"
	"github.com/jackc/pgx/v5"
)

func count(t *testing.T, spec string) int {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	n := 0
	if _, err := conn.Exec(t.Context(), "CREATE TABLE IF NOT EXISTS x (n int); INSERT INTO x VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM x").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestEachSchemaIsEmpty(t *testing.T) {
	t.Parallel()
	for range 2 {
		if got := count(t, pgtest.Spec(t)); got != 1 {
			t.Errorf("got %d rows, want 1", got)
		}
	}
}

func TestAKilledServerComesBackWithItsData(t *testing.T) {
	t.Parallel()
	s := pgtest.Start(t)
	spec := s.Schema(t)
	count(t, spec)
	s.Kill(t)
	if _, err := pgx.Connect(t.Context(), spec); err == nil {
		t.Error("a killed server answers")
	}
	s.Restart(t)
	if got := count(t, spec); got != 2 {
		t.Errorf("got %d rows, want 2", got)
	}
}

func TestEachCopyOfATemplateHasItsRowsAndNoOthers(t *testing.T) {
	t.Parallel()
	prepared := 0
	template := pgtest.NewTemplate(func(ctx context.Context, spec string) error {
		prepared++
		conn, err := pgx.Connect(ctx, spec)
		if err != nil {
			return err
		}
		_, err = conn.Exec(ctx, "CREATE TABLE x (n int); INSERT INTO x VALUES (1)")
		return errors.Join(err, conn.Close(ctx))
	})
	for range 2 {
		if got := count(t, template.Spec(t)); got != 2 {
			t.Errorf("got %d rows, want the template's and the test's", got)
		}
	}
	if os.Getenv(pgtest.Env) == "" && prepared != 1 {
		t.Errorf("the template was prepared %d times, want once", prepared)
	}
}
