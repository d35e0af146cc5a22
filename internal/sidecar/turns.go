package sidecar

import (
	"context"
	"errors"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/access"
	"github.com/earshot-ai/earshot/internal/inputref"
)

// MaxTurns bounds one page of turns.
const MaxTurns = 200

// A TurnQuery selects turns, newest first. Zero fields select all.
type TurnQuery struct {
	Channel Place
	Agent   earshot.AgentID
	States  []earshot.TurnState
	Before  earshot.TurnID
	Limit   int // at most MaxTurns; 0: 50
}

// Turns returns a page of the turns that the caller may see, those of a bot beside
// it too, without their inputs. more says that there are older ones. Open turns
// (drafts) are not among them until they are committed.
func (s *Service) Turns(ctx context.Context, p access.Principal, q TurnQuery) (page []earshot.QueuedTurn, more bool, err error) {
	if p.Fixed != nil {
		return nil, false, toolsOnly
	}
	if q.Limit <= 0 {
		q.Limit = 50
	}
	q.Limit = min(q.Limit, MaxTurns)
	want := q.Limit + 1
	of := earshot.TurnQuery{Agent: q.Agent, States: q.States, Before: q.Before, Limit: want}
	if q.Channel.Channel != "" {
		c, err := s.Resolve(ctx, p, q.Channel)
		if err != nil {
			return nil, false, err
		}
		sc := c.Scope()
		of.Scope = &sc
	}
	mine := s.owners(p)
	for len(page) < want {
		list, err := s.store.QueuedTurns(ctx, of)
		if err != nil {
			return nil, false, err
		}
		for _, t := range list {
			if len(page) == want || !p.Sees(t.Conversation.Scope) {
				continue
			}
			ok, err := mine.has(ctx, t.Conversation)
			if err != nil {
				return nil, false, err
			}
			if ok {
				page = append(page, t)
			}
		}
		if len(list) < of.Limit {
			break
		}
		of.Before, of.Limit = list[len(list)-1].ID, MaxTurns
	}
	if len(page) == want {
		return page[:q.Limit], true, nil
	}
	return page, false, nil
}

// A WholeTurn is one turn with what it committed.
type WholeTurn struct {
	Queued earshot.QueuedTurn
	Turn   *earshot.Turn    // nil until it is done
	Draft  *earshot.Draft   // of a turn that was opened by a caller and not committed; Queued is empty then
	Posts  []earshot.Post   // what was posted, or is to be
	Prompt *assemble.Result // nil where it was not asked for, or cannot be made any more
	Input  *assemble.Input  // what Prompt was made of
	Anchor *earshot.Message // nil when it is deleted
	// Changed says why there is no Prompt although it was asked for.
	Changed string
}

// Turn returns one turn. With prompt its prompt is made again from what is stored.
func (s *Service) Turn(ctx context.Context, p access.Principal, id earshot.TurnID, prompt bool) (WholeTurn, error) {
	if p.Fixed != nil {
		return WholeTurn{}, toolsOnly
	}
	var w WholeTurn
	var of earshot.ConversationID
	var anchor earshot.MessageID
	q, err := s.store.QueuedTurn(ctx, id)
	if errors.Is(err, earshot.ErrNotFound) {
		var d earshot.Draft
		if d, err = s.store.Draft(ctx, id); err == nil && d.State == earshot.DraftCommitted { // meanwhile
			q, err = s.store.QueuedTurn(ctx, id)
		} else if err == nil {
			w.Draft, of, anchor = &d, d.Conversation, d.Anchor
		}
	}
	if err != nil {
		return w, err
	}
	if w.Draft == nil {
		w.Queued, of, anchor = q, q.Conversation, q.Anchor
	}
	if err := s.opens(ctx, p, of); err != nil {
		return WholeTurn{}, err
	}
	found, err := s.store.ByID(ctx, of.Scope, anchor)
	if err != nil {
		return w, err
	}
	if len(found) == 1 && !found[0].Deleted {
		w.Anchor = &found[0]
	}
	if w.Draft == nil {
		err = s.read(ctx, &w)
	}
	if err == nil && prompt {
		err = s.remake(ctx, s.store, &w)
	}
	return w, err
}

