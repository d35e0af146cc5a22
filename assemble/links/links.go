// Package links guesses who answers whom where messages have no reply references,
// as in a busy IRC channel or a Slack channel whose people do not use threads.
//
// A [Linker] takes messages in time order. For each it scores the earlier ones as
// parents, and the case that the message starts a conversation. A score is a sum of
// weights: of whom the message names, how far back the other is, who speaks with
// whom, what was asked, which rare words both have. A guess uses only what was said
// before the message, so later messages never change it.
//
//	l := links.New()
//	for i := range messages {
//		guess := l.Next(&messages[i])
//		…
//	}
//
// A message that says itself what it answers is given to [Linker.Follow] instead.
//
// Reading order: links.go, message.go (what is known of a message), features.go
// (what is scored), weights.go (by how much; train_test.go writes it).
// docs/decisions/082-links.md says how good the guesses are.
//
// Unstable: what this package exports may change with any version.
package links

import (
	"cmp"
	"math"
	"slices"

	"github.com/earshot-ai/earshot"
)

// Reach is how many messages before a message are scored as its parent.
const Reach = 60

// Ranks is how many likely parents a guess has at most.
const Ranks = 3

// None is the number of no message.
const None = -1

// A Guess is what a message seems to answer. Messages are numbered from 0 in
// the order in which the Linker got them.
type Guess struct {
	// Parent is the number of the message that it answers, or None where it
	// starts a conversation.
	Parent int
	// Ranked has the likeliest parents, best first, whether or not the message
	// starts a conversation; None where there are fewer.
	Ranked [Ranks]int
}

// A Linker guesses the parent of each message from those before it. It is not
// safe for concurrent use.
type Linker struct {
	messages      []message
	count         int // messages it got, the platform's notes too
	people        peopleIndex
	words         wordIndex
	pairs         map[pair]int32        // when two people last spoke to each other, by index in messages
	conversations []guessedConversation // conversations as guessed
	named         int                   // how many of the last hundred messages begin with a name

	fields   []string  // of the text that is read, without the name that it begins with
	features []feature // of the candidate that is scored
	score    [Reach + 1]int32
}

// New returns a Linker that has no messages.
func New() *Linker {
	return &Linker{people: newPeople(), words: newWords(), pairs: map[pair]int32{}}
}

// Next takes the next message and returns what it seems to answer. The platform's
// notes (kind system) answer nothing, and nothing answers them.
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

// Follow takes the next message where it is known what it answers: the message
// with the number parent, or with None nothing that the Linker got. Later guesses
// then know who spoke with whom.
func (l *Linker) Follow(m *earshot.Message, parent int) {
	if m.Author.Kind == earshot.System {
		l.note(m)
		return
	}
	q := l.read(m)
	at, ok := slices.BinarySearchFunc(l.messages, parent, func(m message, n int) int { return cmp.Compare(m.number, n) })
	if !ok {
		at = None
	}
	l.settle(q, at)
}

// Messages further back than near are scored only if they have something to do
// with the message; the others get the score hopeless.
const (
	near     = 25
	hopeless = math.MinInt32
)

// strange reports whether the message c back has nothing to do with q: neither
// names the other's author, the authors differ, and they share no rare word.
func (l *Linker) strange(q *message, c int) bool {
	return l.words.shared[c] == 0 && authorClass(q, &l.messages[len(l.messages)-c]) == 0
}

// reach is how many earlier messages are candidates. Candidate 0 is that the message
// starts a conversation, candidate n the n-th message back.
func (l *Linker) reach() int { return min(len(l.messages), Reach) }

// sum is the score of a candidate. It is a whole number, so that it is the same on
// every machine.
func (l *Linker) sum(features []feature) int32 {
	var n int32
	for _, f := range features {
		n += int32(weights[f])
	}
	return n
}

// best makes a guess of the scores; of equal ones the nearer message wins. parent
// is the parent's index in l.messages, or None.
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
			guess.Ranked[i] = l.messages[len(l.messages)-c].number
		}
	}
	if top[0] == 0 || l.score[0] >= l.score[top[0]] {
		return guess, None
	}
	guess.Parent = guess.Ranked[0]
	return guess, len(l.messages) - top[0]
}

// note takes a note of the platform's.
func (l *Linker) note(m *earshot.Message) {
	l.people.meet(m.Text)
	l.count++
}
