package earshot

import (
	"context"
	"errors"
	"time"
)

// ErrFenced is returned for a write under a lease that another replica has
// taken over. Whoever gets it stops and posts nothing.
var ErrFenced = errors.New("the lease was taken over")

// A TurnID names a turn in its store. Ids rise in the order in which turns
// were opened.
type TurnID int64

// A TurnState is how far a turn is.
type TurnState string

// The states of a turn. Open, Claimed, Generating and Posting are unfinished:
// a restart goes on with them. The others are final, but for Parked, which an
// operator can answer again.
const (
	TurnOpen       TurnState = "open"
	TurnClaimed    TurnState = "claimed"    // a replica holds the conversation's lease
	TurnGenerating TurnState = "generating" // the prompt is recorded, the model is asked
	TurnPosting    TurnState = "posting"    // the reply is in the outbox
	TurnDone       TurnState = "done"
	TurnFailed     TurnState = "failed"  // the person was told once; the cause is Why
	TurnParked     TurnState = "parked"  // whether a post arrived cannot be found out
	TurnDropped    TurnState = "dropped" // not answered: stale, anchor deleted, answered with a later one
)

// TurnStates returns all states of a turn, in the order of its way.
func TurnStates() []TurnState {
	return []TurnState{TurnOpen, TurnClaimed, TurnGenerating, TurnPosting, TurnDone, TurnFailed, TurnParked, TurnDropped}
}

// Final reports whether a turn in this state has ended. One that is parked or
// failed may be opened again by an operator.
func (s TurnState) Final() bool {
	switch s {
	case TurnDone, TurnFailed, TurnParked, TurnDropped:
		return true
	}
	return false
}

// An Event is one delivery of a platform. A delivery that tells of several
// messages, or that several agents hear, is one Event for each, under delivery
// ids of their own (the platform's with a suffix).
type Event struct {
	Delivery string // the platform's id of the delivery, unique within the channel; "" when it has none
	Client   string // the sender's own id of the message, such as client_msg_id; "" when it has none
	Raw      []byte // as it came; nil when it was erased
	Received Time
	Message  Message // what it says: a message, a newer revision, or a tombstone
	Past     bool    // found in history, rather than told when it happened; not read back
	Resume   *Resume // where the platform's stream goes on behind this event; nil keeps what is stored; not read back
}

// ResumeBytes bounds [Resume.State].
const ResumeBytes = 4 << 10

// A Resume says where a stream of a platform's events is taken up again after a
// restart, such as the session of a Discord shard and the last sequence in it.
// It is the adapter's own: a store keeps it as it is. One stream may tell of many
// workspaces, so Key names it among all of the platform's, the application with
// it. An adapter that handles events side by side gives the state before which
// everything was accepted; one that is too old costs deliveries that are known.
type Resume struct {
	Key   string
	State []byte // no text of messages: Erase does not find it
}

// An Accepted is what came of an event.
type Accepted struct {
	Recorded
	Duplicate bool   // the delivery was known: nothing was written
	Turn      TurnID // the message's turn of the agent asked, opened now or before; 0 when it has none
	Opened    bool   // it was opened now
}

// A Lease is the right to answer in one conversation until a moment. Each
// taking raises the fence, and every write of a turn carries it.
type Lease struct {
	Conversation ConversationID
	Owner        string
	Fence        int64
	Until        Time
}

// A QueuedTurn is a turn on its way, as the queue has it.
type QueuedTurn struct {
	ID           TurnID
	Conversation ConversationID
	Anchor       MessageID
	State        TurnState
	Why          string
	Tries        int // how often it was claimed as the first of its conversation, but for the claims that Ends counts
	Ends         int // how often its lease ran out, because who answered it ended or hung, since its journal or a post last changed
	Opened       Time
	Updated      Time   // by the store's clock
	Epoch        int    // in which it will be committed; set by Begin
	Input        []byte // set by Begin; nil when it was erased
	Hash         string // of the prompt; set by Begin
	Number       int    // in its conversation; 0 until it is done
}

// A Prompt is what a turn asks the model, by reference, so that it can be made
// again.
type Prompt struct {
	From  int         // the conversation's epoch when the prompt was gathered
	Epoch int         // the turn's: From, or a later one that begins with it
	Input []byte      // what it is made of, for replay
	Hash  string      // of its bytes
	Shows []MessageID // whose text this turn adds, snippets too; the anchor is one of them unsaid
}

