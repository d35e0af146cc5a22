package office

import (
	"encoding/xml"
	"io"
	"strconv"
)

// slides writes a presentation: its slides in the order in which they are shown, each with
// its title, its text and its notes.
func (p *pack) slides(main string, w *writer) error {
	rels := p.related(main)
	x, err := p.open(main)
	if err != nil {
		return err
	}
	defer x.close()
	for n := 1; n <= maxParts && !w.full; {
		e, err := x.nextStart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if e.Name.Local != "sldId" {
			continue
		}
		if err := p.slide(n, rels.part[relationID(e)], w); err != nil {
			return err
		}
		n++
	}
	w.full = true
	return nil
}

// A slide is one while it is read.
type slide struct {
	number             int
	hidden             bool
	title, body, notes writer
}

func newSlide(number, limit int) *slide {
	s := &slide{number: number}
	s.title.limit, s.body.limit, s.notes.limit = maxFrame, limit, limit
	return s
}

// writeTo writes the slide.
func (s *slide) writeTo(w *writer) {
	head := "slide " + strconv.Itoa(s.number)
	if s.hidden {
		head += " (hidden)"
	}
	if title := s.title.asLine(); title != "" {
		head += ": " + title
	}
	w.write(head)
	w.copy(&s.body)
	if notes := s.notes.asLine(); notes != "" {
		w.write("notes: " + notes)
	}
	w.full = w.full || s.notes.full
}

// slide writes a slide of PowerPoint.
func (p *pack) slide(number int, part string, w *writer) error {
	s := newSlide(number, w.limit-w.out.Len())
	err := p.shapes(part, s, false)
	for _, notes := range p.related(part).ofType("notesSlide") {
		if err == nil {
			err = p.shapes(notes, s, true)
		}
	}
	s.writeTo(w)
	return err
}

// shapes reads the text of a slide, or of its notes.
func (p *pack) shapes(part string, s *slide, notes bool) error {
	x, err := p.open(part)
	if err != nil {
		return err
	}
	defer x.close()
	w := &s.body
	if notes {
		w = &s.notes
	}
	usual := w
	mark := func(level int) string { // a title, and notes, have none
		if w != &s.body {
			return ""
		}
		return itemMark(level)
	}
	var text bool
	for !usual.full {
		t, err := x.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.CharData:
			if text {
				w.add(string(t))
			}
		case xml.StartElement:
			switch t.Name.Local {
			case "sld":
				s.hidden = attribute(t, "show") == "0"
			case "Fallback":
				if err := x.skip(); err != nil {
					return err
				}
			case "ph":
				switch kind := attribute(t, "type"); kind {
				case "title", "ctrTitle":
					if !notes {
						w = &s.title
					}
				case "dt", "ftr", "hdr", "sldNum", "sldImg":
					w.muted = true
				}
			case "p":
				w.begin(mark(0))
			case "pPr":
				level, _ := strconv.Atoi(attribute(t, "lvl"))
				w.mark = mark(level)
			case "t":
				text = true
			case "br", "tab":
				w.add(" ")
			case "tbl":
				w.beginTable()
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "t":
				text = false
			case "p":
				w.end()
			case "sp":
				w.muted, w = false, usual
			case "tc":
				w.endCell()
			case "tr":
				w.endRow(false)
			case "tbl":
				w.endTable()
			}
		}
	}
	return nil
}
