package sidecar

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/access"
	"github.com/earshot-ai/earshot/internal/inputref"
	"github.com/earshot-ai/earshot/internal/step"
)

// How far back is looked for a turn, and for a channel's turns.
const (
	maxLookTurns = 500
	turnsPage    = 100
)

// A DeskTurn is a turn with its prompt, and the messages that were considered for it.
type DeskTurn struct {
	WholeTurn
	Channel earshot.Channel
	// Messages are the stored messages of the ledger, the question and the replies.
	// Deleted ones have no text.
	Messages map[earshot.MessageID]earshot.Message
	// Steps are what the model and its tools said, in order; none of a turn that
	// somebody outside has answered.
	Steps []step.Entry
}

// Ledger returns what was committed, else that of the prompt; nil when there is none.
func (t DeskTurn) Ledger() earshot.Ledger {
	switch {
	case t.Turn != nil && len(t.Turn.Ledger) > 0:
		return t.Turn.Ledger
	case t.Prompt != nil:
		return t.Prompt.Ledger
	}
	return nil
}

// RecentTurns returns the newest turns of a channel, newest first, without Input, at
// most limit.
func (s *Service) RecentTurns(ctx context.Context, p access.Principal, at earshot.Scope, limit int) ([]earshot.QueuedTurn, error) {
	if !p.Sees(at) || p.Kind == access.Capability {
		return nil, absent
	}
	var list []earshot.QueuedTurn
	for q, err := range s.turns(ctx, p, earshot.TurnQuery{Scope: &at}) {
		if err != nil {
			return nil, err
		}
		if list = append(list, q); len(list) >= limit {
			break
		}
	}
	return list, nil
}

// TurnOf returns the id of the turn that a message belongs to, as its question or as
// a part of its reply; with no message, or [Newest], that of the channel's newest turn.
// It looks at the newest 500 turns.
func (s *Service) TurnOf(ctx context.Context, p access.Principal, at earshot.Scope, id earshot.MessageID) (earshot.TurnID, error) {
	if !p.Sees(at) || p.Kind == access.Capability {
		return 0, absent
	}
	asked := map[earshot.ConversationID]map[earshot.MessageID]earshot.TurnID{}
	var order []earshot.ConversationID
	for q, err := range s.turns(ctx, p, earshot.TurnQuery{Scope: &at}) {
		if err != nil {
			return 0, err
		}
		if id == "" || id == Newest || q.Anchor == id {
			return q.ID, nil
		}
		if asked[q.Conversation] == nil {
			asked[q.Conversation] = map[earshot.MessageID]earshot.TurnID{}
			order = append(order, q.Conversation)
		}
		if _, ok := asked[q.Conversation][q.Anchor]; !ok {
			asked[q.Conversation][q.Anchor] = q.ID
		}
	}
	if id == "" || id == Newest {
		return 0, &Refusal{Kind: NotFound, Code: "no_turn", Detail: "no agent has answered anything in this channel yet"}
	}
	for _, c := range order {
		turns, err := s.store.Turns(ctx, c, maxLookTurns)
		if err != nil {
			return 0, err
		}
		for _, t := range turns {
			if turn, ok := asked[c][t.Answer.Anchor]; ok && slices.Contains(t.Answer.Replies, id) {
				return turn, nil
			}
		}
	}
	return 0, &Refusal{Kind: NotFound, Code: "no_turn", Detail: "no turn of this channel has this message as its question or in its reply"}
}

// turns yields the newest turns of a channel that the caller sees, newest first. It
// looks at most at maxLookTurns.
func (s *Service) turns(ctx context.Context, p access.Principal, q earshot.TurnQuery) func(func(earshot.QueuedTurn, error) bool) {
	return func(yield func(earshot.QueuedTurn, error) bool) {
		q.Limit = turnsPage
		mine := s.owners(p)
		for range maxLookTurns / turnsPage {
			list, err := s.store.QueuedTurns(ctx, q)
			if err != nil {
				yield(earshot.QueuedTurn{}, err)
				return
			}
			for _, t := range list {
				if ok, err := mine.has(ctx, t.Conversation); !ok && err == nil {
					continue
				} else if !yield(t, err) || err != nil {
					return
				}
			}
			if len(list) < turnsPage {
				return
			}
			q.Before = list[len(list)-1].ID
		}
	}
}