// A Step is an entry of a turn's journal: what the model answered, what a tool
// said. A restart reads them back and asks nothing again.
type Step struct {
	N      int // from 0, without holes
	Kind   string
	Data   []byte      // nil when it was erased
	Time   Time        // by the caller's clock
	Shows  []MessageID // whose text is in Data, such as those that a tool found; not read back
	Erased bool        // something that the model had read was deleted: begin anew
}

// A PostState is how far a post is. Planned and Sending are written before the
// call; what is found Sending after a restart is Ambiguous.
type PostState string

// The states of a post.
const (
	PostPlanned   PostState = "planned"
	PostSending   PostState = "sending"
	PostSent      PostState = "sent"
	PostAmbiguous PostState = "ambiguous"
	PostFailed    PostState = "failed"
)

// A Post is one visible message in the outbox. (Turn, Chunk) is its identity:
// there is at most one.
type Post struct {
	Turn    TurnID
	Chunk   int    // from 0
	Key     string // opaque, unique within the channel; what a platform carries as metadata or nonce
	Text    string // "" when it was erased
	State   PostState
	Message MessageID // the platform's id, once sent
	Tries   int
	Updated Time // by the store's clock
}

// An Arrival is a message of ours as the platform shows it, and the key of the
// post that became it.
type Arrival struct {
	Key     string
	Message Message
}

// A TurnQuery selects turns of all conversations, newest first.
type TurnQuery struct {
	Agent  AgentID     // "": all
	Scope  *Scope      // nil: all
	States []TurnState // empty: all
	Before TurnID      // 0: from the newest
	Limit  int         // 0: 50
}

