package assemble_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// line is a message of a forest, in the minute at; name is a person.
func line(at int, id, replyTo earshot.MessageID, name string) earshot.Message {
	return earshot.Message{
		ID: id, Time: started + earshot.Time(at)*minute, ReplyTo: replyTo, Text: "text " + string(id),
		Author: earshot.Author{ID: earshot.AuthorID("U-" + name), Name: name, Kind: earshot.Human},
	}
}

// tombstone is a deleted message as a store keeps it.
func tombstone(at int, id earshot.MessageID) earshot.Message {
	return earshot.Message{ID: id, Time: started + earshot.Time(at)*minute, Deleted: true}
}

func inThread(m earshot.Message, root earshot.MessageID) earshot.Message {
	m.Thread = root
	return m
}

func TestATreeStaysTogetherWhateverItLacks(t *testing.T) {
	t.Parallel()
	deleted := line(2, "m2", "m1", "Bob")
	deleted.Deleted = true
	for _, c := range []struct {
		name        string
		messages    []earshot.Message
		window, log string
	}{
		{
			name:     "two replies to a deleted message",
			messages: []earshot.Message{tombstone(1, "m1"), line(2, "m2", "m1", "Ann"), line(3, "x", "", "Dan"), line(4, "m3", "m1", "Bob"), line(30, "q", "", "Cleo")},
			window:   "thread (Ann, Bob):\n  Ann: text m2\n  Bob: text m3\n\nstandalone (Dan):\n  text x\n",
			log:      "+ replies to a deleted message\n↳ 09:02 Ann: text m2\n09:03 Dan: text x\n+ replies to a deleted message\n↳ 09:04 Bob: text m3\n",
		},
		{
			name:     "two replies to a message that is not loaded",
			messages: []earshot.Message{line(2, "m2", "m1", "Ann"), line(3, "x", "", "Dan"), line(4, "m3", "m1", "Bob"), line(30, "q", "", "Cleo")},
			window:   "thread (Ann, Bob):\n  Ann: text m2\n  Bob: text m3\n\nstandalone (Dan):\n  text x\n",
			log:      "+ replies to a message that is not loaded\n↳ 09:02 Ann: text m2\n09:03 Dan: text x\n+ replies to a message that is not loaded\n↳ 09:04 Bob: text m3\n",
		},
		{
			name:     "the message in the middle is deleted, and what it answered is known",
			messages: []earshot.Message{line(1, "m1", "", "Ann"), deleted, line(3, "x", "", "Dan"), line(4, "m3", "m2", "Cleo"), line(30, "q", "", "Cleo")},
			window:   "thread (Ann, Cleo):\n  Ann: text m1\n  Cleo: text m3\n\nstandalone (Dan):\n  text x\n",
			log:      "09:01 Ann: text m1\n09:03 Dan: text x\n+ replies to a deleted message\n↳ 09:04 Cleo: text m3\n",
		},
		{
			name: "a thread's reply to a deleted message and to one that is not loaded",
			messages: []earshot.Message{
				line(1, "m1", "", "Ann"), inThread(tombstone(2, "m2"), ""), inThread(line(3, "m3", "m2", "Bob"), "m1"), line(4, "x", "", "Dan"),
				inThread(line(5, "m5", "m0", "Cleo"), "m1"), line(30, "q", "", "Cleo"),
			},
			window: "thread (Ann, Bob, Cleo):\n  Ann: text m1\n  Bob: text m3\n  Cleo: text m5\n\nstandalone (Dan):\n  text x\n",
			log:    "09:04 Dan: text x\n09:01 Ann: text m1\n↳ 09:03 Bob: text m3\n↳ 09:05 Cleo: text m5\n",
		},
		{
			name: "a post of a forum, whose first message is its root",
			messages: []earshot.Message{
				inThread(line(1, "p1", "", "Ann"), "p1"), inThread(line(2, "p2", "p1", "Bob"), "p1"), line(3, "x", "", "Dan"),
				inThread(line(4, "p4", "p2", "Ann"), "p1"), line(30, "q", "", "Cleo"),
			},
			window: "thread (Ann, Bob):\n  Ann: text p1\n  Bob: text p2\n  Ann: text p4\n\nstandalone (Dan):\n  text x\n",
			log:    "09:03 Dan: text x\n09:01 Ann: text p1\n↳ 09:02 Bob: text p2\n↳ 09:04 Ann: text p4\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := text(forestTurn(t, withoutLimits("window"), c.messages), assemble.Window); !strings.HasSuffix(strings.TrimRight(got, "\n")+"\n", "\n\n"+c.window) {
				t.Errorf("in the text form:\n%s\nwant\n%s", got, c.window)
			}
			if got := text(forestTurn(t, withoutLimits("standard"), c.messages), assemble.Window); !strings.HasSuffix(strings.TrimRight(got, "\n")+"\n", "]\n"+c.log) {
				t.Errorf("in the log form:\n%s\nwant\n%s", got, c.log)
			}
		})
	}
}

