package assemble_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// busy is a channel in which two conversations run through one another, and a
// question to the agent.
func busy() []earshot.Message {
	var out []earshot.Message
	for i, line := range []string{
		"U1 how do I make the importer read semicolons?",
		"U2 my printer prints nothing since the upgrade, any idea?",
		"U3 alice: pass --delimiter, it is in the manual",
		"U4 bob: does the queue show the job?",
		"U1 carol: thanks, that works",
		"U2 dave: yes, it says paused",
		"U5 <@U0BOT> who helps bob?",
	} {
		id, text, _ := strings.Cut(line, " ")
		name := map[string]string{"U1": "alice", "U2": "bob", "U3": "carol", "U4": "dave", "U5": "erin"}[id]
		out = append(out, earshot.Message{
			ID: earshot.MessageID(fmt.Sprint("m", i+1)), Time: started + earshot.Time(i)*minute, Text: text,
			Author: earshot.Author{ID: earshot.AuthorID(id), Name: name, Kind: earshot.Human},
		})
	}
	return out
}

// linked assembles with the policy window and returns the prompt, and who
// stands in it by a guess.
func linked(t rapid.TB, link assemble.Link, messages []earshot.Message, anchor earshot.MessageID) (prompt string, guessed []string) {
	t.Helper()
	p, _ := assemble.ByName("window")
	p.First = slices.Clone(p.First)
	for i := range p.First {
		if p.First[i].Section == assemble.Window {
			p.First[i].Link = link
		}
	}
	r, err := assemble.Turn(assemble.Input{Policy: p, Counter: counterNamed("bytes4"), Identity: self, Anchor: anchor, Messages: messages, Channel: earshot.Channel{Platform: "slack", Workspace: "T1", ID: "C1", Name: "ops", Kind: earshot.KindChannel}})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range r.Messages {
		prompt += m.Text + "\n"
	}
	for _, row := range r.Ledger {
		if strings.HasSuffix(row.Reason, ", guessed") {
			guessed = append(guessed, string(row.ID))
		}
	}
	return prompt, guessed
}

// withoutGuesses has windows group by references alone.
func withoutGuesses(in assemble.Input) assemble.Input {
	in.Policy.First = slices.Clone(in.Policy.First)
	for i := range in.Policy.First {
		if in.Policy.First[i].Section == assemble.Window {
			in.Policy.First[i].Link = assemble.LinkOff
		}
	}
	return in
}

func TestAWindowGuessesConversationsWhereThePolicySaysSo(t *testing.T) {
	t.Parallel()
	prompt, guessed := linked(t, assemble.LinkAuto, busy(), "m7")
	if want := []string{"m3", "m4", "m5", "m6"}; !slices.Equal(guessed, want) || !strings.Contains(prompt, "thread (bob, dave):") {
		t.Errorf("guessed %v, want %v, in\n%s", guessed, want, prompt)
	}
	for _, link := range []assemble.Link{assemble.LinkOff, ""} {
		if prompt, guessed := linked(t, link, busy(), "m7"); len(guessed) > 0 || strings.Contains(prompt, "thread (") {
			t.Errorf("link %q: guessed %v in\n%s", link, guessed, prompt)
		}
	}
}

func TestReferencesAndThreadsWinOverAGuess(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func([]earshot.Message)
		want   []string
	}{
		{"a reference is no guess, and the others are guessed", func(m []earshot.Message) { m[5].ReplyTo = "m1" }, []string{"m3", "m4", "m5"}},
		{"a reference to what is not loaded too", func(m []earshot.Message) { m[2].ReplyTo = "m0" }, []string{"m4", "m5", "m6"}},
		{"a reference to what was said later too", func(m []earshot.Message) { m[0].ReplyTo = "m6" }, []string{"m3", "m4", "m5", "m6"}},
		{"a reference of the question changes nothing", func(m []earshot.Message) { m[6].ReplyTo = "m1" }, []string{"m3", "m4", "m5", "m6"}},
		{"a reply in a thread stays in it", func(m []earshot.Message) { m[2].Thread = "m2" }, []string{"m4", "m6"}},
		{"what begins a thread is no answer", func(m []earshot.Message) { m[3].Replies = &earshot.Activity{Count: 2} }, []string{"m3", "m5", "m6"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			messages := busy()
			c.change(messages)
			prompt, guessed := linked(t, assemble.LinkAuto, messages, "m7")
			if !slices.Equal(guessed, c.want) {
				t.Errorf("guessed %v, want %v, in\n%s", guessed, c.want, prompt)
			}
		})
	}
}

