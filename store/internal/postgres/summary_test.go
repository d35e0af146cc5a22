package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/pgtest"
)

func BenchmarkClaimSummary(b *testing.B) {
	s := opened(b, pgtest.Spec(b))
	check(b, s.inTx(b.Context(), "fill", func(_ context.Context, t *tx) error { // each hundredth is due, and half of those are held
		t.Write(`INSERT INTO conversation (agent, platform, workspace, channel, name, idempotency_key, cursor, epoch, turns, weight, metadata, created, updated, summary_until)
			SELECT 'a', 'slack', 'T1', 'C' || i % 300, 'm' || i, '', 0, 0, 41, CASE WHEN i % 100 = 0 THEN 41 + i % 7 ELSE i % 41 END, '{}', 1, 1, CASE WHEN i % 200 = 0 THEN 1000 ELSE 0 END
			FROM generate_series(1, 100000) AS i`)
		return nil
	}))
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
