package assemble_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

func TestPassagesAreTheMessagesThatTheLedgerShows(t *testing.T) {
	forInputs(t, func(t rapid.TB, _ dice, in assemble.Input, r assemble.Result) {
		checkPassages(t, r)
		checkWhoseText(t, in, r)
	})
}

// checkPassages compares where messages stand in the prompt with the ledger.
func checkPassages(t rapid.TB, r assemble.Result) {
	t.Helper()
	shown := map[earshot.MessageID]bool{}
	for _, m := range r.Messages {
		at := 0
		for _, p := range m.Passages {
			inSpan := slices.ContainsFunc(m.Spans, func(s assemble.Span) bool {
				return s.Section != assemble.SessionPart && s.From <= p.From && p.To <= s.To
			})
			if p.From < at || p.To < p.From || !inSpan {
				t.Fatalf("passage %+v is out of order, or in no section: %+v, sections %+v", p, m.Passages, m.Spans)
			}
			if shown[p.Message] {
				t.Fatalf("message %s stands in two passages: %+v", p.Message, m.Passages)
			}
			at, shown[p.Message] = p.To, true
		}
	}
	for _, row := range r.Ledger {
		if shown[row.ID] != (row.Verdict != earshot.Out) {
			t.Fatalf("row %+v, but a passage shows it: %v\n%s", row, shown[row.ID], prompt(r))
		}
		delete(shown, row.ID)
	}
	if len(shown) > 0 {
		t.Fatalf("passages of messages without a row: %v", shown)
	}
}

// checkWhoseText checks that what a message says stands in its own passage.
func checkWhoseText(t rapid.TB, in assemble.Input, r assemble.Result) {
	t.Helper()
	says := map[string]earshot.MessageID{}
	for _, m := range in.Messages {
		if mark := markers.FindString(m.Text); mark != "" {
			says[mark[:6]] = m.ID
		}
	}
	for _, m := range r.Messages {
		if slices.Contains(m.Sections, assemble.SessionPart) {
			continue
		}
		for _, at := range markers.FindAllStringIndex(m.Text, -1) {
			id, ok := says[m.Text[at[0]:at[0]+6]]
			if !ok {
				continue
			}
			if !slices.ContainsFunc(m.Passages, func(p assemble.Passage) bool { return p.Message == id && p.From <= at[0] && at[1] <= p.To }) {
				t.Fatalf("the text of %s at %d stands in another passage: %+v\n%s", id, at[0], m.Passages, m.Text)
			}
		}
	}
}

// passages writes each passage as its message and its text, with ⏎ for a line break.
func passages(r assemble.Result) []string {
	var out []string
	for _, m := range r.Messages {
		for _, p := range m.Passages {
			out = append(out, string(p.Message)+" "+string(m.Role)+" "+strings.ReplaceAll(m.Text[p.From:p.To], "\n", "⏎"))
		}
	}
	return out
}

func TestPassagesOfEachForm(t *testing.T) {
	t.Parallel()
	alice := earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}
	self := earshot.Author{ID: "U0BOT", Name: "earshot", Kind: earshot.Bot}
	minute := func(n int) earshot.Time { return earshot.Time(1_772_442_000+60*n) * 1_000_000 }
	in := assemble.Input{
		Identity: earshot.Identity{ID: self.ID, Name: self.Name},
		Channel:  earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "C1", Name: "deploys", Kind: earshot.KindChannel},
		Counter:  counterNamed("bytes4"), Anchor: "5",
		Messages: []earshot.Message{
			{ID: "1", Time: minute(0), Author: alice, Text: "The deploy\nis stuck."},
			{ID: "2", Time: minute(20), Author: alice, Text: "How do we undo it?"},
			{ID: "3", Time: minute(21), Author: self, Text: "Roll back.", Thread: "2", ReplyTo: "2"},
			{ID: "4", Time: minute(22), Author: alice, Text: "Done.", Thread: "2", ReplyTo: "2", Shared: []earshot.SharedContent{{Text: "rolled back"}}},
			{ID: "5", Time: minute(40), Author: alice, Text: "Are we\nfine?", Thread: "2", ReplyTo: "2"},
		},
	}
	for policy, want := range map[string][]string{
		"standard": {
			"1 user 09:00 Alice: The deploy⏎    is stuck.",
			"2 user 09:20 Alice: How do we undo it?",
			"3 user 09:21 earshot (you): Roll back.",
			"4 user 09:22 Alice: Done.⏎+ forwarded, from somebody:⏎    rolled back",
			"5 user 09:40 Alice: Are we⏎    fine?",
		},
		"delta": {
			"2 user Alice: How do we undo it?",
			"3 user earshot: Roll back.",
			"4 user Alice: Done.⏎  [forwarded, from somebody] rolled back",
			"5 user Are we⏎  fine?",
		},
		"thread": {
			"2 user Alice: How do we undo it?",
			"3 user earshot: Roll back.",
			"4 user Alice: Done.⏎  [forwarded, from somebody] rolled back",
			"5 user Are we⏎  fine?",
		},
		"structured": {
			`5 user {"message_id":"5","ts":"2026-03-02T09:40:00Z","author":{"user_id":"U1","display_name":"Alice","is_bot":false},"text":"Are we\nfine?","media":[],"thread_id":"2"}`,
			`1 user {"message_id":"1","ts":"2026-03-02T09:00:00Z","author":{"user_id":"U1","display_name":"Alice","is_bot":false},"snippet":"The deploy is stuck.","thread_activity":null,"has_media":false,"reactions":[]}`,
			`2 user {"message_id":"2","ts":"2026-03-02T09:20:00Z","author":{"user_id":"U1","display_name":"Alice","is_bot":false},"text":"How do we undo it?","media":[]}`,
			`3 user {"message_id":"3","ts":"2026-03-02T09:21:00Z","author":{"user_id":"U0BOT","display_name":"earshot","is_bot":true},"text":"Roll back.","is_truncated":false,"media":[]}`,
			`4 user {"message_id":"4","ts":"2026-03-02T09:22:00Z","author":{"user_id":"U1","display_name":"Alice","is_bot":false},"text":"Done.\n[forwarded, from somebody] rolled back","is_truncated":false,"media":[]}`,
		},
		"window": {
			"3 user   earshot: Roll back.",
			"4 user   Alice: Done.⏎    [forwarded, from somebody] rolled back",
			"1 user   The deploy⏎    is stuck.",
			"2 user Alice: How do we undo it?",
			"5 user Alice: Are we⏎  fine?",
		},
		"brackets": {
			"2 user Alice: How do we undo it?",
			"3 user earshot: Roll back.",
			"4 user Alice: Done.⏎  [forwarded, from somebody] rolled back",
			"1 user Alice: The deploy is stuck.",
			"5 user Alice: Are we⏎  fine?",
		},
		"transcript": {
			"3 assistant Roll back.",
			"5 user Alice: Are we⏎  fine?",
		},
	} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			in := clone(in)
			var ok bool
			if in.Policy, ok = assemble.ByName(policy); !ok {
				in.Policy = assemble.Policy{Name: policy, Frame: assemble.Brackets, First: []assemble.Section{
					{Section: assemble.Thread}, {Section: assemble.Snapshot}, {Section: assemble.Anchor},
				}}
			}
			r, err := assemble.Turn(in)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(passages(r), want); d != "" {
				t.Errorf("passages (-got +want):\n%s\n%s", d, prompt(r))
			}
		})
	}
}
