// Package picture draws data as SVG: bars, lines, columns and stretches of time. It
// is pure: the same data gives the same bytes.
//
// Start with [Stack], [Lines], [Columns] and [Axis]. Each returns a [Picture], which a
// page shows with Inline and a reader saves with File:
//
//	p := picture.Stack("Budget", []picture.Part{{Label: "thread", Value: 1200, Class: "s1"}}, 8000)
//	page.Write(p.Inline())
//
// Every text that is passed in is escaped, so labels may come from anywhere. Nothing
// is told by colour alone: classes have textures and lines have dashes, values stand
// beside their names, and the figures are in the description that a screen reader
// reads.
package picture

import "strings"

// A Picture is a drawing in two widths: a wide one, and a narrow one for phones whose
// text stays readable there. The zero Picture is empty.
type Picture struct {
	title, desc  string
	wide, narrow drawing
}

// A drawing is the body of an SVG of one size.
type drawing struct {
	w, h float64
	body string
}

// The widths for which pictures are drawn. A page shows the narrow drawing where it
// has less than about 560 px; see [Rules].
const (
	wideWidth   = 720
	narrowWidth = 360
)

// drawBoth makes both drawings with one function.
func drawBoth(title, desc string, f func(c *canvas)) Picture {
	p := Picture{title: title, desc: desc}
	for _, d := range []*drawing{&p.wide, &p.narrow} {
		c := &canvas{w: wideWidth}
		if d == &p.narrow {
			c.w, c.narrow = narrowWidth, true
		}
		f(c)
		*d = drawing{c.w, c.h, c.String()}
	}
	return p
}

// Title is the picture's name.
func (p Picture) Title() string { return p.title }

// Description has the picture's figures in words.
func (p Picture) Description() string { return p.desc }

// Inline returns the picture for a page: a block with both drawings, of which the
// rules of [Rules] show the one that fits. Colours come from custom properties of the
// page. It is HTML, and XML.
func (p Picture) Inline() string {
	if p.wide.body == "" {
		return ""
	}
	var b strings.Builder
	b.WriteString(`<div class="picture">`)
	p.write(&b, `class="broad"`+p.wide.viewBox(), p.wide.body)
	p.write(&b, `class="slim"`+p.narrow.viewBox(), p.narrow.body)
	b.WriteString(`</div>`)
	return b.String()
}

// File returns the picture as a stand-alone SVG file, with its title above and with
// colours for light and for dark surroundings.
func (p Picture) File() []byte {
	const margin, head = 14, 36
	d := p.wide
	if d.body == "" {
		d.w = wideWidth
	}
	top := &canvas{w: d.w}
	top.WriteString(`<style>` + fileStyle() + "</style>\n<rect" + rectAttrs(-margin, -head, d.w+2*margin, d.h+head+margin) + ` class="ground"/>` + "\n")
	top.text(0, 8-head/2.0, begin, "strong", p.title, d.w)
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
	w, h := formatCoordinate(d.w+2*margin), formatCoordinate(d.h+head+margin)
	p.write(&b, `class="picture" width="`+w+`" height="`+h+`" viewBox="`+formatCoordinate(-margin)+` `+formatCoordinate(-head)+` `+w+` `+h+`"`, top.String()+d.body)
	return []byte(b.String())
}

// Sheet returns pictures as one stand-alone SVG file, below one another under a title.
func Sheet(title, desc string, list ...Picture) []byte {
	c := &canvas{w: wideWidth}
	for _, p := range list {
		const head = 36
		c.text(0, c.h+head-16, begin, "strong", p.title, c.w)
		c.WriteString(`<g transform="translate(0 ` + formatCoordinate(c.h+head) + `)">` + "\n" + p.wide.body + "</g>\n")
		c.h += head + p.wide.h
	}
	return Picture{title: title, desc: desc, wide: drawing{c.w, c.h, c.String()}}.File()
}

// write writes one svg element.
func (p Picture) write(b *strings.Builder, attrs, body string) {
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" role="img" ` + attrs + ">\n")
	b.WriteString(`<title>` + escapeXML(p.title) + "</title>\n<desc>" + escapeXML(p.desc) + "</desc>\n" + body + "</svg>\n")
}

// viewBox is the attribute with a drawing's size.
func (d drawing) viewBox() string {
	return ` viewBox="0 0 ` + formatCoordinate(d.w) + ` ` + formatCoordinate(d.h) + `"`
}
