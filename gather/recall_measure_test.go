package gather_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/internal/eval/chats"
	"github.com/earshot-ai/earshot/internal/eval/chats/chatstest"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/search/index"
)

// An asking is a question that a stranger puts into a conversation of real
// chat.
type asking struct {
	source, conversation string
	text                 string
	at                   earshot.Time // the moment before which it is asked
	gold                 []earshot.MessageID
}

// A figure is what recall did for one asking.
type figure struct {
	added         int     // tokens, by recall
	before, after float64 // share of the gold messages in the prompt, without recall and with it
}

// A bench holds real chats, one store for each file.
type bench struct {
	folder string
	stores map[string]earshot.Store
	find   map[string]*search.Searcher
	all    map[string][]chats.Conversation
}

func (b *bench) load(t *testing.T, source string) {
	t.Helper()
	if b.stores[source] != nil {
		return
	}
	list, err := chats.Messages(filepath.Join(b.folder, source+".messages.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	st := open(t, "memory:")
	b.all[source] = chats.Conversations(list)
	for _, c := range b.all[source] {
		var messages []earshot.Message
		for _, m := range c.Messages {
			messages = append(messages, m.Stored())
		}
		record(t, st, scopeOf(c.Name), messages...)
	}
	b.stores[source], b.find[source] = st, search.New(st, nil)
}

func scopeOf(conversation string) earshot.Scope {
	return earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: earshot.ChannelID(conversation)}
}

// ask puts a question into its conversation, which it leaves again.
func (b *bench) ask(t *testing.T, a asking) (figure, assemble.Input, assemble.Result) {
	t.Helper()
	b.load(t, a.source)
	st, scope := b.stores[a.source], scopeOf(a.conversation)
	question := earshot.Message{ID: "asked", Time: a.at - 1, Author: earshot.Author{ID: "U-asks", Name: "newcomer"}, Text: "<@" + string(self.ID) + "> " + a.text}
	over := &asked{Store: st, question: question}
	req := gather.Request{
		Channel: earshot.Channel{Platform: scope.Platform, Workspace: scope.Workspace, ID: scope.Channel, Name: a.conversation},
		Anchor:  question.ID, Identity: self, Policy: assemble.Standard(), Counter: counter(t),
	}
	_, without, err := gather.Turn(t.Context(), over, req)
	if err != nil {
		t.Fatal(err)
	}
	req.Finder = b.find[a.source]
	in, with, err := gather.Turn(t.Context(), over, req)
	if err != nil {
		t.Fatal(err)
	}
	return figure{with.Tokens.Total - without.Tokens.Total, share(without, a.gold), share(with, a.gold)}, in, with
}

// share is how much of gold a prompt shows.
func share(r assemble.Result, gold []earshot.MessageID) float64 {
	n := 0
	for _, row := range r.Ledger {
		if row.Verdict != earshot.Out && slices.Contains(gold, row.ID) {
			n++
		}
	}
	return float64(n) / float64(max(1, len(gold)))
}

// asked is a store with one message more, which nothing but its id finds.
type asked struct {
	earshot.Store
	question earshot.Message
}

func (a *asked) ByID(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error) {
	if slices.Contains(ids, a.question.ID) {
		return []earshot.Message{a.question}, nil
	}
	return a.Store.ByID(ctx, s, ids...)
}

// askings returns the questions of each kind: whose answer lies far back, is in
// the window, is nowhere.
func (b *bench) askings(t *testing.T) (far, here, nowhere []asking) {
	t.Helper()
	questions, err := chats.Queries(filepath.Join(b.folder, "questions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range questions {
		b.load(t, q.Source)
		far = append(far, asking{q.Source, q.Conversation, q.Text, q.At, q.Gold})
		nowhere = append(nowhere, b.elsewhere(q.Source, q.Conversation, q.Text, i))
	}
	const each = 40 // replies of a file
	for _, source := range []string{"meshcore-discord", "haskelljp-slack", "irc-dev", "irc-new-dev"} {
		b.load(t, source)
		replies := b.replies(t, source)
		for i := range min(each, len(replies)) {
			r := replies[i*len(replies)/each]
			here = append(here, r)
			nowhere = append(nowhere, b.elsewhere(source, r.conversation, r.text, i))
		}
	}
	return far, here, nowhere
}

// replies makes questions of what people replied: the reply's text asks for
// what it answers.
func (b *bench) replies(t *testing.T, source string) []asking {
	t.Helper()
	parents := map[string]earshot.MessageID{}
	key := func(conversation string, id earshot.MessageID) string { return conversation + " " + string(id) }
	if strings.HasPrefix(source, "irc") {
		links, err := chats.Links(filepath.Join(b.folder, source+".links.jsonl.gz"))
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range links {
			parents[key(l.Conversation, l.ID)] = l.Parent
		}
	}
	var out []asking
	for _, c := range b.all[source] {
		for _, m := range c.Messages {
			up := cmp.Or(m.ReplyTo, parents[key(c.Name, m.ID)])
			if up != "" && up != m.ID && len(index.Terms(m.Text)) >= 6 {
				out = append(out, asking{source, c.Name, m.Text, m.Time, []earshot.MessageID{up}})
			}
		}
	}
	return out
}

// elsewhere asks a question at the end of another conversation of the same
// file, one of the largest.
func (b *bench) elsewhere(source, conversation, text string, i int) asking {
	all := slices.Clone(b.all[source])
	slices.SortStableFunc(all, func(x, y chats.Conversation) int { return len(y.Messages) - len(x.Messages) })
	all = slices.DeleteFunc(all, func(c chats.Conversation) bool { return c.Name == conversation })
	c := all[i%min(4, len(all))]
	return asking{source, c.Name, text, c.Messages[len(c.Messages)-1].Time + 3600e6, nil}
}

// TestRecallMeasure says what recall does on real chat: how much of the
// evidence of questions about what lies far back it brings into the prompt, and
// what it adds where the answer is in the window, or nowhere.
func TestRecallMeasure(t *testing.T) {
	t.Parallel()
	b := &bench{chatstest.Measures(t), map[string]earshot.Store{}, map[string]*search.Searcher{}, map[string][]chats.Conversation{}}
	far, here, nowhere := b.askings(t)
	var dump strings.Builder
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\nanswer\tquestions\ttokens added, median\tmean\t90 %\tnothing added\tevidence without\twith\t")
	for _, kind := range []struct {
		name string
		list []asking
	}{{"far", far}, {"window", here}, {"nowhere", nowhere}} {
		var added []int
		var before, after float64
		for i, a := range kind.list {
			f, in, res := b.ask(t, a)
			if kind.name == "window" && f.before == 0 {
				continue // it was said further back
			}
			added = append(added, f.added)
			before, after = before+f.before, after+f.after
			shown := map[earshot.MessageID]earshot.LedgerRow{}
			for _, row := range res.Ledger {
				shown[row.ID] = row
			}
			fmt.Fprintf(&dump, "%s\t%d\t%s\t%d\t%d", kind.name, i, a.source, f.added, len(index.Terms(a.text)))
			for _, r := range in.Recalled {
				fmt.Fprintf(&dump, "\t%g,%g,%g,%t,%s", r.Score, r.Cover, r.Parts["words"], slices.Contains(a.gold, r.ID), cmp.Or(shown[r.ID].Section, "out")+"/"+string(shown[r.ID].Verdict))
			}
			dump.WriteByte('\n')
		}
		slices.Sort(added)
		n, sum, none := len(added), 0, 0
		for _, x := range added {
			sum += x
			if x == 0 {
				none++
			}
		}
		switch {
		case kind.name != "far" && added[n/2] > 400:
			t.Errorf("answer %s: recall adds %d tokens (median), want 400 at most", kind.name, added[n/2])
		case kind.name == "far" && after < 0.5*float64(n):
			t.Errorf("%.1f %% of the evidence is in the prompt, want 50 at least", 100*after/float64(n))
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%.1f %%\t%.1f %%\t\n", kind.name, n, added[n/2], sum/n, added[n*9/10], none, 100*before/float64(n), 100*after/float64(n))
	}
	w.Flush()
	t.Log(out.String())
	// For tuning: a line a question, with each hit's score, cover, score in words,
	// whether it is evidence, and what became of it.
	if path := os.Getenv("EARSHOT_RECALL_DUMP"); path != "" {
		if err := os.WriteFile(path, []byte(dump.String()), 0o600); err != nil {
			t.Error(err)
		}
	}
}
