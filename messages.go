package earshot

import (
	"context"
	"iter"
)

// A ChannelPart is the stretch of a channel that a read looks at.
type ChannelPart struct {
	kind   partKind
	thread MessageID
}

type partKind int8

const (
	partAll partKind = iota
	partTop
	partThread
)

// Whole is all of a channel: roots and replies. It is the zero Part.
func Whole() ChannelPart { return ChannelPart{} }

// TopLevel is a channel without the replies in its threads.
func TopLevel() ChannelPart { return ChannelPart{kind: partTop} }

// ThreadOf is one thread: its root and the replies. An empty root means the top
// level.
func ThreadOf(root MessageID) ChannelPart {
	if root == "" {
		return TopLevel()
	}
	return ChannelPart{partThread, root}
}

// IsWhole, IsTopLevel and Thread tell a store which part is meant. Thread
// returns "" unless the part is a thread.
func (p ChannelPart) IsWhole() bool     { return p.kind == partAll }
func (p ChannelPart) IsTopLevel() bool  { return p.kind == partTop }
func (p ChannelPart) Thread() MessageID { return p.thread }

// A Change says what Record did with a message.
type Change string

// The changes. Same means that nothing was written and no sequence was given:
// recording again what is known changes nothing.
const (
	New     Change = "new"
	Edited  Change = "edited"  // a newer revision; the older one is kept as history
	Updated Change = "updated" // the same revision with more: reactions, files, a mention list
	Gone    Change = "gone"    // a tombstone was set
	Late    Change = "late"    // an older revision than the stored one; kept as history only
	Same    Change = "same"    // also for anything about a message that is deleted
	// Other is of Tell alone: the stored revision has another text, and nothing was written.
	Other Change = "conflict"
)

// A RecordResult is the outcome for one message, in the order given to Record.
type RecordResult struct {
	ID     MessageID
	Change Change
	Seq    int64 // the message's sequence now
}

// A ChannelInfo is a channel and how much of it is stored. Deleted messages are
// not counted.
type ChannelInfo struct {
	Channel
	Messages int
	Threads  int // roots with at least one reply
	First    Time
	Last     Time
}

// A Count is how much of a part is stored at or before a position, without
// deleted messages. From and To are the first and the last time; zero when Count
// is 0.
type Count struct {
	Count int
	From  Time
	To    Time
}

// Terms are a message's search terms as package search made them, with what
// ranking needs. An index removes a message whose Deleted is set.
type Terms struct {
	ID      MessageID
	Seq     int64
	Time    Time
	Author  AuthorID
	Name    string // the author's name, as the message has it
	Thread  MessageID
	ReplyTo MessageID
	Deleted bool
	System  bool     // the author's kind is System: joins, renames and the like
	Terms   []string // of the text, one entry for each occurrence
	Quoted  []Quote  // of what the message shares, in its order
}

// A Quote is a stretch of a message that somebody else said. Search finds it
// under its own author, not under the author of the message. Author and Name are
// "" when unknown. An app can attribute a quote to anybody, so a quote by an app
// has no Author; if it has no Name either, its words are among the message's
// Terms.
type Quote struct {
	Author AuthorID
	Name   string
	Terms  []string
}

