package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// unfinished is the condition of the index of that name, word for word.
const unfinished = `state IN ('open', 'claimed', 'generating', 'posting')`

const claimable = `SELECT platform, workspace, channel, conversation, fence, next FROM lease
	WHERE agent = ? AND next > 0 AND (until <= ? OR until > ?) ORDER BY next LIMIT 1`

// Claim implements [earshot.Queue].
func (s *Store) Claim(ctx context.Context, agent earshot.AgentID, owner string, now earshot.Time, hold time.Duration) (earshot.Lease, []earshot.QueuedTurn, error) {
	agent, owner, err := rule.CheckOwner(agent, owner, hold)
	if err != nil {
		return earshot.Lease{}, nil, err
	}
	// Whoever only looks whether there is something to do does not trouble the
	// writer.
	var l earshot.Lease
	var next earshot.TurnID
	dest := func() []any {
		l = earshot.Lease{Owner: owner, Until: rule.Until(now, hold)}
		l.Conversation.Agent = agent
		c := &l.Conversation.Scope
		return []any{&c.Platform, &c.Workspace, &c.Channel, &l.Conversation.Name, &l.Fence, &next}
	}
	none := func(err error) error { return fmt.Errorf("claim a conversation: %w", orNotFound(err)) }
	if err := s.row(ctx, claimable, []any{string(agent), int64(now), int64(rule.Misdated(now, hold))}, dest()...); err != nil {
		return earshot.Lease{}, nil, none(err)
	}
	var turns []earshot.QueuedTurn
	err = s.lease(ctx, "claim", func(t *tx) error {
		found, err := t.one(claimable, []any{string(agent), int64(now), int64(rule.Misdated(now, hold))}, dest())
		if err != nil {
			return err
		}
		if !found {
			return none(earshot.ErrNotFound)
		}
		l.Fence++
		if err := t.setLease(l, l.Owner, l.Until); err != nil {
			return err
		}
		err = t.exec(`UPDATE queued_turn SET state = CASE state WHEN 'open' THEN 'claimed' ELSE state END, tries = tries + 1, updated = ? WHERE id = ?`,
			int64(earshot.TimeOf(s.now())), int64(next))
		if err != nil {
			return err
		}
		turns, err = t.line(l.Conversation)
		return err
	})
	if err != nil {
		return earshot.Lease{}, nil, err
	}
	return l, turns, nil
}

// setLease gives the lease to owner.
func (t *tx) setLease(l earshot.Lease, owner string, until earshot.Time) error {
	return t.exec(`UPDATE lease SET owner = ?, fence = ?, until = ?`+ofConversation,
		append([]any{owner, l.Fence, int64(until)}, own(l.Conversation, l.Conversation.Name)...)...)
}

