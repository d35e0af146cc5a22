package office

import "strings"

// A writer makes lines of paragraphs and of the rows of tables.
type writer struct {
	limit int  // about how many bytes are taken
	size  int  // how many were
	full  bool // there was more
	muted bool // what is added is left out

	out   strings.Builder
	line  strings.Builder // of the paragraph
	mark  string          // stands before it
	depth int             // of tables
	cells []string        // of the outermost table's row
	cell  []string        // paragraphs of its cell
}

// add writes words of a paragraph.
func (w *writer) add(s string) {
	switch {
	case w.muted:
	case w.size > w.limit:
		w.full = true
	default:
		if most := w.limit - w.size + 1; len(s) > most {
			s, w.full = strings.ToValidUTF8(s[:most], ""), true
		}
		w.size += len(s)
		w.line.WriteString(s)
	}
}

// begin starts a paragraph. The mark stands before it, as "- " before one of a list.
func (w *writer) begin(mark string) {
	w.end()
	w.mark = mark
}

// end ends a paragraph.
func (w *writer) end() {
	s := strings.Join(strings.Fields(w.line.String()), " ")
	w.line.Reset()
	switch {
	case s == "":
	case w.depth > 0:
		w.cell = append(w.cell, s)
	default:
		w.write(w.mark + s)
	}
	w.mark = ""
}

// write writes a line.
func (w *writer) write(line string) {
	if w.out.Len() > w.limit {
		w.full = true
		return
	}
	w.out.WriteString(line + "\n")
}

// beginTable begins a table. One within a cell is read as paragraphs of the cell.
func (w *writer) beginTable() {
	w.end()
	w.depth++
}

func (w *writer) endTable() {
	w.end()
	w.depth = max(0, w.depth-1)
}

func (w *writer) endCell() {
	if w.end(); w.depth == 1 {
		w.size += len(" | ")
		w.cells = append(w.cells, strings.Join(w.cell, " / "))
		w.cell = nil
		w.full = w.full || w.size > w.limit
	}
}

// endRow writes a row; one that was dropped is not written.
func (w *writer) endRow(dropped bool) {
	if w.depth != 1 {
		return
	}
	if line := joinCells(w.cells); line != "" && !dropped {
		w.write(line)
	}
	w.cells = nil
}

// joinCells returns a row as a line; "" for one without text.
func joinCells(cells []string) string {
	last := len(cells)
	for last > 0 && cells[last-1] == "" {
		last--
	}
	return strings.Join(cells[:last], " | ")
}

// finish ends what is open, where reading ended within it.
func (w *writer) finish() {
	w.end()
	if w.depth > 0 {
		w.depth = 1
		w.endCell()
		w.endRow(false)
		w.depth = 0
	}
}

// copy writes what another writer has.
func (w *writer) copy(from *writer) {
	from.finish()
	for line := range strings.Lines(from.out.String()) {
		w.write(strings.TrimSuffix(line, "\n"))
	}
	w.full = w.full || from.full
}

// asLine returns what was written on one line.
func (w *writer) asLine() string {
	w.finish()
	return strings.ReplaceAll(strings.TrimSpace(w.out.String()), "\n", " / ")
}
