package when

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// A token is a word, a number, a sign or a character of a script without spaces.
type token struct {
	kind   int
	text   string // in lower case, without accents
	number int    // of up to four digits, else -1
	start  int    // its first byte in the text
	glued  bool   // to the token before it
	upper  bool   // begins with a capital
}

// The kinds of tokens, as the groups of tokenForm are numbered.
const (
	wordToken = iota
	numberToken
	kanaToken
	signToken
)

// A reader reads the time words of one text.
type reader struct {
	text   string
	tokens []token
	now    time.Time // in the zone
}

func newReader(text string, now time.Time) *reader {
	r := &reader{text: norm.NFKC.String(text[:min(len(text), maxText)]), now: now} // １ is 1
	end := -1
	for _, at := range tokenForm.FindAllStringSubmatchIndex(r.text, -1) {
		piece := r.text[at[0]:at[1]]
		t := token{kind: signToken, text: foldText(piece), start: at[0], glued: at[0] == end, number: -1, upper: unicode.IsUpper([]rune(piece)[0])}
		for k := range signToken {
			if at[2+2*k] >= 0 {
				t.kind = k
			}
		}
		if t.kind == numberToken && len(t.text) <= 4 {
			t.number, _ = strconv.Atoi(t.text)
		}
		r.tokens, end = append(r.tokens, t), at[1]
	}
	return r
}

// tokenForm cuts a text. Apostrophes and white space part words and are no tokens.
var tokenForm = regexp.MustCompile(`([\p{Latin}\p{Cyrillic}\p{Greek}\p{Mn}]+)|([0-9]+)|(\pL)|[^\s'’]`)

// foldText returns a text in lower case without accents.
func foldText(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.Is(unicode.Mn, c) {
			return -1
		}
		return unicode.ToLower(c)
	}, norm.NFD.String(s))
}

// sign reports whether token i is a certain sign.
func (r *reader) sign(i int, text string) bool {
	return i >= 0 && i < len(r.tokens) && r.tokens[i].kind == signToken && r.tokens[i].text == text
}

// glued reports whether token i follows the one before it without a gap.
func (r *reader) glued(i int) bool { return i > 0 && i < len(r.tokens) && r.tokens[i].glued }

// solid reports whether token i is a word or a number.
func (r *reader) solid(i int) bool {
	return i >= 0 && i < len(r.tokens) && (r.tokens[i].kind == wordToken || r.tokens[i].kind == numberToken)
}

// ends reports whether a clause ends before token i.
func (r *reader) ends(i int) bool {
	return i >= len(r.tokens) || r.tokens[i].kind == signToken && strings.Contains(",.;:?!)]…—–-\"”", r.tokens[i].text) && !(r.glued(i+1) && r.solid(i+1))
}

// apart reports whether the tokens [i, next) are words of their own and no piece of a
// name, a path, a version or code.
func (r *reader) apart(i, next int) bool {
	if r.glued(i) && r.tokens[i].kind != kanaToken {
		p := r.tokens[i-1]
		if p.kind != signToken && p.kind != kanaToken || strings.Contains("@#$/\\=&%+|<`", p.text) || strings.Contains("-_.:~", p.text) && r.glued(i-1) && r.solid(i-2) {
			return false
		}
	}
	if !r.glued(next) || r.tokens[next-1].kind == kanaToken {
		return true
	}
	p := r.tokens[next]
	tied := strings.Contains("@#$/\\=&%+|>_(-.:~", p.text) && r.glued(next+1) && r.solid(next+1)
	return p.text != "`" && !tied && !r.solid(next)
}
