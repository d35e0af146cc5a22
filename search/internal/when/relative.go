package when

import "time"

// turned reads what is last, this or next: "last week", "this Friday", "last
// March", "le mois dernier", "in the last 3 days".
func (r *timeReader) turned(i int, l lead) (finding, bool) {
	e, next, ok := r.find(i, turnWord, anyLanguage)
	if !ok {
		return r.turnedBehind(i, l)
	}
	if f, ok := r.lastFew(next, e); ok {
		return f, true
	}
	if w, end, ok := r.find(next, unitWord, e.in); ok {
		return r.turnedUnit(unit(w.value), e, end, l)
	}
	if w, end, ok := r.find(next, weekdayWord, e.in); ok {
		return r.turnedWeekday(w, e.value, end)
	}
	if w, end, ok := r.find(next, monthWord, e.in); ok {
		if w.weak && e.value == turnThis && !r.tokens[next].upper || r.hasYear(end, w.in) {
			return finding{}, false
		}
		return one(r.turnedMonth(time.Month(w.value+1), e.value), end)
	}
	if w, end, ok := r.find(next, seasonWord, e.in); ok && !(w.weak && e.value != turnLast && !r.ends(end)) {
		return r.turnedSeason(w.value, e.value, end)
	}
	if w, end, ok := r.find(next, feastWord, e.in); ok {
		return r.turnedFeast(w.value, e.value, end)
	}
	if w, end, ok := r.find(next, partWord, e.in); ok && e.value == turnLast && e.in&inEnglish != 0 {
		return one(r.part(r.calendar(day, -1), part(w.value+1)), end)
	}
	return finding{}, false
}

// turnedBehind reads "la semaine dernière", "viernes pasado".
func (r *timeReader) turnedBehind(i int, l lead) (finding, bool) {
	for _, c := range []class{unitWord, weekdayWord, monthWord, seasonWord} {
		w, next, ok := r.find(i, c, trailing)
		if !ok {
			continue
		}
		e, end, ok := r.find(next, turnWord, w.in&trailing)
		if !ok {
			continue
		}
		switch c {
		case unitWord:
			return r.turnedUnit(unit(w.value), e, end, l)
		case weekdayWord:
			return r.turnedWeekday(w, e.value, end)
		case monthWord:
			return one(r.turnedMonth(time.Month(w.value+1), e.value), end)
		default:
			return r.turnedSeason(w.value, e.value, end)
		}
	}
	return finding{}, false
}

// lastFew reads the rest of "last 3 days", "past few weeks".
func (r *timeReader) lastFew(i int, e entry) (finding, bool) {
	if e.value != turnLast && e.value != turnPast {
		return finding{}, false
	}
	_, most, next, ok := r.amount(i, e.in)
	if !ok {
		return finding{}, false
	}
	u, end, ok := r.find(next, unitWord, e.in)
	if !ok || r.word(i, "a", "an") {
		return finding{}, false
	}
	s := r.window(unit(u.value), most)
	s.soft = r.vague(i, e.in)
	return one(s, end)
}

// vague reports whether the number at i is a couple or a few.
func (r *timeReader) vague(i int, in languages) bool {
	e, _, ok := r.find(i, numberWord, in)
	return ok && e.value >= couple-1
}

// turnedUnit reads the rest of "last week".
func (r *timeReader) turnedUnit(u unit, e entry, next int, l lead) (finding, bool) {
	n := map[int]int{turnLast: -1, turnPast: -1, turnThis: 0, turnNext: 1}[e.value]
	switch u {
	case minute:
		return finding{}, false
	case hour, day:
		// "the last day" may be of anything, "in the last day" is up to now.
		if n > 0 {
			return finding{next: next}, true
		}
		if e.in&inEnglish == 0 || n == 0 || l.on == 0 || l.the == 0 {
			return finding{}, false
		}
		return one(r.window(u, 1), next)
	}
	if e.in&inEnglish != 0 && r.word(next, "of") { // "the last week of it"
		return finding{}, false
	}
	s := r.calendar(u, n)
	if n < 0 && (e.value == turnPast || l.the&l.on&e.in&inEnglish != 0) {
		s.to = r.days(r.now, 0, 1).to // "in the last week"
		return one(s, next)
	}
	return r.inside(u, n, s, next, e.in)
}

