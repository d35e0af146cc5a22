package picture

import (
	"fmt"
	"strings"
)

// A Part is one part of a whole.
type Part struct {
	Label string
	Value int
	Class string // s1…s8, full, cut, snippet, out, known, missing, stale
}

// Stack draws parts as one horizontal bar, with their names and values below it.
// Where whole is greater than their sum the bar leaves room, which is told as free;
// where it is smaller, a mark shows where the whole ends. Negative values count as 0.
func Stack(title string, parts []Part, whole int) Picture { return StackAt(title, parts, whole, 0) }

// StackAt is [Stack] for a bar that is compared with others: the full width is scale,
// where that is more than the bar's own whole.
func StackAt(title string, parts []Part, whole, scale int) Picture {
	sum := 0
	for _, p := range parts {
		sum += max(p.Value, 0)
	}
	whole = max(whole, 0)
	entries := make([]entry, 0, len(parts)+1)
	words := make([]string, 0, len(parts)+1)
	for _, p := range parts {
		v := max(p.Value, 0)
		share := formatPercent(float64(v), float64(max(whole, sum)))
		entries = append(entries, entry{name: p.Label, class: p.Class, value: FormatFigure(float64(v)) + " · " + share})
		words = append(words, fmt.Sprintf("%s: %s (%s)", p.Label, FormatFigure(float64(v)), share))
	}
	if free := whole - sum; free > 0 {
		share := formatPercent(float64(free), float64(whole))
		entries = append(entries, entry{name: "free", class: "free", value: FormatFigure(float64(free)) + " · " + share})
		words = append(words, fmt.Sprintf("free: %s (%s)", FormatFigure(float64(free)), share))
	}
	desc := "One bar of " + FormatFigure(float64(max(whole, sum))) + ". " + strings.Join(words, "; ") + "."
	if whole > 0 && sum > whole {
		desc += " The sum of " + FormatFigure(float64(sum)) + " is over the whole of " + FormatFigure(float64(whole)) + "."
	}
	return drawBoth(title, desc, func(c *canvas) {
		const h, top = 26.0, 4.0
		of := float64(max(whole, sum, 1))
		width := (c.w - 2) * of / max(of, float64(scale))
		c.WriteString(`<rect` + rectAttrs(1, top, width, h) + ` class="c-free"/>` + "\n")
		x := 1.0
		for i, p := range parts {
			if p.Value <= 0 {
				continue
			}
			w := width * float64(p.Value) / of
			c.rect(x, top, max(w-1, min(w, 1)), h, p.Class, entries[i].name+": "+entries[i].value)
			x += w
		}
		y := top + h
		if whole > 0 && sum > whole {
			at := 1 + width*float64(whole)/of
			c.line(at, top-4, at, top+h+6, "mark")
			c.text(min(at, c.w-80), y+18, begin, "value", "whole "+FormatFigure(float64(whole)), 0)
			y += 18
		}
		c.h = c.legend(entries, 0, y+20) + 4
	})
}

// An entry is one line of a legend.
type entry struct {
	name, class, value string
	dash               string // of a line
	line               bool
}

// legend writes names with values from y down, in as many columns as fit, and returns
// where it ends.
func (c *canvas) legend(entries []entry, x, y float64) float64 {
	if len(entries) == 0 {
		return y - 10
	}
	const mark, gap, row = 18.0, 22.0, 21.0
	need := 0.0
	for _, e := range entries {
		need = max(need, mark+widthOf(e.name, textSize)+8+widthOf(e.value, smallSize)+gap)
	}
	room := c.w - x
	columns := max(1, min(int(room/need), len(entries)))
	width := room / float64(columns)
	if columns > 1 {
		width = need
	}
	for i, e := range entries {
		ex, ey := x+float64(i%columns)*width, y+float64(i/columns)*row
		if e.line {
			c.curve("M"+formatCoordinate(ex)+" "+formatCoordinate(ey-4)+"h14", e.class, e.dash)
		} else {
			c.rect(ex, ey-10, 12, 12, e.class, "")
		}
		value := widthOf(e.value, smallSize)
		name := fitText(e.name, textSize, width-mark-8-value)
		c.text(ex+mark, ey, begin, "label", e.name, width-mark-8-value)
		if e.value != "" {
			c.text(ex+mark+widthOf(name, textSize)+8, ey, begin, "value", e.value, 0)
		}
	}
	return y + float64((len(entries)+columns-1)/columns-1)*row
}

// curve draws a path of a class.
func (c *canvas) curve(d, class, dash string) {
	c.WriteString(`<path d="` + d + `" class="` + strokeOf(class) + `"`)
	if dash != "" {
		c.WriteString(` stroke-dasharray="` + dash + `"`)
	}
	c.WriteString("/>\n")
}
