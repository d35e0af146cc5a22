package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// An approval is one of a turn.
type approval struct {
	earshot.Approval
	n  int // rises in the order in which they are asked for
	of *queuedTurn
}

func (a *approval) export() earshot.Approval {
	out := a.Approval
	out.Conversation, out.Args = a.of.Conversation, slices.Clone(a.Args)
	return out
}

// AskApproval implements [earshot.Approvals].
func (s *Store) AskApproval(ctx context.Context, l earshot.Lease, a earshot.Approval) (out earshot.Approval, err error) {
	if a, err = rule.CheckApproval(a); err != nil {
		return earshot.Approval{}, err
	}
	err = s.under(ctx, l, a.Turn, func(h rule.LeasedTurn, t *queuedTurn) (c rule.Change, err error) {
		var same *earshot.Approval
		if t != nil && a.Call != "" {
			for _, x := range t.approvals {
				if x.Call == a.Call {
					found := x.export()
					same = &found
				}
			}
		}
		out, c, err = rule.DecideAsk(h, a, same, s.queue.approvals[a.ID] != nil)
		return c, err
	})
	if err != nil {
		return earshot.Approval{}, err
	}
	out.Args = slices.Clone(out.Args)
	return out, nil
}

// AwaitApprovals implements [earshot.Approvals].
func (s *Store) AwaitApprovals(ctx context.Context, l earshot.Lease, id earshot.TurnID) (waits bool, err error) {
	err = s.under(ctx, l, id, func(h rule.LeasedTurn, t *queuedTurn) (c rule.Change, err error) {
		c, waits, err = rule.DecideAwait(h, t != nil && t.asks(""))
		return c, err
	})
	return waits, err
}

// asks reports whether an approval of the turn is open, besides that with the id not.
func (t *queuedTurn) asks(not earshot.ApprovalID) bool {
	return slices.ContainsFunc(t.approvals, func(a *approval) bool { return a.State == earshot.ApprovalOpen && a.ID != not })
}

// DecideApproval implements [earshot.Approvals].
func (s *Store) DecideApproval(ctx context.Context, id earshot.ApprovalID, d earshot.Decision) (out earshot.Approval, err error) {
	id = rule.ID(id)
	if d, err = rule.CheckDecision(d); err != nil {
		return earshot.Approval{}, err
	}
	err = s.write(ctx, func() error {
		a := s.queue.approvals[id]
		if a == nil {
			return rule.NoApproval(id)
		}
		_, c, err := rule.DecideApproval(a.Approval, d, a.of.StoredTurn, a.of.asks(id), s.time())
		s.applyChange(a.of, c)
		out = a.export()
		return err
	})
	return out, err
}

// NoteApproval implements [earshot.Approvals].
func (s *Store) NoteApproval(ctx context.Context, l earshot.Lease, id earshot.ApprovalID, result string) error {
	id, result = rule.ID(id), rule.CheckResult(result)
	return s.write(ctx, func() error {
		a := s.queue.approvals[id]
		if a == nil {
			return rule.NoApproval(id)
		}
		h, t := s.leased(l, a.Turn)
		c, err := rule.DecideNote(h, a.Approval, result)
		if err == nil {
			s.applyChange(t, c)
		}
		return err
	})
}

// AskDraft implements [earshot.Drafts].
func (s *Store) AskDraft(ctx context.Context, a earshot.Approval) (out earshot.Approval, err error) {
	if a, err = rule.CheckApproval(a); err != nil {
		return earshot.Approval{}, err
	}
	err = s.write(ctx, func() error {
		d := s.drafts[a.Turn]
		if d == nil {
			return rule.NoDraft(a.Turn)
		}
		var same *earshot.Approval
		for _, x := range s.queue.asksOf(a.Turn) {
			if x.Call == a.Call && a.Call != "" {
				found := x.export()
				same = &found
			}
		}
		next, ask, err := rule.AskDraft(*d, a, same, s.queue.approvals[a.ID] != nil)
		if err == nil && ask {
			s.queue.asked++
			s.queue.approvals[a.ID] = &approval{Approval: next, n: s.queue.asked, of: turnOfDraft(d)}
		}
		out = next
		out.Args = slices.Clone(out.Args)
		return err
	})
	if err != nil {
		return earshot.Approval{}, err
	}
	return out, nil
}

// NoteDraft implements [earshot.Drafts].
func (s *Store) NoteDraft(ctx context.Context, id earshot.ApprovalID, result string) error {
	id, result = rule.ID(id), rule.CheckResult(result)
	return s.write(ctx, func() error {
		a := s.queue.approvals[id]
		if a == nil {
			return rule.NoApproval(id)
		}
		d := s.drafts[a.Turn]
		if d == nil {
			return rule.NoDraft(a.Turn)
		}
		next, err := rule.NoteDraft(*d, a.Approval, result)
		if err == nil {
			a.Approval = next
		}
		return err
	})
}

// turnOfDraft stands for the turn of approvals while it is a draft. It is in no queue.
func turnOfDraft(d *rule.StoredDraft) *queuedTurn {
	return &queuedTurn{StoredTurn: rule.StoredTurn{QueuedTurn: earshot.QueuedTurn{ID: d.ID, Conversation: d.Conversation, Anchor: d.Anchor}}}
}

