package index

import (
	"cmp"
	_ "embed" // the words
	"slices"
	"strings"
)

//go:embed stopwords.txt
var stopwords string

// A language has the terms of its stop words, and of those among them by which people
// speak of themselves.
type language struct{ stop, me map[string]bool }

// The lists of stopwords.txt: home is English and Japanese, weakWords are words that
// weigh less, meParts what people call themselves in scripts without spaces.
var (
	home      language
	weakWords map[string]bool
	meParts   []string
	foreign   []language
)

func init() {
	lists := strings.Split(stopwords, "\n[")
	home, weakWords = readLanguage(lists[1]), readLanguage(lists[2]).stop // before the first bracket are comments
	meParts = strings.Fields(lists[3])[1:]
	for _, list := range lists[4:] {
		foreign = append(foreign, readLanguage(list))
	}
}

// readLanguage reads a list, which begins with the rest of its line in brackets.
func readLanguage(list string) language {
	l := language{map[string]bool{}, map[string]bool{}}
	for line := range strings.Lines(list) {
		if strings.HasPrefix(line, "#") || strings.HasSuffix(line, "]\n") {
			continue
		}
		words, me := strings.CutPrefix(line, "me: ")
		for _, t := range Terms(words) {
			l.stop[t] = true
			l.me[t] = l.me[t] || me
		}
	}
	return l
}

// otherLanguage returns the language of a query besides [home]: the one of which the query
// has the most stop words, if these are two or more and more than those of home; nil
// if there is none.
func otherLanguage(all []string) *language {
	has := map[string]bool{}
	most := 0
	for _, t := range all {
		if !has[t] && home.stop[t] {
			most++
		}
		has[t] = true
	}
	most = max(most, 1)
	var also *language
	for i := range foreign {
		n := 0
		for t := range has {
			if foreign[i].stop[t] {
				n++
			}
		}
		if n > most {
			most, also = n, &foreign[i]
		}
	}
	return also
}

// stopsOf returns a test for the stop words of a query: those of [home] and of
// [otherLanguage].
func stopsOf(all []string) func(term string) bool {
	also := otherLanguage(all)
	return func(t string) bool { return home.stop[t] || also != nil && also.stop[t] }
}

// ofMe reports whether a query speaks of whoever asks: it has a word such as "I" or "my"
// of its language.
func ofMe(text string, all []string) bool {
	if slices.ContainsFunc(meParts, func(part string) bool { return strings.Contains(text, part) }) {
		return true
	}
	own := cmp.Or(otherLanguage(all), &home)
	return slices.ContainsFunc(all, func(t string) bool { return own.me[t] })
}

// IgnoredTerms returns the terms of a query's text that are not searched for: its stop
// words, unless it has nothing else. Each stands once, in the order of the text.
func IgnoredTerms(text string) []string {
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
