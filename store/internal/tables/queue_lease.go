package tables

import (
	"context"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// Claim implements [earshot.Queue]. It passes over a lease that another transaction
// has locked: that one claims it too, or has just made it claimable, and then the next
// call finds it.
func (s *Store) Claim(ctx context.Context, agent earshot.AgentID, owner string, now earshot.Time, hold time.Duration) (earshot.Lease, []earshot.QueuedTurn, error) {
	agent, owner, err := rule.CheckOwner(agent, owner, hold)
	if err != nil {
		return earshot.Lease{}, nil, err
	}
	const claimable = `SELECT platform, workspace, channel, conversation, owner, fence, next FROM lease
		WHERE agent = $1 AND next > 0 AND (until <= $2 OR until > $3) ORDER BY next LIMIT 1` // see rule.StoredLease.Claimable
	const what = "claim a conversation"
	at := []any{string(agent), int64(now), int64(rule.MisdatedBound(now, hold))}
	if idle, err := s.engine.Idle(ctx, claimable, at); err != nil || idle {
		return earshot.Lease{}, nil, idleOr(err, what, rule.NoClaim())
	}
	var id earshot.ConversationID
	var have rule.StoredLease
	var turns []earshot.QueuedTurn
	err = s.engine.Volatile(ctx, what, func(ctx context.Context, t *Tx) error {
		id = earshot.ConversationID{Agent: agent}
		c := &id.Scope
		found := false
		t.Ask(claimable+t.SQL.Skip, at, ScanOne(&found, &c.Platform, &c.Workspace, &c.Channel, &id.Name, &have.Owner, &have.Fence, &have.Lowest))
		if err := t.Send(ctx); err != nil {
			return err
		}
		if !found {
			return rule.NoClaim()
		}
		left := have.Left()
		have = have.Claimed(owner, now, hold)
		t.setLease(id, have)
		t.Write(`UPDATE queued_turn SET `+rule.ClaimSQL(left)+`, updated = $2 WHERE id = $1`, int64(have.Lowest), int64(s.stamp()))
		turns = nil
		t.askUnfinished(id, &turns)
		return nil
	})
	if err != nil {
		return earshot.Lease{}, nil, err
	}
	slices.SortFunc(turns, rule.CompareInLine)
	return earshot.Lease{Conversation: id, Owner: have.Owner, Fence: have.Fence, Until: have.Until}, turns, nil
}

// setLease gives the lease of a conversation to its new owner.
func (t *Tx) setLease(id earshot.ConversationID, x rule.StoredLease) {
	t.Write(`UPDATE lease SET owner = $6, fence = $7, until = $8`+OfConversation, AgentParams(id, id.Name, x.Owner, x.Fence, int64(x.Until))...)
}

// askUnfinished queries a conversation's turns in line, by id.
func (t *Tx) askUnfinished(id earshot.ConversationID, out *[]earshot.QueuedTurn) {
	t.Ask(`SELECT `+rule.QueuedColumns+`, input FROM queued_turn`+OfConversation+` AND `+rule.UnfinishedSQL+` ORDER BY id`, AgentParams(id, id.Name), Gather(out, scanWhole))
}

// advance updates next, the first in line of a conversation.
func (t *Tx) advance(id earshot.ConversationID) {
	t.Write(`UPDATE lease SET next = `+rule.FirstInLineSQL+OfConversation, AgentParams(id, id.Name)...)
}

// askLease queries a conversation's lease and locks it. x stays zero when there is
// none.
func (t *Tx) askLease(id earshot.ConversationID, x *rule.StoredLease) {
	*x = rule.StoredLease{}
	t.Ask(`SELECT owner, fence, until, next FROM lease`+OfConversation+t.SQL.Lock, AgentParams(id, id.Name),
		func(row Row) error { return row.Scan(&x.Owner, &x.Fence, &x.Until, &x.Lowest) })
}

// Renew implements [earshot.Queue].
func (s *Store) Renew(ctx context.Context, l earshot.Lease, now earshot.Time, hold time.Duration) (earshot.Lease, error) {
	if err := rule.CheckHold(hold); err != nil {
		return l, err
	}
	lease := rule.Lease(l)
	err := s.engine.Volatile(ctx, "renew a lease", func(ctx context.Context, t *Tx) error {
		var have rule.StoredLease
		t.askLease(lease.Conversation, &have)
		if err := t.Send(ctx); err != nil {
			return err
		}
		have, err := rule.DecideRenew(have, lease, now, hold)
		if err != nil {
			return err
		}
		t.setLease(lease.Conversation, have)
		return nil
	})
	if err == nil {
		l.Until = rule.LeaseEnd(now, hold)
	}
	return l, err
}

// Release implements [earshot.Queue].
func (s *Store) Release(ctx context.Context, l earshot.Lease, notBefore earshot.Time) error {
	l = rule.Lease(l)
	return s.engine.Volatile(ctx, "release a lease", func(ctx context.Context, t *Tx) error {
		var have rule.StoredLease
		t.askLease(l.Conversation, &have)
		if err := t.Send(ctx); err != nil {
			return err
		}
		have, ok := rule.DecideRelease(have, l, notBefore)
		if !ok {
			return nil
		}
		id := l.Conversation
		t.Write(`UPDATE queued_turn SET `+rule.ReleaseSQL+OfConversation+` AND `+rule.UnfinishedSQL+` AND `+rule.ReleasedSQL, AgentParams(id, id.Name)...)
		t.setLease(id, have)
		t.advance(id)
		return nil
	})
}

// LockLeases locks the leases of conversations. The caller has put them in order.
func (t *Tx) LockLeases(ids ...earshot.ConversationID) {
	for _, id := range ids {
		t.Lock(`SELECT 1 FROM lease`+OfConversation, AgentParams(id, id.Name)...)
	}
}
