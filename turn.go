package earshot

import "context"

// A Verdict says how much of a message the model sees.
type Verdict string

// The verdicts. A message that is Full or Cut counts as shown; a Snippet does not.
const (
	Full    Verdict = "full"
	Cut     Verdict = "cut"
	Snippet Verdict = "snippet"
	Out     Verdict = "out"
)

// A LedgerRow explains one candidate message: the section that shows it or
// considered it, how much of it the model sees, why, and its tokens.
type LedgerRow struct {
	ID      MessageID
	Section string
	Verdict Verdict
	Reason  string
	Tokens  int
	// Score, Cover and Parts come from the search and are zero for messages that it
	// did not find. Cover, from 0 to 1, is the share of the question's words that the
	// message has, by their weights. Parts, such as words and recency, add up to
	// Score.
	Score float64
	Cover float64
	Parts map[string]float64
}

// A Ledger has one row for every message that a turn considered, in the order of
// Position, followed by one for each further message that its tools returned.
type Ledger []LedgerRow

// Usage is what a model call used, in tokens as the provider reports them.
type Usage struct {
	Input      int // tokens not read from the cache
	Output     int
	CacheRead  int
	CacheWrite int
}

// A Turn is one question and its reply as they are stored: what was answered, under
// which policy, and what the turn adds to its conversation. The store gives the
// Number, which counts a conversation's turns from 0.
type Turn struct {
	Number   int
	Answer   Answer
	Policy   string
	Hash     string // of the prompt: hex SHA-256, see context.md §7
	Cursor   int64
	Epoch    int
	Shown    []ShownRevision
	Attached []AttachedFile
	Names    []SessionName  // of people whom this turn named first in its epoch
	Form     string         // of the session's text: the policy's frame; "" in turns recorded before there was a choice
	Zone     string         // of the times in the session; the same for a whole epoch
	Session  []SessionEntry // what this turn appends to the session
	Ledger   Ledger
	Usage    Usage
	Time     Time // when it was committed
	// Sum tells this reply from another one, such as its hash. CommitDraft keeps it with
	// the draft, so that a repeat can be told from another reply; nothing else does.
	Sum string
	// Metadata is merged into the conversation's when the turn is committed, as
	// MergeMetadata does. If that would break a bound, none of it is merged. It is not
	// read back.
	Metadata map[string]*string
}

// Reply returns the reply as the session has it, "" where there is none. It is all
// that is known of a reply that a caller of the sidecar has posted without saying
// what it became.
func (t Turn) Reply() string {
	if len(t.Session) == 0 || t.Session[len(t.Session)-1].Role != Assistant {
		return ""
	}
	return t.Session[len(t.Session)-1].Text
}

// Turns stores each turn with its ledger.
type Turns interface {
	// CommitTurn records a turn that succeeded: its answer, cursor, epoch, manifest,
	// session and ledger, in one transaction. Session, manifest and ledger are
	// appended, never copied. It returns the turn's number, which is also given to
	// what the turn attached. A zero Time becomes the store's. A greater epoch begins
	// the next one, with an empty session and manifest. If something that the turn
	// shows is deleted by then, its session and names are not stored and the next
	// epoch begins. ErrConflict when this agent has answered the anchor already in
	// this scope, or the epoch is older than the conversation's; ErrNotFound when
	// there is no such conversation.
	CommitTurn(ctx context.Context, id ConversationID, t Turn) (int, error)
	// AddReply records that a reply, which has replies have so far, became one more
	// message: the message is put to the turn's replies and to what its epoch has shown.
	// ErrConflict when the turn has other replies by then, and when the message is
	// deleted or the epoch has shown it. ErrNotFound when there is no such turn, or no
	// message id.
	AddReply(ctx context.Context, id ConversationID, number int, have []MessageID, reply ShownRevision) error
	// Turns returns the newest limit turns (0: all), oldest first, without session
	// and ledger.
	Turns(ctx context.Context, id ConversationID, limit int) ([]Turn, error)
	// Turn returns one turn with everything, or ErrNotFound.
	Turn(ctx context.Context, id ConversationID, number int) (Turn, error)
}
