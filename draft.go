package earshot

import (
	"context"
	"errors"
	"fmt"
)

// ErrExpired is returned for a draft whose time is over.
var ErrExpired = errors.New("expired")

// A Claimed is the error of OpenDraft and RenewDraft where the agent has answered the
// draft's anchor, or where another draft holds the claim to it.
type Claimed struct {
	Turn     TurnID // the turn that answered, or the draft that holds the claim; 0 of a turn without a queue
	Answered bool   // false: it is being answered
	Until    Time   // when the claim of a draft runs out, unless it is renewed; 0 where a bot over the same store answers
}

// Error implements error.
func (c *Claimed) Error() string {
	if c.Answered {
		return fmt.Sprintf("turn %d has answered this message", c.Turn)
	}
	return fmt.Sprintf("turn %d is answering this message", c.Turn)
}

// A Draft is a turn that somebody outside answers: its prompt was given out, and
// its reply has not come yet. While it is open and Expires has not passed it holds the
// claim to its anchor. Several drafts of one conversation may be open, for different
// anchors; the first that is committed wins.
type Draft struct {
	ID           TurnID // given by the store, from the ids of queued turns
	Conversation ConversationID
	Anchor       MessageID
	Opener       string // who opened it; the store only keeps it
	// Asked is how the context was asked for, so that it can be made anew. It has no
	// texts of messages. The store only keeps it, until the draft ends.
	Asked   []byte
	State   DraftState
	Opened  Time
	Expires Time
	// Again lets the draft be opened and committed where the anchor has been answered, or
	// another draft holds the claim to it.
	Again bool
	// Replaces is an open draft of the anchor, or 0: OpenDraft ends it in the same
	// transaction, so that nobody else gets the claim between them, and its Posting is the
	// new one's. It is not stored, and one that has ended by then is as 0.
	Replaces TurnID
	// Posting is when the opener first said that it was about to post its reply; 0: it has
	// not. RenewDraft sets it.
	Posting Time
	Turns   int    // how many turns the conversation had when the prompt was made
	Prompt  Prompt // Input is nil once the draft has ended, or something that it shows was deleted; Shows is not read back
	// Turn is what committing records, besides what only the reply tells: its
	// replies, usage and the entries after the prompt. It goes when Input goes; that
	// of a committed draft has its Number and Sum alone. Its anchor, epoch and hash are those
	// of the draft, whatever they say.
	Turn Turn
	// Repeated is set by CommitDraft alone: the draft had been committed before the
	// call. Of calls at the same time it is false for exactly one.
	Repeated bool
}

// A DraftState is how far a draft has come. An open one whose Expires has passed
// cannot be committed any more.
type DraftState string

// The states of a draft.
const (
	DraftOpen      DraftState = "open"
	DraftCommitted DraftState = "committed" // the queued turn with this id has the rest
	DraftAborted   DraftState = "aborted"
)

