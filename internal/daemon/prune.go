package daemon

import (
	"context"
	"log/slog"
	"time"

	"github.com/earshot-ai/earshot"
)

// How long the store keeps what is needed for a time only. Deliveries: Slack may
// deliver an event again for 24 hours (https://docs.slack.dev/apis/events-api).
// Turns can be shown and replayed for 90 days. A booking of a rate does not
// matter once its time has passed; an hour is more than clocks differ.
const (
	keepDeliveries = 25 * time.Hour
	keepTurns      = 90 * 24 * time.Hour
	keepDrafts     = time.Hour // after they expired
	keepRates      = time.Hour

	pruneEvery = time.Hour
)

// A pruner removes from the store what is no longer needed.
type pruner struct {
	store earshot.Store
	now   func() time.Time
	log   *slog.Logger
}

// Run prunes at the start and then every hour, until ctx ends. A store that
// fails is no reason to stop answering.
func (p pruner) Run(ctx context.Context) error { return runEvery(ctx, pruneEvery, p.prune) }

func (p pruner) prune(ctx context.Context) {
	for _, old := range []struct {
		what  string
		age   time.Duration
		prune func(context.Context, earshot.Time) (int, error)
	}{
		{"deliveries", keepDeliveries, p.store.PruneEvents},
		{"turns", keepTurns, p.store.PruneTurns},
		{"drafts", keepDrafts, p.store.PruneDrafts},
		{"rates", keepRates, p.store.PruneRates},
		{"spends", earshot.SpendKept, p.store.PruneSpends},
	} {
		n, err := old.prune(ctx, earshot.TimeOf(p.now().Add(-old.age)))
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			p.log.Warn("prune what is old", "what", old.what, "err", err)
		case n > 0:
			p.log.Debug("pruned what is old", "what", old.what, "count", n)
		}
	}
}
