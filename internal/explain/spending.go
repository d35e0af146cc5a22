package explain

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// MaxSpending bounds how many turns one [Reader.Spending] looks into.
const MaxSpending = 2000

// A SpendingQuery selects turns by when they were opened; From is inclusive and To is
// not. Zero fields select all.
type SpendingQuery struct {
	Channel  visible.Place
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

// Calls are the calls of models that the turn made.
func (t SpentTurn) Calls() []Call {
	entries, _ := readSteps(t.Steps)
	return Calls(entries, t.Committed)
}

// Spending returns the turns of a time that the caller sees, the newest first. It looks
// into [MaxSpending] of them: where there are more, stopped is when the last one of
// them was opened, and a query up to there goes on.
func (r *Reader) Spending(ctx context.Context, p access.Principal, q SpendingQuery) (list []SpentTurn, stopped earshot.Time, err error) {
	for t, err := range r.Spent(ctx, p, q) {
		if err != nil {
			return nil, 0, err
		}
		if len(list) == MaxSpending {
			stopped = list[len(list)-1].Queued.Opened
			break
		}
		list = append(list, t)
	}
	return list, stopped, r.askers(ctx, list, q.People)
}

// Spent yields the turns of a time that the caller sees, the newest first, without By,
// however many there are.
func (r *Reader) Spent(ctx context.Context, p access.Principal, q SpendingQuery) iter.Seq2[SpentTurn, error] {
	return func(yield func(SpentTurn, error) bool) {
		if err := r.eachSpent(ctx, p, q, func(t SpentTurn) bool { return yield(t, nil) }); err != nil {
			yield(SpentTurn{}, err)
		}
	}
}

// eachSpent calls f for each of the turns until it returns false.
func (r *Reader) eachSpent(ctx context.Context, p access.Principal, q SpendingQuery, f func(SpentTurn) bool) error {
	if p.Fixed != nil {
		return visible.ToolsOnly
	}
	of := earshot.TurnQuery{Limit: MaxTurns, States: earshot.AskedStates()}
	mine := r.To(p)
	if q.Channel.Channel != "" {
		c, err := mine.Find(ctx, q.Channel)
		if err != nil {
			return err
		}
		sc := c.Scope()
		of.Scope = &sc
	}
	for {
		page, err := r.store.QueuedTurns(ctx, of)
		if err != nil {
			return err
		}
		older := true // all of this page are from before the time
		for _, t := range page {
			of.Before = t.ID
			older = older && t.Opened < q.From
			if t.Opened < q.From || q.To != 0 && t.Opened >= q.To || !p.Sees(t.Conversation.Scope) {
				continue
			}
			if ok, err := mine.Owns(ctx, t.Conversation); err != nil {
				return err
			} else if !ok {
				continue
			}
			x, err := r.spent(ctx, t)
			if err != nil || !f(x) {
				return err
			}
		}
		if len(page) < of.Limit || older {
			return nil
		}
	}
}

// spent reads what one turn asked.
func (r *Reader) spent(ctx context.Context, t earshot.QueuedTurn) (x SpentTurn, err error) {
	x.Queued = t
	if x.Steps, err = r.store.Steps(ctx, t.ID); err != nil {
		return x, err
	}
	if slices.ContainsFunc(x.Steps, func(s earshot.Step) bool { return s.Data != nil }) {
		return x, nil
	}
	x.Committed, err = r.readCommitted(ctx, t)
	return x, err
}

// askers reads who asked, if it is wanted.
func (r *Reader) askers(ctx context.Context, list []SpentTurn, wanted bool) error {
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
			found, err := r.store.ByID(ctx, at, page...)
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
