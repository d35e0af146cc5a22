package transcript

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
)

// bare reports whether r may stand in a word that is not quoted.
func bare(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_.-+", r)
}

// word writes s as a word: as it is, or as a JSON string.
func word(s string) string { return wordWith(s, "") }

// wordWith is word where the characters of extra need no quotes either.
func wordWith(s, extra string) string {
	if s == "" {
		return `""`
	}
	for _, r := range s {
		if !bare(r) && !strings.ContainsRune(extra, r) {
			return quote(s)
		}
	}
	return s
}

// words writes a list of words.
func words[S ~string](list []S) string {
	var out []string
	for _, s := range list {
		out = append(out, word(string(s)))
	}
	return strings.Join(out, ",")
}

// visible reports whether a reader sees r: printable characters, the space of
// Chinese and Japanese text, and the joiners that emoji and some scripts need.
func visible(r rune) bool {
	return unicode.IsPrint(r) || r == '\u3000' || r == '\u200c' || r == '\u200d'
}

// quote writes s as a JSON string in which everything that cannot be seen is
// escaped.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case visible(r):
			b.WriteRune(r)
		default:
			units := utf16.Encode([]rune{r})
			for _, u := range units {
				fmt.Fprintf(&b, `\u%04x`, u)
			}
		}
	}
	b.WriteByte('"')
	return b.String()
}

// plainLine reports whether a line of text can stand as it is: nothing in it
// that a reader or an editor would lose.
func plainLine(l string) bool {
	if strings.HasPrefix(l, `"`) || l != strings.TrimRight(l, " \t") {
		return false
	}
	for _, r := range l {
		if !visible(r) && r != '\t' {
			return false
		}
	}
	return true
}

// firstLine writes a line that stands behind something else in its line.
func firstLine(l string) string {
	if !plainLine(l) || l != strings.TrimLeft(l, " \t") || commentAt(l) >= 0 {
		return quote(l)
	}
	return l
}

// commentAt returns where a comment begins in the first line of a text: two
// spaces, a # and a space or the end. -1 when there is none.
func commentAt(l string) int {
	for from := 0; ; {
		i := strings.Index(l[from:], "  #")
		if i < 0 {
			return -1
		}
		i += from
		if rest := l[i+3:]; rest == "" || rest[0] == ' ' {
			return i
		}
		from = i + 1
	}
}

// indent begins each further line of a text, and extraIndent those of the text
// of a + line.
const (
	indent      = "    "
	extraIndent = "      "
)

// writeLines writes ": text", its first line behind what stands in the line
// already and the others indented.
func writeLines(b *strings.Builder, text string) { writeIndented(b, text, indent) }

// writeExtra is writeLines for a + line, of which an empty text leaves no
// colon.
func writeExtra(b *strings.Builder, text string) {
	if text == "" {
		b.WriteByte('\n')
		return
	}
	writeIndented(b, text, extraIndent)
}

func writeIndented(b *strings.Builder, text, indent string) {
	b.WriteByte(':')
	lines := strings.Split(text, "\n")
	if lines[0] != "" {
		b.WriteString(" " + firstLine(lines[0]))
	}
	b.WriteByte('\n')
	for i, l := range lines[1:] {
		last := i == len(lines)-2
		switch {
		case l == "" && !last:
			// An empty line in the middle needs no mark.
		case l == "" || !plainLine(l):
			b.WriteString(indent + quote(l))
		default:
			b.WriteString(indent + l)
		}
		b.WriteByte('\n')
	}
}

// A scanner reads one line of a given section. The first error stays, and
// makes everything after it do nothing.
type scanner struct {
	line int
	s    string
	at   int
	err  *Error
}

func (x *scanner) fail(format string, args ...any) {
	if x.err == nil {
		x.err = &Error{x.line, fmt.Sprintf(format, args...)}
	}
}

// left is what was not read yet.
func (x *scanner) left() string {
	if x.err != nil {
		return ""
	}
	return x.s[x.at:]
}

