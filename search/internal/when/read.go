package when

import (
	"strings"
	"time"
)

// find returns the entry of a class whose form begins at token i, the longest, in one
// of some languages, and the token after the form.
func (r *reader) find(i int, c class, in int) (e entry, next int, ok bool) {
	form, at, next := "", i, i
	for n := 0; n < 4 && at < len(r.tokens) && r.tokens[at].kind == wordToken; n++ {
		form = strings.TrimPrefix(form+" "+r.tokens[at].text, " ")
		at++
		if x := lexicon[[2]string{string(c), form}]; x.in&in != 0 {
			e, next, ok = x, at, true
		}
		if r.sign(at, "-") && r.glued(at) && r.glued(at+1) {
			at++ // avant-hier
		}
	}
	return e, next, ok
}

// link reports whether token i is a preposition or an article of some languages.
func (r *reader) link(i int, c class, in int) bool {
	return i >= 0 && i < len(r.tokens) && lexicon[[2]string{string(c), r.tokens[i].text}].in&in != 0
}

// skip skips up to two articles.
func (r *reader) skip(i, in int) int {
	for n := 0; n < 2 && r.link(i, articleWord, in); n++ {
		i++
	}
	return i
}

// number returns the number at token i, -1 where there is none.
func (r *reader) number(i int) int {
	if i >= len(r.tokens) {
		return -1
	}
	return r.tokens[i].number
}

// expression reads the time that begins at token i, with the token after it. Without
// spans it is one that is not meant, such as one in the future.
func (r *reader) expression(i int) ([]Span, int, bool) {
	_, next, every := r.find(i, everyWord, anyLanguage)
	if _, end, ok := r.noun(next); ok && every {
		return nil, end, true
	}
	for _, read := range []func(int) ([]Span, int, bool){r.japanese, r.figures, r.dayMonth, r.yearAlone, r.phrase, r.edges, func(i int) ([]Span, int, bool) { return r.named(i, false) }} {
		list, next, ok := read(i)
		if !ok {
			continue
		}
		if r.link(i-1, sinceWord, anyLanguage) || r.link(i-1, articleWord, anyLanguage) && r.link(i-2, sinceWord, anyLanguage) {
			r.since(list)
		}
		return list, next, true
	}
	return nil, i, false
}

// figures reads dates in figures: 2017-03-05, 2017-03, 2017/3/5, 5.3.2017.
func (r *reader) figures(i int) ([]Span, int, bool) {
	a, b, c := r.number(i), r.number(i+2), r.number(i+4)
	if a < 0 || b < 0 || !r.glued(i+1) || !r.glued(i+2) {
		return nil, i, false
	}
	sep := r.tokens[i+1].text
	whole := c >= 0 && r.glued(i+3) && r.glued(i+4) && r.sign(i+3, sep)
	switch {
	case whole && len(r.tokens[i].text) == 4 && (sep == "-" || sep == "/"):
		next := i + 5
		for r.glued(next) && (r.solid(next) || r.glued(next+1) && r.solid(next+1)) { // T10:00
			next++
		}
		s, ok := r.date(a, b, c)
		return []Span{s}, next, ok
	case whole && len(r.tokens[i+4].text) == 4 && sep == "." && !r.link(i-1, versionWord, anyLanguage):
		s, ok := r.date(c, b, a)
		return []Span{s}, i + 5, ok
	case len(r.tokens[i].text) == 4 && sep == "-" && len(r.tokens[i+2].text) == 2 && r.isYear(a) && b >= 1 && b <= 12:
		return []Span{r.months(a, time.Month(b), 1)}, i + 3, true
	}
	return nil, i, false
}

// dayNumber reads a day of a month: 5, 5th, 5.
func (r *reader) dayNumber(i int) (d, next int, ok bool) {
	if d = r.number(i); d < 1 || d > 31 || len(r.tokens[i].text) > 2 || strings.HasSuffix(r.text[:r.tokens[i].start], "'") { // March '17
		return 0, i, false
	}
	next = i + 1
	if r.glued(next) && (r.link(next, ordinalWord, anyLanguage) || r.sign(next, ".") && !r.glued(next+1)) {
		next++
	}
	return d, next, true
}

// dated is the day d of a month, of the year that stands at token i or the latest.
func (r *reader) dated(m entry, d, i int) ([]Span, int, bool) {
	if y, end, ok := r.yearAt(i, m.in); ok {
		s, ok := r.date(y, m.value+1, d)
		return []Span{s}, end, ok
	}
	s, ok := r.latestDay(m.value+1, d)
	return []Span{s}, i, ok
}

// dayMonth reads "5 March 2017", "5th of March".
func (r *reader) dayMonth(i int) ([]Span, int, bool) {
	d, next, ok := r.dayNumber(i)
	m, end, found := r.find(r.skip(next, anyLanguage), monthWord, anyLanguage)
	if !ok || !found {
		return nil, i, false
	}
	_, _, year := r.yearAt(end, m.in)
	if m.weak && !year && end == i+2 && !r.link(i-1, inWord, m.in) && !r.link(i-1, articleWord, m.in) && !r.ends(end) && !r.tokens[end-1].upper {
		return nil, i, false
	}
	return r.dated(m, d, end)
}

// yearAt reads the year of a month: 2017, of last year.
func (r *reader) yearAt(i, in int) (y, next int, ok bool) {
	if r.sign(i, ",") {
		i++
	}
	i = r.skip(i, in)
	if y := r.number(i); r.isYear(y) && len(r.tokens[i].text) == 4 {
		return y, i + 1, true
	}
	n, next, ok := r.noun(i)
	return r.now.Year() + n.turn, next, ok && n.turned && n.class == unitWord && n.value == year && n.in&in != 0
}

