package sidecar

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/internal/access"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/tokens"
)

// A ContextRequest says for which message a context is made, and as whom. Anchor,
// and Channel or Conversation, are required.
type ContextRequest struct {
	Channel Place
	// Conversation is the text of a conversation's id; "" means the one that the
	// anchor belongs to, as [gather.ConversationOf] says.
	Conversation string
	Anchor       earshot.MessageID
	Agent        earshot.AuthorID // as [Service.Agent] has it
	How
	Message *earshot.Message // recorded first; nil records nothing
	Open    bool             // open a turn, which [Service.Commit] ends
}

// A How says how a context is made. Nil and zero fields mean the service's own
// settings.
type How struct {
	Policy       *assemble.Policy
	Budget       *assemble.Budget
	Counter      assemble.Counter
	Instructions *string
	Zone         string // IANA name; see [gather.Request.Zone]
	Attach       []earshot.ArtifactID
	Text         string // what the anchor is read as saying; "" means what it says
}

// A Context is a prompt with what it was made of.
type Context struct {
	Conversation earshot.ConversationID
	Input        assemble.Input
	Result       assemble.Result
	At           earshot.Position // of the anchor
	// Capability lets whoever has it use the tools of the channel up to the anchor;
	// "" where the caller may not pass its rights on.
	Capability string
	Draft      *earshot.Draft // the turn that was opened; nil if none was
}

// overLimit is the answer where the anchor, its root and the instructions alone
// exceed the budget's limit.
var overLimit = &Refusal{Kind: Invalid, Code: "over_limit", Path: "budget.limit", Detail: "is too small: the question, its thread's root and the instructions alone exceed it"}

// Context makes the context of a message. Nothing of its conversation changes; a
// message that comes with the request is recorded, and a turn is opened, if the
// request says so.
func (s *Service) Context(ctx context.Context, p access.Principal, r ContextRequest) (Context, error) {
	switch {
	case p.Fixed != nil:
		return Context{}, toolsOnly
	case (r.Open || r.Message != nil) && p.ReadOnly:
		return Context{}, readOnly
	}
	a, err := s.asked(ctx, p, r)
	if err != nil {
		return Context{}, err
	}
	if err := s.Hold(a.channel.Scope()); err != nil {
		return Context{}, err
	}
	if r.Open {
		return s.open(ctx, p, a)
	}
	return s.makeContext(ctx, p, a)
}

// An asked is a request whose names are looked up.
type asked struct {
	How
	channel      earshot.Channel
	identity     earshot.Identity
	anchor       earshot.MessageID
	conversation earshot.ConversationID
}

// asked looks up what a request names, and records its message.
func (s *Service) asked(ctx context.Context, p access.Principal, r ContextRequest) (asked, error) {
	a := asked{How: r.How, anchor: r.Anchor}
	if r.Message != nil {
		if err := s.tellFirst(ctx, p, &r); err != nil {
			return a, err
		}
		if a.anchor == "" {
			a.anchor = r.Message.ID
		}
	}
	if a.anchor == "" {
		return a, invalid("anchor", "is required: the id of the message to answer")
	}
	if err := s.placeOf(ctx, p, r, &a); err != nil {
		return a, err
	}
	anchors, err := s.store.ByID(ctx, a.channel.Scope(), a.anchor)
	switch {
	case err != nil:
		return a, err
	case len(anchors) == 0 || anchors[0].Deleted:
		return a, absent
	case a.conversation != earshot.ConversationID{}:
		return a, nil
	}
	if a.conversation, err = gather.ConversationOf(ctx, s.store, a.channel, anchors[0], a.identity); err == nil {
		err = s.opens(ctx, p, a.conversation)
	}
	return a, err
}

// tellFirst records the message that comes with a request, as [Service.Events] does.
func (s *Service) tellFirst(ctx context.Context, p access.Principal, r *ContextRequest) error {
	at := r.Channel
	if id, ok := ParseConversation(r.Conversation); ok && at.Channel == "" {
		if !p.Sees(id.Scope) {
			return absent
		}
		at = Place{id.Scope.Channel, id.Scope.Workspace, id.Scope.Platform}
	}
	told, err := s.Events(ctx, p, []Event{{Type: Said, Message: *r.Message, Channel: earshot.Channel{ID: at.Channel, Workspace: at.Workspace, Platform: at.Platform}}})
	var refused *Refusal
	if errors.As(err, &refused) {
		own := *refused
		own.Path = strings.TrimPrefix(own.Path, "events[0].")
		return &own
	}
	if err == nil && told[0].Change == earshot.Other {
		return &Refusal{Kind: Conflict, Code: "other_text", Path: "message.text", Detail: "is another one than is stored for this id; " + TellEdit}
	}
	return err
}

