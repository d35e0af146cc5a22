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

// A with changes a message that a test builds, a given an input.
type (
	with  func(*earshot.Message)
	given func(*assemble.Input)
)

// said is a message by an author of that name: earshot is the agent, CI and Nova
// are bots, Slack is the platform.
func said(id, name, text string, changes ...with) earshot.Message {
	m := earshot.Message{ID: earshot.MessageID(id), Text: text, Author: earshot.Author{ID: earshot.AuthorID("U-" + name), Name: name, Kind: earshot.Human}}
	switch name {
	case "earshot":
		m.Author.ID, m.Author.Kind = "U0BOT", earshot.Bot
	case "CI", "Nova":
		m.Author.Kind = earshot.Bot
	case "Slack":
		m.Author.Kind = earshot.System
	}
	for _, c := range changes {
		c(&m)
	}
	return m
}

func in(root string) with { return func(m *earshot.Message) { m.Thread = earshot.MessageID(root) } }
func to(id string) with   { return func(m *earshot.Message) { m.ReplyTo = earshot.MessageID(id) } }
func seq(n int64) with    { return func(m *earshot.Message) { m.Seq = n } }
func by(id string) with   { return func(m *earshot.Message) { m.Author.ID = earshot.AuthorID(id) } }

// after places a message a number of seconds after the start.
func after(seconds int) with {
	return func(m *earshot.Message) { m.Time = started + earshot.Time(seconds)*1_000_000 }
}

func editedAt(seconds int, n int64) with {
	return func(m *earshot.Message) { m.Edited, m.Seq = started+earshot.Time(seconds)*1_000_000, n }
}

func deleted(m *earshot.Message) { m.Deleted = true }

func mentions(ids ...earshot.AuthorID) with {
	return func(m *earshot.Message) { m.Mentions = ids }
}

func file(id, name string) with {
	return func(m *earshot.Message) {
		m.Files = append(m.Files, earshot.File{ID: earshot.ArtifactID(id), Name: name})
	}
}

// asking is an input whose last message is the anchor. Messages without a time are
// a second apart, those without a sequence are numbered from 1.
func asking(policyName string, messages ...earshot.Message) assemble.Input {
	for i := range messages {
		if messages[i].Time == 0 {
			messages[i].Time = started + earshot.Time(i)*1_000_000
		}
		if messages[i].Seq == 0 {
			messages[i].Seq = int64(i + 1)
		}
	}
	return assemble.Input{
		Policy: policy(policyName), Budget: assemble.DefaultBudget(), Counter: counterNamed("o200k"), Identity: self,
		Channel:  earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "C1", Name: "general", Kind: earshot.KindChannel},
		Messages: messages, Anchor: messages[len(messages)-1].ID,
	}
}

func where(in assemble.Input, changes ...given) assemble.Input {
	for _, c := range changes {
		c(&in)
	}
	return in
}

// recorded is a conversation of one turn: the model was shown some messages,
// the anchor the last of them, and answered.
func recorded(cursor int64, anchor, reply, user, answer string, shown ...earshot.MessageID) given {
	return func(in *assemble.Input) {
		c := assemble.ConversationState{Cursor: cursor, Turns: []earshot.Answer{{Anchor: earshot.MessageID(anchor), Replies: []earshot.MessageID{earshot.MessageID(reply)}}},
			Session: []earshot.SessionEntry{{Role: earshot.User, Text: user}, {Role: earshot.Assistant, Text: answer}}}
		for _, id := range append(shown, earshot.MessageID(anchor), earshot.MessageID(reply)) {
			c.Shown = append(c.Shown, earshot.ShownRevision{ID: id})
		}
		in.Conversation = c
	}
}

func missing(thread string, from, to int) given { return covered(earshot.Missing, thread, from, to) }

// covered adds coverage of a stretch of history, in seconds after the start; 0 is
// open.
func covered(state earshot.CoverageState, thread string, from, to int) given {
	at := func(s int) earshot.Time {
		if s == 0 {
			return 0
		}
		return started + earshot.Time(s)*1_000_000
	}
	return func(in *assemble.Input) {
		in.Coverage = append(in.Coverage, earshot.Coverage{Thread: earshot.MessageID(thread), From: at(from), To: at(to), State: state, Why: "ratelimited"})
	}
}

