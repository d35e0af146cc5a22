package office

import (
	"cmp"
	"encoding/xml"
	"io"
	"slices"
	"strconv"
	"strings"
)

// openDocument writes a document of OpenDocument. Its file mimetype says which kind it is.
func (p *pack) openDocument(w *writer) error {
	kind, err := p.mediaType()
	if err != nil {
		return err
	}
	if p.isEncrypted() {
		return ErrLocked
	}
	switch strings.TrimSuffix(kind, "-template") {
	case "spreadsheet":
		return p.tables(w)
	case "text":
		p.openFrames(w, "header")
		if err := p.openText(w); err != nil || w.full {
			return err
		}
		p.openFrames(w, "footer")
		return nil
	case "presentation":
		return p.openText(w)
	}
	return ErrOther
}

// mediaType returns which kind of OpenDocument this is.
func (p *pack) mediaType() (string, error) {
	r, err := p.files["mimetype"].Open()
	if err != nil {
		return "", ErrOther
	}
	defer r.Close()
	kind, _ := io.ReadAll(io.LimitReader(r, 100))
	name, ok := strings.CutPrefix(strings.TrimSpace(string(kind)), "application/vnd.oasis.opendocument.")
	if !ok {
		return "", ErrOther
	}
	return name, nil
}

// isEncrypted reports whether the manifest says that parts are.
func (p *pack) isEncrypted() bool {
	x, err := p.open("META-INF/manifest.xml")
	if err != nil {
		return false
	}
	defer x.close()
	for {
		e, err := x.nextStart()
		if err != nil {
			return false
		}
		if e.Name.Local == "encryption-data" {
			return true
		}
	}
}

// openFrames writes headers or footers, each text once.
func (p *pack) openFrames(w *writer, kind string) {
	x, err := p.open("styles.xml")
	if err != nil {
		return
	}
	defer x.close()
	var told []string
	for len(told) < maxParts && !w.full {
		e, err := x.nextStart()
		if err != nil {
			return
		}
		if e.Name.Local != kind {
			continue
		}
		f := &openReader{part: x, w: &writer{limit: maxFrame}}
		err = f.read()
		if line := f.w.asLine(); line != "" && !slices.Contains(told, line) {
			told = append(told, line)
			w.write(kind + ": " + line)
		}
		if err != nil {
			return
		}
		for x.depth > f.outer { // it was long
			if _, err := x.next(); err != nil {
				return
			}
		}
	}
}

// openText writes a text document or a presentation.
func (p *pack) openText(w *writer) error {
	x, err := p.open("content.xml")
	if err != nil {
		return err
	}
	defer x.close()
	r := &openReader{part: x, w: w}
	if err = r.read(); r.slide != nil {
		r.slide.writeTo(w)
	}
	w.finish()
	w.copy(&r.notes)
	if err == io.EOF {
		return nil
	}
	return err
}

// An openReader reads the paragraphs of OpenDocument.
type openReader struct {
	part *part
	w    *writer // where they go

	outer int // the depth at which reading ends
	texts int // in how many paragraphs the reader is
	lists int // and in how many lists
	item  bool
	links []string
	notes writer
	note  int
	slide *slide
	deck  *writer // where slides go
}

// read reads to the end of the element that was just begun; the whole part where none was.
func (r *openReader) read() error {
	x := r.part
	r.outer = x.depth - 1
	r.notes.limit = maxToken
	var before []*writer // of what is written elsewhere
	away := func(w *writer) { before, r.w = append(before, r.w), w }
	back := func() {
		if len(before) > 0 {
			if w := before[len(before)-1]; w != r.w {
				r.w.end()
				r.w = w
			}
			before = before[:len(before)-1]
		}
	}
	for !r.w.full {
		t, err := x.next()
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.CharData:
			if r.texts > 0 {
				r.w.add(string(t))
			}
		case xml.StartElement:
			switch t.Name.Local {
			case "tracked-changes", "annotation", "note-citation", "forms", "scripts", "font-face-decls", "automatic-styles", "settings", "desc", "title":
				err = x.skip()
			case "h":
				level, _ := strconv.Atoi(attribute(t, "outline-level"))
				r.w.begin(headingMark(level))
				r.texts++
			case "p":
				mark := ""
				if r.item {
					mark = itemMark(r.lists - 1)
				}
				r.item = false
				if r.w == &r.notes {
					r.w.mark += mark
				} else {
					r.w.begin(mark)
				}
				r.texts++
			case "list":
				r.lists++
			case "list-item":
				r.item = true
			case "s", "tab", "line-break":
				r.w.add(" ")
			case "a":
				r.links = append(r.links, attribute(t, "href"))
			case "note":
				r.note++
				r.w.add("[note " + strconv.Itoa(r.note) + "]")
			case "note-body":
				away(&r.notes)
				r.w.begin("[note " + strconv.Itoa(r.note) + "] ")
			case "table":
				r.w.beginTable()
			case "page":
				r.startSlide(t)
			case "notes":
				if r.slide != nil {
					away(&r.slide.notes)
				}
			case "frame", "custom-shape":
				switch attribute(t, "class") {
				case "title":
					if r.slide != nil {
						away(&r.slide.title)
					}
				case "date-time", "footer", "header", "page-number":
					err = x.skip()
				default:
					away(r.w)
				}
			}
			if err != nil {
				return err
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "h", "p":
				r.w.end()
				r.texts--
			case "list":
				r.lists--
			case "a":
				if n := len(r.links) - 1; n >= 0 {
					if strings.Contains(r.links[n], "://") {
						r.w.add(" <" + r.links[n] + ">")
					}
					r.links = r.links[:n]
				}
			case "note-body", "frame", "custom-shape":
				back()
			case "notes":
				if r.slide != nil {
					back()
				}
			case "table-cell":
				r.w.endCell()
			case "table-row":
				r.w.endRow(false)
			case "table":
				r.w.endTable()
			}
			if x.depth <= r.outer {
				return nil
			}
		}
	}
	return nil
}

