package sidecar

import (
	"context"
	"errors"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/access"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tools"
)

// capabilityNeeded is the answer to a call of a tool by a caller that reaches more
// than one channel.
var capabilityNeeded = &Refusal{Kind: Forbidden, Code: "capability_needed", Detail: "this key is not for exactly one channel; call tools with a capability, which POST /v1/context and POST /v1/capabilities return"}

// Tool calls a tool of the caller's one channel, with its arguments as a model wrote
// them. Its answer may say that the call failed, and why; that is for the model.
func (s *Service) Tool(ctx context.Context, p access.Principal, name, args string) (tools.Answer, error) {
	if !slices.ContainsFunc(tools.Tools(), func(t llm.Tool) bool { return t.Name == name }) {
		return tools.Answer{}, absent
	}
	scope, err := s.onlyChannel(ctx, p)
	if err != nil {
		return tools.Answer{}, err
	}
	if err := s.Hold(scope); err != nil {
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
	c, err := s.Resolve(ctx, p, Place{Channel: p.Reach.Channels[0]})
	var r *Refusal
	if errors.As(err, &r) && r.Kind == Invalid {
		return earshot.Scope{}, capabilityNeeded // several workspaces have a channel with this id
	}
	return c.Scope(), err
}

// tools returns the tools of a channel, for the agent and up to the message that a
// capability fixes.
func (s *Service) tools(ctx context.Context, p access.Principal, scope earshot.Scope) (*tools.Set, error) {
	o := &tools.Options{Turns: s.store, Zone: s.options.Zone}
	var at earshot.Position
	var err error
	if f := p.Fixed; f != nil && f.Conversation.Agent != "" {
		at, o.Conversation = f.At, f.Conversation
		o.Identity, err = s.agentOf(ctx, p, f.Conversation)
	} else {
		if f != nil {
			at = f.At
		}
		o.Identity, err = s.Agent(ctx, p, scope, "")
		if _, refused := AsRefusal(err); refused {
			err = nil // the tools work for nobody in particular too
		}
	}
	if err != nil || o.Conversation.Agent == "" {
		return tools.ForChannel(scope, s.store, s.index, at, o), err
	}
	// Names and times are written as the conversation's prompts write them.
	manifest, err := s.store.Manifest(ctx, o.Conversation)
	if err != nil {
		return nil, err
	}
	o.Names = manifest.Names
	turns, err := s.store.Turns(ctx, o.Conversation, 1)
	if len(turns) > 0 && turns[0].Zone != "" {
		o.Zone = turns[0].Zone
	}
	return tools.ForChannel(scope, s.store, s.index, at, o), err
}
