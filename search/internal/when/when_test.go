package when

import (
	"strings"
	"testing"
	"time"

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

// shown writes the days that a text names.
func shown(text string, at time.Time) string {
	var out []string
	for _, m := range Spans(text, at) {
		out = append(out, m.From.Format(time.DateOnly)+" "+m.To.Format(time.DateOnly))
	}
	return strings.Join(out, " | ")
}

func TestTimesThatAreNamedInEnglish(t *testing.T) {
	t.Parallel()
	testTimes(t, []timeCase{
		{"what broke yesterday?", "2017-12-13 2017-12-14"},
		{"what did we say today about the cache", "2017-12-14 2017-12-15"},
		{"yesterday evening", "2017-12-13 2017-12-14"},
		{"yesterday at 3pm who restarted it", "2017-12-13 2017-12-14"},
		{"the build last night", "2017-12-13 2017-12-14"},
		{"this morning's deploy", "2017-12-14 2017-12-15"},
		{"tonight", ""},
		{"the day before yesterday", "2017-12-12 2017-12-13"},
		{"what's on tomorrow", ""},
		{"on Friday", "2017-12-08 2017-12-09"},
		{"last Friday", "2017-12-08 2017-12-09"},
		{"Friday's meeting", "2017-12-08 2017-12-09"},
		{"this Friday", ""},
		{"this Tuesday", "2017-12-12 2017-12-13"},
		{"friday night", "2017-12-08 2017-12-09"},
		{"every Friday", ""},
		{"on Thursday", "2017-12-07 2017-12-08 | 2017-12-14 2017-12-15"},
		{"last Thursday", "2017-12-07 2017-12-08"},
		{"last Wednesday", "2017-12-13 2017-12-14 | 2017-12-06 2017-12-07"},
		{"last week", "2017-12-04 2017-12-11"},
		{"last month", "2017-11-01 2017-12-01"},
		{"last year", "2016-01-01 2017-01-01"},
		{"this week", "2017-12-11 2017-12-18"},
		{"this month", "2017-12-01 2018-01-01"},
		{"this year", "2017-01-01 2018-01-01"},
		{"in the last week", "2017-12-04 2017-12-11"},
		{"since Monday", "2017-12-11 2017-12-15"},
		{"since last Friday", "2017-12-08 2017-12-15"},
		{"since March", "2017-03-01 2017-12-15"},
		{"the christmas party tree", ""},
		{"in March", "2017-03-01 2017-04-01"},
		{"in may", "2017-05-01 2017-06-01"},
		{"In May 2016", "2016-05-01 2016-06-01"},
		{"by May", "2017-05-01 2017-06-01"},
		{"last May", "2017-05-01 2017-06-01"},
		{"May 5th", "2017-05-05 2017-05-06"},
		{"May 5", "2017-05-05 2017-05-06"},
		{"march 5 miles", ""},
		{"this may break", ""},
		{"may 5 people join", ""},
		{"do it in march", "2017-03-01 2017-04-01"},
		{"they march on", ""},
		{"on the march of progress", ""},
		{"March 2017", "2017-03-01 2017-04-01"},
		{"mar 5", "2017-03-05 2017-03-06"},
		{"on Mar 5", "2017-03-05 2017-03-06"},
		{"end of October 2017: what", "2017-10-19 2017-11-03"},
		{"early November: which pages", "2017-11-01 2017-11-13"},
		{"mid-January", "2017-01-08 2017-01-25"},
		{"late september", "2017-09-19 2017-10-03"},
		{"the beginning of the year", "2017-01-01 2017-05-03"},
		{"end of last month", "2017-11-19 2017-12-03"},
		{"early 2017", "2017-01-01 2017-05-03"},
		{"back in 2016", "2016-01-01 2017-01-01"},
		{"in 2016", "2016-01-01 2017-01-01"},
		{"in 2048 bytes", ""},
		{"in 2000 lines", ""},
		{"since 2015", "2015-01-01 2017-12-15"},
		{"Q3", ""},
		{"in spring boot", ""},
		{"does this fall back", ""},
		{"2017-03-05", "2017-03-05 2017-03-06"},
		{"2017-03-05T10:00:00Z", "2017-03-05 2017-03-06"},
		{"2017-03", "2017-03-01 2017-04-01"},
		{"2017/3/5", "2017-03-05 2017-03-06"},
		{"5 March 2017", "2017-03-05 2017-03-06"},
		{"March 5, 2017", "2017-03-05 2017-03-06"},
		{"5th of March", "2017-03-05 2017-03-06"},
		{"5 March", "2017-03-05 2017-03-06"},
		{"05.03.2017", "2017-03-05 2017-03-06"},
		{"5.3.2017", "2017-03-05 2017-03-06"},
		{"version 10.3.2017", ""},
		{"on 5.3.2017", "2017-03-05 2017-03-06"},
		{"a 5.3.2017", "2017-03-05 2017-03-06"},
		{"10.3.2", ""},
		{"on 3/5 we", ""},
		{"24/7 uptime", ""},
		{"1/2 of it", ""},
		{"march last year", "2016-03-01 2016-04-01"},
		{"in march of last year", "2016-03-01 2016-04-01"},
		{"last year in march", "2016-03-01 2016-04-01"},
		{"in january this year", "2017-01-01 2017-02-01"},
		{"last week on Friday", "2017-12-08 2017-12-09"},
		{"Friday last week", "2017-12-08 2017-12-09"},
		{"the last Friday of March", "2017-03-01 2017-04-01"},
		{"last week of October", "2017-10-01 2017-11-01"},
		{"Fri, 3 Mar 2017 10:00", "2017-03-03 2017-03-04"},
		{"on fri", "2017-12-08 2017-12-09"},
		{"sat on it", ""},
		{"last sat", "2017-12-09 2017-12-10"},
		{"the sun was up", ""},
		{"since mon", "2017-12-11 2017-12-15"},
		{"mon ami", ""},
		{"monday.com pricing", ""},
		{"@friday said", ""},
		{"`since yesterday`", ""},
		{"v2017-03-05", ""},
		{"https://x.org/2017/03/05/foo", ""},
		{"recently", ""},
		{"the other day", ""},
		{"a second ago", ""},
		{"the weekend", ""},
		{"this weekend", ""},
		{"in june or july", "2017-06-01 2017-07-01 | 2017-07-01 2017-08-01"},
		{"until april", "2017-04-01 2017-05-01"},
		{"before yesterday", "2017-12-13 2017-12-14"},
		{"last minute change", ""},
		{"the last day of", ""},
		{"on a weekend trip", ""},
		{"fine yesterday", "2017-12-13 2017-12-14"},
		{"on a 2016 machine", ""},
		{"set in spring", ""},
		{"bright in sun", ""},
		{"in the coming days", ""},
		{"until tomorrow", ""},
		{"in juli.", "2017-07-01 2017-08-01"},
		{"half a year", ""},
		{"due in 24/7", ""},
		{"last time", ""},
		{"next week", ""},
		{"next friday", ""},
		{"wait a minute", ""},
		{"weeks ago", ""},
		{"the 5th of may", "2017-05-05 2017-05-06"},
		{"may i ask", ""},
		{"it was june who said", ""},
		{"june 2016", "2016-06-01 2016-07-01"},
		{"October release", "2017-10-01 2017-11-01"},
		{"earlier this year", "2017-01-01 2018-01-01"},
		{"late last year", "2016-09-01 2017-01-31"},
	})
}

func TestTimesThatAreNamedInJapanese(t *testing.T) {
	t.Parallel()
	testTimes(t, []timeCase{
		{"昨日のデプロイ", "2017-12-13 2017-12-14"},
		{"今日は何をした", "2017-12-14 2017-12-15"},
		{"今日本語で", ""},
		{"一昨日", "2017-12-12 2017-12-13"},
		{"今朝のビルド", "2017-12-14 2017-12-15"},
		{"昨日の夜", "2017-12-13 2017-12-14"},
		{"昨夜", "2017-12-13 2017-12-14"},
		{"先週の金曜日に", "2017-12-08 2017-12-09"},
		{"先週何があった", "2017-12-04 2017-12-11"},
		{"先々週", "2017-11-27 2017-12-04"},
		{"金曜日の会議", "2017-12-08 2017-12-09"},
		{"木曜", "2017-12-07 2017-12-08 | 2017-12-14 2017-12-15"},
		{"月曜から", "2017-12-11 2017-12-15"},
		{"毎週金曜日", ""},
		{"来週の月曜", ""},
		{"先月の5日", "2017-11-05 2017-11-06"},
		{"先月末", "2017-11-19 2017-12-03"},
		{"今月", "2017-12-01 2018-01-01"},
		{"去年", "2016-01-01 2017-01-01"},
		{"去年の3月", "2016-03-01 2016-04-01"},
		{"去年の夏", "2016-06-01 2016-09-22"},
		{"今年の春に", "2017-03-01 2017-06-22"},
		{"一昨年", "2015-01-01 2016-01-01"},
		{"3月5日", "2017-03-05 2017-03-06"},
		{"2017年3月5日", "2017-03-05 2017-03-06"},
		{"２０１７年３月", "2017-03-01 2017-04-01"},
		{"2016年", "2016-01-01 2017-01-01"},
		{"2016年の春に落ちていた", "2016-03-01 2016-06-22"},
		{"10月末の", "2017-10-19 2017-11-03"},
		{"10月の終わり", "2017-10-19 2017-11-03"},
		{"3月上旬", "2017-03-01 2017-03-14"},
		{"3月に決めた", "2017-03-01 2017-04-01"},
		{"1日に3回", ""},
		{"青春に", ""},
		{"3月以降", "2017-03-01 2017-12-15"},
		{"3月5日まで", "2017-03-05 2017-03-06"},
		{"月が綺麗", ""},
		{"日本の木", ""},
		{"2月間", ""},
	})
}

func TestTimesThatAreNamedInOtherLanguages(t *testing.T) {
	t.Parallel()
	testTimes(t, []timeCase{
		{"gisteren", "2017-12-13 2017-12-14"},
		{"eergisteren", "2017-12-12 2017-12-13"},
		{"vorige week", "2017-12-04 2017-12-11"},
		{"vorige maand", "2017-11-01 2017-12-01"},
		{"afgelopen vrijdag", "2017-12-08 2017-12-09"},
		{"in maart", "2017-03-01 2017-04-01"},
		{"eind februari 2016", "2016-02-18 2016-03-03"},
		{"begin mei", "2017-05-01 2017-05-14"},
		{"op 5 maart", "2017-03-05 2017-03-06"},
		{"sinds maandag", "2017-12-11 2017-12-15"},
		{"vorig jaar", "2016-01-01 2017-01-01"},
		{"gisteravond", "2017-12-13 2017-12-14"},
		{"wat zei hij op dinsdag", "2017-12-12 2017-12-13"},
		{"hier soir", "2017-12-13 2017-12-14"},
		{"avant-hier", "2017-12-12 2017-12-13"},
		{"aujourd'hui", "2017-12-14 2017-12-15"},
		{"la semaine dernière", "2017-12-04 2017-12-11"},
		{"le mois dernier", "2017-11-01 2017-12-01"},
		{"l'année dernière", "2016-01-01 2017-01-01"},
		{"vendredi dernier", "2017-12-08 2017-12-09"},
		{"en mars", "2017-03-01 2017-04-01"},
		{"en mars dernier", "2017-03-01 2017-04-01"},
		{"mars 2016", "2016-03-01 2016-04-01"},
		{"début mars", "2017-03-01 2017-03-14"},
		{"fin octobre", "2017-10-19 2017-11-03"},
		{"fin d'octobre 2016", "2016-10-19 2016-11-03"},
		{"le 5 mars", "2017-03-05 2017-03-06"},
		{"le 1er mai 2016", "2016-05-01 2016-05-02"},
		{"depuis lundi", "2017-12-11 2017-12-15"},
		{"cette semaine", "2017-12-11 2017-12-18"},
		{"c'est hier qu'il est parti", "2017-12-13 2017-12-14"},
		{"la planète mars", ""},
		{"pas mai", ""},
		{"mi-janvier", "2017-01-08 2017-01-25"},
		{"en octobre 2016", "2016-10-01 2016-11-01"},
		{"predvčerom", "2017-12-12 2017-12-13"},
		{"minulý týždeň", "2017-12-04 2017-12-11"},
		{"minulý mesiac", "2017-11-01 2017-12-01"},
		{"minulý rok", "2016-01-01 2017-01-01"},
		{"v piatok", "2017-12-08 2017-12-09"},
		{"v marci", "2017-03-01 2017-04-01"},
		{"v júni 2016", "2016-06-01 2016-07-01"},
		{"5. marca", "2017-03-05 2017-03-06"},
		{"na konci októbra", "2017-10-19 2017-11-03"},
		{"vo februári", "2017-02-01 2017-03-01"},
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
	if got := Spans("yesterday", time.Time{}); got != nil {
		t.Errorf("got %v", got)
	}
}

func TestWhatIsMeantDependsOnTheMoment(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ at, text, want string }{
		{"2018-01-10T12:00:00Z", "in January", "2018-01-01 2018-02-01 | 2017-01-01 2017-02-01"},
		{"2018-01-10T12:00:00Z", "in December", "2017-12-01 2018-01-01"},
		{"2018-01-10T12:00:00Z", "last January", "2017-01-01 2017-02-01"},
		{"2018-01-10T12:00:00Z", "last month", "2017-12-01 2018-01-01"},
		{"2018-01-01T12:00:00Z", "last week", "2017-12-25 2018-01-01"},
		{"2018-03-01T12:00:00Z", "on February 29th", "2016-02-29 2016-03-01"},
		{"2017-12-16T12:00:00Z", "last Friday", "2017-12-15 2017-12-16 | 2017-12-08 2017-12-09"},
		{"2017-12-18T12:00:00Z", "on 5 January 2018", ""},
		{"2017-12-18T12:00:00Z", "in 2018", ""},
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
		if got := Spans(strings.Repeat(text, 5000), at); len(got) != maxSpans {
			t.Errorf("%q: %d spans, want %d", text, len(got), maxSpans)
		}
	}
	if got := Spans(strings.Repeat("x ", maxText)+"yesterday", at); len(got) != 0 {
		t.Errorf("behind %d bytes: got %v", maxText, got)
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
		got := Spans(c.text, at.In(location(t, c.zone)))
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
		got := Spans(text, now)
		if len(got) > maxSpans {
			t.Fatalf("%d spans", len(got))
		}
		for _, m := range got {
			if !m.From.Before(m.To) || m.From.After(now) {
				t.Errorf("%q names %v at %d", text, m, at)
			}
		}
	})
}
