// Package pgtest gives tests a PostgreSQL database of their own.
//
//	func TestIt(t *testing.T) {
//		s, err := store.Open(t.Context(), pgtest.Spec(t), nil)
//
// [Spec] returns a new, empty schema, which is dropped when the test ends.
// [NewTemplate] prepares a database once, such as by migrations, and returns a copy
// of it to each test. [Start] starts a server that a test may kill.
//
// The server is the one that EARSHOT_TEST_POSTGRES names, by the postgres:// URL
// of a role that may create schemas. Without that variable the process starts its
// own server in a temporary folder; the server ends and the folder is deleted with
// the process, even if that is killed. Where PostgreSQL is not installed the test
// is skipped, or fails if CI=true.
package pgtest

import (
	"context"
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

// Env is the environment variable that names the server.
const Env = "EARSHOT_TEST_POSTGRES"

// shared is the process's own server.
var shared = sync.OnceValues(func() (*Server, error) { return startServer(false) })

// Spec returns the spec of an empty schema that is dropped when t ends.
func Spec(t testing.TB) string {
	t.Helper()
	if spec := os.Getenv(Env); spec != "" {
		return createSchema(t, spec)
	}
	s, err := shared()
	requireServer(t, err)
	return createSchema(t, s.Spec())
}

// requireServer ends the test if err is not nil: the test is skipped where PostgreSQL is not
// installed, and fails after any other error or with CI=true.
func requireServer(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case errors.Is(err, errNone) && os.Getenv("CI") != "true":
		t.Skipf("NOT TESTED: %v", err)
	default:
		t.Fatal(err)
	}
}

// createSchema creates an empty schema in the database that spec names, and returns the
// spec of that schema.
func createSchema(t testing.TB, spec string) string {
	t.Helper()
	name := newName()
	run := func(query string) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		return executeSQL(ctx, spec, query)
	}
	if err := run("CREATE SCHEMA " + name); err != nil {
		t.Fatalf("make a schema for the test: %v", err)
	}
	t.Cleanup(func() {
		if err := run("DROP SCHEMA IF EXISTS " + name + " CASCADE"); err != nil {
			t.Errorf("drop the test's schema: %v", err)
		}
	})
	return With(spec, "search_path", name)
}

// With returns spec, a URL, with a setting of the connection added, such as
// search_path.
func With(spec, key, value string) string {
	u, err := url.Parse(spec)
	if err != nil {
		panic(fmt.Sprintf("%s is not a URL", Env)) // without the URL, which may hold a password
	}
	q := u.Query()
	q.Set(key, value)
	u.RawQuery = q.Encode()
	return u.String()
}

// Keywords returns spec, a URL, in the keyword form of libpq.
func Keywords(spec string) string {
	c, err := pgx.ParseConfig(spec)
	if err != nil {
		panic(fmt.Sprintf("%s is not a URL", Env)) // without the URL, which may hold a password
	}
	quote := strings.NewReplacer(`\`, `\\`, `'`, `\'`)
	out := fmt.Sprintf("host='%s' port=%d dbname='%s' user='%s' password='%s' sslmode=disable",
		quote.Replace(c.Host), c.Port, quote.Replace(c.Database), quote.Replace(c.User), quote.Replace(c.Password))
	for key, value := range c.RuntimeParams {
		out += fmt.Sprintf(" %s='%s'", key, quote.Replace(value))
	}
	return out
}
