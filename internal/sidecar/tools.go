package sidecar

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tools"
)

// capabilityNeeded is the answer to a call of a tool by a caller that reaches more
// than one channel.
var capabilityNeeded = &visible.Refusal{Kind: visible.Forbidden, Code: "capability_needed", Detail: "this key is not for exactly one channel; call tools with a capability, which POST /v1/context and POST /v1/capabilities return"}

// Tool calls a tool of the caller's one channel, with its arguments as a model wrote
// them. Its answer may say that the call failed, and why; that is for the model.
func (s *Service) Tool(ctx context.Context, p access.Principal, name, args string) (tools.Answer, error) {
	if !slices.ContainsFunc(tools.Tools(), func(t llm.Tool) bool { return t.Name == name }) {
		return tools.Answer{}, visible.Absent
	}
	scope, err := s.onlyChannel(ctx, p)
	if err != nil {
		return tools.Answer{}, err
	}
	if err := s.maker.Hold(scope); err != nil {
		return tools.Answer{}, err
	}
	set, err := s.tools(ctx, p, scope)
	if err != nil {
		return tools.Answer{}, err
	}
	return set.Call(ctx, name, args)
}

// onlyChannel returns the channel that the caller is fixed to.
func (s *Service) onlyChannel(ctx context.Context, p access.Principal) (earshot.Scope, error) {
	if p.Fixed != nil {
		return p.Fixed.Scope, nil
	}
	if len(p.Reach.Channels) != 1 {
		return earshot.Scope{}, capabilityNeeded
	}
	c, err := s.to(p).Resolve(ctx, visible.Place{Channel: p.Reach.Channels[0]})
	var r *visible.Refusal
	if errors.As(err, &r) && r.Kind == visible.Invalid {
		return earshot.Scope{}, capabilityNeeded // several workspaces have a channel with this id
	}
	return c.Scope(), err
}

// tools returns the tools of a channel, for the agent and up to the message that a
// capability fixes.
func (s *Service) tools(ctx context.Context, p access.Principal, scope earshot.Scope) (*tools.Set, error) {
	o := &tools.Options{Turns: s.store, Zone: s.maker.Zone(), Media: s.mediaOf(scope)}
	var at earshot.Position
	var err error
	if f := p.Fixed; f != nil && f.Conversation.Agent != "" {
		at, o.Conversation = f.At, f.Conversation
		o.Identity, err = s.to(p).AgentOf(ctx, f.Conversation)
	} else {
		if f != nil {
			at = f.At
		}
		o.Identity, err = s.to(p).Agent(ctx, scope, "")
		if _, refused := visible.AsRefusal(err); refused {
			err = nil // the tools work for nobody in particular too
		}
	}
	o.Lanes = s.maker.Lanes(scope, o.Identity)
	if err != nil || o.Conversation.Agent == "" {
		return tools.ForChannel(scope, namedIn(s.store), s.index, at, o), err
	}
	// Names and times are written as the conversation's prompts write them, that of this
	// turn included.
	manifest, err := s.store.Manifest(ctx, o.Conversation)
	if err != nil {
		return nil, err
	}
	o.Names = manifest.Names
	draft, err := s.store.LastDraft(ctx, o.Conversation, at.ID, 0, false)
	if err == nil {
		draft, err = s.store.Draft(ctx, draft.ID)
		o.Names = append(o.Names, draft.Turn.Names...)
	}
	if err != nil && !errors.Is(err, earshot.ErrNotFound) {
		return nil, err
	}
	turns, err := s.store.Turns(ctx, o.Conversation, 1)
	if len(turns) > 0 && turns[0].Zone != "" {
		o.Zone = turns[0].Zone
	}
	o.Zone = cmp.Or(p.Fixed.Zone, o.Zone) // the first turn's is not recorded yet
	return tools.ForChannel(scope, namedIn(s.store), s.index, at, o), err
}

