package index

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/earshot-ai/earshot/internal/eval/chats"
	"github.com/earshot-ai/earshot/internal/eval/chats/chatstest"
)

var (
	tune   = flag.Bool("tune", false, "try other values of each weight, which takes minutes")
	ablate = flag.Bool("ablate", false, "measure what each part of the ranking brings, not only all of them")
)

// asked are the questions of one file, with the indexes of their conversations.
type asked struct {
	tasks   []chats.Task
	indexes []*Index
}

// ask loads the questions of a file of the shared data.
func ask(t testing.TB, file string) asked {
	t.Helper()
	dir := chatstest.Folder(t)
	sources, err := chats.OpenSources(dir)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, file)
	queries, err := chats.Queries(path)
	if err != nil {
		t.Fatal(err)
	}
	if name, ok := strings.CutSuffix(file, ".queries.jsonl.gz"); ok {
		for i := range queries {
			queries[i].Source = name
		}
	}
	tasks, left, err := sources.Tasks(path, queries, func(string) {})
	if err != nil || len(left) > 0 {
		t.Fatalf("%d queries cannot be asked: %v", len(left), err)
	}
	a := asked{tasks: tasks}
	for _, task := range tasks {
		x := New()
		for i, m := range task.Conversation.Messages {
			x.Add(m.Terms(int64(i+1), Terms(m.Text)))
		}
		a.indexes = append(a.indexes, x)
	}
	return a
}

// A share is how much of the evidence is among the first hits, in percent of
// it, averaged over the questions; soft counts a hit less the further down it
// stands, half at the tenth place.
type share struct{ at10, any10, at50, soft float64 }

func (a asked) measure(w weights) share {
	var s share
	n := 0.0
	for i, task := range a.tasks {
		for _, q := range task.Queries {
			hits := a.indexes[i].search(Query{Text: q.Text, At: q.At, Before: justBefore(q.At), Limit: 50}, w, &Scratch{})
			place := map[string]int{}
			for k, h := range hits {
				place[string(h.ID)] = k + 1
			}
			n++
			found := false
			for _, g := range q.Gold {
				k := place[string(g)]
				if k == 0 {
					continue
				}
				one := 100 / float64(len(q.Gold))
				s.at50 += one
				s.soft += one / (1 + float64((k-1)*(k-1))/100)
				if k <= 10 {
					s.at10 += one
					found = true
				}
			}
			if found {
				s.any10 += 100
			}
		}
	}
	return share{s.at10 / n, s.any10 / n, s.at50 / n, s.soft / n}
}

// parts of the ranking that can be taken away.
var ablations = []struct {
	name   string
	change func(*weights)
}{
	{"all of it", func(*weights) {}},
	{"without neighbours' words", func(w *weights) { w.borrow, w.replied = 0, 0 }},
	{"without replies' words", func(w *weights) { w.replied = 0 }},
	{"long neighbours lend as much", func(w *weights) { w.lendB = 0 }},
	{"short messages borrow as much", func(w *weights) { w.body = 0 }},
	{"long questions borrow too", func(w *weights) { w.full, w.none = 1e6, 2e6 }},
	{"without the group bonus", func(w *weights) { w.group = 0 }},
	{"without authors' names", func(w *weights) { w.name, w.named = 0, 1 }},
	{"without times", func(w *weights) { w.span = 1 }},
	{"without synonyms", func(w *weights) { w.synonyms = 0 }},
	{"weak words count in full", func(w *weights) { w.weak, w.kana, w.mixed = 1, 1, 1 }},
	{"without the hint of numbers", func(w *weights) { w.number = 1 }},
	{"without recency", func(w *weights) { w.recency = 0 }},
	{"without phrases, exact words, activity", func(w *weights) { w.phrase, w.quoted, w.exact, w.activity = 0, 0, 0, 0 }},
	{"k1 1.2, b 0.75", func(w *weights) { w.k1, w.b = 1.2, 0.75 }},
	{"BM25 alone, with stop words out", func(w *weights) {
		*w = weights{k1: w.k1, b: w.b, weak: 1, kana: 1, mixed: 1, pair: w.pair, full: w.full, none: w.none, named: 1, span: 1, number: 1, age: 1}
	}},
}

