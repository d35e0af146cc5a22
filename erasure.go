package earshot

import "context"

// An ErasureID identifies an erasure in its store. Ids rise in the order in which
// erasures begin.
type ErasureID int64

// An ErasureOf says what is to be erased of one workspace: one person's messages
// (User, in all channels or in Channel), a whole channel (Channel alone), some
// messages of it (Channel and Messages), or what was said in it before a time
// (Channel and Before), as retention asks for.
type ErasureOf struct {
	Platform  Platform
	Workspace WorkspaceID
	Channel   ChannelID
	User      AuthorID
	Messages  []MessageID
	Before    Time
	// Forget, with User: what the person says from now on is not recorded either,
	// until Remember.
	Forget bool
}

// ErasureCounts counts what an erasure removes, or has removed. It holds no
// content.
type ErasureCounts struct {
	Messages  int // revisions are not counted
	Revisions int // older revisions of messages
	Events    int // deliveries that lost their bytes
	Sessions  int // epochs of conversations that ended
	Turns     int // turns whose input, journal or posts lost their text
	Replies   int // of the agents, because they quote; counted in Messages too
	Summaries int
	Files     int // blobs
	Names     int // authors whose names are stored no more
}

// An Erasure is one that was begun, with what it has removed so far. Its record
// stays, as the audit: it holds ids and counts, and nothing that anyone wrote.
type Erasure struct {
	ID      ErasureID
	Of      ErasureOf
	Begun   Time
	Ended   Time // 0 while it is under way
	Removed ErasureCounts
}

// ErasedBefore is [Coverage.Why] of the history that an erasure by Before removed:
// it is missing for good, so nobody should try to load it.
const ErasedBefore = "erased"

// Erasures remove what is stored, everywhere where it is stored: messages with
// their revisions, raw events, sessions, manifests' names, inputs, journals, posts,
// summaries, files, search terms, mention labels and quotes in other messages,
// metadata, the agents' replies that quote what is erased, and the names of people
// who have no message left in the workspace.
//
// An erasure is a job of short steps, so that events are stored between them. Its
// progress is written in each step's transaction: a process that dies loses
// nothing, and whoever calls StepErasure next goes on, also several at once.
// Tombstones of bare ids stay, so that neither a redelivery nor a backfill brings
// anything back.
//
// Of a person everything goes that they said until the erasure began, also what was
// not stored: it is recorded as a tombstone if it arrives later, and others'
// messages lose their words and the labels of their mentions when they arrive again.
// PutAuthors stores no name of them until they say something new. In the channel of
// a direct message with them the agents' conversations and all messages go. Of a
// channel everything goes that was said in it until the erasure began, with the
// agents' conversations, and the channel's name, topic and purpose.
//
// An erasure by Before makes the time the channel's floor. Record takes no message
// from before the floor (its Change is Same, its Seq 0), and Accept opens no turn for
// one. Coverage says that the history before it is Missing, with ErasedBefore as the
// reason. Its tombstones are removed by the next erasure by Before of the channel,
// because search indexes learn from them what is gone.
//
// A reply quotes a message if it shares with it three or more words in a row that
// have twelve letters together, or one word of ten letters, or of four with a digit.
// A word does not count if it stands in another message that the conversation was
// shown and that stays, such as the question. Names of files, quoted messages and
// older revisions are a message's words too. A deletion that the platform tells of
// removes replies in the same way.
type Erasures interface {
	// PlanErasure counts what an erasure would remove, and removes nothing. Of an
	// erasure that takes longer than half a second the counts are lower bounds:
	// Messages has all that of names, but may lack replies that quote it and, for a
	// person, what others said in direct messages. ErrNotFound when nothing is stored of the person, the channel or one of
	// the messages; ErrInvalid when of names none or several of the four kinds.
	PlanErasure(ctx context.Context, of ErasureOf) (ErasureCounts, error)
	// BeginErasure stores an erasure, whose steps remain to be done. From then on
	// what it names cannot be recorded again. Beginning what is under way already
	// returns the one that is. ErrInvalid as PlanErasure; an unknown person or
	// channel is no error.
	BeginErasure(ctx context.Context, of ErasureOf) (Erasure, error)
	// StepErasure does the next step, some five milliseconds of work in one
	// transaction. After the last one Ended is set; a further call changes
	// nothing. ErrNotFound when there is no such erasure.
	StepErasure(ctx context.Context, id ErasureID) (Erasure, error)
	// Erasure returns one that was begun; ErrNotFound when there is none, or its record
	// is kept no more (see ErasureLog).
	Erasure(ctx context.Context, id ErasureID) (Erasure, error)
	// ErasureLog returns the newest limit erasures (0: all), newest first; with
	// open only those that have not ended. Of a channel's erasures by Before the last
	// is kept: retention makes one a day.
	ErasureLog(ctx context.Context, open bool, limit int) ([]Erasure, error)
	// Remember has a person's messages recorded again after an erasure with Forget:
	// those that they say from now on. A person who was not forgotten is no error.
	Remember(ctx context.Context, p Platform, w WorkspaceID, user AuthorID) error
}
