package assemble

import "github.com/earshot-ai/earshot"

// An Input is all that a context is made of. Turn reads nothing else and
// changes nothing in it. The zero values of optional fields mean their
// defaults.
type Input struct {
	Policy       Policy // the zero Policy means Standard
	Budget       Budget
	Counter      Counter
	Instructions string // the operator's own system text
	Identity     earshot.Identity
	Channel      earshot.Channel
	Anchor       earshot.MessageID // the id of one of Messages
	Messages     []earshot.Message // in any order, doubles allowed
	Conversation Conversation
	Attach       []earshot.ArtifactID // files opted in for this turn
	Stored       []Stored
	Coverage     []earshot.Coverage
	// Zone is an IANA name: of the times that are shown. "" means UTC. An epoch
	// keeps the zone that it began with, which is the caller's to see to.
	Zone string
	// Recalled is what search found for the question, best first.
	Recalled []Recalled
	// FileTokens is what the model is charged for a file, by its provider's
	// formula; of files that it does not name an estimate by type and size is
	// made.
	FileTokens map[earshot.ArtifactID]int
}

// A Recalled is a message that search found, with its score, and where it is
// known what the score is made of: see [earshot.LedgerRow]. A Cover of 0 is not
// known.
type Recalled struct {
	ID    earshot.MessageID
	Score float64
	Cover float64
	Parts map[string]float64
}

// A Conversation is what is remembered of the turns before this one. A turn is
// a later one when Session is not empty; else it is a first turn.
type Conversation struct {
	Cursor   int64
	Epoch    int
	Summary  *earshot.Summary
	Shown    []earshot.Shown
	Turns    []earshot.Answer
	Session  []earshot.SessionEntry
	Attached []earshot.Attached
	Names    []earshot.Named // of whom this epoch has named
	// Form is the frame in which the session was written; "" when it is not
	// known. A session that was written in another than the policy's ends its
	// epoch.
	Form Frame
}

// A Stored says how much is known that was not loaded into Messages. Count is
// the whole count of the thread (Thread empty: of the channel), those in
// Messages and the anchor included.
type Stored struct {
	Thread earshot.MessageID
	Count  int
	From   earshot.Time
	To     earshot.Time
}

// A Budget bounds a prompt in tokens, by the counter in use.
type Budget struct {
	Tokens  int // what this turn adds, besides guide, instructions, place, thread root and anchor
	Session int // what the session may hold before a new epoch starts
	Limit   int // everything
}

// DefaultBudget is 8,000 tokens a turn, four times that a session, and a model
// limit of 200,000.
func DefaultBudget() Budget { return Budget{Tokens: 8000, Session: 32000, Limit: 200000} }

// A Counter counts tokens as one model does. Package tokens has them.
// It is called with single lines and short texts; it must be deterministic.
type Counter interface {
	// Name is what the result reports, such as "o200k" or "o200k*1.15".
	Name() string
	// Count returns the tokens of s.
	Count(s string) int
	// Prefix returns the length in bytes of a prefix of s that has at most max
	// tokens and is nearly as long as that allows. It need not end on a
	// grapheme boundary.
	Prefix(s string, max int) int
	// Stored returns what Count would of a text of which stores keep the count n
	// ([earshot.Message.Tokens]: o200k), so that counting is arithmetic; ok is
	// false where n does not tell.
	Stored(n int) (count int, ok bool)
}
