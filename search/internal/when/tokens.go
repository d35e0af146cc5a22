package when

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A timeToken is a word, a number, a sign or a character of Japanese.
type timeToken struct {
	kind       tokenKind
	text       string // in lower case, without accents; of a number its digits
	number     int    // of up to four digits
	start, end int    // bytes of the text
	glued      bool   // to the token before it
	upper      bool   // begins with a capital
	all        bool   // is all capitals
	code       bool   // stands in backticks
	short      bool   // follows an apostrophe, as in '17
}

type tokenKind int8

const (
	wordToken tokenKind = iota
	numberToken
	signToken
	kanaToken
)

// timeTokens cuts a text for time words. Apostrophes and white space part
// words and are no tokens.
func timeTokens(text string) []timeToken {
	var out []timeToken
	tick := -1 // the token after an open backtick
	gap, apostrophe := true, false
	for i := 0; i < len(text); {
		c, n := utf8.DecodeRuneInString(text[i:])
		t := timeToken{start: i, end: i + n, glued: !gap, kind: kindOfToken(c)}
		switch {
		case unicode.IsSpace(c):
			gap, apostrophe = true, false
			i += n
			continue
		case c == '\'' || c == '’':
			gap, apostrophe = true, true
			i += n
			continue
		case t.kind == wordToken:
			t.upper, t.all = unicode.IsUpper(c), true
			t.end, t.text, t.all = foldedWord(text, i)
		case t.kind == numberToken:
			t.end, t.text = digits(text, i)
			if len(t.text) <= 4 {
				for _, d := range t.text {
					t.number = t.number*10 + int(d-'0')
				}
			} else {
				t.number = -1
			}
		case c == '`':
			if tick >= 0 {
				for k := tick; k < len(out); k++ {
					out[k].code = true
				}
				tick = -1
			} else {
				tick = len(out)
			}
			t.text = "`"
		default:
			t.text = text[i : i+n]
		}
		t.short = apostrophe
		gap, apostrophe = false, false
		out = append(out, t)
		i = t.end
	}
	return out
}

func kindOfToken(c rune) tokenKind {
	switch {
	case c >= '0' && c <= '9', c >= '０' && c <= '９':
		return numberToken
	case unspaced(c):
		return kanaToken
	case unicode.IsLetter(c), unicode.Is(unicode.Mn, c):
		return wordToken
	}
	return signToken
}

// unspaced reports whether c is of a script without spaces.
func unspaced(c rune) bool {
	return c == 'ー' || c == '々' ||
		unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// withoutAccent returns a Latin letter without its accents, others as they are.
func withoutAccent(c rune) rune {
	if c < 'À' || c > 'ɏ' {
		return c
	}
	if d := norm.NFD.PropertiesString(string(c)).Decomposition(); len(d) > 0 && d[0] < utf8.RuneSelf {
		return rune(d[0])
	}
	return c
}

// foldedWord returns where the word at i ends, and it in lower case without
// accents.
func foldedWord(text string, i int) (end int, folded string, all bool) {
	var b []byte
	all = true
	for i < len(text) {
		c, n := utf8.DecodeRuneInString(text[i:])
		if kindOfToken(c) != wordToken {
			break
		}
		i += n
		if unicode.Is(unicode.Mn, c) {
			continue
		}
		all = all && unicode.IsUpper(c)
		b = utf8.AppendRune(b, foldedLetter(c))
	}
	return i, string(b), all
}

// foldedLetter also lets go of what people leave out when they type: the
// stroke of ł, the dots of ё, the breve of й.
func foldedLetter(c rune) rune {
	switch c = withoutAccent(unicode.ToLower(c)); c {
	case 'ł':
		return 'l'
	case 'ё':
		return 'е'
	case 'й':
		return 'и'
	}
	return c
}

func digits(text string, i int) (end int, s string) {
	var b []byte
	for i < len(text) {
		c, n := utf8.DecodeRuneInString(text[i:])
		if kindOfToken(c) != numberToken {
			break
		}
		if c >= '０' {
			c -= '０' - '0'
		}
		b = append(b, byte(c))
		i += n
	}
	return i, string(b)
}

// sign reports whether token i is a certain sign.
func (r *timeReader) sign(i int, text string) bool {
	return i < len(r.tokens) && r.tokens[i].kind == signToken && r.tokens[i].text == text
}

// word reports whether token i is one of some words.
func (r *timeReader) word(i int, list ...string) bool {
	if i < 0 || i >= len(r.tokens) || r.tokens[i].kind != wordToken {
		return false
	}
	for _, w := range list {
		if r.tokens[i].text == w {
			return true
		}
	}
	return false
}

// glued reports whether token i follows the one before it without a gap.
func (r *timeReader) glued(i int) bool { return i > 0 && i < len(r.tokens) && r.tokens[i].glued }

// solid reports whether token i is a word or a number, which a sign ties to
// what stands on its other side.
func (r *timeReader) solid(i int) bool {
	return i >= 0 && i < len(r.tokens) && (r.tokens[i].kind == wordToken || r.tokens[i].kind == numberToken)
}

// ends reports whether a clause ends before token i.
func (r *timeReader) ends(i int) bool {
	if i >= len(r.tokens) {
		return true
	}
	t := r.tokens[i]
	if t.kind != signToken {
		return false
	}
	switch t.text {
	case ",", ".", ";", ":", "?", "!", ")", "]", "…", "—", "–", "-", "\"", "”":
		return !(r.glued(i+1) && r.solid(i+1))
	}
	return false
}

// apart reports whether the tokens [i, next) are words of their own and no
// piece of a name, a path, a version or code.
func (r *timeReader) apart(i, next int) bool {
	if r.tokens[i].code {
		return false
	}
	if r.glued(i) && r.tokens[i].kind != kanaToken {
		switch p := r.tokens[i-1]; p.text {
		case "@", "#", "$", "/", "\\", "=", "&", "%", "+", "|", "<":
			return false
		case "-", "_", ".", ":", "~":
			if r.glued(i-1) && r.solid(i-2) {
				return false
			}
		default:
			if p.kind == wordToken || p.kind == numberToken {
				return false
			}
		}
	}
	if !r.glued(next) || r.tokens[next-1].kind == kanaToken {
		return true
	}
	switch p := r.tokens[next]; p.text {
	case "@", "#", "$", "/", "\\", "=", "&", "%", "+", "|", ">", "_", "(":
		return !(r.glued(next+1) && r.solid(next+1))
	case "-", ".", ":", "~":
		return !(r.glued(next+1) && r.solid(next+1))
	default:
		return p.kind != wordToken && p.kind != numberToken
	}
}
