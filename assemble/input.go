package assemble

import (
	"slices"

	"github.com/earshot-ai/earshot"
)

// An Input is all that a prompt is made of; [Turn] reads nothing else and
// changes nothing in it. Identity, Channel, Anchor, Messages and Counter are
// required.
type Input struct {
	// Policy says what the prompt shows; the zero Policy means [Standard].
	Policy Policy
	// Budget bounds it; the zero Budget means [DefaultBudget].
	Budget Budget
	// Counter counts tokens as the model does.
	Counter Counter
	// Instructions is the operator's own system text; it is never cut.
	Instructions string
	// Identity is the agent: which messages are its own, and who is mentioned.
	Identity earshot.Identity
	// Channel is where the messages were said. All of them are of this channel.
	Channel earshot.Channel
	// Anchor is the id of the message to answer, one of Messages. Messages after
	// it change nothing in the result but the ledger; see AskedBy for the exception.
	Anchor earshot.MessageID
	// Messages are in any order. Of several copies of one message the newest
	// revision counts; deleted ones are given too, with Deleted set, so that a
	// session that shows one can end.
	Messages []earshot.Message
	// Conversation is what the turns before this one left behind.
	Conversation ConversationState
	// Attach lists files to attach besides those that the policy attaches by
	// itself. A file that is not attached has a note that says why.
	Attach []earshot.ArtifactID
	// FileTokens is what the model is charged for a file. Without it an estimate
	// by type and size is made.
	FileTokens map[earshot.ArtifactID]int
	// Stored counts what is known and was not loaded into Messages, so that the
	// prompt can say how much it does not show.
	Stored []StoredCount
	// Coverage says which stretches of the history are missing or stale. Nothing
	// is said of the rest.
	Coverage []earshot.Coverage
	// Zone is the IANA name of the time zone of all times in the prompt; "" means
	// UTC. The caller keeps it the same through an epoch.
	Zone string
	// AskerZone is the IANA name of the time zone of who asks, where that is another
	// one: the log form writes the question's date and time in it. "" means Zone.
	AskerZone string
	// AskedBy is who asks, where that is not the anchor's author: somebody who gave the
	// anchor an emoji that asks. The log form says so above the question. Where AskedBy has
	// the time, messages up to then count as those before the anchor do.
	AskedBy EmojiAsker
	// Mentioned are people whom the messages mention by id, who go by these names where
	// they wrote none of them. Somebody who is not here goes by what stands in the mention.
	Mentioned []MentionedPerson
	// Trust says whose words are shown, and how. Who asks, and the agent, are in
	// [earshot.LaneFull] whatever it says.
	Trust earshot.Trust
	// Notices are texts by which the agent says that it has no answer, besides those that
	// Earshot brings along: such messages of its own are left out as those are.
	Notices []string
	// Recalled is what search found for the question; its messages are among
	// Messages. Only the section recall reads it.
	Recalled []RecalledMessage
}

// A MentionedPerson is the name of somebody whom messages mention.
type MentionedPerson struct {
	ID       earshot.AuthorID
	Name     string
	FullName string // "" when unknown
}

// An EmojiAsker is somebody who asks about a message by giving it an emoji. The zero
// EmojiAsker is nobody.
type EmojiAsker struct {
	Emoji string // as [earshot.Reaction.Name]
	ID    earshot.AuthorID
	Name  string       // "" when unknown
	Time  earshot.Time // when the emoji was given; 0 when unknown
}

// End returns up to which position a question's prompt shows messages: the anchor's, or
// for an emoji that was given later, its time.
func (x EmojiAsker) End(anchor earshot.Position) earshot.Position {
	if x.Time > anchor.Time {
		return earshot.Position{Time: x.Time}
	}
	return anchor
}

// A RecalledMessage is a message that search found. Cover and Parts explain the score:
// see [earshot.LedgerRow]. A Cover of 0 is unknown.
type RecalledMessage struct {
	ID    earshot.MessageID
	Score float64
	Cover float64
	Parts map[string]float64
}

