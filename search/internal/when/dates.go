package when

import (
	"strings"
	"time"
)

// figures reads dates in figures: 2017-03-05, 2017-03, 2017/3/5, 5.3.2017,
// 3/5/2017, Japanese (3/5) has a form of its own.
func (r *timeReader) figures(i int, l lead) (finding, bool) {
	n, sep, next := r.numbers(i)
	switch {
	case len(n) == 3 && len(r.tokens[i].text) == 4 && (sep == "-" || sep == "/" || sep == "." && len(r.tokens[i+2].text) == 2 && len(r.tokens[i+4].text) == 2):
		if r.glued(next) && r.word(next, "t") { // 2017-03-05T10:00
			for r.solid(next) && r.glued(next) {
				if next++; r.glued(next) && r.glued(next+1) && r.solid(next+1) && strings.Contains(":.+-", r.tokens[next].text) {
					next++
				}
			}
		}
		s, ok := r.date(n[0], n[1], n[2])
		s.soft = sep == "."
		return finding{[]stretch{s}, next}, ok
	case len(n) == 2 && len(r.tokens[i].text) == 4 && sep == "-" && len(r.tokens[i+2].text) == 2:
		if !r.isYear(n[0]) || n[1] < 1 || n[1] > 12 {
			return finding{}, false
		}
		return one(r.months(n[0], time.Month(n[1]), 1), next)
	case len(n) == 3 && len(r.tokens[i+4].text) == 4 && (sep == "." || sep == "-"):
		s, ok := r.date(n[2], n[1], n[0])
		if r.word(i-1, "version", "release", "v", "build") {
			return finding{}, false
		}
		return finding{[]stretch{s}, next}, ok
	case len(n) == 3 && len(r.tokens[i+4].text) == 4 && sep == "/":
		return r.readings(n[2], n[0], n[1], next)
	case len(n) == 2 && sep == "/" && r.dated(i, l, inEnglish) && (r.ends(next) || r.word(next, "at")):
		return r.readings(0, n[0], n[1], next)
	}
	return finding{}, false
}

// numbers reads two or three numbers with one sign between them.
func (r *timeReader) numbers(i int) (n []int, sep string, next int) {
	if i >= len(r.tokens) || r.tokens[i].kind != numberToken || r.tokens[i].number < 0 {
		return nil, "", i
	}
	n, next = append(n, r.tokens[i].number), i+1
	for len(n) < 3 && next+1 < len(r.tokens) && r.glued(next) && r.glued(next+1) {
		sign, number := r.tokens[next], r.tokens[next+1]
		if number.kind != numberToken || number.number < 0 || len(n) == 2 && sign.text != sep || sign.text != "-" && sign.text != "/" && sign.text != "." {
			break
		}
		sep = sign.text
		n, next = append(n, number.number), next+2
	}
	return n, sep, next
}

// readings reads a/b as month and day and as day and month; year 0 is the
// latest.
func (r *timeReader) readings(y, a, b, next int) (finding, bool) {
	f := finding{next: next}
	for _, d := range [][2]int{{a, b}, {b, a}} {
		s, ok := r.date(y, d[0], d[1])
		if y == 0 {
			s, ok = r.latestDay(d[0], d[1])
		}
		if ok && (len(f.list) == 0 || !f.list[0].from.Equal(s.from)) {
			f.list = append(f.list, s)
		}
	}
	for k := range f.list {
		f.list[k].soft = len(f.list) > 1 || y == 0
	}
	return f, len(f.list) > 0
}

// isYear reports whether a number may be a year: up to the next.
func (r *timeReader) isYear(y int) bool { return y >= firstYear && y <= r.now.Year()+1 }

// date is a day; false where there is none.
func (r *timeReader) date(y, m, d int) (stretch, bool) {
	if !r.isYear(y) || m < 1 || m > 12 || d < 1 || d > time.Date(y, time.Month(m)+1, 0, 0, 0, 0, 0, time.UTC).Day() {
		return stretch{}, false
	}
	return stretch{from: r.midnight(y, time.Month(m), d), to: r.midnight(y, time.Month(m), d+1)}, true
}