// Drafts keeps the turns that callers from outside answer.
//
// What an open draft holds is erased when something that its prompt shows is deleted,
// when a text is erased that its conversation has read, and with a person whom it
// names (then Asked and, where it is the person, Opener too). The draft stays open
// and cannot be committed.
type Drafts interface {
	// OpenDraft stores d and gives it an id. Its conversation is created if there is
	// none. Nothing of the conversation is changed. A [*Claimed], without d.Again, when
	// the agent has a turn for the anchor, or when a draft of the anchor, besides
	// d.Replaces, is open that expires at d.Opened or later. ErrConflict, which means "gather
	// again", when the conversation's epoch is not Prompt.From, when it has not
	// d.Turns turns, or when something that the prompt shows is deleted, the anchor
	// included. ErrInvalid when Conversation breaks its bounds, without an anchor or
	// Prompt.Hash, for an Opener of more than 512 bytes, and as Begin and CommitTurn
	// say.
	OpenDraft(ctx context.Context, d Draft) (Draft, error)
	// Claimed returns the [*Claimed] that OpenDraft would return for d now, or nil,
	// before the prompt is made: what d has besides Conversation, Anchor, Opened, Again
	// and Replaces does not count. Other errors are those of reading.
	Claimed(ctx context.Context, d Draft) error
	// Draft returns one, or ErrNotFound.
	Draft(ctx context.Context, id TurnID) (Draft, error)
	// OpenDrafts returns the open drafts of an opener, the newest first, at most limit:
	// those that expire at now or later, and with expired also those that expired before
	// and that no later draft of the agent for the anchor has taken over. One that was
	// aborted has taken over nothing. The input of Prompt and Turn are left out.
	OpenDrafts(ctx context.Context, opener string, now Time, expired bool, limit int) ([]Draft, error)
	// LastDraft returns the newest draft of an agent for an anchor besides that with the
	// id not, or ErrNotFound; with posting the newest that is open and has Posting. What
	// OpenDrafts leaves out is left out.
	LastDraft(ctx context.Context, of ConversationID, anchor MessageID, not TurnID, posting bool) (Draft, error)
	// RenewDraft sets when an open draft expires, also of one that has expired, and, the
	// first time that posting is true, its Posting. Of one that has ended nothing
	// changes. A [*Claimed] when it expired before now and the anchor has been answered
	// or claimed by another draft since, unless it is Again. ErrNotFound when there is
	// no such draft.
	RenewDraft(ctx context.Context, id TurnID, now, expires Time, posting bool) (Draft, error)
	// CommitDraft ends a draft with its reply, in one transaction: t is committed as
	// CommitTurn does, arrived is recorded as Record does, and a queued turn with
	// the draft's id, input and hash is stored as Done. t.Number is given by the
	// store; its anchor, epoch and hash are the draft's. A draft that is committed
	// already is returned as Repeated, with no error, and nothing is changed, whatever t is. If
	// only something that t shows besides, such as what a tool found, is deleted by
	// then, the turn is committed without its text, as CommitTurn does.
	//
	// ErrExpired when Expires is before now or the draft was aborted. ErrConflict,
	// which means "open another one", when the conversation has had another turn or
	// another epoch since, when another turn of it is being answered, when the anchor
	// has a turn of this agent (also one that is not done yet) and the draft is not Again,
	// or when something that the prompt shows is deleted. ErrNotFound when there is no such draft.
	CommitDraft(ctx context.Context, id TurnID, t Turn, now Time, arrived ...Message) (Draft, error)
	// AskDraft stores an approval for a call of an open draft, as AskApproval does for a
	// queued turn. A draft waits for nothing by itself: how long it is held is the affair of
	// RenewDraft, and deciding an approval changes nothing of it. The approvals go over to
	// the draft that replaces it, and to the turn that it becomes. Those that are open are
	// withdrawn when it is committed or aborted, and when something that its prompt shows
	// is deleted; their texts go with its contents. If it has an approval for the same call, that
	// one is returned, whatever its state. ErrExpired when Expires is before Asked or the draft has
	// ended, ErrConflict when something that it shows is deleted or the id is taken, and
	// ErrNotFound when there is no such draft.
	AskDraft(ctx context.Context, a Approval) (Approval, error)
	// NoteDraft notes what came of the call of an approval of a draft that was agreed to,
	// also after the draft was committed. ErrConflict when nobody has agreed, or the draft was
	// aborted. ErrNotFound when there is no such approval, or its turn is no draft.
	NoteDraft(ctx context.Context, id ApprovalID, result string) error
	// AbortDraft ends an open draft. Ending one that has ended changes nothing.
	// ErrNotFound when there is none.
	AbortDraft(ctx context.Context, id TurnID) (Draft, error)
	// PruneDrafts removes the contents of drafts that expired before a time, and
	// the drafts themselves a day later: their queued turns stay, and no id is given
	// again. It returns how many it changed.
	PruneDrafts(ctx context.Context, before Time) (int, error)
}