// A ConversationState is the state of a conversation before this turn. The zero
// Conversation begins one. [ConversationState.Later] tells a later turn from a first one.
type ConversationState struct {
	// Cursor is the sequence up to which messages were considered:
	// [NextState.Cursor] of the turn before.
	Cursor int64
	// Epoch counts sessions: [NextState.Epoch] of the turn before.
	Epoch int
	// Summary is of turns that Session no longer has; nil for none.
	Summary *earshot.Summary
	// Folded says that what Summary covers is not among Messages: those from its
	// time became known since, and are shown beside it.
	Folded bool
	// Shown lists what the model was shown in this epoch: [NextState.Shown] of its
	// turns, and the agent's replies.
	Shown []earshot.ShownRevision
	// Turns are the recorded turns, oldest first.
	Turns []earshot.Answer
	// Session is what the model has of this epoch, byte for byte.
	Session []earshot.SessionEntry
	// Attached lists the files that it was given: [NextState.Attached] of the turns. In
	// a policy that keeps a session, but without one, they are those of the epoch
	// that ended: the turn gives the conversation's files among them again.
	Attached []earshot.AttachedFile
	// Names are the names that the prompts of this epoch use: [NextState.Names] of the
	// turns.
	Names []earshot.SessionName
	// Form is the frame that Session was written in; "" when that is unknown,
	// which is taken to be the policy's. A session in another frame than the
	// policy's ends its epoch.
	Form Frame
	// Processed is up to when a caller that keeps the session itself has processed the
	// conversation; 0 where the session is kept here.
	Processed earshot.Time
}

// Later reports whether a turn under p is a later turn, which adds to what the model
// has: p keeps a session, and Session is not empty. Where the caller keeps it
// (Processed), it is one under a policy that tells in words what was said since: one
// with the frame [Preamble] and the section [Delta].
func (c ConversationState) Later(p Policy) bool {
	return p.Session && len(c.Session) > 0 || c.elsewhere(p)
}

// elsewhere reports whether a later turn under p adds to a session that the caller
// keeps.
func (c ConversationState) elsewhere(p Policy) bool {
	return p.Session && len(c.Session) == 0 && c.Processed > 0 && p.Frame == Preamble &&
		slices.ContainsFunc(p.Later, func(s Section) bool { return s.Section == Delta })
}

// Parts returns the ids of the recorded answer that a message is a part of, that one
// included, in the order in which they were posted. It is nil where no recorded
// answer of several messages has it.
func (c ConversationState) Parts(id earshot.MessageID) []earshot.MessageID {
	for _, a := range slices.Backward(c.Turns) {
		if len(a.Replies) > 1 && slices.Contains(a.Replies, id) {
			return a.Replies
		}
	}
	return nil
}

// A StoredCount says how much of a thread is stored, or with an empty Thread of the
// channel. Count includes what is in Messages, and the anchor. From and To are
// the times of its first and last message. Where [ConversationState.Processed] makes a
// later turn, all three are of what was said since.
type StoredCount struct {
	Thread earshot.MessageID
	Count  int
	From   earshot.Time
	To     earshot.Time
}

// A Budget bounds a prompt in tokens, as the Counter counts them.
type Budget struct {
	// Tokens is what this turn adds, besides guide, instructions, place, thread
	// root and anchor.
	Tokens int
	// Session is what the session may cost before a new epoch starts.
	Session int
	// Limit is what everything may cost together. Where the parts that are never
	// cut cost more, the error is [ErrBudgetTooSmall].
	Limit int
}

// DefaultBudget is 8,000 tokens a turn, four times that a session, and a limit
// of 200,000.
func DefaultBudget() Budget { return Budget{Tokens: 8000, Session: 32000, Limit: 200000} }

// A Counter counts tokens as one model does; package tokens makes them. Turn
// calls it with single lines and short texts. It must be deterministic, and safe
// for concurrent use where Turn is called concurrently.
type Counter interface {
	// Name is what the result reports, such as "o200k" or "o200k*1.15".
	Name() string
	// Count returns the tokens of s.
	Count(s string) int
	// Prefix returns the length in bytes of a prefix of s that has at most max
	// tokens and is nearly as long as that allows. It need not end on a
	// grapheme boundary.
	Prefix(s string, max int) int
	// Stored converts n, the o200k count that a store keeps of a text
	// ([earshot.Message.Tokens]), to what Count would return for it; ok is false
	// where that is impossible.
	Stored(n int) (count int, ok bool)
}
