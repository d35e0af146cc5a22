package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// Claim implements [earshot.Queue].
func (s *Store) Claim(ctx context.Context, agent earshot.AgentID, owner string, now earshot.Time, hold time.Duration) (earshot.Lease, []earshot.QueuedTurn, error) {
	agent, owner, err := rule.CheckOwner(agent, owner, hold)
	if err != nil {
		return earshot.Lease{}, nil, err
	}
	var out earshot.Lease
	var turns []earshot.QueuedTurn
	err = s.write(ctx, func() error {
		var oldest *line
		for id, l := range s.queue.lines {
			if id.Agent == agent && len(l.turns) > 0 && (l.until <= now || l.until > rule.Misdated(now, hold)) && (oldest == nil || l.turns[0].ID < oldest.turns[0].ID) {
				oldest = l
			}
		}
		if oldest == nil {
			return fmt.Errorf("claim a conversation: %w", earshot.ErrNotFound)
		}
		first := oldest.turns[0]
		oldest.owner, oldest.fence, oldest.until = owner, oldest.fence+1, rule.Until(now, hold)
		if first.State == earshot.TurnOpen {
			first.State = earshot.TurnClaimed
		}
		first.Tries++
		first.Updated = s.time()
		out = earshot.Lease{Conversation: first.Conversation, Owner: owner, Fence: oldest.fence, Until: oldest.until}
		for _, t := range oldest.turns {
			turns = append(turns, t.export())
		}
		return nil
	})
	return out, turns, err
}

// held returns the line of a lease that is good, or [earshot.ErrFenced].
func (q *queue) held(l earshot.Lease) (*line, error) {
	l = rule.Lease(l)
	have := q.lines[l.Conversation]
	if have == nil || l.Owner == "" || have.owner != l.Owner || have.fence != l.Fence {
		return nil, fmt.Errorf("conversation %q: %w", l.Conversation.Name, earshot.ErrFenced)
	}
	return have, nil
}

// Renew implements [earshot.Queue].
func (s *Store) Renew(ctx context.Context, l earshot.Lease, now earshot.Time, hold time.Duration) (earshot.Lease, error) {
	if err := rule.CheckHold(hold); err != nil {
		return l, err
	}
	err := s.write(ctx, func() error {
		have, err := s.queue.held(l)
		if err == nil {
			have.until = rule.Until(now, hold)
			l.Until = have.until
		}
		return err
	})
	return l, err
}

// Release implements [earshot.Queue].
func (s *Store) Release(ctx context.Context, l earshot.Lease, notBefore earshot.Time) error {
	return s.write(ctx, func() error {
		have, err := s.queue.held(l)
		if err != nil {
			return nil // another's by now, and theirs to give back
		}
		have.owner, have.until = "", notBefore
		for _, t := range have.turns {
			if t.State == earshot.TurnClaimed {
				t.State = earshot.TurnOpen
			}
		}
		return nil
	})
}

// under runs f with a turn of the lease's conversation.
func (s *Store) under(ctx context.Context, l earshot.Lease, id earshot.TurnID, f func(*line, *queuedTurn) error) error {
	return s.write(ctx, func() error {
		have, err := s.queue.held(l)
		if err != nil {
			return err
		}
		t, err := s.queue.turn(id)
		if err != nil {
			return err
		}
		if t.Conversation != rule.Conversation(l.Conversation) {
			return fmt.Errorf("turn %d: %w", id, earshot.ErrNotFound)
		}
		return f(have, t)
	})
}

// final returns [earshot.ErrConflict] for a turn that is final.
func (t *queuedTurn) final() error {
	if rule.Unfinished(t.State) {
		return nil
	}
	return fmt.Errorf("turn %d is %s: %w", t.ID, t.State, earshot.ErrConflict)
}

// lowest returns [earshot.ErrConflict] for a turn that is not the line's first.
func (l *line) lowest(t *queuedTurn) error {
	if len(l.turns) > 0 && l.turns[0] == t {
		return nil
	}
	return fmt.Errorf("turn %d is not the first of its conversation: %w", t.ID, earshot.ErrConflict)
}

// end makes a turn final.
func (s *Store) end(t *queuedTurn, state earshot.TurnState, why string) {
	t.State, t.Why, t.Updated = state, why, s.time()
	l := s.queue.line(t.Conversation)
	l.turns = slices.DeleteFunc(l.turns, func(x *queuedTurn) bool { return x == t })
	if state == earshot.TurnDropped && why == rule.AnchorDeleted {
		s.part(t)
	}
}

// Finish implements [earshot.Queue].
func (s *Store) Finish(ctx context.Context, lease earshot.Lease, id earshot.TurnID, state earshot.TurnState, why string, turn *earshot.Turn, arrived ...earshot.Arrival) error {
	why, turn, err := rule.CheckFinish(state, why, turn)
	if err != nil {
		return err
	}
	keys, messages, err := rule.CheckArrived(ctx, arrived)
	if err != nil {
		return err
	}
	return s.under(ctx, lease, id, func(l *line, t *queuedTurn) error {
		if t.State == state {
			return nil
		}
		if err := t.final(); err != nil {
			return err
		}
		if state == earshot.TurnDone {
			if err := l.lowest(t); err != nil {
				return err
			}
		}
		c := s.conversations[t.Conversation]
		if turn != nil {
			if turn.Answer.Anchor != t.Anchor {
				return fmt.Errorf("%w: turn %d answers %q, not %q", earshot.ErrInvalid, id, t.Anchor, turn.Answer.Anchor)
			}
			if err := s.unanswered(c, *turn); err != nil {
				return err
			}
		}
		for i, m := range messages { // what is refused changes nothing
			if _, _, err := s.confirmed(t.Conversation.Scope, keys[i], m.ID); err != nil {
				return err
			}
		}
		for i, m := range messages {
			s.record(t.Conversation.Scope, s.channel(t.Conversation.Scope), m)
			p, next, err := s.confirmed(t.Conversation.Scope, keys[i], m.ID)
			if err != nil {
				return err
			}
			*p = next
		}
		outdated := t.outdated(c)
		if turn != nil {
			outdated = outdated || s.anyDeleted(c.ID.Scope, rule.Read(*turn))
			t.Number = s.commit(c, *turn, outdated || turn.Epoch < c.Epoch)
		}
		s.end(t, state, why)
		if outdated {
			t.erase()
		}
		return nil
	})
}

// Reopen implements [earshot.Queue].
func (s *Store) Reopen(ctx context.Context, id earshot.TurnID) error {
	return s.write(ctx, func() error {
		t, err := s.queue.turn(id)
		if err != nil {
			return err
		}
		l := s.queue.line(t.Conversation)
		switch {
		case t.State != earshot.TurnParked && t.State != earshot.TurnFailed:
			return fmt.Errorf("turn %d is %s: %w", id, t.State, earshot.ErrConflict)
		case s.anyDeleted(t.Conversation.Scope, []earshot.MessageID{t.Anchor}):
			return fmt.Errorf("the anchor of turn %d is deleted: %w", id, earshot.ErrConflict)
		case slices.ContainsFunc(l.turns, func(x *queuedTurn) bool { return rule.Begun(x.State) }):
			return fmt.Errorf("another turn of the conversation is being answered: %w", earshot.ErrConflict)
		}
		t.State, t.Why, t.Tries, t.Updated, t.pruned = earshot.TurnOpen, "", 0, s.time(), false
		i, _ := slices.BinarySearchFunc(l.turns, t, func(a, b *queuedTurn) int { return cmp.Compare(a.ID, b.ID) })
		l.turns = slices.Insert(l.turns, i, t)
		return nil
	})
}
