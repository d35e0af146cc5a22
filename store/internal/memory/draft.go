package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// OpenDraft implements [earshot.Drafts].
func (s *Store) OpenDraft(ctx context.Context, d earshot.Draft) (earshot.Draft, error) {
	d, err := rule.CheckDraft(d)
	if err != nil {
		return earshot.Draft{}, err
	}
	var out earshot.Draft
	err = s.write(ctx, func() error {
		epoch, turns := 0, 0
		c := s.conversations[d.Conversation]
		if c != nil {
			epoch, turns = c.Epoch, len(c.turns)
		}
		replaced := s.drafts[d.Replaces]
		if d.Replaces != 0 && replaced == nil {
			return rule.NoDraft(d.Replaces)
		}
		next, ended, err := rule.OpenDraft(d, rule.DraftOpening{
			Epoch: epoch, Turns: turns, Gone: s.anyDeleted(d.Conversation.Scope, d.Prompt.Shows), Replaced: replaced,
			Claims: s.claims(d, d.Replaces, rule.OpenedAt(d, s.time())), Now: s.time(),
		})
		if err != nil {
			return err
		}
		if c == nil {
			s.create(earshot.Conversation{ID: d.Conversation, Metadata: map[string]string{}}, s.time())
		}
		s.queue.last++
		next.ID = s.queue.last
		s.drafts[next.ID] = &next
		if ended != nil {
			for _, a := range s.queue.asksOf(ended.ID) {
				a.Turn, a.of = next.ID, turnOfDraft(&next)
			}
			s.drafts[ended.ID] = ended
		}
		out = next.Export()
		return nil
	})
	return out, err
}

// Claimed implements [earshot.Drafts].
func (s *Store) Claimed(ctx context.Context, d earshot.Draft) error {
	return s.read(ctx, func() error { return s.claims(d, d.Replaces, rule.OpenedAt(d, s.time())).Taken(d) })
}

// claims are who else has to do with a draft's anchor at a time, besides the draft not.
func (s *Store) claims(d earshot.Draft, not earshot.TurnID, now earshot.Time) rule.Claims {
	at := agentKey{d.Conversation.Agent, d.Conversation.Scope, string(d.Anchor)}
	c := rule.Claims{Done: s.anchors[at]}
	if q := s.queue.anchors[at]; q != nil && q.State != earshot.TurnRefused {
		c.Queued = &q.QueuedTurn
	}
	for _, o := range s.drafts {
		if o.ID != not && o.State == earshot.DraftOpen && o.Expires >= now && ofAnchor(o, d.Conversation, d.Anchor) && (c.Held == nil || o.ID > c.Held.ID) {
			c.Held = &o.Draft
		}
	}
	return c
}

func ofAnchor(d *rule.StoredDraft, of earshot.ConversationID, anchor earshot.MessageID) bool {
	return d.Anchor == anchor && d.Conversation.Agent == of.Agent && d.Conversation.Scope == of.Scope
}

// head is a draft without what OpenDrafts leaves out.
func head(d *rule.StoredDraft) earshot.Draft {
	out := *d
	out.Prompt.Input, out.Turn = nil, earshot.Turn{}
	return out.Export()
}

// OpenDrafts implements [earshot.Drafts].
func (s *Store) OpenDrafts(ctx context.Context, opener string, now earshot.Time, expired bool, limit int) (out []earshot.Draft, err error) {
	type anchor struct {
		agent earshot.AgentID
		scope earshot.Scope
		id    earshot.MessageID
	}
	of := func(d *rule.StoredDraft) anchor { return anchor{d.Conversation.Agent, d.Conversation.Scope, d.Anchor} }
	err = s.read(ctx, func() error {
		last := map[anchor]earshot.TurnID{}
		for id, d := range s.drafts {
			if d.State != earshot.DraftAborted {
				last[of(d)] = max(last[of(d)], id)
			}
		}
		for id, d := range s.drafts {
			if d.Opener == rule.Text(opener) && d.State == earshot.DraftOpen && (d.Expires >= now || expired && last[of(d)] == id) {
				out = append(out, head(d))
			}
		}
		slices.SortFunc(out, func(a, b earshot.Draft) int { return cmp.Compare(b.ID, a.ID) })
		if limit > 0 && len(out) > limit {
			out = out[:limit]
		}
		return nil
	})
	return out, err
}

