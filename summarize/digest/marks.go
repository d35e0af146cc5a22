package digest

import (
	"slices"
	"strings"

	"github.com/earshot-ai/earshot/search/index"
)

// deciding are the terms of words by which people say that something is decided, in
// the languages that search knows. Words of other languages than English are not
// stemmed, so their forms are listed.
var deciding = termSet(
	"decide decision agreed agreement settled approved concluded conclusion chose chosen adopted rejected postponed",
	"besloten besluit afgesproken akkoord goedgekeurd",                                                      // Dutch
	"beschlossen beschluss entschieden entscheidung vereinbart abgemacht einigten genehmigt",                // German
	"décidé décidons décision convenu approuvé validé tranché",                                              // French
	"decidido decidimos decisión acordado acordamos acuerdo aprobado",                                       // Spanish
	"decidiu decidimos decisão combinado aprovado",                                                          // Portuguese
	"deciso decidiamo decisione concordato approvato",                                                       // Italian
	"rozhodli rozhodnuté rozhodnuto rozhodnutie rozhodnutí dohodli dohodnuté dohodnuto schválené schváleno", // Slovak, Czech
	"zdecydowaliśmy zdecydowano decyzja ustaliliśmy ustalono uzgodniono zatwierdzono",                       // Polish
	"решили решено решение договорились согласовано утвердили",                                              // Russian
	"決定 决定 確定 确定 決ま 決め 合意 承認 결정 합의 승인",                                                                      // Japanese, Chinese, Korean
)

// phrases say the same in several words.
var phrases = []string{
	"let's go with", "lets go with", "we go with", "we'll go with", "going with", "we will use", "we'll use", "from now on",
	"we will not", "we won't", "signed off", "it is final", "it's final",
}

// isDecision reports whether a text says that something is decided. A question does
// not.
func isDecision(text string) bool {
	if isQuestion(text) {
		return false
	}
	lower := strings.ToLower(text)
	if slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(lower, p) }) {
		return true
	}
	return slices.ContainsFunc(index.Terms(text), func(t string) bool { return deciding[t] })
}

// isQuestion reports whether a text asks something: it has a sentence that ends with a
// question mark of any script.
func isQuestion(text string) bool {
	for i, r := range text {
		switch r {
		case '？', '؟', '\u037E':
			return true
		case '?':
			if rest := text[i+1:]; rest == "" || strings.ContainsAny(rest[:1], " \n\t?!)\"'*_") {
				return true // not within a URL
			}
		}
	}
	return false
}

func termSet(lists ...string) map[string]bool {
	set := map[string]bool{}
	for _, list := range lists {
		for word := range strings.FieldsSeq(list) {
			set[index.Terms(word)[0]] = true
		}
	}
	return set
}
