package assemble

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/text/unicode/norm"
)

// clean removes from s what a reader cannot see and a forger can use: control,
// bidirectional and zero-width characters, tag characters. Line separators of
// every kind become \n. Kept are tabs, joiners inside emoji and between letters
// of scripts that need them, variation selectors, and well-formed flags.
// Broken UTF-8 becomes U+FFFD. Cleaning twice changes nothing more.
func clean(s string) string {
	if isPlain(s) || isClean(s) {
		return s
	}
	rs := []rune(strings.ToValidUTF8(strings.ReplaceAll(s, "\r\n", "\n"), "\uFFFD"))
	out := make([]rune, 0, len(rs))
	for i := 0; i < len(rs); i++ {
		r := rs[i]
		switch {
		case r == '\n' || r == '\t':
			out = append(out, r)
		case r == '\r' || r == '\v' || r == '\f' || r == 0x85 || r == 0x2028 || r == 0x2029:
			out = append(out, '\n')
		case r == blackFlag:
			n := flagLength(rs[i:])
			out = append(out, rs[i:i+n]...)
			i += n - 1
		case r == zwj || r == zwnj:
			if keepJoiner(r, out, rs[i+1:]) {
				out = append(out, r)
			}
		case r >= 0xFE00 && r <= 0xFE0F:
			if len(out) > 0 && !isSelector(out[len(out)-1]) && !unicode.IsSpace(out[len(out)-1]) {
				out = append(out, r)
			}
		case r >= 0xE0100 && r <= 0xE01EF:
			if len(out) > 0 && unicode.Is(unicode.Han, out[len(out)-1]) {
				out = append(out, r)
			}
		case isInvisible(r):
		default:
			out = append(out, r)
		}
	}
	return string(out)
}

// isPlain reports whether s is printable ASCII with line breaks and tabs, so
// that there is nothing to clean.
func isPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 && c != '\n' && c != '\t' || c >= 0x7F {
			return false
		}
	}
	return true
}

// isClean reports whether it is plain that clean changes nothing in s; it is false
// for some clean texts, such as those with joiners.
func isClean(s string) bool {
	for _, r := range s {
		if r >= 0x20 && r < 0x7F || r == '\n' || r == '\t' {
			continue
		}
		if r == utf8.RuneError || r == 0x2028 || r == 0x2029 || r == blackFlag || isSelector(r) || isInvisible(r) {
			return false
		}
	}
	return true
}

const (
	zwnj      = 0x200C
	zwj       = 0x200D
	blackFlag = 0x1F3F4
	cancelTag = 0xE007F
)

// isInvisible reports whether clean removes r wherever it is.
func isInvisible(r rune) bool {
	switch {
	case r < 0x20 || r >= 0x7F && r <= 0x9F: // control
	case r == 0xAD || r == 0x34F || r == 0x61C || r == 0x180E: // soft hyphen, grapheme joiner, Arabic mark, Mongolian separator
	case r == 0x115F || r == 0x1160 || r == 0x3164 || r == 0xFFA0: // Hangul fillers
	case r == 0x17B4 || r == 0x17B5: // Khmer inherent vowels
	case r >= 0x180B && r <= 0x180F: // Mongolian selectors
	case r >= 0x200B && r <= 0x200F: // zero width, joiners, direction marks
	case r >= 0x202A && r <= 0x202E: // bidirectional embeddings
	case r >= 0x2060 && r <= 0x206F: // word joiner, invisible operators, isolates
	case r == 0xFEFF || r >= 0xFFF0 && r <= 0xFFFB: // byte order mark, annotations
	case r >= 0x1BCA0 && r <= 0x1BCA3, r >= 0x1D173 && r <= 0x1D17A: // format controls of notations
	case r >= 0xE0000 && r <= 0xE0FFF: // tags, and the selectors that clean did not keep
	case r >= 0xFDD0 && r <= 0xFDEF, r&0xFFFE == 0xFFFE: // noncharacters
	default:
		return false
	}
	return true
}

func isSelector(r rune) bool {
	return r >= 0xFE00 && r <= 0xFE0F || r >= 0xE0100 && r <= 0xE01EF
}

// flagLength returns how many runes of rs, which begins with a black flag, are
// one well-formed flag: the flag, 3 to 6 tag letters or digits that begin with
// a letter (a region such as gbsct), and the cancel tag. Otherwise 1.
func flagLength(rs []rune) int {
	n := 1
	for n < len(rs) && n < 8 && (rs[n] >= 0xE0030 && rs[n] <= 0xE0039 || rs[n] >= 0xE0061 && rs[n] <= 0xE007A) {
		n++
	}
	if n >= 4 && n <= 7 && n < len(rs) && rs[n] == cancelTag && rs[1] >= 0xE0061 {
		return n + 1
	}
	return 1
}

