package pgtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// A Template is a database that is prepared once in a process and copied for
// each test: a copy takes a third of the time that a store's migrations take.
// It is safe for concurrent use.
type Template struct {
	prepare func(ctx context.Context, spec string) error

	once     sync.Once
	name     string // of the database
	strategy string // how it is copied
	err      error
}

// NewTemplate returns a template. prepare is called when the first test asks
// for a copy, with the spec of an empty database; when it returns, it must
// have closed its connections.
func NewTemplate(prepare func(ctx context.Context, spec string) error) *Template {
	return &Template{prepare: prepare}
}

// Spec returns the spec of a copy that is dropped when t ends. In the server
// that [Env] names, where the role may not be allowed to create databases, it
// is a new schema that prepare is called for.
func (x *Template) Spec(t testing.TB) string {
	t.Helper()
	if os.Getenv(Env) != "" {
		spec := Spec(t)
		if err := x.prepare(t.Context(), spec); err != nil {
			t.Fatalf("prepare a schema for the test: %v", err)
		}
		return spec
	}
	s, err := shared()
	requireServer(t, err)
	x.once.Do(func() {
		x.name = newName()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		defer cancel()
		if x.err = s.exec(ctx, "CREATE DATABASE "+x.name+" TEMPLATE template0"); x.err == nil {
			x.err = x.prepare(ctx, s.database(x.name))
		}
		if x.err == nil {
			x.strategy, x.err = s.strategy(ctx)
		}
	})
	if x.err != nil {
		t.Fatalf("prepare the template database: %v", x.err)
	}
	name := newName()
	run := func(query string) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Minute)
		defer cancel()
		return s.exec(ctx, query)
	}
	if err := run("CREATE DATABASE " + name + " TEMPLATE " + x.name + x.strategy); err != nil {
		t.Fatalf("copy the template database: %v", err)
	}
	t.Cleanup(func() {
		if err := run("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			t.Errorf("drop the test's database: %v", err)
		}
	})
	return s.database(name)
}

// strategy returns how a database is copied fastest where nothing is synced: as
// files, and not through the WAL, which is PostgreSQL's default since version 15.
func (s *Server) strategy(ctx context.Context) (string, error) {
	conn, err := pgx.Connect(ctx, s.Spec())
	if err != nil {
		return "", fmt.Errorf("connect: %w", err)
	}
	var version int
	err = conn.QueryRow(ctx, "SELECT current_setting('server_version_num')::int").Scan(&version)
	if err = errors.Join(err, conn.Close(ctx)); err != nil || version < 150000 {
		return "", err
	}
	return " STRATEGY file_copy", nil
}

// newName returns a name that no other schema or database has.
func newName() string { return "earshot_test_" + strings.ToLower(rand.Text()) }

// database returns the spec of another database in the server.
func (s *Server) database(name string) string {
	u, err := url.Parse(s.Spec())
	if err != nil {
		panic(err) // Spec makes a URL
	}
	u.Path = "/" + name
	return u.String()
}

// exec runs a statement in the server's default database.
func (s *Server) exec(ctx context.Context, query string) error {
	return executeSQL(ctx, s.Spec(), query)
}

// executeSQL runs a statement over a connection of its own.
func executeSQL(ctx context.Context, spec, query string) error {
	conn, err := pgx.Connect(ctx, spec)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	_, err = conn.Exec(ctx, query)
	if e := conn.Close(ctx); err == nil {
		err = e
	}
	return err
}
