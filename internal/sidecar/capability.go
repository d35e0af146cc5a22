package sidecar

import (
	"context"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/access"
)

// mint makes a capability for the tools of a conversation's channel, and returns
// until when it is valid at most. The error is [access.ErrForbidden] where the caller
// may not pass its rights on.
func (s *Service) mint(ctx context.Context, p access.Principal, id earshot.ConversationID, at earshot.Position, lasts time.Duration) (string, earshot.Time, error) {
	if s.minter == nil || p.Fixed != nil {
		return "", 0, access.ErrForbidden
	}
	f := access.Fixed{Scope: id.Scope, At: at, Expires: s.now() + earshot.Time(min(lasts, access.CapabilityTime).Microseconds())}
	if id.Agent != "" {
		f.Conversation = id
	}
	if p.Expires != 0 {
		f.Expires = min(f.Expires, p.Expires)
	}
	token, err := s.minter.Mint(ctx, p, f)
	return token, f.Expires, err
}
