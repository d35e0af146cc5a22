package slackmsg

import (
	"cmp"
	"strconv"
	"strings"
)

// maxSeries bounds the columns of a chart. Slack allows six.
const maxSeries = 20

// table writes one line a row.
func (r *reader) table(rows value) []string {
	var out []string
	for _, row := range rows.List {
		if !r.more() {
			break
		}
		var cells []string
		for _, c := range row.List {
			if !r.more() {
				break
			}
			cells = append(cells, r.cell(c))
		}
		if len(cells) > 0 {
			out = append(out, line(cells))
		}
	}
	return out
}

// line writes the cells of a row. A cell is one line.
func line(cells []string) string {
	return strings.ReplaceAll(strings.Join(cells, " | "), "\n", " ")
}

// cell reads a cell: rich text, or raw_text with a text, or raw_number with a
// value and the text that shows it (docs.slack.dev, Table block and Data table
// block). A raw_boolean, which the reference does not have, is read likewise.
func (r *reader) cell(c value) string {
	if strings.HasPrefix(c.At("type"), "raw_") {
		if s := cmp.Or(object(c.Get("text")), escape(c.Get("value").Shown())); s != "" {
			return s
		}
		return strings.Join(texts(r.members(c, true)), " ")
	}
	return strings.Join(texts(r.visible(c, true)), " ")
}

// chart writes the data of a chart: a pie's segments, one a line, and series as
// a table with a column for each and a row for each category (docs.slack.dev,
// Data visualization block).
func (r *reader) chart(c value) []string {
	var out []string
	for _, s := range c.Get("segments").List {
		if !r.more() {
			return out
		}
		out = append(out, point(s))
	}
	axes, series := c.Get("axis_config"), c.Get("series").List
	if len(series) > maxSeries {
		r.note("blocks: a chart of more than " + strconv.Itoa(maxSeries) + " series")
		series = series[:maxSeries]
	}
	out = append(out, texts(r.visible(axes.Get("y_label"), true))...)
	head := []string{escape(axes.At("x_label"))}
	var rows [][]string
	of := map[string]int{} // a category's row
	row := func(category string) int {
		at, ok := of[category]
		if !ok {
			at = len(rows)
			of[category] = at
			rows = append(rows, []string{escape(category)})
		}
		return at
	}
	for _, x := range axes.Get("categories").List {
		if r.more() {
			row(x.Str())
		}
	}
	for i, s := range series {
		head = append(head, escape(s.At("name")))
		for _, p := range s.Get("data").List {
			if !r.more() {
				break
			}
			at := row(p.At("label"))
			for len(rows[at]) <= i {
				rows[at] = append(rows[at], "")
			}
			rows[at] = append(rows[at], escape(p.Get("value").Shown()))
		}
	}
	if strings.TrimSpace(strings.Join(head, "")) != "" {
		out = append(out, line(head))
	}
	for _, cells := range rows {
		out = append(out, line(cells))
	}
	return out
}

// point writes a labelled value.
func point(p value) string {
	label, text := escape(p.At("label")), escape(p.Get("value").Shown())
	if label == "" || text == "" {
		return label + text
	}
	return label + ": " + text
}
