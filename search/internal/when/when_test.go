package when

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/earshot-ai/earshot/internal/zones"
)

// asked is a Thursday afternoon.
func asked(t testing.TB) time.Time {
	return time.Date(2017, 12, 14, 15, 30, 0, 0, location(t, "Europe/Berlin"))
}

func location(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := zones.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// shown writes what is named in a text: days (with the time where it is not
// midnight), ~ where it is soft, and the words.
func shown(text string, at time.Time) string {
	var out []string
	for _, m := range Mentions(text, at) {
		a, b := m.From, m.To
		form := "2006-01-02"
		if a.Format("15:04") != "00:00" || b.Format("15:04") != "00:00" {
			form = "2006-01-02T15:04"
		}
		s := a.Format(form) + " " + b.Format(form)
		if m.Soft {
			s += "~"
		}
		out = append(out, s+" "+text[m.Start:m.End])
	}
	return strings.Join(out, " | ")
}

func TestTimesThatAreNamedInEnglish(t *testing.T) {
	t.Parallel()
	testTimes(t, []timeCase{
		{"what broke yesterday?", "2017-12-13 2017-12-14 yesterday"},
		{"what did we say today about the cache", "2017-12-14 2017-12-15 today"},
		{"yesterday evening", "2017-12-13T17:00 2017-12-14T00:00 yesterday evening"},
		{"yesterday at 3pm who restarted it", "2017-12-13T14:00 2017-12-13T16:30 yesterday at 3pm"},
		{"the build last night", "2017-12-13T18:00 2017-12-14T06:00 last night"},
		{"this morning's deploy", "2017-12-14T04:00 2017-12-14T12:00 this morning"},
		{"tonight", ""},
		{"the day before yesterday", "2017-12-12 2017-12-13 the day before yesterday"},
		{"what's on tomorrow", ""},
		{"on Friday", "2017-12-08 2017-12-09 on Friday"},
		{"last Friday", "2017-12-08 2017-12-09 last Friday"},
		{"Friday's meeting", "2017-12-08 2017-12-09 Friday"},
		{"this Friday", ""},
		{"this Tuesday", "2017-12-12 2017-12-13 this Tuesday"},
		{"friday night", "2017-12-08T18:00 2017-12-09T06:00 friday night"},
		{"every Friday", ""},
		{"on Thursday", "2017-12-07 2017-12-08~ on Thursday | 2017-12-14 2017-12-15~ on Thursday"},
		{"last Thursday", "2017-12-07 2017-12-08 last Thursday"},
		{"last Wednesday", "2017-12-13 2017-12-14~ last Wednesday | 2017-12-06 2017-12-07~ last Wednesday"},
		{"last week", "2017-12-04 2017-12-11 last week"},
		{"last month", "2017-11-01 2017-12-01 last month"},
		{"last year", "2016-01-01 2017-01-01 last year"},
		{"this week", "2017-12-11 2017-12-18 this week"},
		{"this month", "2017-12-01 2018-01-01 this month"},
		{"this year", "2017-01-01 2018-01-01 this year"},
		{"the week before last", "2017-11-27 2017-12-04 the week before last"},
		{"a week ago", "2017-12-04 2017-12-11 a week ago"},
		{"a month ago", "2017-10-28 2017-12-02~ a month ago"},
		{"a year ago", "2016-09-15 2017-03-15~ a year ago"},
		{"3 days ago", "2017-12-11 2017-12-12 3 days ago"},
		{"two weeks ago", "2017-11-26 2017-12-05 two weeks ago"},
		{"a couple of weeks ago", "2017-11-20 2017-12-11~ a couple of weeks ago"},
		{"a few days ago", "2017-12-07 2017-12-13~ a few days ago"},
		{"a week or two ago", "2017-11-27 2017-12-11~ a week or two ago"},
		{"2-3 weeks ago", "2017-11-19 2017-12-05~ 2-3 weeks ago"},
		{"2 hours ago", "2017-12-14T12:30 2017-12-14T14:30 2 hours ago"},
		{"in the last 2 weeks", "2017-11-30 2017-12-15 in the last 2 weeks"},
		{"past few days", "2017-12-07 2017-12-15~ past few days"},
		{"over the last three months", "2017-09-14 2017-12-15 over the last three months"},
		{"in the last week", "2017-12-04 2017-12-15 in the last week"},
		{"since Monday", "2017-12-11 2017-12-15 since Monday"},
		{"since last Friday", "2017-12-08 2017-12-15 since last Friday"},
		{"since March", "2017-03-01 2017-12-15 since March"},
		{"before Christmas", "2016-12-13 2016-12-21~ before Christmas"},
		{"at Christmas", "2016-12-21 2016-12-29~ at Christmas"},
		{"over the christmas break", "2016-12-21 2016-12-29~ over the christmas"},
		{"the christmas party tree", ""},
		{"around new year", "2016-12-30 2017-01-04~ around new year"},
		{"last halloween", "2017-10-29 2017-11-03~ last halloween"},
		{"in March", "2017-03-01 2017-04-01 in March"},
		{"in may", "2017-05-01 2017-06-01 in may"},
		{"In May 2016", "2016-05-01 2016-06-01 In May 2016"},
		{"by May", "2017-03-31 2017-06-01~ by May"},
		{"last May", "2017-05-01 2017-06-01 last May"},
		{"May 5th", "2017-05-05 2017-05-06 May 5th"},
		{"May 5", "2017-05-05 2017-05-06 May 5"},
		{"march 5 miles", ""},
		{"this may break", ""},
		{"may 5 people join", ""},
		{"do it in march", "2017-03-01 2017-04-01 in march"},
		{"they march on", ""},
		{"on the march of progress", ""},
		{"March 2017", "2017-03-01 2017-04-01 March 2017"},
		{"March '17", "2017-03-01 2017-04-01 March '17"},
		{"mar 5", "2017-03-05 2017-03-06 mar 5"},
		{"on Mar 5", "2017-03-05 2017-03-06 on Mar 5"},
		{"end of October 2017: what", "2017-10-19 2017-11-03 end of October 2017"},
		{"early November: which pages", "2017-11-01 2017-11-13 early November"},
		{"mid-January", "2017-01-08 2017-01-25 mid-January"},
		{"late september", "2017-09-19 2017-10-03 late september"},
		{"the beginning of the year", "2017-01-01 2017-05-03 the beginning of the year"},
		{"end of last month", "2017-11-19 2017-12-03 end of last month"},
		{"early 2017", "2017-01-01 2017-05-03 early 2017"},
		{"back in 2016", "2016-01-01 2017-01-01 in 2016"},
		{"in 2016", "2016-01-01 2017-01-01 in 2016"},
		{"in 2048 bytes", ""},
		{"in 2000 lines", ""},
		{"since 2015", "2015-01-01 2017-12-15 since 2015"},
		{"Q3", ""},
		{"in Q3", "2017-07-01 2017-10-01 in Q3"},
		{"Q3 2017", "2017-07-01 2017-10-01 Q3 2017"},
		{"last summer", "2017-06-01 2017-09-22~ last summer"},
		{"summer 2016", "2016-06-01 2016-09-22~ summer 2016"},
		{"in the spring", "2017-03-01 2017-06-22~ in the spring"},
		{"in spring boot", ""},
		{"in winter", "2017-12-01 2018-03-22~ in winter"},
		{"winter 2016", "2016-12-01 2017-03-22~ winter 2016 | 2015-12-01 2016-03-22~ winter 2016"},
		{"does this fall back", ""},
		{"2017-03-05", "2017-03-05 2017-03-06 2017-03-05"},
		{"2017-03-05T10:00:00Z", "2017-03-05 2017-03-06 2017-03-05T10:00:00Z"},
		{"2017-03", "2017-03-01 2017-04-01 2017-03"},
		{"2017/3/5", "2017-03-05 2017-03-06 2017/3/5"},
		{"5 March 2017", "2017-03-05 2017-03-06 5 March 2017"},
		{"March 5, 2017", "2017-03-05 2017-03-06 March 5, 2017"},
		{"5th of March", "2017-03-05 2017-03-06 5th of March"},
		{"5 March", "2017-03-05 2017-03-06 5 March"},
		{"05.03.2017", "2017-03-05 2017-03-06 05.03.2017"},
		{"5.3.2017", "2017-03-05 2017-03-06 5.3.2017"},
		{"version 10.3.2017", ""},
		{"10.3.2", ""},
		{"3/5/2017", "2017-03-05 2017-03-06~ 3/5/2017 | 2017-05-03 2017-05-04~ 3/5/2017"},
		{"13/5/2017", "2017-05-13 2017-05-14 13/5/2017"},
		{"on 3/5 we", ""},
		{"on 3/5?", "2017-03-05 2017-03-06~ on 3/5 | 2017-05-03 2017-05-04~ on 3/5"},
		{"24/7 uptime", ""},
		{"1/2 of it", ""},
		{"march last year", "2016-03-01 2016-04-01 march last year"},
		{"in march of last year", "2016-03-01 2016-04-01 in march of last year"},
		{"last year in march", "2016-03-01 2016-04-01 last year in march"},
		{"in january this year", "2017-01-01 2017-02-01 in january this year"},
		{"last week on Friday", "2017-12-08 2017-12-09 last week on Friday"},
		{"Friday last week", "2017-12-08 2017-12-09 Friday last week"},
		{"the last Friday of March", ""},
		{"last week of October", "2017-10-19 2017-11-03 last week of October"},
		{"Fri, 3 Mar 2017 10:00", "2017-03-03 2017-03-04 Fri, 3 Mar 2017"},
		{"on fri", "2017-12-08 2017-12-09 on fri"},
		{"sat on it", ""},
		{"last sat", "2017-12-09 2017-12-10 last sat"},
		{"the sun was up", ""},
		{"since mon", "2017-12-11 2017-12-15 since mon"},
		{"mon ami", ""},
		{"monday.com pricing", ""},
		{"@friday said", ""},
		{"`since yesterday`", ""},
		{"v2017-03-05", ""},
		{"https://x.org/2017/03/05/foo", ""},
		{"recently", ""},
		{"the other day", ""},
		{"a second ago", ""},
		{"five minutes ago", "2017-12-14T15:23 2017-12-14T15:27 five minutes ago"},
		{"the weekend", ""},
		{"last weekend", "2017-12-09 2017-12-11 last weekend"},
		{"this weekend", ""},
		{"in june or july", "2017-06-01 2017-07-01 in june | 2017-07-01 2017-08-01 july"},
		{"between march and may", "2017-03-01 2017-06-01 between march and may"},
		{"until april", "2017-03-02 2017-05-01~ until april"},
		{"before yesterday", "2017-12-06 2017-12-13~ before yesterday"},
		{"last minute change", ""},
		{"the last day of", ""},
		{"on a weekend trip", ""},
		{"over the weekend", "2017-12-09 2017-12-11 over the weekend"},
		{"fine yesterday", "2017-12-13 2017-12-14 yesterday"},
		{"on a 2016 machine", ""},
		{"set in spring", ""},
		{"bright in sun", ""},
		{"in the coming days", ""},
		{"until tomorrow", ""},
		{"in juli.", "2017-07-01 2017-08-01 in juli"},
		{"half a year", ""},
		{"due in 24/7", ""},
		{"in the last day", "2017-12-13 2017-12-15 in the last day"},
		{"last time", ""},
		{"next week", ""},
		{"next friday", ""},
		{"wait a minute", ""},
		{"in the last 24 hours", "2017-12-13T15:30 2017-12-15T00:00 in the last 24 hours"},
		{"20 days ago", "2017-11-22 2017-11-27~ 20 days ago"},
		{"a year or so ago", "2016-09-15 2017-03-15~ a year or so ago"},
		{"weeks ago", ""},
		{"the 5th of may", "2017-05-05 2017-05-06 the 5th of may"},
		{"may i ask", ""},
		{"it was june who said", ""},
		{"june 2016", "2016-06-01 2016-07-01 june 2016"},
		{"October release", "2017-10-01 2017-11-01 October"},
		{"Easter 2017", "2017-04-13 2017-04-18~ Easter 2017"},
		{"at easter", "2017-04-13 2017-04-18~ at easter"},
		{"earlier this year", "2017-01-01 2018-01-01 earlier this year"},
		{"late last year", "2016-09-01 2017-01-31 late last year"},
	})
}

func TestTimesThatAreNamedInJapanese(t *testing.T) {
	t.Parallel()
	testTimes(t, []timeCase{
		{"昨日のデプロイ", "2017-12-13 2017-12-14 昨日"},
		{"今日は何をした", "2017-12-14 2017-12-15 今日"},
		{"今日本語で", ""},
		{"一昨日", "2017-12-12 2017-12-13 一昨日"},
		{"今朝のビルド", "2017-12-14T04:00 2017-12-14T12:00 今朝"},
		{"昨日の夜", "2017-12-13T18:00 2017-12-14T06:00 昨日の夜"},
		{"昨夜", "2017-12-13T18:00 2017-12-14T06:00 昨夜"},
		{"先週の金曜日に", "2017-12-08 2017-12-09 先週の金曜日"},
		{"先週何があった", "2017-12-04 2017-12-11 先週"},
		{"先々週", "2017-11-27 2017-12-04 先々週"},
		{"金曜日の会議", "2017-12-08 2017-12-09 金曜日"},
		{"木曜", "2017-12-07 2017-12-08~ 木曜 | 2017-12-14 2017-12-15~ 木曜"},
		{"月曜から", "2017-12-11 2017-12-15 月曜から"},
		{"毎週金曜日", ""},
		{"来週の月曜", ""},
		{"先月の5日", "2017-11-05 2017-11-06 先月の5日"},
		{"先月末", "2017-11-19 2017-12-03 先月末"},
		{"今月", "2017-12-01 2018-01-01 今月"},
		{"去年", "2016-01-01 2017-01-01 去年"},
		{"去年の3月", "2016-03-01 2016-04-01 去年の3月"},
		{"去年の夏", "2016-06-01 2016-09-22~ 去年の夏"},
		{"今年の春に", "2017-03-01 2017-06-22~ 今年の春"},
		{"一昨年", "2015-01-01 2016-01-01 一昨年"},
		{"3日前", "2017-12-11 2017-12-12 3日前"},
		{"三日前", "2017-12-11 2017-12-12 三日前"},
		{"数日前", "2017-12-07 2017-12-13~ 数日前"},
		{"2週間前", "2017-11-26 2017-12-05 2週間前"},
		{"１ヶ月前", "2017-10-28 2017-12-02~ １ヶ月前"},
		{"数ヶ月前", "2017-04-24 2017-11-04~ 数ヶ月前"},
		{"半年前", "2017-04-15 2017-08-13~ 半年前"},
		{"1年前", "2016-09-15 2017-03-15~ 1年前"},
		{"ここ3日", "2017-12-11 2017-12-15 ここ3日"},
		{"過去1年間", "2016-12-14 2017-12-15 過去1年間"},
		{"直近の2週間", "2017-11-30 2017-12-15 直近の2週間"},
		{"3月5日", "2017-03-05 2017-03-06 3月5日"},
		{"2017年3月5日", "2017-03-05 2017-03-06 2017年3月5日"},
		{"２０１７年３月", "2017-03-01 2017-04-01 ２０１７年３月"},
		{"2016年", "2016-01-01 2017-01-01 2016年"},
		{"2016年の春に落ちていた", "2016-03-01 2016-06-22~ 2016年の春"},
		{"2016年末", "2016-12-16 2017-01-01~ 2016年末"},
		{"10月末の", "2017-10-19 2017-11-03 10月末"},
		{"10月の終わり", "2017-10-19 2017-11-03 10月の終わり"},
		{"十二月", "2017-12-01 2018-01-01 十二月 | 2016-12-01 2017-01-01~ 十二月"},
		{"3月上旬", "2017-03-01 2017-03-14 3月上旬"},
		{"3月に決めた", "2017-03-01 2017-04-01 3月"},
		{"1日に3回", ""},
		{"3/5に", "2017-03-05 2017-03-06 3/5"},
		{"5/12（日）の朝", "2017-05-12 2017-05-13 5/12（日）"},
		{"年末", "2016-12-16 2017-01-01~ 年末"},
		{"年末年始", "2016-12-25 2017-01-08~ 年末年始"},
		{"春に", "2017-03-01 2017-06-22~ 春"},
		{"青春に", ""},
		{"夏休みに", "2017-06-01 2017-09-22~ 夏"},
		{"昨夏", "2017-06-01 2017-09-22~ 昨夏"},
		{"この秋", "2017-09-01 2017-12-22~ この秋"},
		{"3月以降", "2017-03-01 2017-12-15 3月以降"},
		{"3月5日まで", "2017-02-26 2017-03-06~ 3月5日まで"},
		{"月が綺麗", ""},
		{"日本の木", ""},
		{"2月間", ""},
	})
}

func TestTimesThatAreNamedInOtherLanguages(t *testing.T) {
	t.Parallel()
	testTimes(t, []timeCase{
		{"was war gestern los", "2017-12-13 2017-12-14 gestern"},
		{"vorgestern", "2017-12-12 2017-12-13 vorgestern"},
		{"heute morgen", "2017-12-14T04:00 2017-12-14T12:00 heute morgen"},
		{"gestern Abend", "2017-12-13T17:00 2017-12-14T00:00 gestern Abend"},
		{"letzte Woche", "2017-12-04 2017-12-11 letzte Woche"},
		{"in der letzten Woche", "2017-12-04 2017-12-11 in der letzten Woche"},
		{"letzten Freitag", "2017-12-08 2017-12-09 letzten Freitag"},
		{"am Freitag", "2017-12-08 2017-12-09 am Freitag"},
		{"Freitagabend", "2017-12-08T17:00 2017-12-09T00:00 Freitagabend"},
		{"vor 3 Tagen", "2017-12-11 2017-12-12 vor 3 Tagen"},
		{"vor einer Woche", "2017-12-04 2017-12-11 vor einer Woche"},
		{"vor zwei Monaten", "2017-09-24 2017-11-04~ vor zwei Monaten"},
		{"vor ein paar Tagen", "2017-12-07 2017-12-13~ vor ein paar Tagen"},
		{"in den letzten Tagen", "2017-12-07 2017-12-15~ in den letzten Tagen"},
		{"in den letzten 2 Wochen", "2017-11-30 2017-12-15 in den letzten 2 Wochen"},
		{"seit Montag", "2017-12-11 2017-12-15 seit Montag"},
		{"seit März", "2017-03-01 2017-12-15 seit März"},
		{"im März", "2017-03-01 2017-04-01 im März"},
		{"im Mai 2016", "2016-05-01 2016-06-01 im Mai 2016"},
		{"Ende Oktober", "2017-10-19 2017-11-03 Ende Oktober"},
		{"Anfang November 2016", "2016-11-01 2016-11-13 Anfang November 2016"},
		{"am 5. März", "2017-03-05 2017-03-06 am 5. März"},
		{"vom 5.3.2017", "2017-03-05 2017-03-06 vom 5.3.2017"},
		{"im letzten Jahr", "2016-01-01 2017-01-01 im letzten Jahr"},
		{"letztes Jahr im März", "2016-03-01 2016-04-01 letztes Jahr im März"},
		{"im März letzten Jahres", "2016-03-01 2016-04-01 im März letzten Jahres"},
		{"an Weihnachten", "2016-12-21 2016-12-29~ an Weihnachten"},
		{"vor Weihnachten", "2016-12-13 2016-12-21~ vor Weihnachten"},
		{"im Sommer", "2017-06-01 2017-09-22~ im Sommer"},
		{"letzten Sommer", "2017-06-01 2017-09-22~ letzten Sommer"},
		{"diese Woche", "2017-12-11 2017-12-18 diese Woche"},
		{"nächste Woche", ""},
		{"jeden Montag", ""},
		{"hier ist es", ""},
		{"das mag so sein", ""},
		{"bis zum 3. Mai", "2017-04-26 2017-05-04~ bis zum 3. Mai"},
		{"gisteren", "2017-12-13 2017-12-14 gisteren"},
		{"eergisteren", "2017-12-12 2017-12-13 eergisteren"},
		{"vorige week", "2017-12-04 2017-12-11 vorige week"},
		{"vorige maand", "2017-11-01 2017-12-01 vorige maand"},
		{"afgelopen vrijdag", "2017-12-08 2017-12-09 afgelopen vrijdag"},
		{"drie dagen geleden", "2017-12-11 2017-12-12 drie dagen geleden"},
		{"een paar weken geleden", "2017-10-22 2017-12-05~ een paar weken geleden"},
		{"in maart", "2017-03-01 2017-04-01 in maart"},
		{"eind februari 2016", "2016-02-18 2016-03-03 eind februari 2016"},
		{"begin mei", "2017-05-01 2017-05-14 begin mei"},
		{"op 5 maart", "2017-03-05 2017-03-06 op 5 maart"},
		{"sinds maandag", "2017-12-11 2017-12-15 sinds maandag"},
		{"vorig jaar", "2016-01-01 2017-01-01 vorig jaar"},
		{"gisteravond", "2017-12-13T17:00 2017-12-14T00:00 gisteravond"},
		{"wat zei hij op dinsdag", "2017-12-12 2017-12-13 op dinsdag"},
		{"hier soir", "2017-12-13T17:00 2017-12-14T00:00 hier soir"},
		{"avant-hier", "2017-12-12 2017-12-13 avant-hier"},
		{"aujourd'hui", "2017-12-14 2017-12-15 aujourd'hui"},
		{"la semaine dernière", "2017-12-04 2017-12-11 la semaine dernière"},
		{"le mois dernier", "2017-11-01 2017-12-01 le mois dernier"},
		{"l'année dernière", "2016-01-01 2017-01-01 l'année dernière"},
		{"vendredi dernier", "2017-12-08 2017-12-09 vendredi dernier"},
		{"il y a trois jours", "2017-12-11 2017-12-12 il y a trois jours"},
		{"il y a deux semaines", "2017-11-26 2017-12-05 il y a deux semaines"},
		{"il y a quelques jours", "2017-12-07 2017-12-13~ il y a quelques jours"},
		{"en mars", "2017-03-01 2017-04-01 en mars"},
		{"en mars dernier", "2017-03-01 2017-04-01 en mars dernier"},
		{"mars 2016", "2016-03-01 2016-04-01 mars 2016"},
		{"début mars", "2017-03-01 2017-03-14 début mars"},
		{"fin octobre", "2017-10-19 2017-11-03 fin octobre"},
		{"fin d'octobre 2016", "2016-10-19 2016-11-03 fin d'octobre 2016"},
		{"le 5 mars", "2017-03-05 2017-03-06 le 5 mars"},
		{"le 1er mai 2016", "2016-05-01 2016-05-02 le 1er mai 2016"},
		{"depuis lundi", "2017-12-11 2017-12-15 depuis lundi"},
		{"à Noël", "2016-12-21 2016-12-29~ à Noël"},
		{"l'été dernier", "2017-06-01 2017-09-22~ l'été dernier"},
		{"cette semaine", "2017-12-11 2017-12-18 cette semaine"},
		{"ces derniers jours", "2017-12-07 2017-12-15~ derniers jours"},
		{"c'est hier qu'il est parti", "2017-12-13 2017-12-14 hier"},
		{"la planète mars", ""},
		{"pas mai", ""},
		{"mi-janvier", "2017-01-08 2017-01-25 mi-janvier"},
		{"en octobre 2016", "2016-10-01 2016-11-01 en octobre 2016"},
		{"ayer", "2017-12-13 2017-12-14 ayer"},
		{"anteayer", "2017-12-12 2017-12-13 anteayer"},
		{"anoche", "2017-12-13T18:00 2017-12-14T06:00 anoche"},
		{"la semana pasada", "2017-12-04 2017-12-11 la semana pasada"},
		{"el mes pasado", "2017-11-01 2017-12-01 el mes pasado"},
		{"el año pasado", "2016-01-01 2017-01-01 el año pasado"},
		{"el viernes pasado", "2017-12-08 2017-12-09 el viernes pasado"},
		{"el lunes", "2017-12-11 2017-12-12 el lunes"},
		{"hace tres días", "2017-12-11 2017-12-12 hace tres días"},
		{"hace una semana", "2017-12-04 2017-12-11 hace una semana"},
		{"en marzo", "2017-03-01 2017-04-01 en marzo"},
		{"en mayo de 2016", "2016-05-01 2016-06-01 en mayo de 2016"},
		{"el 5 de marzo de 2016", "2016-03-05 2016-03-06 el 5 de marzo de 2016"},
		{"a finales de octubre", "2017-10-19 2017-11-03 a finales de octubre"},
		{"desde enero", "2017-01-01 2017-12-15 desde enero"},
		{"el verano pasado", "2017-06-01 2017-09-22~ el verano pasado"},
		{"en los últimos 3 días", "2017-12-11 2017-12-15 en los últimos 3 días"},
		{"ieri", "2017-12-13 2017-12-14 ieri"},
		{"l'altro ieri", "2017-12-12 2017-12-13 l'altro ieri"},
		{"la settimana scorsa", "2017-12-04 2017-12-11 la settimana scorsa"},
		{"il mese scorso", "2017-11-01 2017-12-01 il mese scorso"},
		{"l'anno scorso", "2016-01-01 2017-01-01 l'anno scorso"},
		{"venerdì scorso", "2017-12-08 2017-12-09 venerdì scorso"},
		{"tre giorni fa", "2017-12-11 2017-12-12 tre giorni fa"},
		{"una settimana fa", "2017-12-04 2017-12-11 una settimana fa"},
		{"a marzo", "2017-03-01 2017-04-01 a marzo"},
		{"nel 2016", "2016-01-01 2017-01-01 nel 2016"},
		{"il 5 marzo 2016", "2016-03-05 2016-03-06 il 5 marzo 2016"},
		{"fine ottobre", "2017-10-19 2017-11-03 fine ottobre"},
		{"l'estate scorsa", "2017-06-01 2017-09-22~ l'estate scorsa"},
		{"da lunedì", "2017-12-11 2017-12-15 da lunedì"},
		{"ontem", "2017-12-13 2017-12-14 ontem"},
		{"anteontem", "2017-12-12 2017-12-13 anteontem"},
		{"na semana passada", "2017-12-04 2017-12-11 na semana passada"},
		{"no mês passado", "2017-11-01 2017-12-01 no mês passado"},
		{"no ano passado", "2016-01-01 2017-01-01 no ano passado"},
		{"na sexta-feira", "2017-12-08 2017-12-09 na sexta-feira"},
		{"sexta passada", "2017-12-08 2017-12-09 sexta passada"},
		{"há três dias", "2017-12-11 2017-12-12 há três dias"},
		{"duas semanas atrás", "2017-11-26 2017-12-05 duas semanas atrás"},
		{"em março", "2017-03-01 2017-04-01 em março"},
		{"em março de 2016", "2016-03-01 2016-04-01 em março de 2016"},
		{"no dia 5 de março", "2017-03-05 2017-03-06 5 de março"},
		{"no final de outubro", "2017-10-19 2017-11-03 no final de outubro"},
		{"desde janeiro", "2017-01-01 2017-12-15 desde janeiro"},
		{"a segunda opção", ""},
		{"wczoraj", "2017-12-13 2017-12-14 wczoraj"},
		{"przedwczoraj", "2017-12-12 2017-12-13 przedwczoraj"},
		{"w zeszłym tygodniu", "2017-12-04 2017-12-11 w zeszłym tygodniu"},
		{"w zeszłym miesiącu", "2017-11-01 2017-12-01 w zeszłym miesiącu"},
		{"w zeszłym roku", "2016-01-01 2017-01-01 w zeszłym roku"},
		{"w piątek", "2017-12-08 2017-12-09 w piątek"},
		{"w zeszły piątek", "2017-12-08 2017-12-09 w zeszły piątek"},
		{"trzy dni temu", "2017-12-11 2017-12-12 trzy dni temu"},
		{"tydzień temu", "2017-12-04 2017-12-11 tydzień temu"},
		{"dwa tygodnie temu", "2017-11-26 2017-12-05 dwa tygodnie temu"},
		{"kilka dni temu", "2017-12-07 2017-12-13~ kilka dni temu"},
		{"w marcu", "2017-03-01 2017-04-01 w marcu"},
		{"w marcu 2016 roku", "2016-03-01 2016-04-01 w marcu 2016 roku"},
		{"5 marca 2016", "2016-03-05 2016-03-06 5 marca 2016"},
		{"pod koniec października", "2017-10-19 2017-11-03 pod koniec października"},
		{"od poniedziałku", "2017-12-11 2017-12-15 od poniedziałku"},
		{"latem 2016", "2016-06-01 2016-09-22~ latem 2016"},
		{"w maju", "2017-05-01 2017-06-01 w maju"},
		{"včera", "2017-12-13 2017-12-14 včera"},
		{"předevčírem", "2017-12-12 2017-12-13 předevčírem"},
		{"minulý týden", "2017-12-04 2017-12-11 minulý týden"},
		{"minulý měsíc", "2017-11-01 2017-12-01 minulý měsíc"},
		{"v loňském roce", "2016-01-01 2017-01-01 v loňském roce"},
		{"loni", "2016-01-01 2017-01-01 loni"},
		{"loni v březnu", "2016-03-01 2016-04-01 loni v březnu"},
		{"v pátek", "2017-12-08 2017-12-09 v pátek"},
		{"minulý pátek", "2017-12-08 2017-12-09 minulý pátek"},
		{"před třemi dny", "2017-12-11 2017-12-12 před třemi dny"},
		{"před týdnem", "2017-12-04 2017-12-11 před týdnem"},
		{"před dvěma týdny", "2017-11-26 2017-12-05 před dvěma týdny"},
		{"v březnu", "2017-03-01 2017-04-01 v březnu"},
		{"v březnu 2016", "2016-03-01 2016-04-01 v březnu 2016"},
		{"5. března 2016", "2016-03-05 2016-03-06 5. března 2016"},
		{"koncem října", "2017-10-19 2017-11-03 koncem října"},
		{"od pondělí", "2017-12-11 2017-12-15 od pondělí"},
		{"predvčerom", "2017-12-12 2017-12-13 predvčerom"},
		{"minulý týždeň", "2017-12-04 2017-12-11 minulý týždeň"},
		{"minulý mesiac", "2017-11-01 2017-12-01 minulý mesiac"},
		{"minulý rok", "2016-01-01 2017-01-01 minulý rok"},
		{"v piatok", "2017-12-08 2017-12-09 v piatok"},
		{"pred tromi dňami", "2017-12-11 2017-12-12 pred tromi dňami"},
		{"pred týždňom", "2017-12-04 2017-12-11 pred týždňom"},
		{"v marci", "2017-03-01 2017-04-01 v marci"},
		{"v júni 2016", "2016-06-01 2016-07-01 v júni 2016"},
		{"5. marca", "2017-03-05 2017-03-06 5. marca"},
		{"na konci októbra", "2017-10-19 2017-11-03 na konci októbra"},
		{"vlani", "2016-01-01 2017-01-01 vlani"},
		{"vo februári", "2017-02-01 2017-03-01 vo februári"},
		{"вчера", "2017-12-13 2017-12-14 вчера"},
		{"позавчера", "2017-12-12 2017-12-13 позавчера"},
		{"на прошлой неделе", "2017-12-04 2017-12-11 на прошлой неделе"},
		{"в прошлом месяце", "2017-11-01 2017-12-01 в прошлом месяце"},
		{"в прошлом году", "2016-01-01 2017-01-01 в прошлом году"},
		{"в пятницу", "2017-12-08 2017-12-09 в пятницу"},
		{"в прошлую пятницу", "2017-12-08 2017-12-09 в прошлую пятницу"},
		{"три дня назад", "2017-12-11 2017-12-12 три дня назад"},
		{"неделю назад", "2017-12-04 2017-12-11 неделю назад"},
		{"две недели назад", "2017-11-26 2017-12-05 две недели назад"},
		{"несколько дней назад", "2017-12-07 2017-12-13~ несколько дней назад"},
		{"в марте", "2017-03-01 2017-04-01 в марте"},
		{"в марте 2016 года", "2016-03-01 2016-04-01 в марте 2016 года"},
		{"5 марта 2016 года", "2016-03-05 2016-03-06 5 марта 2016 года"},
		{"в конце октября", "2017-10-19 2017-11-03 в конце октября"},
		{"с понедельника", "2017-12-11 2017-12-15 с понедельника"},
		{"прошлым летом", "2017-06-01 2017-09-22~ прошлым летом"},
		{"летом 2016", "2016-06-01 2016-09-22~ летом 2016"},
		{"в 2016 году", "2016-01-01 2017-01-01 в 2016 году"},
		{"в мае", "2017-05-01 2017-06-01 в мае"},
	})
}

type timeCase struct{ text, want string }

func testTimes(t *testing.T, list []timeCase) {
	t.Helper()
	at := asked(t)
	for _, c := range list {
		if got := shown(c.text, at); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

func TestWithoutAMomentNothingIsNamed(t *testing.T) {
	t.Parallel()
	if got := Mentions("yesterday", time.Time{}); got != nil {
		t.Errorf("got %v", got)
	}
}

func TestWhatIsMeantDependsOnTheMoment(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ at, text, want string }{
		{"2018-01-10T12:00:00Z", "in January", "2018-01-01 2018-02-01 in January | 2017-01-01 2017-02-01~ in January"},
		{"2018-01-10T12:00:00Z", "in December", "2017-12-01 2018-01-01 in December"},
		{"2018-01-10T12:00:00Z", "last January", "2017-01-01 2017-02-01 last January"},
		{"2018-01-10T12:00:00Z", "last month", "2017-12-01 2018-01-01 last month"},
		{"2018-01-01T12:00:00Z", "last week", "2017-12-25 2018-01-01 last week"},
		{"2018-01-02T12:00:00Z", "before Christmas", "2017-12-13 2017-12-21~ before Christmas"},
		{"2018-01-10T12:00:00Z", "last winter", "2016-12-01 2017-03-22~ last winter"},
		{"2018-03-31T12:00:00Z", "a month ago", "2018-02-11 2018-03-18~ a month ago"},
		{"2018-03-01T12:00:00Z", "on February 29th", "2016-02-29 2016-03-01 on February 29th"},
		{"2017-12-16T12:00:00Z", "last Friday", "2017-12-15 2017-12-16~ last Friday | 2017-12-08 2017-12-09~ last Friday"},
		{"2017-12-17T12:00:00Z", "last weekend", "2017-12-09 2017-12-11 last weekend"},
		{"2017-12-17T12:00:00Z", "this weekend", "2017-12-16 2017-12-18 this weekend"},
		{"2017-12-18T12:00:00Z", "over the weekend", "2017-12-16 2017-12-18 over the weekend"},
		{"2017-12-18T23:00:00Z", "tonight", "2017-12-18T18:00 2017-12-19T06:00 tonight"},
		{"2017-12-18T12:00:00Z", "on 5 January 2018", ""},
		{"2017-12-18T12:00:00Z", "in 2018", ""},
		{"2018-01-10T12:00:00Z", "年末に", "2017-12-16 2018-01-01~ 年末"},
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		if got := shown(c.text, at.UTC()); got != c.want {
			t.Errorf("%q at %s: got %q, want %q", c.text, c.at, got, c.want)
		}
	}
}

func TestALongTextNamesFewTimes(t *testing.T) {
	t.Parallel()
	at := asked(t)
	for _, text := range []string{"yesterday ", "on Thursday, ", "昨日", "2017-03-05 "} {
		if got := Mentions(strings.Repeat(text, 5000), at); len(got) != maxMentions {
			t.Errorf("%q: %d mentions, want %d", text, len(got), maxMentions)
		}
	}
	if got := Mentions(strings.Repeat("x ", maxWhen)+"yesterday", at); len(got) != 0 {
		t.Errorf("behind %d bytes: got %v", maxWhen, got)
	}
}

func TestDaysBeginAtMidnightOfTheZone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, at, text, from, to string }{
		{"Asia/Tokyo", "2017-12-14T16:00:00Z", "today", "2017-12-14T15:00:00Z", "2017-12-15T15:00:00Z"},
		{"America/New_York", "2017-12-14T04:00:00Z", "today", "2017-12-13T05:00:00Z", "2017-12-14T05:00:00Z"},
		{"America/New_York", "2017-03-13T16:00:00Z", "yesterday", "2017-03-12T05:00:00Z", "2017-03-13T04:00:00Z"}, // of 23 hours
		{"America/New_York", "2017-11-06T16:00:00Z", "yesterday", "2017-11-05T04:00:00Z", "2017-11-06T05:00:00Z"}, // of 25
		{"America/New_York", "2017-11-06T16:00:00Z", "last week", "2017-10-30T04:00:00Z", "2017-11-06T05:00:00Z"},
		{"America/Sao_Paulo", "2017-10-16T12:00:00Z", "yesterday", "2017-10-15T03:00:00Z", "2017-10-16T02:00:00Z"}, // without midnight
		{"America/Havana", "2017-11-06T12:00:00Z", "yesterday", "2017-11-05T04:00:00Z", "2017-11-06T05:00:00Z"},    // with two
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		got := Mentions(c.text, at.In(location(t, c.zone)))
		if len(got) != 1 || got[0].From.UTC().Format(time.RFC3339) != c.from || got[0].To.UTC().Format(time.RFC3339) != c.to {
			t.Errorf("%s in %s: got %v, want %s to %s", c.text, c.zone, got, c.from, c.to)
		}
	}
}

