package earshot

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// A TurnID identifies a turn in its store. Ids rise in the order in which turns
// are opened.
type TurnID int64

// A TurnState is how far a turn has come.
type TurnState string

// The states of a turn. Open, Claimed, Generating and Posting are unfinished: a
// restarted process continues them. Waiting is unfinished too, and nothing but an answer
// of a person, time, a deletion, or an operator goes on with it. The others are final.
const (
	TurnOpen       TurnState = "open"
	TurnClaimed    TurnState = "claimed"    // a replica holds the conversation's lease
	TurnGenerating TurnState = "generating" // the prompt is recorded, the model is being asked
	TurnWaiting    TurnState = "waiting"    // for what a person was asked, see [Approvals]; nobody claims it
	TurnPosting    TurnState = "posting"    // the reply is in the outbox
	TurnDone       TurnState = "done"
	TurnFailed     TurnState = "failed"  // the person was told once; Why has the cause
	TurnParked     TurnState = "parked"  // nobody can find out whether a post arrived; waits for an operator
	TurnDropped    TurnState = "dropped" // not answered: too old, anchor deleted, or answered together with a later one
	TurnRefused    TurnState = "refused" // never to be answered: Why is a [Refusal]; nobody claims it
)

// TurnStates returns all states of a turn, in the order in which a turn passes
// them. Refused is last: nothing comes before it, and nothing after.
func TurnStates() []TurnState {
	return []TurnState{TurnOpen, TurnClaimed, TurnGenerating, TurnWaiting, TurnPosting, TurnDone, TurnFailed, TurnParked, TurnDropped, TurnRefused}
}

// Final reports whether a turn in this state has ended. An operator can open a
// parked or failed turn again (Reopen), or end it for good (Discard).
func (s TurnState) Final() bool {
	switch s {
	case TurnDone, TurnFailed, TurnParked, TurnDropped, TurnRefused:
		return true
	}
	return false
}

// UnfinishedStates returns the states of a turn that has not ended, in the order in which
// a turn passes them.
func UnfinishedStates() []TurnState {
	return slices.DeleteFunc(TurnStates(), TurnState.Final)
}

// ActiveStates returns the states of a turn that a bot goes on with by itself: the
// unfinished ones but Waiting.
func ActiveStates() []TurnState {
	return slices.DeleteFunc(UnfinishedStates(), func(s TurnState) bool { return s == TurnWaiting })
}

// AskedStates returns the states of a turn that was asked for and not refused.
func AskedStates() []TurnState {
	return slices.DeleteFunc(TurnStates(), func(s TurnState) bool { return s == TurnRefused })
}

// A QueuedTurn is a turn as the queue stores it.
type QueuedTurn struct {
	ID           TurnID
	Conversation ConversationID
	Anchor       MessageID
	State        TurnState
	Why          string // the cause of the state, for the operator
	Tries        int    // claims of this turn as the first of its conversation, except those that Ends counts
	Ends         int    // leases that ran out during this turn (its process died or hung) since its journal or a post last changed; a bot changes a post before it waits for the platform
	Opened       Time
	Updated      Time      // by the store's clock
	Epoch        int       // in which it will be committed; set by Begin
	Input        []byte    // set by Begin; nil when it was erased
	Hash         string    // of the prompt; set by Begin
	Began        Beginning // set by Begin; "" also in turns that were begun before there was the field
	Number       int       // in its conversation; 0 until it is done
	Stopped      Time      // when somebody asked for its end, see StopTurn; 0: nobody has
	StoppedBy    AuthorID  // who did; "" for an operator
}

// askedBy is the Opening of a turn that an emoji opened.
const askedBy = "asked by the emoji %s of %s"

// WhyAmbient is the Opening of a turn whose anchor nobody addressed to the agent: it
// reads along, and may stay silent.
const WhyAmbient = "ambient"

// afterOpening stands in a Why between the Opening and what follows.
const afterOpening = "; "

// WhyAsked returns the Why of a turn that is open because somebody gave its anchor an
// emoji; "" for the zero Reactor.
func WhyAsked(by Reactor) string {
	if by.Emoji == "" {
		return ""
	}
	return fmt.Sprintf(askedBy, by.Emoji, by.ID)
}

// AskedBy returns who asked for a turn by giving its anchor an emoji. ok is false where
// the anchor itself asks, and once the turn is done.
func (q QueuedTurn) AskedBy() (by Reactor, ok bool) {
	n, err := fmt.Sscanf(q.Opening(), askedBy, &by.Emoji, &by.ID)
	return by, err == nil && n == 2
}

