package postgres

import (
	"context"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/jackc/pgx/v5"
)

// Claim implements [earshot.Queue]. It skips a lease that another transaction has
// locked: that one claims it too, or has just made it claimable, and then the next
// call finds it.
func (s *Store) Claim(ctx context.Context, agent earshot.AgentID, owner string, now earshot.Time, hold time.Duration) (earshot.Lease, []earshot.QueuedTurn, error) {
	agent, owner, err := rule.CheckOwner(agent, owner, hold)
	if err != nil {
		return earshot.Lease{}, nil, err
	}
	var id earshot.ConversationID
	var have rule.StoredLease
	var turns []earshot.QueuedTurn
	err = s.apply(ctx, "claim a conversation", func(ctx context.Context, t *tx) error {
		id = earshot.ConversationID{Agent: agent}
		c := &id.Scope
		found := false
		t.ask(`SELECT platform, workspace, channel, conversation, owner, fence, next FROM lease
			WHERE agent = $1 AND next > 0 AND (until <= $2 OR until > $3) ORDER BY next LIMIT 1 FOR UPDATE SKIP LOCKED`, // see rule.StoredLease.Claimable
			[]any{string(agent), int64(now), int64(rule.Misdated(now, hold))}, one(&found, &c.Platform, &c.Workspace, &c.Channel, &id.Name, &have.Owner, &have.Fence, &have.Lowest))
		if err := t.send(ctx); err != nil {
			return err
		}
		if !found {
			return earshot.ErrNotFound
		}
		left := have.Left()
		have = have.Claimed(owner, now, hold)
		t.setLease(id, have)
		t.write(`UPDATE queued_turn SET `+rule.ClaimSQL(left)+`, updated = $2 WHERE id = $1`, int64(have.Lowest), int64(earshot.TimeOf(s.now())))
		turns = nil
		t.askUnfinished(id, &turns)
		return nil
	})
	if err != nil {
		return earshot.Lease{}, nil, err
	}
	return earshot.Lease{Conversation: id, Owner: have.Owner, Fence: have.Fence, Until: have.Until}, turns, nil
}

// setLease gives the lease of a conversation to its new owner.
func (t *tx) setLease(id earshot.ConversationID, x rule.StoredLease) {
	t.write(`UPDATE lease SET owner = $6, fence = $7, until = $8`+ofConversation, own(id, id.Name, x.Owner, x.Fence, int64(x.Until))...)
}

// askUnfinished queries a conversation's unfinished turns, in order.
func (t *tx) askUnfinished(id earshot.ConversationID, out *[]earshot.QueuedTurn) {
	t.ask(`SELECT `+rule.QueuedColumns+`, input FROM queued_turn`+ofConversation+` AND `+rule.UnfinishedSQL+` ORDER BY id`, own(id, id.Name), gather(out, scanWhole))
}

// advance updates next, the lowest unfinished turn of a conversation.
func (t *tx) advance(id earshot.ConversationID) {
	t.write(`UPDATE lease SET next = coalesce((SELECT id FROM queued_turn`+ofConversation+` AND `+rule.UnfinishedSQL+` ORDER BY id LIMIT 1), 0)`+ofConversation,
		own(id, id.Name)...)
}

// askLease queries a conversation's lease and locks it. x stays zero when there is
// none.
func (t *tx) askLease(id earshot.ConversationID, x *rule.StoredLease) {
	*x = rule.StoredLease{}
	t.ask(`SELECT owner, fence, until, next FROM lease`+ofConversation+` FOR UPDATE`, own(id, id.Name),
		func(rows pgx.Rows) error { return rows.Scan(&x.Owner, &x.Fence, &x.Until, &x.Lowest) })
}

// Renew implements [earshot.Queue].
func (s *Store) Renew(ctx context.Context, l earshot.Lease, now earshot.Time, hold time.Duration) (earshot.Lease, error) {
	if err := rule.CheckHold(hold); err != nil {
		return l, err
	}
	lease := rule.Lease(l)
	err := s.apply(ctx, "renew a lease", func(ctx context.Context, t *tx) error {
		var have rule.StoredLease
		t.askLease(lease.Conversation, &have)
		if err := t.send(ctx); err != nil {
			return err
		}
		have, err := rule.Renew(have, lease, now, hold)
		if err != nil {
			return err
		}
		t.setLease(lease.Conversation, have)
		return nil
	})
	if err == nil {
		l.Until = rule.Until(now, hold)
	}
	return l, err
}

// Release implements [earshot.Queue].
func (s *Store) Release(ctx context.Context, l earshot.Lease, notBefore earshot.Time) error {
	l = rule.Lease(l)
	return s.apply(ctx, "release a lease", func(ctx context.Context, t *tx) error {
		var have rule.StoredLease
		t.askLease(l.Conversation, &have)
		if err := t.send(ctx); err != nil {
			return err
		}
		have, ok := rule.Release(have, l, notBefore)
		if !ok {
			return nil
		}
		id := l.Conversation
		t.write(`UPDATE queued_turn SET `+rule.ReleaseSQL+ofConversation+` AND `+rule.UnfinishedSQL+` AND `+rule.ReleasedSQL, own(id, id.Name)...)
		t.setLease(id, have)
		return nil
	})
}

// lockLeases locks the leases of conversations. The caller has put them in order.
func (t *tx) lockLeases(ids []earshot.ConversationID) {
	for _, id := range ids {
		t.write(`SELECT 1 FROM lease`+ofConversation+` FOR UPDATE`, own(id, id.Name)...)
	}
}
