package office

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
)

// workbook writes the sheets of a workbook of Excel.
func (p *pack) workbook(main string, w *writer) error {
	b := &workbook{pack: p, rels: p.related(main), left: maxCells}
	if err := b.readSheets(main); err != nil {
		return err
	}
	if list := b.rels.ofType("styles"); len(list) > 0 {
		b.readFormats(list[0])
	}
	var failed error
	for i, s := range b.sheets {
		if failed == nil {
			failed = b.readRows(b.parts[i], s)
		}
	}
	if list := b.rels.ofType("sharedStrings"); len(list) > 0 {
		failed = errors.Join(failed, b.readShared(list[0]))
	}
	writeSheets(b.sheets, w)
	return failed
}

type workbook struct {
	pack   *pack
	rels   relations
	sheets []*sheet
	parts  []string
	since  int      // the year that dates count from: 1900 or 1904
	forms  []format // by the number of a cell's style
	shared []sharedCell
	left   int // how many cells may still be kept
}

// A sharedCell is a cell whose text is among those that the sheets share. They are looked
// up when it is known which are needed, because there may be a million.
type sharedCell struct {
	index int
	at    *string
}

func (b *workbook) readSheets(main string) error {
	x, err := b.pack.open(main)
	if err != nil {
		return err
	}
	defer x.close()
	b.since = 1900
	for {
		e, err := x.nextStart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch e.Name.Local {
		case "workbookPr":
			if v := attribute(e, "date1904"); v == "1" || v == "true" {
				b.since = 1904
			}
		case "sheet":
			part := b.rels.part[relationID(e)]
			if len(b.sheets) == maxSheets {
				return ErrLarge
			}
			if b.pack.has(part) {
				state := attribute(e, "state")
				b.sheets = append(b.sheets, &sheet{name: attribute(e, "name"), hidden: state != "" && state != "visible", left: &b.left})
				b.parts = append(b.parts, part)
			}
		}
	}
}

// readFormats reads how cells show numbers.
func (b *workbook) readFormats(part string) {
	x, err := b.pack.open(part)
	if err != nil {
		return
	}
	defer x.close()
	custom := map[string]format{}
	for len(b.forms) < maxRelated && len(custom) < maxRelated {
		e, err := x.nextStart()
		if err != nil {
			return
		}
		switch e.Name.Local {
		case "numFmt":
			custom[attribute(e, "numFmtId")] = formatOf(attribute(e, "formatCode"))
		case "cellXfs":
			if x.inside(func(e xml.StartElement) error {
				if e.Name.Local == "xf" && len(b.forms) < maxRelated {
					id := attribute(e, "numFmtId")
					f, ok := custom[id]
					if !ok {
						f = builtInFormat(id)
					}
					b.forms = append(b.forms, f)
				}
				return nil
			}) != nil {
				return
			}
		}
	}
}

// readRows reads the first rows of a sheet.
func (b *workbook) readRows(part string, s *sheet) error {
	x, err := b.pack.open(part)
	if err != nil {
		return err
	}
	defer x.close()
	for {
		e, err := x.nextStart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch e.Name.Local {
		case "chartsheet", "dialogsheet":
			return nil
		case "row":
			row, shared, err := b.readRow(x, s)
			if !s.add(row) {
				return nil
			}
			for column, index := range shared {
				b.shared = append(b.shared, sharedCell{index, &row[column]})
			}
			if err != nil {
				return err
			}
		}
	}
}

// readRow reads a row, and which of its columns have a shared text. These have a mark in
// its place.
func (b *workbook) readRow(x *part, s *sheet) (row []string, shared map[int]int, err error) {
	shared = map[int]int{}
	column := 0
	err = x.inside(func(e xml.StartElement) error {
		if e.Name.Local != "c" {
			return nil
		}
		if at := attribute(e, "r"); at != "" {
			column = columnOf(at)
		}
		text, index, err := b.readCell(x, e)
		if row = s.put(row, column, text); index >= 0 && column < len(row) {
			shared[column] = index
		}
		column++
		return err
	})
	return row, shared, err
}

// sharedMark stands for a shared text until it is known.
const sharedMark = "?"

// readCell returns a cell's text, or the index of its shared one.
func (b *workbook) readCell(x *part, c xml.StartElement) (text string, index int, err error) {
	var value, formula string
	var rich strings.Builder
	err = x.inside(func(e xml.StartElement) error {
		var err error
		switch e.Name.Local {
		case "v":
			value, err = x.text()
		case "f":
			formula, err = x.text()
		case "rPh": // how it is read aloud
			err = x.skip()
		case "t":
			var s string
			s, err = x.text()
			rich.WriteString(s)
		}
		return err
	})
	value = strings.TrimSpace(value)
	switch kind := attribute(c, "t"); {
	case kind == "inlineStr":
		return cellText(rich.String()), -1, err
	case value == "" && formula != "":
		return cellText("=" + formula), -1, err
	case value == "":
		return "", -1, err
	case kind == "s":
		if n, bad := strconv.Atoi(value); bad == nil && n >= 0 {
			return sharedMark, n, err
		}
		return "", -1, err
	case kind == "b" && value == "1":
		return "TRUE", -1, err
	case kind == "b" && value == "0":
		return "FALSE", -1, err
	case kind == "" || kind == "n":
		var f format
		if n, bad := strconv.Atoi(attribute(c, "s")); bad == nil && n >= 0 && n < len(b.forms) {
			f = b.forms[n]
		}
		return cellText(f.show(value, b.since)), -1, err
	}
	return cellText(value), -1, err // a formula's text, an error such as #N/A, a date as text
}

// columnOf returns the column of a cell such as AB12, from 0.
func columnOf(at string) int {
	n := 0
	for _, c := range strings.ToUpper(at) {
		if c < 'A' || c > 'Z' || n > maxColumns*26 {
			break
		}
		n = n*26 + int(c-'A') + 1
	}
	return max(n-1, 0)
}

// readShared looks up shared texts.
func (b *workbook) readShared(part string) error {
	slices.SortFunc(b.shared, func(a, c sharedCell) int { return a.index - c.index })
	left := b.shared
	if len(left) == 0 {
		return nil
	}
	x, err := b.pack.open(part)
	if err != nil {
		return err
	}
	defer x.close()
	for index := 0; len(left) > 0; {
		e, err := x.nextStart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if e.Name.Local != "si" {
			continue
		}
		text, err := sharedText(x)
		for len(left) > 0 && left[0].index == index {
			*left[0].at = text
			left = left[1:]
		}
		if err != nil {
			return err
		}
		index++
	}
	return nil
}

// sharedText reads one shared text, which may consist of several with looks of their own.
func sharedText(x *part) (string, error) {
	var b strings.Builder
	err := x.inside(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "rPh":
			return x.skip()
		case "t":
			s, err := x.text()
			if b.Len() <= maxCell {
				b.WriteString(s)
			}
			return err
		}
		return nil
	})
	return cellText(b.String()), err
}
