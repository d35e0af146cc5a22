package sidecar

import (
	"context"
	"errors"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/access"
)

// owners tells a caller's conversations from those of other users, for one request.
// A conversation that another user owns may stand in a channel that everybody reads.
// Then its messages are the channel's, while its turns, its session and what it was
// created with are its owner's: to another user they do not exist.
type owners struct {
	service *Service
	caller  access.Principal
	known   map[earshot.ConversationID]bool
}

func (s *Service) owners(p access.Principal) *owners { return &owners{service: s, caller: p} }

// has reports whether a conversation is not another user's. One that is not stored
// is nobody's.
func (o *owners) has(ctx context.Context, id earshot.ConversationID) (bool, error) {
	if o.caller.Kind != access.User {
		return true, nil
	}
	if is, ok := o.known[id]; ok {
		return is, nil
	}
	c, err := o.service.store.Conversation(ctx, id)
	if err != nil && !errors.Is(err, earshot.ErrNotFound) {
		return false, err
	}
	if o.known == nil {
		o.known = map[earshot.ConversationID]bool{}
	}
	is := err != nil || owns(o.caller, c)
	o.known[id] = is
	return is, nil
}

// opens returns nil where the caller sees a conversation and what it holds.
func (s *Service) opens(ctx context.Context, p access.Principal, id earshot.ConversationID) error {
	if !p.Sees(id.Scope) {
		return absent
	}
	ok, err := s.owners(p).has(ctx, id)
	if err == nil && !ok {
		err = absent
	}
	return err
}