// placeOf sets the channel, the agent and, where the request names it, the
// conversation.
func (s *Service) placeOf(ctx context.Context, p access.Principal, r ContextRequest, a *asked) (err error) {
	if r.Conversation == "" {
		if r.Channel.Channel == "" {
			return invalid("channel", "is required, or a conversation")
		}
		if a.channel, err = s.Resolve(ctx, p, r.Channel); err == nil {
			a.identity, err = s.Agent(ctx, p, a.channel.Scope(), r.Agent)
		}
		return err
	}
	conversation, channel, err := s.ConversationOfID(ctx, p, r.Conversation)
	if err != nil {
		return err
	}
	id := conversation.ID
	a.channel = channel
	at := Place{id.Scope.Channel, id.Scope.Workspace, id.Scope.Platform}
	if c := r.Channel; c.Channel != "" && c.Channel != at.Channel || c.Workspace != "" && c.Workspace != at.Workspace || c.Platform != "" && c.Platform != at.Platform {
		return invalid("conversation", "is of another channel than the one that is named")
	}
	if r.Agent != "" && r.Agent != earshot.AuthorID(id.Agent) {
		return invalid("agent", "is not the agent of the conversation")
	}
	a.conversation = id
	a.identity, err = s.agentOf(ctx, p, id)
	return err
}

// agentOf returns the agent of a conversation. One that nobody has told of goes by
// its id.
func (s *Service) agentOf(ctx context.Context, p access.Principal, id earshot.ConversationID) (earshot.Identity, error) {
	identity, err := s.Agent(ctx, p, id.Scope, earshot.AuthorID(id.Agent))
	var r *Refusal
	if errors.As(err, &r) && r.Code == "unknown_agent" {
		return earshot.Identity{ID: earshot.AuthorID(id.Agent), Name: string(id.Agent)}, nil
	}
	return identity, err
}

// makeContext gathers and assembles, and mints the capability.
func (s *Service) makeContext(ctx context.Context, p access.Principal, a asked) (Context, error) {
	req, err := s.request(a)
	if err != nil {
		return Context{}, err
	}
	done, err := s.work(ctx)
	if err != nil {
		return Context{}, err
	}
	in, res, err := s.gather(ctx, req)
	done()
	if err != nil {
		return Context{}, err
	}
	c := Context{Conversation: a.conversation, Input: in, Result: res}
	for i := range in.Messages {
		if m := &in.Messages[i]; m.ID == in.Anchor {
			c.At = m.Position()
		}
	}
	c.Capability, _, err = s.mint(ctx, p, a.conversation, c.At, s.options.OpenFor)
	if errors.Is(err, access.ErrForbidden) {
		return c, nil
	}
	return c, err
}

// gather makes a prompt. A question that was deleted or erased since the caller looked
// is absent: what is deleted stays so, which is why a second look tells.
func (s *Service) gather(ctx context.Context, req gather.Request) (assemble.Input, assemble.Result, error) {
	in, res, err := gather.Turn(ctx, s.store, req)
	var input *assemble.InputError
	switch {
	case errors.Is(err, assemble.ErrBudgetTooSmall):
		err = overLimit
	case errors.Is(err, earshot.ErrNotFound):
		err = absent
	case errors.As(err, &input):
		gone, e := s.gone(ctx, req.Channel.Scope(), req.Anchor)
		if e != nil {
			err = e
		} else if gone {
			err = absent
		}
	}
	return in, res, err
}

// gone reports whether a message is deleted, or not stored.
func (s *Service) gone(ctx context.Context, at earshot.Scope, id earshot.MessageID) (bool, error) {
	found, err := s.store.ByID(ctx, at, id)
	return len(found) == 0 || found[0].Deleted, err
}

// request returns what to gather.
func (s *Service) request(a asked) (gather.Request, error) {
	req := gather.Request{
		Channel: a.channel, Anchor: a.anchor, Identity: a.identity, Conversation: a.conversation,
		Policy: s.options.Policy, Budget: s.options.Budget, Counter: s.options.Count(), Instructions: s.options.Instructions,
		Zone: a.Zone, DefaultZone: s.options.Zone, Attach: a.Attach, Text: a.Text, Finder: &recall{service: s},
	}
	if a.Policy != nil {
		req.Policy = *a.Policy
	}
	if a.Budget != nil {
		req.Budget = *a.Budget
	}
	if a.Counter != nil {
		req.Counter = a.Counter
	}
	if a.Instructions != nil {
		req.Instructions = *a.Instructions
	}
	if req.Counter != nil {
		return req, nil
	}
	var err error
	req.Counter, err = tokens.For("")
	return req, err
}

// Budget is the budget of requests that have none.
func (s *Service) Budget() assemble.Budget {
	if s.options.Budget == (assemble.Budget{}) {
		return assemble.DefaultBudget()
	}
	return s.options.Budget
}

// recallTime bounds the search for one context, as the bot's does. The first search
// in a channel reads all of it, and a later one continues where it stopped.
const recallTime = 3 * time.Second

// A recall searches once for one context, which may be gathered twice with the same
// query. When the search fails, the context is made without it.
type recall struct {
	service *Service
	done    bool
	hits    []search.Hit
	err     error
}

// Search implements [gather.Finder].
func (r *recall) Search(ctx context.Context, at earshot.Scope, q search.Query) ([]search.Hit, error) {
	if r.done {
		return r.hits, r.err
	}
	within, cancel := context.WithTimeout(ctx, recallTime)
	defer cancel()
	r.hits, r.err = r.service.searcher.Search(within, at, q)
	if r.done = ctx.Err() == nil; r.done && r.err != nil {
		r.service.options.Log.WarnContext(ctx, "recall: the search failed", "platform", at.Platform, "workspace", at.Workspace, "channel", at.Channel, "err", r.err)
	}
	return r.hits, r.err
}
