package index

// weights are the parameters of ranking. One set is used everywhere: [standard].
// docs/quality.md says what each part contributes, measured by TestAblation. They
// were tuned on the development data, for questions as people ask them weeks
// later and for messages that link to older ones.
type weights struct {
	// k1 and b are those of BM25. They are lower than the 1.2 and 0.75 that suit
	// documents: a chat message is short, and a word that it has twice tells
	// little more than one that it has once.
	k1, b float64
	// weak is the factor for words such as "get" or "find", which a question has
	// besides what it asks for. Of a script without spaces kana is the factor for a
	// pair of Hiragana, and mixed that for a pair of two scripts, such as a noun's end
	// and the particle after it.
	weak, kana, mixed float64
	// synonyms is the term frequency of a word in a message that has only a
	// synonym of it (see synonyms.txt).
	synonyms float64

	// borrow is the share of a neighbour's words that a message gets, one step
	// away; two steps away it is half of that, and so on up to reach steps. Long
	// neighbours give less: lendB is for them what b is for a message's own words.
	borrow float64
	reach  int
	lendB  float64
	// replied is that share for a message and a reply to its id, both ways.
	replied float64
	// With a query of up to full words, neighbours' words count in full; with one
	// of none words or more not at all, because it has enough words of its own. In
	// between their share falls linearly. A pair of characters of a script without
	// spaces counts as pair words.
	full, none, pair float64
	// body is the length in terms at which a message gets half of what its
	// neighbours give: "thanks" is no answer, whatever stands next to it.
	body float64
	// group is the share of the best neighbour's score that a message gets.
	group float64

	// name is the term frequency of a word that is in the author's name, and named
	// the factor for the messages of such an author.
	name, named float64
	// span is the factor for messages of a time that the query names.
	span float64
	// number is the factor for a message with a number where the query asks how
	// many, how much, when.
	number float64
	// context is the factor for words of the query's context, and asker that for the
	// asker's name where the query speaks of "me".
	context, asker float64

	// meaning is the share of the best score by words that the message gets whose meaning
	// is most like the query's. The one meaningHalf places behind it gets half of that.
	meaning, meaningHalf float64

	// recency is the share by which the score of the newest message is raised. With
	// age messages after it, a message's score is raised by half of that.
	recency, age float64

	// The rest are shares of the score of a message's own words by which its score
	// is raised at most: phrase for words that are next to each other in both,
	// quoted for phrases in quotes, exact for ids, addresses and the like, activity
	// for replies.
	phrase, quoted, exact, activity float64
}

// standard is tuned on the development data (TestTune).
var standard = weights{
	k1: 0.8, b: 0.1,
	weak: 0.4, kana: 0.6, mixed: 0.5,
	synonyms: 0.3,
	borrow:   0.2, reach: 4, lendB: 0.7,
	replied: 0.4,
	full:    6, none: 12, pair: 1. / 3,
	body:  2,
	group: 0.2,
	name:  0.6, named: 1.5,
	span:    2,
	number:  1.15,
	context: 0.3, asker: 1,
	meaning: 0.5, meaningHalf: 10,
	recency: 0.5, age: 2000,
	phrase: 0.1, quoted: 2, exact: 0.25, activity: 0.05,
}

// ofTerm returns the factor for a term that says less than others.
func (w *weights) ofTerm(t string) float64 {
	factor := 1.0
	if weakWords[t] {
		factor = w.weak
	}
	switch s := scriptsOf(t); {
	case s == hiragana:
		factor *= w.kana
	case s.mixes():
		factor *= w.mixed
	}
	return factor
}
