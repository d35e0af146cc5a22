package eval_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/eval"
	"github.com/earshot-ai/earshot/internal/eval/chats"
	"github.com/earshot-ai/earshot/internal/eval/chats/chatstest"
)

func guesses(pairs ...string) []eval.GuessedLink {
	var out []eval.GuessedLink
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, eval.GuessedLink{Conversation: "a", ID: earshot.MessageID(pairs[i]), Parent: earshot.MessageID(pairs[i+1])})
	}
	return out
}

func gold(pairs ...string) []chats.Link {
	var out []chats.Link
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, chats.Link{Conversation: "a", ID: earshot.MessageID(pairs[i]), Parent: earshot.MessageID(pairs[i+1])})
	}
	return out
}

func TestLinksAreMeasuredOverAnnotatedMessages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		got          []eval.GuessedLink
		gold         []chats.Link
		links, exact [3]int // gold, guessed, right
		information  float64
	}{
		{
			name: "all is right", got: guesses("1", "1", "2", "1", "3", "3"), gold: gold("1", "1", "2", "1", "3", "3"),
			links: [3]int{3, 3, 3}, exact: [3]int{1, 1, 1}, information: 1,
		},
		{
			name: "a message that is not annotated counts nowhere", got: guesses("1", "1", "2", "1", "3", "2"), gold: gold("1", "1", "2", "1"),
			links: [3]int{2, 2, 2}, exact: [3]int{1, 1, 1}, information: 1,
		},
		{
			name: "one of two parents is half of the recall, and the conversation is whole",
			got:  guesses("1", "1", "2", "1", "3", "2"), gold: gold("1", "1", "2", "1", "3", "1", "3", "2"),
			links: [3]int{4, 3, 3}, exact: [3]int{1, 1, 1}, information: 1,
		},
		{
			name: "an annotation that points forward is the later message's", got: guesses("1", "1", "2", "1"), gold: gold("1", "2"),
			links: [3]int{1, 1, 1}, exact: [3]int{0, 0, 0}, information: 1,
		},
		{
			name: "two conversations taken for one", got: guesses("1", "1", "2", "1", "3", "2", "4", "3"), gold: gold("1", "1", "2", "1", "3", "3", "4", "3"),
			links: [3]int{4, 4, 3}, exact: [3]int{2, 1, 0}, information: 0.5,
		},
		{
			name: "two answers to what is not annotated are one conversation", got: guesses("1", "1", "2", "1", "3", "1"), gold: gold("2", "1", "3", "1"),
			links: [3]int{2, 2, 2}, exact: [3]int{1, 1, 1}, information: 1,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := eval.MeasureLinks(c.got, c.gold)
			if got := [3]int{m.Links.Gold, m.Links.Guessed, m.Links.Right}; got != c.links {
				t.Errorf("links: got %v, want %v", got, c.links)
			}
			if got := [3]int{m.Exact.Gold, m.Exact.Guessed, m.Exact.Right}; got != c.exact {
				t.Errorf("conversations: got %v, want %v", got, c.exact)
			}
			if math.Abs(m.Information-c.information) > 1e-9 {
				t.Errorf("information: got %v, want %v", m.Information, c.information)
			}
		})
	}
}

func TestRepliesAreMeasuredWhereTheirParentIsKnown(t *testing.T) {
	t.Parallel()
	list := []chats.Message{
		{Conversation: "a", ID: "1"}, {Conversation: "a", ID: "2", ReplyTo: "1"}, {Conversation: "a", ID: "3", ReplyTo: "1"},
		{Conversation: "a", ID: "4", ReplyTo: "gone"}, {Conversation: "a", ID: "5", ReplyTo: "6"}, {Conversation: "a", ID: "6"},
		{Conversation: "a", ID: "7", ReplyTo: "1"},
	}
	var got []eval.GuessedLink
	for i, ranked := range [][]earshot.MessageID{nil, {"1"}, {"2", "1"}, {"3"}, {"4"}, {"5"}, {"6", "5", "4"}} {
		got = append(got, eval.GuessedLink{Conversation: "a", ID: list[i].ID, Ranked: ranked})
	}
	want := eval.ReplyMeasures{Replies: 3, At1: 1.0 / 3, At3: 2.0 / 3}
	if m := eval.MeasureReplies(got, list); m != want {
		t.Errorf("got %+v, want %+v", m, want)
	}
}

// marked is data in which all messages stand in a thread, and every other one
// is a reply to the first.
func marked(list []chats.Message) []chats.Message {
	out := slices.Clone(list)
	for i := range out {
		out[i].Thread = "t"
		if i%2 == 0 {
			out[i].ReplyTo = out[0].ID
		}
	}
	return out
}