// line returns a conversation's unfinished turns in order.
func (t *tx) line(id earshot.ConversationID) ([]earshot.QueuedTurn, error) {
	rows, err := t.query(`SELECT `+queuedColumns+`, input FROM queued_turn`+ofConversation+` AND `+unfinished+` ORDER BY id`, own(id, id.Name)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []earshot.QueuedTurn
	for rows.Next() {
		var q queued
		if err := rows.Scan(append(q.dest(), &q.Input)...); err != nil {
			return nil, err
		}
		out = append(out, q.export())
	}
	return out, errors.Join(rows.Err(), rows.Close())
}

// advance brings a lease's next turn up to date.
func (t *tx) advance(id earshot.ConversationID) error {
	var next int64
	_, err := t.one(`SELECT id FROM queued_turn`+ofConversation+` AND `+unfinished+` ORDER BY id LIMIT 1`, own(id, id.Name), []any{&next})
	if err != nil {
		return err
	}
	return t.exec(`UPDATE lease SET next = ?`+ofConversation, append([]any{next}, own(id, id.Name)...)...)
}

// held returns a lease as it is stored with the conversation's lowest
// unfinished turn, or [earshot.ErrFenced] when it is good no more.
func (t *tx) held(l earshot.Lease) (earshot.Lease, earshot.TurnID, error) {
	l = rule.Lease(l)
	var next earshot.TurnID
	found, err := t.one(`SELECT next FROM lease`+ofConversation+` AND owner = ? AND fence = ? AND owner <> ''`,
		own(l.Conversation, l.Conversation.Name, l.Owner, l.Fence), []any{&next})
	if err == nil && !found {
		err = fmt.Errorf("conversation %q: %w", l.Conversation.Name, earshot.ErrFenced)
	}
	return l, next, err
}

// Renew implements [earshot.Queue].
func (s *Store) Renew(ctx context.Context, l earshot.Lease, now earshot.Time, hold time.Duration) (earshot.Lease, error) {
	if err := rule.CheckHold(hold); err != nil {
		return l, err
	}
	until := rule.Until(now, hold)
	err := s.lease(ctx, "renew a lease", func(t *tx) error {
		have, _, err := t.held(l)
		if err != nil {
			return err
		}
		return t.setLease(have, have.Owner, until)
	})
	if err == nil {
		l.Until = until
	}
	return l, err
}

// Release implements [earshot.Queue].
func (s *Store) Release(ctx context.Context, l earshot.Lease, notBefore earshot.Time) error {
	return s.lease(ctx, "release a lease", func(t *tx) error {
		have, _, err := t.held(l)
		if errors.Is(err, earshot.ErrFenced) {
			return nil // another's by now, and theirs to give back
		}
		if err != nil {
			return err
		}
		id := have.Conversation
		if err := t.exec(`UPDATE queued_turn SET state = 'open'`+ofConversation+` AND `+unfinished+` AND state = 'claimed'`, own(id, id.Name)...); err != nil {
			return err
		}
		return t.setLease(have, "", notBefore)
	})
}

// A running is a turn that a write is about, with where its line stands.
type running struct {
	queued
	first bool         // it is its conversation's lowest unfinished turn
	now   earshot.Time // by the store's clock
}

// under runs f with a turn of the lease's conversation.
func (s *Store) under(ctx context.Context, what string, l earshot.Lease, id earshot.TurnID, f func(*tx, *running) error) error {
	return s.apply(ctx, what, func(t *tx) error {
		l, next, err := t.held(l)
		if err != nil {
			return err
		}
		q, err := t.queued(id)
		if err != nil {
			return err
		}
		if q.Conversation != l.Conversation {
			return fmt.Errorf("turn %d: %w", id, earshot.ErrNotFound)
		}
		return f(t, &running{queued: q, first: next == id, now: earshot.TimeOf(s.now())})
	})
}

// queued returns one turn, without its input, or [earshot.ErrNotFound].
func (t *tx) queued(id earshot.TurnID) (queued, error) {
	var q queued
	found, err := t.one(`SELECT `+queuedColumns+` FROM queued_turn WHERE id = ?`, []any{int64(id)}, q.dest())
	if err == nil && !found {
		err = fmt.Errorf("turn %d: %w", id, earshot.ErrNotFound)
	}
	return q, err
}

// final returns [earshot.ErrConflict] for a turn that is final.
func (r *running) final() error {
	if rule.Unfinished(r.State) {
		return nil
	}
	return fmt.Errorf("turn %d is %s: %w", r.ID, r.State, earshot.ErrConflict)
}

// lowest returns [earshot.ErrConflict] for a turn that is not the first of its
// line.
func (r *running) lowest() error {
	if r.first {
		return nil
	}
	return fmt.Errorf("turn %d is not the first of its conversation: %w", r.ID, earshot.ErrConflict)
}

// outdated reports whether the turn has begun in an epoch that has ended since.
func (r *running) outdated(c conversation) bool { return r.from >= 0 && r.from < c.Epoch }

// Finish implements [earshot.Queue].
func (s *Store) Finish(ctx context.Context, l earshot.Lease, id earshot.TurnID, state earshot.TurnState, why string, turn *earshot.Turn, arrived ...earshot.Arrival) error {
	why, turn, err := rule.CheckFinish(state, why, turn)
	if err != nil {
		return err
	}
	keys, messages, err := rule.CheckArrived(ctx, arrived)
	if err != nil {
		return err
	}
	return s.under(ctx, "finish a turn", l, id, func(t *tx, r *running) error {
		if r.State == state {
			return nil
		}
		if err := r.final(); err != nil {
			return err
		}
		if state == earshot.TurnDone {
			if err := r.lowest(); err != nil {
				return err
			}
		}
		if err := t.arrive(r.Conversation.Scope, keys, messages); err != nil {
			return err
		}
		c, err := t.conversation(r.Conversation, "name", r.Conversation.Name)
		if err != nil {
			return err
		}
		outdated := r.outdated(c)
		if turn != nil {
			if outdated, err = t.commitQueued(c, r, *turn, outdated); err != nil {
				return err
			}
		}
		if err := t.end(r.queued, state, why, r.Number, r.now); err != nil || !outdated {
			return err
		}
		return t.eraseTurn(id)
	})
}

// commitQueued commits what a queued turn ends with, and reports whether it is
// outdated.
func (t *tx) commitQueued(c conversation, r *running, turn earshot.Turn, outdated bool) (bool, error) {
	if turn.Answer.Anchor != r.Anchor {
		return outdated, fmt.Errorf("%w: turn %d answers %q, not %q", earshot.ErrInvalid, r.ID, r.Anchor, turn.Answer.Anchor)
	}
	if err := t.unanswered(c, turn); err != nil {
		return outdated, err
	}
	gone, err := t.deleted(c.ID.Scope, rule.Read(turn))
	if err != nil {
		return outdated, err
	}
	outdated = outdated || len(gone) > 0
	r.Number = c.turns
	return outdated, t.commitTurn(c, turn, outdated || turn.Epoch < c.Epoch, r.now)
}

// end makes a turn final.
func (t *tx) end(q queued, state earshot.TurnState, why string, number int, now earshot.Time) error {
	err := t.exec(`UPDATE queued_turn SET state = ?, why = ?, number = ?, updated = ? WHERE id = ?`,
		string(state), why, number, int64(now), int64(q.ID))
	if err != nil {
		return err
	}
	if state == earshot.TurnDropped && why == rule.AnchorDeleted {
		if err := t.part(q, now); err != nil {
			return err
		}
	}
	return t.advance(q.Conversation)
}

// Reopen implements [earshot.Queue].
func (s *Store) Reopen(ctx context.Context, id earshot.TurnID) error {
	return s.apply(ctx, "reopen a turn", func(t *tx) error {
		q, err := t.queued(id)
		if err != nil {
			return err
		}
		if q.State != earshot.TurnParked && q.State != earshot.TurnFailed {
			return fmt.Errorf("turn %d is %s: %w", id, q.State, earshot.ErrConflict)
		}
		gone, err := t.deleted(q.Conversation.Scope, []earshot.MessageID{q.Anchor})
		if err != nil {
			return err
		}
		if len(gone) > 0 {
			return fmt.Errorf("the anchor of turn %d is deleted: %w", id, earshot.ErrConflict)
		}
		line, err := t.line(q.Conversation)
		if err != nil {
			return err
		}
		for _, other := range line {
			if rule.Begun(other.State) {
				return fmt.Errorf("turn %d of the conversation is being answered: %w", other.ID, earshot.ErrConflict)
			}
		}
		err = t.exec(`UPDATE queued_turn SET state = 'open', why = '', tries = 0, pruned = 0, updated = ? WHERE id = ?`, int64(earshot.TimeOf(s.now())), int64(id))
		if err != nil {
			return err
		}
		return t.advance(q.Conversation)
	})
}