// asksOf returns the approvals of a turn or a draft, as they were asked for.
func (q *queue) asksOf(id earshot.TurnID) []*approval {
	var list []*approval
	for _, a := range q.approvals {
		if a.Turn == id {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b *approval) int { return cmp.Compare(a.n, b.n) })
	return list
}

// endAsks withdraws what is asked for a draft, and erases the texts of what was, unless they
// are a turn's from now on.
func (s *Store) endAsks(id earshot.TurnID, committed bool) {
	for _, a := range s.queue.asksOf(id) {
		if a.Approval = rule.Withdrawn(a.Approval, s.time()); !committed {
			a.Approval = rule.WithoutWords(a.Approval)
		}
	}
}

// Approval implements [earshot.Approvals].
func (s *Store) Approval(ctx context.Context, id earshot.ApprovalID) (out earshot.Approval, err error) {
	id = rule.ID(id)
	err = s.read(ctx, func() error {
		a := s.queue.approvals[id]
		if a == nil {
			return rule.NoApproval(id)
		}
		out = a.export()
		return nil
	})
	return out, err
}

// Approvals implements [earshot.Approvals].
func (s *Store) Approvals(ctx context.Context, q earshot.ApprovalQuery) (out []earshot.Approval, err error) {
	q = rule.CheckApprovalQuery(q)
	err = s.read(ctx, func() error {
		before := s.queue.approvals[q.Before]
		if q.Before != "" && before == nil {
			return nil
		}
		newest := slices.SortedFunc(maps.Values(s.queue.approvals), func(a, b *approval) int { return cmp.Compare(b.n, a.n) })
		for _, a := range newest {
			in := a.of.Conversation
			switch {
			case len(out) == q.Limit:
				return nil
			case before != nil && a.n >= before.n, q.Agent != "" && in.Agent != q.Agent, q.Scope != nil && in.Scope != *q.Scope, q.Turn != 0 && a.Turn != q.Turn,
				len(q.States) > 0 && !slices.Contains(q.States, a.State), q.Due != 0 && a.Expires > q.Due:
			default:
				out = append(out, a.export())
			}
		}
		return nil
	})
	return out, err
}

// changeApprovals writes what c says of approvals; t is its turn.
func (s *Store) changeApprovals(t *queuedTurn, c rule.Change) {
	q := &s.queue
	if c.DropCalls {
		for _, a := range t.approvals {
			a.Call = ""
		}
	}
	if c.Ask != nil {
		q.asked++
		a := &approval{Approval: *c.Ask, n: q.asked, of: t}
		t.approvals = append(t.approvals, a)
		q.approvals[a.ID] = a
	}
	if c.Approval != nil {
		q.approvals[c.Approval.ID].Approval = *c.Approval
	}
	for _, id := range c.Withdraw {
		if of, err := q.turn(id); err == nil {
			for _, a := range of.approvals {
				a.Approval = rule.Withdrawn(a.Approval, s.time())
			}
		}
	}
}

// eraseWords erases the texts of the turn's approvals and feedback.
func (t *queuedTurn) eraseWords() {
	for _, a := range t.approvals {
		a.Approval = rule.WithoutWords(a.Approval)
	}
	for i := range t.feedback {
		t.feedback[i].Reason = ""
	}
}

// dropApprovals forgets the approvals of turns.
func (q *queue) dropApprovals(which func(*queuedTurn) bool) {
	maps.DeleteFunc(q.approvals, func(_ earshot.ApprovalID, a *approval) bool { return which(a.of) })
}

// ForgetDeeds implements [rule.Eraser].
func (e *eraser) ForgetDeeds(_ context.Context, scope earshot.Scope, id earshot.AuthorID, until earshot.Time) error {
	for _, t := range e.queue.turns {
		if t.Conversation.Scope != scope {
			continue
		}
		t.StoredTurn = rule.WithoutStopper(t.StoredTurn, id, until)
		t.feedback = slices.DeleteFunc(t.feedback, func(f earshot.Feedback) bool { return f.Author == id && f.Time <= until })
	}
	for _, a := range e.queue.approvals {
		if a.of.Conversation.Scope == scope {
			a.Approval = rule.WithoutPerson(a.Approval, id, until)
		}
	}
	return nil
}

// did reports whether an author has decided or asked for an approval, stopped a turn or
// said what they think of one, in a channel or in any.
func (s *Store) did(w workspace, channel earshot.ChannelID, id earshot.AuthorID) bool {
	in := func(at earshot.Scope) bool {
		return at.Platform == w.platform && at.Workspace == w.id && (channel == "" || channel == at.Channel)
	}
	for _, a := range s.queue.approvals {
		if in(a.of.Conversation.Scope) && (a.By == id || a.Asker == id) {
			return true
		}
	}
	return slices.ContainsFunc(s.queue.turns, func(t *queuedTurn) bool {
		return in(t.Conversation.Scope) && (t.StoppedBy == id ||
			slices.ContainsFunc(t.feedback, func(f earshot.Feedback) bool { return f.Author == id }))
	})
}