// LastDraft implements [earshot.Drafts].
func (s *Store) LastDraft(ctx context.Context, of earshot.ConversationID, anchor earshot.MessageID, not earshot.TurnID, posting bool) (out earshot.Draft, err error) {
	err = s.read(ctx, func() error {
		for id, d := range s.drafts {
			if id != not && id > out.ID && ofAnchor(d, of, anchor) && (!posting || d.State == earshot.DraftOpen && d.Posting != 0) {
				out = head(d)
			}
		}
		if out.ID == 0 {
			return rule.NoDraft(0)
		}
		return nil
	})
	return out, err
}

// RenewDraft implements [earshot.Drafts].
func (s *Store) RenewDraft(ctx context.Context, id earshot.TurnID, now, expires earshot.Time, posting bool) (out earshot.Draft, err error) {
	err = s.write(ctx, func() error {
		d := s.drafts[id]
		if d == nil {
			return rule.NoDraft(id)
		}
		next, ok, err := rule.RenewDraft(*d, s.claims(d.Draft, id, now), now, expires, posting)
		if err != nil {
			return err
		}
		if ok {
			s.drafts[id] = &next
		}
		out = next.Export()
		return nil
	})
	return out, err
}

// HoldDraft stores a draft that another store has opened, under its id, for as long as
// nothing of it is deleted. Only what this store knows of deletions ends it.
func (s *Store) HoldDraft(ctx context.Context, d earshot.Draft) error {
	id := d.ID
	d, err := rule.CheckDraft(d)
	if err != nil {
		return err
	}
	d.ID = id
	return s.write(ctx, func() error {
		s.drafts[id] = &rule.StoredDraft{Draft: d}
		return nil
	})
}

// HeldDraft returns a draft that HoldDraft stored and of which nothing was deleted,
// with the messages that its prompt shows.
func (s *Store) HeldDraft(ctx context.Context, id earshot.TurnID) (out earshot.Draft, held bool, err error) {
	err = s.read(ctx, func() error {
		if d := s.drafts[id]; d != nil && !d.Erased && d.State == earshot.DraftOpen && len(d.Prompt.Shows) > 0 {
			out, held = d.Export(), true
			out.Prompt.Shows = slices.Clone(d.Prompt.Shows)
		}
		return nil
	})
	return out, held, err
}

// DropDraft forgets what HoldDraft stored.
func (s *Store) DropDraft(ctx context.Context, id earshot.TurnID) error {
	return s.write(ctx, func() error {
		delete(s.drafts, id)
		return nil
	})
}

// Draft implements [earshot.Drafts].
func (s *Store) Draft(ctx context.Context, id earshot.TurnID) (earshot.Draft, error) {
	var out earshot.Draft
	err := s.read(ctx, func() error {
		d := s.drafts[id]
		if d == nil {
			return rule.NoDraft(id)
		}
		out = d.Export()
		return nil
	})
	return out, err
}

// CommitDraft implements [earshot.Drafts].
func (s *Store) CommitDraft(ctx context.Context, id earshot.TurnID, t earshot.Turn, now earshot.Time, arrived ...earshot.Message) (earshot.Draft, error) {
	messages, err := rule.Prepare(ctx, arrived)
	if err != nil {
		return earshot.Draft{}, err
	}
	var out earshot.Draft
	err = s.write(ctx, func() error {
		d := s.drafts[id]
		if d == nil {
			return rule.NoDraft(id)
		}
		scope := d.Conversation.Scope
		decide := func() (*rule.DraftCommit, error) {
			turn, err := rule.DraftTurn(*d, t)
			if err != nil {
				return nil, err
			}
			q := s.queue.anchors[agentKey{d.Conversation.Agent, scope, string(d.Anchor)}]
			queued := q != nil && q.State != earshot.TurnRefused
			var busy bool
			if c := s.queue.conversations[d.Conversation]; c != nil {
				busy = slices.ContainsFunc(c.turns, func(q *queuedTurn) bool { return rule.IsAnswering(q.State) })
			}
			return rule.CommitDraft(*d, rule.DraftEnd{
				Turn: turn, Now: now, Stored: s.time(), Answered: s.answered(d.Conversation, turn), Queued: queued, Busy: busy,
			})
		}
		c, err := decide()
		if err == nil && c != nil && len(messages) > 0 { // what is refused or known records nothing
			for _, m := range messages {
				s.record(scope, s.channel(scope), m)
			}
			c, err = decide()
		}
		if err != nil {
			return err
		}
		if c != nil {
			s.commit(s.conversations[d.Conversation], c.Commit)
			s.endAsks(id, true)
			s.putDone(c.Queued)
			s.drafts[id] = &c.Draft
		}
		out = s.drafts[id].Export()
		out.Repeated = c == nil
		return nil
	})
	return out, err
}

