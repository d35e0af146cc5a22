package when

import (
	"slices"
	"strings"
	"time"
)

// A lead is the prepositions and articles before an expression.
type lead struct {
	bound  int       // since, until and the like, or boundNone
	bounds languages // the languages of that word
	in     languages // in which it has a preposition of months and years
	on     languages // in which it has a preposition of days
	the    languages // in which its last word is an article
	next   int       // the token after it
}

const anyLanguage = ^languages(0)

// lead reads up to three prepositions and articles.
func (r *timeReader) lead(i int) lead {
	l := lead{bound: boundNone, next: i}
	for range 3 {
		e, next, ok := r.find(l.next, boundWord, anyLanguage)
		if ok && l.bound == boundNone {
			l.bound, l.bounds = e.value, e.in
			in, _, _ := r.link(l.next, linkIn, anyLanguage)
			on, _, _ := r.link(l.next, linkOn, anyLanguage)
			l.in, l.on, l.the = l.in|e.in|in.in, l.on|e.in|in.in|on.in, 0
			l.next = next
			continue
		}
		in, _, isIn := r.link(l.next, linkIn, anyLanguage)
		on, _, isOn := r.link(l.next, linkOn, anyLanguage)
		the, _, isThe := r.link(l.next, linkThe, anyLanguage)
		if !isIn && !isOn && !isThe {
			break
		}
		l.in, l.on, l.the = l.in|in.in, l.on|in.in|on.in, the.in
		l.next++
	}
	if l.next > i && r.glued(l.next) {
		return lead{bound: boundNone, next: i} // v2017
	}
	return l
}

// languagesOf returns the languages that the words of a time, the tokens
// [i, next), may be of.
func (r *timeReader) languagesOf(i, next int) languages {
	all := anyLanguage
	for ; i < next; i++ {
		if r.tokens[i].kind != wordToken {
			continue
		}
		var in languages
		for _, e := range r.words[r.tokens[i].text] {
			if e.class != linkWord && e.class != boundWord {
				in |= e.in
			}
		}
		if in != 0 && all&in != 0 {
			all &= in
		}
	}
	return all
}

// link finds a preposition or article of one kind.
func (r *timeReader) link(i, kind int, in languages) (entry, int, bool) {
	if i >= len(r.tokens) || r.tokens[i].kind != wordToken {
		return entry{}, i, false
	}
	for _, e := range r.words[r.tokens[i].text] {
		if e.class == linkWord && e.value == kind && e.in&in != 0 {
			return e, i + 1, true
		}
	}
	return entry{}, i, false
}

// skip skips up to n links of some kinds.
func (r *timeReader) skip(i, n int, in languages, kinds ...int) int {
	for range n {
		from := i
		for _, k := range kinds {
			if _, next, ok := r.link(i, k, in); ok {
				i = next
				break
			}
		}
		if i == from {
			break
		}
	}
	return i
}

// expression reads the time that begins at token i, prepositions included.
func (r *timeReader) expression(i int) (finding, bool) {
	if t := r.tokens[i]; t.kind == signToken || t.kind == wordToken && len(r.words[t.text]) == 0 && t.text != "q" {
		return finding{}, false
	}
	if r.tokens[i].kind != wordToken {
		if f, ok := r.japanese(i); ok || r.tokens[i].kind == kanaToken {
			return f, ok
		}
	}
	none := lead{bound: boundNone, next: i}
	if f, ok := r.edges(i, none); ok {
		return f, true
	}
	for _, read := range []func(int) (finding, bool){r.every, r.fromTo} {
		if f, ok := read(i); ok {
			return f, true
		}
	}
	if f, ok := r.phrase(i, none); ok {
		return f, true
	}
	l := r.lead(i)
	if l.next > i {
		if f, ok := r.core(l.next, l); ok {
			in := r.languagesOf(l.next, f.next)
			f.list = slices.DeleteFunc(f.list, func(s stretch) bool { return s.from.After(r.now) })
			if l.bounds&in != 0 {
				for k := range f.list {
					f.list[k] = r.bounded(f.list[k], l.bound)
				}
			}
			if (l.on|l.the)&in != 0 { // words of one language
				return f, true
			}
		}
	}
	return r.core(i, none)
}

