package picture

import (
	"fmt"
	"strings"
)

// A Series is a row of values with a name; the values belong to the labels of the
// picture, in order. What is no number is left out.
type Series struct {
	Name, Class string
	Values      []float64
}

// A plot is the area between two axes.
type plot struct {
	*canvas
	left, top, w, h float64
	scale           scale
}

// plotOf draws the axes: round values at the left, with a name above, and labels
// below, as many as fit.
func (c *canvas) plotOf(s scale, x, y string, labels []string, top, right float64, middles bool) plot {
	ticks := s.ticks()
	left := 0.0
	for _, t := range ticks {
		left = max(left, widthOf(formatTick(t), smallSize))
	}
	if y != "" {
		c.text(0, top+10, begin, "value", y, c.w)
		top += 22
	}
	p := plot{c, left + 8, top, c.w - left - 8 - right, c.pick(200, 170), s}
	for _, t := range ticks {
		at := p.y(t)
		class := "grid"
		if t == 0 {
			class = "base"
		}
		c.line(p.left, at, p.left+p.w, at, class)
		c.text(p.left-6, at+4, end, "tick", formatTick(t), 0)
	}
	p.labels(labels, middles)
	c.h = p.top + p.h + 24
	if x != "" {
		c.text(p.left+p.w, c.h+10, end, "value", x, p.w)
		c.h += 16
	}
	return p
}

// y returns where a value stands.
func (p plot) y(v float64) float64 { return p.top + p.h*(1-p.scale.at(v)) }

// x returns where the label i of n stands: in the middle of its column, or on a line
// that begins with the first and ends with the last.
func (p plot) x(i, n int, middles bool) float64 {
	switch {
	case middles:
		return p.left + p.w*(float64(i)+0.5)/float64(n)
	case n < 2:
		return p.left + p.w/2
	}
	return p.left + p.w*float64(i)/float64(n-1)
}

// labels writes every nth label, so that they do not touch.
func (p plot) labels(labels []string, middles bool) {
	n := len(labels)
	if n == 0 {
		return
	}
	widest := 0.0
	for _, l := range labels {
		widest = max(widest, widthOf(l, smallSize))
	}
	widest = min(widest, p.w/2)
	fits := max(1, int(p.w/(widest+14)))
	every := (n + fits - 1) / fits
	for i := 0; i < n; i += every {
		x, a := p.x(i, n, middles), middle
		if half := min(widthOf(labels[i], smallSize), widest) / 2; x+half > p.w+p.left {
			x, a = p.left+p.w, end
		} else if x-half < 0 {
			x, a = p.left, begin
		}
		p.text(x, p.top+p.h+17, a, "tick", labels[i], widest+1)
	}
}

// empty says that there is nothing to draw.
func (p plot) empty() { p.text(p.left+p.w/2, p.top+p.h/2, middle, "value", "no values", 0) }

// allValues returns the values of all series.
func allValues(series []Series) []float64 {
	var out []float64
	for _, s := range series {
		out = append(out, s.Values...)
	}
	return out
}

// inWords says what a picture of series shows.
func inWords(kind string, labels []string, series []Series, sums bool) string {
	var b strings.Builder
	switch len(labels) {
	case 0:
		return kind + " without values."
	case 1:
		fmt.Fprintf(&b, "%s at %s.", kind, labels[0])
	default:
		fmt.Fprintf(&b, "%s at %d places from %s to %s.", kind, len(labels), labels[0], labels[len(labels)-1])
	}
	for _, s := range series {
		most, last, at, total, n := 0.0, 0.0, -1, 0.0, 0
		for i, v := range s.Values[:min(len(s.Values), len(labels))] {
			if !isFinite(v) {
				continue
			}
			if at < 0 || v > most {
				most, at = v, i
			}
			last, total, n = v, total+v, n+1
		}
		if n == 0 {
			fmt.Fprintf(&b, " %s: no values.", s.Name)
			continue
		}
		fmt.Fprintf(&b, " %s: ", s.Name)
		if sums {
			fmt.Fprintf(&b, "%s in all, ", FormatFigure(total))
		}
		fmt.Fprintf(&b, "at most %s at %s, %s at the end.", FormatFigure(most), labels[at], FormatFigure(last))
	}
	return b.String()
}
