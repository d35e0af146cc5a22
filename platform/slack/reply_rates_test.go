package slack_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot/platform/slack"
)

var update = flag.Bool("update", false, "write the table of rates in docs/slack.md anew")

const (
	ratesPage  = "../../docs/slack.md"
	ratesBegin = "<!-- rates: made by go test ./platform/slack -run TestAnswersAMinute -update -->\n"
	ratesEnd   = "<!-- end of rates -->\n"
)

// skipUnderRace skips a test that measures rates over hundreds of questions.
// TestACrowdIsAnsweredAtOnce runs the same code under the race detector.
func skipUnderRace(t *testing.T) {
	t.Helper()
	if raceEnabled {
		t.Skip("rates are measured without -race")
	}
}

// TestAnswersAMinute measures how many answers a minute each way of replying
// gives on a fake Slack with Slack's limits, and compares docs/slack.md with it.
func TestAnswersAMinute(t *testing.T) {
	skipUnderRace(t)
	t.Parallel()
	const minutes = 2
	table := "| `slack.reply` | calls an answer | answers a minute in one channel | answers a minute in twenty channels, asked 240 times | of them shown while they are written |\n|---|---|---|---|---|\n"
	for _, reply := range []string{slack.ReplyUpdate, slack.ReplyStream, slack.ReplyPost} {
		one := crowd{reply: reply, takes: 2 * time.Second, channels: 1, every: time.Minute / 90, questions: 100}.serve(t)
		many := crowd{reply: reply, takes: 2 * time.Second, channels: 20, every: time.Minute / 240, questions: 240 * minutes}.serve(t)
		if one.refused+many.refused > 0 {
			t.Errorf("%s: slack refused %d and %d calls for its limits", reply, one.refused, many.refused)
		}
		calls := map[string]string{slack.ReplyUpdate: "2, or 1 where the rate is short", slack.ReplyStream: "2, and those that append; or as `update`", slack.ReplyPost: "1"}[reply]
		shown := many.calls["chat.startStream"] + many.placeholders
		table += fmt.Sprintf("| `%s` | %s | %d | %d | %d |\n", reply, calls, one.aMinute(), many.aMinute(), shown/minutes)
	}
	page, err := os.ReadFile(ratesPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), ratesBegin)
	documented, after, ok2 := strings.Cut(rest, ratesEnd)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", ratesPage)
	}
	if *update {
		documented = table
		if err := os.WriteFile(ratesPage, []byte(before+ratesBegin+table+ratesEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("measured:\n%s", table)
	got, want := figures(table), figures(documented)
	if len(got) != len(want) {
		t.Fatalf("docs/slack.md has %d figures, want %d", len(want), len(got))
	}
	for i := range got {
		if diff := got[i] - want[i]; diff > 2+want[i]/10 || -diff > 2+want[i]/10 {
			t.Errorf("docs/slack.md says %d, measured is %d. Run go test ./platform/slack -run TestAnswersAMinute -update", want[i], got[i])
		}
	}
}

var figure = regexp.MustCompile(`\| (\d+)\b`)

func figures(table string) (out []int) {
	for _, m := range figure.FindAllStringSubmatch(table, -1) {
		n, _ := strconv.Atoi(m[1])
		out = append(out, n)
	}
	return out
}

// aMinute returns how many questions were answered in a minute, besides what
// bursts let through at the beginning.
func (x served) aMinute() int {
	const from = 10 * time.Second
	n, until := 0, x.all-10*time.Second // the last ones are stragglers
	for _, at := range x.at {
		if at >= from && at < until {
			n++
		}
	}
	return int(float64(n)/(until-from).Minutes() + 0.5)
}