// putDone stores a turn that is done.
func (s *Store) putDone(q rule.StoredTurn) {
	t := &queuedTurn{StoredTurn: q, approvals: s.queue.asksOf(q.ID)}
	for _, a := range t.approvals {
		a.of = t
	}
	s.queue.removeRefused(q.Conversation, q.Anchor)
	byID := func(t *queuedTurn, id earshot.TurnID) int { return cmp.Compare(t.ID, id) }
	l := s.queue.of(q.Conversation)
	for _, list := range []*[]*queuedTurn{&s.queue.turns, &l.all} {
		i, _ := slices.BinarySearchFunc(*list, q.ID, byID)
		*list = slices.Insert(*list, i, t)
	}
	if q.Again == 0 {
		s.queue.anchors[agentKey{q.Conversation.Agent, q.Conversation.Scope, string(q.Anchor)}] = t
	}
}

// AbortDraft implements [earshot.Drafts].
func (s *Store) AbortDraft(ctx context.Context, id earshot.TurnID) (earshot.Draft, error) {
	var out earshot.Draft
	err := s.write(ctx, func() error {
		d := s.drafts[id]
		if d == nil {
			return rule.NoDraft(id)
		}
		if next, ok := rule.AbortDraft(*d); ok {
			s.endAsks(id, false)
			s.drafts[id] = &next
		}
		out = s.drafts[id].Export()
		return nil
	})
	return out, err
}

// PruneDrafts implements [earshot.Drafts].
func (s *Store) PruneDrafts(ctx context.Context, before earshot.Time) (int, error) {
	n := 0
	err := s.write(ctx, func() error {
		for id, d := range s.drafts {
			if d.Expires < before && d.State != earshot.DraftCommitted {
				s.endAsks(id, false)
			}
			switch {
			case d.Expires < rule.DraftGone(before):
				delete(s.drafts, id)
				n++
			case d.Expires < before && d.HasContents():
				next := d.Pruned()
				s.drafts[id] = &next
				n++
			}
		}
		return nil
	})
	return n, err
}

// eraseDrafts erases the contents of the open drafts of which which is true.
func (s *Store) eraseDrafts(which func(*rule.StoredDraft) bool) {
	for id, d := range s.drafts {
		if d.State == earshot.DraftOpen && !d.Erased && which(d) {
			next := d.WithoutText()
			s.endAsks(id, false)
			s.drafts[id] = &next
			s.tally.Turns++
		}
	}
}

// scrubDrafts erases the drafts of a channel that hold something of a person.
func (s *Store) scrubDrafts(scope earshot.Scope, holds func(string) bool) error {
	for id, d := range s.drafts {
		if d.Conversation.Scope != scope {
			continue
		}
		v, err := rule.DraftValues(*d)
		if err != nil {
			return err
		}
		if next, some := d.Without(v[len(v)-1].(string), holds); some {
			s.endAsks(id, next.State == earshot.DraftCommitted)
			s.drafts[id] = &next
			s.tally.Turns++
		}
	}
	return nil
}

// dropDrafts removes drafts.
func (s *Store) dropDrafts(which func(*rule.StoredDraft) bool) {
	maps.DeleteFunc(s.drafts, func(_ earshot.TurnID, d *rule.StoredDraft) bool { return which(d) })
}

// drafted reports whether a conversation has an open draft.
func (s *Store) drafted(id earshot.ConversationID) bool {
	for _, d := range s.drafts {
		if d.Conversation == id && d.State == earshot.DraftOpen {
			return true
		}
	}
	return false
}
