package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/earshot-ai/earshot"
)

const neutral = `{"conversation":"general","id":"1","ts":1586330345.0002,"author":"alice","author_is_bot":false,"text":"hi <@bob>","thread_id":null,"reply_to":null,"files":[]}
{"conversation":"general","id":2,"ts":1586330346,"author":"ci","author_is_bot":true,"text":"ok","thread_id":"1","reply_to":"1","files":[{"name":"a.log","alt":""}]}

{"conversation":"other","id":"1","ts":"1586330347.5","author":"bob","text":"elsewhere"}
`

func TestNeutralLines(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]string{
		"plain":   written(t, "team.messages.jsonl", []byte(neutral)),
		"gzipped": written(t, "team.messages.jsonl.gz", []byte(gz(t, neutral))),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, "memory:")
			got, err := ImportJSONL(t.Context(), s, p, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := Report{Format: "json lines", Workspace: "team", Channels: 2, Authors: 3, Threads: 1, Files: 1, Messages: Counts{New: 3}, Bytes: int64(len(neutral))}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Report{}, "Duration")); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
			scope := earshot.Scope{Platform: earshot.Local, Workspace: "team", Channel: "general"}
			messages := []earshot.Message{
				{ID: "1", Time: 1586330345000200, Author: earshot.Author{ID: "alice", Name: "alice", Kind: earshot.Human}, Text: "hi <@bob>", Mentions: []earshot.AuthorID{"bob"}, Seq: 1},
				{ID: "2", Time: 1586330346000000, Author: earshot.Author{ID: "ci", Name: "ci", Kind: earshot.Bot}, Text: "ok", Thread: "1", ReplyTo: "1", Files: []earshot.File{{ID: "2/0", Name: "a.log"}}, Seq: 2},
			}
			if diff := cmp.Diff(messages, whole(t, s, scope), cmpopts.IgnoreFields(earshot.Message{}, "Tokens")); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNotesOfSlackAreKnownByTheirWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want earshot.AuthorKind
	}{
		{"<@U1> has joined the channel", earshot.System},
		{"<@U1|ann lee> has joined the group.", earshot.System},
		{"@ann has joined the channel by invitation from <@U2>", earshot.System},
		{"ann has left the channel", earshot.System},
		{"<@ann> set the channel topic: releases\nand incidents", earshot.System},
		{"ann set the group's topic: releases", earshot.System},
		{"set the channel description: releases", earshot.System}, // newer exports leave the person out
		{"@ann set the channel's purpose: releases", earshot.System},
		{"@ann cleared the channel topic", earshot.System},
		{"@ann pinned a message to this channel.", earshot.System},
		{"ben has joined the channel", earshot.Human},
		{"so ann has joined the channel", earshot.Human},
		{"<@U1> has joined the channel, welcome!", earshot.Human},
		{"@ann set the channel topic", earshot.Human},
		{"@helper set the channel topic: releases", earshot.Human}, // asks for it
		{"<@U1> cleared the channel topic", earshot.Human},
		{"please set the channel topic: releases", earshot.Human},
		{"has joined the channel", earshot.Human},
		{"@ann has joined us", earshot.Human},
		{"@ has joined the channel", earshot.Human},
		{" has joined the channel", earshot.Human},
	} {
		n := neutralLine{Conversation: "general", ID: "1", TS: "1", Author: "ann", Text: looseString(c.text)}
		if got, reason := n.message(); got.Author.Kind != c.want || reason != "" {
			t.Errorf("%q is of kind %s (%s), want %s", c.text, got.Author.Kind, reason, c.want)
		}
		n.ReplyTo = "0"
		if got, _ := n.message(); got.Author.Kind != earshot.Human {
			t.Errorf("%q as a reply is of kind %s, want human", c.text, got.Author.Kind)
		}
	}
}