// bounded is what lies since, until, before or after a stretch. How far before
// or after is a guess.
func (r *timeReader) bounded(s stretch, bound int) stretch {
	room := max(7, int(s.to.Sub(s.from).Hours()/24+0.5))
	switch bound {
	case boundSince:
		if to := r.days(r.now, 0, 1).to; to.After(s.to) {
			s.to = to
		}
	case boundUntil:
		s.from, s.soft = r.days(s.from, -room, 0).from, true
	case boundBefore:
		s.from, s.to, s.soft = r.days(s.from, -room, 0).from, s.from, true
	case boundAfter:
		s.to, s.soft = r.days(s.to, 0, room).to, true
	}
	return s
}

// every reads what comes again, which is no stretch: "every Friday".
func (r *timeReader) every(i int) (finding, bool) {
	e, next, ok := r.find(i, everyWord, anyLanguage)
	if !ok {
		return finding{}, false
	}
	for _, c := range []class{weekdayWord, unitWord, monthWord, seasonWord} {
		if _, end, ok := r.find(next, c, e.in); ok {
			return finding{next: end}, true
		}
	}
	return finding{}, false
}

// fromTo reads "between March and May", "from Monday to Friday".
func (r *timeReader) fromTo(i int) (finding, bool) {
	e, next, ok := r.find(i, rangeWord, anyLanguage)
	if !ok || e.value != 0 {
		return finding{}, false
	}
	next = r.skip(next, 1, e.in, linkThe)
	f, ok := r.core(next, lead{bound: boundNone, in: e.in, on: e.in})
	if !ok || len(f.list) == 0 {
		return finding{}, false
	}
	e, next, ok = r.find(f.next, rangeWord, e.in)
	if !ok || e.value != 1 {
		return finding{}, false
	}
	next = r.skip(next, 1, e.in, linkThe)
	g, ok := r.core(next, lead{bound: boundNone, in: e.in, on: e.in})
	if !ok || len(g.list) == 0 {
		return finding{}, false
	}
	a, b := f.list[0], g.list[0]
	if a.from.After(b.from) { // from November to January
		y, m, d := a.from.Date()
		a.from = r.midnight(y-1, m, d)
	}
	return one(stretch{a.from, b.to, a.soft || b.soft}, g.next)
}

// core reads an expression without what stands before it.
func (r *timeReader) core(i int, l lead) (finding, bool) {
	if i >= len(r.tokens) {
		return finding{}, false
	}
	if r.tokens[i].kind == numberToken {
		for _, read := range []func(int, lead) (finding, bool){r.figures, r.back, r.dayMonth, r.yearAlone} {
			if f, ok := read(i, l); ok {
				return f, true
			}
		}
		return finding{}, false
	}
	for _, read := range []func(int, lead) (finding, bool){
		r.edges, r.phrase, r.turned, r.back, r.monthFirst, r.weekdays, r.season, r.quarter, r.feast, r.weekend,
	} {
		if f, ok := read(i, l); ok {
			return f, true
		}
	}
	return finding{}, false
}

// phrase reads "yesterday", "the week before last" and the like.
func (r *timeReader) phrase(i int, _ lead) (finding, bool) {
	e, next, ok := r.find(i, phraseWord, anyLanguage)
	if !ok || e.weak && !r.speaks(e.in) {
		return finding{}, false
	}
	if d, ok := strings.CutPrefix(e.means, "D"); ok {
		return one(soft(r.window(day, number(d))), next)
	}
	if e.means == "f1" {
		return r.feastOf(1, next, e.in)
	}
	u, n, p, ok := e.distance()
	if !ok {
		return finding{next: next}, true
	}
	s := r.calendar(u, n)
	if p != wholeDay {
		return one(r.part(s, p), next)
	}
	return r.inside(u, n, s, next, e.in)
}

