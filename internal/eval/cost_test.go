package eval_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/eval"
	"github.com/earshot-ai/earshot/internal/eval/chats"
	"github.com/earshot-ai/earshot/tokens"
)

// costTalk is invented talk of three people, one message a minute.
func costTalk(conversation string, n int) []chats.Message {
	var out []chats.Message
	for i := range n {
		out = append(out, chats.Message{
			Conversation: conversation, ID: earshot.MessageID(fmt.Sprintf("%s.%03d", conversation, i)), Time: earshot.Time(1_700_000_000_000_000 + 60_000_000*i),
			Author: []string{"anna", "ben", "cleo"}[i%3],
			Text:   fmt.Sprintf("the kiln of batch %d stands at %d degrees, and the glaze of the second shelf has run again", i, 900+7*i%110),
		})
	}
	return out
}

func costCounter(t *testing.T) assemble.Counter {
	t.Helper()
	c, err := tokens.For("o200k")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func cost(t *testing.T, messages []chats.Message, o eval.CostOptions) eval.CostReport {
	t.Helper()
	o.Counter, o.Folder = costCounter(t), t.TempDir()
	r, err := eval.Cost(t.Context(), chats.Conversations(messages), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The full history's prompt is every line so far, in tokens, and all of it but
// what is new was in the prompt before; ours begins with the one before until an
// epoch begins.
func TestCostCountsWhatIsSent(t *testing.T) {
	t.Parallel()
	budget := assemble.Budget{Tokens: 600, Session: 1200, Limit: 100_000}
	r := cost(t, costTalk("pottery", 60), eval.CostOptions{Turns: 20, Every: 3, Talks: 1, Budget: budget})
	if r.Turns != 20 || len(r.Talks) != 1 || r.Talks[0].Every != 3 || r.Talks[0].Messages != 60 {
		t.Fatalf("got %d turns of %d talks, every %d of %d messages", r.Turns, len(r.Talks), r.Talks[0].Every, r.Talks[0].Messages)
	}
	turns := r.Talks[0].Turns
	c := costCounter(t)
	lines := 0
	for i, m := range costTalk("pottery", 3) {
		if i == 2 {
			m.Text = "<@U0EARSHOT> " + m.Text
		}
		lines += c.Count(m.Author + ": " + m.Text + "\n")
	}
	if got := turns[0].Full; got.Prompt != lines || got.Cached != 0 {
		t.Errorf("the first full history is %d tokens, %d of them cached, want %d and 0", got.Prompt, got.Cached, lines)
	}
	for i, turn := range turns[1:] {
		if turn.Full.Cached != turns[i].Full.Prompt {
			t.Errorf("turn %d: %d tokens of the full history are cached, want the prompt before, %d", turn.Number, turn.Full.Cached, turns[i].Full.Prompt)
		}
		if began := slices.Contains(r.Talks[0].Epochs, turn.Number); began == (turn.Ours.Cached == turns[i].Ours.Prompt) {
			t.Errorf("turn %d: an epoch begins: %t; %d of our tokens are cached, the prompt before had %d", turn.Number, began, turn.Ours.Cached, turns[i].Ours.Prompt)
		}
		if turn.Ours.Stored < turns[i].Ours.Stored || turn.Full.Stored <= turns[i].Full.Stored {
			t.Errorf("turn %d: what is stored shrinks", turn.Number)
		}
	}
	if len(r.Talks[0].Epochs) == 0 {
		t.Error("no epoch began, want one when the session is full")
	}
	last := r.Rows[len(r.Rows)-1]
	sum := 0
	for _, turn := range turns {
		sum += turn.Ours.Prompt
	}
	if last.Turn != 20 || last.Ours.Sum != sum || last.Epochs != len(r.Talks[0].Epochs) {
		t.Errorf("the last row is %+v, want turn 20, a sum of %d and %d epochs", last, sum, len(r.Talks[0].Epochs))
	}
}

func TestCostIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	talk := costTalk("pottery", 24)
	o := eval.CostOptions{Turns: 8, Talks: 1}
	if diff := cmp.Diff(cost(t, talk, o), cost(t, talk, o)); diff != "" {
		t.Errorf("two runs differ:\n%s", diff)
	}
}

// The history is cut at its beginning where the model reads no more, and nothing
// of it is at the beginning of the prompt before.
func TestCostCutsTheFullHistoryAtTheLimit(t *testing.T) {
	t.Parallel()
	r := cost(t, costTalk("pottery", 40), eval.CostOptions{Turns: 20, Every: 2, Talks: 1, Budget: assemble.Budget{Tokens: 300, Session: 600, Limit: 1500}})
	last := r.Talks[0].Turns[19]
	if last.Full.Prompt > 1500 || last.Full.Prompt < 1300 || last.Full.Cached > 5 {
		t.Errorf("got a full history of %d tokens, %d cached, want up to 1,500 and next to none", last.Full.Prompt, last.Full.Cached)
	}
}

func TestCostTakesTheLongestTalks(t *testing.T) {
	t.Parallel()
	messages := slices.Concat(costTalk("short", 9), costTalk("long", 14), costTalk("middle", 12))
	messages[0].Bot = true
	// A thread with enough turns is a talk by itself; what stands beside it is none.
	for i, m := range costTalk("forum", 22) {
		if i > 2 && i < 20 {
			m.Thread = "forum.002"
		}
		messages = append(messages, m)
	}
	r := cost(t, messages, eval.CostOptions{Turns: 9, Talks: 9})
	var got []string
	for _, x := range r.Talks {
		got = append(got, fmt.Sprintf("%s %s %d", x.Conversation, x.Thread, x.Every))
	}
	want := []string{"forum forum.002 2", "long  1", "middle  1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("talks (-want +got):\n%s", diff)
	}
	if r := cost(t, costTalk("short", 4), eval.CostOptions{}); r.Turns != 4 {
		t.Errorf("got %d turns of a talk of 4 messages, want 4", r.Turns)
	}
	if _, err := eval.Cost(t.Context(), chats.Conversations(messages[:1]), eval.CostOptions{Counter: costCounter(t)}); err == nil {
		t.Error("a talk without a person's message is replayed")
	}
}

// The picture is well-formed, runs nothing and asks nobody, has colours for dark
// pages, and says the figures in words.
func TestCostChart(t *testing.T) {
	t.Parallel()
	r := cost(t, costTalk("pottery", 30), eval.CostOptions{Turns: 10, Talks: 1, Budget: assemble.Budget{Tokens: 300, Session: 600, Limit: 100_000}})
	chart := eval.CostChart(r)
	count := map[string]int{}
	texts := map[string]bool{}
	for d := xml.NewDecoder(bytes.NewReader(chart)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			count[x.Name.Local]++
			for _, a := range x.Attr {
				if a.Name.Local == "class" && a.Name.Space == "" {
					count[a.Value]++
				}
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" {
					t.Errorf("a %s has the attribute %s", x.Name.Local, a.Name.Local)
				}
			}
		case xml.CharData:
			texts[string(x)] = true
		}
	}
	if count["script"]+count["image"]+count["foreignObject"] != 0 || strings.Contains(string(chart), "url(") {
		t.Error("the chart runs or loads something")
	}
	// Four panels with a mean of each side.
	if count["curve l-s1"] != 4 || count["curve l-s2"] != 4 || count["mark"] != len(r.Talks[0].Epochs) {
		t.Errorf("got %d and %d mean lines and %d marks of epochs", count["curve l-s1"], count["curve l-s2"], count["mark"])
	}
	last := r.Rows[len(r.Rows)-1]
	share := fmt.Sprintf("full history, %.1f %% cacheable", 100*float64(last.Full.Sum-last.Full.New)/float64(last.Full.Sum))
	for _, want := range []string{"Prompt of each turn, tokens", "Stored, bytes", share, "turn"} {
		if !texts[want] {
			t.Errorf("the chart does not say %q", want)
		}
	}
	if !strings.Contains(string(chart), "@media (prefers-color-scheme:dark)") {
		t.Error("the chart has no colours for dark pages")
	}
}
