package transcript_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/transcript"
)

// same compares cases; a list without entries is the same as none. Who reacted is in no
// prompt, nor when a thing was told.
var same = cmp.Options{
	cmpopts.EquateEmpty(), cmpopts.EquateNaNs(), cmpopts.IgnoreFields(assemble.Input{}, "Counter"), cmpopts.IgnoreFields(earshot.Message{}, "Reactors", "AsOf"),
	cmpopts.IgnoreFields(earshot.Author{}, "AsOf"), cmpopts.IgnoreFields(earshot.Channel{}, "AsOf"),
}

const example = `follow-up in a thread: only what was said since, other bots kept, own reply dropped
-- given --
channel slack/T1/C1 #deploys
09:00:00 m1 alice: shipping 1.4
09:00:40 m2 bob >m1: wait, the migration
09:01:00 m3 earshot* >m1: Paused.         # * self
09:05:00 m4 ci^ >m1: build 812 green      # ^ another bot
09:06:00 m5 alice >m1: @earshot are they done?
state cursor=m2 shown=m1,m2
anchor m5
-- prompt --
>>> user
Alice: @earshot are they done?
-- ledger --
m1 out   shown in turn 1
m4 full  delta
`

func at(s string) earshot.Time {
	t, err := earshot.ParseTime("2026-03-02T" + s + "Z")
	if err != nil {
		panic(err)
	}
	return t
}

func TestWhatACaseLeavesOutHasDefaults(t *testing.T) {
	t.Parallel()
	alice := earshot.Author{ID: "alice", Name: "Alice", Kind: earshot.Human}
	want := transcript.Case{
		Comment: "follow-up in a thread: only what was said since, other bots kept, own reply dropped",
		Input: assemble.Input{
			Identity: earshot.Identity{ID: "earshot", Name: "earshot"},
			Channel:  earshot.Channel{Platform: "slack", Workspace: "T1", ID: "C1", Name: "deploys", Kind: "channel"},
			Anchor:   "m5",
			Messages: []earshot.Message{
				{ID: "m1", Time: at("09:00:00"), Author: alice, Text: "shipping 1.4", Seq: 1},
				{ID: "m2", Time: at("09:00:40"), Author: earshot.Author{ID: "bob", Name: "Bob", Kind: "human"}, Text: "wait, the migration", Thread: "m1", Seq: 2},
				{ID: "m3", Time: at("09:01:00"), Author: earshot.Author{ID: "earshot", Name: "earshot", Kind: "bot"}, Text: "Paused.", Thread: "m1", Seq: 3},
				{ID: "m4", Time: at("09:05:00"), Author: earshot.Author{ID: "ci", Name: "Ci", Kind: "bot"}, Text: "build 812 green", Thread: "m1", Seq: 4},
				{ID: "m5", Time: at("09:06:00"), Author: alice, Text: "@earshot are they done?", Thread: "m1", Seq: 5},
			},
			Conversation: assemble.ConversationState{Cursor: 2, Shown: []earshot.ShownRevision{{ID: "m1"}, {ID: "m2"}}},
		},
		Prompt: ">>> user\nAlice: @earshot are they done?",
		Ledger: earshot.Ledger{{ID: "m1", Verdict: "out", Reason: "shown in turn 1"}, {ID: "m4", Verdict: "full", Reason: "delta"}},
	}
	got, err := transcript.Parse([]byte(example))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(got, want, same); d != "" {
		t.Errorf("Parse (-got +want):\n%s", d)
	}
}

func TestAPlainCaseIsWrittenAsAPersonWould(t *testing.T) {
	t.Parallel()
	c, err := transcript.Parse([]byte(example))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("         # * self", "", "      # ^ another bot", "").Replace(example)
	if d := cmp.Diff(string(transcript.Format(c)), want); d != "" {
		t.Errorf("Format (-got +want):\n%s", d)
	}
}

