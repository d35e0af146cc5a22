package terminal

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// A Table is rows under a header, without borders. Where a line would be too
// long, the last column is cut; where that is not enough on a narrow terminal,
// each row becomes a block of lines.
type Table struct {
	head  []string
	rows  [][]string
	right map[int]bool
}

// gap is how many cells stand between two columns.
const gap = 2

// NewTable returns a table with these headings.
func NewTable(head ...string) *Table { return &Table{head: head, right: map[int]bool{}} }

// Right aligns columns to the right, as numbers are read.
func (t *Table) Right(columns ...int) *Table {
	for _, c := range columns {
		t.right[c] = true
	}
	return t
}

// Row adds a row. Cells may have colours; each is one line.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

// narrow is the width in cells below which a table that is too wide is written in
// blocks. On a wider terminal its lines may be longer than the terminal's, because
// columns can be compared.
const narrow = 60

// Render returns the table. No line is wider than width cells, unless the columns
// before the last leave it fewer than ten and the terminal is not narrow.
func (t *Table) Render(width int) string {
	widths := make([]int, len(t.head))
	for c, head := range t.head {
		widths[c] = ansi.StringWidth(head)
		for _, r := range t.rows {
			if c < len(r) {
				widths[c] = max(widths[c], ansi.StringWidth(r[c]))
			}
		}
	}
	used, last := 0, len(t.head)-1
	for _, w := range widths[:last] {
		used += w + gap
	}
	if width < narrow && used+10 > width {
		return t.blocks(width)
	}
	widths[last] = max(ansi.StringWidth(t.head[last]), min(widths[last], max(10, width-used)))
	var b strings.Builder
	line := func(cells []string, style func(...string) string) {
		var l strings.Builder
		for c, w := range widths {
			cell := ""
			if c < len(cells) {
				cell = cells[c]
			}
			if c == last {
				cell = ansi.Truncate(cell, w, "…")
			}
			space := strings.Repeat(" ", w-ansi.StringWidth(cell))
			if cell != "" {
				cell = style(cell)
			}
			if t.right[c] {
				l.WriteString(space + cell)
			} else {
				l.WriteString(cell + space)
			}
			l.WriteString(strings.Repeat(" ", gap))
		}
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	line(t.head, lipgloss.NewStyle().Foreground(lipgloss.Color("8")).Render)
	for _, r := range t.rows {
		line(r, func(s ...string) string { return s[0] })
	}
	return b.String()
}

// blocks writes each row as lines of heading and cell, with a blank line between
// rows. Empty cells are left out; a long cell goes on over several lines.
func (t *Table) blocks(width int) string {
	label := 0
	for _, h := range t.head {
		label = max(label, ansi.StringWidth(h))
	}
	indent := strings.Repeat(" ", label+gap)
	var b strings.Builder
	for i, r := range t.rows {
		if i > 0 {
			b.WriteString("\n")
		}
		for c, cell := range r {
			if strings.TrimSpace(ansi.Strip(cell)) == "" {
				continue
			}
			head := faint.Render(t.head[c]) + strings.Repeat(" ", label-ansi.StringWidth(t.head[c])+gap)
			text := strings.TrimSpace(ansi.Wrap(cell, max(10, width-label-gap), ""))
			b.WriteString(head + strings.ReplaceAll(text, "\n", "\n"+indent) + "\n")
		}
	}
	return b.String()
}