// read reads what a queued turn has committed and posted.
func (s *Service) read(ctx context.Context, w *WholeTurn) (err error) {
	if w.Posts, err = s.store.Posts(ctx, w.Queued.ID); err != nil || w.Queued.State != earshot.TurnDone {
		return err
	}
	t, err := s.store.Turn(ctx, w.Queued.Conversation, w.Queued.Number)
	switch {
	case errors.Is(err, earshot.ErrNotFound):
		return nil // an isolated turn commits nothing
	case err != nil:
		return err
	case t.Answer.Anchor == w.Queued.Anchor:
		w.Turn = &t
	}
	return nil
}

// Why a prompt cannot be made again.
const (
	changedNever  = "the turn did not come to a prompt"
	changedErased = "something that the turn read was erased or replaced since"
	changedOther  = "the assembler makes another prompt of it now"
	changedUnread = "this version cannot read what is recorded of it"
)

// remake makes a turn's prompt again. A prompt of which something was erased cannot
// be made.
func (s *Service) remake(ctx context.Context, st inputref.Store, w *WholeTurn) error {
	of := w.Queued
	if d := w.Draft; d != nil {
		of = earshot.QueuedTurn{ID: d.ID, Conversation: d.Conversation, Anchor: d.Anchor, Epoch: d.Prompt.Epoch, Input: d.Prompt.Input, Hash: d.Prompt.Hash}
	}
	if of.Hash == "" {
		w.Changed = changedNever
		return nil
	}
	if of.Input == nil {
		w.Changed = changedErased
		return nil
	}
	in, err := inputref.Load(ctx, st, of)
	if errors.Is(err, inputref.ErrChanged) {
		w.Changed = changedErased
		return nil
	}
	if input := (*assemble.InputError)(nil); errors.As(err, &input) {
		w.Changed = changedUnread
		return nil
	}
	if err != nil {
		return err
	}
	res, err := assemble.Turn(in)
	if err != nil || res.Hash != of.Hash {
		w.Changed = changedOther
		return nil
	}
	w.Prompt, w.Input = &res, &in
	return nil
}

// A UsageQuery selects answered turns by when they were opened; From is inclusive
// and To is not. Zero is no bound.
type UsageQuery struct {
	Channel  Place
	Agent    earshot.AgentID
	From, To earshot.Time
}

// A UsageOf sums what turns have used. Callers report the usage of the turns that
// they commit.
type UsageOf struct {
	Agent  earshot.AgentID
	Scope  earshot.Scope
	Policy string
	Turns  int
	Usage  earshot.Usage
}

// Usage sums the usage of answered turns by agent, channel and policy.
func (s *Service) Usage(ctx context.Context, p access.Principal, q UsageQuery) ([]UsageOf, error) {
	conversations := map[earshot.ConversationID][]earshot.Turn{}
	sums := map[UsageOf]*UsageOf{}
	var order []*UsageOf
	for before, more := earshot.TurnID(0), true; more; {
		page, rest, err := s.Turns(ctx, p, TurnQuery{Channel: q.Channel, Agent: q.Agent, States: []earshot.TurnState{earshot.TurnDone}, Before: before, Limit: MaxTurns})
		if err != nil {
			return nil, err
		}
		more = rest
		for _, t := range page {
			before = t.ID
			if q.To != 0 && t.Opened >= q.To || t.Opened < q.From {
				continue
			}
			turns, ok := conversations[t.Conversation]
			if !ok {
				if turns, err = s.store.Turns(ctx, t.Conversation, 0); err != nil {
					return nil, err
				}
				conversations[t.Conversation] = turns
			}
			i := slices.IndexFunc(turns, func(x earshot.Turn) bool { return x.Answer.Anchor == t.Anchor })
			if i < 0 {
				continue
			}
			key := UsageOf{Agent: t.Conversation.Agent, Scope: t.Conversation.Scope, Policy: turns[i].Policy}
			sum := sums[key]
			if sum == nil {
				sum = &UsageOf{Agent: key.Agent, Scope: key.Scope, Policy: key.Policy}
				sums[key] = sum
				order = append(order, sum)
			}
			u := turns[i].Usage
			sum.Turns++
			sum.Usage.Input += u.Input
			sum.Usage.Output += u.Output
			sum.Usage.CacheRead += u.CacheRead
			sum.Usage.CacheWrite += u.CacheWrite
		}
	}
	out := make([]UsageOf, 0, len(order))
	for _, sum := range order {
		out = append(out, *sum)
	}
	return out, nil
}
