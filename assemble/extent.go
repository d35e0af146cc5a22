package assemble

import "github.com/earshot-ai/earshot"

// An Extent says which messages of a channel make up the conversation of one of
// them. The zero Extent has no messages.
type Extent struct {
	// Thread is the root of the thread that the conversation is; of a message
	// that begins one, its own id.
	Thread earshot.MessageID
	// TopLevel says that the conversation is the channel's top level.
	TopLevel bool
	// Replies says that the conversation is the tree of reply references that
	// the message belongs to. Who has the messages must walk it.
	Replies bool
}

// ExtentOf returns which messages belong together with m in a channel of that
// kind: its thread; in a DM the top level; the tree of what m replies to; else
// the thread that m would be the root of.
func ExtentOf(kind earshot.ChannelKind, m *earshot.Message) Extent {
	switch root := m.Root(); {
	case root != "":
		return Extent{Thread: root}
	case kind == earshot.KindDM:
		return Extent{TopLevel: true}
	case m.ReplyTo != "":
		return Extent{Replies: true}
	}
	return Extent{Thread: m.ID}
}

// Holds reports whether m belongs to the conversation. Of a tree of replies it
// is always false: see Replies.
func (x Extent) Holds(m *earshot.Message) bool {
	root := m.Root()
	return x.Thread != "" && (m.ID == x.Thread || root == x.Thread) || x.TopLevel && root == ""
}
