package gather

import (
	"context"

	"github.com/earshot-ai/earshot"
)

// TopLevel is the name of a DM's own conversation.
const TopLevel = "top"

// maxWalk bounds how far up a chain of replies an earlier answer is looked for.
const maxWalk = 200

// ByID is what [ConversationOf] needs of [earshot.Messages].
type ByID interface {
	ByID(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error)
}

// ConversationOf returns which conversation a message belongs to, for the agent
// that identity is. A message in a thread belongs to the thread; one at the top
// level of a DM to the DM, unless it is marked as a root by its own id as
// thread; any other begins the thread that it would root. Where replies are
// references, it belongs to the conversation whose answer stands in
// its chain, which has the name of the message that was answered first.
func ConversationOf(ctx context.Context, st ByID, c earshot.Channel, m earshot.Message, identity earshot.Identity) (earshot.ConversationID, error) {
	id := earshot.ConversationID{Agent: earshot.AgentID(identity.ID), Scope: c.Scope(), Name: string(m.ID)}
	switch {
	case m.Root() != "":
		id.Name = string(m.Root())
		return id, nil
	case c.Kind == earshot.KindDM && m.Thread != m.ID:
		id.Name = TopLevel
		return id, nil
	}
	at := m
	for range maxWalk {
		if at.ReplyTo == "" || at.ReplyTo == at.ID {
			break
		}
		up, err := st.ByID(ctx, c.Scope(), at.ReplyTo)
		if err != nil {
			return earshot.ConversationID{}, err
		}
		if len(up) == 0 {
			break
		}
		at = up[0]
		if identity.Is(at.Author.ID) {
			id.Name = string(at.ID)
			if at.ReplyTo != "" {
				id.Name = string(at.ReplyTo)
			}
		}
	}
	return id, nil
}