// TestAblation holds what the ranking finds on the questions. With -ablate it says
// what each part of it brings, on them and on messages that link to older ones.
func TestAblation(t *testing.T) {
	t.Parallel()
	questions := ask(t, "questions.jsonl")
	japanese, discord := ask(t, "haskelljp-slack.queries.jsonl.gz"), ask(t, "meshcore-discord.queries.jsonl.gz")
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\nquestions\tR@10\thit@10\tR@50\tlinks back, Slack: R@10\tDiscord: R@10\t")
	var all share
	list := ablations
	if !*ablate {
		list = list[:1]
	}
	for i, a := range list {
		changed := standard
		a.change(&changed)
		q := questions.measure(changed)
		if i == 0 {
			all = q
		}
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t\n", a.name, q.at10, q.any10, q.at50, japanese.measure(changed).at10, discord.measure(changed).at10)
	}
	w.Flush()
	t.Log(out.String())
	if all.at10 < 70 || all.any10 < 80 {
		t.Errorf("R@10 is %.1f and hit@10 %.1f, want 70 and 80 at least", all.at10, all.any10)
	}
}

// TestTune prints what other values of each weight would bring. What is better
// by less than a point is noise: 120 questions say no more.
//
//	go test ./search -run TestTune -tune -v
func TestTune(t *testing.T) {
	if !*tune {
		t.Skip("needs -tune")
	}
	questions, japanese := ask(t, "questions.jsonl"), ask(t, "haskelljp-slack.queries.jsonl.gz")
	for _, c := range []struct {
		name   string
		at     func(*weights) *float64
		values []float64
	}{
		{"k1", func(w *weights) *float64 { return &w.k1 }, []float64{0.6, 0.7, 0.8, 0.9, 1, 1.2}},
		{"b", func(w *weights) *float64 { return &w.b }, []float64{0, 0.1, 0.15, 0.2, 0.3}},
		{"weak", func(w *weights) *float64 { return &w.weak }, []float64{0.3, 0.4, 0.5, 0.6, 0.8}},
		{"kana", func(w *weights) *float64 { return &w.kana }, []float64{0.3, 0.45, 0.6, 0.8}},
		{"synonyms", func(w *weights) *float64 { return &w.synonyms }, []float64{0.2, 0.25, 0.3, 0.35}},
		{"borrow", func(w *weights) *float64 { return &w.borrow }, []float64{0.1, 0.2, 0.25, 0.3, 0.4, 0.5}},
		{"lendB", func(w *weights) *float64 { return &w.lendB }, []float64{0.3, 0.5, 0.7, 0.9}},
		{"replied", func(w *weights) *float64 { return &w.replied }, []float64{0.2, 0.3, 0.4, 0.5}},
		{"full", func(w *weights) *float64 { return &w.full }, []float64{3, 4, 6, 8}},
		{"none", func(w *weights) *float64 { return &w.none }, []float64{10, 12, 14, 18, 24}},
		{"pair", func(w *weights) *float64 { return &w.pair }, []float64{0.2, 1. / 3, 0.5}},
		{"body", func(w *weights) *float64 { return &w.body }, []float64{0, 0.5, 1, 2, 3}},
		{"group", func(w *weights) *float64 { return &w.group }, []float64{0.1, 0.15, 0.2, 0.25, 0.3}},
		{"name", func(w *weights) *float64 { return &w.name }, []float64{0.4, 0.6, 0.8, 1}},
		{"named", func(w *weights) *float64 { return &w.named }, []float64{1.25, 1.5, 1.75, 2}},
		{"span", func(w *weights) *float64 { return &w.span }, []float64{1.25, 1.5, 2, 3}},
		{"number", func(w *weights) *float64 { return &w.number }, []float64{1.05, 1.1, 1.15, 1.2}},
		{"recency", func(w *weights) *float64 { return &w.recency }, []float64{0.5, 1, 1.5, 2}},
		{"age", func(w *weights) *float64 { return &w.age }, []float64{500, 1000, 2000, 3000, 5000}},
	} {
		line := fmt.Sprintf("%s %.2g:", c.name, *c.at(&standard))
		for _, v := range c.values {
			w := standard
			*c.at(&w) = v
			q, j := questions.measure(w), japanese.measure(w)
			line += fmt.Sprintf("  %.2g: %.1f (soft %.1f, Japanese %.1f)", v, q.at10, q.soft, j.soft)
		}
		t.Log(line)
	}
}