// latestDay is the latest such day that has begun.
func (r *timeReader) latestDay(m, d int) (stretch, bool) {
	for y := r.now.Year(); y > r.now.Year()-9; y-- {
		if s, ok := r.date(y, m, d); ok && !s.from.After(r.now) {
			return s, true
		}
	}
	return stretch{}, false
}

// latestMonth is the latest such month that has begun; in that month, it may
// also be a year ago.
func (r *timeReader) latestMonth(m time.Month) []stretch {
	y, now, _ := r.now.Date()
	switch {
	case m == now:
		return []stretch{r.months(y, m, 1), soft(r.months(y-1, m, 1))}
	case m > now:
		y--
	}
	return []stretch{r.months(y, m, 1)}
}

// dayMonth reads "5 March 2017", "5th of March", "5. März".
func (r *timeReader) dayMonth(i int, l lead) (finding, bool) {
	d, next, sure, ok := r.dayNumber(i)
	if !ok {
		return finding{}, false
	}
	at := r.skip(next, 2, anyLanguage, linkOf, linkThe)
	m, end, ok := r.find(at, monthWord, anyLanguage)
	if !ok || at > next && r.skip(next, 2, m.in, linkOf, linkThe) != at {
		return finding{}, false
	}
	sure = sure || at > next
	if m.weak && r.sign(end, ".") && !r.ends(end) {
		end++
	}
	if y, after, ok := r.yearBehind(end, m.in); ok {
		s, ok := r.date(y, m.value+1, d)
		return finding{[]stretch{s}, after}, ok
	}
	if m.weak && !sure && (l.on|l.the)&m.in == 0 && !r.ends(end) && !(r.tokens[at].upper && m.in&inEnglish != 0) {
		return finding{}, false
	}
	s, ok := r.latestDay(m.value+1, d)
	s = r.narrowed(s, &end, m.in)
	return finding{[]stretch{s}, end}, ok
}

// dayNumber reads a day of a month; sure says that it is an ordinal.
func (r *timeReader) dayNumber(i int) (d, next int, sure, ok bool) {
	if i >= len(r.tokens) || r.tokens[i].kind != numberToken || r.tokens[i].number < 1 || r.tokens[i].number > 31 || len(r.tokens[i].text) > 2 {
		return 0, i, false, false
	}
	d, next = r.tokens[i].number, i+1
	switch {
	case r.glued(next) && r.word(next, "st", "nd", "rd", "th", "er", "e", "ste", "de", "º"):
		return d, next + 1, true, true
	case r.glued(next) && r.sign(next, ".") && !r.glued(next+1):
		return d, next + 1, false, true
	}
	return d, next, false, true
}

// monthFirst reads "March 5, 2017", "March 2017", "October".
func (r *timeReader) monthFirst(i int, l lead) (finding, bool) {
	m, next, ok := r.find(i, monthWord, anyLanguage)
	if !ok {
		return finding{}, false
	}
	if m.weak && r.sign(next, ".") && r.glued(next) && next+1 < len(r.tokens) && r.tokens[next+1].kind == numberToken {
		next++
	}
	month := time.Month(m.value + 1)
	if y, end, ok := r.yearBehind(next, m.in); ok {
		if m.weak && m.in&inEnglish == 0 && l.in&m.in == 0 && r.tokens[i].upper {
			return finding{}, false // Mars 2020 flew
		}
		return one(r.months(y, month, 1), end)
	}
	if f, ok := r.monthDay(i, next, m, l); ok {
		return f, true
	}
	if m.weak && (l.in&m.in == 0 || l.the&m.in != 0) {
		return finding{}, false
	}
	return finding{r.latestMonth(month), next}, true
}

// monthDay reads the rest of "March 5th, 2017".
func (r *timeReader) monthDay(i, next int, m entry, l lead) (finding, bool) {
	if m.in&inEnglish == 0 {
		return finding{}, false
	}
	d, end, sure, ok := r.dayNumber(r.skip(next, 1, inEnglish, linkThe))
	if !ok {
		return finding{}, false
	}
	at := end
	if r.sign(at, ",") {
		at++
	}
	if y, after, ok := r.yearBehind(at, m.in); ok {
		s, ok := r.date(y, m.value+1, d)
		return finding{[]stretch{s}, after}, ok
	}
	capital := r.tokens[i].upper && i > 0
	if m.weak && !sure && !capital && l.on&inEnglish == 0 && !r.ends(end) {
		return finding{}, false
	}
	s, ok := r.latestDay(m.value+1, d)
	s = r.narrowed(s, &end, m.in)
	return finding{[]stretch{s}, end}, ok
}

