package assemble

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.mau.fi/util/confusable"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// maxName is how many graphemes of a name are shown.
const maxName = 40

// cleanName makes a name of s: one line in NFKC, nothing that cannot be seen,
// no colon or comma of any shape, none of the marks that Earshot puts behind
// names, no bracket or tag at its start, at most 40 graphemes. Cleaning twice
// changes nothing more.
func cleanName(s string) string {
	if plainName(s) {
		return s
	}
	for range 4 { // what one step removes may join what another looks for
		was := s
		s = norm.NFKC.String(clean(oneLine(s, 4*maxName)))
		s = strings.Map(func(r rune) rune {
			switch {
			case r == ':' || r == ',' || looksLikeColon(r):
				return ' '
			case r == 0x2800 || r == '\n' || r == '\t':
				return ' '
			}
			return r
		}, s)
		s = withoutMarks(s)
		s = strings.TrimSpace(s)
		if strings.HasPrefix(s, "[") {
			s = strings.NewReplacer("[", "(", "]", ")").Replace(s)
		}
		s = oneLine(withoutTags(s), maxName)
		if s == was {
			break
		}
	}
	return s
}

// withoutTags removes the < of each tag that opens or closes a thread's block.
func withoutTags(s string) string {
	for i := 0; i < len(s); {
		if s[i] == '<' && opensTag(s[i+1:]) {
			s = s[:i] + s[i+1:]
			continue
		}
		i++
	}
	return s
}

// plainName reports whether it is plain that cleanName changes nothing in s; it is
// false for some clean names.
func plainName(s string) bool {
	return isPlain(s) && len(s) <= maxName && !strings.ContainsAny(s, ":,([<&\n\t") && !strings.HasPrefix(s, " ") &&
		!strings.HasSuffix(s, " ") && !strings.Contains(s, "  ")
}

// looksLikeColon reports whether r is drawn as a colon or a comma is.
func looksLikeColon(r rune) bool {
	switch r {
	case '：', '︓', '﹕', '꞉', '∶', '։', '׃', '܃', '܄', 'ː', '˸', 'ः', '᠄', '᛬', '⁚', '⸻', '،', '٫', '‚', '，', '﹐', '︐', '、', '､', '¸':
		return true
	}
	if r < 0x80 {
		return false
	}
	drawn := confusable.GetReplacement(r)
	return drawn == ":" || drawn == "," || drawn == ";"
}

// isBracket returns -1 for an opening bracket of any shape, +1 for a closing one,
// else 0.
func isBracket(r rune) int {
	switch drawn := confusable.GetReplacement(r); {
	case r == '(' || drawn == "(" || unicode.Is(unicode.Ps, r):
		return -1
	case r == ')' || drawn == ")" || unicode.Is(unicode.Pe, r):
		return 1
	}
	return 0
}

// marks are what Earshot puts behind a name to describe the author or the
// message, without brackets.
var marks = []string{"you", "bot", "agent", "edited", "guest", "external", "inert"}

// lastMarks are those that an organisation's name, or another mark, may stand before.
var lastMarks = []string{"external", "guest", "inert"}

// withoutMarks removes from a name every bracket that would be read as one of
// the marks.
func withoutMarks(s string) string {
	for again := true; again; {
		again = false
		open := -1
		for i, r := range s {
			switch isBracket(r) {
			case -1:
				open = i
			case 1:
				end := i + utf8.RuneLen(r)
				if open >= 0 && isMark(s[open:end]) {
					s = strings.TrimRightFunc(s[:open], unicode.IsSpace) + " " + strings.TrimLeftFunc(s[end:], unicode.IsSpace)
					again = true
				}
				open = -1
			}
			if again {
				break
			}
		}
	}
	return s
}

// isMark reports whether a text in brackets is empty or looks like one of the
// marks.
func isMark(bracketed string) bool {
	_, width := utf8.DecodeRuneInString(bracketed)
	_, closing := utf8.DecodeLastRuneInString(bracketed)
	inner := strings.TrimSpace(bracketed[width : len(bracketed)-closing])
	if words := strings.Fields(inner); len(words) > 1 {
		one, two := lookForms(words[len(words)-1])
		if slices.Contains(lastMarks, one) || slices.Contains(lastMarks, two) {
			return true
		}
	}
	one, two := lookForms(inner)
	return inner == "" || slices.ContainsFunc(marks, func(m string) bool { a, b := lookForms(m); return a == one || b == two || a == two || b == one })
}

// lookForms returns the two forms in which names are compared; names that have one of
// them in common look the same. They are the name's UTS #39 skeleton in lower case,
// and the skeleton of the name in lower case, because some letters look alike in
// one case only.
func lookForms(name string) (one, two string) {
	folded := foldName(name)
	return strings.ToLower(skeleton(name)), skeleton(folded)
}

// foldName returns s in the form in which names are looked up.
func foldName(s string) string {
	if isPlain(s) {
		return strings.ToLower(s)
	}
	return cases.Fold().String(norm.NFKC.String(s))
}

// reservedLooks are the looks of the reserved words.
var reservedLooks = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range reserved {
		one, two := lookForms(w)
		m[one], m[two] = true, true
	}
	return m
}()

// isReserved reports whether a name looks like a reserved word.
func isReserved(name string) bool {
	one, two := lookForms(name)
	return reservedLooks[one] || reservedLooks[two]
}

// noHeading adds a number to a name that begins like a heading of a window.
func noHeading(name string) string {
	if _, two := lookForms(name); strings.HasPrefix(two, threadLook) || strings.HasPrefix(two, standaloneLook) {
		return firstGraphemes(name, maxName-4) + " (1)"
	}
	return name
}

// How the headings of a window begin.
var threadLook, standaloneLook = skeleton("thread("), skeleton("standalone(")
