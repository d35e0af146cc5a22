package index

// weights is everything that ranking can be told. One set is used everywhere:
// [standard]. What each part brings is in docs/quality.md, measured by
// TestAblation; each was chosen on the development data, for questions as
// people ask them weeks later and for messages that link to older ones.
type weights struct {
	// BM25. Chat's messages are short, and a word that is said twice says little
	// more than once: lower than the 1.2 and 0.75 of documents.
	k1, b float64
	// weak is what a word such as "get" or "find" counts, which a question has
	// besides what it asks for, and kana what a pair of Hiragana counts.
	weak, kana float64
	// kin is how often a word counts as said where only a word that people use
	// for it is (see kin.txt).
	kin float64

	// borrow is what a message has of the words that stand one step away from
	// it; two steps away it is half of that. It reaches that many steps. Long
	// messages lend less: lendB is for them what b is for a message itself.
	borrow float64
	reach  int
	lendB  float64
	// replied is what a message has of the words of what it replies to, and of
	// what replies to it.
	replied float64
	// A query of up to full words borrows; one of none or more does not: it says
	// enough. In between it fades. pair is what a pair of characters of a script
	// without spaces counts as in words.
	full, none, pair float64
	// body is with how many terms a message takes half of what it may borrow:
	// "thanks" is no answer, whatever stands next to it.
	body float64
	// group is what a message takes of the best score next to it.
	group float64

	// name is how often a word counts as said that is in the author's name, and
	// named the factor for what the author of such a name said.
	name, named float64
	// span is the factor for what was said in a time that the query names.
	span float64
	// number is the factor for a message with a number where the query asks how
	// many, how much, when.
	number float64
	// context is what a word of the query's context counts.
	context float64

	// recency raises what is said at the query's moment by itself, and by half
	// of itself what has age messages after it.
	recency, age float64

	// The rest raises a score by up to a share of its own words: phrase for
	// words that are neighbours in both, quoted for phrases in quotes, exact for
	// ids, addresses and the like, activity for replies.
	phrase, quoted, exact, activity float64
}

// standard is tuned on the development data (TestTune).
var standard = weights{
	k1: 0.8, b: 0.1,
	weak: 0.4, kana: 0.6,
	kin:    0.3,
	borrow: 0.2, reach: 4, lendB: 0.7,
	replied: 0.4,
	full:    6, none: 12, pair: 1. / 3,
	body:  2,
	group: 0.2,
	name:  0.6, named: 1.5,
	span:    2,
	number:  1.15,
	context: 0.3,
	recency: 1, age: 2000,
	phrase: 0.1, quoted: 2, exact: 0.25, activity: 0.05,
}
