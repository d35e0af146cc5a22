// Package terminal writes what commands show on a terminal: prompts coloured by
// section, ledgers and other tables, threads, bars.
//
// Start with [NewTable], [Prompt] and [Ledger]. Every function returns text
// with ANSI colours, which the command's writer removes where they are not
// wanted. Texts that people wrote pass through [plain.Clean], so that a message cannot
// move the cursor, change colours or reorder a line.
package terminal

import (
	"image/color"
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

// Cut cuts a line, which may have colours, to width cells, with … where it was
// cut.
func Cut(s string, width int) string { return ansi.Truncate(s, width, "…") }
