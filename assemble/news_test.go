package assemble_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// A story is a conversation that is asked several times, with what became known about
// its messages in between.
type story struct {
	t        *testing.T
	in       assemble.Input
	messages []earshot.Message
	before   string // the requests of earlier turns, with their answers
}

func tell(t *testing.T, messages ...earshot.Message) *story {
	return &story{t: t, in: asking("standard", messages...), messages: messages}
}

// ask makes the turn for the last message, and commits it with an answer.
func (s *story) ask() (text string, r assemble.Result) {
	s.t.Helper()
	s.in.Messages, s.in.Anchor = slices.Clone(s.messages), s.messages[len(s.messages)-1].ID
	r, err := assemble.Turn(s.in)
	if err != nil {
		s.t.Fatal(err)
	}
	checkBudget(s.t, s.in, r)
	checkCount(s.t, s.in, r)
	checkLedger(s.t, s.in, r)
	checkResult(s.t, s.in, r)
	if now := request(r); !strings.HasPrefix(now, s.before) {
		s.t.Fatalf("the prompt does not extend the one before it (-got +want):\n%s", cmp.Diff(now, s.before))
	}
	again, err := assemble.Turn(s.in)
	if err != nil || again.Hash != r.Hash {
		s.t.Fatalf("the same input gives another prompt: %v", err)
	}
	n := len(s.messages)
	reply := said("own"+string(s.in.Anchor), "earshot", "I see.", in(string(s.messages[0].ID)), seq(s.messages[n-1].Seq+1))
	reply.Time = s.messages[n-1].Time + 1_000_000
	s.before = request(r) + onWire(earshot.SessionEntry{Role: earshot.Assistant, Text: reply.Text})
	commit(&s.in.Conversation, s.in.Anchor, r, reply)
	s.messages = append(s.messages, reply)
	return r.Messages[len(r.Messages)-1].Text, r
}

// then adds a message, a minute after the last.
func (s *story) then(m earshot.Message) {
	n := len(s.messages)
	m.Time, m.Seq = s.messages[n-1].Time+minute, s.messages[n-1].Seq+1
	s.messages = append(s.messages, m)
}

// about changes a message that stands there.
func (s *story) about(id string, how with) {
	for i := range s.messages {
		if string(s.messages[i].ID) == id {
			how(&s.messages[i])
		}
	}
}

func previewOf(text string) with {
	return quotes(earshot.SharedContent{Kind: earshot.Link, Place: "wiki.example", Text: text})
}

// reactedBy gives a reaction of so many persons, some of them known by name.
func reactedBy(emoji string, n int, who ...string) with {
	return func(m *earshot.Message) {
		m.Reactions = append(slices.Clone(m.Reactions), earshot.Reaction{Name: emoji, Count: n})
		list := &earshot.Reactors{}
		if m.Reactors != nil {
			list.List = slices.Clone(m.Reactors.List)
		}
		for _, name := range who {
			id := earshot.AuthorID("U-" + name)
			if name == "earshot" {
				id = self.ID
			}
			list.List = append(list.List, earshot.Reactor{Emoji: emoji, ID: id, Name: name})
		}
		m.Reactors = list
	}
}

func lacks(t *testing.T, text string, what ...string) {
	t.Helper()
	for _, w := range what {
		if strings.Contains(text, w) {
			t.Errorf("%q stands in:\n%s", w, text)
		}
	}
}

func holdsAll(t *testing.T, text string, what ...string) {
	t.Helper()
	for _, w := range what {
		if strings.Count(text, w) != 1 {
			t.Errorf("%q stands %d times, want once in:\n%s", w, strings.Count(text, w), text)
		}
	}
}

func rowOf(r assemble.Result, id string) earshot.LedgerRow {
	for _, row := range r.Ledger {
		if string(row.ID) == id {
			return row
		}
	}
	return earshot.LedgerRow{}
}

