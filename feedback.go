package earshot

import "context"

// FeedbackBytes bounds the Reason of a Feedback.
const FeedbackBytes = 4 << 10

// A Feedback is what a person thinks of an answer.
type Feedback struct {
	Turn         TurnID
	Conversation ConversationID // of the turn; not looked at by PutFeedback
	Author       AuthorID
	Good         bool
	Reason       string // in the person's words; ""
	Time         Time   // by the caller's clock
}

// A FeedbackQuery selects feedback, by falling turn, and of one turn by author.
type FeedbackQuery struct {
	Agent  AgentID // "": all
	Scope  *Scope  // nil: all
	Turn   TurnID  // 0: all
	Good   *bool   // nil: both
	Before TurnID  // only of turns with a lower id; 0: from the newest
	Limit  int     // 0: 50
}

// A FeedbackStore keeps what people think of answers: one Feedback of a person for a turn.
// It is erased with the person, and its Reason with the journal of the turn.
type FeedbackStore interface {
	// PutFeedback stores f in place of what the person thought of the turn before. An empty
	// Reason leaves a stored one where Good is the same. ErrNotFound when there is no such
	// turn.
	PutFeedback(ctx context.Context, f Feedback) error
	// RemoveFeedback removes what a person thinks of a turn. It is no error where that is
	// nothing.
	RemoveFeedback(ctx context.Context, id TurnID, by AuthorID) error
	// Feedback lists feedback in the order of q.
	Feedback(ctx context.Context, q FeedbackQuery) ([]Feedback, error)
}
