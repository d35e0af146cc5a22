package office

import (
	"fmt"
	"strings"
)

// Bounds of a workbook: the first rows of each sheet are what says what it is about.
const (
	maxSheets  = 50
	maxRows    = 200 // of a sheet
	maxColumns = 50
	maxCells   = 20_000 // of all sheets
	maxCell    = 500    // bytes of a cell's text
	sheetFrame = 64     // bytes of the lines around a sheet's rows
)

// A sheet is the beginning of one.
type sheet struct {
	name   string
	hidden bool
	rows   [][]string
	more   bool // there are more rows
	wide   bool // there are more columns

	left *int // how many cells may still be kept, of all sheets
}

// add adds a row with text; false says that no more are taken.
func (s *sheet) add(row []string) bool {
	if joinCells(row) == "" {
		return true
	}
	if len(s.rows) == maxRows || *s.left < len(row) {
		s.more = true
		return false
	}
	*s.left -= len(row)
	s.rows = append(s.rows, row)
	return true
}

// put puts a cell into a row, at a column from 0, and returns the row.
func (s *sheet) put(row []string, column int, text string) []string {
	switch {
	case text == "":
		return row
	case column >= maxColumns:
		s.wide = true
		return row
	}
	for len(row) <= column {
		row = append(row, "")
	}
	row[column] = text
	return row
}

// cellText is a cell's text on one line, cut where it is long.
func cellText(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > maxCell {
		s = strings.ToValidUTF8(s[:maxCell], "") + "…"
	}
	return s
}

// size is how many bytes the rows have.
func (s *sheet) size() int {
	n := 0
	for _, row := range s.rows {
		n += len(joinCells(row)) + 1
	}
	return n
}

// writeSheets writes sheets. Where there is no room for all rows, each sheet has its share
// of it, and more where others do not use theirs.
func writeSheets(sheets []*sheet, w *writer) {
	for i, s := range sheets {
		head := "sheet: " + cellText(s.name)
		if s.hidden {
			head += " (hidden)"
		}
		w.write(head)
		left := w.limit - w.out.Len()
		room, share := left, left/(len(sheets)-i)
		for _, later := range sheets[i+1:] {
			room -= min(later.size()+sheetFrame, share)
		}
		rows := 0
		for _, row := range s.rows {
			line := joinCells(row)
			if room -= len(line) + 1; room < 0 && rows > 0 {
				break
			}
			w.write(line)
			rows++
		}
		switch {
		case s.more || rows < len(s.rows):
			w.write(fmt.Sprintf("[the first %d rows; there are more]", rows))
		case rows == 0:
			w.write("[empty]")
		}
		if s.wide {
			w.write(fmt.Sprintf("[the first %d columns; there are more]", maxColumns))
		}
	}
}
