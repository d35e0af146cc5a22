package explain

import (
	"context"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// MaxTurns bounds one page of turns.
const MaxTurns = 200

// A TurnQuery selects turns, newest first. Zero fields select all.
type TurnQuery struct {
	Channel visible.Place
	Agent   earshot.AgentID
	States  []earshot.TurnState
	Before  earshot.TurnID
	Limit   int // at most MaxTurns; 0: 50
}

// Turns returns a page of the turns that the caller may see, those of a bot beside
// it too, without their inputs. more says that there are older ones. Open turns
// (drafts) are not among them until they are committed.
func (r *Reader) Turns(ctx context.Context, p access.Principal, q TurnQuery) (page []earshot.QueuedTurn, more bool, err error) {
	if p.Fixed != nil {
		return nil, false, visible.ToolsOnly
	}
	if q.Limit <= 0 {
		q.Limit = 50
	}
	q.Limit = min(q.Limit, MaxTurns)
	want := q.Limit + 1
	of := earshot.TurnQuery{Agent: q.Agent, States: q.States, Before: q.Before, Limit: want}
	if q.Channel.Channel != "" {
		c, err := r.To(p).Resolve(ctx, q.Channel)
		if err != nil {
			return nil, false, err
		}
		sc := c.Scope()
		of.Scope = &sc
	}
	mine := r.To(p)
	for len(page) < want {
		list, err := r.store.QueuedTurns(ctx, of)
		if err != nil {
			return nil, false, err
		}
		for _, t := range list {
			if len(page) == want || !p.Sees(t.Conversation.Scope) {
				continue
			}
			ok, err := mine.Owns(ctx, t.Conversation)
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

// RecentTurns returns the newest turns of a channel, newest first, without Input, at
// most limit.
func (r *Reader) RecentTurns(ctx context.Context, p access.Principal, at earshot.Scope, limit int) ([]earshot.QueuedTurn, error) {
	if !p.Sees(at) || p.Kind == access.Capability {
		return nil, visible.Absent
	}
	var list []earshot.QueuedTurn
	for q, err := range r.To(p).Turns(ctx, earshot.TurnQuery{Scope: &at}) {
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
// a part of its reply; with no message, or [Newest], that of the channel's newest turn
// that was not refused.
// It looks at the newest 500 turns.
func (r *Reader) TurnOf(ctx context.Context, p access.Principal, at earshot.Scope, id earshot.MessageID) (earshot.TurnID, error) {
	if !p.Sees(at) || p.Kind == access.Capability {
		return 0, visible.Absent
	}
	asked := map[earshot.ConversationID]map[earshot.MessageID]earshot.TurnID{}
	var order []earshot.ConversationID
	for q, err := range r.To(p).Turns(ctx, earshot.TurnQuery{Scope: &at}) {
		if err != nil {
			return 0, err
		}
		if q.Anchor == id || (id == "" || id == Newest) && q.State != earshot.TurnRefused {
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
		return 0, &visible.Refusal{Kind: visible.NotFound, Code: "no_turn", Detail: "no agent has answered anything in this channel yet"}
	}
	for _, c := range order {
		turns, err := r.store.Turns(ctx, c, visible.LookTurns)
		if err != nil {
			return 0, err
		}
		for _, t := range turns {
			if turn, ok := asked[c][t.Answer.Anchor]; ok && slices.Contains(t.Answer.Replies, id) {
				return turn, nil
			}
		}
	}
	return 0, &visible.Refusal{Kind: visible.NotFound, Code: "no_turn", Detail: "no turn of this channel has this message as its question or in its reply"}
}

// A UsageQuery selects answered turns by when they were opened; From is inclusive
// and To is not. Zero is no bound.
type UsageQuery struct {
	Channel  visible.Place
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
func (r *Reader) Usage(ctx context.Context, p access.Principal, q UsageQuery) ([]UsageOf, error) {
	conversations := map[earshot.ConversationID][]earshot.Turn{}
	sums := map[UsageOf]*UsageOf{}
	var order []*UsageOf
	for before, more := earshot.TurnID(0), true; more; {
		page, rest, err := r.Turns(ctx, p, TurnQuery{Channel: q.Channel, Agent: q.Agent, States: []earshot.TurnState{earshot.TurnDone}, Before: before, Limit: MaxTurns})
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
				if turns, err = r.store.Turns(ctx, t.Conversation, 0); err != nil {
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