// everything uses each form once, as Format writes it.
const everything = `all forms
\-- given --
\\-- not a section --
-- given --
policy delta
budget tokens=900 limit=5000
counter o200k*1.15
zone Europe/Berlin
instructions: Be brief.

    "  indented by a tab:\t "
      two more spaces
identity earshot id=U0BOT aliases=B0BOT,"A:1"
channel slack/"T/1"/C1 #"büro & co" group
topic: releases and incidents
purpose: "  # not a comment"
author alice id=U1 full_name="Alice Maier" zone=Etc/GMT+5
author alice2 id=U2 name=alice
author the-old-name* id=B0BOT name="the old name"
author ci-main^ id=U9CI name="CI: main"
09:00:00 m1 alice mentions=U0BOT,U2: look: "this" # is not a comment
    -- given --
    "\"quoted\" from the start"

    def f():
        return 1
  + forward author="Erin Vogt" id=U9 place=#support time=08:20:00: we see it in "our" region too
      > quoted
        + file not-one

      -- given --
  + forward
  + link place=status.example.com: "  # all green"
  + app author="CI: main"
  + shared "" place="two words"
  + file migrate.log id=F1 type=text/plain size=1234 sha256=ab12
  + file "a b.png"
  + replies 3 last_hour=1 last=09:05:00
09:00:00.5 m2 alice2 ~m1 edited=09:02:00 tokens=12 reactions=eyes*2,tada:
date 2026-03-04
00:00:00 m3 earshot* >m1 seq=9: "\u202eevil\u0000"
00:00:01 m4 the-old-name* >m1: 👩‍👩‍👧 かな　漢字
- "" joined! deleted seq=0:
@-9223372036854775808 m6 ci-main^: red
state cursor=m3 epoch=2 form=log shown=m1,m2@2026-03-02T09:02:00Z turns=m1:m3:m4,m2
summary from=2026-03-01T00:00:00Z to=00:00:00 turns=4: They ship on Fridays.
named U1 Alice
named U2 "alice (2)"
session user media=F1,"F 2": [question]
    Alice: are they done?
session assistant: Let me look.
  + call c1 channel_context: {"intent": "migration"}
  + call c2 channel_messages
  + call "" "odd tool": {
        "thread_id": "m1"
      }
  + opaque: {"signature":"ab=="}
session tool call=c1: {"results":[]}
session tool call=c2 failed: no such thread
    + it ends here
session assistant: Yes.
attached F1 turn=3 tokens=1105 sha256=ab12
stored >m1 count=190 from=2026-03-02T09:00:00Z to=00:00:00
stored count=4000
coverage missing >m1 to=2026-03-02T08:00:00Z: rate limited
coverage known
attach F1,F2
file_tokens "F 2"=85,F1=1105
recalled m2=23.3,m3,"m 9"=-1e+21
anchor m6
-- ledger --
m1    full  thread
"m 2" out   "  # odd"
`

func TestEveryFormIsReadAndWrittenTheSame(t *testing.T) {
	t.Parallel()
	c, err := transcript.Parse([]byte(everything))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(transcript.Format(c)), everything); d != "" {
		t.Errorf("Format(Parse(x)) (-got +want):\n%s", d)
	}
	m := c.Input.Messages[0]
	want := "look: \"this\" # is not a comment\n-- given --\n\"quoted\" from the start\n\ndef f():\n    return 1"
	if d := cmp.Diff(m.Text, want); d != "" {
		t.Errorf("text of m1 (-got +want):\n%s", d)
	}
	if got, want := c.Input.Messages[4].Author, (earshot.Author{ID: "joined", Name: "Joined", Kind: earshot.System}); got != want {
		t.Errorf("author of a system message: got %v, want %v", got, want)
	}
	if got, want := c.Input.Conversation.Cursor, int64(9); got != want {
		t.Errorf("cursor by id: got %d, want %d", got, want)
	}
	if d := cmp.Diff(m.Shared, []earshot.SharedContent{
		{Kind: earshot.Forward, Author: "Erin Vogt", ID: "U9", Place: "#support", Time: at("08:20:00"), Text: "we see it in \"our\" region too\n> quoted\n  + file not-one\n\n-- given --"},
		{Kind: earshot.Forward},
		{Kind: earshot.Link, Place: "status.example.com", Text: "  # all green"},
		{Kind: earshot.AppQuote, Author: "CI: main"},
		{Place: "two words"},
	}); d != "" {
		t.Errorf("what m1 shares (-got +want):\n%s", d)
	}
	if d := cmp.Diff(c.Input.Conversation.Session[1:4], []earshot.SessionEntry{
		{Role: earshot.Assistant, Text: "Let me look.", Opaque: `{"signature":"ab=="}`, Calls: []earshot.Call{
			{ID: "c1", Name: "channel_context", Args: `{"intent": "migration"}`},
			{ID: "c2", Name: "channel_messages"},
			{Name: "odd tool", Args: "{\n  \"thread_id\": \"m1\"\n}"},
		}},
		{Role: earshot.ToolRole, Call: "c1", Text: `{"results":[]}`},
		{Role: earshot.ToolRole, Call: "c2", Failed: true, Text: "no such thread\n+ it ends here"},
	}); d != "" {
		t.Errorf("what was called and answered (-got +want):\n%s", d)
	}
	if got, want := c.Input.Messages[5].Time, earshot.Time(math.MinInt64); got != want {
		t.Errorf("a time without a year: got %d, want %d", got, want)
	}
}