func TestReferencesAreHiddenFromTheGuess(t *testing.T) {
	t.Parallel()
	list, err := chats.Messages(filepath.Join(chatstest.Folder(t), "irc-new-dev.messages.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	list = list[:1200]
	got, want := eval.GuessLinks(marked(list)), eval.GuessLinks(list)
	for i := range want {
		if g, w := got[i], want[i]; !slices.Equal(g.Ranked, w.Ranked) || i%2 == 1 && g.Parent != w.Parent {
			t.Fatalf("the guess saw a reference: got %+v, want %+v", g, w)
		}
		if g := got[i]; i%2 == 0 && len(g.Ranked) > 0 && g.Parent != g.Ranked[0] {
			t.Fatalf("what is marked as a reply starts a conversation: %+v", g)
		}
	}
}

// TestTheMeasuresOfLinksHold keeps what was reached, by a little: see
// docs/decisions/082-links.md.
func TestTheMeasuresOfLinksHold(t *testing.T) {
	t.Parallel()
	dir := chatstest.Folder(t)
	for name, floor := range map[string][2]float64{"irc-dev": {0.705, 0.335}, "irc-new-dev": {0.675, 0.29}} {
		messages, err := chats.Messages(filepath.Join(dir, name+".messages.jsonl.gz"))
		if err != nil {
			t.Fatal(err)
		}
		annotated, err := chats.Links(filepath.Join(dir, name+".links.jsonl.gz"))
		if err != nil {
			t.Fatal(err)
		}
		m := eval.MeasureLinks(eval.GuessLinks(messages), annotated)
		t.Logf("%s: %+v", name, m)
		if m.Links.F < floor[0] || m.Exact.F < floor[1] {
			t.Errorf("%s: link F %.3f, exact conversations %.3f, want at least %v", name, m.Links.F, m.Exact.F, floor)
		}
	}
	messages, err := chats.Messages(filepath.Join(dir, "meshcore-discord.messages.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	m := eval.MeasureReplies(eval.GuessLinks(messages), messages)
	t.Logf("meshcore-discord: %+v", m)
	if m.At1 < 0.625 || m.At3 < 0.835 || m.Replies < 7000 {
		t.Errorf("got %+v", m)
	}
}

func TestKnownReferencesAreFollowedAndTheOthersMeasured(t *testing.T) {
	t.Parallel()
	say := func(n int, author, text string, replyTo earshot.MessageID) chats.Message {
		return chats.Message{Conversation: "a", ID: earshot.MessageID(fmt.Sprint(n)), Time: earshot.Time(1_772_442_000_000_000 + int64(n)*60_000_000), Author: author, Text: text, ReplyTo: replyTo}
	}
	list := []chats.Message{
		say(1, "alice", "how do I make the importer read semicolons?", ""),
		say(2, "bob", "my printer prints nothing since the upgrade, any idea?", ""),
		say(3, "carol", "alice: pass --delimiter, it is in the manual", "1"),
		say(4, "dave", "bob: does the queue show the job?", "2"),
		say(5, "alice", "carol: thanks, that works", "3"),
		say(6, "bob", "dave: yes, it says paused", "4"),
		say(7, "erin", "lunch?", "gone"),
	}
	none, all := eval.MeasureMixed(list, 0), eval.MeasureMixed(list, 100)
	if none.Known != 0 || none.Hidden.Replies != 4 || none.Guessed != 4 || none.Right != 4 || none.Plain != 3 || none.Alone.Exact.Right != 0 || none.Both.Exact.F != 1 {
		t.Errorf("nothing known: %+v", none)
	}
	if all.Known != 4 || all.Hidden.Replies != 0 || all.Guessed != 0 || all.Plain != 3 || all.Alone.Exact.F != 1 || all.Both.Exact.F != 1 {
		t.Errorf("all known: %+v", all)
	}
}

// TestGuessesBesideReferencesHold keeps what decision 152 has, by a little.
func TestGuessesBesideReferencesHold(t *testing.T) {
	t.Parallel()
	messages, err := chats.Messages(filepath.Join(chatstest.Folder(t), "meshcore-discord.messages.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	m := eval.MeasureMixed(messages, 50)
	t.Logf("%+v", m)
	if m.Hidden.At1 < 0.65 || float64(m.Right) < 0.77*float64(m.Guessed) || m.Both.Exact.F < m.Alone.Exact.F+0.2 || m.Both.Information < m.Alone.Information+0.02 {
		t.Errorf("got %+v", m)
	}
}
