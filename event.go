package earshot

import "context"

// An Event is one delivery of a platform. A delivery that carries several
// messages, or that several agents receive, becomes one Event for each of them.
// Each gets its own delivery id: the platform's id with a suffix.
type Event struct {
	Delivery string // the platform's id of the delivery, unique within the channel; "" when it has none
	Client   string // the sender's own id of the message, such as client_msg_id; "" when it has none
	Raw      []byte // the delivery as it arrived; nil when it was erased
	Received Time
	Message  Message // a new message, a newer revision, or a tombstone
	Past     bool    // the message was found in history, not delivered live; not read back
	Form     bool    // a program posted what a person filled into its form; not read back
	Anew     bool    // the message asks although it is no new one, such as by an edit that adds a mention; not read back
	By       Reactor // who asks by giving the message an emoji; zero where the message itself asks; not read back
	Ambient  bool    // nobody addressed the message to the agent, which reads along: its turn may stay silent; not read back
	Refused  Refusal // the message names the agent and is not answered: why; "" where it may be; not read back
	Resume   *Resume // where the platform's stream continues after this event; nil keeps what is stored; not read back
}

// ResumeBytes bounds [Resume.State].
const ResumeBytes = 4 << 10

// A Resume is the place in a platform's event stream at which a restarted
// process continues, such as a Discord shard's session and its last sequence
// number. Only the adapter reads State; the store keeps it as bytes. One stream
// can cover many workspaces, so Key must be unique on the platform: it contains
// the application's id. An adapter that handles events concurrently stores the
// place before which every event was accepted. A place that is too early is
// safe: the deliveries that come again are recognised.
type Resume struct {
	Key   string
	State []byte // no text of messages: Erase does not reach it
}

// An AcceptResult is the outcome of [Inbox.Accept].
type AcceptResult struct {
	RecordResult
	Duplicate bool   // the delivery was known already: nothing was written
	Turn      TurnID // the message's turn for this agent, opened now or earlier; 0 when it has none, or was refused
	Opened    bool   // the turn was opened by this call
	Refused   bool   // the refusal was recorded by this call
}

// An Inbox stores what a platform delivers, and opens the turns.
type Inbox interface {
	// Accept stores the raw event and its message (as Record does). With ask it
	// also opens a turn in that conversation, which is created if it does not
	// exist. All of it is one transaction: once Accept has returned, the event may
	// be acknowledged.
	//
	// A delivery that is known already writes nothing, except for its Resume. A
	// message has at most one turn for each agent, however often it is delivered
	// and under whichever delivery ids. No turn is opened for
	//   - an edit (Edited is set), unless it is Anew, or both Past and New: history
	//     shows a message only in its last revision;
	//   - a message that is deleted;
	//   - a second message with the same Client by the same author, within 10
	//     minutes of one that has a turn.
	//
	// An event that is Refused opens no turn. With ask it leaves one in the state
	// Refused, once for a message, unless the message is deleted or has a turn. An
	// event that opens a turn for the message later takes the place of that one.
	//
	// A message whose turn ended without a word, because nobody had called the agent
	// (IsWordless), can be asked about once more: an event that is Anew opens a further
	// turn.
	//
	// Raw is not stored for a tombstone, for any further event about a deleted
	// message, and for a reply to one.
	Accept(ctx context.Context, s Scope, e Event, ask *ConversationID) (AcceptResult, error)
	// Resume returns the state of the last event with this key, or ErrNotFound.
	Resume(ctx context.Context, p Platform, key string) ([]byte, error)
	// Events returns the deliveries about one message in order of arrival. Their
	// Message has only its id.
	Events(ctx context.Context, s Scope, id MessageID) ([]Event, error)
	// PruneEvents deletes the events received before a time, including their
	// delivery ids, and returns how many it deleted. Platforms redeliver for 24
	// hours: keep 25.
	PruneEvents(ctx context.Context, before Time) (int, error)
}
