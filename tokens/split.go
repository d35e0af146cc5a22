package tokens

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// The text is split into pieces before tokens are merged. The rule of o200k is
// one regular expression, whose alternatives are tried in this order:
//
//	P?U*L+C?          a word that ends in lower case
//	P?U+L*C?          a word in upper case
//	\p{N}{1,3}        up to three digits
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)         white space, but for the last before a word
//	\s+
//
// where P is [^\r\n\p{L}\p{N}], U is [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}], L is
// [\p{Ll}\p{Lm}\p{Lo}\p{M}] and C is (?i:'s|'t|'re|'ve|'m|'ll|'d). Here it is
// written out, so that splitting is linear whatever the text.

// A class is what the rule asks of a character, as bits.
type class uint8

const (
	upper  class = 1 << iota // in U
	lower                    // in L
	letter                   // \p{L}
	number                   // \p{N}
	space                    // \s
	breaks                   // \r or \n
)

// both is a character in U and in L, such as a Han character or a mark.
const both = upper | lower

// classes are the tables of Unicode that make the classes.
var classes = []struct {
	table *unicode.RangeTable
	class class
}{
	{unicode.Lu, upper | letter}, {unicode.Lt, upper | letter}, {unicode.Ll, lower | letter},
	{unicode.Lm, both | letter}, {unicode.Lo, both | letter}, {unicode.M, both},
	{unicode.N, number}, {unicode.White_Space, space},
}

// plane is the classes of the characters below U+10000.
var plane = sync.OnceValue(func() *[1 << 16]class {
	t := new([1 << 16]class)
	for _, c := range classes {
		for _, r := range c.table.R16 {
			for i := int(r.Lo); i <= int(r.Hi); i += int(r.Stride) {
				t[i] |= c.class
			}
		}
	}
	t['\r'] |= breaks
	t['\n'] |= breaks
	return t
})

// classBeyond returns the class of a character from U+10000.
func classBeyond(r rune) class {
	for _, c := range classes {
		if unicode.Is(c.table, r) {
			return c.class
		}
	}
	return 0
}

// classAt returns the class and the width of the character of s at i. A byte that
// is no UTF-8 counts as U+FFFD, one byte wide.
func classAt(t *[1 << 16]class, s string, i int) (class, int) {
	if b := s[i]; b < utf8.RuneSelf {
		return t[b], 1
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	if r < 1<<16 {
		return t[r], n
	}
	return classBeyond(r), n
}

// pieceEnd returns where the piece of s that begins at i ends. i < len(s).
func pieceEnd(s string, i int) int {
	t := plane()
	c, n := classAt(t, s, i)
	prefixed := c&(breaks|letter|number) == 0
	if prefixed {
		if end := wordEnd(t, s, i+n); end > 0 {
			return end
		}
	}
	if c&both != 0 {
		if end := wordEnd(t, s, i); end > 0 {
			return end
		}
	}
	if prefixed {
		if end := upperEnd(t, s, i+n); end > 0 {
			return end
		}
	}
	if c&upper != 0 {
		return upperEnd(t, s, i)
	}
	switch {
	case c&number != 0:
		return numberEnd(t, s, i)
	case c&space == 0:
		return signEnd(t, s, i)
	case s[i] == ' ' && i+1 < len(s):
		if next, _ := classAt(t, s, i+1); next&(space|letter|number) == 0 {
			return signEnd(t, s, i+1)
		}
	}
	return spaceEnd(t, s, i)
}

// wordEnd matches U*L+C? at i and returns where the match ends, or 0.
func wordEnd(t *[1 << 16]class, s string, i int) int {
	end := 0 // behind the last character in both classes
	for i < len(s) {
		c, n := classAt(t, s, i)
		if c&upper == 0 {
			if c&lower == 0 {
				break
			}
			return matchContraction(s, lowerEnd(t, s, i))
		}
		i += n
		if c&lower != 0 {
			end = i
		}
	}
	// The run of U reached no lower case. It gives back its tail until L finds
	// one character: the last one in both classes.
	if end > 0 {
		return matchContraction(s, end)
	}
	return 0
}

// upperEnd matches U+C? at i where wordEnd found nothing, so that L* is empty.
func upperEnd(t *[1 << 16]class, s string, i int) int {
	start := i
	for i < len(s) {
		c, n := classAt(t, s, i)
		if c&upper == 0 {
			break
		}
		i += n
	}
	if i == start {
		return 0
	}
	return matchContraction(s, i)
}

func lowerEnd(t *[1 << 16]class, s string, i int) int {
	for i < len(s) {
		c, n := classAt(t, s, i)
		if c&lower == 0 {
			break
		}
		i += n
	}
	return i
}

// matchContraction returns i, or where a contraction such as 'll that begins at i
// ends.
func matchContraction(s string, i int) int {
	if i+1 >= len(s) || s[i] != '\'' {
		return i
	}
	switch s[i+1] | 0x20 {
	case 's', 't', 'm', 'd':
		return i + 2
	case 'r', 'v':
		if i+2 < len(s) && s[i+2]|0x20 == 'e' {
			return i + 3
		}
	case 'l':
		if i+2 < len(s) && s[i+2]|0x20 == 'l' {
			return i + 3
		}
	}
	return i
}

func numberEnd(t *[1 << 16]class, s string, i int) int {
	for range 3 {
		if i >= len(s) {
			break
		}
		c, n := classAt(t, s, i)
		if c&number == 0 {
			break
		}
		i += n
	}
	return i
}

// signEnd matches [^\s\p{L}\p{N}]+[\r\n/]* at i.
func signEnd(t *[1 << 16]class, s string, i int) int {
	for i < len(s) {
		c, n := classAt(t, s, i)
		if c&(space|letter|number) != 0 {
			break
		}
		i += n
	}
	for i < len(s) && (s[i] == '\r' || s[i] == '\n' || s[i] == '/') {
		i++
	}
	return i
}

// spaceEnd matches white space at i.
func spaceEnd(t *[1 << 16]class, s string, i int) int {
	start, last, line := i, i, 0
	for i < len(s) {
		c, n := classAt(t, s, i)
		if c&space == 0 {
			break
		}
		last = i
		i += n
		if c&breaks != 0 {
			line = i
		}
	}
	switch {
	case line > 0:
		return line
	case i == len(s) || last == start:
		return i
	}
	return last
}