// The chain is taken out of the middle of a tree. What is left of the tree is one
// thread as before, in the same place, and nothing of the chain stands in it.
func TestAThreadIsKeptWholeWhereTheChainIsTakenOut(t *testing.T) {
	t.Parallel()
	messages := []earshot.Message{
		line(1, "m1", "", "Ann"), line(2, "m2", "m1", "Bob"), line(3, "m3", "m2", "Cleo"), line(4, "m4", "m1", "Dan"),
		line(5, "x", "", "Eve"), line(6, "m5", "m3", "Finn"), line(7, "m6", "m5", "Ann"), line(30, "q", "m3", "Bob"),
	}
	r := forestTurn(t, withoutLimits("window"), messages)
	want := "thread (Dan, Finn, Ann):\n  Dan: text m4\n  Finn: text m5\n  Ann: text m6\n\nstandalone (Eve):\n  text x\n"
	if got := text(r, assemble.Window); !strings.Contains(got, want) || strings.Count(got, "text ") != 4 {
		t.Errorf("the window:\n%s\nwant\n%s", got, want)
	}
	if got, want := text(r, assemble.Chain), "Ann: text m1\nBob: text m2\nCleo: text m3\n"; !strings.Contains(got, want) {
		t.Errorf("the chain:\n%s\nwant\n%s", got, want)
	}
}

// ours is a message of the agent's.
func ours(at int, id, replyTo earshot.MessageID) earshot.Message {
	m := line(at, id, replyTo, "earshot")
	m.Author = earshot.Author{ID: self.ID, Name: self.Name, Kind: earshot.Bot}
	return m
}

