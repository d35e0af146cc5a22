package index

import (
	_ "embed" // the table
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

// synonymTable has a line for each word that has synonyms, in order: its terms, a tab,
// and the terms of each of its synonyms, with | between the synonyms. It is made of
// synonyms.txt by TestTheTableOfSynonymsIsMadeOfTheList, and searched as it stands.
//
//go:embed synonyms_table.txt
var synonymTable string

// synonymsOfWord returns what the line of a word's terms says.
func synonymsOfWord(terms string) (string, bool) {
	from, to := 0, len(synonymTable)
	for from < to {
		at := from + strings.LastIndexByte(synonymTable[from:(from+to)/2], '\n') + 1 // the line in the middle
		end := at + strings.IndexByte(synonymTable[at:], '\n')
		word, synonyms, _ := strings.Cut(synonymTable[at:end], "\t")
		switch strings.Compare(word, terms) {
		case 0:
			return synonyms, true
		case -1:
			from = end + 1
		default:
			to = at
		}
	}
	return "", false
}
