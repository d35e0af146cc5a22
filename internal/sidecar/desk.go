package sidecar

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/internal/access"
	"github.com/earshot-ai/earshot/tools"
)

// Newest stands for the newest message of a channel in a [DeskRequest].
const Newest = earshot.MessageID("last")

// maxDeskBudget is the most tokens that somebody at a desk may have a prompt add,
// so that an answer stays readable.
const maxDeskBudget = 32_000

// Only returns the one channel that a caller reaches, if its key or its capability
// fixes one. A channel that is not stored yet has no platform; reads of it find
// nothing.
func (s *Service) Only(ctx context.Context, p access.Principal) (at earshot.Scope, ok bool, err error) {
	if p.Fixed != nil {
		return p.Fixed.Scope, true, nil
	}
	if len(p.Reach.Channels) != 1 {
		return earshot.Scope{}, false, nil
	}
	at.Channel = p.Reach.Channels[0]
	c, err := s.Resolve(ctx, p, Place{Channel: at.Channel})
	var r *Refusal
	switch {
	case err == nil:
		return c.Scope(), true, nil
	case errors.As(err, &r) && r.Kind == NotFound:
		return at, true, nil
	case errors.As(err, &r):
		return earshot.Scope{}, false, nil // the id of several channels, among which the caller has to choose
	}
	return earshot.Scope{}, false, err
}

// Find returns the channel that somebody at a desk means, by its id or by its name,
// with # or without. What the caller may not see is refused as what does not exist.
func (s *Service) Find(ctx context.Context, p access.Principal, at Place) (earshot.Channel, error) {
	c, err := s.Resolve(ctx, p, at)
	var r *Refusal
	if !errors.As(err, &r) || r.Kind != NotFound {
		return c, err
	}
	want := strings.TrimPrefix(string(at.Channel), "#")
	if want == "" {
		return earshot.Channel{}, absent
	}
	q := at.query()
	q.IDs, q.Names = nil, []string{want, strings.ToLower(want), strings.ToUpper(want)}
	found, err := s.visible(ctx, p, q, 2)
	switch {
	case err != nil:
		return earshot.Channel{}, err
	case len(found) == 0:
		return earshot.Channel{}, absent
	case len(found) == 1:
		return found[0].Channel, nil
	}
	return earshot.Channel{}, &Refusal{Kind: Invalid, Code: "ambiguous_channel", Path: "channel", Detail: "is the name of several channels; give its id"}
}

// ToolsAt returns the tools of a channel as the caller may use them: those of a
// capability's turn up to its anchor, for others those of the whole channel, where
// conversation_search looks through the turns of all conversations.
func (s *Service) ToolsAt(ctx context.Context, p access.Principal, at earshot.Scope) (*tools.Set, error) {
	if !p.Sees(at) {
		return nil, absent
	}
	if p.Kind == access.Capability {
		return s.tools(ctx, p, at)
	}
	var agent earshot.AgentID
	if p.Fixed != nil {
		agent = p.Fixed.Conversation.Agent
	}
	o := &tools.Options{Zone: s.options.Zone, Turns: channelTurns{s, p, agent}, Conversation: earshot.ConversationID{Agent: agent, Scope: at}}
	identity, err := s.deskAgent(ctx, p, at, earshot.AuthorID(agent))
	var r *Refusal
	if err != nil && !errors.As(err, &r) {
		return nil, err
	}
	o.Identity = identity
	return tools.ForChannel(at, s.store, s.index, earshot.Position{}, o), nil
}

// deskAgent returns the agent that is meant in a channel, as [Service.Agent] does.
// Where none is known and none is named, it is the stored bot named earshot, else a
// new one of that name, as for the command earshot context.
func (s *Service) deskAgent(ctx context.Context, p access.Principal, at earshot.Scope, id earshot.AuthorID) (earshot.Identity, error) {
	const name = "earshot"
	identity, err := s.Agent(ctx, p, at, id)
	var r *Refusal
	if id != "" || !errors.As(err, &r) || r.Code != "unknown_agent" {
		return identity, err
	}
	authors, err := s.store.Authors(ctx, at.Platform, at.Workspace)
	if err != nil {
		return earshot.Identity{}, err
	}
	for _, a := range authors {
		if a.Kind != earshot.Bot || !strings.EqualFold(a.Name, name) {
			continue
		}
		aliases := identity.Aliases
		if identity.ID != "" {
			aliases = append(aliases, identity.ID)
		}
		// Slack gives one bot a bot id and a user id; mentions name the last of the two.
		identity = earshot.Identity{ID: a.ID, Name: a.Name, Aliases: aliases}
	}
	if identity.ID == "" {
		return earshot.Identity{ID: name, Name: name}, nil
	}
	return identity, nil
}

// A DeskRequest asks what an agent would see if it answered a message now.
type DeskRequest struct {
	Channel Place             // by id or by name
	Message earshot.MessageID // or [Newest]
	Agent   earshot.AuthorID  // "" where there is only one
	Policy  string            // the name of a built-in policy; "" is the service's
	Budget  int               // tokens that the turn may add, at most 32,000; 0 is the service's
}

// A DeskContext is what the agent would see.
type DeskContext struct {
	Channel earshot.Channel
	Anchor  earshot.Message
	Agent   earshot.Identity
	Policy  string
	Goes    bool // it goes on with the session of a stored conversation; else it begins one
	Input   assemble.Input
	Result  assemble.Result
}

// DeskContext makes the context of a message for somebody who wants to look at it.
// Nothing is stored. The stored session of the conversation goes on where the message
// stands after everything that was answered in it; else the conversation begins.
func (s *Service) DeskContext(ctx context.Context, p access.Principal, r DeskRequest) (DeskContext, error) {
	out, a, err := s.deskAsked(ctx, p, r)
	if err == nil {
		err = s.deskMake(ctx, &out, a)
	}
	return out, err
}

