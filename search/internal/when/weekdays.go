package when

import (
	"strings"
	"time"
)

// turnedWeekday reads the rest of "last Friday". In the week of a Friday, on
// the Saturday, some mean yesterday and some the week before.
func (r *timeReader) turnedWeekday(w entry, turn, next int) (finding, bool) {
	back := (weekday(r.now) - w.value + 7) % 7
	if _, _, month := r.find(next+1, monthWord, inEnglish); turn == turnLast && (r.word(next, "of") || r.word(next, "in") && month) {
		return finding{next: next}, true // "the last Friday of March"
	}
	var days []int
	switch turn {
	case turnThis, turnPast:
		days = []int{weekday(r.now) - w.value}
		if turn == turnPast && days[0] <= 0 {
			days[0] += 7
		}
		if days[0] < 0 {
			return finding{next: next}, true
		}
	case turnNext:
		return finding{next: next}, true
	default:
		if back == 0 {
			back = 7
		}
		days = []int{back}
		if back < 7 && back <= weekday(r.now) {
			days = append(days, back+7)
		}
	}
	f := finding{}
	for _, n := range days {
		f.next = next
		s := r.weekdayAt(w, n, &f.next)
		s.soft = len(days) > 1
		f.list = append(f.list, s)
	}
	return f, true
}

// weekdays reads a day of the week, with its date or its week if it has one.
func (r *timeReader) weekdays(i int, l lead) (finding, bool) {
	e, next, ok := r.find(i, weekdayWord, anyLanguage)
	if !ok {
		return finding{}, false
	}
	if r.sign(next, ".") && e.weak {
		next++
	}
	at := next
	if r.sign(at, ",") {
		at++
	}
	at = r.skip(at, 2, e.in, linkOn, linkThe, linkOf)
	if at < len(r.tokens) {
		dated := lead{bound: boundNone, on: e.in, in: e.in, next: at}
		for _, read := range []func(int, lead) (finding, bool){r.figures, r.dayMonth, r.monthFirst} {
			if f, ok := read(at, dated); ok && len(f.list) > 0 && f.list[0].to.Sub(f.list[0].from) < 26*time.Hour {
				return f, true
			}
		}
		if u, n, end, ok := r.distance(at, e.in); ok && u == week {
			s := r.calendar(week, n)
			return one(r.days(s.from, e.value, e.value+1), end)
		}
	}
	if e.weak && (!r.dated(i, l, e.in) || !r.ends(next) && !r.isPart(next, e.in)) {
		return finding{}, false
	}
	return r.plainWeekday(e, next)
}

// dated reports whether what stands before token i dates it: of English "on"
// and "since", not "in" or "at".
func (r *timeReader) dated(i int, l lead, in languages) bool {
	return l.on&in != 0 && (in&inEnglish == 0 || l.bounds&inEnglish != 0 || r.word(i-1, "on"))
}

// weekdayAt is the weekday n days ago, with the part of it that the word has
// in it or that follows.
func (r *timeReader) weekdayAt(e entry, n int, next *int) stretch {
	if e.means != "" {
		return r.part(r.calendar(day, -n), part(strings.Index("maen", e.means)+1))
	}
	return r.narrowed(r.calendar(day, -n), next, e.in)
}

func (r *timeReader) isPart(i int, in languages) bool {
	_, _, ok := r.find(i, partWord, in)
	return ok
}

// plainWeekday is the latest such day: on a Friday that may be today or a week
// ago.
func (r *timeReader) plainWeekday(e entry, next int) (finding, bool) {
	back := (weekday(r.now) - e.value + 7) % 7
	days := []int{back}
	if back == 0 {
		days = []int{7, 0}
	}
	f := finding{}
	for _, n := range days {
		f.next = next
		s := r.weekdayAt(e, n, &f.next)
		s.soft = len(days) > 1
		f.list = append(f.list, s)
	}
	return f, true
}
