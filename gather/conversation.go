package gather

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// TopLevel is the name of the conversation at the top level of a DM.
const TopLevel = "top"

// maxWalk bounds how many reply references are followed, one after the other.
const maxWalk = 200

// ByID is what [ConversationOf] needs of [earshot.Messages].
type ByID interface {
	ByID(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error)
}

// ConversationOf returns which conversation of an agent a message belongs to:
//
//   - a message in a thread, to the thread: its name is the root's id;
//   - a message at the top level of a DM, to the DM: its name is [TopLevel]. A
//     message that has its own id as thread is a thread's root instead;
//   - a reply by reference below an answer of the agent, to the conversation of
//     that answer: its name is the id of the message that was answered first;
//   - any other message begins a conversation: its name is the message's id.
//
// Channel and identity name the place and the agent; the message need not be
// stored. Errors are the store's.
func ConversationOf(ctx context.Context, st ByID, c earshot.Channel, m earshot.Message, identity earshot.Identity) (earshot.ConversationID, error) {
	id := earshot.ConversationID{Agent: earshot.AgentID(identity.ID), Scope: c.Scope(), Name: string(m.ID)}
	extent := assemble.ExtentOf(c.Kind, &m)
	switch {
	case extent.Thread != "":
		id.Name = string(extent.Thread)
		return id, nil
	case extent.TopLevel && m.Thread != m.ID:
		id.Name = TopLevel
		return id, nil
	}
	at := m
	for range maxWalk {
		if at.ReplyTo == "" || at.ReplyTo == at.ID {
			break
		}
		above, err := st.ByID(ctx, c.Scope(), at.ReplyTo)
		if err != nil {
			return earshot.ConversationID{}, err
		}
		if len(above) == 0 {
			break
		}
		at = above[0]
		if identity.Is(at.Author.ID) {
			id.Name = string(at.ID)
			if at.ReplyTo != "" {
				id.Name = string(at.ReplyTo)
			}
		}
	}
	return id, nil
}
