package assemble_test

import (
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
			log:      "09:03 Dan: text x\n+ replies to a deleted message\n↳ 09:02 Ann: text m2\n↳ 09:04 Bob: text m3\n",
		},
		{
			name:     "two replies to a message that is not loaded",
			messages: []earshot.Message{line(2, "m2", "m1", "Ann"), line(3, "x", "", "Dan"), line(4, "m3", "m1", "Bob"), line(30, "q", "", "Cleo")},
			window:   "thread (Ann, Bob):\n  Ann: text m2\n  Bob: text m3\n\nstandalone (Dan):\n  text x\n",
			log:      "09:03 Dan: text x\n+ replies to a message that is not loaded\n↳ 09:02 Ann: text m2\n↳ 09:04 Bob: text m3\n",
		},
		{
			name:     "the message in the middle is deleted, and what it answered is known",
			messages: []earshot.Message{line(1, "m1", "", "Ann"), deleted, line(3, "x", "", "Dan"), line(4, "m3", "m2", "Cleo"), line(30, "q", "", "Cleo")},
			window:   "thread (Ann, Cleo):\n  Ann: text m1\n  Cleo: text m3\n\nstandalone (Dan):\n  text x\n",
			log:      "09:03 Dan: text x\n09:01 Ann: text m1\n↳ 09:04 Cleo: text m3\n",
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