func TestAPreviewThatArrivesAfterItsMessageWasShownIsNews(t *testing.T) {
	t.Parallel()
	s := tell(t, said("r", "Alice", "<@U0BOT> what does <https://wiki.example/lock> say?"))
	s.ask()
	s.about("r", previewOf("The lock table holds 400 rows."))
	s.then(said("q", "Alice", "<@U0BOT> now?", in("r")))
	text, r := s.ask()
	want := `[new about messages above]
[Mon 2 Mar]
09:00 Alice: @earshot what does <https://wiki.example…
+ link preview, wiki.example:
    The lock table holds 400 rows.

[question, Mon 2 Mar 2026, UTC]
09:01 Alice: @earshot now?`
	if text != want {
		t.Errorf("another prompt (-got +want):\n%s", cmp.Diff(text, want))
	}
	if row := rowOf(r, "r"); row.Section != "news" || row.Verdict != earshot.Snippet || row.Reason != "news" {
		t.Errorf("row %+v", row)
	}
	s.then(said("q2", "Alice", "<@U0BOT> and now?", in("r")))
	text, r = s.ask()
	lacks(t, text, "new about", "lock table")
	if row := rowOf(r, "r"); row.Reason != "shown" {
		t.Errorf("row %+v", row)
	}
}

func TestReactionsAreNewsWithWhoGaveThem(t *testing.T) {
	t.Parallel()
	s := tell(t, said("r", "Alice", "<@U0BOT> shall we ship?", reactedBy("eyes", 1, "Bob")))
	text, _ := s.ask()
	holdsAll(t, text, "+ reactions: :eyes: 1 (Bob)")
	s.about("r", func(m *earshot.Message) { m.Reactions, m.Reactors = nil, nil })
	s.about("r", reactedBy("+1", 3, "Jonas", "earshot", "Bob"))
	s.about("r", reactedBy("tada", 6, "Ann", "Ben", "Cem", "Dan", "Eve", "Fay"))
	s.about("ownr", reactedBy("-1", 1, "Alice"))
	s.then(said("q", "Alice", "<@U0BOT> now?", in("r")))
	text, r := s.ask()
	holdsAll(t, text, "09:00 Alice: @earshot shall we ship?\n+ reactions now: :+1: 3 (Bob, Jonas, you), :tada: 6\n", "09:00 earshot (you): I see.\n+ reactions now: :-1: 1 (Alice)\n")
	if !slices.Contains(r.Next.Names, earshot.SessionName{ID: "U-Jonas", Name: "Jonas"}) || slices.ContainsFunc(r.Next.Names, func(n earshot.SessionName) bool { return n.Name == "Ann" }) {
		t.Errorf("names %+v: those whom the prompt names are kept, so that an erasure finds them", r.Next.Names)
	}
	s.about("r", func(m *earshot.Message) { m.Reactions, m.Reactors = nil, nil })
	s.then(said("q2", "Alice", "<@U0BOT> and now?", in("r")))
	text, _ = s.ask()
	holdsAll(t, text, "09:00 Alice: @earshot shall we ship?\n+ reactions now: none\n")
	lacks(t, text, "(you): I see.")
	s.about("r", reactedBy("eyes", 1, "Bob")) // as it was at first, and is news all the same
	s.then(said("q3", "Alice", "<@U0BOT> and now?", in("r")))
	text, _ = s.ask()
	holdsAll(t, text, "+ reactions now: :eyes: 1 (Bob)\n")
}

