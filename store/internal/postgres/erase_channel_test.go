package postgres

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/pgtest"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// filled writes a row into every table that a channel has rows in, and returns
// how many rows there are in all.
func filled(t *testing.T, s *Store, scope earshot.Scope) int {
	t.Helper()
	ctx := t.Context()
	id := earshot.ConversationID{Agent: "agent-" + earshot.AgentID(scope.Channel), Scope: scope, Name: "dm"}
	root, edit, inThread := said("m1", 1, "text"), said("m1", 1, "edited"), said("m2", 2, "text")
	edit.Edited, inThread.Thread = 3, "m1"
	edit.Files = []earshot.File{{ID: "F1"}}
	inThread.Author.ID = "U-" + earshot.AuthorID(scope.Channel)
	_, err := s.Record(ctx, scope, root, edit, inThread)
	check(t, err)
	check(t, s.PutBlob(ctx, scope, "m1", "F1", earshot.Blob{SHA256: "aa", Data: []byte("x")}))
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
		Answer: earshot.Answer{Anchor: "m3"}, Shown: make([]earshot.ShownRevision, 1), Attached: make([]earshot.AttachedFile, 1),
		Names: make([]earshot.SessionName, 1), Session: make([]earshot.SessionEntry, 1), Ledger: make(earshot.Ledger, 1)}))
	summarise(t, s, id, "x", "m1")
	return rowsOfAll(t, s)
}

// rowsOfAll counts the rows of all tables.
func rowsOfAll(t *testing.T, s *Store) int {
	t.Helper()
	names, err := tables.List(t.Context(), s, "tables", `SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename`, nil, tables.Scan[string])
	check(t, err)
	if len(names) < 21 {
		t.Fatalf("found the tables %v", names)
	}
	total := 0
	for _, table := range names {
		n, err := tables.List(t.Context(), s, "count", `SELECT count(*) FROM `+table, nil, tables.Scan[int])
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
	if with := filled(t, s, scope); with < before+21 {
		t.Fatalf("%d rows became %d: not every table was filled", before, with)
	}
	check(t, s.Erase(t.Context(), scope))
	if got := rowsOfAll(t, s); got != before {
		t.Errorf("got %d rows, want the %d of the other channel", got, before)
	}
}

// Replicas hear, answer, delete, prune and erase at once. Nobody waits in a
// circle, and what is erased last is erased whole.
func TestReplicasAnswerAndEraseWithoutDeadlock(t *testing.T) {
	t.Parallel()
	spec := pgtest.Spec(t)
	first := opened(t, spec)
	empty, before := rowsOfAll(t, first), deadlocks(t, first)
	refused := func(err error) bool {
		return err == nil || errors.Is(err, earshot.ErrFenced) || errors.Is(err, earshot.ErrNotFound) || errors.Is(err, earshot.ErrConflict)
	}
	var wg sync.WaitGroup
	for r := range 4 {
		s := opened(t, spec)
		wg.Go(func() {
			for n := range 60 {
				_, answered := answer(t, s, fmt.Sprint("replica ", r))
				_, recorded := s.Record(t.Context(), scope, tombstones(question(n-5))...)
				errs := []error{hear(t, s, n, 5), answered, recorded, s.PutAuthors(t.Context(), scope.Platform, scope.Workspace, said("m", 1, "").Author)}
				if n%8 == r {
					errs = append(errs, s.Erase(t.Context(), scope))
				}
				if blob := share(t, s, n); !refused(blob) {
					t.Error(blob)
				}
				if n%4 == r {
					_, err := s.PruneTurns(t.Context(), 1<<60)
					errs = append(errs, err)
				}
				for _, err := range errs {
					if !refused(err) {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	check(t, first.Erase(t.Context(), scope))
	if got := rowsOfAll(t, first); got != empty {
		t.Errorf("got %d rows, want the %d of an empty store", got, empty)
	}
	if n := deadlocks(t, first) - before; n > 0 {
		t.Errorf("%d deadlocks", n)
	}
}
