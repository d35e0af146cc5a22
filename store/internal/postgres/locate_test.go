package postgres

import (
	"fmt"
	"slices"
	"testing"

	"github.com/earshot-ai/earshot/internal/pgtest"
)

func TestLocateFindsATableThatItWasNotToldOf(t *testing.T) {
	t.Parallel()
	s := opened(t, pgtest.Spec(t))
	exec(t, s, `CREATE TABLE "odd ""table" (n integer, b bytea, j jsonb, PRIMARY KEY (n))`)
	exec(t, s, `INSERT INTO "odd ""table" SELECT n, decode(repeat('00', 2000), 'hex'), '{}' FROM generate_series(0, 3999) n`) // eight steps' blocks
	exec(t, s, `UPDATE "odd ""table" SET b = 'a canary' WHERE n = 0`)
	exec(t, s, `UPDATE "odd ""table" SET j = '{"a": "canary"}' WHERE n = 3999`)
	var got []string
	for p, err := range s.Locate(t.Context(), "canary", nil) {
		check(t, err)
		got = append(got, p.Table+"|"+p.Column+"|"+p.Row)
	}
	slices.Sort(got)
	want := []string{`odd "table|b|n=0`, `odd "table|j|n=3999`}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
