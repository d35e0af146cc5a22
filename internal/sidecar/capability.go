package sidecar

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// A CapabilityRequest says what a capability is for.
type CapabilityRequest struct {
	Channel visible.Place
	Anchor  earshot.MessageID // the tools show nothing after it; "" is no bound
	Agent   earshot.AuthorID  // whose conversation is searched; "" means the only one that is known, or none
	Lasts   time.Duration     // at most [access.CapabilityTime], which is also the default
}

// Capability makes a capability: a bearer token that lets whoever has it use the
// tools of one channel, and nothing else. It returns until when it is valid.
func (s *Service) Capability(ctx context.Context, p access.Principal, r CapabilityRequest) (token string, expires earshot.Time, err error) {
	switch {
	case p.Fixed != nil:
		return "", 0, visible.ToolsOnly
	case r.Channel.Channel == "":
		return "", 0, visible.InvalidField("channel", "is required")
	case r.Lasts < 0 || r.Lasts > access.CapabilityTime:
		return "", 0, visible.InvalidField("minutes", "must be 1 to 60")
	case r.Lasts == 0:
		r.Lasts = access.CapabilityTime
	}
	c, err := s.to(p).Resolve(ctx, r.Channel)
	if err != nil {
		return "", 0, err
	}
	identity, err := s.to(p).Agent(ctx, c.Scope(), r.Agent)
	if _, refused := visible.AsRefusal(err); err != nil && (r.Agent != "" || !refused) {
		return "", 0, err
	}
	id, at := earshot.ConversationID{Scope: c.Scope()}, earshot.Position{}
	if r.Anchor != "" {
		list, err := s.store.ByID(ctx, c.Scope(), r.Anchor)
		if err != nil {
			return "", 0, err
		}
		if len(list) == 0 || list[0].Deleted {
			return "", 0, visible.Absent
		}
		at = list[0].Position()
		if identity.ID != "" {
			if id, err = gather.ConversationOf(ctx, s.store, c, list[0], identity); err != nil {
				return "", 0, err
			}
			ok, err := s.to(p).Owns(ctx, id)
			if err != nil {
				return "", 0, err
			}
			if !ok { // the channel's messages without another user's turns
				id = earshot.ConversationID{Scope: c.Scope()}
			}
		}
	}
	token, expires, err = s.mint(ctx, p, id, at, "", r.Lasts)
	if errors.Is(err, access.ErrForbidden) {
		err = &visible.Refusal{Kind: visible.Forbidden, Detail: "this caller cannot pass its rights on"}
	}
	return token, expires, err
}

// mint makes a capability for the tools of a conversation's channel, which write times in
// a zone, and returns until when it is valid at most. The error is [access.ErrForbidden] where the caller
// may not pass its rights on.
func (s *Service) mint(ctx context.Context, p access.Principal, id earshot.ConversationID, at earshot.Position, zone string, lasts time.Duration) (string, earshot.Time, error) {
	if s.minter == nil || p.Fixed != nil {
		return "", 0, access.ErrForbidden
	}
	f := access.CapabilityScope{Scope: id.Scope, At: at, Expires: s.now() + earshot.Time(min(lasts, access.CapabilityTime).Microseconds())}
	if zone != cmp.Or(s.maker.Zone(), "UTC") { // else the tools know it
		f.Zone = zone
	}
	if id.Agent != "" {
		f.Conversation = id
	}
	if p.Expires != 0 {
		f.Expires = min(f.Expires, p.Expires)
	}
	token, err := s.minter.Mint(ctx, p, f)
	return token, f.Expires, err
}