// inside reads what narrows a named day, week or year: "yesterday evening",
// "last week on Friday", "last year in March".
func (r *timeReader) inside(u unit, n int, s stretch, i int, in languages) (finding, bool) {
	switch u {
	case day:
		return one(r.narrowed(s, &i, in), i)
	case week:
		if e, next, ok := r.find(r.skip(i, 2, in, linkOn, linkThe), weekdayWord, in); ok {
			d := r.days(s.from, e.value, e.value+1)
			return one(r.narrowed(d, &next, in), next)
		}
	case year:
		if e, next, ok := r.find(r.skip(i, 1, in, linkIn), monthWord, in); ok {
			return one(r.months(r.now.Year()+n, time.Month(e.value+1), 1), next)
		}
	}
	return one(s, i)
}

// narrowed narrows a day by what follows at *i: a part of the day, a time of
// the clock.
func (r *timeReader) narrowed(s stretch, i *int, in languages) stretch {
	at := r.skip(*i, 3, in, linkIn, linkOn, linkOf, linkThe)
	if e, next, ok := r.find(at, partWord, in); ok {
		*i = next
		return r.part(s, part(e.value+1))
	}
	if r.word(at, "at", "around", "about", "um", "gegen", "om", "vers") {
		at++
	}
	if at >= len(r.tokens) || r.tokens[at].kind != numberToken || r.tokens[at].number < 0 || r.tokens[at].number > 24 {
		return s
	}
	h, next := r.tokens[at].number, at+1
	minutes := 0
	if r.glued(next) && r.sign(next, ":") && r.glued(next+1) && r.tokens[next+1].kind == numberToken && r.tokens[next+1].number >= 0 && r.tokens[next+1].number < 60 {
		minutes = r.tokens[next+1].number
		next += 2
	} else if !r.word(next, "am", "pm", "h", "uhr", "uur", "heures") {
		return s
	}
	switch {
	case r.word(next, "pm") && h < 12:
		h += 12
		next++
	case r.word(next, "am", "pm", "h", "uhr", "uur", "heures"):
		next++
	}
	*i = next
	return r.clock(s, h*60+minutes-60, h*60+minutes+90)
}

// edges reads "end of October", "early 2017", "mid-January".
func (r *timeReader) edges(i int, l lead) (finding, bool) {
	e, next, ok := r.find(i, edgeWord, anyLanguage)
	if !ok {
		return finding{}, false
	}
	if r.hyphen(next) {
		next++
	}
	next = r.skip(next, 2, e.in, linkOf, linkThe)
	inner := lead{bound: boundNone, in: e.in, on: e.in, next: next}
	var f finding
	if s, end, found := r.unitAlone(next, e.in); found {
		f, ok = one(s, end)
	} else if s, end, found := r.yearNumber(next, true); found {
		f, ok = one(s, end)
	} else {
		for _, read := range []func(int, lead) (finding, bool){r.phrase, r.turned, r.monthFirst, r.season} {
			if f, ok = read(next, inner); ok {
				break
			}
		}
	}
	if !ok || len(f.list) == 0 || r.languagesOf(next, f.next)&e.in == 0 { // "fine yesterday" is no Italian
		return f, ok && len(f.list) == 0
	}
	for k := range f.list {
		f.list[k] = r.edge(f.list[k], e.value)
	}
	return f, true
}

// unitAlone reads the unit of "the end of the week", which is the current one.
func (r *timeReader) unitAlone(i int, in languages) (stretch, int, bool) {
	e, next, ok := r.find(i, unitWord, in)
	if u := unit(e.value); !ok || r.word(i-1, "half") || u != week && u != month && u != year && u != quarter {
		return stretch{}, i, false
	}
	if _, _, turned := r.find(next, turnWord, in&trailing); turned {
		return stretch{}, i, false
	}
	return r.calendar(unit(e.value), 0), next, true
}

// hasYear reports whether a year stands at i.
func (r *timeReader) hasYear(i int, in languages) bool {
	_, _, ok := r.yearBehind(i, in)
	return ok
}

// speaks reports whether the text begins with words that show it to be of some
// languages.
func (r *timeReader) speaks(in languages) bool {
	for i := range min(len(r.tokens), 64) {
		if _, _, ok := r.find(i, speechWord, in); ok {
			return true
		}
	}
	return false
}
