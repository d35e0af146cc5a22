package office

import (
	"encoding/xml"
	"io"
	"slices"
	"strconv"
	"strings"
)

// maxFrame bounds the bytes of a header or footer.
const maxFrame = 1000

// word writes a text document: its headers, its body, its notes and footers.
func (p *pack) word(main string, w *writer) error {
	rels := p.related(main)
	d := &wordDocument{pack: p}
	if list := rels.ofType("styles"); len(list) > 0 {
		d.readStyles(list[0])
	}
	d.frames(w, "header", rels.ofType("header"))
	err := d.read(main, w)
	for _, kind := range []string{"footnotes", "endnotes"} {
		for _, part := range rels.ofType(kind) {
			if err == nil {
				err = d.read(part, w)
			}
		}
	}
	if err == nil {
		d.frames(w, "footer", rels.ofType("footer"))
	}
	return err
}

type wordDocument struct {
	pack   *pack
	styles map[string]wordStyle // by id
}

// A wordStyle is what is known of a style of paragraphs.
type wordStyle struct {
	heading int // its level, from 1
	list    bool
	base    string // the style that it is based on
}

// frames writes headers or footers, each text once.
func (d *wordDocument) frames(w *writer, kind string, parts []string) {
	var told []string
	for _, part := range parts[:min(len(parts), maxParts)] {
		f := &writer{limit: maxFrame}
		_ = d.read(part, f) // one that is broken says less
		if line := f.asLine(); line != "" && !slices.Contains(told, line) && !w.full {
			told = append(told, line)
			w.write(kind + ": " + line)
		}
	}
}

// readStyles reads which styles are those of headings and lists.
func (d *wordDocument) readStyles(part string) {
	x, err := d.pack.open(part)
	if err != nil {
		return
	}
	defer x.close()
	d.styles = map[string]wordStyle{}
	for len(d.styles) < maxRelated {
		e, err := x.nextStart()
		if err != nil {
			return
		}
		if e.Name.Local != "style" {
			continue
		}
		var s wordStyle
		err = x.inside(func(e xml.StartElement) error {
			v := attribute(e, "val")
			switch e.Name.Local {
			case "name":
				if n, ok := strings.CutPrefix(strings.ToLower(v), "heading "); ok {
					s.heading, _ = strconv.Atoi(n)
				} else if v == "Title" {
					s.heading = 1
				}
			case "basedOn":
				s.base = v
			case "outlineLvl":
				s.heading = outlineLevel(v)
			case "numPr":
				s.list = true
			}
			return nil
		})
		d.styles[attribute(e, "styleId")] = s
		if err != nil {
			return
		}
	}
}

// outlineLevel returns the level of a heading by Word's, which is one less; 9 is body text.
func outlineLevel(v string) int {
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 || n > 8 {
		return 0
	}
	return n + 1
}

// read writes a part with paragraphs.
func (d *wordDocument) read(name string, w *writer) error {
	x, err := d.pack.open(name)
	if err != nil {
		return err
	}
	defer x.close()
	rels := d.pack.related(name)
	var text, dropped bool // within text; the row was deleted
	var link, note string
	for !w.full {
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
			case "del", "moveFrom", "Fallback", "instrText", "rt": // rt is how a word is read aloud
				err = x.skip()
			case "rPr":
				w.muted, err = x.holds("vanish")
			case "trPr":
				dropped, err = x.holds("del")
			case "pPr":
				var mark string
				mark, err = d.mark(x)
				w.mark = note + mark
				note = ""
			case "t":
				text = true
			case "p":
				w.begin(note)
			case "tab", "br", "cr":
				w.add(" ")
			case "noBreakHyphen":
				w.add("-")
			case "hyperlink":
				link = rels.link[relationID(t)]
			case "footnoteReference", "endnoteReference":
				w.add("[" + noteName(t) + "]")
			case "footnote", "endnote":
				if kind := attribute(t, "type"); kind != "" && kind != "normal" {
					err = x.skip() // the line above the notes
				}
				note = "[" + noteName(t) + "] "
			case "tbl":
				w.beginTable()
			case "tr":
				dropped = false
			}
			if err != nil {
				return err
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "t":
				text = false
			case "r":
				w.muted = false
			case "p":
				w.end()
				note = ""
			case "hyperlink":
				if strings.Contains(link, "://") {
					w.add(" <" + link + ">")
				}
				link = ""
			case "tc":
				w.endCell()
			case "tr":
				w.endRow(dropped)
			case "tbl":
				w.endTable()
			}
		}
	}
	return nil
}

// noteName is how a note is called, where it stands and where the text refers to it.
func noteName(e xml.StartElement) string {
	kind := "note "
	if strings.HasPrefix(e.Name.Local, "endnote") {
		kind = "endnote "
	}
	return kind + attribute(e, "id")
}

// holds reports whether the element that was just begun has another one that is on, and
// passes over it.
func (x *part) holds(name string) (bool, error) {
	var found bool
	err := x.inside(func(e xml.StartElement) error {
		found = found || e.Name.Local == name && isOn(e)
		return nil
	})
	return found, err
}

// mark reads the properties of a paragraph, and returns what stands before it.
func (d *wordDocument) mark(x *part) (string, error) {
	var s wordStyle
	var level int
	var numbered string
	err := x.inside(func(e xml.StartElement) error {
		v := attribute(e, "val")
		switch e.Name.Local {
		case "pPrChange", "rPr", "sectPr": // how it was; how its end looks; the page
			return x.skip()
		case "pStyle":
			s = d.style(v)
		case "outlineLvl":
			s.heading = outlineLevel(v)
		case "ilvl":
			level, _ = strconv.Atoi(v)
		case "numId":
			numbered = v
		}
		return nil
	})
	switch {
	case s.heading > 0:
		return headingMark(s.heading), err
	case numbered != "" && numbered != "0", numbered == "" && s.list:
		return itemMark(level), err
	}
	return "", err
}

// style returns what a style says, or the styles that it is based on.
func (d *wordDocument) style(id string) wordStyle {
	for range 10 { // they may be based on each other
		s, ok := d.styles[id]
		if !ok || s.heading > 0 || s.list {
			return s
		}
		id = s.base
	}
	return wordStyle{}
}

// headingMark stands before a heading.
func headingMark(level int) string { return strings.Repeat("#", min(max(level, 1), 6)) + " " }

// itemMark stands before an item of a list, from level 0.
func itemMark(level int) string { return strings.Repeat("  ", min(max(level, 0), 8)) + "- " }
