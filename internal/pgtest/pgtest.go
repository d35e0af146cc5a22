// Package pgtest gives tests a PostgreSQL database of their own.
//
//	func TestIt(t *testing.T) {
//		s, err := store.Open(t.Context(), pgtest.Spec(t), nil)
//
// [Spec] returns a new, empty schema, which is dropped when the test ends, in
// the server that EARSHOT_TEST_POSTGRES names (a postgres:// URL of a role
// that may create schemas). Without that variable the process starts a server
// of its own in a temporary folder, which goes with the process, however it
// ends. Where PostgreSQL is not installed a test is skipped, and fails with
// CI=true.
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

// Env names the server that tests use.
const Env = "EARSHOT_TEST_POSTGRES"

// shared is the process's own server.
var shared = sync.OnceValues(func() (*Server, error) { return start(false) })

// Spec returns the spec of an empty schema that is dropped when t ends.
func Spec(t testing.TB) string {
	t.Helper()
	if spec := os.Getenv(Env); spec != "" {
		return schema(t, spec)
	}
	s, err := shared()
	unless(t, err)
	return schema(t, s.Spec())
}

// unless ends a test that got no server: it is skipped on a laptop, and fails
// where everything must run.
func unless(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case errors.Is(err, errNone) && os.Getenv("CI") != "true":
		t.Skipf("NOT TESTED: %v", err)
	default:
		t.Fatal(err)
	}
}

// schema makes an empty schema in the database that spec names, and returns
// spec with it.
func schema(t testing.TB, spec string) string {
	t.Helper()
	name := newName()
	run := func(query string) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		return execute(ctx, spec, query)
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

// With returns spec with a setting of the connection's, such as search_path.
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

// Keywords returns spec, a URL, as a keyword DSN.
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
