package picture

import "slices"

// Columns draws a column for each label, in which the series stand on one another,
// the first at the bottom; y names what is measured. Sums stand above the columns
// where there are few of them. What is negative or no number counts as 0.
func Columns(title, y string, labels []string, series ...Series) Picture {
	return drawBoth(title, inWords("Columns", labels, series, true), func(c *canvas) {
		n := len(labels)
		sums := make([]float64, n)
		entries := make([]entry, len(series))
		for i, s := range series {
			total := 0.0
			for at := range labels {
				v := s.value(at)
				sums[at] += v
				total += v
			}
			entries[i] = entry{name: s.Name, class: s.Class, value: FormatFigure(total)}
		}
		top := 0.0
		if len(series) > 0 {
			top = c.legend(entries, 0, 14) + 16
		}
		p := c.plotOf(scaleOf(5, areWhole(allValues(series)), sums...), "", y, labels, top, 4, true)
		if n == 0 {
			p.empty()
			return
		}
		slot := p.w / float64(n)
		width := min(slot*0.72, 56)
		if slot < 4 {
			width = slot
		}
		told := n <= 12 && !slices.ContainsFunc(sums, func(v float64) bool { return widthOf(formatDigits(v, 3), smallSize) > slot-4 })
		for at, label := range labels {
			from, x := 0.0, p.x(at, n, true)-width/2
			for _, s := range series {
				v := s.value(at)
				if v <= 0 {
					continue
				}
				low, high := p.y(from), p.y(from+v)
				c.rect(x, high, width, low-high-min(1, (low-high)/4), s.Class, label+": "+s.Name+" "+FormatFigure(v))
				from += v
			}
			if sums[at] > 0 && told {
				c.text(x+width/2, p.y(sums[at])-5, middle, "value", formatDigits(sums[at], 3), 0)
			}
		}
	})
}

// value returns the value at a label, 0 where there is none.
func (s Series) value(at int) float64 {
	if at >= len(s.Values) || !isFinite(s.Values[at]) {
		return 0
	}
	return max(clampValue(s.Values[at]), 0)
}
