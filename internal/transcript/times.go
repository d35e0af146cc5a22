package transcript

import (
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
)

// time reads a time: "-" for none, 09:00:00 on the date in force, RFC 3339, a
// Slack ts, or @ and microseconds since 1970.
func (x *scanner) time(date string) earshot.Time {
	w := x.take(func(r rune) bool {
		return '0' <= r && r <= '9' || r == 'T' || r == 'Z' || r == 't' || r == 'z' || strings.ContainsRune(":.+-@", r)
	})
	if cut := strings.TrimRight(w, ":"); cut != w && x.err == nil {
		x.at -= len(w) - len(cut) // the colon that ends the head of a line
		w = cut
	}
	if w == "-" {
		return 0
	}
	if n, ok := strings.CutPrefix(w, "@"); ok {
		if v, err := strconv.ParseInt(n, 10, 64); err == nil {
			return earshot.Time(v)
		}
	}
	full := w
	if len(w) >= len("09:00") && w[2] == ':' {
		if len(w) == len("09:00") {
			full += ":00"
		}
		full = date + "T" + full + "Z"
	}
	t, err := earshot.ParseTime(full)
	if err != nil {
		x.fail("%q is no time; write 09:00:00, 2026-03-02T09:00:00Z or a Slack ts", w)
	}
	return t
}

// timeText writes t in the shortest form that is read back as t on that date.
func timeText(t earshot.Time, date string) string {
	if t == 0 {
		return "-"
	}
	if y := t.UTC().Year(); y < 1 || y > 9999 {
		return "@" + strconv.FormatInt(int64(t), 10)
	}
	s := t.String()
	if s[:len(date)] == date {
		return s[len(date)+1 : len(s)-1]
	}
	return s
}

// dateOf returns the day of t; ok is false where it cannot be written.
func dateOf(t earshot.Time) (string, bool) {
	if y := t.UTC().Year(); t == 0 || y < 1 || y > 9999 {
		return "", false
	}
	return t.String()[:len("2006-01-02")], true
}
