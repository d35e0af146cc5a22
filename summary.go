package earshot

import (
	"context"
	"time"
)

// ByDigest is [Summary.By] of a summary that was made without a model.
const ByDigest = "digest"

// A Summary is a rolling summary of a conversation's older turns. It covers the
// first Turns turns and what was said around them, from From to To; a zero bound
// is open. The messages themselves are kept.
type Summary struct {
	Text  string
	From  Time
	To    Time
	Turns int
	By    string // the model that wrote it, or ByDigest
}

// A SummaryClaim is the right to summarise one conversation, until another owner
// claims it after Until.
type SummaryClaim struct {
	Lease
	Before Summary // the summary that the next one continues; zero when there is none
	Turns  int     // how many turns the conversation has
	Next   int     // how many turns the next summary is to cover, those of Before included: the older half of the rest
}

// Summaries keep one rolling summary of each conversation. What is to be
// summarised follows from the turns that are stored: there is no list of tasks
// that could lose one, and what a dropped summary covered is due again.
//
// A summary is dropped, in the transaction of the deletion, when a message that it
// was made of is deleted, whether or not a prompt ever showed the message. The
// epochs that may have read the summary, or one that it continues, end, and their
// texts are erased as [Queue] says.
type Summaries interface {
	// ClaimSummary takes the right to summarise one of the agent's conversations
	// that nobody holds at now: of those with more than over turns after their
	// summary, the one with the most. Long turns count as several: one for each
	// 2,000 bytes that a turn added to its session. Only one owner at a time holds a
	// conversation. This is independent of the lease of [Queue]: turns go on
	// meanwhile. ErrNotFound when nothing is due.
	ClaimSummary(ctx context.Context, agent AgentID, owner string, over int, now Time, hold time.Duration) (SummaryClaim, error)
	// PutSummary stores the summary that continues c.Before and gives the claim
	// back. of are the messages whose text it was made of, besides those of
	// c.Before. ErrFenced when the claim was given back or taken over. ErrConflict
	// when one of the messages is deleted, or c.Before was dropped; then nothing
	// changes and c is still held. ErrInvalid when the text is blank, when s.Turns
	// is not above c.Before.Turns or is above the number of turns, or when To is
	// before From.
	PutSummary(ctx context.Context, c SummaryClaim, s Summary, of ...MessageID) error
	// ReleaseSummary gives the claim back without a summary. Nobody can claim the
	// conversation before notBefore (zero: at once), which must be less than half an
	// hour ahead. A claim that was given back or taken over is no error.
	ReleaseSummary(ctx context.Context, c SummaryClaim, notBefore Time) error
	// Summary returns a conversation's summary, or ErrNotFound.
	Summary(ctx context.Context, id ConversationID) (Summary, error)
}
