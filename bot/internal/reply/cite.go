package reply

import (
	"regexp"
	"strings"
)

var (
	citation = regexp.MustCompile(`[ \t]*\[cite:([^\[\]\n]{0,300})\]`)
	// unfinishedCitation is a citation that is still being written.
	unfinishedCitation = regexp.MustCompile(`[ \t]*\[(?:c|ci|cit|cite|cite:[^\[\]\n]{0,300})?$`)
)

// Cite writes what links returns in place of each citation of a text, [cite: WHAT], and
// nothing for "". Several may stand in one, divided by semicolons. In code a citation
// stays as it is; one that is not whole at the end of a text is left out.
func Cite(text string, link func(what string) string) string {
	if !strings.Contains(text, "[") {
		return text
	}
	code := findFences(text)
	for _, at := range codeSpan.FindAllStringIndex(text, -1) {
		code = append(code, [2]int{at[0], at[1]})
	}
	var b strings.Builder
	at := 0
	for _, x := range citation.FindAllStringSubmatchIndex(text, -1) {
		if inRanges(code, x[1]-1) {
			continue
		}
		b.WriteString(text[at:x[0]])
		for what := range strings.SplitSeq(text[x[2]:x[3]], ";") {
			s := link(strings.TrimSpace(what))
			if s != "" && b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
				s = " " + s
			}
			b.WriteString(s)
		}
		at = x[1]
	}
	rest := text[at:]
	if x := unfinishedCitation.FindStringIndex(rest); x != nil && !inRanges(code, len(text)-1) {
		rest = rest[:x[0]]
	}
	return b.String() + rest
}
