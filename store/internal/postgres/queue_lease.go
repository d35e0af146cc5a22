package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/jackc/pgx/v5"
)

// unfinished is the condition of the index of that name, word for word.
const unfinished = `state IN ('open', 'claimed', 'generating', 'posting')`

// Claim implements [earshot.Queue]. A lease that another transaction is at is
// passed over: whoever is at it claims it, or has just made it worth a claim.
func (s *Store) Claim(ctx context.Context, agent earshot.AgentID, owner string, now earshot.Time, hold time.Duration) (earshot.Lease, []earshot.QueuedTurn, error) {
	agent, owner, err := rule.CheckOwner(agent, owner, hold)
	if err != nil {
		return earshot.Lease{}, nil, err
	}
	var l earshot.Lease
	var turns []earshot.QueuedTurn
	err = s.apply(ctx, "claim a conversation", func(ctx context.Context, t *tx) error {
		l = earshot.Lease{Owner: owner, Until: rule.Until(now, hold)}
		l.Conversation.Agent = agent
		c := &l.Conversation.Scope
		var next int64
		found := false
		t.ask(`SELECT platform, workspace, channel, conversation, fence, next FROM lease
			WHERE agent = $1 AND next > 0 AND (until <= $2 OR until > $3) ORDER BY next LIMIT 1 FOR UPDATE SKIP LOCKED`,
			[]any{string(agent), int64(now), int64(rule.Misdated(now, hold))},
			one(&found, &c.Platform, &c.Workspace, &c.Channel, &l.Conversation.Name, &l.Fence, &next))
		if err := t.send(ctx); err != nil {
			return err
		}
		if !found {
			return earshot.ErrNotFound
		}
		l.Fence++
		t.setLease(l, l.Owner, l.Until)
		t.write(`UPDATE queued_turn SET state = CASE state WHEN 'open' THEN 'claimed' ELSE state END, tries = tries + 1, updated = $2 WHERE id = $1`,
			next, int64(earshot.TimeOf(s.now())))
		turns = nil
		t.askLine(l.Conversation, &turns)
		return nil
	})
	if err != nil {
		return earshot.Lease{}, nil, err
	}
	return l, turns, nil
}

// setLease gives the lease to owner.
func (t *tx) setLease(l earshot.Lease, owner string, until earshot.Time) {
	t.write(`UPDATE lease SET owner = $6, fence = $7, until = $8`+ofConversation, own(l.Conversation, l.Conversation.Name, owner, l.Fence, int64(until))...)
}

// askLine asks for a conversation's unfinished turns in order.
func (t *tx) askLine(id earshot.ConversationID, out *[]earshot.QueuedTurn) {
	t.ask(`SELECT `+queuedColumns+`, input FROM queued_turn`+ofConversation+` AND `+unfinished+` ORDER BY id`, own(id, id.Name), gather(out, scanWhole))
}

// advance brings a lease's next turn up to date.
func (t *tx) advance(id earshot.ConversationID) {
	t.write(`UPDATE lease SET next = coalesce((SELECT id FROM queued_turn`+ofConversation+` AND `+unfinished+` ORDER BY id LIMIT 1), 0)`+ofConversation,
		own(id, id.Name)...)
}

// A held is what is asked about a lease: whether it is still good, and the
// conversation's lowest unfinished turn.
type held struct {
	lease earshot.Lease
	found bool
	next  earshot.TurnID
}

// askHeld asks for a lease and locks it where it is still good.
func (t *tx) askHeld(l earshot.Lease) *held {
	h := &held{lease: rule.Lease(l)}
	id := h.lease.Conversation
	t.ask(`SELECT next FROM lease`+ofConversation+` AND owner = $6 AND fence = $7 AND owner <> '' FOR UPDATE`,
		own(id, id.Name, h.lease.Owner, h.lease.Fence), one(&h.found, &h.next))
	return h
}

// good returns [earshot.ErrFenced] when the lease is good no more.
func (h *held) good() error {
	if h.found {
		return nil
	}
	return fmt.Errorf("conversation %q: %w", h.lease.Conversation.Name, earshot.ErrFenced)
}

