package earshot

import (
	"context"
	"errors"
	"iter"
)

// Decisions that callers make about a store's answers.
var (
	ErrNotFound = errors.New("not found")           // also for what exists outside the scope: the same answer
	ErrConflict = errors.New("conflict")            // a key is taken by something else, or a turn is out of order
	ErrInvalid  = errors.New("invalid")             // the value breaks a documented bound
	ErrSchema   = errors.New("schema is not known") // the database is newer than the program
)

// A Store keeps what is said and what agents were shown of it. It is safe for
// concurrent use. Everything that returns without error is durable; a lease
// may be lost with a machine that its owner and the store are on.
//
// store.Open opens one; store/storetest is the suite that each must pass.
type Store interface {
	Messages
	Conversations
	Turns
	Blobs
	Queue
	Meter
	Rates
	Notes
	// Erase removes a whole channel: what was said and delivered in it, what
	// agents keep of it, and what is known of the channel itself, with the
	// workspace's authors who have spoken in no other channel (all of them with
	// its last). Writes of a turn that is under way get ErrFenced. What is
	// recorded afterwards begins anew; no sequence or turn id is given twice. A
	// channel that is not stored is no error.
	Erase(ctx context.Context, s Scope) error
	Close() error
}

// A Part is the stretch of a channel that a read looks at.
type Part struct {
	kind   partKind
	thread MessageID
}

type partKind int8

const (
	partAll partKind = iota
	partTop
	partThread
)

// Whole is all of a channel: roots and replies. It is the zero Part.
func Whole() Part { return Part{} }

// TopLevel is a channel without the replies in its threads.
func TopLevel() Part { return Part{kind: partTop} }

// ThreadOf is one thread: its root and the replies. An empty root is the top
// level.
func ThreadOf(root MessageID) Part {
	if root == "" {
		return TopLevel()
	}
	return Part{partThread, root}
}

// IsWhole, IsTopLevel and Thread tell a store which part is meant. Thread
// returns "" unless the part is a thread.
func (p Part) IsWhole() bool     { return p.kind == partAll }
func (p Part) IsTopLevel() bool  { return p.kind == partTop }
func (p Part) Thread() MessageID { return p.thread }

// A Change says what Record did with a message.
type Change string

// The changes. Same means that nothing was written and no sequence was given:
// recording again what is known changes nothing.
const (
	New     Change = "new"
	Edited  Change = "edited"  // a newer revision; the older is kept as history
	Updated Change = "updated" // same revision, with more: reactions, files, a mention list
	Gone    Change = "gone"    // a tombstone was set
	Late    Change = "late"    // an older revision than the stored one; kept as history only
	Same    Change = "same"    // also anything about a message that is deleted
)

// A Recorded is the outcome for one message, in the order given to Record.
type Recorded struct {
	ID     MessageID
	Change Change
	Seq    int64 // the message's sequence now
}

// A ChannelInfo is a channel and how much of it is stored, deleted messages
// not counted.
type ChannelInfo struct {
	Channel
	Messages int
	Threads  int // roots with at least one reply
	First    Time
	Last     Time
}

// A Count is how much of a part is stored at or before a position, without
// what is deleted. From and To are the first and last time; zero when Count
// is 0.
type Count struct {
	Count int
	From  Time
	To    Time
}

// Terms are a message's search terms as search made them, with what
// ranking needs. Deleted means: forget it.
type Terms struct {
	ID      MessageID
	Seq     int64
	Time    Time
	Author  AuthorID
	Name    string // the author's, as the message has it
	Thread  MessageID
	ReplyTo MessageID
	Deleted bool
	System  bool     // the author is: joins and the like, nobody's talk
	Terms   []string // of its text; one entry per occurrence
	Quoted  []Quote  // of what it shares, in its order
}

// A Quote is a stretch of a message that somebody else said: it is found under
// its own author, not under who quotes it. Author and Name are "" where they
// are not known. An app can name anybody it likes, so what an app quotes has no
// Author; where it names nobody it is the app's own talk, among the message's
// Terms.
type Quote struct {
	Author AuthorID
	Name   string
	Terms  []string
}