// Opening returns with what the Why begins where something else than the anchor's own
// question opened the turn; "" elsewhere. An unfinished turn has it, and one that failed
// or was parked, so that it has it again where it is reopened. An ambient turn has it in
// every state.
func (q QueuedTurn) Opening() string {
	opening, _, _ := strings.Cut(q.Why, afterOpening)
	if opening == WhyAmbient {
		return opening
	}
	var by Reactor
	if n, err := fmt.Sscanf(opening, askedBy, &by.Emoji, &by.ID); err == nil && n == 2 && opening == WhyAsked(by) {
		return opening
	}
	return ""
}

// Ambient reports whether nobody addressed the turn's anchor to the agent.
func (q QueuedTurn) Ambient() bool { return q.Opening() == WhyAmbient }

// Reason returns the Why without its Opening.
func (q QueuedTurn) Reason() string {
	return strings.TrimPrefix(strings.TrimPrefix(q.Why, q.Opening()), afterOpening)
}

// What the Reason of a turn begins with that is done without a word, because nobody had
// called the agent: it said nothing, for the reason that follows, or gave an emoji.
const (
	WhySilent  = "silent: "
	WhyReacted = "reacted "
)

// WhyDayLimit begins the Reason of a turn that was not begun, and is dropped, because it would
// have passed a limit of what models may use on a day.
const WhyDayLimit = "day-limit: "

// IsWordless reports whether the turn has ended without a word, because nobody had called
// the agent.
func (q QueuedTurn) IsWordless() bool {
	return q.State.Final() && (strings.HasPrefix(q.Reason(), WhySilent) || strings.HasPrefix(q.Reason(), WhyReacted))
}

// WhyAfter returns the Why of a turn with an Opening and a further reason.
func WhyAfter(opening, why string) string {
	if opening == "" || why == "" {
		return opening + why
	}
	return opening + afterOpening + why
}

// DiscardBytes bounds the reason of an operator who discards a turn.
const DiscardBytes = 1000

// A Beginning says why a turn is the first of its epoch.
type Beginning string

// Why epochs begin.
const (
	BeganAnew     Beginning = "conversation" // the conversation had no turn
	BeganFull     Beginning = "budget"       // the session, with its files, was over its budget or what a model can read
	BeganDeleted  Beginning = "deletion"     // something that the session had read was deleted
	BeganRefused  Beginning = "refusal"      // the model's provider refused the session or its files
	BeganForm     Beginning = "form"         // the session was written in another form than the policy's
	BeganTools    Beginning = "tools"        // the tools of one's own are others than those of the session
	BeganRule     Beginning = "rule"         // the policy or the instructions are others than those of the session
	BeganByPolicy Beginning = "policy"       // the turn before was of another policy, which kept no session
)

// Beginnings returns all of them.
func Beginnings() []Beginning {
	return []Beginning{BeganAnew, BeganFull, BeganDeleted, BeganRefused, BeganForm, BeganTools, BeganRule, BeganByPolicy}
}

// A Prompt describes what a turn asks the model, so that the prompt can be made
// again.
type Prompt struct {
	From  int         // the conversation's epoch when the messages were gathered
	Epoch int         // the turn's epoch: From, or a later one that begins with this turn
	Input []byte      // what the prompt is made of, for replay
	Hash  string      // of the prompt's bytes
	Began Beginning   // "" where the turn goes on with a session, or its policy keeps none
	Shows []MessageID // the messages whose text this turn adds, snippets too; the anchor is included implicitly
	// Keeps: the journal goes on under this prompt, because the turn has waited for a person
	// while its conversation went on. What the turn had read in its epoch, the prompt's epoch
	// has read too. It is not kept where something of it was erased.
	Keeps bool
}

// A Step is an entry of a turn's journal: what the model answered, or what a
// tool returned. A restarted process reads the journal and does not ask again.
type Step struct {
	N      int // from 0, without gaps
	Kind   string
	Data   []byte      // nil when it was erased
	Time   Time        // by the caller's clock
	Shows  []MessageID // messages whose text is in Data, such as those that a tool found; not read back
	Erased bool        // something that the model had read was deleted: begin again
}

// A Journal records what the model and the tools have answered in a turn.
type Journal interface {
	// Begin records the prompt and moves the turn to Generating. If the turn has
	// begun before with another hash or in another epoch, it starts again: the
	// journal is emptied, unless p keeps it, and, in another epoch or after an erasure,
	// the texts of its posts. ErrConflict, which means "gather again", when
	//   - the turn is not the next of its conversation (see Queue),
	//   - the conversation's epoch is not From,
	//   - or a message that the prompt shows has been deleted.
	Begin(ctx context.Context, l Lease, id TurnID, p Prompt) error
	// AddStep appends to the journal. A step whose N is known is no error and
	// changes nothing. ErrConflict when the turn has not begun, ErrInvalid when N
	// leaves a gap. Posts that follow from the step are written in the same
	// transaction as PutPost writes them, also where N is known.
	AddStep(ctx context.Context, l Lease, id TurnID, s Step, posts ...Post) error
	// Steps returns the journal in order.
	Steps(ctx context.Context, id TurnID) ([]Step, error)
}

