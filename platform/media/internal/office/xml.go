package office

import (
	"bufio"
	"encoding/xml"
	"io"
	"strings"
)

// A part is an XML file of the archive while it is read.
type part struct {
	d     *xml.Decoder
	file  io.ReadCloser
	bytes *bufio.Reader
	pack  *pack
	token int // bytes of the token that is read
	depth int // of the element that is read
}

// open opens a part. The error is [ErrLocked] if it is encrypted, and [ErrDamaged] if there
// is none.
func (p *pack) open(name string) (*part, error) {
	f := p.files[partName(name)]
	switch {
	case f == nil:
		return nil, ErrDamaged
	case f.Flags&1 != 0:
		return nil, ErrLocked
	}
	r, err := f.Open()
	if err != nil {
		return nil, ErrDamaged
	}
	x := &part{file: r, bytes: bufio.NewReader(r), pack: p}
	x.d = xml.NewDecoder(x)
	return x, nil
}

func (x *part) close() { x.file.Close() }

// ReadByte is how the decoder reads, so that each byte counts.
func (x *part) ReadByte() (byte, error) {
	if x.pack.left <= 0 || x.token >= maxToken {
		return 0, ErrLarge
	}
	x.pack.left--
	x.token++
	return x.bytes.ReadByte()
}

// Read is what xml.NewDecoder asks for; it reads by ReadByte.
func (x *part) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	c, err := x.ReadByte()
	if err != nil {
		return 0, err
	}
	b[0] = c
	return 1, nil
}

// next returns the next token; the error is io.EOF at the end.
func (x *part) next() (xml.Token, error) {
	x.token = 0
	t, err := x.d.Token()
	switch t.(type) {
	case xml.StartElement:
		if x.depth++; x.depth > maxDepth {
			return nil, ErrLarge
		}
	case xml.EndElement:
		x.depth--
	}
	return t, err
}

// nextStart returns the next beginning of an element.
func (x *part) nextStart() (xml.StartElement, error) {
	for {
		t, err := x.next()
		if err != nil {
			return xml.StartElement{}, err
		}
		if e, ok := t.(xml.StartElement); ok {
			return e, nil
		}
	}
}

// inside calls visit for what begins within the element that was just begun, and returns
// behind its end. visit may read the element that it is called for to its end.
func (x *part) inside(visit func(xml.StartElement) error) error {
	for outer := x.depth; ; {
		t, err := x.next()
		if err != nil {
			return err
		}
		if e, ok := t.(xml.StartElement); ok && visit != nil {
			if err := visit(e); err != nil {
				return err
			}
		}
		if x.depth < outer {
			return nil
		}
	}
}

// skip passes over the element that was just begun.
func (x *part) skip() error { return x.inside(nil) }

// text returns the text within the element that was just begun.
func (x *part) text() (string, error) {
	var b strings.Builder
	for outer := x.depth; ; {
		t, err := x.next()
		if err != nil {
			return b.String(), err
		}
		if s, ok := t.(xml.CharData); ok && b.Len() < maxToken {
			b.Write(s)
		}
		if x.depth < outer {
			return b.String(), nil
		}
	}
}

// attribute returns an attribute's value by its name without a prefix; "" without one.
func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// relationID returns the id of the relation that an element names. Its attribute has a
// prefix; an id without one is the element's own.
func relationID(e xml.StartElement) string {
	for _, a := range e.Attr {
		if a.Name.Local == "id" && a.Name.Space != "" {
			return a.Value
		}
	}
	return ""
}

// isOn reports whether a switch such as <w:vanish/> is on: it is without a value.
func isOn(e xml.StartElement) bool {
	switch attribute(e, "val") {
	case "0", "false", "off":
		return false
	}
	return true
}