// Renew implements [earshot.Queue].
func (s *Store) Renew(ctx context.Context, l earshot.Lease, now earshot.Time, hold time.Duration) (earshot.Lease, error) {
	if err := rule.CheckHold(hold); err != nil {
		return l, err
	}
	until := rule.Until(now, hold)
	err := s.apply(ctx, "renew a lease", func(ctx context.Context, t *tx) error {
		h := t.askHeld(l)
		if err := t.send(ctx); err != nil {
			return err
		}
		if err := h.good(); err != nil {
			return err
		}
		t.setLease(h.lease, h.lease.Owner, until)
		return nil
	})
	if err == nil {
		l.Until = until
	}
	return l, err
}

// Release implements [earshot.Queue].
func (s *Store) Release(ctx context.Context, l earshot.Lease, notBefore earshot.Time) error {
	return s.apply(ctx, "release a lease", func(ctx context.Context, t *tx) error {
		h := t.askHeld(l)
		if err := t.send(ctx); err != nil {
			return err
		}
		if !h.found {
			return nil // another's by now, and theirs to give back
		}
		id := h.lease.Conversation
		t.write(`UPDATE queued_turn SET state = 'open'`+ofConversation+` AND `+unfinished+` AND state = 'claimed'`, own(id, id.Name)...)
		t.setLease(h.lease, "", notBefore)
		return nil
	})
}

// A running is a turn that a write is about, with where its line stands and
// with its conversation, which is locked.
type running struct {
	queued
	conversation conversation
	first        bool         // it is its conversation's lowest unfinished turn
	now          earshot.Time // by the store's clock
}

// under runs f with a turn of the lease's conversation. Until it is committed
// nobody takes the lease over and nothing in the channel is deleted. What more
// asks, unless it is nil, comes with the turn.
func (s *Store) under(ctx context.Context, what string, l earshot.Lease, id earshot.TurnID, more func(*tx), f func(context.Context, *tx, *running) error) error {
	return s.apply(ctx, what, func(ctx context.Context, t *tx) error { return t.under(ctx, l, id, more, f) })
}

func (t *tx) under(ctx context.Context, l earshot.Lease, id earshot.TurnID, more func(*tx), f func(context.Context, *tx, *running) error) error {
	l = rule.Lease(l)
	t.shared(l.Conversation.Scope)
	h := t.askHeld(l)
	r := &running{now: earshot.TimeOf(t.store.now())}
	t.ask(`SELECT `+conversationColumns+` FROM conversation`+named+` FOR UPDATE`, own(l.Conversation, l.Conversation.Name), r.conversation.into(l.Conversation))
	t.askQueued(id, &r.queued)
	if more != nil {
		more(t)
	}
	if err := t.send(ctx); err != nil {
		return err
	}
	if err := h.good(); err != nil {
		return err
	}
	if !r.found || r.Conversation != l.Conversation {
		return fmt.Errorf("turn %d: %w", id, earshot.ErrNotFound)
	}
	r.first = h.next == id
	return f(ctx, t, r)
}

