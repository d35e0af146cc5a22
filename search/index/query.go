package index

import (
	"time"

	"github.com/earshot-ai/earshot"
)

// A Query asks an index for messages. All of its conditions must hold.
//
// Of a query of one or two words, stop words aside, every hit has one of them.
// A longer one is a question, whose answer may be found by what stands next to
// it.
type Query struct {
	// Text is what is looked for, in words. A part in double quotes counts
	// more where it occurs as it stands. A message's id finds the message.
	// Text without any term finds the newest messages.
	Text string
	// Context is what Text is asked under, such as the root of its thread. Its
	// words count less.
	Context string
	// At is the moment that the query is asked at: recency is measured from it,
	// and words such as "yesterday" mean days before it. Zero: neither counts.
	At earshot.Time
	// Zone is where days begin at midnight for who asks; nil means UTC.
	Zone *time.Location
	// Before admits what stands at or before it; zero: everything. Without an
	// ID it admits all of its time.
	Before earshot.Position
	// Since admits what was said at or after it.
	Since earshot.Time
	// Authors and Names admit what they said, also where a message of somebody
	// else quotes it; both empty: everyone. Of a message only the words count
	// that one of them said. A name, as [Name] compares it, finds quotes only:
	// who said a message itself is known by id.
	Authors []earshot.AuthorID
	Names   []string
	// Exclude leaves messages out: they are no hits and lend no words.
	Exclude []earshot.MessageID
	// Limit is how many hits are wanted; 0 means 8.
	Limit int
}

// A Hit is a message that was found.
type Hit struct {
	ID    earshot.MessageID
	Time  earshot.Time
	Score float64 // the sum of Parts
	Parts []Part  // what it is made of; parts of 0 are left out
	// Cover is the share of the weight of Query.Text's words that the message
	// has, 0 to 1: one that its author's name has counts too, and one that is
	// lent to it or that only kin stands for in part. Words that no message has
	// count as the rarest. Of a query of one or two words, those of its context
	// count as the text's.
	Cover float64
	// Near are the messages that belong to it, the nearest first: what it
	// replies to, replies to it, those before and after it in its thread or run
	// of talk, four each way of the best hits and one of others. At most
	// twelve, none from behind Query.Before.
	Near []earshot.MessageID
}

// A Part is one reason of a hit's score.
type Part struct {
	Name  string
	Value float64
}

// The names of the parts, in their order. Words is the BM25 of the words that
// the message itself has; a message without any is found by what stands next
// to it.
const (
	PartWords    = "words"
	PartAuthor   = "author"   // the query names who said it
	PartNear     = "near"     // words of what stands next to it
	PartTime     = "time"     // the query names when
	PartNumber   = "number"   // the query asks how many or when, and it has a number
	PartRecency  = "recency"  // little was said since
	PartPhrase   = "phrase"   // words together as in the query
	PartExact    = "exact"    // ids, addresses and the like
	PartActivity = "activity" // replies
	PartTalk     = "talk"     // something next to it is found too
	PartID       = "id"       // it is asked for by its id: above all others
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
	partID
	allParts
)

var partNames = [allParts]string{
	PartWords, PartAuthor, PartNear, PartTime, PartNumber, PartRecency, PartPhrase, PartExact, PartActivity, PartTalk, PartID,
}

// idScore is what a message's id counts.
const idScore = 1000

// Bounds of a query's work, whatever its text.
const (
	defaultLimit  = 8
	maxQuery      = 16 << 10 // bytes of its text that are read, and of its context
	maxQueryTerms = 40       // the rarest are looked for
	maxForms      = 255      // terms that stand for them, themselves included
	maxPairs      = 64       // the first neighbours; they fit the bits of a word
	maxPhrases    = 8        // quoted
	maxPhrase     = 16       // terms of a quoted phrase; a longer one is cut
	maxPlace      = 2048     // terms of a message that are looked through for phrases
	minQuestion   = 3        // words of a query whose answer may have none of them
	minKeep       = 128      // candidates that are looked at closely, at least
)
