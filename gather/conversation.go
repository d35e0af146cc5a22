package gather

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// TopLevel is the name of the conversation at the top level of a DM.
const TopLevel = "top"

// maxWalk bounds how many reply references are followed, one after the other.
const maxWalk = 200

// ByID is what [ConversationOf] needs of [earshot.Messages]. A store that is also
// [Posts] knows the agent's answers without following their references, which not
// every part of a split answer has.
type ByID interface {
	ByID(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error)
}

// Posts tell which turn a message of the agent's belongs to: Posted those that a bot
// has posted, the others those that were committed with the ids that the caller of
// the sidecar told.
type Posts interface {
	Posted(ctx context.Context, s earshot.Scope, id earshot.MessageID) (earshot.QueuedTurn, error)
	QueuedTurns(ctx context.Context, q earshot.TurnQuery) ([]earshot.QueuedTurn, error)
	Turns(ctx context.Context, id earshot.ConversationID, limit int) ([]earshot.Turn, error)
}

// maxCommitted bounds among how many of a channel's newest turns one is looked for
// whose answer has a message without a reference.
const maxCommitted = 100

// ConversationOf returns which conversation of an agent a message belongs to:
//
//   - a message in a thread, to the thread: its name is the root's id;
//   - a message at the top level of a DM, to the DM: its name is [TopLevel]. A
//     message that has its own id as thread is a thread's root instead;
//   - a reply by reference below an answer of the agent, also below a later part of
//     one that was split, to the conversation of that answer: its name is the id of
//     the message that was answered first;
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
		known := len(above) > 0
		if !known { // a post may be answered before it is recorded as a message
			above = []earshot.Message{{ID: at.ReplyTo, Deleted: true}}
		}
		at = above[0]
		own := identity.Is(at.Author.ID)
		if posts, ok := st.(Posts); ok && (own || at.Deleted) { // nobody knows the author of a deleted one
			name, err := answeredIn(ctx, posts, id, at)
			if err != nil {
				return earshot.ConversationID{}, err
			}
			if name != "" { // the turn was recorded there, whatever stands above
				id.Name = name
				break
			}
		}
		if !known {
			break
		}
		if own {
			id.Name = string(cmp.Or(at.ReplyTo, at.ID))
		}
	}
	return id, nil
}

// answeredIn returns the name of the agent's conversation that has a message of the
// agent's among its answers, "" where none is known. Committed turns are looked
// through only for a message that has no reference to follow.
func answeredIn(ctx context.Context, st Posts, id earshot.ConversationID, m earshot.Message) (string, error) {
	q, err := st.Posted(ctx, id.Scope, m.ID)
	switch {
	case err == nil && q.Conversation.Agent == id.Agent:
		return q.Conversation.Name, nil
	case err != nil && !errors.Is(err, earshot.ErrNotFound):
		return "", err
	case m.Deleted, m.ReplyTo != "" && m.ReplyTo != m.ID:
		return "", nil
	}
	queued, err := st.QueuedTurns(ctx, earshot.TurnQuery{Agent: id.Agent, Scope: &id.Scope, States: []earshot.TurnState{earshot.TurnDone}, Limit: maxCommitted})
	if err != nil {
		return "", err
	}
	looked := map[earshot.ConversationID]bool{}
	for _, q := range queued {
		if looked[q.Conversation] {
			continue
		}
		looked[q.Conversation] = true
		turns, err := st.Turns(ctx, q.Conversation, maxCommitted)
		if err != nil {
			return "", err
		}
		if slices.ContainsFunc(turns, func(t earshot.Turn) bool { return slices.Contains(t.Answer.Replies, m.ID) }) {
			return q.Conversation.Name, nil
		}
	}
	return "", nil
}
