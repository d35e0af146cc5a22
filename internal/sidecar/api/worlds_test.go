package api_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A told is a question of a caller, and what it was answered.
type told struct{ Asked, Answer string }

// everyRead asks every route that reads, and those that write where they are refused,
// as one caller: for what is at home, for what is nowhere, and wrongly.
func (m *matrix) everyRead(t *testing.T, who string, home territory) []told {
	t.Helper()
	var out []told
	ask := func(name string, op operation, r request) answer {
		a := m.send(t, op, m.callers[who], r)
		a.body = keyIDs.ReplaceAllString(secrets.ReplaceAllString(a.body, `"TOKEN"`), `{"id":"KEY"`)
		a.body = strings.NewReplacer(
			`"id":`+home.ids["turn"]+",", `"id":ID,`, `"id":`+home.ids["open"]+",", `"id":ID,`, `"id":`+home.ids["erasure"]+",", `"id":ID,`,
			`"id":`+home.ids["asked"]+",", `"id":ID,`, `"turn":`+home.ids["asked"]+`,"platform"`, `"turn":ID,"platform"`, `"turn":`+home.ids["turn"]+`,"good"`, `"turn":ID,"good"`,
		).Replace(a.body)
		out = append(out, told{op.id + " " + name, fmt.Sprintf("%d %s%s", a.status, a.header, lengths.ReplaceAllString(withoutTimes(a.body), ""))})
		return a
	}
	for _, op := range documented(t) {
		fill := requests[op.id]
		reads := op.method == http.MethodGet || slices.Contains([]string{"make-context", "make-capability", "call-tool", "assemble"}, op.id)
		if reads {
			ask("home", op, fill(home))
		}
		if reads || !fill(nowhere).names {
			ask("nowhere", op, fill(nowhere))
		}
		if reads {
			ask("nothing there", op, fill(nowhere.at(home)))
		}
		if op.method != http.MethodGet {
			continue
		}
		and := "?"
		path := fill(home).path
		if strings.Contains(path, "?") {
			and = "&"
		}
		for _, q := range []string{"limit=1", "limit=0", "limit=x", "cursor=x", "cursor=dHVybiA5MDA", "before=9", "agent=U0BOT", "agent=nobody", "state=done", "platform=slack", "platform=discord", "q=canary", "q=%22%22", "q=hello", "from=2026-01-01", "to=x", "revisions=true"} {
			ask(q, op, request{path: path + and + q})
		}
		for n := 0; n < 5; n++ { // the pages
			path := fill(home).path
			a := ask(fmt.Sprint("page ", n), op, request{path: path + and + "limit=1"})
			next := nextPage.FindStringSubmatch(a.body)
			if next == nil {
				break
			}
			and = "?cursor=" + next[1] + "&"
			if strings.Contains(path, "?") {
				and = "&cursor=" + next[1] + "&"
			}
		}
	}
	call := operation{"call-tool", http.MethodPost, "/v1/tools/{name}"}
	for tool, list := range map[string][]string{
		"channel_context":     {`{"intent":"canary"}`, `{"intent":"` + home.canary() + `"}`, `{"intent":"zzz"}`, `{"intent":"hello","authors":["U1"]}`, `{}`},
		"channel_messages":    {`{"thread_id":"100.000001"}`, `{"thread_id":"404"}`, `{"message_ids":["` + home.ids["message"] + `","404"]}`, `{"media_artifact_id":"F1"}`},
		"conversation_search": {`{"query":"canary"}`, `{"query":"zzz","limit":20}`},
	} {
		for _, args := range list {
			ask(tool+args, call, request{path: "/v1/tools/" + tool, body: args})
		}
	}
	slices.SortFunc(out, func(x, y told) int { return strings.Compare(x.Asked, y.Asked) })
	return out
}

// withoutTimes returns the body of a page with TIME for the time in its cursor, since the
// worlds were made one after the other, and ID for the id of a turn in it.
func withoutTimes(body string) string {
	return nextPage.ReplaceAllStringFunc(body, func(next string) string {
		raw, err := base64.RawURLEncoding.DecodeString(nextPage.FindStringSubmatch(next)[1])
		if err != nil {
			return next
		}
		if turnNext.Match(raw) {
			return `"next":"turn ID"`
		}
		if !microseconds.Match(raw) {
			return next
		}
		return string(microseconds.ReplaceAll(raw, []byte("TIME")))
	})
}

var (
	microseconds = regexp.MustCompile(`\b1[0-9]{15}\b`)
	turnNext     = regexp.MustCompile(`^turn \d+$`)
	keyIDs       = regexp.MustCompile(`^\{"id":"(key:)?[a-z2-7]{16}"`)
	secrets      = regexp.MustCompile(`"ec_[^"]*"`)
	lengths      = regexp.MustCompile(`Content-Length: \d+\r\n`)
	nextPage     = regexp.MustCompile(`"next(?:_cursor)?":"([^"]+)"`)
)

// TestNoAnswerTellsWhatIsOutOfReach compares the answers to one caller in pairs of
// worlds that differ in what is out of its reach alone: other channels, workspaces,
// turns, conversations and erasures, stored after its own and before. All bytes are
// the same, but for the ids of turns and erasures: they count for the whole store
// (docs/threats.md says what they tell).
func TestNoAnswerTellsWhatIsOutOfReach(t *testing.T) {
	t.Parallel()
	home, neighbour, elsewhere, far := [2]string{"T1", "C1"}, [2]string{"T1", "C2"}, [2]string{"T2", "C1"}, [2]string{"T4", "C1"}
	alone := newMatrixOf(t, home)
	after := newMatrixOf(t, home, neighbour, elsewhere, far)
	before := newMatrixOf(t, far, elsewhere, neighbour, home)
	afterWorkspace := newMatrixOf(t, home, elsewhere, far)
	beforeWorkspace := newMatrixOf(t, far, elsewhere, home)
	asked := 0
	for who, others := range map[string]map[string]*matrix{
		"channel":    {"after": after, "before": before},
		"read":       {"after": after, "before": before},
		"capability": {"after": after, "before": before},
		"workspace":  {"after": afterWorkspace, "before": beforeWorkspace},
		"person":     {"after": afterWorkspace, "before": beforeWorkspace},
		"nobody":     {"after": after, "before": before},
	} {
		want := alone.everyRead(t, who, alone.territories[0])
		asked += len(want)
		good := 0
		for _, a := range want {
			if strings.HasPrefix(a.Answer, "200") {
				good++
			}
		}
		if least := map[string]int{"nobody": 0, "capability": 10}[who]; good < least || who != "nobody" && who != "capability" && good < 40 {
			t.Errorf("%s: only %d of %d were answered", who, good, len(want))
		}
		for name, m := range others {
			at := slices.IndexFunc(m.territories, func(x territory) bool { return x.workspace == "T1" && x.channel == "C1" })
			got := m.everyRead(t, who, m.territories[at])
			if len(got) != len(want) {
				t.Errorf("%s: %d answers, %d where there is more %s", who, len(want), len(got), name)
				continue
			}
			for i := range want {
				if diff := cmp.Diff(want[i], got[i]); diff != "" {
					t.Errorf("%s: what is stored %s shows:\n%s", who, name, diff)
				}
			}
		}
	}
	t.Logf("%d questions, each in three worlds", asked)
}
