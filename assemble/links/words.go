package links

import (
	"math/bits"
	"slices"
	"strings"
)

// wordIndex counts in how many messages each word is, and remembers the newest of them.
type wordIndex struct {
	number map[string]int32
	seen   []int32   // messages with the word
	where  [][]int32 // the newest messages with the word, by index in messages
	all    int
	most   int32            // the greatest of shared
	found  []int32          // of the text that is read
	shared [Reach + 1]int32 // weight of the rare words that candidate n has in common with the message
}

// rareWord says which words are rare: those in at most one of rareWord messages.
const rareWord = 20

func newWords() wordIndex { return wordIndex{number: map[string]int32{}} }

// of returns the words of a text, each once.
func (w *wordIndex) of(text string) []int32 {
	out := w.found[:0]
	for f := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return !isLetterOrDigit(r) && r != '_' && r != '-' && r != '.' && r != '/'
	}) {
		f = foldName(strings.Trim(f, "-._/"))
		if len(f) < 3 || len(f) > 60 || common[f] {
			continue
		}
		if len(f) > 4 {
			f = strings.TrimSuffix(f, "s")
		}
		n, ok := w.number[f]
		if !ok {
			n = int32(len(w.seen))
			w.number[f] = n
			w.seen = append(w.seen, 0)
			w.where = append(w.where, nil)
		}
		if !containsNumber(out, n) {
			out = append(out, n)
			if len(out) == 60 {
				break
			}
		}
	}
	w.found = out
	return slices.Clone(out)
}

// add records the words of the message with the index at.
func (w *wordIndex) add(list []int32, at int32) {
	w.all++
	for _, n := range list {
		w.seen[n]++
		where := append(w.where[n], at)
		if len(where) > 2*Reach {
			where = append(where[:0], where[len(where)-Reach:]...)
		}
		w.where[n] = where
	}
}

// compare sets shared for a message with these words, whose index is at.
func (w *wordIndex) compare(list []int32, at int) {
	clear(w.shared[:])
	w.most = 0
	for _, n := range list {
		seen := w.seen[n]
		if seen == 0 || seen > 3 && int(seen)*rareWord > w.all {
			continue
		}
		worth := max(0, log2(w.all+1)-log2(int(seen)))
		where := w.where[n]
		for i := len(where) - 1; i >= 0; i-- {
			back := at - int(where[i])
			if back > Reach {
				break
			}
			w.shared[back] += worth
			w.most = max(w.most, w.shared[back])
		}
	}
}

// log2 is eight times the logarithm of n, in whole numbers, so that it is the
// same on every machine.
func log2(n int) int32 {
	whole := bits.Len(uint(n)) - 1
	return int32(whole*8 + int(uint(n)<<3>>whole)&7)
}