// Whoever reacted is named only where all are known by a name.
func TestWhoReactedIsToldOnlyWhereAllAreKnownByName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		how  with
		want string
	}{
		{"one of two", reactedBy("+1", 2, "Bob"), "+ reactions: :+1: 2\n"},
		{"nobody", reacted("+1", 2), "+ reactions: :+1: 2\n"},
		{"somebody without a name", reactedBy("+1", 2, "Bob", ""), "+ reactions: :+1: 2\n"},
		{"a name that imitates the line", reactedBy("+1", 1, "Bob), :tada: 9 (Jonas"), "+ reactions: :+1: 1 (Bob) tada 9 (Jonas)\n"},
		{"a name that imitates the agent", reactedBy("+1", 1, "you"), "+ reactions: :+1: 1 (you (2))\n"},
	} {
		s := tell(t, said("r", "Alice", "the root", c.how), said("q", "Alice", "<@U0BOT> well?", in("r")))
		text, _ := s.ask()
		if !strings.Contains(text, c.want) {
			t.Errorf("%s: %q stands not in:\n%s", c.name, c.want, text)
		}
	}
}

func TestAFileThatIsKnownLaterIsNews(t *testing.T) {
	t.Parallel()
	unread := earshot.File{ID: "F1"}
	s := tell(t, said("r", "Alice", "<@U0BOT> what is in it?", holds(unread)))
	s.ask()
	s.about("r", func(m *earshot.Message) {
		m.Files = []earshot.File{{ID: "F1", Name: "report.txt", Type: "text/plain", Size: 12_000}}
	})
	s.then(said("q", "Alice", "<@U0BOT> now?", in("r")))
	text, _ := s.ask()
	holdsAll(t, text, "[new about messages above]\n", "+ file F1, text, 12 KB: report.txt\n")
	s.about("r", func(m *earshot.Message) { // that its content was read changes no line
		m.Files = []earshot.File{{ID: "F1", Name: "report.txt", Type: "text/plain", Size: 12_000, SHA256: strings.Repeat("a", 64)}}
	})
	s.then(said("q2", "Alice", "<@U0BOT> and now?", in("r")))
	text, _ = s.ask()
	lacks(t, text, "new about")
}

// What is taken away from a message that the session shows is told: the model would go on
// reading it as if it stood there. What takes the place of another is told as new alone.
func TestAPreviewOrFileThatIsRemovedIsNews(t *testing.T) {
	t.Parallel()
	s := tell(t, said("r", "Alice", "<@U0BOT> what does <https://wiki.example/lock> say?", previewOf("The lock table.")),
		said("f", "Bob", "", in("r"), file("F1", "log.txt"), file("F2", "trace.txt")), said("q", "Alice", "<@U0BOT> well?", in("r")))
	s.ask()
	s.about("r", func(m *earshot.Message) { m.Shared = nil })
	s.about("f", func(m *earshot.Message) { m.Files = m.Files[1:] })
	s.then(said("q1", "Alice", "<@U0BOT> now?", in("r")))
	text, r := s.ask()
	holdsAll(t, text, "wiki.example…\n+ removed: 1 preview or quote, none left\n", "Bob: \n+ removed: 1 file, 1 left\n+ file F2, ")
	lacks(t, text, "lock table", "log.txt")
	if row := rowOf(r, "r"); row.Verdict != earshot.Snippet || row.Reason != "news" {
		t.Errorf("row %+v", row)
	}
	s.about("f", func(m *earshot.Message) { m.Files = nil }) // nothing is left of the message
	s.about("r", previewOf("The lock table."))
	s.then(said("q2", "Alice", "<@U0BOT> and now?", in("r")))
	text, _ = s.ask()
	holdsAll(t, text, "Bob: \n+ removed: 1 file, none left\n", "+ link preview, wiki.example:\n    The lock table.\n")
	s.about("r", func(m *earshot.Message) { m.Shared = nil })
	s.about("r", previewOf("It moved."))
	s.then(said("q3", "Alice", "<@U0BOT> and now?", in("r")))
	text, _ = s.ask()
	holdsAll(t, text, "+ link preview, wiki.example:\n    It moved.\n")
	lacks(t, text, "removed", "Bob")
}