// keepJoiner reports whether a joiner between out and rest has an effect: a ZWJ
// between two pictographs, either joiner between letters or marks of a script whose
// letters it shapes, or behind a virama, which may end a word.
func keepJoiner(r rune, out, rest []rune) bool {
	switch {
	case len(out) == 0:
		return false
	case isVirama(out[len(out)-1]):
		return true
	case len(rest) == 0:
		return false
	}
	before, after := out[len(out)-1], rest[0]
	if r == zwj && isPictograph(after) {
		i := len(out) - 1
		for i > 0 && (isSelector(out[i]) || out[i] >= 0x1F3FB && out[i] <= 0x1F3FF) {
			i--
		}
		return isPictograph(out[i]) || out[len(out)-1] == cancelTag
	}
	return isShaped(before) && isShaped(after) && !isInvisible(after)
}

// isVirama reports whether r is the mark of an Indic script that takes a
// letter's vowel (RFC 5892, appendix A: combining class 9).
func isVirama(r rune) bool {
	return r >= 0x900 && norm.NFC.PropertiesString(string(r)).CCC() == 9
}

// isPictograph reports whether r may be part of an emoji sequence.
func isPictograph(r rune) bool {
	switch {
	case r >= 0x1F000 && r <= 0x1FAFF, r >= 0x2190 && r <= 0x21FF, r >= 0x2300 && r <= 0x23FF,
		r >= 0x2600 && r <= 0x27BF, r >= 0x2900 && r <= 0x297F, r >= 0x2B00 && r <= 0x2BFF, r == 0x3030, r == 0x303D:
		return true
	}
	return false
}

// isShaped reports whether r is of a script whose letters joiners shape.
func isShaped(r rune) bool {
	return unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Devanagari, unicode.Bengali,
		unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada,
		unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan) || r == 0x640
}

// oneLine cleans s for a place that has one line: white space of any kind
// becomes one space, ends are trimmed, and it has at most max graphemes.
func oneLine(s string, max int) string {
	if utf8.RuneCountInString(s) > 64*max {
		s = string([]rune(s)[:64*max])
	}
	s = strings.Join(strings.Fields(clean(s)), " ")
	return firstGraphemes(s, max)
}

// firstGraphemes returns the first n graphemes of s.
func firstGraphemes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	rest, state, end := s, -1, 0
	for ; n > 0 && rest != ""; n-- {
		var c string
		c, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		end += len(c)
	}
	return strings.TrimRightFunc(s[:end], unicode.IsSpace)
}

// isBlank reports whether s has nothing that can be seen.
func isBlank(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c > 0x20 && c < 0x7F {
			return false
		} else if c >= 0x80 {
			return strings.TrimSpace(clean(s)) == ""
		}
	}
	return true
}

// escapeTags writes &lt; for the < of a tag that would open or close the thread's
// block, and &amp; for the & of such an escape, so that it can be undone exactly.
func escapeTags(s string) string {
	i := strings.IndexAny(s, "<&")
	if i < 0 {
		return s
	}
	var b strings.Builder
	for ; i >= 0; i = strings.IndexAny(s, "<&") {
		b.WriteString(s[:i])
		c, rest := s[i], s[i+1:]
		switch {
		case c == '<' && opensTag(rest):
			b.WriteString("&lt;")
		case c == '&' && endsEscape(rest):
			b.WriteString("&amp;")
		default:
			b.WriteByte(c)
		}
		s = rest
	}
	return b.String() + s
}

// escapeAt returns where the escape of a < begins and ends that s is cut in at a place,
// which is at itself for both where there is none. Half of one could not be undone.
func escapeAt(s string, at int) (from, to int) {
	i := strings.LastIndexByte(s[:at], '&')
	if i < 0 || !endsEscape(s[i+1:]) {
		return at, at
	}
	if end := i + strings.Index(s[i:], "lt;") + len("lt;"); end > at {
		return i, end
	}
	return at, at
}

// endsEscape reports whether s, the text behind an &, begins with lt; or with an
// escape of &lt; such as amp;lt;
func endsEscape(s string) bool {
	for strings.HasPrefix(s, "amp;") {
		s = s[len("amp;"):]
	}
	return strings.HasPrefix(s, "lt;")
}

// opensTag reports whether rest, the text behind a <, is a tag of the thread's
// block.
func opensTag(rest string) bool {
	const tag = "slack_thread_context"
	rest = strings.TrimPrefix(rest, "/")
	return len(rest) >= len(tag) && strings.EqualFold(rest[:len(tag)], tag)
}