// A Queue keeps what arrived and what is to be answered, so that a process may
// die at any instruction. Turns of one conversation run one at a time, in the
// order in which they were opened.
//
// A write under a lease is refused with [ErrFenced] once the lease was given
// back or taken over, and with [ErrConflict] once the turn is final, be it by
// another hand: a turn whose anchor was deleted is dropped at once, unless a
// post of it may be visible. A lease that ran out and that nobody took is
// still good. The same write again is no error and changes nothing.
//
// What is deleted leaves the queue too. Raw events of the message, and of
// those that reply to it and may quote it, lose their bytes. A conversation
// that has read it, by Prompt.Shows, Step.Shows, or a committed turn's Shown
// and Ledger, begins the next epoch: the session of the old one, with all that
// its entries hold, and its names, the inputs and journals of its turns and the
// texts of their posts are erased, and the summary that covers it. A turn that
// is under way then may still post and be finished; nothing that it says is
// kept.
type Queue interface {
	// Accept stores the raw event, its message as Record does, and with ask
	// an open turn for it in that conversation, which is created when there is
	// none; all in one transaction: when it returns, the event may be
	// acknowledged. A delivery that is known writes nothing. A message has at
	// most one turn of an agent, however often and under whichever deliveries
	// it comes. An edit (Edited is set) opens none, unless it is Past and New:
	// history has a message only as it was edited last. Nor does a message that
	// is deleted, nor a second one with the same Client by the same author, said
	// within 10 minutes of one that has a turn. A tombstone, and what comes of
	// a message or in reply to one that is deleted, is stored without Raw.
	// Resume is stored too, also where the delivery is known.
	Accept(ctx context.Context, s Scope, e Event, ask *ConversationID) (Accepted, error)
	// Resume returns the state that the last event with this key brought, or
	// ErrNotFound.
	Resume(ctx context.Context, p Platform, key string) ([]byte, error)
	// Events returns what was delivered about a message, in the order of
	// arrival; of Message only the id.
	Events(ctx context.Context, s Scope, id MessageID) ([]Event, error)
	// PruneEvents forgets what was received before a time, delivery ids too,
	// and returns how many. Platforms deliver again for 24 hours: keep 25.
	PruneEvents(ctx context.Context, before Time) (int, error)

	// PruneTurns forgets what final turns that ended before a time were made of:
	// their inputs, their journals and the texts of their posts. The turns stay,
	// with what they committed, so that nothing is answered twice. Blobs whose
	// last PutBlob was before that time go too. It returns how many turns it
	// found.
	PruneTurns(ctx context.Context, before Time) (int, error)

	// Claim takes the lease of the conversation whose lowest unfinished turn
	// is the oldest, among those of the agent that nobody holds at now, the
	// owner itself included, and returns its unfinished turns in order; the
	// first is claimed. A lease that ends more than half an hour after now + hold was
	// written by a clock that has gone back since: nobody holds it. ErrNotFound
	// when there is nothing to do.
	Claim(ctx context.Context, agent AgentID, owner string, now Time, hold time.Duration) (Lease, []QueuedTurn, error)
	// Renew holds the lease until now + hold.
	Renew(ctx context.Context, l Lease, now Time, hold time.Duration) (Lease, error)
	// Release gives the lease back. Nobody takes it before notBefore; zero
	// means at once. It is no error when the lease is another's.
	Release(ctx context.Context, l Lease, notBefore Time) error

	// Begin records the prompt and moves the turn to Generating. With another
	// hash or epoch than before it begins anew: the journal is emptied, and in
	// another epoch or after an erasure the texts of its posts. ErrConflict
	// when the turn is not its conversation's lowest unfinished one, when the
	// conversation is in another epoch than From, or when something shown is
	// deleted by now: gather again.
	Begin(ctx context.Context, l Lease, id TurnID, p Prompt) error
	// AddStep appends to the journal; a known N is no error and changes
	// nothing. ErrConflict when the turn has not begun, ErrInvalid for a hole.
	// Posts of the turn that follow from the step are written in the same
	// transaction as PutPost does, also where N is known.
	AddStep(ctx context.Context, l Lease, id TurnID, s Step, posts ...Post) error
	// Steps returns the journal in order.
	Steps(ctx context.Context, id TurnID) ([]Step, error)

	// PutPost writes a post's state; the first moves the turn to Posting.
	// ErrConflict when a post that was sent would get another state, key or
	// message; its text may change, as that of a placeholder does. Whoever has
	// written Sending without error may post.
	PutPost(ctx context.Context, l Lease, p Post) error
	// Posts returns a turn's posts by chunk.
	Posts(ctx context.Context, id TurnID) ([]Post, error)
	// Confirm records that the platform shows the post with this key as
	// message id: it is sent, whatever was known of it, and no lease is
	// needed. ErrNotFound when there is no such post, ErrConflict when it was
	// sent as another message.
	Confirm(ctx context.Context, s Scope, key string, id MessageID) error
	// Posted returns the turn whose post became this message, or ErrNotFound.
	Posted(ctx context.Context, s Scope, id MessageID) (QueuedTurn, error)

	// Finish ends a turn. With state Done it must be its conversation's lowest
	// unfinished one, and t, unless it is nil as that of an isolated turn, is
	// committed as CommitTurn does, in the same transaction; where the model
	// had read something that is deleted by now, without its session and as
	// the last of its epoch. With Failed, Parked or Dropped t is nil, why says
	// why, and neither cursor nor manifest moves. What has arrived is stored and
	// confirmed before, in the same transaction, as Record and Confirm do.
	Finish(ctx context.Context, l Lease, id TurnID, state TurnState, why string, t *Turn, arrived ...Arrival) error
	// Merge drops turns of the lease's conversation because another, into, answers
	// them too, in one transaction; those that are final stay as they are. When
	// into is dropped in its turn because its anchor was deleted, they are open
	// again. The highest Ends of them all is into's. ErrConflict when into is
	// final, and when a lower turn of the conversation would stay unfinished.
	Merge(ctx context.Context, l Lease, into TurnID, turns ...TurnID) error
	// Reopen makes a parked or failed turn open again, with no tries or ends counted.
	// ErrConflict when it is neither, when its anchor is deleted, or while
	// another turn of its conversation is Generating or Posting.
	Reopen(ctx context.Context, id TurnID) error

	// QueuedTurn returns one turn, or ErrNotFound.
	QueuedTurn(ctx context.Context, id TurnID) (QueuedTurn, error)
	// QueuedTurns lists turns, newest first, without Input.
	QueuedTurns(ctx context.Context, q TurnQuery) ([]QueuedTurn, error)
	// Depth counts the turns in these states, or in all where none is named, by
	// state; one without any is absent. It costs as much as there are such turns.
	Depth(ctx context.Context, states ...TurnState) (map[TurnState]int, error)
}
