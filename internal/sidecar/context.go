package sidecar

import (
	"context"
	"errors"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/internal/contexts"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// A ContextRequest says for which message a context is made, and as whom. Anchor,
// and Channel or Conversation, are required.
type ContextRequest struct {
	Channel visible.Place
	// Conversation is the text of a conversation's id; "" means the one that the
	// anchor belongs to, as [gather.ConversationOf] says.
	Conversation string
	Anchor       earshot.MessageID
	Agent        earshot.AuthorID // as [visible.View.Agent] has it
	contexts.Settings
	Message *earshot.Message // recorded first; nil records nothing
	Open    bool             // open a turn, which [Service.Commit] ends
	NoFiles bool             // the model can be given no files, and is promised none
	Claim
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
	// Interrupted is an earlier turn for the anchor whose holder was about to post and
	// was not heard of again; nil if there is none. Its reply may be visible.
	Interrupted *earshot.Draft
	// Asked is what an earlier turn for the anchor asked, and how people decided; the newest
	// first.
	Asked []earshot.Approval
	Files []PromptFile // that the prompt has as parts
}

// Context makes the context of a message. Nothing of its conversation changes; a
// message that comes with the request is recorded, and a turn is opened, if the
// request says so.
func (s *Service) Context(ctx context.Context, p access.Principal, r ContextRequest) (Context, error) {
	switch {
	case p.Fixed != nil:
		return Context{}, visible.ToolsOnly
	case (r.Open || r.Message != nil) && p.ReadOnly:
		return Context{}, visible.ReadOnly
	}
	a, err := s.lookUp(ctx, p, r)
	if err != nil {
		return Context{}, err
	}
	if err := s.maker.Hold(a.Channel.Scope()); err != nil {
		return Context{}, err
	}
	if r.NoFiles {
		policy := s.maker.Policy()
		if a.Policy != nil {
			policy = *a.Policy
		}
		a.Policy = withoutFiles(policy)
	}
	if r.Open {
		return s.open(ctx, p, a, r.Claim)
	}
	a.Elsewhere = true // who opens no turn commits none, and may keep the session
	return s.makeContext(ctx, p, a)
}

// lookUp looks up what a request names, and records its message.
func (s *Service) lookUp(ctx context.Context, p access.Principal, r ContextRequest) (contexts.Request, error) {
	a := contexts.Request{Settings: r.Settings, Anchor: r.Anchor}
	if r.Message != nil {
		if err := s.tellFirst(ctx, p, &r); err != nil {
			return a, err
		}
		if a.Anchor == "" {
			a.Anchor = r.Message.ID
		}
	}
	if a.Anchor == "" {
		return a, visible.InvalidField("anchor", "is required: the id of the message to answer")
	}
	if err := s.placeOf(ctx, p, r, &a); err != nil {
		return a, err
	}
	anchors, err := s.store.ByID(ctx, a.Channel.Scope(), a.Anchor)
	switch {
	case err != nil:
		return a, err
	case len(anchors) == 0 || anchors[0].Deleted:
		return a, absentAnchor(visible.Absent)
	case a.Conversation != earshot.ConversationID{}:
		return a, nil
	}
	if a.Conversation, err = gather.ConversationOf(ctx, s.store, a.Channel, anchors[0], a.Agent); err == nil {
		err = s.to(p).Opens(ctx, a.Conversation)
	}
	return a, absentAnchor(err)
}

// tellFirst records the message that comes with a request, as [Service.Events] does.
func (s *Service) tellFirst(ctx context.Context, p access.Principal, r *ContextRequest) error {
	at := r.Channel
	if id, ok := visible.ParseConversation(r.Conversation); ok && at.Channel == "" {
		if !p.Sees(id.Scope) {
			return absentConversation(visible.Absent)
		}
		at = visible.PlaceOf(id.Scope)
	}
	told, err := s.Events(ctx, p, []Event{{Type: Said, Message: *r.Message, Channel: earshot.Channel{ID: at.Channel, Workspace: at.Workspace, Platform: at.Platform}}})
	var refused *visible.Refusal
	if errors.Is(err, visible.Absent) {
		return absentChannel(err)
	}
	if errors.As(err, &refused) {
		own := *refused
		own.Path = strings.TrimPrefix(own.Path, "events[0].")
		return &own
	}
	if err == nil && told[0].Change == earshot.Other {
		return &visible.Refusal{Kind: visible.Conflict, Code: "other_text", Path: "message.text", Detail: "is another one than is stored for this id; " + TellEdit}
	}
	return err
}

// placeOf sets the channel, the agent and, where the request names it, the
// conversation.
func (s *Service) placeOf(ctx context.Context, p access.Principal, r ContextRequest, a *contexts.Request) (err error) {
	if r.Conversation == "" {
		if r.Channel.Channel == "" {
			return visible.InvalidField("channel", "is required, or a conversation")
		}
		if a.Channel, err = s.to(p).Resolve(ctx, r.Channel); err == nil {
			a.Agent, err = s.to(p).Agent(ctx, a.Channel.Scope(), r.Agent)
			return err
		}
		return absentChannel(err)
	}
	conversation, channel, err := s.to(p).Conversation(ctx, r.Conversation)
	if err != nil {
		return absentConversation(err)
	}
	id := conversation.ID
	a.Channel = channel
	at := visible.PlaceOf(id.Scope)
	if c := r.Channel; c.Channel != "" && c.Channel != at.Channel || c.Workspace != "" && c.Workspace != at.Workspace || c.Platform != "" && c.Platform != at.Platform {
		return visible.InvalidField("conversation", "is of another channel than the one that is named")
	}
	if r.Agent != "" && r.Agent != earshot.AuthorID(id.Agent) {
		return visible.InvalidField("agent", "is not the agent of the conversation")
	}
	a.Conversation = id
	a.Agent, err = s.to(p).AgentOf(ctx, id)
	return err
}

// absentAs names the field of a request in the refusal of what does not exist, or is not
// seen; another error stays.
func absentAs(path, detail string, err error) error {
	if !errors.Is(err, visible.Absent) {
		return err
	}
	return &visible.Refusal{Kind: visible.NotFound, Path: path, Detail: detail}
}

func absentChannel(err error) error {
	return absentAs("channel", "is none that you can see; it is known once a message of it is told", err)
}

// absentAnchor is the refusal of another user's conversation too, which it does not tell
// from a message that there is not.
func absentAnchor(err error) error {
	return absentAs("anchor", "is no message that you can see in this channel; tell it with POST /v1/events, or send it along as message", err)
}

func absentConversation(err error) error {
	return absentAs("conversation", "is none that you can see; leave it out for the one that the anchor belongs to, or send an id that an answer had", err)
}

// makeContext gathers and assembles, and mints the capability.
func (s *Service) makeContext(ctx context.Context, p access.Principal, a contexts.Request) (Context, error) {
	done, err := s.maker.Work(ctx)
	if err != nil {
		return Context{}, err
	}
	in, res, err := s.maker.Make(ctx, a)
	done()
	if err != nil {
		return Context{}, err
	}
	anchor := anchorOf(in)
	c := Context{Conversation: a.Conversation, Input: in, Result: res, At: anchor.Position()}
	if c.Files, err = s.promptFiles(ctx, in, res); err != nil {
		return c, err
	}
	c.Capability, _, err = s.mint(ctx, p, a.Conversation, c.At, in.Zone, s.options.OpenFor)
	if errors.Is(err, access.ErrForbidden) {
		return c, nil
	}
	return c, err
}