func TestOtherSpellingsAreReadTheSame(t *testing.T) {
	t.Parallel()
	c, err := transcript.Parse([]byte("-- given --\r\n# a comment\r\n09:00 m1 alice:   hi  # aside\r\n\r\n\r\n    there\r\n\r\nanchor m1   # the question\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	m := c.Input.Messages[0]
	if got, want := m.Text, "hi\n\n\nthere"; got != want {
		t.Errorf("text: got %q, want %q", got, want)
	}
	if m.Time != at("09:00:00") || c.Input.Anchor != "m1" {
		t.Errorf("got %v and anchor %q", m.Time, c.Input.Anchor)
	}
}

func TestAPromptShowsCallsAndWhatTheyAnswered(t *testing.T) {
	t.Parallel()
	got := transcript.Prompt(assemble.Result{System: "Guide.", Messages: []assemble.Message{
		{Role: earshot.User, Text: "Alice: what changed?", Media: []earshot.ArtifactID{"F1", "F 2"}},
		{Role: earshot.Assistant, Text: "Let me look.", Calls: []earshot.Call{{ID: "c1", Name: "channel_context", Args: `{"intent":"deploys"}`}, {ID: "c 2", Name: "channel_messages"}}},
		{Role: earshot.ToolRole, Call: "c1", Text: `{"results":[]}`},
		{Role: earshot.ToolRole, Call: "c 2", Failed: true, Text: "no such thread"},
	}})
	want := `>>> user with F1,"F 2"
Alice: what changed?
>>> assistant
Let me look.
>>> call c1 channel_context: {"intent":"deploys"}
>>> call "c 2" channel_messages: ` + `
>>> tool c1
{"results":[]}
>>> tool "c 2" failed
no such thread`
	if d := cmp.Diff(got, want); d != "" {
		t.Errorf("Prompt (-got +want):\n%s", d)
	}
}

func TestAnOwnPolicyIsWrittenWhole(t *testing.T) {
	t.Parallel()
	p := assemble.Standard()
	p.Name, p.First[3].Threads = "mine <&>", 2
	out := transcript.Format(transcript.Case{Input: assemble.Input{Policy: p}})
	c, err := transcript.Parse(out)
	if err != nil {
		t.Fatalf("%v in:\n%s", err, out)
	}
	if d := cmp.Diff(c.Input.Policy, p, same); d != "" {
		t.Errorf("policy (-got +want):\n%s", d)
	}
}

func TestAnErrorNamesTheLineAndTheRemedy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, given string
		line        int
		want        string
	}{
		{"nothing given", "a comment\n", 1, "no section given"},
		{"an unknown section", "-- given --\n-- expect --\n", 2, `unknown section "expect"`},
		{"a section twice", "-- given --\n-- prompt --\n-- prompt --\n", 3, "twice"},
		{"an unknown line", "-- given --\nchanel slack/T1/C1\n", 2, `begins with "chanel"`},
		{"a time that is none", "-- given --\n09:61:00 m1 alice: hi\n", 2, `"09:61:00" is no time`},
		{"a message without a colon", "-- given --\n\n09:00:00 m1 alice\n", 3, "a colon is missing"},
		{"an unknown mark", "-- given --\n09:00:00 m1 alice color=red: hi\n", 2, "mentions="},
		{"another name for self", "-- given --\n09:00:00 m1 bob*: hi\n", 2, "which is earshot"},
		{"a mark that its author line denies", "-- given --\nauthor bob id=U1\n09:00:00 m1 bob^: hi\n", 3, "author line"},
		{"an open quote", "-- given --\n09:00:00 m1 alice: \"hi\n", 2, "has no end"},
		{"text behind a quote", "-- given --\n09:00:00 m1 alice: \"hi\" you\n", 2, "behind a quoted text"},
		{"text of nothing", "-- given --\n    hi\n", 2, "none above"},
		{"text indented by two", "-- given --\n09:00:00 m1 alice: hi\n  there\n", 3, "four spaces"},
		{"text below a line that has none", "-- given --\nanchor m1\n    there\n", 2, "has no text"},
		{"a line twice", "-- given --\nanchor m1\nanchor m2\n", 3, "anchor stands twice"},
		{"a state twice", "-- given --\nstate epoch=1\nstate epoch=2\n", 3, "epoch stands twice"},
		{"a cursor at an unknown message", "-- given --\nstate cursor=m9\n09:00:00 m1 alice: hi\n", 2, "no message m9"},
		{"an unknown policy", "-- given --\npolicy best\n", 2, `no built-in policy "best"`},
		{"a policy with an unknown field", "-- given --\npolicy {\"name\":\"x\",\"limt\":1}\n", 2, "limt"},
		{"a number that is none", "-- given --\nbudget tokens=many\n", 2, `tokens is not a whole number: "many"`},
		{"something at the end", "-- given --\nanchor m1 m2\n", 2, `" m2"`},
		{"bytes that are no text", "-- given --\n09:00:00 m1 alice: \xff\n", 2, "not UTF-8"},
		{"a file with a text", "-- given --\n09:00:00 m1 alice: hi\n  + file a.png\n      more\n", 3, "file has no text"},
		{"the text of a + line without its colon", "-- given --\n09:00:00 m1 alice: hi\n  + forward author=Erin\n      more\n", 3, "a colon is missing"},
		{"the text of a message below its + lines", "-- given --\n09:00:00 m1 alice: hi\n  + forward: fyi\n    there\n", 4, "stands above its + lines"},
		{"a mark that shared things do not have", "-- given --\n09:00:00 m1 alice: hi\n  + forward from=Erin: fyi\n", 3, `"from=Erin: fyi"`},
		{"a session's file line", "-- given --\nsession user: hi\n  + file a.png\n", 3, "a call or opaque"},
		{"a session entry without a colon", "-- given --\nsession tool call=c1\n", 2, "a colon is missing"},
		{"a mark that sessions do not have", "-- given --\nsession tool of=c1: x\n", 2, "media= call= failed"},
		{"opaque content twice", "-- given --\nsession assistant: x\n  + opaque: a\n  + opaque: b\n", 4, "opaque stands twice"},
		{"a file charged twice", "-- given --\nfile_tokens F1=1,F1=2\n", 2, "F1 stands twice"},
		{"a file charged nothing", "-- given --\nfile_tokens F1\n", 2, "F1=1105"},
		{"a score that is none", "-- given --\nrecalled m1=best\n", 2, `not a number: "best"`},
		{"somebody named nothing", "-- given --\nnamed U1\n", 2, "a name is missing"},
		{"an empty + line", "-- given --\n09:00:00 m1 alice: hi\n  + \n", 3, "a file or replies"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := transcript.Parse([]byte(c.given))
			var e *transcript.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want a *transcript.Error", err)
			}
			if e.Line != c.line || !strings.Contains(e.Reason, c.want) {
				t.Errorf("got %v, want line %d with %q", err, c.line, c.want)
			}
		})
	}
}

// A policy that is a built-in one with other limits is none where there is no such base
// or section: it would be another one silently.
func TestAPolicyOverNoBaseIsRefused(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{`{"base":"nosuch"}`, `{"base":"delta","limits":{"nosuch":{"messages":3}}}`, `{"limits":{"delta":{"messages":3}}}`} {
		_, err := transcript.Parse([]byte("-- given --\npolicy " + policy + "\nchannel slack/T1/C1 #help\n09:10:00 m2 dave: hi\nanchor m2\n"))
		if err == nil || !strings.Contains(err.Error(), "not a policy") {
			t.Errorf("%s: %v", policy, err)
		}
	}
}
