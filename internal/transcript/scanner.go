package transcript

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// A scanner reads one line of a given section. It keeps the first error; after
// one, its methods read nothing.
type scanner struct {
	line int
	s    string
	at   int
	err  *Error
}

// fail records an error, unless there is one.
func (x *scanner) fail(format string, args ...any) {
	if x.err == nil {
		x.err = &Error{x.line, fmt.Sprintf(format, args...)}
	}
}

// remaining returns the part of the line that is not read yet.
func (x *scanner) remaining() string {
	if x.err != nil {
		return ""
	}
	return x.s[x.at:]
}

// accept reads s if that comes next, and reports whether it did.
func (x *scanner) accept(s string) bool {
	if !strings.HasPrefix(x.remaining(), s) {
		return false
	}
	x.at += len(s)
	return s != "" && x.err == nil
}

// spaces reads spaces and reports whether there was one.
func (x *scanner) spaces() bool {
	found := false
	for x.accept(" ") {
		found = true
	}
	return found
}

// atEnd reports whether nothing is left but spaces and a comment.
func (x *scanner) atEnd() bool {
	l := x.remaining()
	if i := commentAt(l); i >= 0 {
		l = l[:i]
	}
	return strings.TrimSpace(l) == ""
}

// take reads the longest run of runes for which fits is true.
func (x *scanner) take(fits func(rune) bool) string {
	l := x.remaining()
	n := strings.IndexFunc(l, func(r rune) bool { return !fits(r) })
	if n < 0 {
		n = len(l)
	}
	if x.err == nil {
		x.at += n
	}
	return l[:n]
}

// readWord reads a word, bare or quoted. what is the expected thing, for the error.
func (x *scanner) readWord(what string) string { return x.wordWith(what, "") }

// wordWith is word, where a bare word may have the characters of extra too.
func (x *scanner) wordWith(what, extra string) string {
	if strings.HasPrefix(x.remaining(), `"`) {
		return x.readQuoted()
	}
	w := x.take(func(r rune) bool { return isBare(r) || strings.ContainsRune(extra, r) })
	if w == "" {
		x.fail("%s is missing at %q", what, x.remaining())
	}
	return w
}

// readWords reads words with commas between.
func (x *scanner) readWords(what string) []string {
	list := []string{x.readWord(what)}
	for x.accept(",") {
		list = append(list, x.readWord(what))
	}
	return list
}

// readQuoted reads a JSON string.
func (x *scanner) readQuoted() string {
	l := x.remaining()
	end := 1
	for end < len(l) && l[end] != '"' {
		if l[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(l) {
		x.fail("a quoted text has no end: %s", l)
		return ""
	}
	var s string
	if err := json.Unmarshal([]byte(l[:end+1]), &s); err != nil {
		x.fail("not a JSON string: %s", l[:end+1])
		return ""
	}
	x.at += end + 1
	return s
}

// readRest reads a text to the end of the line: plain, up to a comment, or quoted.
func (x *scanner) readRest() string {
	x.spaces()
	if strings.HasPrefix(x.remaining(), `"`) {
		s := x.readQuoted()
		if !x.atEnd() {
			x.fail("something stands behind a quoted text: %q", x.remaining())
		}
		return s
	}
	l := x.remaining()
	if i := commentAt(l); i >= 0 {
		l = l[:i]
	}
	x.at = len(x.s)
	return strings.Trim(l, " \t")
}

// integer reads a whole number.
func (x *scanner) integer(what string) int64 {
	w := x.readWord(what)
	n, err := strconv.ParseInt(w, 10, 64)
	if err != nil {
		x.fail("%s is not a whole number: %q", what, w)
	}
	return n
}

// number reads a number that need not be whole.
func (x *scanner) number(what string) float64 {
	w := x.readWord(what)
	n, err := strconv.ParseFloat(w, 64)
	if err != nil {
		x.fail("%s is not a number: %q", what, w)
	}
	return n
}

// text reads ": text" to the end of the line. more are the text's further lines,
// which stand below.
func (x *scanner) text(more []string) string {
	if !x.accept(":") {
		x.fail("a colon and a text are missing at %q", x.remaining())
		return ""
	}
	lines := []string{x.readRest()}
	return strings.Join(append(lines, more...), "\n")
}

// maybeText is text, which may be absent.
func (x *scanner) maybeText(more []string) string {
	if strings.HasPrefix(x.remaining(), ":") {
		return x.text(more)
	}
	if len(more) > 0 {
		x.fail("a colon is missing before the text")
	}
	return ""
}

// fields reads "key=value" pairs up to a colon or the end of the line.
func (x *scanner) fields(read map[string]func()) {
	seen := map[string]bool{}
	for x.err == nil && !strings.HasPrefix(x.remaining(), ":") && !x.atEnd() {
		if !x.spaces() {
			x.fail("a space is missing at %q", x.remaining())
			return
		}
		name := x.take(func(c rune) bool { return 'a' <= c && c <= 'z' || c == '_' || '0' <= c && c <= '9' })
		f, ok := read[name]
		switch {
		case !ok || !x.accept("="):
			x.fail("not understood: %q", name+x.remaining())
		case seen[name]:
			x.fail("%s stands twice", name)
		default:
			seen[name] = true
			f()
		}
	}
}

// convertIDs converts words to ids.
func convertIDs[T ~string](words []string) []T {
	var ids []T
	for _, w := range words {
		ids = append(ids, T(w))
	}
	return ids
}