// Slack tells of a removed file as of an edit, which shows all that there is of the message
// now. Of one of which nothing is left there is nothing to show as edited.
func TestAnEditThatRemovesTheOnlyFileIsNews(t *testing.T) {
	t.Parallel()
	s := tell(t, said("r", "Alice", "<@U0BOT> look"), said("f", "Bob", "", in("r"), file("F1", "log.txt")), said("g", "Bob", "and this", in("r"), file("F2", "trace.txt")),
		said("q", "Alice", "<@U0BOT> well?", in("r")))
	s.ask()
	for _, id := range []string{"f", "g"} {
		s.about(id, func(m *earshot.Message) { m.Files, m.Edited, m.Seq = nil, m.Time+minute, 90 })
	}
	s.then(said("q1", "Alice", "<@U0BOT> now?", in("r")))
	text, _ := s.ask()
	holdsAll(t, text, "09:00 Bob: \n+ removed: 1 file, none left\n", "09:00 Bob (edited): and this\n\n")
	s.then(said("q2", "Alice", "<@U0BOT> and now?", in("r")))
	text, _ = s.ask()
	lacks(t, text, "removed", "Bob")
}

// A program can write its message anew without an edit time, as a poll with votes.
func TestATextThatChangesWithoutAnEditIsNews(t *testing.T) {
	t.Parallel()
	s := tell(t, said("r", "CI", "[poll: lunch? · pizza 0 · sushi 0]"), said("q", "Alice", "<@U0BOT> who is ahead? ask <@U-Bob>", in("r")))
	s.ask()
	s.about("r", func(m *earshot.Message) { m.Text = "[poll: lunch? · pizza 3 · sushi 1]" })
	s.about("q", func(m *earshot.Message) { m.Text = "<@U0BOT> who is ahead? ask <@U-Bob|Bob>" }) // a label is no news
	s.then(said("q2", "Alice", "<@U0BOT> now?", in("r")))
	text, r := s.ask()
	holdsAll(t, text, "09:00 CI (bot): \n+ text now:\n    [poll: lunch? · pizza 3 · sushi 1]\n")
	lacks(t, text, "(edited)")
	if row := rowOf(r, "q"); row.Reason != "shown" {
		t.Errorf("row %+v", row)
	}
}

// What an edit brings stands in the delta, once, as before.
func TestAnEditWithAPreviewIsAnEdit(t *testing.T) {
	t.Parallel()
	s := tell(t, said("r", "Alice", "<@U0BOT> look"))
	s.ask()
	s.about("r", previewOf("The lock table."))
	s.about("r", func(m *earshot.Message) { m.Text, m.Edited, m.Seq = "<@U0BOT> look here", m.Time+minute, 90 })
	s.then(said("q", "Alice", "<@U0BOT> now?", in("r")))
	text, _ := s.ask()
	holdsAll(t, text, "09:00 Alice (edited): @earshot look here\n+ link preview, wiki.example:\n    The lock table.\n")
	lacks(t, text, "new about")
	s.about("r", reactedBy("eyes", 1, "Bob"))
	s.then(said("q2", "Alice", "<@U0BOT> and now?", in("r")))
	text, _ = s.ask()
	holdsAll(t, text, "09:00 Alice: @earshot look here\n+ reactions now: :eyes: 1 (Bob)\n")
	lacks(t, text, "(edited)", "lock table")
}

// News has a small budget: the newest first, long previews cut, the rest counted.
func TestNewsIsBoundedAndTheRestIsCounted(t *testing.T) {
	t.Parallel()
	root := said("r", "Alice", "the root")
	list := []earshot.Message{root}
	for i := range 20 {
		list = append(list, said(fmt.Sprintf("m%02d", i), "Bob", "see <https://wiki.example/x>", in("r")))
	}
	s := tell(t, append(list, said("q", "Alice", "<@U0BOT> well?", in("r")))...)
	s.ask()
	for i := range 20 {
		s.about(fmt.Sprintf("m%02d", i), previewOf(strings.Repeat("a long preview of a page ", 40)))
	}
	s.then(said("q2", "Alice", "<@U0BOT> now?", in("r")))
	text, r := s.ask()
	if n := r.Tokens.Sections[assemble.News]; n == 0 || n > 200+12 {
		t.Errorf("news costs %d tokens", n)
	}
	shown, left := 0, 0
	for _, row := range r.Ledger {
		switch {
		case row.Section != "news":
		case row.Verdict == earshot.Snippet:
			shown++
		case row.Reason == "budget":
			left++
		}
	}
	if shown == 0 || shown+left != 20 || !strings.Contains(text, "[new about messages above; ") || rowOf(r, "m19").Verdict != earshot.Snippet || rowOf(r, "m00").Verdict != earshot.Out {
		t.Errorf("%d are shown and %d left out:\n%s", shown, left, text)
	}
}

