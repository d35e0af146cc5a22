package earshot

import "context"

// An AgentID names an agent within Earshot. What belongs to an agent is stored
// under it, so that several agents in one channel share the messages and nothing
// else.
type AgentID string

// A ConversationID identifies what one agent remembers together: a thread, a DM, or
// a channel's top level. Name is the platform's part of it, such as the root's id.
// docs/context.md says which message belongs to which conversation.
type ConversationID struct {
	Agent AgentID
	Scope Scope
	Name  string
}

// A Conversation is the state of one: up to which sequence it was considered, its
// session's epoch, and what callers keep with it.
type Conversation struct {
	ID       ConversationID
	Cursor   int64 // the largest sequence considered; never moves back
	Epoch    int   // the session's number; a compaction or a deletion starts the next
	Metadata map[string]string
	About    About
	Created  Time
	Updated  Time
}

// An About is what was said of a conversation when it was created. Erasures remove
// what of it is erased, as they do with metadata.
type About struct {
	Title  string   // at most 1,000 bytes
	Client string   // the kind of program that created it, at most 100 bytes
	Owner  string   // whose it is, at most 512 bytes; "" for nobody's in particular
	Tags   []string // at most 32 of at most 100 bytes each
}

// A ConversationQuery selects an agent's conversations. The zero value of a field but
// Agent selects all.
type ConversationQuery struct {
	Agent      AgentID
	Platform   Platform
	Workspaces []WorkspaceID // of any of these
	Channels   []ChannelID   // in any of these
	After      *Conversation // those after it in the order of the list, by Created and ID
	Limit      int           // at most; 0: all
}

// A ShownRevision is one revision of a message that the model has read.
type ShownRevision struct {
	ID       MessageID
	Revision Time // [Message.Edited]; zero for the original
	// Seen is what else a prompt showed of it, in hashes that package assemble writes and
	// reads; "" when that is unknown, as in what older versions stored.
	Seen string `json:",omitempty"`
}

// An AttachedFile is a file that the model has been given, the turn that gave it, and
// its price in tokens.
type AttachedFile struct {
	ID     ArtifactID
	SHA256 string
	Turn   int
	Tokens int // 0 when unknown
}

// A SessionName is the name that a session uses for somebody. Names are kept as state.
// They are never parsed out of a prompt, where anybody could have written them.
type SessionName struct {
	ID   AuthorID
	Name string
}

// A Manifest records what the model has been shown in this session, so that
// nothing is sent twice. The zero Manifest is empty and ready to use.
type Manifest struct {
	Shown    []ShownRevision
	Attached []AttachedFile
	Names    []SessionName
}

// A Role says who speaks in a prompt.
type Role string

// The roles of a prompt's messages. There is no system role: the system text is
// separate, and nothing from chat gets into it.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool" // a tool's answer to one call of the assistant
)

// A Call is one call of a tool by the assistant, with the arguments as it wrote
// them.
type Call struct {
	ID   string
	Name string
	Args string
}

// A SessionEntry is one message of the prompt as the model got it, byte for byte.
type SessionEntry struct {
	Role  Role
	Text  string
	Media []ArtifactID // files that were given with it; the manifest has their hashes
	Calls []Call       // of the assistant
	Call  string       // of a tool: the id of the call that it answers
	// Failed is set when a tool answered with an error.
	Failed bool
	// Opaque is what the provider must get back unchanged, as package bot encoded
	// it; "" when Text and Calls are everything.
	Opaque string
}

// An Answer connects an anchor to its reply, which has several ids when it was
// split.
type Answer struct {
	Anchor  MessageID
	Replies []MessageID
}

// Conversations stores what belongs to an agent.
type Conversations interface {
	// OpenConversation returns the conversation and creates it if there is none;
	// created says whether it did. idempotencyKey may be empty. A second call with
	// the same key by the same agent in the same workspace returns the first call's
	// conversation, whatever platform, channel and name it asks for. A conversation that was opened without
	// a key takes the first key that it is asked for with. ErrConflict when the id
	// exists under another key.
	OpenConversation(ctx context.Context, id ConversationID, idempotencyKey string) (c Conversation, created bool, err error)
	// CreateConversation does what OpenConversation does for c.ID. If it creates the
	// conversation, it stores c.About and c.Metadata with it, in the same transaction.
	// ErrInvalid when they break their bounds, also where it creates nothing.
	CreateConversation(ctx context.Context, c Conversation, idempotencyKey string) (stored Conversation, created bool, err error)
	// FindConversations returns conversations by a query, the newest first by Created,
	// those of one time in the order of ID.
	FindConversations(ctx context.Context, q ConversationQuery) ([]Conversation, error)
	// Conversation returns it, or ErrNotFound.
	Conversation(ctx context.Context, id ConversationID) (Conversation, error)
	// MergeMetadata sets keys, and removes those whose value is nil, in one atomic
	// step. Keys match [a-z][a-z0-9_]{0,63}; at most 64 keys and 16 KiB in all;
	// otherwise ErrInvalid. The reserved key last_processed_ts is a Slack ts that only
	// moves forward (an older value changes nothing) and cannot be removed.
	MergeMetadata(ctx context.Context, id ConversationID, patch map[string]*string) (Conversation, error)
	// AdvanceCursor moves the cursor forward to seq. A lower seq is no error and
	// changes nothing.
	AdvanceCursor(ctx context.Context, id ConversationID, seq int64) error

	// Manifest returns what the current epoch's session has shown, with one name for
	// each id: the first. It is empty for a conversation that does not exist, as
	// Session and Turns are.
	Manifest(ctx context.Context, id ConversationID) (Manifest, error)
	// Session returns the current epoch's prompt messages, in order.
	Session(ctx context.Context, id ConversationID) ([]SessionEntry, error)
}