// askQueued asks for one turn, without its input.
func (t *tx) askQueued(id earshot.TurnID, q *queued) {
	*q = queued{}
	t.ask(`SELECT `+queuedColumns+` FROM queued_turn WHERE id = $1`, []any{int64(id)}, func(rows pgx.Rows) error { return scanQueued(rows, q) })
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
func (r *running) outdated() bool { return r.from >= 0 && r.from < r.conversation.Epoch }

// Finish implements [earshot.Queue].
func (s *Store) Finish(ctx context.Context, l earshot.Lease, id earshot.TurnID, state earshot.TurnState, why string, turn *earshot.Turn, arrived ...earshot.Arrival) error {
	why, turn, err := rule.CheckFinish(state, why, turn)
	if err != nil {
		return err
	}
	own := &arriving{}
	if own.keys, own.messages, err = rule.CheckArrived(ctx, arrived); err != nil {
		return err
	}
	scope := rule.Lease(l).Conversation.Scope
	finish := func(ctx context.Context, t *tx, r *running) error {
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
		if err := own.confirm(t, scope); err != nil {
			return err
		}
		outdated := r.outdated()
		if turn != nil {
			var err error
			if outdated, err = t.commitQueued(ctx, r, *turn, outdated); err != nil {
				return err
			}
		}
		t.end(r.queued, state, why, r.Number, r.now)
		if outdated {
			t.eraseTurns(`id = $1`, int64(id))
		}
		return nil
	}
	err = s.apply(ctx, "finish a turn", func(ctx context.Context, t *tx) error {
		if err := own.record(ctx, t, scope); err != nil {
			return err
		}
		return t.under(ctx, l, id, func(t *tx) { own.ask(t, scope) }, finish)
	})
	if err == nil {
		s.stats.grown(own.inserted)
	}
	if turn != nil {
		err = answered(err, turn.Answer.Anchor)
	}
	return err
}

// commitQueued commits what a queued turn ends with, and reports whether it is
// outdated.
func (t *tx) commitQueued(ctx context.Context, r *running, turn earshot.Turn, outdated bool) (bool, error) {
	if turn.Answer.Anchor != r.Anchor {
		return outdated, fmt.Errorf("%w: turn %d answers %q, not %q", earshot.ErrInvalid, r.ID, r.Anchor, turn.Answer.Anchor)
	}
	c := r.conversation
	gone, err := t.unanswered(ctx, c, turn)
	if err != nil {
		return outdated, err
	}
	outdated = outdated || gone
	r.Number = c.turns
	return outdated, t.commitTurn(c, turn, outdated || turn.Epoch < c.Epoch, r.now)
}

// end makes a turn final. Its lease is locked.
func (t *tx) end(q queued, state earshot.TurnState, why string, number int, now earshot.Time) {
	t.write(`UPDATE queued_turn SET state = $2, why = $3, number = $4, updated = $5 WHERE id = $1`, int64(q.ID), string(state), why, number, int64(now))
	if state == earshot.TurnDropped && why == rule.AnchorDeleted {
		t.part(q, now)
	}
	t.advance(q.Conversation)
}

// Reopen implements [earshot.Queue].
func (s *Store) Reopen(ctx context.Context, id earshot.TurnID) error {
	var at queued // where the turn is: that never changes
	if err := s.read(ctx, func(t *tx) { t.askQueued(id, &at) }); err != nil {
		return fmt.Errorf("reopen a turn: %w", err)
	}
	if !at.found {
		return fmt.Errorf("turn %d: %w", id, earshot.ErrNotFound)
	}
	c := at.Conversation
	return s.apply(ctx, "reopen a turn", func(ctx context.Context, t *tx) error {
		var q queued
		var line []earshot.QueuedTurn
		gone := false
		t.shared(c.Scope)
		t.lockLeases([]earshot.ConversationID{c})
		t.askQueued(id, &q)
		t.askDeleted(c.Scope, []earshot.MessageID{at.Anchor}, &gone)
		t.askLine(c, &line)
		if err := t.send(ctx); err != nil {
			return err
		}
		switch {
		case q.State != earshot.TurnParked && q.State != earshot.TurnFailed:
			return fmt.Errorf("turn %d is %s: %w", id, q.State, earshot.ErrConflict)
		case gone:
			return fmt.Errorf("the anchor of turn %d is deleted: %w", id, earshot.ErrConflict)
		}
		for _, other := range line {
			if rule.Begun(other.State) {
				return fmt.Errorf("turn %d of the conversation is being answered: %w", other.ID, earshot.ErrConflict)
			}
		}
		t.write(`UPDATE queued_turn SET state = 'open', why = '', tries = 0, pruned = 0, updated = $2 WHERE id = $1`, int64(id), int64(earshot.TimeOf(s.now())))
		t.advance(c)
		return nil
	})
}

// lockLeases locks the leases of conversations, which are in order.
func (t *tx) lockLeases(ids []earshot.ConversationID) {
	for _, id := range ids {
		t.write(`SELECT 1 FROM lease`+ofConversation+` FOR UPDATE`, own(id, id.Name)...)
	}
}