// yearBehind reads the year of a month or a season: 2017, '17, of last year.
func (r *timeReader) yearBehind(i int, in languages) (y, next int, ok bool) {
	at := i
	if r.sign(at, ",") {
		at++
	}
	at = r.skip(at, 2, in, linkOf, linkThe)
	if at < len(r.tokens) && r.tokens[at].kind == numberToken {
		t := r.tokens[at]
		switch {
		case len(t.text) == 4 && r.isYear(t.number):
			return t.number, r.yearWord(at+1, in), true
		case len(t.text) == 2 && t.short && r.isYear(2000+t.number):
			return 2000 + t.number, at + 1, true
		}
		return 0, i, false
	}
	if u, n, next, ok := r.distance(at, in); ok && u == year {
		return r.now.Year() + n, next, true
	}
	return 0, i, false
}

// yearWord skips the word for year that follows one in some languages.
func (r *timeReader) yearWord(i int, in languages) int {
	if e, next, ok := r.find(i, unitWord, in&bare); ok && unit(e.value) == year {
		return next
	}
	return i
}

// counted are words that a number before them counts, so that it is no year.
var counted = []string{
	"ms", "s", "sec", "seconds", "bytes", "kb", "mb", "gb", "px", "lines", "users", "messages", "points", "times", "rows", "steps", "km", "m", "meters", "mhz", "hz", "mah", "w", "v",
	"people", "nodes", "nodos", "files", "requests", "entries", "items", "characters", "words", "tokens", "dollars", "euros", "eur", "usd", "percent", "iterations", "chars", "feet", "miles", "hours", "days", "minutes",
}

// yearNumber reads a year as a number; sure says that its place makes it one.
func (r *timeReader) yearNumber(i int, sure bool) (stretch, int, bool) {
	if i >= len(r.tokens) || len(r.tokens[i].text) != 4 || r.tokens[i].kind != numberToken || !r.isYear(r.tokens[i].number) || !sure || r.word(i+1, counted...) {
		return stretch{}, i, false
	}
	return r.months(r.tokens[i].number, 1, 12), i + 1, true
}

// yearAlone reads "in 2016", "since 2016".
func (r *timeReader) yearAlone(i int, l lead) (finding, bool) {
	s, next, ok := r.yearNumber(i, l.in != 0 && !r.word(i-1, "the", "a", "an", "o", "no", "na", "do", "um", "per", "ad", "met", "zu"))
	if !ok {
		return finding{}, false
	}
	return one(s, r.yearWord(next, l.in))
}

// Seasons begin with a month and end loosely: from the first of June to the
// 22nd of September is summer.
func (r *timeReader) seasonOf(y, which int) stretch {
	first := time.Month(3 + 3*which)
	return stretch{from: r.midnight(y, first, 1), to: r.midnight(y, first+3, 22), soft: true}
}

// season reads "in summer", "spring 2016", "winter of last year".
func (r *timeReader) season(i int, l lead) (finding, bool) {
	e, next, ok := r.find(i, seasonWord, anyLanguage)
	if !ok {
		return finding{}, false
	}
	if y, end, ok := r.yearBehind(next, e.in); ok {
		f := finding{[]stretch{r.seasonOf(y, e.value)}, end}
		if e.value == 3 { // it has the beginning of one winter, the end of another
			f.list = append(f.list, r.seasonOf(y-1, e.value))
		}
		return f, true
	}
	if l.on&e.in == 0 || e.weak && (!r.ends(next) || e.in&inEnglish != 0 && (l.in&inEnglish == 0 || l.the&inEnglish == 0)) {
		return finding{}, false
	}
	return one(r.turnedSeasonOf(e.value, turnPast), next)
}

