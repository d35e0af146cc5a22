package history

import (
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/gather"
)

// A Conversation is a stretch of talk that an agent remembers together: a
// channel's or a DM's top level, or one thread.
//
// Of the Channel, Platform and ID are required. A program with a chat of its own
// chooses both, such as "myapp" and "support". Kind tells a DM
// ([earshot.KindDM]), where everything is said to the agent; "" means a channel.
type Conversation struct {
	Channel earshot.Channel
	Thread  earshot.MessageID // the root's id; "" means the top level
}

// InThread returns the conversation of a thread in c's channel.
func (c Conversation) InThread(root earshot.MessageID) Conversation {
	c.Thread = root
	return c
}

// check returns c with its defaults, or an error that says what is missing.
func (c Conversation) check() (Conversation, error) {
	switch {
	case c.Channel.Platform == "":
		return c, fmt.Errorf("conversation: %w: the channel has no platform; any word will do, such as \"myapp\"", earshot.ErrInvalid)
	case c.Channel.ID == "":
		return c, fmt.Errorf("conversation: %w: the channel has no id", earshot.ErrInvalid)
	}
	switch c.Channel.Kind {
	case "":
		c.Channel.Kind = earshot.KindChannel
	case earshot.KindChannel, earshot.KindDM, earshot.KindGroup:
	default:
		return c, fmt.Errorf("conversation: %w: the channel's kind %q is not known; use channel, dm or group", earshot.ErrInvalid, c.Channel.Kind)
	}
	return c, nil
}

// part is what of the channel the conversation is.
func (c Conversation) part() earshot.ChannelPart { return earshot.ThreadOf(c.Thread) }

// holds reports whether a message belongs to the conversation. A root belongs to
// the top level and to its thread.
func (c Conversation) holds(m *earshot.Message) bool {
	return m.Root() == c.Thread || m.ID == c.Thread
}

// id names what the agent keeps of the conversation.
func (h *History) id(c Conversation) earshot.ConversationID {
	name := gather.TopLevel
	if c.Thread != "" {
		name = string(c.Thread)
	}
	return earshot.ConversationID{Agent: earshot.AgentID(h.self.ID), Scope: c.Channel.Scope(), Name: name}
}
