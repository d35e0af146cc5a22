// Package when reads the times that a question names: "yesterday", "last Friday",
// "in March 2017", "先週の金曜日".
//
//	for _, s := range when.Spans(text, now) {
//		// s.From and s.To
//	}
//
// It reads what people name most: dates in figures, days of the week, yesterday, last week,
// months and years, in the languages of words.txt and in Japanese. The package is pure: the
// moment is passed in, in the zone of whoever asks.
package when

import "time"

// A Span is a stretch of time, without its end.
type Span struct{ From, To time.Time }

// Bounds of the work of [Spans].
const (
	maxSpans = 8
	maxText  = 2 << 10 // bytes that are read
)

// Spans returns the spans of time that a text names, in the order of the text, as
// they are meant by somebody who asks at now, in the zone of now. An expression with
// two readings ("on Friday", on a Friday) gives both. Times in the future are left out,
// and so is what may be no time at all ("this may break", "24/7", "1.2.2017-rc1"): a
// wrong span costs a search more than a missed one. With a zero now there are none. Days
// begin at midnight of the zone, weeks on Monday. At most the first 2 KiB are read, and at
// most 8 spans returned.
func Spans(text string, now time.Time) []Span {
	if now.IsZero() {
		return nil
	}
	r := newReader(text, now)
	var out []Span
	for i := 0; i < len(r.tokens); {
		list, next, ok := r.expression(i)
		if !ok || !r.apart(i, next) {
			i++
			continue
		}
		for _, s := range list {
			if s.From.Before(s.To) && !s.From.After(now) && len(out) < maxSpans {
				out = append(out, s)
			}
		}
		i = next
	}
	return out
}

// The units of time, as the class unitWord counts them.
const (
	day = iota
	week
	month
	year
)

// midnight is when a day begins; months and days may overflow. Where clocks leave
// midnight out, the day begins later, and where they show it twice, at the first.
func (r *reader) midnight(y int, m time.Month, d int) time.Time {
	zone := r.now.Location()
	y, m, d = time.Date(y, m, d, 12, 0, 0, 0, zone).Date()
	t := time.Date(y, m, d, 0, 0, 0, 0, zone)
	if t.Day() != d {
		t = time.Date(y, m, d, 1, 0, 0, 0, zone)
	}
	if e := t.Add(-time.Hour); e.Day() == d {
		t = e
	}
	return t
}

// days is a stretch of whole days, from and to counted from the day of t.
func (r *reader) days(t time.Time, from, to int) Span {
	y, m, d := t.Date()
	return Span{r.midnight(y, m, d+from), r.midnight(y, m, d+to)}
}

// months is a stretch of n whole months from one on, which may overflow.
func (r *reader) months(y int, m time.Month, n int) Span {
	return Span{r.midnight(y, m, 1), r.midnight(y, m+time.Month(n), 1)}
}

// weekday counts from Monday, 0.
func weekday(t time.Time) int { return (int(t.Weekday()) + 6) % 7 }

// calendar is the unit that lies n of its kind from now: 0 is this week, -1 the last.
func (r *reader) calendar(u, n int) Span {
	y, m, _ := r.now.Date()
	switch u {
	case day:
		return r.days(r.now, n, n+1)
	case week:
		monday := 7*n - weekday(r.now)
		return r.days(r.now, monday, monday+7)
	case month:
		return r.months(y, m+time.Month(n), 1)
	}
	return r.months(y+n, 1, 12)
}

// edge is the beginning (0), the middle (1) or the end (2) of a stretch, with room for
// those who count loosely, in whole days.
func (r *reader) edge(s Span, which int) Span {
	n := int(s.To.Sub(s.From).Hours()/24 + 0.5)
	wide := (n*2 + 4) / 5
	if n > 31 {
		wide = (n + 2) / 3
	}
	return [...]Span{r.days(s.From, 0, wide), r.days(s.From, n/4, n-n/4), r.days(s.To, -wide, n/12)}[which]
}

// since extends spans to the end of today.
func (r *reader) since(list []Span) {
	for i := range list {
		list[i].To = r.days(r.now, 0, 1).To
	}
}

// isYear reports whether a number may be a year: from 1970 to the next.
func (r *reader) isYear(y int) bool { return y >= 1970 && y <= r.now.Year()+1 }

// date is a day; false where there is none.
func (r *reader) date(y, m, d int) (Span, bool) {
	if !r.isYear(y) || m < 1 || m > 12 || d < 1 || d > time.Date(y, time.Month(m)+1, 0, 0, 0, 0, 0, time.UTC).Day() {
		return Span{}, false
	}
	return Span{r.midnight(y, time.Month(m), d), r.midnight(y, time.Month(m), d+1)}, true
}

// latestDay is the latest such day that has begun.
func (r *reader) latestDay(m, d int) (Span, bool) {
	for y := r.now.Year(); y > r.now.Year()-9; y-- {
		if s, ok := r.date(y, m, d); ok && !s.From.After(r.now) {
			return s, true
		}
	}
	return Span{}, false
}

// lastMonth is the latest such month that is over, latestMonth the latest that has begun:
// in that month, it may also be a year ago.
func (r *reader) lastMonth(m time.Month) Span {
	y, now, _ := r.now.Date()
	if m >= now {
		y--
	}
	return r.months(y, m, 1)
}

func (r *reader) latestMonth(m time.Month) []Span {
	if m == r.now.Month() {
		return []Span{r.calendar(month, 0), r.lastMonth(m)}
	}
	return []Span{r.lastMonth(m)}
}

// plainWeekday is the latest such day: on a Friday that may be today or a week ago.
func (r *reader) plainWeekday(d int) []Span {
	back := (weekday(r.now) - d + 7) % 7
	if back == 0 {
		return []Span{r.calendar(day, -7), r.calendar(day, 0)}
	}
	return []Span{r.calendar(day, -back)}
}

// lastWeekday is last Friday. In the week of a Friday, on the Saturday, some mean
// yesterday and some the week before.
func (r *reader) lastWeekday(d int) []Span {
	back := (weekday(r.now)-d+6)%7 + 1
	out := []Span{r.calendar(day, -back)}
	if back < 7 && back <= weekday(r.now) {
		out = append(out, r.calendar(day, -back-7))
	}
	return out
}