func FuzzWhen(f *testing.F) {
	for _, s := range []string{"in the last 2 weeks", "5. März 2017", "2017年3月5日", "31/02/2017", "the the the in in in", "vor vor 3 3", "`yesterday", "\xff in may \xf0", "Ⅻ 0000-00-00", "last last last Friday of of", "il y a", "99999 years ago", "1000 years ago"} {
		f.Add(s, int64(1_513_261_800_000_000), "Europe/Berlin")
	}
	f.Fuzz(func(t *testing.T, text string, at int64, name string) {
		zone, err := zones.Load(name)
		if err != nil {
			zone = time.UTC
		}
		const limit = 4e15 // some 120 years from 1970
		if at > limit || at < -limit {
			t.Skip()
		}
		now := time.UnixMicro(at).In(zone)
		got := Mentions(text, now)
		if len(got) > maxMentions {
			t.Fatalf("%d mentions", len(got))
		}
		last := 0
		for _, m := range got {
			if !m.From.Before(m.To) || m.From.After(now) {
				t.Errorf("%q names %v at %d", text, m, at)
			}
			if m.Start < last || m.Start >= m.End || m.End > len(text) {
				t.Fatalf("%q: bytes %d to %d", text, m.Start, m.End)
			}
			if utf8.ValidString(text) && !utf8.ValidString(text[m.Start:m.End]) {
				t.Errorf("%q is cut to %q", text, text[m.Start:m.End])
			}
			last = m.Start
		}
	})
}
