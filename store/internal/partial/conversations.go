package partial

import (
	"context"
	"time"

	"github.com/earshot-ai/earshot"
)

// bare returns of a turn what the disk keeps: ids, counts and usage. The cursor is
// left out, because it is a sequence of one process's memory.
func bare(t *earshot.Turn) *earshot.Turn {
	if t == nil {
		return nil
	}
	return &earshot.Turn{
		Answer: t.Answer, Policy: t.Policy, Hash: t.Hash, Epoch: t.Epoch,
		Usage: t.Usage, Time: t.Time, Metadata: t.Metadata, Sum: t.Sum,
	}
}

// CommitTurn implements [earshot.Turns].
func (s *Store) CommitTurn(ctx context.Context, id earshot.ConversationID, t earshot.Turn) (int, error) {
	if s.transient(id.Scope) {
		t = *bare(&t)
	}
	return s.Store.CommitTurn(ctx, id, t)
}

// AdvanceCursor implements [earshot.Conversations].
func (s *Store) AdvanceCursor(ctx context.Context, id earshot.ConversationID, seq int64) error {
	if s.transient(id.Scope) {
		seq = 0
	}
	return s.Store.AdvanceCursor(ctx, id, seq)
}

// notSummarised is for how long a transient conversation is set aside whose turns
// would be summarised elsewhere.
const notSummarised = 25 * time.Minute

// ClaimSummary implements [earshot.Summaries]. Nothing of a transient channel is
// summarised: there is no text to summarise.
func (s *Store) ClaimSummary(ctx context.Context, agent earshot.AgentID, owner string, over int, now earshot.Time, hold time.Duration) (earshot.SummaryClaim, error) {
	for {
		c, err := s.Store.ClaimSummary(ctx, agent, owner, over, now, hold)
		if err != nil || !s.transient(c.Conversation.Scope) {
			return c, err
		}
		if err := s.Store.ReleaseSummary(ctx, c, now+earshot.Time(notSummarised/time.Microsecond)); err != nil {
			return earshot.SummaryClaim{}, err
		}
	}
}
