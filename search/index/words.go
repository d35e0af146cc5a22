package index

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// chunk adds words that are joined by signs: the whole, then its parts.
func (c *termCutter) chunk(s string) {
	if plain(s) {
		if !c.full() {
			c.word(s)
		}
		return
	}
	if strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://") {
		_, s, _ = strings.Cut(s, "://")
		s = strings.TrimPrefix(s, "www.")
	}
	lead := ""
	trimmed := strings.TrimLeft(s, signs)
	if cut := len(s) - len(trimmed); cut > 0 && (s[cut-1] == '@' || s[cut-1] == '#') {
		lead = s[cut-1 : cut]
	}
	bare := strings.TrimRight(trimmed, signs)
	tail := ""
	if rest := trimmed[len(bare):]; len(bare) <= 2 && (strings.HasPrefix(rest, "++") || strings.HasPrefix(rest, "#")) {
		tail = rest[:1+strings.Count(rest[:min(2, len(rest))], "++")] // c++, c#
	}
	if bare == "" {
		return
	}
	if lead != "" || tail != "" {
		c.add(lead + bare + tail)
	}
	c.parts(bare, 0)
}

// plain reports whether s is all ASCII letters and digits, as most words are, so
// that it has no parts.
func plain(s string) bool {
	for i := range len(s) {
		if b := s[i] | 0x20; (b < 'a' || b > 'z') && (b < '0' || b > '9' || b != s[i]) {
			return false
		}
	}
	return s != ""
}

// levels are the signs at which a chunk is split, the loosest first.
var levels = []string{"/:@#+=?&%~\\$", "-", ".", "_"}

// parts adds s, and its parts between the signs of a level and of those below.
func (c *termCutter) parts(s string, level int) {
	if c.full() {
		return
	}
	s = strings.Trim(s, signs)
	for level < len(levels) && !strings.ContainsAny(s, levels[level]) {
		level++
	}
	switch {
	case level == len(levels):
		c.word(s)
		return
	case levels[level] == "." && c.version(s):
		return
	}
	c.add(s)
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune(levels[level], r) }) {
		c.parts(part, level+1)
	}
}

// version adds a version such as v1.4.2: itself, 1.4.2 and 1.4. It reports
// whether s is one.
func (c *termCutter) version(s string) bool {
	number := strings.TrimPrefix(s, "v")
	digits := func(r rune) bool { return r != '.' && (r < '0' || r > '9') }
	if number == "" || strings.ContainsFunc(number, digits) {
		return false
	}
	c.add(s)
	if number != s {
		c.add(number)
	}
	for range 4 {
		at := strings.LastIndexByte(number, '.')
		if at < 0 || !strings.Contains(number[:at], ".") {
			break
		}
		number = number[:at]
		c.add(number)
	}
	return true
}

// longestWord is how many bytes a word has at most to be stemmed.
const longestWord = 32

// word adds a single word.
func (c *termCutter) word(s string) {
	ascii := true
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if !ascii {
		s = strings.ReplaceAll(s, "’", "'")
		s = strings.Map(stripAccent, s)
	}
	if strings.IndexByte(s, '\'') >= 0 {
		s = strings.TrimSuffix(s, "'s")
		s = strings.ReplaceAll(s, "'", "")
	}
	if len(s) > 2 && len(s) <= longestWord && !strings.ContainsFunc(s, func(r rune) bool { return r < 'a' || r > 'z' }) {
		s = c.stem(s)
	}
	c.add(s)
}

// stripAccent returns a Latin letter without its accents, others as they are.
func stripAccent(r rune) rune {
	if r < 'À' || r > 'ɏ' {
		return r
	}
	if d := norm.NFD.PropertiesString(string(r)).Decomposition(); len(d) > 0 && d[0] < utf8.RuneSelf {
		return rune(d[0])
	}
	return r
}
