package daemon_test

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/simulate"
)

var update = flag.Bool("update", false, "write the table of docs/slack.md anew")

const (
	slackPage  = "../../docs/slack.md"
	tableBegin = "<!-- calls: made by go test ./internal/daemon -run TestSlackCalls -update -->\n"
	tableEnd   = "<!-- end of calls -->\n"
)

// readers are the methods that read history, which is rate-limited.
var readers = []string{
	"conversations.replies", "conversations.history", "conversations.info", "users.info", "usergroups.list", "bots.info", "files.info",
}

// TestSlackCalls counts the calls of Slack's API that each turn makes. In the steady
// state a turn reads no history.
func TestSlackCalls(t *testing.T) {
	t.Parallel()
	x := newSlackWorld(t, modeltest.StartScripted(t, slackScript), byHTTP, nil, "EARSHOT_HEALTH=127.0.0.1:0")
	cold := x.Post(simulate.PostedMessage{Channel: x.general, User: x.ann, Text: "from before", Mute: true})
	x.Post(simulate.PostedMessage{Channel: x.general, Thread: cold, User: x.bob, Text: "a reply from before", Mute: true})
	long := x.Post(simulate.PostedMessage{Channel: x.general, User: x.ann, Text: "a long one", Mute: true, At: time.Now().Add(-time.Hour)})
	for i := range 2500 {
		x.Post(simulate.PostedMessage{Channel: x.general, Thread: long, User: x.bob, Text: fmt.Sprint("part ", i), Mute: true})
	}
	x.start()
	var rows strings.Builder
	turn := func(what string, steady bool, ask func()) {
		t.Helper()
		x.settled()
		x.quiet()
		x.ForgetCalls()
		ask()
		x.ends(earshot.TurnDone)
		read, written := map[string]int{}, map[string]int{}
		for _, c := range x.Calls() {
			if slices.Contains(readers, c.Method) {
				read[c.Method]++
			} else {
				written[c.Method]++
			}
		}
		if steady && len(read) > 0 {
			t.Errorf("%s: %v are read", what, read)
		}
		fmt.Fprintf(&rows, "| %s | %s | %s |\n", what, counts(read), names(written))
	}
	warm := ""
	turn("the first question in a channel", false, func() { warm = x.Say(x.general, x.ann, x.at("is it raining?")) })
	turn("the first question in a thread that it has not heard of", false, func() { x.Reply(x.general, cold, x.bob, x.at("what was it?")) })
	turn("the next question there", true, func() { x.Reply(x.general, cold, x.bob, x.at("and now?")) })
	turn("a question at the top level", true, func() { warm = x.Say(x.general, x.ann, x.at("and tomorrow?")) })
	turn("a question in a thread that it has heard from the start", true, func() { x.Reply(x.general, warm, x.bob, x.at("where?")) })
	dm := x.OpenDM(x.ann)
	turn("the first question in a direct message", false, func() { x.Say(dm, x.ann, "what is new?") })
	turn("the next one there", true, func() { x.Say(dm, x.ann, "and else?") })
	// The last, because older replies are fetched in the background for a while.
	turn("the first in a thread of 2,500 replies that it has not heard of", false, func() { x.Reply(x.general, long, x.bob, x.at("how did it end?")) })

	page, err := os.ReadFile(slackPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), tableBegin)
	table, after, ok2 := strings.Cut(rest, tableEnd)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", slackPage)
	}
	if *update {
		table = "| a turn for | reads | writes |\n|---|---|---|\n" + rows.String()
		if err := os.WriteFile(slackPage, []byte(before+tableBegin+table+tableEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	documented := costs(table)
	for what, got := range costs(rows.String()) {
		for method, n := range got {
			most, ok := documented[what][method]
			// How often a growing answer is updated depends on time, and backfill
			// may have begun to read.
			if !ok || slices.Contains(readers, method) && n > 2*most {
				t.Errorf("%s: %s is called %d times; docs/slack.md says %d. Run go test ./internal/daemon -run TestSlackCalls -update", what, method, n, most)
			}
		}
	}
}

var cost = regexp.MustCompile("`([a-zA-Z.]+)`(?: ([0-9]+))?")

// costs reads the table: calls by turn and method.
func costs(table string) map[string]map[string]int {
	out := map[string]map[string]int{}
	for line := range strings.Lines(table) {
		what, rest, ok := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		if !ok {
			continue
		}
		out[what] = map[string]int{}
		for _, m := range cost.FindAllStringSubmatch(rest, -1) {
			out[what][m[1]], _ = strconv.Atoi(m[2])
		}
	}
	return out
}

// counts lists calls by method.
func counts(calls map[string]int) string {
	if len(calls) == 0 {
		return "none"
	}
	var out []string
	for _, m := range slices.Sorted(maps.Keys(calls)) {
		out = append(out, fmt.Sprintf("`%s` %d", m, calls[m]))
	}
	return strings.Join(out, ", ")
}

// names lists the methods of calls.
func names(calls map[string]int) string {
	var out []string
	for _, m := range slices.Sorted(maps.Keys(calls)) {
		out = append(out, "`"+m+"`")
	}
	return strings.Join(out, ", ")
}

// quiet waits until no history waits to be read in the background.
func (x *slackWorld) quiet() {
	x.t.Helper()
	x.eventually("no history waits", func() bool {
		w, err := http.Get("http://" + x.daemon.Health + "/metrics")
		if err != nil {
			x.t.Fatal(err)
		}
		defer w.Body.Close()
		body, err := io.ReadAll(w.Body)
		if err != nil {
			x.t.Fatal(err)
		}
		return strings.Contains(string(body), "\nearshot_history_waiting 0\n")
	})
}
