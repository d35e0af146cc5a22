// Package when reads the times that a question names: "yesterday", "last
// Friday", "in March 2017", "2 週間前".
//
//	for _, m := range when.Mentions(text, now) {
//		// m.From and m.To, said by text[m.Start:m.End]
//	}
//
// The package is pure: the moment is passed in, in the zone of whoever asks. The
// words of each language are one entry of the table in words.go. One grammar reads
// them all, except Japanese, which has its own.
package when

import (
	"time"
	"unicode/utf8"
)

// A Span is a stretch of time, without its end.
type Span struct {
	From, To time.Time
	// Soft says that what was named is vague ("a few weeks ago", "in summer") or
	// has other readings ("3/5/2017"), so that what lies outside may be meant.
	Soft bool
}

// A Mention is a span that a text names, and where: text[Start:End] says it,
// with the preposition that it hangs on.
type Mention struct {
	Span
	Start, End int
}

// Bounds of the work of [Mentions].
const (
	maxMentions = 8
	maxWhen     = 2 << 10 // bytes that are read for time words
	firstYear   = 1970    // an earlier one is not read as a year
)

// Mentions returns the spans of time that a text names, in the order of the text,
// as they are meant by somebody who asks at now, in the zone of now. An expression
// with several readings gives one mention for each, with the same Start and End.
// Times in the future are left out, and so is what may be no time at all ("this may
// break", "24/7", "1.2.2017-rc1"): a wrong span costs a search more than a missed
// one. Words without a definite span ("recently", "the other day") give none. With
// a zero now there are no mentions. At most the first 2 KiB are read, and at most
// 8 mentions returned.
//
// Days begin at midnight of the zone, weeks on Monday. The words are those of
// [languageTable], and Japanese.
func Mentions(text string, now time.Time) []Mention {
	if now.IsZero() {
		return nil
	}
	r := newTimeReader(text, now)
	var out []Mention
	for i := 0; i < len(r.tokens) && len(out) < maxMentions; {
		f, ok := r.expression(i)
		if !ok || !r.apart(i, f.next) {
			i++
			continue
		}
		start, end := r.tokens[i].start, r.tokens[f.next-1].end
		for _, s := range f.list {
			m := Mention{Span{s.from, s.to, s.soft}, start, end}
			if m.From.Before(m.To) && !m.From.After(now) && len(out) < maxMentions {
				out = append(out, m)
			}
		}
		i = f.next
	}
	return out
}

