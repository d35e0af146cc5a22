package visible

import (
	"context"
	"errors"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

// Owns reports whether a conversation is not another user's. One that is not stored
// is nobody's. Whether the caller sees its channel is not asked.
//
// A conversation that another user owns may stand in a channel that everybody reads.
// Then its messages are the channel's, while its turns, its session and what it was
// created with are its owner's: to another user they do not exist.
func (v *View) Owns(ctx context.Context, id earshot.ConversationID) (bool, error) {
	if v.caller.Kind != access.User {
		return true, nil
	}
	if is, ok := v.owned[id]; ok {
		return is, nil
	}
	c, err := v.store.Conversation(ctx, id)
	if err != nil && !errors.Is(err, earshot.ErrNotFound) {
		return false, err
	}
	if v.owned == nil {
		v.owned = map[earshot.ConversationID]bool{}
	}
	is := err != nil || Owns(v.caller, c)
	v.owned[id] = is
	return is, nil
}

// Owns reports whether a conversation is not another user's. API keys act for all
// users.
func Owns(p access.Principal, c earshot.Conversation) bool {
	return p.Kind != access.User || c.About.Owner == "" || c.About.Owner == p.Subject
}

// Opens returns nil where the caller sees a conversation and what it holds.
func (v *View) Opens(ctx context.Context, id earshot.ConversationID) error {
	if !v.caller.Sees(id.Scope) {
		return Absent
	}
	ok, err := v.Owns(ctx, id)
	if err == nil && !ok {
		err = Absent
	}
	return err
}
