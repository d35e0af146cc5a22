package postgres

import (
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
)

// Whatever an erasure asks the server uses an index, on tables of some size.
func TestEveryStatementOfAnErasureUsesAnIndex(t *testing.T) {
	t.Parallel()
	s, r := recorded(t)
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
	n := r.usesIndexes(t, s, func(query string) bool {
		return strings.Contains(query, "FROM erasure") || strings.HasPrefix(query, "UPDATE erasure") || // a row for each erasure there ever was
			strings.HasPrefix(query, "UPDATE barred") // Remember alone, which does not know the channels
	})
	if n < 20 {
		t.Errorf("only %d statements were seen", n)
	}
}
