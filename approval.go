package earshot

import "context"

// An ApprovalID identifies an approval in its store. It is the key of the post that asks
// for it.
type ApprovalID string

// An ApprovalState is how an approval stands.
type ApprovalState string

// The states of an approval. All but Open are final.
const (
	ApprovalOpen      ApprovalState = "open"
	ApprovalAgreed    ApprovalState = "agreed"    // somebody agreed, or answered what they were asked
	ApprovalRefused   ApprovalState = "refused"   // somebody said no
	ApprovalExpired   ApprovalState = "expired"   // nobody said anything in time
	ApprovalWithdrawn ApprovalState = "withdrawn" // the turn ended, or began anew, before anybody said anything
)

// ApprovalStates returns all states of an approval.
func ApprovalStates() []ApprovalState {
	return []ApprovalState{ApprovalOpen, ApprovalAgreed, ApprovalRefused, ApprovalExpired, ApprovalWithdrawn}
}

// Bounds of an approval's texts, in bytes. What is longer is [ErrInvalid], but Why and
// Result are cut.
const (
	ApprovalArgs  = 64 << 10
	ApprovalWords = 4 << 10 // Why
)

// An Approval is a person's yes to one call of a tool with exactly these arguments, or
// what they answer to a question; while it is open it is asked for.
type Approval struct {
	ID           ApprovalID
	Turn         TurnID
	Conversation ConversationID
	Anchor       MessageID // what the turn answers
	Asker        AuthorID  // who asked that
	Call         string    // the model's id of the call; unique in the turn
	Tool         string    // its name
	Args         []byte    // as the tool gets them; nil when they were erased
	SHA256       string    // of Args, in hex; stays when they are erased
	Asked        Time
	Expires      Time // from then on nobody can agree

	State    ApprovalState
	By       AuthorID // who decided; "" where nobody did, and for an operator
	Operator bool     // an operator decided
	Why      string   // what who decided said to it, or the answer to a question; "" when it was erased
	Decided  Time     // when it got its final state; 0 while it is open
	Result   string   // what came of the call, in a few words; "" until it is known
}

// A Decision ends an approval.
type Decision struct {
	State    ApprovalState // Agreed, Refused, Expired or Withdrawn
	SHA256   string        // what is agreed to: the approval's; not looked at for other states
	By       AuthorID
	Operator bool
	Why      string
	Time     Time
}

// An ApprovalQuery selects approvals, the newest of them and newest first.
type ApprovalQuery struct {
	Agent  AgentID         // "": all
	Scope  *Scope          // nil: all
	Turn   TurnID          // 0: all
	States []ApprovalState // empty: all
	Due    Time            // only those that expire by then; 0: all
	Before ApprovalID      // only those asked for before this one; "": from the newest
	Limit  int             // 0: 50
}

// Approvals are what people are asked before a tool acts. A turn waits for them without a
// lease, in the state Waiting, and other turns of its conversation go on meanwhile. When
// the last of them is decided, it is Open again.
//
// The texts of an approval (Args, Why, Result) are erased with the journal of its turn,
// Why also when By is erased. An approval that is open when its turn ends is withdrawn in
// the same transaction.
type Approvals interface {
	// AskApproval stores an approval, which is open. If the turn has one for the same call, that
	// one is returned, whatever its state, and nothing changes. ErrConflict when the turn
	// has not begun or is final, or when the id is taken.
	AskApproval(ctx context.Context, l Lease, a Approval) (Approval, error)
	// AwaitApprovals moves a turn that is Generating or Posting to Waiting if one of its approvals is
	// open and nobody has stopped it, and reports whether it did. Tries and Ends become 0. It
	// does not give back the lease.
	AwaitApprovals(ctx context.Context, l Lease, id TurnID) (bool, error)
	// DecideApproval ends an approval, once: of several the first decides. The returned approval is
	// as it is stored then. ErrConflict when it has been decided, when d agrees to other
	// arguments, and when d agrees or refuses at a time when it has expired; then it is
	// decided to be Expired. ErrNotFound when there is none.
	//
	// If its turn waits and no other of its approvals is open, the turn becomes Open. It
	// keeps its journal, and comes before turns of its conversation that were opened later,
	// but after one that has been claimed.
	DecideApproval(ctx context.Context, id ApprovalID, d Decision) (Approval, error)
	// NoteApproval notes what came of the call of an approval that was agreed to.
	NoteApproval(ctx context.Context, l Lease, id ApprovalID, result string) error
	// Approval returns one approval, or ErrNotFound.
	Approval(ctx context.Context, id ApprovalID) (Approval, error)
	// Approvals lists approvals in the order of q.
	Approvals(ctx context.Context, q ApprovalQuery) ([]Approval, error)
}

// A Stopper keeps who wants a turn ended.
type Stopper interface {
	// StopTurn notes that somebody wants a turn ended that is not final, and returns it as
	// it is stored then; by is "" for an operator. Who answers it sees it by Stopped, and
	// ends it. A turn that waits becomes Open. The first to stop it is noted; a repeat
	// changes nothing. ErrConflict when it is final; then it is returned too. Reopen takes
	// the note away.
	StopTurn(ctx context.Context, id TurnID, by AuthorID) (QueuedTurn, error)
}
