package earshot

// A Verdict says how much of a message the model sees.
type Verdict string

// The verdicts. Full and Cut count as shown; a Snippet does not.
const (
	Full    Verdict = "full"
	Cut     Verdict = "cut"
	Snippet Verdict = "snippet"
	Out     Verdict = "out"
)

// A LedgerRow explains one candidate message: in which section it stands or
// was considered, how much of it is seen, why, and what it cost.
type LedgerRow struct {
	ID      MessageID
	Section string
	Verdict Verdict
	Reason  string
	Tokens  int
	// Score, Cover and Parts are what search said of a message that it found
	// for the question; zero of others. Cover is the share of the question's
	// weight in words that the message has, 0 to 1. Parts, such as words and
	// recency, add up to Score.
	Score float64
	Cover float64
	Parts map[string]float64
}

// A Ledger has one row for every message that a turn considered, in the order
// of Position, and behind them one for each other message that its tools told
// of.
type Ledger []LedgerRow

// Usage is what a model call cost, in tokens as the provider reports them.
type Usage struct {
	Input      int // tokens read afresh
	Output     int
	CacheRead  int
	CacheWrite int
}

// A Turn is one question and its one reply, as it is stored: what it answered,
// under which policy, and what it moved. The zero-based Number counts a
// conversation's turns in order and is given by the store.
type Turn struct {
	Number   int
	Answer   Answer
	Policy   string
	Hash     string // of the prompt: hex SHA-256, see context.md §7
	Cursor   int64
	Epoch    int
	Shown    []Shown
	Attached []Attached
	Names    []Named        // of whom this turn named first in its epoch
	Form     string         // of the session's text: the policy's frame; "" of a turn recorded before there was a choice
	Zone     string         // of the times that the session shows; an epoch has one
	Session  []SessionEntry // what this turn appends to the session
	Ledger   Ledger
	Usage    Usage
	Time     Time // when it was committed
	// Metadata is merged into the conversation's when the turn is committed, as
	// MergeMetadata does; where that would break a bound, nothing of it is. It
	// is not read back.
	Metadata map[string]*string
}
