package when

import (
	"strings"
	"time"
	"unicode/utf8"
)

// Japanese has no spaces between words, and its postpositions stand behind the
// time, so that it has a small grammar of its own. Each character is a token.

// A jaWord is a phrase with its distance, see language.phrases.
type jaWord struct{ text, means string }

// jaPhrases are tried in their order: a phrase stands before those that it begins
// with.
var jaPhrases = []jaWord{
	{"一昨日", "d-2"}, {"おととい", "d-2"}, {"昨日", "d-1"}, {"今日本", ""}, {"今日", "d0"}, {"本日", "d0"},
	{"今朝", "d0m"}, {"昨夜", "d-1n"}, {"昨晩", "d-1n"}, {"今夜", "d0n"}, {"今晩", "d0n"},
	{"先々週", "w-2"}, {"先週末", "W-1"}, {"先週", "w-1"}, {"今週末", "W0"}, {"今週", "w0"},
	{"先々月", "m-2"}, {"先月", "m-1"}, {"今月", "m0"},
	{"一昨年", "y-2"}, {"おととし", "y-2"}, {"去年", "y-1"}, {"昨年", "y-1"}, {"今年", "y0"},
	{"再来週", "-"}, {"再来月", "-"}, {"再来年", "-"}, {"明後日", "-"}, {"明日", "-"}, {"来週", "-"}, {"来月", "-"}, {"来年", "-"},
	{"毎日", "-"}, {"毎週", "-"}, {"毎月", "-"}, {"毎年", "-"},
	{"年末年始", "12-25 14"}, {"年末", "12-16 16"}, {"年始", "1-1 7"}, {"年明け", "1-1 15"}, {"お正月", "1-1 5"},
}

// Groups of words with their values.
var (
	jaParts   = []jaWord{{"午前", "m"}, {"朝", "m"}, {"午後", "a"}, {"昼", "a"}, {"夕方", "e"}, {"夜", "n"}, {"晩", "n"}}
	jaEdges   = []jaWord{{"上旬", "0"}, {"初旬", "0"}, {"初め", "0"}, {"始め", "0"}, {"はじめ", "0"}, {"頭", "0"}, {"中旬", "1"}, {"半ば", "1"}, {"下旬", "2"}, {"末", "2"}, {"終わり", "2"}}
	jaSeasons = []jaWord{{"春", "0"}, {"夏", "1"}, {"秋", "2"}, {"冬", "3"}}
	jaBounds  = []jaWord{{"以降", "0"}, {"以来", "0"}, {"から", "0"}, {"までに", "1"}, {"まで", "1"}, {"以前", "2"}, {"より前", "2"}}
	jaUnits   = []jaWord{
		{"分", "0"}, {"時間", "1"}, {"日", "2"}, {"週間", "3"}, {"週", "3"}, {"年", "5"},
		{"ヶ月", "4"}, {"ケ月", "4"}, {"か月", "4"}, {"カ月", "4"}, {"ヵ月", "4"}, {"箇月", "4"}, {"個月", "4"},
	}
	jaPast = []jaWord{{"この", ""}, {"ここ", ""}, {"過去", ""}, {"直近", ""}, {"最近", ""}}
)

const jaWeek = "月火水木金土日"

// text reports whether characters stand at token i, and the token after them.
func (r *timeReader) text(i int, s string) (int, bool) {
	for _, c := range s {
		if i >= len(r.tokens) || r.tokens[i].kind != kanaToken {
			return i, false
		}
		if d, _ := utf8.DecodeRuneInString(r.tokens[i].text); d != c {
			return i, false
		}
		i++
	}
	return i, true
}

// choose returns the first word of a group that stands at token i.
func (r *timeReader) choose(i int, group []jaWord) (means string, next int, ok bool) {
	for _, w := range group {
		if next, ok := r.text(i, w.text); ok {
			return w.means, next, true
		}
	}
	return "", i, false
}

// of skips の.
func (r *timeReader) of(i int) int {
	next, _ := r.text(i, "の")
	return next
}

// japanese reads a time in Japanese, with since or until behind it.
func (r *timeReader) japanese(i int) (finding, bool) {
	for _, read := range []func(int) (finding, bool){r.jaWindow, r.jaAgo, r.jaDate, r.jaSlashed, r.jaPhrase, r.jaWeekday, r.jaSeason} {
		f, ok := read(i)
		if !ok {
			continue
		}
		if means, next, ok := r.choose(f.next, jaBounds); ok && len(f.list) > 0 {
			f.next = next
			for k := range f.list {
				f.list[k] = r.bounded(f.list[k], int(means[0]-'0'))
			}
		}
		return f, true
	}
	return finding{}, false
}

