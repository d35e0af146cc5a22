package office

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A format says what a number is: a date and a time are numbers too.
type format struct{ date, clock, span, percent bool }

// builtInFormat returns a format that files name by number alone (ECMA-376, 18.8.30).
func builtInFormat(id string) format {
	n, err := strconv.Atoi(id)
	switch {
	case err != nil:
	case n == 9 || n == 10:
		return format{percent: true}
	case n >= 14 && n <= 17, n >= 27 && n <= 31, n == 36, n >= 50 && n <= 54, n == 57, n == 58:
		return format{date: true}
	case n == 22:
		return format{date: true, clock: true}
	case n >= 18 && n <= 21, n >= 32 && n <= 35, n == 45, n == 47, n == 55, n == 56:
		return format{clock: true}
	case n == 46:
		return format{span: true}
	}
	return format{}
}

var (
	spans  = regexp.MustCompile(`(?i)\[(?:h+|m+|s+)\]`)
	quoted = regexp.MustCompile(`"[^"]*"|\[[^\]]*\]|[\\_*].|(?i:am/pm|a/p|general)`)
)

// formatOf returns what a format's code says, such as dd.mm.yyyy hh:mm.
func formatOf(code string) format {
	if spans.MatchString(code) {
		return format{span: true}
	}
	code, _, _ = strings.Cut(strings.ToLower(quoted.ReplaceAllString(code, "")), ";")
	f := format{date: strings.ContainsAny(code, "yd"), clock: strings.ContainsAny(code, "hs"), percent: strings.Contains(code, "%")}
	if !f.clock && strings.Contains(code, "m") {
		f.date = true
	}
	return f
}

// lastDay is 31 December 9999 as a number.
const lastDay = 2958465

// show returns a number as people see it. Dates are ISO's; since is the year that they
// count from.
func (f format) show(value string, since int) string {
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return value
	}
	dated := n >= 0 && n < lastDay+1
	switch {
	case f.percent:
		return number(n*100) + " %"
	case f.span && dated:
		s := int64(math.Round(n * 24 * 3600))
		return strconv.FormatInt(s/3600, 10) + time.Unix(s%3600, 0).UTC().Format(":04:05")
	case f.date && dated:
		day := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
		if since == 1904 {
			day = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
		} else if n < 60 { // Excel has a 29 February 1900
			n++
		}
		at := day.AddDate(0, 0, int(n)).Add(time.Duration(math.Round((n-math.Floor(n))*24*3600)) * time.Second)
		return at.Format(timeLayout("2006-01-02", f.clock, at))
	case f.clock && dated:
		at := time.Unix(int64(math.Round((n-math.Floor(n))*24*3600)), 0).UTC()
		return at.Format(timeLayout("", true, at))
	}
	return number(n)
}

// timeLayout is how a date, a time or both are written, with seconds where there are some.
func timeLayout(date string, clock bool, at time.Time) string {
	layout := date
	if clock {
		layout = strings.TrimSpace(layout + " 15:04")
		if at.Second() != 0 {
			layout += ":05"
		}
	}
	return layout
}

// number writes a number with the 15 digits that Excel has.
func number(n float64) string {
	if a := math.Abs(n); a != 0 && (a < 1e-9 || a >= 1e15) {
		return strconv.FormatFloat(n, 'g', 15, 64)
	}
	n, _ = strconv.ParseFloat(strconv.FormatFloat(n, 'g', 15, 64), 64)
	return strconv.FormatFloat(n, 'f', -1, 64)
}
