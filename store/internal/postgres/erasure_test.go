package postgres

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/pgtest"
)

// Whatever an erasure asks the server uses an index, on tables of some size.
func TestEveryStatementOfAnErasureUsesAnIndex(t *testing.T) {
	t.Parallel()
	spec := pgtest.Spec(t)
	fill(t, opened(t, spec))
	c, err := parse(spec)
	check(t, err)
	r := &recorder{}
	c.pool.ConnConfig.Tracer = r
	s, err := open(context.Background(), c, time.Now, slog.New(slog.DiscardHandler))
	check(t, err)
	defer s.Close()
	of := earshot.ErasureOf{Platform: scope.Platform, Workspace: scope.Workspace}
	kinds := []earshot.ErasureOf{of, of, of}
	kinds[0].Channel, kinds[0].Messages = scope.Channel, []earshot.MessageID{"old1", "old3"}
	kinds[1].Channel, kinds[1].Before = scope.Channel, 1050
	kinds[2].User = "U3"
	for _, of := range kinds {
		_, err := s.PlanErasure(t.Context(), of)
		check(t, err)
		e, err := s.BeginErasure(t.Context(), of)
		check(t, err)
		for range 5 {
			_, err = s.StepErasure(t.Context(), e.ID)
			check(t, err)
		}
	}
	check(t, s.Remember(t.Context(), scope.Platform, scope.Workspace, "U3"))
	seen := map[string]bool{}
	for _, st := range r.sent {
		word, _, _ := strings.Cut(st.query, " ")
		if seen[st.query] || !slices.Contains([]string{"SELECT", "UPDATE", "DELETE", "INSERT", "WITH"}, word) ||
			strings.Contains(st.query, "FROM erasure") || strings.HasPrefix(st.query, "UPDATE erasure") || // a row for each erasure there ever was
			strings.HasPrefix(st.query, "UPDATE barred") { // Remember alone, which does not know the channels
			continue
		}
		seen[st.query] = true
		for _, bad := range explain(t, s, st) {
			t.Errorf("%s\n\t%s", st.query, bad)
		}
	}
	if len(seen) < 20 {
		t.Errorf("only %d statements were seen", len(seen))
	}
}
