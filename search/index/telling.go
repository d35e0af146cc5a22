package index

import (
	"slices"
	"strings"
)

// tellingTerms is how many terms of a message are looked at: a paste tells no more
// than what is read of it.
const tellingTerms = 80

// A message of so many terms, of which fewer than so many in a hundred are stop
// words, is a paste: a log, code, a list.
const (
	pasteTerms = 20
	pasteStops = 15
)

// Telling returns how telling each of some messages is among them all, given their
// terms: the sum of the weights that ranking gives its different words, rare ones
// counting more, stop words not at all. One with a number counts a little more, a
// paste, which is long and has hardly a stop word, half. A message that says nearly
// the same as one before it gets 0.
func Telling(messages [][]string) []float64 {
	has := map[string]int{}
	words, pasted := make([][]string, len(messages)), make([]bool, len(messages))
	for i, terms := range messages {
		terms = slices.Clone(terms[:min(len(terms), tellingTerms)])
		n := len(terms)
		terms = slices.DeleteFunc(terms, stopsOf(terms))
		pasted[i] = n >= pasteTerms && n-len(terms) < n*pasteStops/100
		slices.Sort(terms)
		words[i] = slices.Compact(terms)
		for _, t := range words[i] {
			has[t]++
		}
	}
	out := make([]float64, len(messages))
	seen := map[string][]int{} // by word, the messages before that have it
	for i, list := range words {
		for _, t := range list {
			out[i] += float64(rarity(has[t], len(messages)) * standard.ofTerm(t)) // never fused: the same on every machine
		}
		if slices.ContainsFunc(list, func(t string) bool { return '0' <= t[0] && t[0] <= '9' }) {
			out[i] *= standard.number
		}
		if pasted[i] {
			out[i] /= 2
		}
		if alike(list, words, seen) {
			out[i] = 0
			continue
		}
		for _, t := range rarest(list, has) {
			seen[t] = append(seen[t], i)
		}
	}
	return out
}

// rarest returns the few words by which a near copy is looked for.
func rarest(list []string, has map[string]int) []string {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b string) int {
		if has[a] != has[b] {
			return has[a] - has[b]
		}
		return strings.Compare(a, b)
	})
	return list[:min(len(list), 8)]
}

// alike reports whether a message has four fifths of its words in common with one
// before it; both are sorted and have no word twice.
func alike(list []string, words [][]string, seen map[string][]int) bool {
	if len(list) < minSame {
		return false
	}
	done := map[int]bool{}
	for _, t := range list {
		for _, i := range seen[t] {
			if done[i] {
				continue
			}
			done[i] = true
			both := 0
			for _, t := range list {
				if _, ok := slices.BinarySearch(words[i], t); ok {
					both++
				}
			}
			if 5*both >= 4*max(len(list), len(words[i])) {
				return true
			}
		}
	}
	return false
}