// Messages keeps what was said. A message's identity is (platform, workspace,
// channel, id) and is stored once; the newest revision wins by edit time, not
// by arrival; a deleted message never comes back.
type Messages interface {
	// PutChannel stores a channel or replaces what is known of it.
	PutChannel(ctx context.Context, c Channel) error
	// Channel returns what is known of one channel, or ErrNotFound.
	Channel(ctx context.Context, s Scope) (Channel, error)
	// Channels lists the stored channels by platform, workspace, name and id.
	Channels(ctx context.Context) ([]ChannelInfo, error)
	// PutAuthors stores names, kinds and zones of a workspace's authors. An empty
	// FullName or Zone tells nothing and leaves what is stored.
	PutAuthors(ctx context.Context, p Platform, w WorkspaceID, authors ...Author) error
	// Authors lists a workspace's authors by id: those named, or all where none
	// is.
	Authors(ctx context.Context, p Platform, w WorkspaceID, ids ...AuthorID) ([]Author, error)

	// Record stores messages in one transaction: new ones, newer revisions,
	// tombstones (Deleted set; kept also when the message was never seen).
	// Each change gets the channel's next sequence, but for those that are no
	// news to anybody: what the platform told of a root's thread, and an author's
	// full name. They are Updated under the sequence that there is, so that a
	// root does not become news with every reply. Text is normalised at the door
	// (NUL becomes U+2400, broken UTF-8 U+FFFD); token counts and search terms are
	// made here, outside the writer. The channel need not exist.
	//
	// The order of arrival changes nothing but sequences. Of one revision the
	// copy with the greater text wins whole; of the same text what is told of
	// time, author, thread and reply reference wins over what is not, by the
	// greater value. Mentions, reactions and files come and go without a
	// revision: there the copy that arrives wins, except that a nil list tells
	// nothing ([]Reaction{} says that there are none). A newer revision brings
	// its own lists. What a message shares goes with its revision, as its text
	// does; of the same text it is such a list, since link previews arrive behind
	// their message and without an edit. Of one author the greater full name
	// stays. Late gives no sequence. A root's own id as thread is stored as none;
	// Seq and Tokens, an author's Zone and LastHour of Replies are not taken from
	// the caller. Replies is what the platform told of a root's thread, of
	// whichever revision: the greater count stays, and the later last reply; a
	// count of none tells nothing. A tombstone keeps id and time only.
	//
	// ErrInvalid, naming the message, when one has no id, no time (a tombstone
	// may) or an id of more than 512 bytes; then nothing is stored. Of who is
	// quoted such an id is stored as none: others than the message's author may
	// write it.
	Record(ctx context.Context, s Scope, messages ...Message) ([]Recorded, error)

	// React adds by, which may be negative, to a message's count of an emoji, in
	// one atomic step: of reactions that replicas tell at once none is lost. A
	// count of none is left out. The change is Updated, or Same of a tombstone
	// and where there was nothing to take away. ErrNotFound when the message is
	// unknown.
	React(ctx context.Context, s Scope, id MessageID, emoji string, by int) (Recorded, error)

	// Message returns one message, a tombstone too. ErrNotFound when unknown.
	Message(ctx context.Context, s Scope, id MessageID) (Message, error)
	// ByID returns those of the ids that are stored, tombstones too, in the
	// order of Position.
	ByID(ctx context.Context, s Scope, ids ...MessageID) ([]Message, error)
	// Newest returns the newest limit messages of a part at or before upTo
	// (a zero Position: no bound), in the order of Position, without deleted
	// ones. Of a thread the root counts as one of its messages. An index read:
	// its cost does not depend on how many are stored.
	Newest(ctx context.Context, s Scope, part Part, upTo Position, limit int) ([]Message, error)
	// Range reads a part from one position to another, both inclusive, zero
	// meaning open, in the order of Position, without deleted ones.
	Range(ctx context.Context, s Scope, part Part, from, to Position) iter.Seq2[Message, error]
	// Since returns what became known after seq, tombstones too, in the order
	// of Seq, at most limit (0: no limit).
	Since(ctx context.Context, s Scope, seq int64, limit int) ([]Message, error)
	// Replying returns the messages whose reply reference is one of ids, at or
	// before upTo, in the order of Position, without deleted ones.
	Replying(ctx context.Context, s Scope, upTo Position, ids ...MessageID) ([]Message, error)
	// Revisions returns the stored revisions of a message, oldest first, the
	// current one last. Of a deleted message only the tombstone is left.
	Revisions(ctx context.Context, s Scope, id MessageID) ([]Message, error)
	// Activity returns what is known of the replies of each root that has any, at
	// or before upTo: what is stored, or what the platform told with the root
	// where that is more. Replies that were only told of have no position but the
	// last one's, so they count where that is at or before upTo's time, or
	// without an upTo: what was said after it changes nothing. [Message.Replies]
	// of a stored message is not bounded like that. LastHour counts what is
	// stored, back from upTo's time, both ends included, and is 0 without an
	// upTo. [Messages.Count] counts what is stored alone.
	Activity(ctx context.Context, s Scope, upTo Position, roots ...MessageID) (map[MessageID]Activity, error)
	// Count counts a part at or before upTo. When upTo is near the newest its
	// cost does not depend on how many are stored.
	Count(ctx context.Context, s Scope, part Part, upTo Position) (Count, error)

	// PutCoverage records what is known of stretches, all at once. Each replaces
	// the entry of the same thread, from and to; one without a State removes it.
	PutCoverage(ctx context.Context, s Scope, list ...Coverage) error
	// Coverage lists what is recorded, by thread, from and to.
	Coverage(ctx context.Context, s Scope) ([]Coverage, error)

	// Terms reads the search terms of what became known after seq, in the
	// order of Seq.
	Terms(ctx context.Context, s Scope, seq int64) iter.Seq2[Terms, error]
}