// jaNumber reads a number in digits or in characters; 数 is a few.
func (r *timeReader) jaNumber(i int) (n, next int, vague bool) {
	if i >= len(r.tokens) {
		return 0, i, false
	}
	if t := r.tokens[i]; t.kind == numberToken {
		return max(t.number, 0), i + 1, false
	}
	if next, ok := r.text(i, "数"); ok {
		return 7, next, true
	}
	for end := i + 4; i < min(end, len(r.tokens)) && r.tokens[i].kind == kanaToken; i++ {
		c, _ := utf8.DecodeRuneInString(r.tokens[i].text)
		switch at := strings.IndexRune("一二三四五六七八九", c); {
		case c == '十':
			n = max(n, 1) * 10
		case at >= 0:
			n += at/len("一") + 1
		default:
			return n, i, false
		}
	}
	return n, i, false
}

// jaAgo reads "3日前", "数週間前", "半年前".
func (r *timeReader) jaAgo(i int) (finding, bool) {
	if next, ok := r.text(i, "半年前"); ok {
		return one(r.ago(month, 5, 7), next)
	}
	n, next, vague := r.jaNumber(i)
	if n < 1 || n > maxAmount {
		return finding{}, false
	}
	u, next, ok := r.choose(next, jaUnits)
	if !ok {
		return finding{}, false
	}
	next, ok = r.text(next, "前")
	if !ok {
		return finding{}, false
	}
	least := n
	if vague {
		least = 2
	}
	return one(r.ago(unit(u[0]-'0'), least, n), next)
}

// jaWindow reads "ここ3日", "過去1年間".
func (r *timeReader) jaWindow(i int) (finding, bool) {
	_, next, ok := r.choose(i, jaPast)
	if !ok {
		return finding{}, false
	}
	n, next, vague := r.jaNumber(r.of(next))
	u, next, ok := r.choose(next, jaUnits)
	if !ok || n < 1 || n > maxAmount {
		return finding{}, false
	}
	next, _ = r.text(next, "間")
	s := r.window(unit(u[0]-'0'), n)
	s.soft = vague
	return one(s, next)
}

// jaDate reads "2017年3月5日", "10月末", "2020年の春".
func (r *timeReader) jaDate(i int) (finding, bool) {
	n, next, vague := r.jaNumber(i)
	if vague || n < 1 {
		return finding{}, false
	}
	if after, ok := r.text(next, "年"); ok && r.isYear(n) && r.tokens[i].kind == numberToken {
		return r.jaYear(n, after)
	}
	after, ok := r.text(next, "月")
	if !ok || n > 12 {
		return finding{}, false
	}
	if _, _, length := r.choose(after, []jaWord{{"前", ""}, {"間", ""}}); length {
		return finding{}, false
	}
	if d, end, _ := r.jaNumber(after); d > 0 {
		if end, ok := r.text(end, "日"); ok {
			s, ok := r.latestDay(n, d)
			return r.jaDay(s, end, ok)
		}
	}
	return r.jaEdge(finding{r.latestMonth(time.Month(n)), after})
}

// jaYear reads the rest of "2017年3月", "去年の夏".
func (r *timeReader) jaYear(y, next int) (finding, bool) {
	at := r.of(next)
	if s, end, ok := r.choose(at, jaSeasons); ok {
		return one(r.seasonOf(y, int(s[0]-'0')), end)
	}
	if m, end, vague := r.jaNumber(at); m >= 1 && m <= 12 && !vague {
		if end, ok := r.text(end, "月"); ok {
			if d, last, _ := r.jaNumber(end); d > 0 {
				if last, ok := r.text(last, "日"); ok {
					s, ok := r.date(y, m, d)
					return r.jaDay(s, last, ok)
				}
			}
			return r.jaEdge(finding{[]stretch{r.months(y, time.Month(m), 1)}, end})
		}
	}
	if means, end, ok := r.choose(at, jaEdges); ok && means == "2" {
		return one(stretch{r.midnight(y, 12, 16), r.midnight(y+1, 1, 1), true}, end)
	}
	return r.jaEdge(finding{[]stretch{r.months(y, 1, 12)}, next})
}

// jaEdge narrows a month or a year: "10月の終わり".
func (r *timeReader) jaEdge(f finding) (finding, bool) {
	if means, next, ok := r.choose(r.of(f.next), jaEdges); ok {
		for k := range f.list {
			f.list[k] = r.edge(f.list[k], int(means[0]-'0'))
		}
		f.next = next
	}
	return f, true
}

// jaDay narrows a day by a part of it.
func (r *timeReader) jaDay(s stretch, next int, ok bool) (finding, bool) {
	if means, end, found := r.choose(r.of(next), jaParts); ok && found {
		return one(r.part(s, part(strings.Index("maen", means)+1)), end)
	}
	return finding{[]stretch{s}, next}, ok
}

