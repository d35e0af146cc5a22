package index

import (
	"slices"
	"strings"
)

// A kin is a word that people use for another: its terms, several where the
// script has no spaces.
type kin []string

// The bounds of a word's kin.
const (
	maxKin    = 12 // of one word
	maxKinRun = 4  // terms of a word that has kin
)

// kinOf returns what people use for the words of a query, by the first term of
// the word that says something.
func kinOf(all []string, stop func(string) bool) map[string][]kin {
	out := map[string][]kin{}
	for i := range all {
		for n := 1; n <= min(maxKinRun, len(all)-i); n++ {
			run := all[i : i+n]
			list, ok := kinOfWord(strings.Join(run, " "))
			at := slices.IndexFunc(run, func(t string) bool { return !stop(t) && !weak[t] })
			if !ok || at < 0 {
				continue
			}
			for word := range strings.SplitSeq(list, "|") {
				if has := out[run[at]]; len(has) < maxKin {
					out[run[at]] = append(has, strings.Split(word, " "))
				}
			}
		}
	}
	return out
}

// kinOfWord returns a word's line of the table: the terms of each of its kin,
// with | between.
func kinOfWord(terms string) (string, bool) {
	i, ok := slices.BinarySearchFunc(kinTable[:], terms, func(e [2]string, terms string) int { return strings.Compare(e[0], terms) })
	if !ok {
		return "", false
	}
	return kinTable[i][1], true
}
