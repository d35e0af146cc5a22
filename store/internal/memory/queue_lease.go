package memory

import (
	"context"
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
		var oldest *conversationQueue
		for id, l := range s.queue.conversations {
			if id.Agent == agent && l.Claimable(now, hold) && (oldest == nil || l.Lowest < oldest.Lowest) {
				oldest = l
			}
		}
		if oldest == nil {
			return rule.NoClaim()
		}
		first := oldest.turns[0]
		oldest.StoredLease, first.StoredTurn = oldest.Claimed(owner, now, hold), first.Claimed(oldest.Left(), s.time())
		out = earshot.Lease{Conversation: first.Conversation, Owner: owner, Fence: oldest.Fence, Until: oldest.Until}
		for _, t := range oldest.turns {
			turns = append(turns, t.export())
		}
		return nil
	})
	return out, turns, err
}

// Renew implements [earshot.Queue].
func (s *Store) Renew(ctx context.Context, l earshot.Lease, now earshot.Time, hold time.Duration) (earshot.Lease, error) {
	if err := rule.CheckHold(hold); err != nil {
		return l, err
	}
	lease := rule.Lease(l)
	err := s.write(ctx, func() error {
		next, err := rule.DecideRenew(s.queue.stored(lease.Conversation), lease, now, hold)
		if err == nil {
			s.queue.of(lease.Conversation).StoredLease, l.Until = next, next.Until
		}
		return err
	})
	return l, err
}

// Release implements [earshot.Queue].
func (s *Store) Release(ctx context.Context, l earshot.Lease, notBefore earshot.Time) error {
	l = rule.Lease(l)
	return s.write(ctx, func() error {
		next, ok := rule.DecideRelease(s.queue.stored(l.Conversation), l, notBefore)
		if !ok {
			return nil
		}
		have := s.queue.of(l.Conversation)
		have.StoredLease = next
		for _, t := range have.turns {
			t.StoredTurn = t.Released()
		}
		s.queue.advance(l.Conversation)
		return nil
	})
}

// stored returns a conversation's lease; a zero one when there is none.
func (q *queue) stored(id earshot.ConversationID) rule.StoredLease {
	if l := q.conversations[id]; l != nil {
		return l.StoredLease
	}
	return rule.StoredLease{}
}

// leased returns a turn with the stored lease of its conversation. The second turn is
// nil when it is not stored.
func (s *Store) leased(l earshot.Lease, id earshot.TurnID) (rule.LeasedTurn, *queuedTurn) {
	l = rule.Lease(l)
	h := rule.LeasedTurn{Lease: l, Stored: s.queue.stored(l.Conversation), ID: id, Now: s.time()}
	if c := s.conversations[l.Conversation]; c != nil {
		h.Epoch = c.Epoch
	}
	t, err := s.queue.turn(id)
	if err == nil {
		h.Turn = t.StoredTurn
	}
	return h, t
}

// under loads a turn of the lease's conversation, lets decide make a change, and
// writes it.
func (s *Store) under(ctx context.Context, l earshot.Lease, id earshot.TurnID, decide func(rule.LeasedTurn, *queuedTurn) (rule.Change, error)) error {
	return s.write(ctx, func() error {
		h, t := s.leased(l, id)
		c, err := decide(h, t)
		if err == nil {
			s.applyChange(t, c)
		}
		return err
	})
}

// applyChange writes c, which is about the turn t.
func (s *Store) applyChange(t *queuedTurn, c rule.Change) {
	if c.EmptyJournal {
		t.steps = nil
	}
	if c.ErasePosts {
		t.erasePosts()
		t.eraseWords()
	}
	if len(c.Read) > 0 {
		s.queue.hasRead(t.Conversation, c.Epoch, c.Read)
	}
	if c.CopyRead {
		s.queue.copyRead(t.Conversation, c.CopyFrom, c.Epoch)
	}
	if c.EndEpoch {
		s.endEpoch(s.conversations[t.Conversation], c.Epoch)
	}
	if c.Step != nil {
		t.steps = append(t.steps, *c.Step)
	}
	s.putPosts(c.Posts)
	s.changeApprovals(t, c)
	if c.Commit != nil {
		s.commit(s.conversations[t.Conversation], *c.Commit)
	}
	for _, next := range c.Turns {
		if of, err := s.queue.turn(next.ID); err == nil {
			of.StoredTurn, of.pruned = next, false
		}
	}
	if c.Unmerge != 0 {
		for _, other := range s.queue.of(t.Conversation).all {
			if next, ok := rule.ReopenMerged(other.StoredTurn, c.Unmerge, s.time()); ok {
				other.StoredTurn, other.pruned = next, false
			}
		}
	}
	if c.Erase {
		t.erase()
	}
	if c.FindLowest {
		s.queue.advance(t.Conversation)
	}
	if c.Free {
		if l := s.queue.of(t.Conversation); l.Owner == "" {
			l.Until = 0
		}
	}
}
