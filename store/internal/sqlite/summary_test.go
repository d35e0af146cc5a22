package sqlite

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// manyConversations writes 100,000 conversations of one agent past the store: each
// hundredth is due, and half of those are held.
const manyConversations = `INSERT INTO conversation (agent, platform, workspace, channel, name, idempotency_key, cursor, epoch, turns, weight, metadata, created, updated, summary_until)
	WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
	SELECT 'a', 'slack', 'T1', 'C' || i % 300, 'm' || i, '', 0, 0, 41, CASE WHEN i % 100 = 0 THEN 41 + i % 7 ELSE i % 41 END, '{}', 1, 1, CASE WHEN i % 200 = 0 THEN 1000 ELSE 0 END FROM n`

func BenchmarkClaimSummary(b *testing.B) {
	s := fresh(b)
	check(b, s.inTx(b.Context(), "fill", func(t *tx) error { return t.exec(manyConversations) }))
	b.Run("none due", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.ClaimSummary(b.Context(), "a", "me", 100, 10, time.Minute); !errors.Is(err, earshot.ErrNotFound) {
				b.Fatal(err)
			}
		}
	})
	b.Run("500 due of 1,000 that are not all free", func(b *testing.B) {
		for b.Loop() {
			c, err := s.ClaimSummary(b.Context(), "a", "me", 40, 10, time.Minute)
			check(b, err)
			check(b, s.ReleaseSummary(b.Context(), c, 0))
		}
	})
}

func TestWhatIsDueIsFoundByItsIndex(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	steps := strings.Join(plan(t.Context(), t, s, tables.Due), "\n")
	if !strings.Contains(steps, "conversation_due (agent=? AND <expr>>?)") || strings.Contains(steps, "TEMP B-TREE") {
		t.Errorf("the plan is\n%s", steps)
	}
}