// What older versions stored says of a message its edit time alone, and nobody gets a
// flood of news after an upgrade.
func TestAManifestOfAnOlderVersionHasNoNews(t *testing.T) {
	t.Parallel()
	s := tell(t, said("r", "Alice", "<@U0BOT> look", reactedBy("eyes", 1, "Bob")))
	s.ask()
	for i := range s.in.Conversation.Shown {
		s.in.Conversation.Shown[i].Seen = ""
	}
	s.about("r", previewOf("The lock table."))
	s.about("ownr", reactedBy("eyes", 1, "Bob"))
	s.then(said("q", "Alice", "<@U0BOT> now?", in("r")))
	text, _ := s.ask()
	lacks(t, text, "new about", "lock table", "eyes")
}

// A form without the section does not say that it has shown what it has not.
func TestTheLedgerSaysThatNewsWasNotShown(t *testing.T) {
	t.Parallel()
	s := tell(t, said("r", "Alice", "<@U0BOT> look"))
	s.in.Policy = policy("delta")
	s.ask()
	s.about("r", previewOf("The lock table."))
	s.then(said("q", "Alice", "<@U0BOT> now?", in("r")))
	_, r := s.ask()
	if row := rowOf(r, "r"); row.Verdict != earshot.Out || row.Reason != "news" {
		t.Errorf("row %+v", row)
	}
}

// A session keeps the names that it began with. Somebody who has another name since is
// told of with their newest message, and cannot take somebody else's so.
func TestWhoeverIsRenamedSaysSoWithTheNextMessage(t *testing.T) {
	t.Parallel()
	s := tell(t, said("r", "Alice", "<@U0BOT> look"), said("b", "Bob", "<@U0BOT> please", in("r")))
	s.ask()
	now := func(name string) with { return func(m *earshot.Message) { m.Author.Name = name } }
	s.then(said("n1", "Alice", "one", in("r"), now("Dana")))
	s.then(said("n2", "Alice", "two", in("r"), now("Dana")))
	s.then(said("q", "Bob", "<@U0BOT> what did Dana say?", in("r")))
	text, _ := s.ask()
	holdsAll(t, text, "Alice: one\n· two\n+ goes by Dana now\n", "Bob: @earshot what did Dana say?")
	s.then(said("q2", "Alice", "<@U0BOT> and me?", in("r"), now("Bob")))
	text, _ = s.ask()
	holdsAll(t, text, "Alice: @earshot and me?\n+ goes by Bob (2) now")
}

// A platform lists reactions in another order once somebody takes one back and gives it
// again, or where its history does not go by time.
func TestTheOrderOfReactionsIsNoNews(t *testing.T) {
	t.Parallel()
	a := earshot.Message{ID: "1", Text: "x", Reactions: []earshot.Reaction{{Name: "eyes", Count: 1}, {Name: "tada", Count: 2}}}
	b := a
	b.Reactions = []earshot.Reaction{a.Reactions[1], a.Reactions[0]}
	if assemble.Seen(&a, 0) != assemble.Seen(&b, 0) {
		t.Errorf("%s and %s", assemble.Seen(&a, 0), assemble.Seen(&b, 0))
	}
}