// DeskTurn returns a turn with why its prompt was what it was. A turn of a channel
// that the caller may not see is refused as one that does not exist.
func (s *Service) DeskTurn(ctx context.Context, p access.Principal, id earshot.TurnID) (DeskTurn, error) {
	return s.deskTurn(ctx, p, id, s.store)
}

// deskTurn reads what the prompt is made of from st.
func (s *Service) deskTurn(ctx context.Context, p access.Principal, id earshot.TurnID, st inputref.Store) (DeskTurn, error) {
	var out DeskTurn
	var err error
	out.Queued, err = s.store.QueuedTurn(ctx, id)
	if errors.Is(err, earshot.ErrNotFound) {
		err = absent
	}
	if err != nil {
		return DeskTurn{}, err
	}
	q := out.Queued
	if p.Kind == access.Capability {
		return DeskTurn{}, absent
	}
	if err := s.opens(ctx, p, q.Conversation); err != nil {
		return DeskTurn{}, err
	}
	if out.Channel, err = s.store.Channel(ctx, q.Conversation.Scope); err != nil {
		return out, err
	}
	if err := s.read(ctx, &out.WholeTurn); err != nil {
		return out, err
	}
	if err := s.remake(ctx, st, &out.WholeTurn); err != nil {
		return out, err
	}
	if out.Steps, err = s.steps(ctx, id); err != nil {
		return out, err
	}
	ids := []earshot.MessageID{q.Anchor}
	if out.Turn != nil {
		ids = append(ids, out.Turn.Answer.Replies...)
	}
	for _, row := range out.Ledger() {
		ids = append(ids, row.ID)
	}
	list, err := s.store.ByID(ctx, q.Conversation.Scope, ids...)
	out.Messages = make(map[earshot.MessageID]earshot.Message, len(list))
	for _, m := range list {
		out.Messages[m.ID] = m
	}
	return out, err
}

// steps reads a turn's journal. Of a step that cannot be decoded, because a newer
// version has written it, only its kind and time are known.
func (s *Service) steps(ctx context.Context, id earshot.TurnID) ([]step.Entry, error) {
	list, err := s.store.Steps(ctx, id)
	if err != nil {
		return nil, err
	}
	var out []step.Entry
	for _, x := range list {
		e, err := step.Read([]earshot.Step{x})
		if err != nil {
			e = []step.Entry{{N: x.N, Kind: x.Kind, Time: x.Time}}
			s.options.Log.WarnContext(ctx, "a step of a journal cannot be read", "turn", id, "step", x.N, "kind", x.Kind)
		}
		out = append(out, e...)
	}
	return out, nil
}

// channelTurns are the turns of all conversations of a channel as if they were one,
// for [tools.Turns]: those of one agent, or of all where agent is "", as far as
// the caller sees them.
type channelTurns struct {
	service *Service
	caller  access.Principal
	agent   earshot.AgentID
}

// Turns implements [tools.Turns].
func (c channelTurns) Turns(ctx context.Context, id earshot.ConversationID, limit int) ([]earshot.Turn, error) {
	var list []earshot.ConversationID
	for q, err := range c.service.turns(ctx, c.caller, earshot.TurnQuery{Scope: &id.Scope, Agent: c.agent, States: []earshot.TurnState{earshot.TurnDone}}) {
		if err != nil {
			return nil, err
		}
		if !slices.Contains(list, q.Conversation) {
			list = append(list, q.Conversation)
		}
	}
	var all []earshot.Turn
	for _, conversation := range list {
		turns, err := c.service.store.Turns(ctx, conversation, limit)
		if err != nil {
			return nil, err
		}
		all = append(all, turns...)
	}
	slices.SortStableFunc(all, func(x, y earshot.Turn) int { return cmp.Compare(x.Time, y.Time) })
	if limit > 0 && len(all) > limit {
		all = all[len(all)-limit:]
	}
	return all, nil
}
