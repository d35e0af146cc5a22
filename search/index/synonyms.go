package index

import (
	"slices"
	"strings"
)

// A synonym of a word is another word that people use for the same thing, as its
// terms: several where the script has no spaces.
type synonym []string

const (
	maxSynonyms   = 12 // of one word
	maxSynonymRun = 4  // terms of a word that has synonyms
)

// synonymsOf returns the synonyms of the words of a query, by the first term of
// each word that is neither a stop word nor weak. all are the query's terms.
func synonymsOf(all []string, stop func(string) bool) map[string][]synonym {
	out := map[string][]synonym{}
	for i := range all {
		for n := 1; n <= min(maxSynonymRun, len(all)-i); n++ {
			run := all[i : i+n]
			list, ok := synonymsOfWord(strings.Join(run, " "))
			at := slices.IndexFunc(run, func(t string) bool { return !stop(t) && !weakWords[t] })
			if !ok || at < 0 {
				continue
			}
			for word := range strings.SplitSeq(list, "|") {
				if has := out[run[at]]; len(has) < maxSynonyms {
					out[run[at]] = append(has, strings.Split(word, " "))
				}
			}
		}
	}
	return out
}

// synonymsOfWord returns a word's line of the table: the terms of each of its
// synonyms, with | between the synonyms.
func synonymsOfWord(terms string) (string, bool) {
	i, ok := slices.BinarySearchFunc(synonymTable[:], terms, func(e [2]string, terms string) int { return strings.Compare(e[0], terms) })
	if !ok {
		return "", false
	}
	return synonymTable[i][1], true
}