// Messages stores what was said. A message is identified by (platform, workspace,
// channel, id) and stored once. The newest revision wins by edit time, not by
// arrival, and a deleted message never comes back.
type Messages interface {
	// PutChannel stores a channel or replaces what is known of it. With an AsOf it is
	// news of some of the channel: what is empty says nothing, of two values told at
	// different times the later stands, and at the same time the greater. News from
	// before the channel was erased is ignored. Without an AsOf nothing says which is
	// newer: the last to arrive stands, until something is told later than what was
	// told before it. That a channel is shared holds until it is put without an AsOf.
	PutChannel(ctx context.Context, c Channel) error
	// Channel returns what is known of one channel, or ErrNotFound.
	Channel(ctx context.Context, s Scope) (Channel, error)
	// Channels lists the stored channels by platform, workspace, name and id.
	Channels(ctx context.Context) ([]ChannelInfo, error)
	// FindChannels lists those that a query selects, in the same order.
	FindChannels(ctx context.Context, q ChannelQuery) ([]ChannelInfo, error)
	// PutAuthors stores names, kinds and zones of a workspace's authors. An author with
	// an AsOf is a whole profile: the later one stands, and at the same time the
	// greater. Without one the last to arrive stands, and an empty FullName, Zone
	// or Standing leaves the stored value as it is.
	PutAuthors(ctx context.Context, p Platform, w WorkspaceID, authors ...Author) error
	// Authors lists a workspace's authors by id: those named, or all when none is
	// named.
	Authors(ctx context.Context, p Platform, w WorkspaceID, ids ...AuthorID) ([]Author, error)

	// Record stores messages in one transaction: new ones, newer revisions, and
	// tombstones (Deleted set), which are kept even for messages that were never
	// seen. The channel need not exist. ErrInvalid, naming the message, when one has
	// no id, no time (a tombstone may lack it), an id of more than 512 bytes or metadata
	// over their bounds; then nothing is stored. An invalid id of somebody who is quoted is stored as none,
	// because others than the message's author may have written it.
	//
	// Each change gets the channel's next sequence. Four kinds of change are no news
	// and keep the old one, as Updated: what the platform said about a root's thread
	// (Replies), so that a root does not become news with every reply, an author's full
	// name, Metadata, and that a list was told again later (AsOf). Late gives no sequence
	// either.
	//
	// The order of arrival affects sequences and nothing else:
	//   - Of copies of one revision, the copy with the greater text wins whole. If
	//     the texts are equal, a known time, author, thread or reply reference wins
	//     over an unknown one, and of two known ones the greater.
	//   - Mentions, files and what is shared can change without a revision: link
	//     previews arrive after their message and without an edit. Of two lists of one
	//     revision and text the one told later (AsOf) wins, at the same time the
	//     greater. A list without a time wins when it arrives, since nothing says which
	//     is newer. A nil list says nothing. A newer revision brings its own lists.
	//   - Reactions belong to no revision. Of what copies tell of them the last to
	//     arrive counts; nil says nothing, []Reaction{} that there are none. Persons
	//     who are known (see React) stay: whom Reactors.List names is one of them, and
	//     the told count is a floor for those whom nobody names. A person who is known
	//     and not among all whom a copy names has taken the emoji back, if that copy
	//     was asked for later (Reactors.AsOf) than they gave it.
	//   - Metadata belong to no revision either, and are replaced whole: of what copies
	//     bring the last to arrive counts. Nil says nothing, so an edit leaves them; an
	//     empty map removes them.
	//   - A Subject belongs to no revision. It is replaced whole, by one that was told
	//     later; of two of which nothing says when the last to arrive stands, and nil says
	//     nothing. It is news.
	//   - Of one author's full names the greater stays.
	//   - Of Replies the greater count and the later last reply stay, whatever the
	//     revision; a count of 0 says nothing.
	//   - A tombstone keeps only id and time.
	//
	// Text is normalised: NUL becomes U+2400, broken UTF-8 U+FFFD. A thread that is
	// the message's own id is stored as none. Token counts and search terms are
	// computed here. Seq, Tokens, the author's Zone and Replies.LastHour are not
	// taken from the caller.
	Record(ctx context.Context, s Scope, messages ...Message) ([]RecordResult, error)

	// Tell is Record for somebody who tells of a revision once, so that another text
	// for it is a mistake and not a copy: a message with the edit time of the stored
	// revision and another text is Other. Names within mentions are no other text.
	Tell(ctx context.Context, s Scope, messages ...Message) ([]RecordResult, error)

	// React records that somebody gave an emoji to a message, or took it back, in one
	// atomic step. The persons are a set for each message and emoji: told again, under
	// whatever delivery, at another replica or in another order, the same ends in the
	// same state, and the counts in Message.Reactions follow.
	//
	// The change is Updated where a count changed, else Same, as for a tombstone and
	// for somebody whom an erasure has silenced. A reaction to a message that is not
	// stored is kept until the message is, or PruneEvents removes it; its Seq is 0.
	// ErrNotFound when nothing is stored of the channel, ErrInvalid when x names no
	// message, no emoji (but with All), or no time.
	React(ctx context.Context, s Scope, x ReactionEvent) (RecordResult, error)
	// Reactors returns who is known to have given the emojis of messages and since when,
	// by emoji and id. Messages of which nobody is known are absent.
	Reactors(ctx context.Context, s Scope, ids ...MessageID) (map[MessageID][]Reactor, error)

	// Message returns one message, which may be a tombstone. ErrNotFound when it is
	// unknown.
	Message(ctx context.Context, s Scope, id MessageID) (Message, error)
	// ByID returns those of the ids that are stored, tombstones included, in the
	// order of Position.
	ByID(ctx context.Context, s Scope, ids ...MessageID) ([]Message, error)
	// Newest returns the newest limit messages of a part at or before upTo (a zero
	// Position: no bound), in the order of Position, without deleted ones. The root
	// counts as a message of its thread. This is an index read: its cost does not
	// depend on how many messages are stored.
	Newest(ctx context.Context, s Scope, part ChannelPart, upTo Position, limit int) ([]Message, error)
	// Range reads a part between two positions, both inclusive, a zero one meaning
	// open, in the order of Position, without deleted messages.
	Range(ctx context.Context, s Scope, part ChannelPart, from, to Position) iter.Seq2[Message, error]
	// Since returns what became known after seq, tombstones included, in the order
	// of Seq, at most limit messages (0: no limit).
	Since(ctx context.Context, s Scope, seq int64, limit int) ([]Message, error)
	// Replying returns the messages whose reply reference is one of ids, at or
	// before upTo, in the order of Position, without deleted ones.
	Replying(ctx context.Context, s Scope, upTo Position, ids ...MessageID) ([]Message, error)
	// Revisions returns the stored revisions of a message, oldest first, the current
	// one last. Of a deleted message only the tombstone is left.
	Revisions(ctx context.Context, s Scope, id MessageID) ([]Message, error)
	// Activity returns how many replies each root has at or before upTo; roots
	// without replies are absent. It takes the stored replies, or the platform's
	// count (Message.Replies) where that is greater. The platform's count has one
	// time, that of the last reply: it is used when that lies at or before upTo's
	// time, and when there is no upTo. LastHour counts stored replies in the hour
	// up to upTo, both ends included; it is 0 without an upTo. Count looks at stored
	// messages only.
	Activity(ctx context.Context, s Scope, upTo Position, roots ...MessageID) (map[MessageID]Activity, error)
	// Count counts a part at or before upTo. If upTo is near the newest message, the
	// cost does not depend on how many are stored.
	Count(ctx context.Context, s Scope, part ChannelPart, upTo Position) (Count, error)

	// PutCoverage records what is known of several stretches in one transaction.
	// Each replaces the entry with the same thread, from and to; one without a State
	// removes it.
	PutCoverage(ctx context.Context, s Scope, list ...Coverage) error
	// Coverage lists the entries by thread, from and to.
	Coverage(ctx context.Context, s Scope) ([]Coverage, error)
	// Covered lists the channels, by platform, workspace and id, that have an entry for
	// the channel itself that is known, has no To, and has this Why.
	Covered(ctx context.Context, why string) ([]Scope, error)

	// Terms reads the search terms of what became known after seq, in the order of
	// Seq.
	Terms(ctx context.Context, s Scope, seq int64) iter.Seq2[Terms, error]
}
