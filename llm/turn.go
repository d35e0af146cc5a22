package llm

import (
	"errors"

	"github.com/earshot-ai/earshot"
)

// A Turn says whose question a request is, and where, for an agent that answers in a model's
// place (package agent). It is no part of what a model reads.
type Turn struct {
	// Key is the same each time that the same request is made, also after a crash, and of no
	// other request: 32 letters and digits.
	Key string
	ID  earshot.TurnID
	// Conversation is the same in all turns of a conversation, and of no other: 32 letters and
	// digits, of which nothing can be read.
	Conversation string
	// New is the first of the request's messages that no turn of the conversation before had;
	// 0 where the conversation begins, or begins anew.
	New     int
	Asker   earshot.Author
	Channel earshot.Channel
	Thread  earshot.MessageID // its root; "" at the channel's top level
	Access  *Access           // nil: none
	// Task is what the agent called its work on this request, where an earlier try got so far
	// ([Event].Task): it is taken up again, if the agent still knows it.
	Task string
}

// ErrUnwanted is in the chain of the cause ([context.Cause]) with which a context ends where
// nobody wants the answer any more: an agent stops its work. Where it is not, as when a program
// ends, the same request may come again, and the work goes on.
var ErrUnwanted = errors.New("the answer is not wanted any more")

// An Access lets an agent's own tools look further in the channel of a turn, by MCP, and
// nowhere else.
type Access struct {
	URL     string
	Token   string // a bearer token; a secret
	Expires earshot.Time
}
