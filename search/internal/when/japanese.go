package when

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Japanese has no spaces between words, and its postpositions stand behind the time. So
// a pattern reads it, from a character on. What it has in not is no stretch of time.
var japanese = regexp.MustCompile(`^(?:` +
	`(?P<not>今日本|(?:毎|来|再来|翌|明後?)[日週月年](?:の?[月火水木金土日]曜)?|\d+月間)` +
	`|(?P<rel>一昨日|おととい|昨日|昨夜|昨晩|今日|本日|今朝|先々週|先週|今週|先々月|先月|今月)` +
	`(?:の?(?P<weekday>[月火水木金土日])曜日?|の?(?P<dayof>\d{1,2})日)?` +
	`|(?P<plain>[月火水木金土日])曜日?` +
	`|(?:(?P<y>\d{4})年|(?P<year>一昨年|おととし|去年|昨年|今年))(?:の?(?P<m>\d{1,2})月(?:(?P<d>\d{1,2})日)?|の?(?P<season>[春夏秋冬]))?` +
	`|(?P<lm>\d{1,2})月(?:(?P<ld>\d{1,2})日)?` +
	`)(?:の?(?P<edge>上旬|初旬|初め|はじめ|中旬|半ば|下旬|末|終わり))?(?P<since>以降|以来|から)?`)

// japaneseValues are the distances of days, weeks, months and years from now, and the
// values of edges.
var japaneseValues = map[string]int{
	"一昨日": -2, "おととい": -2, "昨日": -1, "昨夜": -1, "昨晩": -1, "先々週": -2, "先週": -1, "先々月": -2, "先月": -1, "一昨年": -2, "おととし": -2, "去年": -1, "昨年": -1,
	"中旬": 1, "半ば": 1, "下旬": 2, "末": 2, "終わり": 2, // the others are 0
}

// japanese reads a time in Japanese at token i.
func (r *reader) japanese(i int) ([]Span, int, bool) {
	if k := r.tokens[i].kind; k != kanaToken && (k != numberToken || i+1 == len(r.tokens) || r.tokens[i+1].kind != kanaToken) {
		return nil, i, false
	}
	found := japanese.FindStringSubmatch(r.text[r.tokens[i].start:])
	if found == nil {
		return nil, i, false
	}
	group := func(name string) string { return found[japanese.SubexpIndex(name)] }
	list, ok := r.japaneseSpans(group)
	if e := group("edge"); e != "" {
		for k := range list {
			list[k] = r.edge(list[k], japaneseValues[e])
		}
	}
	if group("since") != "" {
		r.since(list)
	}
	next := i + 1
	for next < len(r.tokens) && r.tokens[next].start < r.tokens[i].start+len(found[0]) {
		next++
	}
	return list, next, ok
}

// japaneseSpans returns what the groups of a match mean.
func (r *reader) japaneseSpans(group func(string) string) ([]Span, bool) {
	number := func(name string) int { n, _ := strconv.Atoi(group(name)); return n }
	which := func(of, name string) int { return strings.Index(of, group(name)) / len("月") }
	const weekdays, seasons = "月火水木金土日", "春夏秋冬"
	y := r.now.Year() + japaneseValues[group("year")]
	if group("y") != "" {
		y = number("y")
	}
	switch rel := group("rel"); {
	case group("not") != "":
		return nil, true
	case rel != "":
		u := map[string]int{"週": week, "月": month}[rel[len(rel)-len("月"):]] // else day
		s := r.calendar(u, japaneseValues[rel])
		if d := which(weekdays, "weekday"); group("weekday") != "" && u == week {
			s = r.days(s.From, d, d+1)
		} else if d := number("dayof"); d > 0 && u == month {
			s = r.days(s.From, d-1, d)
		}
		return []Span{s}, true
	case group("plain") != "":
		return r.plainWeekday(which(weekdays, "plain")), true
	case group("ld") != "":
		s, ok := r.latestDay(number("lm"), number("ld"))
		return []Span{s}, ok
	case group("lm") != "":
		return r.latestMonth(time.Month(number("lm"))), number("lm") >= 1 && number("lm") <= 12
	case group("season") != "":
		first := time.Month(3 + 3*which(seasons, "season"))
		return []Span{{r.midnight(y, first, 1), r.midnight(y, first+3, 22)}}, r.isYear(y)
	case group("d") != "":
		s, ok := r.date(y, number("m"), number("d"))
		return []Span{s}, ok
	case group("m") != "":
		return []Span{r.months(y, time.Month(number("m")), 1)}, r.isYear(y) && number("m") <= 12
	}
	return []Span{r.months(y, 1, 12)}, r.isYear(y)
}
