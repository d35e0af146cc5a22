package when

import (
	_ "embed"
	"strings"
)

//go:embed words.txt
var words string

// A class is what a time word is to the grammar: how its lines of words.txt begin.
type class string

const (
	monthWord   class = "month"   // twelve
	weekdayWord class = "weekday" // seven, from Monday
	unitWord    class = "unit"    // day, week, month, year
	edgeWord    class = "edge"    // beginning, middle, end; with their "of"
	turnWord    class = "turn"    // last, this, next
	inWord      class = "in"      // prepositions
	sinceWord   class = "since"
	articleWord class = "article" // and what stands like one
	everyWord   class = "every"   // what comes again is no stretch
	phraseWord  class = "phrase"  // the day before yesterday, yesterday, today, nothing
	ordinalWord class = "ordinal" // 5th
	countedWord class = "counted" // by a number before it, which is no year then
	versionWord class = "version" // in front of what is no date
)

// An entry is what a form means as a word of one class.
type entry struct {
	class class
	value int  // the number of its group
	in    int  // languages, a bit for each of words.txt; 1 is English
	weak  bool // the form ends in ?
}

const anyLanguage = -1

// lexicon has the entries of all forms, without accents, by class and form.
var lexicon = func() map[[2]string]entry {
	x := map[[2]string]entry{}
	for i, language := range strings.Split(words, "\n[")[1:] {
		for line := range strings.Lines(language) {
			name, groups, _ := strings.Cut(strings.TrimSpace(line), ": ")
			for value, forms := range strings.Split(groups, "|") {
				for form := range strings.SplitSeq(forms, ",") {
					form, weak := strings.CutSuffix(form, "?")
					at := [2]string{name, foldText(form)}
					x[at] = entry{class(name), value, x[at].in | 1<<i, weak || x[at].weak}
				}
			}
		}
	}
	return x
}()
