// Package links guesses who answers whom in talk that carries no reply
// references, such as a busy channel on IRC or a flat Slack channel.
//
// A [Linker] takes messages in the order in which they were said. For each it
// weighs the earlier ones, and the case that it starts a conversation, by a sum
// of weights: whom it names, how far back the other message is, who talks with
// whom, what was asked, which rare words are shared. What a message answers is
// decided from what was said before it, so that a guess never changes when more
// is said.
//
//	l := links.New()
//	for i := range messages {
//		guess := l.Next(&messages[i])
//		…
//	}
//
// Reading order: links.go, said.go (what is known of a message), features.go
// (what is weighed), weights.go (how much; made by train_test.go). The weights
// and what they bring: docs/decisions/082-links.md.
package links

import (
	"math"

	"github.com/earshot-ai/earshot"
)

// Reach is how many messages of talk before a message are weighed.
const Reach = 60

// Ranks is how many parents a guess names at most.
const Ranks = 3

// None is a message that nothing precedes.
const None = -1

// A Guess is what a message seems to answer. Messages are numbered from 0 in
// the order in which the Linker got them.
type Guess struct {
	// Parent is the number of the message that it answers, or None where it
	// starts a conversation.
	Parent int
	// Ranked holds the likeliest parents, best first, the start of a
	// conversation left out; None fills what there is not.
	Ranked [Ranks]int
}

// A Linker guesses the parent of each message from those before it. It is not
// safe for concurrent use.
type Linker struct {
	said   []said
	count  int // messages it got, notes of the platform's too
	people people
	words  words
	pairs  map[pair]int32 // when two last spoke to each other, by number in said
	talks  []talk         // conversations as guessed
	named  int            // of the last hundred messages those that begin with a name

	features []feature // of the candidate that is weighed
	score    [Reach + 1]int32
}

// New returns a Linker that has heard nothing.
func New() *Linker {
	return &Linker{people: newPeople(), words: newWords(), pairs: map[pair]int32{}}
}

// Next takes the next message and returns what it seems to answer. Notes of
// the platform's (kind system) answer nothing and are answered by nobody.
func (l *Linker) Next(m *earshot.Message) Guess {
	if m.Author.Kind == earshot.System {
		l.note(m)
		return Guess{None, [Ranks]int{None, None, None}}
	}
	q := l.read(m)
	for c := 0; c <= l.reach(); c++ {
		if c > near && l.strange(&q, c) {
			l.score[c] = hopeless
			continue
		}
		l.score[c] = l.sum(l.weigh(&q, c))
	}
	guess, parent := l.best()
	l.settle(q, parent)
	return guess
}

// Of what is further back than near only that is weighed which has to do with
// the message.
const (
	near     = 25
	hopeless = math.MinInt32
)

// strange reports whether the message c back names nobody, is not named, is
// another author's, and shares no rare word.
func (l *Linker) strange(q *said, c int) bool {
	return l.words.shared[c] == 0 && side(q, &l.said[len(l.said)-c]) == 0
}

// reach is how many earlier messages can be weighed. Candidate 0 is the start
// of a conversation, candidate n the n-th message back.
func (l *Linker) reach() int { return min(len(l.said), Reach) }

// sum is the score of a candidate. Whole numbers add up to the same on every
// machine.
func (l *Linker) sum(features []feature) int32 {
	var n int32
	for _, f := range features {
		n += int32(weights[f])
	}
	return n
}

// best turns scores into a guess; of equal ones the nearer message wins.
// parent is the number of the parent in l.said, or None.
func (l *Linker) best() (guess Guess, parent int) {
	top := [Ranks]int{}
	for c := 1; c <= l.reach(); c++ {
		at := Ranks
		for at > 0 && (top[at-1] == 0 || l.score[c] > l.score[top[at-1]]) {
			at--
		}
		if at < Ranks {
			copy(top[at+1:], top[at:])
			top[at] = c
		}
	}
	guess = Guess{Parent: None, Ranked: [Ranks]int{None, None, None}}
	for i, c := range top {
		if c > 0 {
			guess.Ranked[i] = l.said[len(l.said)-c].number
		}
	}
	if top[0] == 0 || l.score[0] >= l.score[top[0]] {
		return guess, None
	}
	guess.Parent = guess.Ranked[0]
	return guess, len(l.said) - top[0]
}

// note takes a message that is no talk.
func (l *Linker) note(m *earshot.Message) {
	l.people.meet(m.Text)
	l.count++
}
