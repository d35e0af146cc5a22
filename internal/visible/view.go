// Package visible is a store as one caller sees it: what the caller may not see does
// not exist.
//
// Start with [To], which makes a [View]. It finds channels, conversations, agents and
// turns as the caller may have them, and says no with a [Refusal]. That something is
// not there and that the caller may not see it are one answer, [Absent], so that nobody
// can tell them apart. What is read or written after that is the affair of whoever
// asked: packages explain and sidecar, which both build on this one.
package visible

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

// A Store is what a View looks things up in. An [earshot.Store] is one.
type Store interface {
	Channel(ctx context.Context, s earshot.Scope) (earshot.Channel, error)
	FindChannels(ctx context.Context, q earshot.ChannelQuery) ([]earshot.ChannelInfo, error)
	Conversation(ctx context.Context, id earshot.ConversationID) (earshot.Conversation, error)
	QueuedTurns(ctx context.Context, q earshot.TurnQuery) ([]earshot.QueuedTurn, error)
	Authors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, ids ...earshot.AuthorID) ([]earshot.Author, error)
	Notes(ctx context.Context, prefix string, limit int) ([]earshot.Note, error)
}

// A View is a store as one caller sees it. It is for one request, and not safe for
// concurrent use.
type View struct {
	store  Store
	caller access.Principal
	owned  map[earshot.ConversationID]bool // as Owns has it
}

// To returns what a caller sees of a store.
func To(st Store, p access.Principal) *View { return &View{store: st, caller: p} }

// Reads refuses a caller that may not read a channel.
func Reads(p access.Principal, at earshot.Scope) error {
	switch {
	case !p.Sees(at):
		return Absent
	case p.Fixed != nil:
		return ToolsOnly
	}
	return nil
}