func TestBadLinesAreCounted(t *testing.T) {
	t.Parallel()
	lines := []string{
		`{"conversation":"c","id":"1","ts":1,"author":"a","text":"good"}`,
		`{"conversation":"c","id":"2","ts":`,
		`{"conversation":"c","id":"3","ts":1,"author":"a","text":{}}`,
		`{"conversation":"c","ts":1,"author":"a","text":"x"}`,
		`{"conversation":"c","id":"4","ts":"soon","author":"a","text":"x"}`,
		`{"conversation":"c","id":"5","ts":1e300,"author":"a","text":"x"}`,
		`{"conversation":"c","id":"6","ts":0,"author":"a","text":"x"}`,
		`7`,
		`{"conversation":"c","id":"` + strings.Repeat("x", 600) + `","ts":1,"author":"a"}`,
		`{"conversation":"c","id":"two words","ts":1,"author":"a","text":"x"}`,
		`{"conversation":"c","id":"7","ts":2,"author":"a","text":"good"}`,
	}
	got, err := ImportJSONL(t.Context(), open(t, "memory:"), written(t, "x.jsonl", []byte(strings.Join(lines, "\n"))), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Messages != (Counts{New: 2}) || got.SkippedCount() != 9 {
		t.Errorf("got %+v and %d skipped, want 2 new and 9 skipped", got.Messages, got.SkippedCount())
	}
	if !slices.ContainsFunc(got.Skipped, func(s Skip) bool { return s.Reason == "an id with a space or a control character" && s.Count == 1 }) {
		t.Errorf("skipped %+v, want one for the id of two words", got.Skipped)
	}
	i := slices.IndexFunc(got.Skipped, func(s Skip) bool { return s.Reason == "no usable ts" })
	want := Place{"x.jsonl", 5, 5}
	if i < 0 || got.Skipped[i].Count != 3 || got.Skipped[i].Places[0] != want {
		t.Errorf("skipped %+v, want three without a usable ts, the first at %+v", got.Skipped, want)
	}
}

// An export's ids are what a prompt can show, as those of the neutral form.
func TestAnExportsIDsAreWords(t *testing.T) {
	t.Parallel()
	st := open(t, "memory:")
	at := earshot.Channel{Platform: "local", Workspace: "W", ID: "C"}
	if err := st.PutChannel(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	if _, err := st.Record(t.Context(), at.Scope(), earshot.Message{ID: "good", Time: 1, Text: "x"}, earshot.Message{ID: "wrong", Time: 2, Text: "y"}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Export(t.Context(), st, &out, nil); err != nil {
		t.Fatal(err)
	}
	text := bytes.ReplaceAll(out.Bytes(), []byte(`"wrong"`), []byte(`"two words"`))
	got, err := ImportJSONL(t.Context(), open(t, "memory:"), written(t, "x.jsonl", text), nil)
	if err != nil || got.Messages.New != 1 || len(got.Skipped) != 1 || got.Skipped[0].Reason != notWord {
		t.Errorf("got %+v, skipped %+v, %v", got.Messages, got.Skipped, err)
	}
}

func TestWhatIsNoJSONL(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"an empty file":       "",
		"prose":               "hello\nworld\n",
		"other objects":       "{\"a\":1}\n{\"a\":2}\n",
		"an export of 2.0":    `{"earshot":"export","version":2}` + "\n",
		"a cut gzip file":     gz(t, neutral)[:20],
		"a list, on one line": `[{"conversation":"c"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ImportJSONL(t.Context(), open(t, "memory:"), written(t, "x.jsonl", []byte(text)), nil)
			if err == nil || name != "a cut gzip file" && !errors.Is(err, ErrFormat) {
				t.Errorf("got %v, want ErrFormat", err)
			}
		})
	}
}

func TestSecondsAreExact(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]earshot.Time{
		"1586330345.0002": 1586330345000200, "1586330345.000299": 1586330345000299, "1586330345.0002999": 1586330345000299,
		"1765621827.968": 1765621827968000, "0.1": 100000, "7": 7000000, "1.5e9": 1500000000000000, "15e-1": 1500000, "1E+2": 100000000,
		"253402300799.999999": 253402300799999999, "0": 0, "0e999": 0,
	} {
		if got, err := parseSeconds(in); err != nil || got != want {
			t.Errorf("seconds(%q): got %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "-1", "+1", "1e", "1e9999", "1e300", "253402300800", "NaN", "0x10", "1.2.3", ".5", "1_000", strings.Repeat("9", 500)} {
		if got, err := parseSeconds(in); err == nil {
			t.Errorf("seconds(%q): got %d, want an error", in, got)
		}
	}
}

// Export, import into an empty store, export again: the same bytes, whichever
// the stores are.
func TestExportRoundTrip(t *testing.T) {
	t.Parallel()
	from := open(t, "memory:")
	if _, err := ImportSlack(t.Context(), from, zipOf(t, team), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := ImportJSONL(t.Context(), from, written(t, "b.jsonl", []byte(neutral)), nil); err != nil {
		t.Fatal(err)
	}
	scope := earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "C1"}
	at := earshot.Time(1704103200000100)
	alice := earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}
	named := alice
	named.FullName = "Alice Maier"
	quoted := []earshot.SharedContent{
		{Kind: earshot.Forward, ID: "U9", Author: "Erin <Vogt>", Place: "#support", Time: at - 60e6 + 1, Text: "we see it\nin our region too"},
		{Kind: earshot.Link, Place: "example.com", Text: "Locks & latches"},
		{Kind: earshot.AppQuote, Author: "CI"},
	}
	if err := from.PutAuthors(t.Context(), earshot.Slack, "T1", earshot.Author{ID: "U1", Name: "Alice", FullName: "Alice Maier", Kind: earshot.Human, Zone: "Europe/Berlin"}); err != nil {
		t.Fatal(err)
	}
	for _, m := range []earshot.Message{
		{ID: "1704103300.000100", Time: at + 100e6, Author: named, Text: "from support", Shared: quoted[:1], Replies: &earshot.Activity{Count: 14, Last: at + 200e6}},
		{ID: "1704103300.000100", Time: at + 100e6, Author: named, Text: "from the vendor", Shared: quoted, Edited: at + 150e6},
		{ID: "1704103200.000100", Time: at, Author: alice, Text: "1.4 is out <&>\u2028", Edited: at + 2e6},
		{ID: "1704103200.000100", Time: at, Author: alice, Text: "1.4 is nearly out", Edited: at + 1e6},
		{ID: "1704103201.000100", Time: at + 1e6, Author: alice, Text: "noted", Metadata: map[string]string{"ticket": "T-1 <&>", "list": `json:[1.50,null,{"b":"é"}]`, "n": "json:9007199254740993"}},
		{ID: "1704103201.000100", Time: at + 1e6, Author: alice, Text: "noted, edited", Edited: at + 2e6},
		{ID: "9.000100", Time: 9000100, Deleted: true},
		{ID: "never.seen", Deleted: true},
	} {
		if _, err := from.Record(t.Context(), scope, m); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []earshot.Coverage{{Thread: "1704103200.000100", To: at, State: earshot.Missing, Why: "the fetch failed"}, {From: at, State: earshot.Stale}} {
		if err := from.PutCoverage(t.Context(), scope, c); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range []earshot.ReactionEvent{
		{Emoji: "tada", Author: "U2", At: at + 5e6}, {Emoji: "eyes", Author: "U3", At: at + 6e6}, {Emoji: "eyes", Author: "U1", At: at + 7e6},
		{Emoji: "eyes", At: at + 8e6}, {Emoji: "+1", Author: "U1", At: at + 9e6}, {Emoji: "+1", Author: "U1", Taken: true, At: at + 10e6},
	} {
		x.Message = "1704103200.000100"
		if _, err := from.React(t.Context(), scope, x); err != nil {
			t.Fatal(err)
		}
	}
	want := exported(t, from)
	for _, part := range []string{`"revisions":[`, `"type":"coverage"`, `"deleted":true`, `"type":"author"`, "<&>",
		`"name":"Alice","full_name":"Alice Maier","kind":"human","zone":"Europe/Berlin"}`, `"author":{"id":"U1","name":"Alice","full_name":"Alice Maier","kind":"human"},"text":"from the vendor"`,
		`"shared":[{"kind":"forward","id":"U9","author":"Erin <Vogt>","place":"#support","time":"2024-01-01T09:59:00.000101Z","text":"we see it\nin our region too"},` +
			`{"kind":"link","place":"example.com","text":"Locks & latches"},{"kind":"app","author":"CI"}]`,
		`"reactions":[{"name":"eyes","count":3,"by":[{"id":"U1","at":"2024-01-01T10:00:07.0001Z"},{"id":"U3","at":"2024-01-01T10:00:06.0001Z"}]},{"name":"tada","count":1,"by":[{"id":"U2","at":"2024-01-01T10:00:05.0001Z"}]}]`,
		`"replies":{"count":14,"last":"2024-01-01T10:03:20.0001Z"}`,
	} {
		if !strings.Contains(want, part) {
			t.Errorf("the export has no %s:\n%s", part, want)
		}
	}
	spec := "sqlite:" + filepath.Join(t.TempDir(), "x.db")
	for name, s := range map[string]earshot.Store{"memory": open(t, "memory:"), "sqlite": open(t, spec)} {
		got, err := ImportJSONL(t.Context(), s, written(t, "x.jsonl.gz", []byte(gz(t, want))), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.Format != "earshot export" || got.SkippedCount() != 0 || got.Channels != 7 {
			t.Errorf("%s: got %+v", name, got)
		}
		once := exported(t, s)
		if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(once, "\n")); diff != "" {
			t.Errorf("%s: the bytes changed (-first +second):\n%s", name, diff)
		}
		if _, err := ImportJSONL(t.Context(), s, written(t, "x.jsonl", []byte(want)), nil); err != nil {
			t.Fatal(err)
		}
		if exported(t, s) != once {
			t.Errorf("%s: a second import changed the store", name)
		}
	}
}

// Programs before persons were known wrote the counts of reactions alone.
func TestAnExportWithoutPersonsIsRead(t *testing.T) {
	t.Parallel()
	s := open(t, "memory:")
	lines := `{"earshot":"export","version":1}
{"type":"message","platform":"slack","workspace":"T1","channel":"C1","id":"1","time":"2026-01-01T00:00:00Z","author":{"id":"U1","name":"Alice","kind":"human"},"text":"hi","reactions":[{"name":"eyes","count":2}]}
{"type":"message","platform":"slack","workspace":"T1","channel":"C1","id":"2","time":"2026-01-01T00:00:00Z","author":{"id":"U1","name":"Alice","kind":"human"},"text":"hi","reactions":[{"name":"eyes","count":2,"by":[{"id":"U1","at":"soon"}]}]}
`
	got, err := ImportJSONL(t.Context(), s, written(t, "x.jsonl", []byte(lines)), nil)
	if err != nil || got.Messages.New != 1 || got.SkippedCount() != 1 {
		t.Fatalf("got %+v, %v, want one message, and one skipped for its time", got, err)
	}
	scope := earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "C1"}
	if _, err := s.React(t.Context(), scope, earshot.ReactionEvent{Message: "1", Emoji: "eyes", Author: "U1", At: 1}); err != nil {
		t.Fatal(err)
	}
	m, err := s.Message(t.Context(), scope, "1")
	if err != nil || len(m.Reactions) != 1 || m.Reactions[0].Count != 2 {
		t.Errorf("a person who may be one of them: got %+v, %v, want 2", m.Reactions, err)
	}
}

// What an export says of workspaces is checked as what options say is.
func TestAWorkspaceThatCannotBeShownIsNotImported(t *testing.T) {
	t.Parallel()
	lines := []string{`{"earshot":"export","version":1}`}
	for _, w := range []string{"T1", "", "T\\u0000", "T\\n2", "a/b", strings.Repeat("w", 600)} {
		of := `"platform":"slack","workspace":"` + w + `"`
		lines = append(lines,
			`{"type":"channel",`+of+`,"id":"C1","name":"c","kind":"channel"}`,
			`{"type":"author",`+of+`,"id":"U1","name":"Alice","kind":"human"}`,
			`{"type":"message",`+of+`,"channel":"C1","id":"1","time":"2026-01-01T00:00:00Z","author":{"id":"U1","name":"Alice","kind":"human"},"text":"hi"}`,
			`{"type":"coverage",`+of+`,"channel":"C1","state":"missing"}`)
	}
	s := open(t, "memory:")
	got, err := ImportJSONL(t.Context(), s, written(t, "x.jsonl", []byte(strings.Join(lines, "\n"))), nil)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Channels(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range list {
		names = append(names, string(c.Workspace))
	}
	if diff := cmp.Diff([]string{"", "T1"}, names); diff != "" || got.Messages.New != 2 || got.SkippedCount() != len(lines)-1-2*4 {
		t.Errorf("got %+v, %d skipped; workspaces (-want +got):\n%s", got, got.SkippedCount(), diff)
	}
}

// Hostile strings in every field come back as they were stored, and stay
// within their channel.
func TestNaughtyStrings(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(testData(t), "spec", "naughty", "blns.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	var lines, day []string
	for i, s := range list {
		q, _ := json.Marshal(s)
		lines = append(lines, fmt.Sprintf(`{"conversation":"c","id":"%d","ts":%d,"author":%s,"text":%s,"files":[{"name":%s}]}`, i, i+1, q, q, q))
		day = append(day, fmt.Sprintf(`{"type":"message","ts":"%d.000100","user":"U1","username":%s,"text":%s,"files":[{"id":"F%d","name":%s}],"reactions":[{"name":%s,"count":1}]}`, i+1, q, q, i, q, q))
	}
	a, b := open(t, "memory:"), open(t, "sqlite:"+filepath.Join(t.TempDir(), "x.db"))
	for _, s := range []earshot.Store{a, b} {
		got, err := ImportJSONL(t.Context(), s, written(t, "n.jsonl", []byte(strings.Join(lines, "\n"))), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.Messages.New+got.SkippedCount() != len(list) || got.Messages.New < 510 {
			t.Errorf("lines: got %+v", got)
		}
		got, err = ImportSlack(t.Context(), s, zipOf(t, map[string]string{"channels.json": team["channels.json"], "deploys/2024-01-01.json": "[" + strings.Join(day, ",") + "]"}), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.Messages.New != len(list) {
			t.Errorf("slack: got %+v", got)
		}
	}
	if exported(t, a) != exported(t, b) {
		t.Error("the two stores keep different bytes")
	}
}

// testData returns the folder of shared test data.
func testData(t testing.TB) string {
	t.Helper()
	root := os.Getenv("EARSHOT_TEST_DATA")
	if root == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("EARSHOT_TEST_DATA is not set")
		}
		t.Skip("EARSHOT_TEST_DATA is not set: real chats and hostile input were not read")
	}
	return root
}
