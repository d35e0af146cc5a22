package store_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot/internal/pgtest"
	"github.com/earshot-ai/earshot/store"
)

// A DSN was once taken for a path, and a file was created whose name contained the
// password.
func TestADSNWithAPasswordIsNoPath(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, spec := range []string{
		"host=127.0.0.1 port=1 user=u password=secret dbname=d connect_timeout=1",
		"host=127.0.0.1 port=1 user=u password='se cret' connect_timeout=1",
		`password = 'it\'s secret' host = 127.0.0.1 port = 1`,
		"host=127.0.0.1 password='secret",
		"host=127.0.0.1 secret",
		"host=127.0.0.1 port=x password=secret",
		"HOST=127.0.0.1 PORT=1 PASSWORD=secret",
		"x.db;password=secret",
		"//u:secret@h/db",
		"u:secret@h/db",
		"@:secret@h",
		"./host=h password=secret",
		"sqlite:host=h password=secret",
		"sqlite:postgres://u:secret@h/db",
		"sqlite://u:secret@h/db",
		"Postgres://u:secret@127.0.0.1:1/db",
		"postgresql://u:secret@127.0.0.1:1/db?connect_timeout=1",
		"postgres://u@127.0.0.1:1/db?password=secret&connect_timeout=1",
	} {
		_, err := store.Open(t.Context(), spec, nil)
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("Open(%q): got %v, want an error without the password", spec, err)
		}
		if path, ok := store.File(spec); ok {
			t.Errorf("File(%q): got %q, want no file", spec, path)
		}
		if got := store.RedactSpec(spec); strings.Contains(got, "secret") {
			t.Errorf("Shown(%q): got %q, want it without the password", spec, got)
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("got files %v, %v, want none", left, err)
	}
}

func TestShownSaysWhichStore(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{
		"x.db":                            "sqlite:x.db",
		"postgres.db":                     "sqlite:postgres.db",
		"sqlite:a b?c.db":                 "sqlite:a b?c.db",
		"memory:":                         "memory:",
		"postgresql://u:p@h:5/d?x=y":      "postgres://u@h:5/d",
		"host=h user=u password=p":        "postgres://u@h/",
		"host=h port=5 dbname='a b'":      "postgres://h:5/a%20b",
		"host=/run/pg user=u dbname=d":    "postgres://u@/d",
		"dbname=d host=::1 options=-cx=y": "postgres://[::1]/d",
		"mysql://u:p@h":                   "…",
	} {
		if got := store.RedactSpec(spec); got != want {
			t.Errorf("%q: got %q, want %q", spec, got, want)
		}
	}
}

func TestAKeywordDSNThatCannotBeReadIsRefused(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{"host=h user", "host='h", "host=h =x", "host=h user=u;password=secret'"} {
		if _, err := store.Open(t.Context(), spec, nil); !errors.Is(err, store.ErrSpec) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: got %v, want ErrSpec without the password", spec, err)
		}
	}
}

func TestAKeywordDSNOpensPostgreSQL(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Keywords(pgtest.Spec(t)))
	if _, err := s.Record(t.Context(), benchScope, chatter(1)); err != nil {
		t.Error(err)
	}
}
