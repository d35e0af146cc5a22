package index

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/eval/chats"
	"github.com/earshot-ai/earshot/internal/eval/chats/chatstest"
)

// A question has one answer among the messages before it.
type question struct {
	conversation string
	text         string
	at           earshot.Time
	gold         map[earshot.MessageID]bool
}

// load reads messages into an index for each conversation.
func load(t testing.TB, name string) (map[string]*Index, []chats.Message) {
	t.Helper()
	all, err := chats.Messages(filepath.Join(chatstest.Folder(t), name+".messages.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	channels := map[string]*Index{}
	for _, m := range all {
		x := channels[m.Conversation]
		if x == nil {
			x = New()
			channels[m.Conversation] = x
		}
		x.Add(earshot.Terms{
			ID: m.ID, Seq: x.Seq() + 1, Time: m.Time, Author: earshot.AuthorID(m.Author),
			Thread: m.Thread, Terms: Terms(m.Text),
		})
	}
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
		hits := channels[q.conversation].search(Query{Text: q.text, At: q.at, Before: earshot.Position{Time: q.at - 1}, Limit: 8}, w, &Scratch{})
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

// xref reads the questions that come with an archive.
func xref(t testing.TB, name string) (map[string]*Index, []question) {
	t.Helper()
	channels, _ := load(t, name)
	list, err := chats.Queries(filepath.Join(chatstest.Folder(t), name+".queries.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	var questions []question
	for _, l := range list {
		q := question{l.Conversation, l.Text, l.At, map[earshot.MessageID]bool{}}
		for _, id := range l.Gold {
			q.gold[id] = true
		}
		questions = append(questions, q)
	}
	return channels, questions
}

// replies makes questions of explicit replies with at least four terms: the
// reply's text asks for its parent.
func replies(t testing.TB, name string) (map[string]*Index, []question) {
	t.Helper()
	channels, all := load(t, name)
	type place struct {
		conversation string
		id           earshot.MessageID
	}
	parents, byID := map[place]earshot.MessageID{}, map[place]chats.Message{}
	for _, m := range all {
		at := place{m.Conversation, m.ID}
		byID[at] = m
		if m.ReplyTo != "" {
			parents[at] = m.ReplyTo
		}
	}
	if strings.HasPrefix(name, "irc") {
		links, err := chats.Links(filepath.Join(chatstest.Folder(t), name+".links.jsonl.gz"))
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range links {
			if l.ID != l.Parent {
				parents[place{l.Conversation, l.ID}] = l.Parent
			}
		}
	}
	var questions []question
	for i, m := range all {
		if name == "meshcore-discord" && i%3 != 0 {
			continue // 2,400 questions of it are enough
		}
		parent, ok := byID[place{m.Conversation, parents[place{m.Conversation, m.ID}]}]
		if !ok || len(Terms(m.Text)) < 4 || parent.Time >= m.Time {
			continue
		}
		questions = append(questions, question{m.Conversation, m.Text, m.Time, map[earshot.MessageID]bool{parent.ID: true}})
	}
	return channels, questions
}

// bm25 is words alone.
var bm25 = weights{k1: standard.k1, b: standard.b, weak: 1, kana: 1, mixed: 1, pair: 1. / 3, full: 6, none: 12, named: 1, span: 1, number: 1, age: 1}

// justBefore admits what was said before a moment, and not at it.
func justBefore(at earshot.Time) earshot.Position { return earshot.Position{Time: at - 1} }

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
		{"Discord, links to older messages", xref, "meshcore-discord", 20, 0.31, 0.12},
		{"Discord, replies", replies, "meshcore-discord", 2200, 0.30, 0.17},
		{"IRC, replies", replies, "irc-dev", 1500, 0.28, 0.16},
		{"IRC of other channels, replies", replies, "irc-new-dev", 800, 0.27, 0.16},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			channels, questions := c.questions(t, c.data)
			plain, got := measure(channels, questions, bm25), measure(channels, questions, standard)
			t.Logf("%d questions; plain BM25: recall@8 %.3f, MRR %.3f; with signals: recall@8 %.3f, MRR %.3f",
				got.questions, plain.recall8, plain.mrr, got.recall8, got.mrr)
			if got.questions < c.atLeast {
				t.Fatalf("only %d questions", got.questions)
			}
			if got.recall8 < c.recall8 || got.mrr < c.mrr {
				t.Errorf("recall@8 %.3f, MRR %.3f; want at least %.3f, %.3f", got.recall8, got.mrr, c.recall8, c.mrr)
			}
			if got.recall8 < plain.recall8 {
				t.Errorf("the signals make it worse: recall@8 %.3f, plain %.3f", got.recall8, plain.recall8)
			}
		})
	}
}