// A chain has the whole of each answer of the agent's, whichever part the references
// lead through.
func TestAChainHasAllPartsOfAnAnswer(t *testing.T) {
	t.Parallel()
	asked := func(replyTo earshot.MessageID, between ...earshot.Message) []earshot.Message {
		return append(append([]earshot.Message{line(1, "q1", "", "Ann")}, between...), line(30, "q", replyTo, "Ann"))
	}
	parts := []earshot.Message{ours(2, "a1", "q1"), ours(3, "a2", "q1"), ours(4, "a3", "q1")}
	bare := []earshot.Message{ours(2, "a1", "q1"), ours(3, "a2", ""), ours(4, "a3", "")}
	gone := []earshot.Message{ours(2, "a1", "q1"), ours(3, "a2", ""), {ID: "a3", Time: started + 4*minute, Deleted: true}}
	recorded := []earshot.Answer{{Anchor: "q1", Replies: []earshot.MessageID{"a1", "a2", "a3"}}}
	for _, c := range []struct {
		name     string
		messages []earshot.Message
		turns    []earshot.Answer
		limit    int
		chain    []string // the texts, in order
	}{
		{"a reply to the first", asked("a1", parts...), nil, 20, []string{"q1", "a1", "a2", "a3"}},
		{"a reply to the last", asked("a3", parts...), nil, 20, []string{"q1", "a1", "a2", "a3"}},
		{"recorded parts without references", asked("a1", bare...), recorded, 20, []string{"q1", "a1", "a2", "a3"}},
		{"a recorded part without a reference leads to the question", asked("a3", bare...), recorded, 20, []string{"q1", "a1", "a2", "a3"}},
		{"nothing is known of parts without references", asked("a3", bare...), nil, 20, []string{"a3"}},
		{"a reply to a part that was deleted", asked("a3", gone...), recorded, 20, []string{"q1", "a1", "a2"}},
		{"parts count for the limit", asked("a1", parts...), nil, 2, []string{"a2", "a3"}},
		{"what others reply, and a part in a thread, is no part", asked("a1", ours(2, "a1", "q1"), line(3, "x", "q1", "Bob"), inThread(ours(4, "y", "q1"), "q1")), nil, 20, []string{"q1", "a1"}},
		{"a part that stands after the question", append(asked("a1", parts[:2]...), ours(31, "a3", "q1")), recorded, 20, []string{"q1", "a1", "a2"}},
		{"parts that reply to each other", asked("a3", ours(2, "a1", "q1"), ours(3, "a2", "a1"), ours(4, "a3", "a2")), recorded, 20, []string{"q1", "a1", "a2", "a3"}},
		{
			"an answer further up",
			asked("a4", append(parts, line(5, "q2", "a2", "Bob"), ours(6, "a4", "q2"), ours(7, "a5", "q2"))...),
			nil, 20, []string{"q1", "a1", "a2", "a3", "q2", "a4", "a5"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, name := range []string{"window", "standard"} {
				p := withoutLimits(name)
				for i := range p.First {
					if p.First[i].Section == assemble.Chain {
						p.First[i].Messages = c.limit
					}
				}
				r, err := assemble.Turn(assemble.Input{
					Policy: p, Counter: counterNamed("bytes4"), Identity: self, Anchor: "q", Messages: c.messages,
					Channel:      earshot.Channel{Platform: earshot.Discord, Workspace: "G1", ID: "C1", Name: "dev", Kind: earshot.KindChannel},
					Conversation: assemble.ConversationState{Turns: c.turns},
				})
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, f := range strings.Split(text(r, assemble.Chain), "text ")[1:] {
					got = append(got, strings.Fields(f)[0])
				}
				if !slices.Equal(got, c.chain) {
					t.Errorf("%s: the chain has %v, want %v:\n%s", name, got, c.chain, prompt(r))
				}
				for _, id := range c.chain {
					if strings.Contains(text(r, assemble.Window), "text "+id+"\n") {
						t.Errorf("%s: %s stands in the window too:\n%s", name, id, prompt(r))
					}
				}
			}
		})
	}
}

// What every message of a thread replies to, or what stands right above, is not said above
// the question.
func TestAQuestionInAThreadSaysWhatItRepliesToOnlyWhereThatIsElsewhere(t *testing.T) {
	t.Parallel()
	thread := []earshot.Message{line(1, "m1", "", "Ann"), inThread(line(2, "m2", "m1", "Bob"), "m1"), inThread(line(3, "m3", "", "Cleo"), "m1")}
	for to, want := range map[earshot.MessageID]string{
		"m1": "\n09:30 Dan: text q",
		"m2": "\n+ replies to 09:02 Bob\n↳ 09:30 Dan: text q",
		"m3": "\n↳ 09:30 Dan: text q",
		"m8": "\n+ replies to a message that is not loaded\n↳ 09:30 Dan: text q",
	} {
		r := forestTurn(t, withoutLimits("standard"), append(slices.Clone(thread), inThread(line(30, "q", to, "Dan"), "m1")))
		_, got, _ := strings.Cut(r.Messages[len(r.Messages)-1].Text, "[question, Mon 2 Mar 2026, UTC]")
		if got != want {
			t.Errorf("in reply to %s: %q, want %q", to, got, want)
		}
	}
}
