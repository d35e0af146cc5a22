package terminal

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

func TestTableAlignsWideCharactersAndKeepsToItsWidth(t *testing.T) {
	t.Parallel()
	table := NewTable("who", "n", "words").Right(1)
	table.Row("日本語", "5", "short")
	table.Row(Strong("Al"), "1,234", strings.Repeat("日本", 40))
	got := ansi.Strip(table.Render(40))
	want := "who         n  words\n" +
		"日本語      5  short\n" +
		"Al      1,234  " + strings.Repeat("日本", 6) + "…\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for line := range strings.Lines(got) {
		if w := ansi.StringWidth(line); w > 40 {
			t.Errorf("%d cells wide: %q", w, line)
		}
	}
}

func TestATableBecomesBlocksOnANarrowTerminal(t *testing.T) {
	t.Parallel()
	table := NewTable("channel", "id", "messages", "topic", "").Right(2)
	table.Row(Strong("deploys"), "C0123456789", "1,234", "releases and migrations of all that runs", Faint("busy"))
	table.Row("ops", "C2", "5", "", "")
	want := "channel   deploys\nid        C0123456789\nmessages  1,234\ntopic     releases and migrations of all\n          that runs\n          busy\n" +
		"\nchannel   ops\nid        C2\nmessages  5\n"
	if diff := cmp.Diff(want, ansi.Strip(table.Render(40))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := table.Render(60); strings.Count(got, "\n") != 3 {
		t.Errorf("on a wider terminal it is no table:\n%s", got)
	}
}

func TestPromptChangesNoByteOfWhatTheModelGets(t *testing.T) {
	t.Parallel()
	text := "[this thread]\nAlice: a\n  \n  b\n\n[question]\nBob: ?"
	res := assemble.Result{System: "Guide.", Messages: []assemble.Message{{
		Role: earshot.User, Text: text, Sections: []assemble.SectionName{assemble.Thread, assemble.Anchor},
		Spans: []assemble.Span{{Section: assemble.Thread, From: 0, To: 30}, {Section: assemble.Anchor, From: 31, To: len(text)}},
	}}}
	got := Prompt(res, 60, 0)
	if !strings.Contains(ansi.Strip(got), "\n"+text+"\n") {
		t.Errorf("got\n%s\nwant it to hold\n%s", ansi.Strip(got), text)
	}
	if !strings.Contains(got, "\x1b[") {
		t.Error("the sections have no colours")
	}
	folded := ansi.Strip(Prompt(res, 60, 4))
	if !strings.Contains(folded, "⋮ 4 lines") || !strings.Contains(folded, "Bob: ?") {
		t.Errorf("folded:\n%s", folded)
	}
}

func TestLedgerCountsWhatIsOut(t *testing.T) {
	t.Parallel()
	messages := []earshot.Message{
		{ID: "m1", Time: 1_000_000, Author: earshot.Author{ID: "U1", Name: "Alice"}, Text: "one\ntwo"},
		{ID: "m2", Time: 2_000_000, Author: earshot.Author{ID: "B1", Name: "CI", Kind: earshot.Bot}, Text: "build"},
	}
	ledger := earshot.Ledger{
		{ID: "m1", Section: "thread", Verdict: earshot.Full, Reason: "thread", Tokens: 1200},
		{ID: "m2", Verdict: earshot.Out, Reason: "cap"},
		{ID: "m3", Verdict: earshot.Out, Reason: "cap"},
		{ID: "m4", Verdict: earshot.Out, Reason: "shown"},
	}
	folded := ansi.Strip(Ledger(ledger, messages, earshot.Identity{ID: "B9", Name: "earshot"}, false, 120))
	for _, want := range []string{"00:00  m1  Alice", "1,200  one two", "left out: 2 cap, 1 shown"} {
		if !strings.Contains(folded, want) {
			t.Errorf("%q is not in\n%s", want, folded)
		}
	}
	if strings.Contains(folded, "CI (bot)") {
		t.Errorf("a message that is out is listed:\n%s", folded)
	}
	if all := ansi.Strip(Ledger(ledger, messages, earshot.Identity{ID: "B9", Name: "earshot"}, true, 120)); !strings.Contains(all, "CI (bot)") {
		t.Errorf("not all are listed:\n%s", all)
	}
}

func TestLedgerTellsPeopleOfOneNameApartAndCutsNoID(t *testing.T) {
	t.Parallel()
	long := earshot.MessageID(strings.Repeat("0123456789", 6))
	messages := []earshot.Message{
		{ID: "m1", Time: 1_000_000, Author: earshot.Author{ID: "U1", Name: "Sam"}, Text: "one"},
		{ID: long, Time: 2_000_000, Author: earshot.Author{ID: "U2", Name: "Sam"}, Text: "two"},
	}
	ledger := earshot.Ledger{
		{ID: "m1", Section: "thread", Verdict: earshot.Full, Reason: "thread", Tokens: 1},
		{ID: long, Section: "thread", Verdict: earshot.Full, Reason: "thread", Tokens: 1},
	}
	got := ansi.Strip(Ledger(ledger, messages, earshot.Identity{ID: "B9", Name: "earshot"}, false, 140))
	for _, want := range []string{"  Sam  ", string(long) + "  Sam (2)  "} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

func TestTokensSumAndScale(t *testing.T) {
	t.Parallel()
	got := ansi.Strip(Tokens(assemble.Tokens{Total: 1500, Budget: 8000, Counter: "o200k",
		Sections: map[assemble.SectionName]int{assemble.Guide: 500, assemble.Thread: 1000, assemble.Chain: 0}}, 80))
	want := "guide   " + strings.Repeat("█", 25) + strings.Repeat(" ", 25) + "      500   33 %\n" +
		"thread  " + strings.Repeat("█", 50) + "    1,000   67 %\n" +
		"total   " + strings.Repeat(" ", 50) + "    1,500\n" +
		"counted with o200k; besides system text, session, place and question this turn adds 1,000 of 8,000\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestThreadQuotesWhatIsSharedUnderItsOwnAuthor(t *testing.T) {
	t.Parallel()
	at, err := earshot.ParseTime("2026-03-01T17:20:00Z")
	if err != nil {
		t.Fatal(err)
	}
	list := []earshot.Message{
		{ID: "m1", Time: at, Author: earshot.Author{ID: "U1", Name: "Dana", FullName: "Dana Frei", Kind: earshot.Human}, Text: "from the vendor", Shared: []earshot.SharedContent{
			{Kind: earshot.Forward, Author: "Erin\nVogt", Place: "#support", Time: at, Text: "we see it,\nsays <@U9|Zoe>\x1b[2J"},
			{Kind: earshot.Link, Place: "status.example.com", Text: "All green"},
			{Kind: earshot.AppQuote, ID: "B1", Text: "build 812"},
			{Kind: earshot.Forward},
		}},
		{ID: "m2", Time: at, Author: earshot.Author{ID: "U2", Name: "dana", Kind: earshot.Human}, Text: "ok"},
		{ID: "m3", Time: at, Author: earshot.Author{ID: "U3", Name: "Bob", FullName: "Bob Brandt", Kind: earshot.Human}, Text: "ok"},
	}
	want := `Dana (Dana Frei)  2026-03-01 17:20  m1
  from the vendor
  ┌ forwarded, from Erin Vogt in #support, 2026-03-01 17:20
  │ we see it,
  │ says @Zoe[2J
  ┌ link preview, status.example.com
  │ All green
  ┌ from an app, which names B1
  │ build 812
  ┌ forwarded
  dana (U2)  2026-03-01 17:20  m2
    ok
  Bob  2026-03-01 17:20  m3
    ok
`
	if diff := cmp.Diff(want, ansi.Strip(Thread(list, "", 80))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLedgerSaysWhatAMessageWithoutTextQuotes(t *testing.T) {
	t.Parallel()
	messages := []earshot.Message{{ID: "m1", Time: 1_000_000, Author: earshot.Author{ID: "U1", Name: "Alice"},
		Shared: []earshot.SharedContent{{Kind: earshot.Link, Place: "example.com", Text: "All green"}}}}
	ledger := earshot.Ledger{{ID: "m1", Section: "thread", Verdict: earshot.Full, Reason: "thread", Tokens: 3}}
	got := ansi.Strip(Ledger(ledger, messages, earshot.Identity{ID: "B9", Name: "earshot"}, false, 140))
	if want := "[link preview, example.com] All green"; !strings.Contains(got, want) {
		t.Errorf("%q is not in\n%s", want, got)
	}
}

func TestPromptShowsCallsTheirAnswersAndFiles(t *testing.T) {
	t.Parallel()
	session := []assemble.SectionName{assemble.SessionPart}
	res := assemble.Result{Messages: []assemble.Message{
		{Role: earshot.User, Text: "what changed?", Sections: session, Media: []earshot.ArtifactID{"F1", "F2"}},
		{Role: earshot.Assistant, Sections: session, Opaque: "abc", Calls: []earshot.Call{
			{ID: "c1", Name: "channel_context", Args: "{\n\"intent\":\"deploys\x1b[31m\"}"}, {ID: "c2", Name: "channel_messages"}}},
		{Role: earshot.ToolRole, Call: "c1", Sections: session, Text: "{\"results\":[]}\x1b[2J"},
		{Role: earshot.ToolRole, Call: "c2", Failed: true, Sections: session, Text: "no such thread"},
	}}
	want := `── user   session · with F1, F2 ───
what changed?
── assistant   session ───
→ channel_context  c1
  {
  "intent":"deploys[31m"}
→ channel_messages  c2
  and 3 bytes that only the provider reads
── tool   channel_context  c1 · session ───
{"results":[]}[2J
── tool   channel_messages  c2  failed · session ───
no such thread
`
	if diff := cmp.Diff(want, ansi.Strip(Prompt(res, 0, 0))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTokensListUnknownSectionsToo(t *testing.T) {
	t.Parallel()
	got := ansi.Strip(Tokens(assemble.Tokens{Total: 3, Sections: map[assemble.SectionName]int{"new": 2, assemble.Anchor: 1}}, 80))
	if a, n := strings.Index(got, "anchor"), strings.Index(got, "new"); a < 0 || n < a {
		t.Errorf("got\n%s", got)
	}
}
