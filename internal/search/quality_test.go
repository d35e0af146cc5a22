package search

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
)

// A saying is a message of the shared data.
type saying struct {
	Conversation string      `json:"conversation"`
	ID           string      `json:"id"`
	TS           json.Number `json:"ts"`
	Author       string      `json:"author"`
	Text         string      `json:"text"`
	ThreadID     string      `json:"thread_id"`
	ReplyTo      string      `json:"reply_to"`
}

func (s saying) time(t testing.TB) earshot.Time { return timeOf(t, s.TS) }

func timeOf(t testing.TB, ts json.Number) earshot.Time {
	t.Helper()
	s := ts.String()
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	whole, frac, _ := strings.Cut(s, ".")
	v, err := earshot.ParseTime(whole + "." + frac[:min(6, len(frac))])
	if err != nil {
		t.Fatalf("time %q: %v", ts, err)
	}
	return v
}

// A question has one answer among the messages before it.
type question struct {
	conversation string
	text         string
	at           earshot.Time
	gold         map[earshot.MessageID]bool
}

// sharedData returns the folder of the real data, or skips the test. In CI it
// must be there.
func sharedData(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("EARSHOT_TEST_DATA")
	if dir == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("EARSHOT_TEST_DATA is not set")
		}
		t.Skip("SKIPPED: EARSHOT_TEST_DATA names no folder with the shared data")
	}
	return dir
}

// readLines calls line with each line of a gzipped file.
func readLines[T any](t testing.TB, name string, line func(T)) {
	t.Helper()
	f, err := os.Open(filepath.Join(sharedData(t), name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(z)
	in.Buffer(nil, 4<<20)
	for in.Scan() {
		var v T
		if err := json.Unmarshal(in.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		line(v)
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
}

// load reads messages into an index for each conversation.
func load(t testing.TB, name string) (map[string]*Index, []saying) {
	t.Helper()
	channels := map[string]*Index{}
	var all []saying
	readLines(t, name+".messages.jsonl.gz", func(s saying) {
		x := channels[s.Conversation]
		if x == nil {
			x = NewIndex()
			channels[s.Conversation] = x
		}
		x.Add(earshot.Terms{
			ID: earshot.MessageID(s.ID), Seq: x.Seq() + 1, Time: s.time(t), Author: earshot.AuthorID(s.Author),
			Thread: earshot.MessageID(s.ThreadID), Terms: Terms(s.Text),
		})
		all = append(all, s)
	})
	return channels, all
}

// A figure is how well a set of questions was answered.
type figure struct {
	questions int
	recall8   float64
	mrr       float64
}

func measure(channels map[string]*Index, questions []question, w weights) figure {
	var f figure
	for _, q := range questions {
		hits := channels[q.conversation].search(Query{Text: q.text, At: q.at, Before: earshot.Position{Time: q.at - 1}, Limit: 8}, w)
		f.questions++
		for i, h := range hits {
			if q.gold[h.ID] {
				f.recall8++
				f.mrr += 1 / float64(i+1)
				break
			}
		}
	}
	f.recall8 /= float64(f.questions)
	f.mrr /= float64(f.questions)
	return f
}

func xref(t testing.TB, name string) (map[string]*Index, []question) {
	t.Helper()
	channels, _ := load(t, name)
	var questions []question
	type line struct {
		Conversation string      `json:"conversation"`
		Query        string      `json:"query"`
		At           json.Number `json:"at_ts"`
		Gold         []string    `json:"gold_ids"`
	}
	readLines(t, name+".queries.jsonl.gz", func(l line) {
		q := question{l.Conversation, l.Query, timeOf(t, l.At), map[earshot.MessageID]bool{}}
		for _, id := range l.Gold {
			q.gold[earshot.MessageID(id)] = true
		}
		questions = append(questions, q)
	})
	return channels, questions
}

// replies makes questions of explicit replies with at least four terms: the
// reply's text asks for its parent.
func replies(t testing.TB, name string) (map[string]*Index, []question) {
	t.Helper()
	channels, all := load(t, name)
	parents := map[string]string{}
	byID := map[string]saying{}
	for _, s := range all {
		byID[s.Conversation+" "+s.ID] = s
		if s.ReplyTo != "" {
			parents[s.Conversation+" "+s.ID] = s.ReplyTo
		}
	}
	if strings.HasPrefix(name, "irc") {
		type link struct {
			Conversation string `json:"conversation"`
			ID, Parent   int
		}
		readLines(t, name+".links.jsonl.gz", func(l link) {
			if l.ID != l.Parent {
				parents[fmt.Sprint(l.Conversation, " ", max(l.ID, l.Parent))] = fmt.Sprint(min(l.ID, l.Parent))
			}
		})
	}
	var questions []question
	for i, s := range all {
		if name == "meshcore-discord" && i%3 != 0 {
			continue // 2,400 questions of it are enough
		}
		parent, ok := byID[s.Conversation+" "+parents[s.Conversation+" "+s.ID]]
		if !ok || len(Terms(s.Text)) < 4 || parent.time(t) >= s.time(t) {
			continue
		}
		questions = append(questions, question{s.Conversation, s.Text, s.time(t), map[earshot.MessageID]bool{earshot.MessageID(parent.ID): true}})
	}
	return channels, questions
}

// TestQuality measures on the shared data how well messages are found: by the
// text of a message that links to them (xref), and by the text of a reply to
// them. The floors are what is reached, less a little.
func TestQuality(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		questions func(testing.TB, string) (map[string]*Index, []question)
		data      string
		atLeast   int
		recall8   float64
		mrr       float64
	}{
		{"Japanese, links to older messages", xref, "haskelljp-slack", 30, 0.40, 0.24},
		{"Discord, links to older messages", xref, "meshcore-discord", 20, 0.27, 0.12},
		{"Discord, replies", replies, "meshcore-discord", 2200, 0.36, 0.23},
		{"IRC, replies", replies, "irc-dev", 1500, 0.30, 0.18},
		{"IRC of other channels, replies", replies, "irc-new-dev", 800, 0.28, 0.18},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			channels, questions := c.questions(t, c.data)
			plain, got := measure(channels, questions, weights{}), measure(channels, questions, standard)
			t.Logf("%d questions; plain BM25: recall@8 %.3f, MRR %.3f; with signals: recall@8 %.3f, MRR %.3f",
				got.questions, plain.recall8, plain.mrr, got.recall8, got.mrr)
			if got.questions < c.atLeast {
				t.Fatalf("only %d questions", got.questions)
			}
			if got.recall8 < c.recall8 || got.mrr < c.mrr {
				t.Errorf("recall@8 %.3f, MRR %.3f; want at least %.3f, %.3f", got.recall8, got.mrr, c.recall8, c.mrr)
			}
			if got.mrr < plain.mrr {
				t.Errorf("the signals make it worse: MRR %.3f, plain %.3f", got.mrr, plain.mrr)
			}
		})
	}
}