// startSlide begins a slide of a presentation.
func (r *openReader) startSlide(e xml.StartElement) {
	number := 1
	if r.slide == nil {
		r.deck = r.w
	} else {
		r.slide.writeTo(r.deck)
		number = r.slide.number + 1
	}
	r.slide = newSlide(number, r.deck.limit-r.deck.out.Len())
	r.w = &r.slide.body
	r.w.full = r.deck.full
}

// tables writes the sheets of a spreadsheet.
func (p *pack) tables(w *writer) error {
	x, err := p.open("content.xml")
	if err != nil {
		return err
	}
	defer x.close()
	left := maxCells
	var sheets []*sheet
	for err == nil {
		var e xml.StartElement
		if e, err = x.nextStart(); err != nil {
			break
		}
		switch e.Name.Local {
		case "automatic-styles", "font-face-decls", "scripts", "tracked-changes":
			err = x.skip()
		case "table":
			if len(sheets) == maxSheets {
				err = ErrLarge
				break
			}
			s := &sheet{name: attribute(e, "name"), left: &left}
			sheets = append(sheets, s)
			err = x.tableRows(s)
		}
	}
	writeSheets(sheets, w)
	if err == io.EOF {
		return nil
	}
	return err
}

// tableRows reads the first rows of a table to its end.
func (x *part) tableRows(s *sheet) error {
	return x.inside(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "shapes", "table": // drawings; a table within a cell
			return x.skip()
		case "table-row":
			if s.more {
				return x.skip()
			}
			row, err := x.tableRow(s)
			for range min(repeated(e, "number-rows-repeated"), maxRows+1) {
				if joinCells(row) == "" || !s.add(row) {
					break
				}
			}
			return err
		}
		return nil
	})
}

// repeated is how often a row or a cell stands there.
func repeated(e xml.StartElement, name string) int {
	n, err := strconv.Atoi(attribute(e, name))
	if err != nil || n < 1 {
		return 1
	}
	return n
}

func (x *part) tableRow(s *sheet) ([]string, error) {
	var row []string
	column := 0
	err := x.inside(func(e xml.StartElement) error {
		if e.Name.Local != "table-cell" && e.Name.Local != "covered-table-cell" {
			return nil
		}
		times := repeated(e, "number-columns-repeated")
		text, err := x.tableCell(e)
		for range min(times, maxColumns+1) {
			row = s.put(row, column, text)
			column++
		}
		column += max(0, min(times, maxColumns+1)-maxColumns)
		return err
	})
	return row, err
}

// tableCell returns a cell's text: as the document shows it, but dates as ISO writes them.
func (x *part) tableCell(c xml.StartElement) (string, error) {
	var shown strings.Builder
	err := x.inside(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "annotation":
			return x.skip()
		case "p":
			s, err := x.text()
			if shown.Len() <= maxCell {
				shown.WriteString(s + " ")
			}
			return err
		}
		return nil
	})
	switch attribute(c, "value-type") {
	case "date":
		if day := attribute(c, "date-value"); day != "" {
			at, _, _ := strings.Cut(strings.Replace(strings.TrimSuffix(day, "T00:00:00"), "T", " ", 1), ".")
			return cellText(strings.TrimSuffix(at, "Z")), err
		}
	case "boolean":
		return cellText(strings.ToUpper(attribute(c, "boolean-value"))), err
	}
	text := cmp.Or(cellText(shown.String()), cellText(attribute(c, "value")))
	if formula := attribute(c, "formula"); text == "" && formula != "" {
		_, formula, _ = strings.Cut(formula, "=")
		return cellText("=" + formula), err
	}
	return text, err
}
