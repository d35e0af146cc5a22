package index

import (
	_ "embed" // the words
	"slices"
	"strings"
)

//go:embed stopwords.txt
var stopwords string

// stops are the terms of English and Japanese stop words, weakWords those of words
// that weigh less, and foreignStops the stop words of other languages, one set for
// each: see stopwords.txt.
var stops, weakWords, foreignStops = func() (stop, weak map[string]bool, foreign []map[string]bool) {
	var lists []map[string]bool
	for list := range strings.SplitSeq(stopwords, "\n[") {
		var words strings.Builder
		for line := range strings.Lines(list) {
			if !strings.HasPrefix(line, "#") && !strings.HasSuffix(line, "]\n") {
				words.WriteString(line)
			}
		}
		set := map[string]bool{}
		for _, t := range Terms(words.String()) {
			set[t] = true
		}
		lists = append(lists, set)
	}
	return lists[1], lists[2], lists[3:] // before the first bracket are comments
}()

// stopsOf returns a test for the stop words of a query: the English and Japanese
// ones, and those of the one other language of which the query has the most, if
// these are two or more and more than the English and Japanese ones.
func stopsOf(all []string) func(term string) bool {
	has := map[string]bool{}
	most := 0
	for _, t := range all {
		if !has[t] && stops[t] {
			most++
		}
		has[t] = true
	}
	most = max(most, 1)
	var also map[string]bool
	for _, list := range foreignStops {
		n := 0
		for t := range has {
			if list[t] {
				n++
			}
		}
		if n > most {
			most, also = n, list
		}
	}
	return func(t string) bool { return stops[t] || also[t] }
}

// Ignored returns the terms of a query's text that are not searched for: its stop
// words, unless it has nothing else. Each stands once, in the order of the text.
func Ignored(text string) []string {
	all := Terms(Head(text, maxQuery))
	stop := stopsOf(all)
	var out []string
	some := false
	for _, t := range all {
		if !stop(t) {
			some = true
		} else if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	if !some {
		return nil
	}
	return out
}
