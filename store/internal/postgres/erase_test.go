package postgres

import (
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/pgtest"
	"github.com/jackc/pgx/v5"
)

// filled writes a row into every table that a channel has rows in, and returns
// how many rows there are in all.
func filled(t *testing.T, s *Store, scope earshot.Scope) int {
	t.Helper()
	ctx := t.Context()
	id := earshot.ConversationID{Agent: "agent-" + earshot.AgentID(scope.Channel), Scope: scope, Name: "dm"}
	root, edit, inThread := said("m1", 1, "text"), said("m1", 1, "edited"), said("m2", 2, "text")
	edit.Edited, inThread.Thread = 3, "m1"
	inThread.Author.ID = "U-" + earshot.AuthorID(scope.Channel)
	_, err := s.Record(ctx, scope, root, edit, inThread)
	check(t, err)
	check(t, s.PutAuthors(ctx, scope.Platform, scope.Workspace, inThread.Author))
	check(t, s.PutCoverage(ctx, scope, earshot.Coverage{State: earshot.Missing}))
	out, err := s.Accept(ctx, scope, earshot.Event{Delivery: "Ev", Message: said("m3", 3, "asked")}, &id)
	check(t, err)
	l, _, err := s.Claim(ctx, id.Agent, "owner", 9, time.Hour)
	check(t, err)
	check(t, s.Begin(ctx, l, out.Turn, earshot.Prompt{Hash: "h", Shows: []earshot.MessageID{"m1"}}))
	check(t, s.AddStep(ctx, l, out.Turn, earshot.Step{Data: []byte("x")}))
	check(t, s.PutPost(ctx, l, earshot.Post{Turn: out.Turn, Key: "k", Text: "x", State: earshot.PostPlanned}))
	check(t, s.Finish(ctx, l, out.Turn, earshot.TurnDone, "", &earshot.Turn{
		Answer: earshot.Answer{Anchor: "m3"}, Shown: make([]earshot.Shown, 1), Attached: make([]earshot.Attached, 1),
		Session: make([]earshot.SessionEntry, 1), Ledger: make(earshot.Ledger, 1)}))
	check(t, s.PutSummary(ctx, id, earshot.Summary{Text: "x"}, 9))
	return rowsOfAll(t, s)
}

// rowsOfAll counts the rows of all tables.
func rowsOfAll(t *testing.T, s *Store) int {
	t.Helper()
	tables, err := list(t.Context(), s, "tables", `SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename`, nil,
		func(rows pgx.Rows, name *string) error { return rows.Scan(name) })
	check(t, err)
	if len(tables) < 18 {
		t.Fatalf("found the tables %v", tables)
	}
	total := 0
	for _, table := range tables {
		n, err := list(t.Context(), s, "count", `SELECT count(*) FROM `+table, nil, func(rows pgx.Rows, n *int) error { return rows.Scan(n) })
		check(t, err)
		total += n[0]
	}
	return total
}

func TestAChannelThatIsErasedLeavesNoRow(t *testing.T) {
	t.Parallel()
	s := opened(t, pgtest.Spec(t))
	other := scope
	other.Channel = "C2"
	before := filled(t, s, other)
	if with := filled(t, s, scope); with < before+18 {
		t.Fatalf("%d rows became %d: not every table was filled", before, with)
	}
	check(t, s.Erase(t.Context(), scope))
	if got := rowsOfAll(t, s); got != before {
		t.Errorf("got %d rows, want the %d of the other channel", got, before)
	}
}
