package sidecar

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/access"
)

// MaxSpending bounds how many turns one [Service.Spending] looks into.
const MaxSpending = 2000

// A SpendingQuery selects turns by when they were opened; From is inclusive and To is
// not. Zero fields select all.
type SpendingQuery struct {
	Channel  Place
	From, To earshot.Time
	People   bool // with who asked
}

// A SpentTurn is a turn with what tells which models it asked.
type SpentTurn struct {
	Queued    earshot.QueuedTurn // without Input
	Steps     []earshot.Step
	Committed *earshot.Turn // where the journal was erased, or a caller of the sidecar answered
	By        string        // who asked; "" where the question is deleted, or was not to be read
}

// Spending returns the turns of a time that the caller sees, the newest first. It looks
// into [MaxSpending] of them: where there are more, stopped is when the last one of
// them was opened, and a query up to there goes on.
func (s *Service) Spending(ctx context.Context, p access.Principal, q SpendingQuery) (list []SpentTurn, stopped earshot.Time, err error) {
	if p.Fixed != nil {
		return nil, 0, toolsOnly
	}
	of := earshot.TurnQuery{Limit: MaxTurns}
	if q.Channel.Channel != "" {
		c, err := s.Find(ctx, p, q.Channel)
		if err != nil {
			return nil, 0, err
		}
		sc := c.Scope()
		of.Scope = &sc
	}
	mine := s.owners(p)
	for {
		page, err := s.store.QueuedTurns(ctx, of)
		if err != nil {
			return nil, 0, err
		}
		older := true // all of this page are from before the time
		for _, t := range page {
			of.Before = t.ID
			older = older && t.Opened < q.From
			if t.Opened < q.From || q.To != 0 && t.Opened >= q.To || !p.Sees(t.Conversation.Scope) {
				continue
			}
			if ok, err := mine.has(ctx, t.Conversation); err != nil {
				return nil, 0, err
			} else if !ok {
				continue
			}
			if len(list) == MaxSpending {
				return list, list[len(list)-1].Queued.Opened, s.askers(ctx, list, q.People)
			}
			x, err := s.spent(ctx, t)
			if err != nil {
				return nil, 0, err
			}
			list = append(list, x)
		}
		if len(page) < of.Limit || older {
			return list, 0, s.askers(ctx, list, q.People)
		}
	}
}

// spent reads what one turn asked.
func (s *Service) spent(ctx context.Context, t earshot.QueuedTurn) (x SpentTurn, err error) {
	x.Queued = t
	if x.Steps, err = s.store.Steps(ctx, t.ID); err != nil {
		return x, err
	}
	if t.State != earshot.TurnDone || slices.ContainsFunc(x.Steps, func(s earshot.Step) bool { return s.Data != nil }) {
		return x, nil
	}
	c, err := s.store.Turn(ctx, t.Conversation, t.Number)
	switch {
	case errors.Is(err, earshot.ErrNotFound): // an isolated turn commits nothing
		return x, nil
	case err == nil && c.Answer.Anchor == t.Anchor:
		x.Committed = &c
	}
	return x, err
}

// askers reads who asked, if it is wanted.
func (s *Service) askers(ctx context.Context, list []SpentTurn, wanted bool) error {
	if !wanted {
		return nil
	}
	anchors := map[earshot.Scope][]earshot.MessageID{}
	for _, t := range list {
		at := t.Queued.Conversation.Scope
		anchors[at] = append(anchors[at], t.Queued.Anchor)
	}
	type key struct {
		at earshot.Scope
		id earshot.MessageID
	}
	by := map[key]string{}
	for at, ids := range anchors {
		for page := range slices.Chunk(ids, 500) {
			found, err := s.store.ByID(ctx, at, page...)
			if err != nil {
				return err
			}
			for _, m := range found {
				by[key{at, m.ID}] = cmp.Or(m.Author.Name, string(m.Author.ID))
			}
		}
	}
	for i, t := range list {
		list[i].By = by[key{t.Queued.Conversation.Scope, t.Queued.Anchor}]
	}
	return nil
}
