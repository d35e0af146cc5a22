package sqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

const claimable = `SELECT platform, workspace, channel, conversation, owner, fence, next FROM lease
	WHERE agent = ? AND next > 0 AND (until <= ? OR until > ?) ORDER BY next LIMIT 1` // see rule.StoredLease.Claimable

// Claim implements [earshot.Queue].
func (s *Store) Claim(ctx context.Context, agent earshot.AgentID, owner string, now earshot.Time, hold time.Duration) (earshot.Lease, []earshot.QueuedTurn, error) {
	agent, owner, err := rule.CheckOwner(agent, owner, hold)
	if err != nil {
		return earshot.Lease{}, nil, err
	}
	// A read finds out whether there is anything to claim, so that polling does not
	// occupy the writer.
	var id earshot.ConversationID
	var have rule.StoredLease
	dest := func() []any {
		id = earshot.ConversationID{Agent: agent}
		c := &id.Scope
		return []any{&c.Platform, &c.Workspace, &c.Channel, &id.Name, &have.Owner, &have.Fence, &have.Lowest}
	}
	if err := s.row(ctx, claimable, []any{string(agent), int64(now), int64(rule.Misdated(now, hold))}, dest()...); err != nil {
		return earshot.Lease{}, nil, missing(err, "claim a conversation", rule.NoClaim())
	}
	var turns []earshot.QueuedTurn
	err = s.volatile(ctx, "claim", func(t *tx) error {
		found, err := t.one(claimable, []any{string(agent), int64(now), int64(rule.Misdated(now, hold))}, dest())
		if err != nil {
			return err
		}
		if !found {
			return rule.NoClaim()
		}
		left := have.Left()
		have = have.Claimed(owner, now, hold)
		if err := t.setLease(id, have); err != nil {
			return err
		}
		if err := t.exec(`UPDATE queued_turn SET `+rule.ClaimSQL(left)+`, updated = ? WHERE id = ?`, int64(earshot.TimeOf(s.now())), int64(have.Lowest)); err != nil {
			return err
		}
		turns, err = t.unfinished(id)
		return err
	})
	if err != nil {
		return earshot.Lease{}, nil, err
	}
	return earshot.Lease{Conversation: id, Owner: have.Owner, Fence: have.Fence, Until: have.Until}, turns, nil
}

// setLease gives the lease of a conversation to its new owner.
func (t *tx) setLease(id earshot.ConversationID, x rule.StoredLease) error {
	return t.exec(`UPDATE lease SET owner = ?, fence = ?, until = ?`+ofConversation,
		append([]any{x.Owner, x.Fence, int64(x.Until)}, own(id, id.Name)...)...)
}

// unfinished returns a conversation's unfinished turns in order.
func (t *tx) unfinished(id earshot.ConversationID) ([]earshot.QueuedTurn, error) {
	return all(t, `SELECT `+rule.QueuedColumns+`, input FROM queued_turn`+ofConversation+` AND `+rule.UnfinishedSQL+` ORDER BY id`, own(id, id.Name),
		func(rows *sql.Rows, out *earshot.QueuedTurn) error {
			var q rule.Queued
			err := rows.Scan(append(rule.QueuedFields(&q), &q.Input)...)
			*out = q.Export()
			return err
		})
}

// advance updates next, the lowest unfinished turn of a conversation.
func (t *tx) advance(id earshot.ConversationID) error {
	var next int64
	_, err := t.one(`SELECT id FROM queued_turn`+ofConversation+` AND `+rule.UnfinishedSQL+` ORDER BY id LIMIT 1`, own(id, id.Name), []any{&next})
	if err != nil {
		return err
	}
	return t.exec(`UPDATE lease SET next = ?`+ofConversation, append([]any{next}, own(id, id.Name)...)...)
}

// stored returns a conversation's lease and epoch; both are zero when there is
// none.
func (t *tx) stored(id earshot.ConversationID) (x rule.StoredLease, epoch int, err error) {
	_, err = t.one(`SELECT owner, fence, until, next, coalesce((SELECT epoch FROM conversation`+ofAgent+` AND name = ?), 0) FROM lease`+ofConversation,
		own(id, append([]any{id.Name}, own(id, id.Name)...)...), []any{&x.Owner, &x.Fence, &x.Until, &x.Lowest, &epoch})
	return x, epoch, err
}

// Renew implements [earshot.Queue].
func (s *Store) Renew(ctx context.Context, l earshot.Lease, now earshot.Time, hold time.Duration) (earshot.Lease, error) {
	if err := rule.CheckHold(hold); err != nil {
		return l, err
	}
	lease := rule.Lease(l)
	err := s.volatile(ctx, "renew a lease", func(t *tx) error {
		have, _, err := t.stored(lease.Conversation)
		if err != nil {
			return err
		}
		if have, err = rule.Renew(have, lease, now, hold); err != nil {
			return err
		}
		return t.setLease(lease.Conversation, have)
	})
	if err == nil {
		l.Until = rule.Until(now, hold)
	}
	return l, err
}

// Release implements [earshot.Queue].
func (s *Store) Release(ctx context.Context, l earshot.Lease, notBefore earshot.Time) error {
	l = rule.Lease(l)
	return s.volatile(ctx, "release a lease", func(t *tx) error {
		have, _, err := t.stored(l.Conversation)
		if err != nil {
			return err
		}
		have, ok := rule.Release(have, l, notBefore)
		if !ok {
			return nil
		}
		id := l.Conversation
		err = t.exec(`UPDATE queued_turn SET `+rule.ReleaseSQL+ofConversation+` AND `+rule.UnfinishedSQL+` AND `+rule.ReleasedSQL, own(id, id.Name)...)
		if err != nil {
			return err
		}
		return t.setLease(id, have)
	})
}