// yearAlone reads "in 2016", "since 2016".
func (r *reader) yearAlone(i int) ([]Span, int, bool) {
	y := r.number(i)
	if !r.isYear(y) || !r.link(i-1, inWord, anyLanguage) && !r.link(i-1, sinceWord, anyLanguage) || r.link(i+1, countedWord, anyLanguage) {
		return nil, i, false
	}
	return []Span{r.months(y, 1, 12)}, i + 1, true
}

// phrase reads "yesterday". What its class has after today is left out as the future is.
func (r *reader) phrase(i int) ([]Span, int, bool) {
	e, next, ok := r.find(i, phraseWord, anyLanguage)
	return []Span{r.calendar(day, e.value-2)}, next, ok
}

// edges reads "end of October", "early 2017", "mid-January", "end of last month".
func (r *reader) edges(i int) ([]Span, int, bool) {
	e, next, ok := r.find(i, edgeWord, anyLanguage)
	if !ok {
		return nil, i, false
	}
	if r.sign(next, "-") {
		next++
	}
	next = r.skip(next, e.in)
	list, end, ok := r.named(next, true)
	if y := r.number(next); !ok && r.isYear(y) {
		list, end, ok = []Span{r.months(y, 1, 12)}, next+1, true
	}
	for k := range list {
		list[k] = r.edge(list[k], e.value)
	}
	return list, end, ok
}

// A timeNoun is a unit, a day of the week or a month, and whether it is last (-1), this (0)
// or next (1).
type timeNoun struct {
	entry
	turn   int
	turned bool
}

// noun reads "last week", "Friday", "mois dernier".
func (r *reader) noun(i int) (n timeNoun, next int, ok bool) {
	in := anyLanguage
	turn, at, turned := r.find(i, turnWord, in)
	if turned {
		in = turn.in
	}
	for _, c := range []class{unitWord, weekdayWord, monthWord} {
		if n.entry, next, ok = r.find(at, c, in); !ok {
			continue
		}
		if e, end, found := r.find(next, turnWord, n.in); !turned && found && e.value == 0 && n.in != 1 { // not English
			turn, next, turned = e, end, true
		}
		if n.turned = turned; turned {
			n.turn = turn.value - 1
		}
		return n, next, true
	}
	return timeNoun{}, i, false
}

// named reads a noun with what narrows it: "last week on Friday", "March 5, 2017". Sure
// says that the noun's place makes it a time, as in "early may".
func (r *reader) named(i int, sure bool) ([]Span, int, bool) {
	n, next, ok := r.noun(i)
	if !ok || n.turned && r.solid(next) && r.tokens[next].text == "of" {
		return nil, next, ok && n.class == weekdayWord // "the last Friday of March"
	}
	switch n.class {
	case unitWord:
		if !n.turned && !sure || n.value == day {
			return nil, i, false
		}
		s := r.calendar(n.value, n.turn)
		switch d, end, _ := r.noun(r.skip(next, n.in)); {
		case d.turned:
		case n.value == week && d.class == weekdayWord:
			return []Span{r.days(s.From, d.value, d.value+1)}, end, true
		case n.value == year && d.class == monthWord:
			return []Span{r.months(s.From.Year(), time.Month(d.value+1), 1)}, end, true
		}
		return []Span{s}, next, true
	case weekdayWord:
		return r.weekday(i, n, next)
	}
	return r.month(i, n, next, sure)
}

// weekday reads a day of the week, with its week if it has one. A date behind it says more.
func (r *reader) weekday(i int, n timeNoun, next int) ([]Span, int, bool) {
	this := r.days(r.calendar(week, 0).From, n.value, n.value+1)
	if w, end, ok := r.noun(r.skip(next, n.in)); ok && w.turned && w.class == unitWord && w.value == week {
		return []Span{r.days(this.From, 7*w.turn, 7*w.turn+1)}, end, true
	}
	switch {
	case r.number(next) >= 0, r.sign(next, ",") && r.number(next+1) >= 0:
		return nil, next, true
	case n.turned && n.turn >= 0:
		return []Span{r.days(this.From, 7*n.turn, 7*n.turn+1)}, next, true
	case n.turned:
		return r.lastWeekday(n.value), next, true
	case n.weak && (!r.ends(next) || i == 0 || r.tokens[i-1].text != "on" && r.tokens[i-1].text != "since"):
		return nil, i, false
	}
	return r.plainWeekday(n.value), next, true
}

// month reads a month with its year or day.
func (r *reader) month(i int, n timeNoun, next int, sure bool) ([]Span, int, bool) {
	m := time.Month(n.value + 1)
	if y, end, ok := r.yearAt(next, n.in); ok {
		return []Span{r.months(y, m, 1)}, end, true
	}
	sure = sure || !n.weak || r.link(i-1, inWord, n.in) || r.link(i-1, sinceWord, n.in)
	switch {
	case n.turned && n.turn < 0:
		return []Span{r.lastMonth(m)}, next, true
	case n.turned:
		return []Span{r.months(r.now.Year(), m, 1)}, next, sure || r.tokens[next-1].upper // not "this may break"
	}
	if d, end, ok := r.dayNumber(r.skip(next, 1)); ok && n.in&1 != 0 {
		if _, _, year := r.yearAt(end, 1); year || sure || r.ends(end) || end > i+2 || r.tokens[i].upper && i > 0 {
			return r.dated(n.entry, d, end)
		}
	}
	return r.latestMonth(m), next, sure
}