// deskAsked looks up what a request names, and which conversation the prompt goes on
// with.
func (s *Service) deskAsked(ctx context.Context, p access.Principal, r DeskRequest) (DeskContext, asked, error) {
	var out DeskContext
	if p.Kind == access.Capability {
		return out, asked{}, absent
	}
	how, err := s.deskHow(r)
	if err != nil {
		return out, asked{}, err
	}
	if out.Channel, err = s.Find(ctx, p, r.Channel); err != nil {
		return out, asked{}, err
	}
	at := out.Channel.Scope()
	if out.Agent, err = s.deskAgent(ctx, p, at, r.Agent); err != nil {
		return out, asked{}, err
	}
	if out.Anchor, err = s.deskMessage(ctx, at, r.Message); err != nil {
		return out, asked{}, err
	}
	a := asked{How: how, channel: out.Channel, identity: out.Agent, anchor: out.Anchor.ID}
	if a.conversation, err = gather.ConversationOf(ctx, s.store, out.Channel, out.Anchor, out.Agent); err != nil {
		return out, a, err
	}
	if out.Goes, err = s.owners(p).has(ctx, a.conversation); err != nil {
		return out, a, err
	}
	if out.Goes { // another user's session is not shown
		out.Goes, err = s.follows(ctx, a.conversation, out.Anchor)
	}
	if !out.Goes {
		a.conversation = earshot.ConversationID{}
	}
	return out, a, err
}

// deskMake makes the context.
func (s *Service) deskMake(ctx context.Context, out *DeskContext, a asked) error {
	req, err := s.request(a)
	if err != nil {
		return err
	}
	out.Input, out.Result, err = s.gather(ctx, req)
	out.Policy = out.Input.Policy.Name
	return err
}

// deskHow reads policy and budget.
func (s *Service) deskHow(r DeskRequest) (How, error) {
	var how How
	if r.Policy != "" {
		policy, ok := assemble.ByName(r.Policy)
		if !ok {
			var names []string
			for _, x := range assemble.Policies() {
				names = append(names, x.Name)
			}
			return how, invalid("policy", "is not built in; the built-in ones are "+strings.Join(names, ", "))
		}
		how.Policy = &policy
	}
	if r.Budget < 0 || r.Budget > maxDeskBudget {
		return how, invalid("budget", "must be 1 to 32000 tokens")
	}
	budget := s.Budget()
	if r.Budget != 0 {
		budget.Tokens = r.Budget
	}
	budget.Tokens = min(budget.Tokens, maxDeskBudget)
	budget.Limit = min(cmp.Or(budget.Limit, maxDeskLimit), maxDeskLimit)
	how.Budget = &budget
	return how, nil
}

// maxDeskLimit bounds a prompt with its session, in tokens.
const maxDeskLimit = 64_000

// deskMessage returns a message that can be asked about.
func (s *Service) deskMessage(ctx context.Context, at earshot.Scope, id earshot.MessageID) (earshot.Message, error) {
	var list []earshot.Message
	var err error
	switch id {
	case "":
		return earshot.Message{}, invalid("message", "is required: a message's id, or last for the newest one")
	case Newest:
		list, err = s.store.Newest(ctx, at, earshot.Whole(), earshot.Position{}, 1)
	default:
		list, err = s.store.ByID(ctx, at, id)
	}
	if err == nil && (len(list) == 0 || list[0].Deleted) {
		err = absent
	}
	if err != nil {
		return earshot.Message{}, err
	}
	return list[0], nil
}

// follows reports whether a message stands after everything that was answered in a
// conversation that is stored.
func (s *Service) follows(ctx context.Context, id earshot.ConversationID, m earshot.Message) (bool, error) {
	turns, err := s.store.Turns(ctx, id, 1)
	if err != nil || len(turns) == 0 {
		return false, err
	}
	before, err := s.store.ByID(ctx, id.Scope, turns[0].Answer.Anchor)
	return err == nil && len(before) == 1 && before[0].Position().Compare(m.Position()) < 0, err
}

// RecentThreads returns the roots of the threads that were active lately in a
// channel, the newest root first, at most limit of those among its newest 500 roots.
func (s *Service) RecentThreads(ctx context.Context, p access.Principal, at earshot.Scope, limit int) ([]earshot.Message, error) {
	const look = 500
	if !p.Sees(at) || p.Kind == access.Capability {
		return nil, absent
	}
	roots, err := s.store.Newest(ctx, at, earshot.TopLevel(), earshot.Position{}, look)
	if err != nil || len(roots) == 0 {
		return nil, err
	}
	ids := make([]earshot.MessageID, len(roots))
	for i, m := range roots {
		ids[i] = m.ID
	}
	active, err := s.store.Activity(ctx, at, earshot.Position{}, ids...)
	if err != nil {
		return nil, err
	}
	var out []earshot.Message
	for _, m := range slices.Backward(roots) {
		if a := active[m.ID]; a.Count > 0 && !m.Deleted && len(out) < limit {
			out = append(out, m)
		}
	}
	return out, nil
}

// RecentMessages returns the newest messages of a channel since a time (0: any), the
// oldest first, at most limit.
func (s *Service) RecentMessages(ctx context.Context, p access.Principal, at earshot.Scope, since earshot.Time, limit int) ([]earshot.Message, error) {
	if !p.Sees(at) || p.Kind == access.Capability {
		return nil, absent
	}
	list, err := s.store.Newest(ctx, at, earshot.Whole(), earshot.Position{}, limit)
	return slices.DeleteFunc(list, func(m earshot.Message) bool { return m.Deleted || m.Time < since }), err
}
