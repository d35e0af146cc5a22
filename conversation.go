package earshot

// An AgentID names an agent within Earshot. Everything that is an agent's own
// is stored under it, so that several agents in one channel share messages and
// nothing else.
type AgentID string

// A ConversationID names what one agent remembers together: a thread, a DM, or
// a channel's top level. Name is the platform's part of it, such as the root's
// id; see context.md §3 for which message belongs to which.
type ConversationID struct {
	Agent AgentID
	Scope Scope
	Name  string
}

// A Conversation is the state of one: how far it has been considered, which
// epoch its session is in, and what others keep with it.
type Conversation struct {
	ID       ConversationID
	Cursor   int64 // the largest sequence considered; never moves back
	Epoch    int   // counts sessions; a compaction or a deletion starts the next
	Metadata map[string]string
	Created  Time
	Updated  Time
}

// A Shown is one revision of a message that the model has read.
type Shown struct {
	ID       MessageID
	Revision Time // [Message.Edited]; zero for the original
}

// An Attached is a file that the model has been given, in which turn, and what
// it was charged for it.
type Attached struct {
	ID     ArtifactID
	SHA256 string
	Turn   int
	Tokens int // 0 when unknown
}

// A Named is the name by which a session knows somebody. Names are state: they
// are never read back out of a prompt's text, where anybody can write.
type Named struct {
	ID   AuthorID
	Name string
}

// A Manifest records what the model has been shown in this session, so that
// nothing is sent twice. The zero Manifest is empty and ready to use.
type Manifest struct {
	Shown    []Shown
	Attached []Attached
	Names    []Named
}

// A Summary is a rolling summary of older turns, with the range it covers.
// Zero bounds are open.
type Summary struct {
	Text  string
	From  Time
	To    Time
	Turns int
}

// A Role says who speaks in a prompt.
type Role string

// The roles of a prompt's messages. There is no system role: the system text
// stands apart, and nothing from chat enters it.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool" // what a tool answered to one call of the assistant's
)

// A Call is a tool that the assistant called, with the arguments as it wrote
// them.
type Call struct {
	ID   string
	Name string
	Args string
}

// A SessionEntry is one message of the prompt as the model holds it, byte for
// byte.
type SessionEntry struct {
	Role  Role
	Text  string
	Media []ArtifactID // files that were given with it; their hashes stand in the manifest
	Calls []Call       // the assistant's: what it called
	Call  string       // a tool's: the id of the call that it answers
	// Failed says of a tool's answer that it tells what went wrong.
	Failed bool
	// Opaque is what the provider must be given back as it was, as package bot
	// wrote it; "" where Text and Calls are all.
	Opaque string
}

// An Answer ties an anchor to the reply that it got; several ids when the
// reply was split.
type Answer struct {
	Anchor  MessageID
	Replies []MessageID
}
