package picture

import (
	"encoding/xml"
	"strconv"
	"strings"
	"unicode"
)

// A canvas collects the elements of one drawing. Whoever draws sets its height.
type canvas struct {
	strings.Builder
	w, h   float64
	narrow bool
}

// The sizes of texts, in the drawing's units. A drawing is shown at 0.8 to 1.3 times
// its size.
const (
	textSize  = 13
	smallSize = 12
)

// pick returns the first value in a wide drawing, else the second.
func (c *canvas) pick(wide, narrow float64) float64 {
	if c.narrow {
		return narrow
	}
	return wide
}

// rect draws a rectangle of a class with its texture; what names it for those who
// point at it. It is at least one unit wide and high, so that no value vanishes.
func (c *canvas) rect(x, y, w, h float64, class, what string) {
	w, h = max(w, 1), max(h, 1)
	c.WriteString(`<g>`)
	if what != "" {
		c.WriteString(`<title>` + escapeXML(what) + `</title>`)
	}
	c.WriteString(`<rect` + rectAttrs(x, y, w, h) + ` class="` + classOf(class) + `"/>`)
	if path := drawTexture(class, x, y, w, h); path != "" {
		c.WriteString(path)
	}
	c.WriteString("</g>\n")
}

// rectAttrs writes the attributes of a rectangle.
func rectAttrs(x, y, w, h float64) string {
	return ` x="` + formatCoordinate(x) + `" y="` + formatCoordinate(y) + `" width="` + formatCoordinate(w) + `" height="` + formatCoordinate(h) + `"`
}

// line draws a thin straight line.
func (c *canvas) line(x1, y1, x2, y2 float64, class string) {
	c.WriteString(`<line x1="` + formatCoordinate(x1) + `" y1="` + formatCoordinate(y1) + `" x2="` + formatCoordinate(x2) + `" y2="` + formatCoordinate(y2) + `" class="` + class + "\"/>\n")
}

// An anchor says which end of a text stands at its place.
type anchor string

const (
	begin  anchor = ""
	middle anchor = "middle"
	end    anchor = "end"
)

// text writes a text, shortened to a width (0: whole). Its full form is then named
// for those who point at it.
func (c *canvas) text(x, y float64, a anchor, class, s string, width float64) {
	size := float64(textSize)
	if class != "label" && class != "strong" {
		size = smallSize
	}
	short := s
	if width > 0 {
		short = fitText(s, size, width)
	}
	c.WriteString(`<text x="` + formatCoordinate(x) + `" y="` + formatCoordinate(y) + `"`)
	if a != begin {
		c.WriteString(` text-anchor="` + string(a) + `"`)
	}
	c.WriteString(` class="` + class + `" font-size="` + formatCoordinate(size) + `">`)
	if short != s {
		c.WriteString(`<title>` + escapeXML(s) + `</title>`)
	}
	c.WriteString(escapeXML(short) + "</text>\n")
}

// fitText shortens a text to a width.
func fitText(s string, size, width float64) string {
	if widthOf(s, size) <= width {
		return s
	}
	room, cut := width-size, 0.0
	for i, r := range s {
		if cut += runeWidth(r) * size; cut > room {
			return strings.TrimSpace(s[:i]) + "…"
		}
	}
	return s
}

// widthOf estimates how wide a text is. Nothing here knows the reader's font, so it
// guesses on the wide side.
func widthOf(s string, size float64) float64 {
	w := 0.0
	for _, r := range s {
		w += runeWidth(r) * size
	}
	return w
}

// runeWidth estimates a character's width as a share of the size of its text.
func runeWidth(r rune) float64 {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100 && (r < 0x1200 || r >= 0x2e80 && r < 0xd7b0 || r >= 0xf900 && r < 0xfb00 || r >= 0xff00 && r < 0xffe0 || r >= 0x1f300):
		return 1.05
	case strings.ContainsRune("ijlI.,:;'|! ", r):
		return 0.32
	case strings.ContainsRune("mwMW@%", r):
		return 0.88
	case unicode.IsUpper(r):
		return 0.7
	case r >= '0' && r <= '9':
		return 0.64
	}
	return 0.57
}

// escapeXML writes a text for XML and HTML. What XML cannot have, such as control
// characters, becomes U+FFFD.
func escapeXML(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder never fails
	return b.String()
}

// formatCoordinate writes a coordinate with at most two decimals.
func formatCoordinate(f float64) string {
	s := strconv.FormatFloat(f, 'f', 2, 64)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	if s == "-0" {
		return "0"
	}
	return s
}