// Conversations keeps what is an agent's own.
type Conversations interface {
	// OpenConversation returns the conversation, creating it when there is
	// none; created reports which. idempotencyKey may be empty; a second call
	// with the same key by the same agent in the same scope returns the first
	// call's conversation, whatever its name. One that was opened without a key
	// takes the first that comes. ErrConflict when the id exists under another
	// key.
	OpenConversation(ctx context.Context, id ConversationID, idempotencyKey string) (c Conversation, created bool, err error)
	// Conversation returns it, or ErrNotFound.
	Conversation(ctx context.Context, id ConversationID) (Conversation, error)
	// MergeMetadata sets keys and removes those whose value is nil, in one
	// atomic step. At most 64 keys and 16 KiB; keys match
	// [a-z][a-z0-9_]{0,63}; else ErrInvalid. The reserved key
	// last_processed_ts is a Slack ts, only moves forward (an older one moves
	// nothing) and cannot be removed.
	MergeMetadata(ctx context.Context, id ConversationID, patch map[string]*string) (Conversation, error)
	// AdvanceCursor moves the cursor forward to seq; a lower seq is no error
	// and moves nothing.
	AdvanceCursor(ctx context.Context, id ConversationID, seq int64) error

	// Manifest returns what the current epoch's session has shown, each name
	// once: of two for one id the first counts. Of a conversation that does not
	// exist it is empty; so are Session and Turns.
	Manifest(ctx context.Context, id ConversationID) (Manifest, error)
	// Session returns the current epoch's prompt messages, in order.
	Session(ctx context.Context, id ConversationID) ([]SessionEntry, error)

	// PutSummary stores the newest rolling summary, made of what was known up to
	// sequence known. ErrConflict when something said in what it covers was
	// deleted since.
	PutSummary(ctx context.Context, id ConversationID, s Summary, known int64) error
	// Summary returns it, or ErrNotFound.
	Summary(ctx context.Context, id ConversationID) (Summary, error)
}

// BlobBytes is how much a channel keeps of its files, in bytes of [Blob.Data];
// a blob counts as 4 KiB at least.
const BlobBytes = 64 << 20

// Blobs keeps what models were given of files, so that a later prompt of the
// same epoch holds the same bytes. It is bounded by BlobBytes: the blobs of a
// channel that were put longest ago go first. To put one again is cheap and
// makes it the newest; to read it does not, so that a read writes nothing.
//
// A blob is kept for the messages that it was put for. It is erased when the
// last of them is deleted or no longer has the file in its newest revision, when
// its channel is erased, and by PruneTurns when its last PutBlob is too old.
type Blobs interface {
	// PutBlob stores the content of one file of a message. A stored blob with
	// this hash keeps its bytes, as prompts hold them, and is kept for this
	// message too. ErrNotFound
	// when the message is not stored, is deleted, or has no such file;
	// ErrInvalid without a hash or file id, or for more than BlobBytes.
	PutBlob(ctx context.Context, s Scope, of MessageID, id ArtifactID, b Blob) error
	// Blob returns the blob with this hash, or ErrNotFound.
	Blob(ctx context.Context, s Scope, sha256 string) (Blob, error)
}

// Turns keeps each turn with its ledger.
type Turns interface {
	// CommitTurn records a turn that succeeded: its answer, cursor, epoch,
	// manifest, session and ledger, in one transaction. Session, manifest and
	// ledger are appended, never copied. It returns the turn's number, which
	// what the turn attached is given too; a zero Time becomes the store's. A
	// greater epoch begins the next: its session and manifest start empty.
	// Where something that it shows is deleted by now, its session and names are
	// not stored and the next epoch begins. ErrConflict when the anchor was
	// answered already by this agent in this scope or the epoch is older than
	// the conversation's; ErrNotFound when there is no such conversation.
	CommitTurn(ctx context.Context, id ConversationID, t Turn) (int, error)
	// Turns returns the newest limit turns (0: all), oldest first, without
	// session and ledger.
	Turns(ctx context.Context, id ConversationID, limit int) ([]Turn, error)
	// Turn returns one turn whole, or ErrNotFound.
	Turn(ctx context.Context, id ConversationID, number int) (Turn, error)
}