// accept reads s if it stands next.
func (x *scanner) accept(s string) bool {
	if !strings.HasPrefix(x.left(), s) {
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

// done reports whether nothing is left but spaces and a comment.
func (x *scanner) done() bool {
	l := x.left()
	if i := commentAt(l); i >= 0 {
		l = l[:i]
	}
	return strings.TrimSpace(l) == ""
}

// take reads the longest run of runes that fit.
func (x *scanner) take(fits func(rune) bool) string {
	l := x.left()
	n := strings.IndexFunc(l, func(r rune) bool { return !fits(r) })
	if n < 0 {
		n = len(l)
	}
	if x.err == nil {
		x.at += n
	}
	return l[:n]
}

// word reads a word, bare or quoted; what says what is missing without one.
func (x *scanner) word(what string) string { return x.wordWith(what, "") }

func (x *scanner) wordWith(what, extra string) string {
	if strings.HasPrefix(x.left(), `"`) {
		return x.quoted()
	}
	w := x.take(func(r rune) bool { return bare(r) || strings.ContainsRune(extra, r) })
	if w == "" {
		x.fail("%s is missing at %q", what, x.left())
	}
	return w
}

// words reads words with commas between.
func (x *scanner) words(what string) []string {
	list := []string{x.word(what)}
	for x.accept(",") {
		list = append(list, x.word(what))
	}
	return list
}

// quoted reads a JSON string.
func (x *scanner) quoted() string {
	l := x.left()
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

// rest reads a text to the end of the line: plain, up to a comment, or quoted.
func (x *scanner) rest() string {
	x.spaces()
	if strings.HasPrefix(x.left(), `"`) {
		s := x.quoted()
		if !x.done() {
			x.fail("something stands behind a quoted text: %q", x.left())
		}
		return s
	}
	l := x.left()
	if i := commentAt(l); i >= 0 {
		l = l[:i]
	}
	x.at = len(x.s)
	return strings.Trim(l, " \t")
}

// integer reads a number.
func (x *scanner) integer(what string) int64 {
	w := x.word(what)
	n, err := strconv.ParseInt(w, 10, 64)
	if err != nil {
		x.fail("%s is not a whole number: %q", what, w)
	}
	return n
}

// number reads a number that need not be whole.
func (x *scanner) number(what string) float64 {
	w := x.word(what)
	n, err := strconv.ParseFloat(w, 64)
	if err != nil {
		x.fail("%s is not a number: %q", what, w)
	}
	return n
}

// time reads a time: "-" for none, 09:00:00 on the date in force, RFC 3339, a
// Slack ts, or @ and microseconds since 1970.
func (x *scanner) time(date string) earshot.Time {
	w := x.take(func(r rune) bool {
		return '0' <= r && r <= '9' || r == 'T' || r == 'Z' || r == 't' || r == 'z' || strings.ContainsRune(":.+-@", r)
	})
	if cut := strings.TrimRight(w, ":"); cut != w && x.err == nil {
		x.at -= len(w) - len(cut) // the colon that ends the head of a line
		w = cut
	}
	if w == "-" {
		return 0
	}
	if n, ok := strings.CutPrefix(w, "@"); ok {
		if v, err := strconv.ParseInt(n, 10, 64); err == nil {
			return earshot.Time(v)
		}
	}
	full := w
	if len(w) >= len("09:00") && w[2] == ':' {
		if len(w) == len("09:00") {
			full += ":00"
		}
		full = date + "T" + full + "Z"
	}
	t, err := earshot.ParseTime(full)
	if err != nil {
		x.fail("%q is no time; write 09:00:00, 2026-03-02T09:00:00Z or a Slack ts", w)
	}
	return t
}

// timeText writes t in the shortest form that reads as t on that date.
func timeText(t earshot.Time, date string) string {
	if t == 0 {
		return "-"
	}
	if y := t.UTC().Year(); y < 1 || y > 9999 {
		return "@" + strconv.FormatInt(int64(t), 10)
	}
	s := t.String()
	if s[:len(date)] == date {
		return s[len(date)+1 : len(s)-1]
	}
	return s
}

// dateOf returns the day of t, and false where it has none that can be written.
func dateOf(t earshot.Time) (string, bool) {
	if y := t.UTC().Year(); t == 0 || y < 1 || y > 9999 {
		return "", false
	}
	return t.String()[:len("2006-01-02")], true
}

// handleOf makes a short lower-case word of a name.
func handleOf(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		case r == ' ' || r == '-' || r == '_' || r == '.':
			b.WriteByte('-')
		}
		if b.Len() >= 24 {
			break
		}
	}
	if h := strings.Trim(b.String(), "-"); h != "" {
		return h
	}
	return "someone"
}

// named is the name of an author who is written by handle alone: with a
// capital, so that a case tells ids from names.
func named(handle string) string {
	r, n := utf8.DecodeRuneInString(handle)
	return string(unicode.ToUpper(r)) + handle[n:]
}
