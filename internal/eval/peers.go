package eval

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/eval/chats"
)

// A peer is a way to choose a prompt's messages that other bots have.
type peer struct {
	name string
	// order yields messages of the log by number, those wanted most first.
	order func(l *peerLog, query string) iter.Seq[int]
	// whole ends the choice at the first message that does not fit; otherwise it
	// is passed over.
	whole bool
}

// peers are measured beside the policies, in this order.
var peers = []peer{
	{"last-n", newestFirst, true},
	{"first-page", oldestFirst, true},
	{"substring", substring, false},
	{"fts", rankedBySearch, false},
}

// A peerLog is what a peer knows of a conversation: what has been said.
type peerLog struct {
	counter  assemble.Counter
	messages []chats.Message
	costs    []int    // of each as a line, in tokens; 0: not counted yet
	lower    []string // each text in lower case
	index    fts
}

func newPeerLog(c assemble.Counter) *peerLog { return &peerLog{counter: c} }

// add takes in the next message.
func (l *peerLog) add(m chats.Message) {
	if strings.TrimSpace(m.Text) == "" {
		return
	}
	l.messages = append(l.messages, m)
	l.costs = append(l.costs, 0)
	l.lower = append(l.lower, strings.ToLower(m.Text))
	l.index.add(m.Text)
}

// choose returns the messages that a peer sends within so many tokens, in the
// order of time, and what their lines cost.
func (l *peerLog) choose(p peer, query string, room int) (list []chats.Message, used int) {
	var chosen []int
	for n := range p.order(l, query) {
		if l.costs[n] == 0 {
			l.costs[n] = l.counter.Count(lineOf(l.messages[n]))
		}
		switch {
		case used+l.costs[n] <= room:
			used += l.costs[n]
			chosen = append(chosen, n)
			continue
		case !p.whole && room-used >= leastLine:
			continue
		}
		break
	}
	slices.Sort(chosen)
	for _, n := range chosen {
		list = append(list, l.messages[n])
	}
	return list, used
}

// leastLine is what a line costs at least: a name, a colon and a word.
const leastLine = 3

func newestFirst(l *peerLog, _ string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for n := len(l.messages) - 1; n >= 0 && yield(n); n-- {
		}
	}
}

func oldestFirst(l *peerLog, _ string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for n := 0; n < len(l.messages) && yield(n); n++ {
		}
	}
}

// longWord is how many letters a word needs for the substring search to look for
// it: shorter ones are in nearly every message.
const longWord = 4

func substring(l *peerLog, query string) iter.Seq[int] {
	words := strings.FieldsFunc(strings.ToLower(query), func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.N) })
	if long := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return utf8.RuneCountInString(w) < longWord }); len(long) > 0 {
		words = long
	}
	return func(yield func(int) bool) {
		for n := len(l.messages) - 1; n >= 0; n-- {
			has := func(w string) bool { return strings.Contains(l.lower[n], w) }
			if slices.ContainsFunc(words, has) && !yield(n) {
				return
			}
		}
	}
}

func rankedBySearch(l *peerLog, query string) iter.Seq[int] { return l.index.rank(query) }
