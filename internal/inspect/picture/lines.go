package picture

import (
	"slices"
	"strings"
)

// manyPoints is up to how many points of a line are marked, each with its value.
const manyPoints = 60

// A Mark is something that begins at a label, such as an epoch.
type Mark struct {
	At   int // which label, from 0
	Name string
}

// Lines draws one line for each series over the labels: x and y name the axes. Lines
// differ by colour and by dashes, and have their last value at their name. Of very
// many points a line shows the highest and the lowest of each stretch. Marks stand upright at
// their labels.
func Lines(title, x, y string, labels []string, marks []Mark, series ...Series) Picture {
	desc := inWords("Lines", labels, series, false)
	for _, m := range marks {
		if m.At >= 0 && m.At < len(labels) {
			desc += " At " + labels[m.At] + ": " + m.Name + "."
		}
	}
	return drawBoth(title, desc, func(c *canvas) {
		values := allValues(series)
		s := scaleOf(5, areWhole(values), values...)
		top, right := 0.0, 12.0
		if c.narrow || len(series) > 6 {
			entries := make([]entry, len(series))
			for i, s := range series {
				entries[i] = entry{name: s.Name, class: s.Class, value: formatLast(s.Values), dash: dashes[i%len(dashes)], line: true}
			}
			top = c.legend(entries, 0, 14) + 16
		} else {
			for _, s := range series {
				right = max(right, min(14+max(widthOf(s.Name, textSize), widthOf(formatLast(s.Values), smallSize)), c.w/3))
			}
		}
		p := c.plotOf(s, x, y, labels, top, right, false)
		if len(labels) == 0 || len(series) == 0 {
			p.empty()
			return
		}
		p.marks(marks, len(labels))
		var ends []float64
		for i, s := range series {
			p.curveOf(s, labels, i)
			if at := lastPoint(s.Values, len(labels)); at >= 0 {
				ends = append(ends, p.y(s.Values[at]))
			} else {
				ends = append(ends, p.top+p.h)
			}
		}
		if top > 0 {
			return
		}
		for i, at := range spreadApart(ends, 30, p.top+8, p.top+p.h) {
			c.text(p.left+p.w+10, at, begin, "label", series[i].Name, right-12)
			c.text(p.left+p.w+10, at+14, begin, "value", formatLast(series[i].Values), right-12)
		}
	})
}

// marks draws upright lines with names, as far as these have room.
func (p plot) marks(marks []Mark, n int) {
	for i, m := range marks {
		if m.At < 0 || m.At >= n {
			continue
		}
		x, room := p.x(m.At, n, false), p.left+p.w
		if i+1 < len(marks) && marks[i+1].At < n {
			room = p.x(marks[i+1].At, n, false)
		}
		p.line(x, p.top, x, p.top+p.h, "mark")
		p.WriteString(`<g><title>` + escapeXML(m.Name) + "</title>")
		if room -= x + 8; room > 28 {
			p.text(x+4, p.top+11, begin, "tick", m.Name, room)
		}
		p.WriteString("</g>\n")
	}
}

// formatLast writes the last value of a series.
func formatLast(values []float64) string {
	if at := lastPoint(values, len(values)); at >= 0 {
		return FormatFigure(values[at])
	}
	return "–"
}

// lastPoint returns where the last number of a series stands, -1 if it has none.
func lastPoint(values []float64, n int) int {
	for i, v := range slices.Backward(values[:min(len(values), n)]) {
		if isFinite(v) {
			return i
		}
	}
	return -1
}

// curveOf draws one series, in pieces where values are missing between.
func (p plot) curveOf(s Series, labels []string, i int) {
	values := s.Values[:min(len(s.Values), len(labels))]
	var d, marks strings.Builder
	open := false
	for _, at := range pickIndexes(values, int(p.w)) {
		v := values[at]
		if !isFinite(v) {
			open = false
			continue
		}
		x, y := p.x(at, len(labels), false), p.y(v)
		if open {
			d.WriteString("L")
		} else {
			d.WriteString("M")
		}
		d.WriteString(formatCoordinate(x) + " " + formatCoordinate(y))
		open = true
		if len(values) <= manyPoints {
			marks.WriteString(`<circle cx="` + formatCoordinate(x) + `" cy="` + formatCoordinate(y) + `" r="3.2" class="` + classOf(s.Class) + `"><title>` +
				escapeXML(labels[at]+": "+s.Name+" "+FormatFigure(v)) + "</title></circle>\n")
		}
	}
	if d.Len() > 0 {
		p.curve(d.String(), s.Class, dashes[i%len(dashes)])
	}
	p.WriteString(marks.String())
}

// pickIndexes returns which values to draw on a width: all, or of each stretch of very
// many the highest and the lowest.
func pickIndexes(values []float64, width int) []int {
	var out []int
	if len(values) <= 2*width {
		for i := range values {
			out = append(out, i)
		}
		return out
	}
	for n := range width {
		from, to := n*len(values)/width, (n+1)*len(values)/width
		lo, hi := from, from
		for i := from; i < to; i++ {
			switch v := values[i]; {
			case !isFinite(v):
			case !isFinite(values[lo]):
				lo, hi = i, i
			case v < values[lo]:
				lo = i
			case v > values[hi]:
				hi = i
			}
		}
		if out = append(out, min(lo, hi)); lo != hi {
			out = append(out, max(lo, hi))
		}
	}
	return out
}

// spreadApart moves places so that neighbours are at least gap apart, within bounds where
// they have the room.
func spreadApart(at []float64, gap, from, to float64) []float64 {
	order := make([]int, len(at))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case at[a] < at[b]:
			return -1
		case at[a] > at[b]:
			return 1
		}
		return 0
	})
	out := slices.Clone(at)
	for n, i := range order {
		if out[i] = max(out[i], from); n > 0 {
			out[i] = max(out[i], out[order[n-1]]+gap)
		}
	}
	limit := to
	for _, i := range slices.Backward(order) {
		out[i] = min(out[i], limit)
		limit = out[i] - gap
	}
	return out
}
