package postgres

import (
	"fmt"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/pgtest"
	"github.com/jackc/pgx/v5"
)

// The planner's statistics once kept the words of messages until the next ANALYZE,
// whatever was erased meanwhile.
func TestNoStatisticsAreKeptOfWhatPeopleWrite(t *testing.T) {
	t.Parallel()
	s := opened(t, pgtest.Spec(t))
	for i := range 20 {
		m := said(earshot.MessageID(fmt.Sprintf("m%d", i)), earshot.Time(i+1), fmt.Sprintf("canary %d of twenty", i))
		m.Author = earshot.Author{ID: earshot.AuthorID(fmt.Sprintf("U%d", i)), Name: "canary"}
		_, err := s.Record(t.Context(), scope, m)
		check(t, err)
		check(t, s.PutAuthors(t.Context(), scope.Platform, scope.Workspace, m.Author))
	}
	exec(t, s, `ANALYZE message, author`)
	rows, err := s.pool.Query(t.Context(), `SELECT tablename || '.' || attname FROM pg_stats WHERE schemaname = $1
		AND (most_common_vals::text LIKE '%canary%' OR histogram_bounds::text LIKE '%canary%')`, s.schema)
	check(t, err)
	kept, err := pgx.CollectRows(rows, pgx.RowTo[string])
	check(t, err)
	if len(kept) != 0 {
		t.Errorf("statistics are kept of %v", kept)
	}
	var named int
	check(t, s.pool.QueryRow(t.Context(), `SELECT count(*) FROM pg_stats WHERE schemaname = $1 AND tablename = 'message'`, s.schema).Scan(&named))
	if named == 0 {
		t.Error("no statistics are kept at all: ANALYZE has not run")
	}
}