// jaSlashed reads "3/5に" and "3/5(日)", the month first.
func (r *timeReader) jaSlashed(i int) (finding, bool) {
	n, sep, next := r.numbers(i)
	if len(n) != 2 || sep != "/" || next >= len(r.tokens) {
		return finding{}, false
	}
	if r.sign(next, "(") || r.sign(next, "（") {
		if d := r.tokens[min(next+1, len(r.tokens)-1)]; d.kind != kanaToken || !strings.Contains(jaWeek, d.text) || !r.sign(next+2, ")") && !r.sign(next+2, "）") {
			return finding{}, false
		}
		next += 3
	} else if _, ok := r.text(next, "に"); !ok {
		return finding{}, false
	}
	s, ok := r.latestDay(n[0], n[1])
	return finding{[]stretch{s}, next}, ok
}

// jaPhrase reads "昨日", "先週の金曜日", "去年の3月".
func (r *timeReader) jaPhrase(i int) (finding, bool) {
	means, next, ok := r.choose(i, jaPhrases)
	if !ok || means == "" {
		return finding{}, false
	}
	u, n, p, ok := entry{means: means}.distance()
	switch {
	case means == "-":
		if _, end, ok := r.jaDayOfWeek(r.of(next)); ok {
			next = end
		}
		return finding{next: next}, true
	case means[0] == 'W':
		n := 0
		if means == "W-1" {
			n = -1
		}
		return one(r.calendar(weekend, n), next)
	case !ok:
		return r.jaTurnOfYear(means, next)
	case u == day:
		return r.jaDay(r.part(r.calendar(day, n), p), next, true)
	case u == week:
		s := r.calendar(week, n)
		if d, end, ok := r.jaDayOfWeek(r.of(next)); ok {
			return r.jaDay(r.days(s.from, d, d+1), end, true)
		}
		return one(s, next)
	case u == year:
		return r.jaYear(r.now.Year()+n, next)
	}
	s := r.calendar(u, n)
	if d, end, vague := r.jaNumber(r.of(next)); d > 0 && !vague {
		if end, ok := r.text(end, "日"); ok {
			s, ok := r.date(s.from.Year(), int(s.from.Month()), d)
			return r.jaDay(s, end, ok)
		}
	}
	return r.jaEdge(finding{[]stretch{s}, next})
}

// jaTurnOfYear is the latest that began of what a phrase gives as month-day
// and days.
func (r *timeReader) jaTurnOfYear(means string, next int) (finding, bool) {
	date, n, _ := strings.Cut(means, " ")
	m, d, _ := strings.Cut(date, "-")
	for y := r.now.Year(); ; y-- {
		from := r.midnight(y, time.Month(number(m)), number(d))
		if !from.After(r.now) {
			return one(soft(r.days(from, 0, number(n))), next)
		}
	}
}

// number is what digits say.
func number(s string) (n int) {
	for _, c := range s {
		n = n*10 + int(c-'0')
	}
	return n
}

// jaDayOfWeek reads "金曜日", counted from Monday.
func (r *timeReader) jaDayOfWeek(i int) (d, next int, ok bool) {
	if i >= len(r.tokens) || r.tokens[i].kind != kanaToken {
		return 0, i, false
	}
	d = strings.Index(jaWeek, r.tokens[i].text) / len("月")
	next, ok = r.text(i+1, "曜")
	if !ok || !strings.Contains(jaWeek, r.tokens[i].text) {
		return 0, i, false
	}
	next, _ = r.text(next, "日")
	return d, next, true
}

func (r *timeReader) jaWeekday(i int) (finding, bool) {
	d, next, ok := r.jaDayOfWeek(i)
	if !ok {
		return finding{}, false
	}
	f, _ := r.plainWeekday(entry{value: d}, next)
	for k := range f.list {
		g, _ := r.jaDay(f.list[k], next, true)
		g.list[0].soft = f.list[k].soft
		f.list[k], f.next = g.list[0], g.next
	}
	return f, true
}

// jaSeason reads "この春", "昨夏", "夏に".
func (r *timeReader) jaSeason(i int) (finding, bool) {
	turn, at := turnPast, i
	if next, ok := r.text(i, "昨"); ok {
		turn, at = turnLast, next
	}
	for _, s := range []string{"この", "今"} {
		if next, ok := r.text(i, s); ok {
			at = next
		}
	}
	s, next, ok := r.choose(at, jaSeasons)
	if !ok {
		return finding{}, false
	}
	if at == i {
		if i > 0 && r.glued(i) && r.tokens[i-1].kind == kanaToken && r.tokens[i-1].text > "一" { // 青春
			return finding{}, false
		}
		if _, _, ok := r.choose(next, []jaWord{{"に", ""}, {"頃", ""}, {"ごろ", ""}, {"から", ""}, {"休み", ""}}); !ok {
			return finding{}, false
		}
	}
	return one(r.turnedSeasonOf(int(s[0]-'0'), turn), next)
}
