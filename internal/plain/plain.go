// Package plain writes what was stored in plain words for people, without colours: for
// pages, for a terminal, for logs.
//
// Start with [Line], [Clean] and [Readable]. Texts that people wrote pass through [Clean],
// so that a message cannot move the cursor, change colours or reorder a line.
package plain

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"github.com/earshot-ai/earshot"
)

// Clean returns a text without the characters that control a terminal or reorder
// a line: control, bidirectional and tag characters. Line breaks stay; a tab
// becomes a space.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r >= 0xE0000 && r <= 0xE0FFF, r == 0xFEFF:
			return -1
		}
		return r
	}, s)
}

// Line returns a text as one line of at most width cells, with … where it was
// cut. Mentions are shown as people see them.
func Line(s string, width int) string {
	s = strings.Join(strings.Fields(Clean(Readable(s))), " ")
	return ansi.Truncate(s, width, "…")
}

// ID returns an id or a name as one line. It is never cut, so that it can be
// copied.
func ID(s string) string { return strings.Join(strings.Fields(Clean(s)), " ") }

// Readable returns a stored text with its mentions and links as people see them:
// <@U1|Alice> becomes @Alice, <https://x|label> label. One without a label only
// loses its brackets.
func Readable(s string) string {
	if !strings.Contains(s, "<") {
		return s
	}
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "<")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		inner, after, ok := strings.Cut(rest, ">")
		if !ok || inner == "" || strings.ContainsAny(inner, "<\n") || !strings.ContainsAny(inner[:1], "@#!h") {
			b.WriteByte('<')
			s = rest
			continue
		}
		target, label, labelled := strings.Cut(inner, "|")
		switch {
		case strings.HasPrefix(target, "http"):
			if labelled && label != "" {
				b.WriteString(label)
			} else {
				b.WriteString(target)
			}
		case target[0] == 'h':
			b.WriteString("<" + inner + ">")
		default:
			sign := "@"
			if target[0] == '#' {
				sign = "#"
			}
			if !labelled || label == "" {
				label = strings.TrimLeft(target, "@#!")
			}
			b.WriteString(sign + strings.TrimLeft(label, "@#"))
		}
		s = after
	}
}

// Day writes a time's day, in UTC.
func Day(t earshot.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("2006-01-02")
}

// Minute writes a time to the minute, in UTC.
func Minute(t earshot.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("2006-01-02 15:04")
}

// Number writes n with commas between thousands.
func Number(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Count writes a number and a noun, with an s unless the number is one:
// "2 messages".
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return Number(n) + " " + noun
}
