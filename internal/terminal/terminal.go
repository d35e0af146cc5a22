// Package terminal writes what commands show on a terminal: prompts coloured by
// section, ledgers and other tables, threads, bars.
//
// Start with [NewTable], [Prompt] and [Ledger]. Every function returns text
// with ANSI colours, which the command's writer removes where they are not
// wanted. Texts that people wrote pass through [plain.Clean], so that a message cannot
// move the cursor, change colours or reorder a line.
package terminal

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

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

// Section colours a text as one of a section, in one of the 16 colours that every
// terminal theme sets to fit its background: each line by itself, because lipgloss pads
// the lines of a text to one width.
func Section(name assemble.SectionName, s string) string {
	look, ok := name.Look()
	if !ok {
		return s
	}
	style := lipgloss.NewStyle().Foreground(lipgloss.ANSIColor(look.ANSI)).TabWidth(lipgloss.NoTabConversion)
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = style.Render(line)
		}
	}
	return strings.Join(lines, "\n")
}

// CutWidth cuts a line, which may have colours, to width cells, with … where it was
// cut.
func CutWidth(s string, width int) string { return ansi.Truncate(s, width, "…") }
