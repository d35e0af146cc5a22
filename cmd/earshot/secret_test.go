package main

import (
	"strings"
	"testing"

	"github.com/earshot-ai/earshot/internal/pgtest"
	"github.com/earshot-ai/earshot/store"
)

// ran is one run of the program.
func ran(t *testing.T, environ []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	code = run(t.Context(), append([]string{"earshot"}, args...), environ, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

func TestNoCommandPrintsTheDatabasesPassword(t *testing.T) {
	t.Parallel()
	spec := pgtest.Keywords(pgtest.Spec(t))
	// The server takes any password or the right one; a further secret shows what
	// is printed of what the spec holds.
	spec += " sslpassword=canary"
	for _, args := range [][]string{
		{"import", "jsonl", "testdata/one.jsonl"}, {"status"}, {"status", "--json"}, {"migrate"}, {"migrate", "--json"}, {"channels"},
	} {
		code, out, errs := ran(t, nil, append([]string{"--db", spec}, args...)...)
		if code != exitOK || strings.Contains(out+errs, "canary") || strings.Contains(out+errs, "sslpassword") {
			t.Errorf("%s: got status %d, %q, %q, want 0 and no secret", args, code, out, errs)
		}
	}
	if _, out, _ := ran(t, nil, "--db", spec, "migrate"); !strings.HasPrefix(out, store.RedactSpec(spec)) {
		t.Errorf("got %q, want it to begin with %q", out, store.RedactSpec(spec))
	}
}