// head returns the beginning of a text, as much of it as is read.
func head(text string) string {
	n := min(len(text), maxWhen)
	for n < len(text) && n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// A timeReader reads the time words of one text.
type timeReader struct {
	tokens []timeToken
	words  lexicon
	now    time.Time // in the zone
	zone   *time.Location
}

func newTimeReader(text string, now time.Time) *timeReader {
	return &timeReader{tokens: timeTokens(head(text)), words: timeWords, now: now, zone: now.Location()}
}

// A stretch is a span of time, from inclusive and to exclusive.
type stretch struct {
	from, to time.Time
	soft     bool
}

// A finding is an expression that was read: its readings, none where it is in the
// future or is not meant as a time, and the token after it.
type finding struct {
	list []stretch
	next int
}

func one(s stretch, next int) (finding, bool) { return finding{[]stretch{s}, next}, true }

func soft(s stretch) stretch {
	s.soft = true
	return s
}

// A unit is what time is counted in.
type unit int

const (
	minute unit = iota
	hour
	day
	week
	month
	year
	weekend
	quarter
)

// midnight is when a day begins; months and days may overflow. Where clocks
// leave midnight out, the day begins later, and where they show it twice, at
// the first.
func (r *timeReader) midnight(y int, m time.Month, d int) time.Time {
	noon := time.Date(y, m, d, 12, 0, 0, 0, r.zone)
	y, m, d = noon.Date()
	t := time.Date(y, m, d, 0, 0, 0, 0, r.zone)
	if t.Day() != d {
		t = time.Date(y, m, d, 1, 0, 0, 0, r.zone)
	}
	if e := t.Add(-time.Hour); e.Day() == d {
		t = e
	}
	return t
}

// days is a stretch of whole days, from and to counted from the day of t.
func (r *timeReader) days(t time.Time, from, to int) stretch {
	y, m, d := t.Date()
	return stretch{from: r.midnight(y, m, d+from), to: r.midnight(y, m, d+to)}
}

// months is a stretch of n whole months from one on, which may overflow.
func (r *timeReader) months(y int, m time.Month, n int) stretch {
	return stretch{from: r.midnight(y, m, 1), to: r.midnight(y, m+time.Month(n), 1)}
}

// weekday counts from Monday, 0.
func weekday(t time.Time) int { return (int(t.Weekday()) + 6) % 7 }

// calendar is the unit that lies n of its kind from now: 0 is this week, -1
// the last.
func (r *timeReader) calendar(u unit, n int) stretch {
	y, m, _ := r.now.Date()
	today := weekday(r.now)
	switch u {
	case minute, hour:
		d := time.Minute
		if u == hour {
			d = time.Hour
		}
		return stretch{from: r.now.Add(time.Duration(n) * d), to: r.now.Add(time.Duration(n+1) * d)}
	case day:
		return r.days(r.now, n, n+1)
	case week:
		return r.days(r.now, 7*n-today, 7*n-today+7)
	case month:
		return r.months(y, m+time.Month(n), 1)
	case quarter:
		return r.months(y, (m-1)/3*3+1+time.Month(3*n), 3)
	case weekend:
		saturday := 5 - today + 7*n
		return r.days(r.now, saturday, saturday+2)
	}
	return r.months(y+n, 1, 12)
}

// before is the day that lies n units before today.
func (r *timeReader) before(u unit, n int) time.Time {
	y, m, d := r.now.Date()
	switch u {
	case week:
		return r.midnight(y, m, d-7*n)
	case month, quarter, year:
		m -= time.Month(n * map[unit]int{month: 1, quarter: 3, year: 12}[u])
		last := time.Date(y, m+1, 0, 12, 0, 0, 0, r.zone).Day()
		return r.midnight(y, m, min(d, last))
	}
	return r.midnight(y, m, d-n)
}

// window is the last n units up to the end of today.
func (r *timeReader) window(u unit, n int) stretch {
	to := r.days(r.now, 0, 1).to
	switch u {
	case minute:
		return stretch{from: r.now.Add(-time.Duration(n) * time.Minute), to: to}
	case hour:
		return stretch{from: r.now.Add(-time.Duration(n) * time.Hour), to: to}
	}
	return stretch{from: r.before(u, n), to: to}
}

// ago is what somebody means by least to most units ago, the more of them the
// vaguer.
func (r *timeReader) ago(u unit, least, most int) stretch {
	s := stretch{soft: least < most}
	slack := 0
	switch u {
	case minute, hour:
		d := time.Minute
		if u == hour {
			d = time.Hour
		}
		return stretch{r.now.Add(-d * time.Duration(most+max(1, most/2))), r.now.Add(-d * time.Duration(least-max(1, least/2))), s.soft}
	case day:
		slack = least / 10
		s.soft = s.soft || slack > 0
	case week:
		slack = 3 + min(least, 8)/2
		s.soft = s.soft || least > 2
	case month:
		slack = 14 + 3*min(least, 6)
		s.soft = true
	case year, quarter:
		slack = 90
		if least > 1 {
			slack = 180
		}
		s.soft = true
	}
	s.from = r.days(r.before(u, most), -slack, 0).from
	s.to = r.days(r.before(u, least), 0, slack+1).to
	return s
}

// edge is the beginning (0), the middle (1) or the end (2) of a stretch, with
// room for those who count loosely, in whole days.
func (r *timeReader) edge(s stretch, which int) stretch {
	n := int(s.to.Sub(s.from).Hours()/24 + 0.5)
	if n < 5 {
		return s
	}
	wide := (n*2 + 4) / 5
	if n > 31 {
		wide = (n + 2) / 3
	}
	var e stretch
	switch which {
	case 0:
		e = r.days(s.from, 0, wide)
	case 1:
		e = r.days(s.from, n/4, n-n/4)
	default:
		e = r.days(s.to, -wide, n/12)
	}
	e.soft = s.soft
	return e
}

// A part of a day.
type part int

const (
	wholeDay part = iota
	morning
	afternoon
	evening
	night
)

// part narrows a day; night ends on the next morning.
func (r *timeReader) part(s stretch, p part) stretch {
	hours := [...][2]int{{0, 24}, {4, 12}, {12, 18}, {17, 24}, {18, 30}}[p]
	if p == wholeDay {
		return s
	}
	return r.clock(s, hours[0]*60, hours[1]*60)
}

// clock narrows a day to some minutes of the clock, which may overflow.
func (r *timeReader) clock(s stretch, from, to int) stretch {
	y, m, d := s.from.Add(2 * time.Hour).Date()
	s.from = time.Date(y, m, d, 0, from, 0, 0, r.zone)
	s.to = time.Date(y, m, d, 0, to, 0, 0, r.zone)
	return s
}
