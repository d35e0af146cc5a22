package index

import (
	"time"

	"github.com/earshot-ai/earshot"
)

// A Query says what is looked for. Every hit meets all of its conditions.
//
// With a text of one or two words, stop words aside, every hit has one of them. A
// longer text is taken for a question: a message may be a hit because its
// neighbours have the words.
type Query struct {
	// Text is what is looked for, in words. A part in double quotes counts more
	// where a message has it literally. A message's id finds the message. A text
	// without any term finds the newest messages. At most 16 KiB are read.
	Text string
	// Context is what Text was said in reply to, such as the root of its thread;
	// "" for none. Its words count less.
	Context string
	// Asker is who asks, by ID and Name; zero where that is not known. Where Text
	// speaks of "me", in a language that has stop words, the name is a word of it,
	// the ID where there is no name.
	Asker earshot.Author
	// Similar are messages whose meaning is like the query's, as an encoder has it, the
	// most alike first. Each that the conditions admit is a hit, whatever its words.
	Similar []earshot.MessageID
	// At is when the query is asked: recency is measured from it, and a word such
	// as "yesterday" means the day before it. Zero means that neither counts.
	At earshot.Time
	// Zone is the time zone of whoever asks, in which days begin; nil means UTC.
	Zone *time.Location
	// Before admits messages at or before it; zero admits all. Without an ID it
	// admits all messages of its time.
	Before earshot.Position
	// Since admits messages of its time or later; zero admits all.
	Since earshot.Time
	// Authors and Names admit the words of these authors alone, also where somebody
	// else's message quotes them; both empty admit everybody's. An author of
	// messages is named by id in Authors. Names, which are compared as [Name] does,
	// find quotes only, whose authors may be known by name alone.
	Authors []earshot.AuthorID
	Names   []string
	// Exclude leaves messages out: they are no hits, and their words count for no
	// neighbour.
	Exclude []earshot.MessageID
	// Limit is how many hits there are at most; 0 means 8.
	Limit int
}

// A Hit is a message that was found.
type Hit struct {
	ID    earshot.MessageID
	Time  earshot.Time
	Score float64 // the sum of Parts; comparable within one result only
	Parts []Part  // what Score is made of, in the order of the names; parts of 0 are left out
	// Cover is the share of the weight of Query.Text's words that the message has,
	// 0 to 1. Words in its author's name count in full, words of neighbours and
	// synonyms in part. A word that no message has weighs as much as the rarest.
	// With a text of one or two words, the context's words count as the text's.
	Cover float64
	// Near are the message's neighbours, the nearest first: what it replies to,
	// replies to it, and those before and after it in its thread, or at the top
	// level before a pause of an hour; four each way for the three best hits, one
	// each way for others. They are at most twelve, and none stands after
	// Query.Before.
	Near []earshot.MessageID
}

// A Part is one reason of a hit's score.
type Part struct {
	Name  string
	Value float64
}

// The names of the parts, in their order. PartWords is the BM25 score of the words
// that the message itself has; it is absent where only neighbours have them.
const (
	PartWords    = "words"
	PartAuthor   = "author"   // the query names who said it
	PartNear     = "near"     // words of its neighbours
	PartTime     = "time"     // the query names when
	PartNumber   = "number"   // the query asks how many or when, and it has a number
	PartRecency  = "recency"  // few messages since
	PartPhrase   = "phrase"   // words next to each other as in the query
	PartExact    = "exact"    // ids, addresses and the like
	PartActivity = "activity" // replies
	PartTalk     = "talk"     // a neighbour is found too
	PartMeaning  = "meaning"  // an encoder finds it like the query
	PartID       = "id"       // the query has its id; it ranks above all others
)

// The same by number.
const (
	partWords = iota
	partAuthor
	partNear
	partTime
	partNumber
	partRecency
	partPhrase
	partExact
	partActivity
	partTalk
	partMeaning
	partID
	allParts
)

var partNames = [allParts]string{
	PartWords, PartAuthor, PartNear, PartTime, PartNumber, PartRecency, PartPhrase, PartExact, PartActivity, PartTalk, PartMeaning, PartID,
}

// idScore is the score of a message whose id is in the query.
const idScore = 1000

// Bounds of a query's work, whatever its text.
const (
	defaultLimit  = 8
	maxQuery      = 16 << 10 // bytes of its text that are read, and of its context
	maxQueryTerms = 40       // the rarest are looked for
	maxLookups    = 255      // terms that stand for them, themselves included
	maxPairs      = 64       // the first neighbours; they fit the bits of a word
	maxPhrases    = 8        // quoted
	maxPhrase     = 16       // terms of a quoted phrase; a longer one is cut
	maxPlace      = 2048     // terms of a message that are looked through for phrases
	minQuestion   = 3        // words of a query whose answer may have none of them
	minKeep       = 128      // candidates that are looked at closely, at least
)