// ToolsAt returns the tools of a channel as the caller may use them: those of a
// capability's turn up to its anchor, for others those of the whole channel, where
// conversation_search looks through the turns of all conversations.
func (s *Service) ToolsAt(ctx context.Context, p access.Principal, at earshot.Scope) (*tools.Set, error) {
	if !p.Sees(at) {
		return nil, visible.Absent
	}
	if p.Kind == access.Capability {
		return s.tools(ctx, p, at)
	}
	var agent earshot.AgentID
	if p.Fixed != nil {
		agent = p.Fixed.Conversation.Agent
	}
	o := &tools.Options{Zone: s.maker.Zone(), Media: s.mediaOf(at), Turns: channelTurns{s.store, p, agent}, Conversation: earshot.ConversationID{Agent: agent, Scope: at}}
	identity, err := s.to(p).AnyAgent(ctx, at, earshot.AuthorID(agent))
	var r *visible.Refusal
	if err != nil && !errors.As(err, &r) {
		return nil, err
	}
	o.Identity = identity
	return tools.ForChannel(at, namedIn(s.store), s.index, earshot.Position{}, o), nil
}

// named is a store whose messages have the names that contexts have: see
// [gather.Named]. It looks each author up once, so it is made for one turn's tools.
type named struct {
	earshot.Store
	mu   sync.Mutex // guards seen
	seen map[earshot.AuthorID]earshot.Author
}

func namedIn(st earshot.Store) *named {
	return &named{Store: st, seen: map[earshot.AuthorID]earshot.Author{}}
}

// ByID implements [tools.Store].
func (n *named) ByID(ctx context.Context, at earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error) {
	list, err := n.Store.ByID(ctx, at, ids...)
	if err == nil {
		err = gather.Named(ctx, n, at, list)
	}
	return list, err
}

// Newest implements [tools.Store].
func (n *named) Newest(ctx context.Context, at earshot.Scope, part earshot.ChannelPart, upTo earshot.Position, limit int) ([]earshot.Message, error) {
	list, err := n.Store.Newest(ctx, at, part, upTo, limit)
	if err == nil {
		err = gather.Named(ctx, n, at, list)
	}
	return list, err
}

// Authors implements [gather.AuthorStore], for the one workspace of the tools.
func (n *named) Authors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, ids ...earshot.AuthorID) ([]earshot.Author, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	fresh := slices.DeleteFunc(slices.Clone(ids), func(id earshot.AuthorID) bool { _, ok := n.seen[id]; return ok })
	if len(fresh) > 0 {
		found, err := n.Store.Authors(ctx, p, w, fresh...)
		if err != nil {
			return nil, err
		}
		for _, id := range fresh {
			n.seen[id] = earshot.Author{ID: id}
		}
		for _, a := range found {
			n.seen[a.ID] = a
		}
	}
	out := make([]earshot.Author, len(ids))
	for i, id := range ids {
		out[i] = n.seen[id]
	}
	return out, nil
}

// channelTurns are the turns of all conversations of a channel as if they were one,
// for [tools.Turns]: those of one agent, or of all where agent is "", as far as
// the caller sees them.
type channelTurns struct {
	store  earshot.Store
	caller access.Principal
	agent  earshot.AgentID
}

// Turns implements [tools.Turns].
func (c channelTurns) Turns(ctx context.Context, id earshot.ConversationID, limit int) ([]earshot.Turn, error) {
	var list []earshot.ConversationID
	for q, err := range visible.To(c.store, c.caller).Turns(ctx, earshot.TurnQuery{Scope: &id.Scope, Agent: c.agent, States: []earshot.TurnState{earshot.TurnDone}}) {
		if err != nil {
			return nil, err
		}
		if !slices.Contains(list, q.Conversation) {
			list = append(list, q.Conversation)
		}
	}
	var all []earshot.Turn
	for _, conversation := range list {
		turns, err := c.store.Turns(ctx, conversation, limit)
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
