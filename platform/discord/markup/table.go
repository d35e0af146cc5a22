package markup

import (
	"regexp"
	"strings"

	"github.com/rivo/uniseg"
)

var delimiter = regexp.MustCompile(`^:?-+:?$`)

// tableLength returns of how many lines the table is that begins with the first line;
// 0 where none does.
func tableLength(lines []string) int {
	if len(lines) < 2 || !strings.Contains(lines[0], "|") || !strings.Contains(lines[1], "-") {
		return 0
	}
	head, under := splitCells(lines[0]), splitCells(lines[1])
	if len(head) != len(under) || len(head) == 1 && !strings.Contains(lines[1], "|") {
		return 0
	}
	for _, s := range under {
		if !delimiter.MatchString(s) {
			return 0
		}
	}
	n := 2
	for n < len(lines) && strings.Contains(lines[n], "|") {
		n++
	}
	return n
}

// splitCells splits a line of a table. A bar after a backslash is text.
func splitCells(s string) []string {
	s = strings.TrimSpace(s)
	s = strings.TrimPrefix(s, "|")
	if strings.HasSuffix(s, "|") && !strings.HasSuffix(s, `\|`) {
		s = s[:len(s)-1]
	}
	var out []string
	from := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '|':
			out = append(out, strings.TrimSpace(s[from:i]))
			from = i + 1
		}
	}
	return append(out, strings.TrimSpace(s[from:]))
}

// writeTable writes a table as code, its columns under one another where aligned says
// so. The line below the head is left out.
func writeTable(lines []string, aligned bool) []string {
	var rows [][]string
	var widths []int
	for i, s := range lines {
		if i == 1 {
			continue
		}
		row := splitCells(s)
		for c := range row {
			row[c] = plainCell(row[c])
			if c == len(widths) {
				widths = append(widths, 0)
			}
			widths[c] = max(widths[c], uniseg.StringWidth(row[c]))
		}
		rows = append(rows, row)
	}
	out := []string{"```"}
	for _, row := range rows {
		var b strings.Builder
		for c, s := range row {
			if c > 0 {
				b.WriteString(" | ")
			}
			b.WriteString(s)
			if aligned && c < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[c]-uniseg.StringWidth(s)))
			}
		}
		out = append(out, splitTicks(strings.TrimRight(b.String(), " ")))
	}
	return append(out, "```")
}

var (
	marks  = regexp.MustCompile("\\*\\*|__|~~|`+|<br ?/?>")
	escape = regexp.MustCompile(`\\([^0-9A-Za-z\s])`)
)

// plainCell returns a cell's text without marks, which code does not show.
func plainCell(s string) string {
	s = linked.ReplaceAllStringFunc(s, func(s string) string {
		m := linked.FindStringSubmatch(s)
		if m[2] == "" || m[2] == m[3] {
			return m[3]
		}
		return m[2] + " (" + m[3] + ")"
	})
	s = marks.ReplaceAllStringFunc(s, func(mark string) string {
		if mark[0] == '<' {
			return " "
		}
		return ""
	})
	return strings.TrimSpace(escape.ReplaceAllString(s, "$1"))
}
