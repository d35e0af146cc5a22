package transcript

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// isBare reports whether r may stand in a word that is not quoted.
func isBare(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_.-+", r)
}

// quoteWord writes s as a word: as it is, or as a JSON string.
func quoteWord(s string) string { return wordWith(s, "") }

// wordWith is word where the characters of extra need no quotes either.
func wordWith(s, extra string) string {
	if s == "" {
		return `""`
	}
	for _, r := range s {
		if !isBare(r) && !strings.ContainsRune(extra, r) {
			return quoteJSON(s)
		}
	}
	return s
}

// quoteWords writes a list of words.
func quoteWords[S ~string](list []S) string {
	var out []string
	for _, s := range list {
		out = append(out, quoteWord(string(s)))
	}
	return strings.Join(out, ",")
}

// isVisible reports whether a reader sees r: printable characters, the space of
// Chinese and Japanese text, and the joiners that emoji and some scripts need.
func isVisible(r rune) bool {
	return unicode.IsPrint(r) || r == '\u3000' || r == '\u200c' || r == '\u200d'
}

// quoteJSON writes s as a JSON string in which everything that cannot be seen is
// escaped.
func quoteJSON(s string) string {
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
		case isVisible(r):
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

// plainLine reports whether a line of text needs no quotes: it has nothing that a
// reader would not see or an editor would remove.
func plainLine(l string) bool {
	if strings.HasPrefix(l, `"`) || l != strings.TrimRight(l, " \t") {
		return false
	}
	for _, r := range l {
		if !isVisible(r) && r != '\t' {
			return false
		}
	}
	return true
}

// firstLine writes the first line of a text, which stands behind something else.
func firstLine(l string) string {
	if !plainLine(l) || l != strings.TrimLeft(l, " \t") || commentAt(l) >= 0 {
		return quoteJSON(l)
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

// writeLines writes ": text" behind what the line has already, the text's further
// lines indented.
func writeLines(b *strings.Builder, text string) { writeIndented(b, text, indent) }

// writeExtra is writeLines for a + line, which has no colon where the text is
// empty.
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
			// An empty line before other lines needs no quotes.
		case l == "" || !plainLine(l):
			b.WriteString(indent + quoteJSON(l))
		default:
			b.WriteString(indent + l)
		}
		b.WriteByte('\n')
	}
}
