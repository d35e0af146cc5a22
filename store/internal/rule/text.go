// Package rule decides, for every engine, what a store does: how text is
// normalised, which values are valid, what a message becomes when another copy
// of it arrives, how metadata merge, and what each write of the queue changes.
//
// To record messages an engine calls [CheckScope], [Prepare] and [NewBatch]. For
// the queue it calls the function that decides about the method: [DecideBegin],
// [AddStep], [PutPost], [DecideFinish] and so on. Each takes the few values that the
// decision depends on and returns a [Change], which the engine writes. Nothing
// here reads or writes rows, so the engines cannot disagree.
package rule

import (
	"strings"
	"unicode/utf8"
)

// Text returns s as every store keeps it: NUL becomes U+2400, and what is not
// UTF-8 becomes U+FFFD, one for each lone surrogate and for each other byte.
// PostgreSQL stores neither NUL nor invalid UTF-8.
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
			n = surrogateLength(s[i:])
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// surrogateLength returns 3 when s begins with a surrogate written as UTF-8 would
// write any other code point (ED A0..BF 80..BF), else 1.
func surrogateLength(s string) int {
	if len(s) >= 3 && s[0] == 0xED && s[1] >= 0xA0 && s[1] <= 0xBF && s[2]&0xC0 == 0x80 {
		return 3
	}
	return 1
}

// text is Text for types whose underlying type is string.
func text[T ~string](s T) T { return T(Text(string(s))) }
