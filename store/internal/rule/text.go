// Package rule holds what every store decides alike: how text is normalised
// at the door, which values are within bounds, what a message becomes when
// another copy of it arrives, how metadata merge, and what each write of the
// queue does.
//
// Of messages a store calls [Scope], [Prepare] and [Batch], of the queue [Begin],
// [AddStep], [PutPost], [Finish] and the others that are named like its methods;
// each takes the little state that matters and returns what is to be written
// ([Change]). Nothing here knows how rows are kept, so two stores cannot disagree.
package rule

import (
	"strings"
	"unicode/utf8"
)

// Text returns s as every store keeps it: NUL becomes U+2400, and what is not
// UTF-8 becomes U+FFFD, one for each lone surrogate and for each other byte.
// SQLite would take the former, PostgreSQL neither.
func Text(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 8)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == 0:
			b.WriteRune('\u2400')
		case r == utf8.RuneError && n == 1:
			b.WriteRune(utf8.RuneError)
			n = surrogate(s[i:])
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// surrogate returns 3 when s begins with a surrogate written as UTF-8 would
// write any other code point (ED A0..BF 80..BF), else 1.
func surrogate(s string) int {
	if len(s) >= 3 && s[0] == 0xED && s[1] >= 0xA0 && s[1] <= 0xBF && s[2]&0xC0 == 0x80 {
		return 3
	}
	return 1
}

// text is Text for the named string types.
func text[T ~string](s T) T { return T(Text(string(s))) }
