// Package desk writes what commands show on a terminal: prompts coloured by
// section, ledgers and other tables, threads, bars.
//
// Start with [NewTable], [Prompt] and [Ledger]. Every function returns text
// with ANSI colours, which the command's writer removes where they are not
// wanted. Texts that people wrote pass through [Clean], so that a message cannot
// move the cursor, change colours or reorder a line.
package desk

import (
	"image/color"
	"strings"
	"unicode"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

var (
	strong = lipgloss.NewStyle().Bold(true)
	faint  = lipgloss.NewStyle().Foreground(lipgloss.Color("8"))
	mark   = lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Color("11"))
	good   = lipgloss.NewStyle().Foreground(lipgloss.Color("10"))
	bad    = lipgloss.NewStyle().Foreground(lipgloss.Color("9"))
	title  = lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Color("14"))
)

// Strong, Faint, Mark, Good, Bad and Title style a text: a name, a side note, a
// matched word, success, failure, a heading.
func Strong(s string) string { return strong.Render(s) }
func Faint(s string) string  { return faint.Render(s) }
func Mark(s string) string   { return mark.Render(s) }
func Good(s string) string   { return good.Render(s) }
func Bad(s string) string    { return bad.Render(s) }
func Title(s string) string  { return title.Render(s) }

// sectionColours are the colours of sections, of the 16 that every terminal theme
// sets to fit its background. A section that is not listed has the colour of
// plain text.
var sectionColours = map[assemble.SectionName]color.Color{
	assemble.Guide:        lipgloss.Color("8"),
	assemble.Instructions: lipgloss.Color("8"),
	assemble.SessionPart:  lipgloss.Color("7"),
	assemble.Place:        lipgloss.Color("4"),
	assemble.SummaryPart:  lipgloss.Color("5"),
	assemble.Transcript:   lipgloss.Color("6"),
	assemble.Snapshot:     lipgloss.Color("13"),
	assemble.Recall:       lipgloss.Color("14"),
	assemble.Window:       lipgloss.Color("12"),
	assemble.Thread:       lipgloss.Color("2"),
	assemble.Chain:        lipgloss.Color("10"),
	assemble.Delta:        lipgloss.Color("3"),
	assemble.Media:        lipgloss.Color("5"),
	assemble.Anchor:       lipgloss.Color("11"),
}

// Section colours a text as one of a section, each line by itself, because
// lipgloss pads the lines of a text to one width.
func Section(name assemble.SectionName, s string) string {
	c, ok := sectionColours[name]
	if !ok {
		return s
	}
	style := lipgloss.NewStyle().Foreground(c).TabWidth(lipgloss.NoTabConversion)
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = style.Render(line)
		}
	}
	return strings.Join(lines, "\n")
}

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

// Cut cuts a line, which may have colours, to width cells, with … where it was
// cut.
func Cut(s string, width int) string { return ansi.Truncate(s, width, "…") }

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