// A TurnQuery selects turns of all conversations, the newest of them and newest first.
type TurnQuery struct {
	Agent  AgentID     // "": all
	Scope  *Scope      // nil: all
	States []TurnState // empty: all
	Before TurnID      // 0: from the newest
	Limit  int         // 0: 50
	Oldest bool        // the oldest of them instead, oldest first
}

// A Queue stores what arrived and what is to be answered, so that a process may
// die at any instruction. The turns of one conversation run one at a time, in the
// order in which they were opened.
//
// The next turn of a conversation is the lowest of those that have been claimed and are
// unfinished, else the lowest open one: a turn that opens again, by Reopen or because
// nobody is asked anything for it any more, does not disturb one that is being answered.
//
// A write under a lease fails with [ErrFenced] once the lease was released or
// taken over, and with [ErrConflict] once the turn is final, whoever ended it: a
// turn whose anchor is deleted is dropped at once, unless one of its posts may be
// visible. A lease that has run out stays valid until somebody else claims it.
// Repeating a write is no error and changes nothing.
//
// When a message is deleted, its text leaves the queue too. Raw events of the
// message lose their bytes, as do those of its replies, which may quote it. A
// conversation that has read it (by Prompt.Shows, by Step.Shows, or by a committed
// turn's Shown and Ledger) starts its next epoch, and of the old epoch these are
// erased: the session with all its entries and names, the inputs and journals of
// its turns, the texts of their posts, and the summary that covers the message. A
// turn that is running then may still post and finish, but nothing that it says
// is kept besides its visible messages. Replies of these epochs that quote the
// message (see [Erasures]) are deleted with it, and metadata that do are removed.
type Queue interface {
	Inbox
	Leases
	Journal
	Outbox
	Approvals
	Stopper
	FeedbackStore

	// Finish ends a turn. Before that it stores and confirms what has arrived, as
	// Record and Confirm do, in the same transaction.
	//
	// With state Done the turn must be its conversation's next one. t
	// is committed as CommitTurn does, in the same transaction; it is nil for an
	// isolated turn. If something that the model has read is deleted by then, t is
	// committed without its session, and is the last of its epoch. With Failed,
	// Parked or Dropped t must be nil and why says why; cursor and manifest stay
	// where they are.
	Finish(ctx context.Context, l Lease, id TurnID, state TurnState, why string, t *Turn, arrived ...Arrival) error
	// Merge drops turns of the lease's conversation because another turn, into,
	// answers them too, in one transaction. Turns that are final stay as they are.
	// If into is dropped later because its anchor was deleted, the merged turns
	// open again. into gets the highest Ends of them all. ErrConflict when into is
	// final, or when a lower turn of the conversation would stay unfinished.
	Merge(ctx context.Context, l Lease, into TurnID, turns ...TurnID) error
	// Reopen opens a parked or failed turn again, with Tries and Ends at 0.
	// ErrConflict when it is neither, when its anchor is deleted, or while another
	// turn of its conversation is Generating or Posting.
	Reopen(ctx context.Context, id TurnID) error
	// Discard ends a parked or failed turn for good, as an operator decides: it is
	// Dropped, and its Why says so, then why, which may be "" and has at most
	// DiscardBytes bytes, and then what its state and its Why were.
	//
	// Nothing else changes. Its posts keep their states: nobody looks for an
	// ambiguous one again, but Confirm still records that it arrived. Turns that
	// were merged into it stay dropped. Other turns of the conversation go on, and
	// it can be discarded while one is being answered, or when its anchor is
	// deleted.
	//
	// A turn that was discarded already stays as it is, which is no error.
	// ErrConflict when it is in another state, such as after a Reopen; ErrInvalid
	// when why is too long.
	Discard(ctx context.Context, id TurnID, why string) error

	// QueuedTurn returns one turn, or ErrNotFound.
	QueuedTurn(ctx context.Context, id TurnID) (QueuedTurn, error)
	// QueuedTurns lists turns, in the order of q, without Input. All are as they were at
	// one moment: a turn whose state changes meanwhile is neither missed nor twice
	// in the list.
	QueuedTurns(ctx context.Context, q TurnQuery) ([]QueuedTurn, error)
	// Depth counts turns by state: those in states, or all where none is named. A
	// state without turns is absent. The cost grows with the number counted.
	Depth(ctx context.Context, states ...TurnState) (map[TurnState]int, error)

	// PruneTurns deletes the inputs, the journals and the texts of the posts of
	// turns that ended before a time, and returns how many turns it found. The
	// turns themselves stay, with what they committed, so that nothing is answered
	// twice. Blobs whose last PutBlob was before that time are deleted too.
	PruneTurns(ctx context.Context, before Time) (int, error)
}
