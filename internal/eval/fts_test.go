package eval

import (
	order "cmp"
	"database/sql"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	_ "modernc.org/sqlite" // what is compared with
)

// TestTheFTSPeerScoresAsSQLiteDoes compares with FTS5 itself, on talk whose words
// the stemmers of both cut alike.
func TestTheFTSPeerScoresAsSQLiteDoes(t *testing.T) {
	t.Parallel()
	words := strings.Fields("crane cranes rope ropes berth boat boats tide storm storms café 荷物 the at of permit permits paid paying harbour 2 17")
	var texts []string
	for i := range 300 {
		var line []string
		for n := range 1 + i*7%13 {
			line = append(line, words[(i*i+n*n*5+n*i)%len(words)])
		}
		texts = append(texts, strings.Join(line, []string{" ", ", ", "-"}[i%3]))
	}
	db, err := sql.Open("sqlite", "file::memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), `CREATE VIRTUAL TABLE said USING fts5(text, tokenize='porter unicode61')`); err != nil {
		t.Fatal(err)
	}
	mine := newFTS()
	for i, text := range texts {
		mine.add(text)
		if _, err := db.ExecContext(t.Context(), `INSERT INTO said(rowid, text) VALUES (?, ?)`, i, text); err != nil {
			t.Fatal(err)
		}
	}
	for _, query := range []string{"crane", "a boat, paid?", "Storm of the CAFE", "荷物 permits at berth 17", "unheard"} {
		var or []string
		for _, w := range strings.FieldsFunc(query, func(r rune) bool { return strings.ContainsRune(" ,?", r) }) {
			or = append(or, `"`+w+`"`)
		}
		rows, err := db.QueryContext(t.Context(), `SELECT rowid, -bm25(said) FROM said WHERE said MATCH ?`, strings.Join(or, " OR "))
		if err != nil {
			t.Fatal(err)
		}
		want := map[int]float64{}
		for rows.Next() {
			var n int
			var score float64
			if err := rows.Scan(&n, &score); err != nil {
				t.Fatal(err)
			}
			want[n] = score
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		got := mine.scores(query)
		if diff := cmp.Diff(got, want, cmpopts.EquateApprox(0, 1e-5)); diff != "" {
			t.Errorf("%q (-got +SQLite):\n%s", query, diff)
		}
		if len(want) == 0 && query != "unheard" {
			t.Errorf("%q finds nothing in SQLite", query)
		}
		ranked := mine.rank(query)
		if !slices.IsSortedFunc(ranked, func(a, b int) int { return order.Or(order.Compare(got[b], got[a]), order.Compare(b, a)) }) || len(ranked) != len(got) {
			t.Errorf("%q is not ranked by score, the newer first: %v", query, ranked)
		}
	}
}
