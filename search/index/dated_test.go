package index

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/eval/chats"
	"github.com/earshot-ai/earshot/internal/eval/chats/chatstest"
)

// namesATime are the shared questions that name a time by themselves.
var namesATime = regexp.MustCompile(`(?i)january|february|august|september|october|november|december|last month|\d年`)

// monthsOf are the months as people write them behind "in" in the languages of the
// shared questions.
var monthsOf = map[string][]string{
	"en": strings.Fields("January February March April May June July August September October November December"),
	"nl": strings.Fields("januari februari maart april mei juni juli augustus september oktober november december"),
	"fr": strings.Fields("janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
	"sk": strings.Fields("januári februári marci apríli máji júni júli auguste septembri októbri novembri decembri"),
}

func languageOf(task chats.Task) string {
	switch name := task.Conversation.Name; {
	case task.Source == "haskelljp-slack":
		return "ja"
	case strings.HasSuffix(name, "--netherlands"):
		return "nl"
	case strings.HasSuffix(name, "--france"):
		return "fr"
	case strings.HasSuffix(name, "--slovakia"):
		return "sk"
	}
	return "en"
}

// datings say when something was said, as people do who ask at another moment; "" where
// nobody would say it so.
var datings = []struct {
	name string
	say  func(lang string, said, now time.Time) string
}{
	{"in March 2017", func(lang string, said, _ time.Time) string {
		if lang == "ja" {
			return fmt.Sprintf("%d年%d月に", said.Year(), said.Month())
		}
		return inWord(lang, said.Month()) + " " + monthsOf[lang][said.Month()-1] + fmt.Sprintf(" %d,", said.Year())
	}},
	{"in March", func(lang string, said, now time.Time) string {
		switch {
		case now.Sub(said) > 330*24*time.Hour:
			return ""
		case lang == "ja":
			return fmt.Sprintf("%d月に", said.Month())
		}
		return inWord(lang, said.Month()) + " " + monthsOf[lang][said.Month()-1] + ","
	}},
	{"2017-03-05", func(_ string, said, _ time.Time) string { return said.Format(time.DateOnly) + ":" }},
	{"end of March 2017", func(lang string, said, _ time.Time) string {
		which := min(2, (said.Day()-1)/10)
		switch lang {
		case "en":
			return fmt.Sprintf("%s %s %d:", []string{"early", "mid", "late"}[which], monthsOf[lang][said.Month()-1], said.Year())
		case "ja":
			return fmt.Sprintf("%d年%d月%sに", said.Year(), said.Month(), []string{"上旬", "中旬", "下旬"}[which])
		}
		return ""
	}},
	{"last week, last month, last year", func(lang string, said, now time.Time) string {
		y, week := said.ISOWeek()
		lastY, lastWeek := now.AddDate(0, 0, -7).ISOWeek()
		month := now.AddDate(0, 0, -now.Day())
		words := map[string][]string{
			"en": {"last week", "last month", "last year"}, "ja": {"先週", "先月", "去年"}, "nl": {"vorige week", "vorige maand", "vorig jaar"},
			"fr": {"la semaine dernière", "le mois dernier", "l'année dernière"}, "sk": {"minulý týždeň", "minulý mesiac", "minulý rok"},
		}[lang]
		switch {
		case y == lastY && week == lastWeek:
			return words[0]
		case said.Year() == month.Year() && said.Month() == month.Month():
			return words[1]
		case said.Year() == now.Year()-1:
			return words[2]
		}
		return ""
	}},
}

func inWord(lang string, m time.Month) string {
	switch {
	case lang == "fr":
		return "en"
	case lang == "sk" && m == time.February:
		return "vo"
	case lang == "sk":
		return "v"
	}
	return "in"
}

// dated are the questions as say has them, and how many.
func (a asked) dated(say func(task chats.Task, q chats.Query, said, now time.Time) string) (asked, int) {
	out, n := asked{indexes: a.indexes}, 0
	for _, task := range a.tasks {
		said := map[earshot.MessageID]earshot.Time{}
		for _, m := range task.Conversation.Messages {
			said[m.ID] = m.Time
		}
		queries := task.Queries
		task.Queries = nil
		for _, q := range queries {
			at := func(t earshot.Time) time.Time { return time.UnixMicro(int64(t)).UTC() }
			if text := say(task, q, at(said[q.Gold[0]]), at(q.At)); text != "" {
				q.Text = text
				task.Queries = append(task.Queries, q)
				n++
			}
		}
		out.tasks = append(out.tasks, task)
	}
	return out, n
}

// TestDatesInQuestions asks the shared questions again with the time at which the answer
// was said, as people would name it, and measures what it brings that the time is read.
func TestDatesInQuestions(t *testing.T) {
	t.Parallel()
	chatstest.Measures(t)
	questions := ask(t, "questions.jsonl")
	unread := standard
	unread.span = 1
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\nquestions\tnumber\tR@10, times not read\tread\t")
	measure := func(name string, a asked, n int) float64 {
		without, with := a.measure(unread).at10, a.measure(standard).at10
		fmt.Fprintf(w, "%s\t%d\t%.1f\t%.1f\t\n", name, n, without, with)
		return with - without
	}
	measure("all, as they are", questions, 120)
	own, n := questions.dated(func(_ chats.Task, q chats.Query, _, _ time.Time) string {
		if !namesATime.MatchString(q.Text) {
			return ""
		}
		return q.Text
	})
	measure("those that name a time", own, n)
	var gains []float64
	for _, d := range datings {
		said, n := questions.dated(func(task chats.Task, q chats.Query, said, now time.Time) string {
			when := d.say(languageOf(task), said, now)
			if when == "" || namesATime.MatchString(q.Text) {
				return ""
			}
			return when + " " + q.Text
		})
		gains = append(gains, measure(d.name, said, n))
	}
	w.Flush()
	t.Log(out.String())
	if slices.Min(gains) < 0 || gains[0] < 2 {
		t.Errorf("reading the times brings %.1f points", gains)
	}
}