// weekend reads "at the weekend", the latest.
func (r *timeReader) weekend(i int, l lead) (finding, bool) {
	e, next, ok := r.find(i, unitWord, l.on)
	if !ok || unit(e.value) != weekend || r.word(next, "of") || !r.word(i-1, "the", "over", "het", "am", "le", "el", "il", "nel", "no", "w", "o", "na") {
		return finding{}, false
	}
	if weekday(r.now) < 5 {
		return one(r.calendar(weekend, -1), next)
	}
	return one(r.calendar(weekend, 0), next)
}

func (r *timeReader) turnedMonth(m time.Month, turn int) stretch {
	y, now, _ := r.now.Date()
	switch {
	case turn == turnNext, turn == turnThis && m > now:
		return r.months(y+1, m, 1) // to come
	case turn == turnThis, m < now:
		return r.months(y, m, 1)
	}
	return r.months(y-1, m, 1)
}

// distance reads "last week", "the week before last", "loni".
func (r *timeReader) distance(i int, in languages) (u unit, n, next int, ok bool) {
	if e, next, ok := r.find(i, phraseWord, in); ok {
		u, n, p, ok := e.distance()
		return u, n, next, ok && p == wholeDay
	}
	e, next, ok := r.find(i, turnWord, in)
	w, end, found := r.find(next, unitWord, in)
	if !ok || !found {
		if w, next, ok = r.find(i, unitWord, in&trailing); !ok {
			return 0, 0, i, false
		}
		if e, end, ok = r.find(next, turnWord, w.in&trailing); !ok {
			return 0, 0, i, false
		}
	}
	return unit(w.value), map[int]int{turnLast: -1, turnPast: -1, turnThis: 0, turnNext: 1}[e.value], end, true
}

// back reads "3 days ago", "vor einer Woche", "il y a deux mois".
func (r *timeReader) back(i int, _ lead) (finding, bool) {
	if e, next, ok := r.find(i, agoWord, anyLanguage); ok && e.value == 0 {
		if least, most, end, ok := r.amount(next, e.in); ok {
			if u, end, ok := r.find(end, unitWord, e.in); ok {
				return one(r.ago(unit(u.value), least, most), end)
			}
		} else if u, end, ok := r.find(next, unitWord, e.in&bare); ok {
			return one(r.ago(unit(u.value), 1, 1), end)
		}
		return finding{}, false
	}
	least, most, next, ok := r.amount(i, anyLanguage)
	if !ok {
		least, most, next = 1, 1, i
	}
	in := anyLanguage
	if !ok {
		in = bare
	}
	u, next, found := r.find(next, unitWord, in)
	if !found {
		return finding{}, false
	}
	vague := u.in&inEnglish != 0 && r.word(next, "or") && r.word(next+1, "so", "two")
	if vague { // "a week or two ago"
		if r.word(next+1, "two") {
			most = max(most, 2)
		}
		next += 2
	}
	e, end, found := r.find(next, agoWord, u.in)
	if !found || e.value != 1 || unit(u.value) == weekend {
		return finding{}, false
	}
	return one(r.ago(unit(u.value), least, most), end)
}

// maxAmount is how many units are counted.
const maxAmount = 1000

// amount reads a number of units: "3", "three", "2-3", "a few".
func (r *timeReader) amount(i int, in languages) (least, most, next int, ok bool) {
	if i >= len(r.tokens) {
		return 0, 0, i, false
	}
	if t := r.tokens[i]; t.kind == numberToken {
		if t.number < 1 || t.number > maxAmount || len(t.text) > 4 {
			return 0, 0, i, false
		}
		least, most, next = t.number, t.number, i+1
		if next+1 < len(r.tokens) && (r.sign(next, "-") || r.sign(next, "–") || r.word(next, "or", "to", "bis", "oder", "à", "ou", "o", "of")) {
			if u := r.tokens[next+1]; u.kind == numberToken && u.number > least && u.number <= maxAmount {
				most, next = u.number, next+2
			}
		}
		return least, most, next, true
	}
	e, next, ok := r.find(i, numberWord, in)
	switch e.value + 1 {
	case couple:
		return 1, 3, next, ok
	case few:
		return 2, 7, next, ok
	}
	return e.value + 1, e.value + 1, next, ok
}