func tokensOf(n int) given {
	return func(in *assemble.Input) { in.Budget.Tokens = n }
}

func stored(thread string, count int) given {
	return func(in *assemble.Input) {
		in.Stored = append(in.Stored, assemble.StoredCount{Thread: earshot.MessageID(thread), Count: count, From: started - 100*minute, To: started})
	}
}

// A rule is one sentence of the specification, and an input that shows it.
type rule struct {
	name   string
	in     assemble.Input
	is     string // what this turn adds to the prompt, exactly
	has    []string
	lacks  []string
	order  []string
	ledger string // rows as "id verdict reason", one a line, of the ids named
	notes  []string
	also   func(t *testing.T, r assemble.Result)
}

func checkRules(t *testing.T, rules []rule) {
	t.Helper()
	for _, c := range rules {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, err := assemble.Turn(c.in)
			if err != nil {
				t.Fatal(err)
			}
			var texts []string
			for _, m := range r.Messages {
				if !slices.Contains(m.Sections, assemble.SessionPart) {
					texts = append(texts, m.Text)
				}
			}
			got := strings.Join(texts, "\n<<"+"next>>\n")
			if c.is != "" && got != c.is {
				t.Errorf("another prompt (-got +want):\n%s\ngot:\n%s", cmp.Diff(got, c.is), got)
			}
			for _, w := range c.has {
				if strings.Count(got, w) != 1 {
					t.Errorf("%q stands %d times, want once in:\n%s", w, strings.Count(got, w), got)
				}
			}
			for _, w := range c.lacks {
				if strings.Contains(got, w) {
					t.Errorf("%q stands in:\n%s", w, got)
				}
			}
			rest := got
			for _, w := range c.order {
				_, after, ok := strings.Cut(rest, w)
				if !ok {
					t.Errorf("%q does not follow in order in:\n%s", w, got)
				}
				rest = after
			}
			rows := map[string]string{}
			for _, row := range r.Ledger {
				rows[string(row.ID)] = fmt.Sprintf("%s %s %s", row.ID, row.Verdict, row.Reason)
			}
			for line := range strings.Lines(c.ledger) {
				want := strings.TrimSpace(line)
				if id, _, ok := strings.Cut(want, " "); ok && rows[id] != want {
					t.Errorf("row %q, want %q", rows[id], want)
				}
			}
			if c.notes != nil {
				notes := []string{}
				for _, n := range r.Notes {
					notes = append(notes, n.Kind+" "+n.Text)
				}
				if d := cmp.Diff(notes, c.notes); d != "" {
					t.Errorf("notes (-got +want):\n%s", d)
				}
			}
			if c.also != nil {
				c.also(t, r)
			}
			checkBudget(t, c.in, r)
			checkCount(t, c.in, r)
			checkLedger(t, c.in, r)
			checkResult(t, c.in, r)
			checkUTF8(t, r)
		})
	}
}

func nextShown(want ...earshot.MessageID) func(*testing.T, assemble.Result) {
	return func(t *testing.T, r assemble.Result) {
		t.Helper()
		var got []earshot.MessageID
		for _, s := range r.Next.Shown {
			got = append(got, s.ID)
		}
		if d := cmp.Diff(got, want); d != "" {
			t.Errorf("next.shown (-got +want):\n%s", d)
		}
	}
}

// many returns n messages of a thread or, without a root, of the channel.
func many(n int, changes ...with) []earshot.Message {
	var out []earshot.Message
	for i := range n {
		out = append(out, said(fmt.Sprintf("n%03d", i+1), []string{"Alice", "Bob"}[i%2], fmt.Sprintf("number %03d", i+1), changes...))
	}
	return out
}

func join(first []earshot.Message, rest ...earshot.Message) []earshot.Message {
	return append(slices.Clone(first), rest...)
}