// turnedSeason reads the rest of "last summer".
func (r *timeReader) turnedSeason(which, turn, next int) (finding, bool) {
	if turn == turnNext {
		return finding{next: next}, true
	}
	return one(r.turnedSeasonOf(which, turn), next)
}

// turnedSeasonOf is the latest season that began, and of last ones, the latest
// that is over.
func (r *timeReader) turnedSeasonOf(which, turn int) stretch {
	y := r.now.Year()
	s := r.seasonOf(y, which)
	for k := 0; k < 3 && (s.from.After(r.now) || turn == turnLast && s.to.After(r.now)); k++ {
		y--
		s = r.seasonOf(y, which)
	}
	return s
}

// quarter reads "Q3 2017", "in Q3".
func (r *timeReader) quarter(i int, l lead) (finding, bool) {
	if !r.word(i, "q") || !r.tokens[i].upper || !r.glued(i+1) || len(r.tokens[i+1].text) != 1 {
		return finding{}, false
	}
	n := r.tokens[i+1].number
	if n < 1 || n > 4 || r.tokens[i+1].kind != numberToken {
		return finding{}, false
	}
	first := time.Month(3*n - 2)
	at := i + 2
	if r.sign(at, "/") {
		at++
	}
	if y, end, ok := r.yearBehind(at, anyLanguage); ok {
		return one(r.months(y, first, 3), end)
	}
	if l.in == 0 || r.glued(i+2) && !r.ends(i+2) {
		return finding{}, false
	}
	y := r.now.Year()
	if first > r.now.Month() {
		y--
	}
	return one(r.months(y, first, 3), i+2)
}

// The feasts of the table.
const (
	christmas = iota
	newYear
	newYearsEve
	halloween
	easter
)

// feastIn is a feast with a few days around it; of a year, or of its turn.
func (r *timeReader) feastIn(y, which int) stretch {
	switch which {
	case christmas:
		return stretch{r.midnight(y, 12, 21), r.midnight(y, 12, 29), true}
	case newYear:
		return stretch{r.midnight(y, 1, -1), r.midnight(y, 1, 4), true}
	case newYearsEve:
		return stretch{r.midnight(y, 12, 31), r.midnight(y, 12, 33), true}
	case halloween:
		return stretch{r.midnight(y, 10, 29), r.midnight(y, 10, 34), true}
	}
	m, d := easterSunday(y)
	return stretch{r.midnight(y, m, d-3), r.midnight(y, m, d+2), true}
}

// easterSunday is by the anonymous Gregorian computus.
func easterSunday(y int) (time.Month, int) {
	a, b, c := y%19, y/100, y%100
	h := (19*a + b - b/4 - (b-(b+8)/25+1)/3 + 15) % 30
	l := (32 + 2*(b%4) + 2*(c/4) - h - c%4) % 7
	m := (a + 11*h + 22*l) / 451
	n := h + l - 7*m + 114
	return time.Month(n / 31), n%31 + 1
}

// feast reads "at Christmas", "Christmas 2016".
func (r *timeReader) feast(i int, l lead) (finding, bool) {
	e, next, ok := r.find(i, feastWord, anyLanguage)
	if !ok {
		return finding{}, false
	}
	if y, end, ok := r.yearBehind(next, e.in); ok {
		return one(r.feastIn(y, e.value), end)
	}
	if l.on&e.in == 0 || l.the&inEnglish != 0 && !r.ends(next) && !r.word(next, "break", "holidays", "holiday", "weekend", "days") {
		return finding{}, false
	}
	return r.feastOf(e.value, next, e.in)
}

// feastOf is the latest that began.
func (r *timeReader) feastOf(which, next int, _ languages) (finding, bool) {
	return r.turnedFeast(which, turnPast, next)
}

// turnedFeast reads the rest of "last Christmas".
func (r *timeReader) turnedFeast(which, turn, next int) (finding, bool) {
	if turn == turnNext {
		return finding{next: next}, true
	}
	y := r.now.Year() + 1
	s := r.feastIn(y, which)
	for k := 0; k < 3 && (s.from.After(r.now) || turn == turnLast && s.to.After(r.now)); k++ {
		y--
		s = r.feastIn(y, which)
	}
	return one(s, next)
}