func TestAGuessAttachesToATreeOfReferences(t *testing.T) {
	t.Parallel()
	messages := busy()
	messages[2].Text, messages[2].ReplyTo = "pass --delimiter, it is in the manual", "m1"
	messages[3].Text, messages[3].ReplyTo = "does the queue show the job?", "m2"
	prompt, guessed := linked(t, assemble.LinkAuto, messages, "m7")
	want := `thread (bob, dave):
  bob: my printer prints nothing since the upgrade, any idea?
  dave: does the queue show the job?
  bob: dave: yes, it says paused

thread (alice, carol):
  alice: how do I make the importer read semicolons?
  carol: pass --delimiter, it is in the manual
  alice: carol: thanks, that works
`
	if !strings.Contains(prompt, want) || !slices.Equal(guessed, []string{"m5", "m6"}) {
		t.Errorf("guessed %v in\n%s", guessed, prompt)
	}
}

func TestAReferenceAfterTheQuestionChangesNoGuess(t *testing.T) {
	t.Parallel()
	want, _ := linked(t, assemble.LinkAuto, busy(), "m7")
	later := append(busy(), earshot.Message{ID: "m8", Time: started + 60*minute, ReplyTo: "m1", Text: "it is me", Author: earshot.Author{ID: "U6", Name: "frode", Kind: earshot.Human}})
	slices.Reverse(later)
	if got, _ := linked(t, assemble.LinkAuto, later, "m7"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestLaw1OrderAndDoublesChangeNoGuess(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var messages []earshot.Message
		for i := range rapid.IntRange(1, 40).Draw(t, "messages") {
			m := rapid.SampledFrom(busy()).Draw(t, "message")
			m.ID, m.Time = earshot.MessageID(fmt.Sprint("n", i)), started+earshot.Time(rapid.Int64Range(0, 90).Draw(t, "minute"))*minute
			if rapid.Bool().Draw(t, "replies") {
				m.ReplyTo = earshot.MessageID(fmt.Sprint("n", rapid.IntRange(0, 42).Draw(t, "to")))
			}
			messages = append(messages, m)
		}
		anchor := slices.MaxFunc(messages, func(a, b earshot.Message) int { return a.Position().Compare(b.Position()) }).ID
		want, by := linked(t, assemble.LinkAuto, messages, anchor)
		other := rapid.Permutation(append(slices.Clone(messages), messages[len(messages)/2])).Draw(t, "order")
		if got, also := linked(t, assemble.LinkAuto, other, anchor); got != want || !slices.Equal(by, also) {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
	})
}

func TestTheOldNameOfLinkIsRead(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	window := func(link assemble.Link) []assemble.Section {
		return []assemble.Section{{Section: assemble.Window, Link: link}, {Section: assemble.Anchor}}
	}
	for _, c := range []struct {
		written    *bool
		link, want assemble.Link
	}{
		{&yes, "", assemble.LinkAuto}, {&no, "", assemble.LinkOff}, {nil, "", ""},
		{&yes, assemble.LinkOff, assemble.LinkOff}, {&no, assemble.LinkAuto, assemble.LinkAuto},
	} {
		w := assemble.WrittenPolicy{Policy: assemble.Policy{First: window(c.link), Later: window(c.link)}, GuessLinks: c.written}
		p, _ := w.Read()
		if p.First[0].Link != c.want || p.Later[0].Link != c.want || p.First[1].Link != "" || w.First[0].Link != c.link {
			t.Errorf("%+v: got %q and %q, want %q", c, p.First[0].Link, p.Later[0].Link, c.want)
		}
	}
}
