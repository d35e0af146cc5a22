package assemble_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

var (
	countTranscripts = flag.Int("counts.transcripts", 3_000, "in how many random transcripts the counts that prompts say are checked")
	countSeed        = flag.Uint64("counts.seed", 0, "check the counts of this transcript only, and print its prompt")
)

func TestEveryCountInAPromptIsTrueOfItsOwnSection(t *testing.T) {
	t.Parallel()
	if *countSeed != 0 {
		d := newSeededDice(*countSeed)
		in := countedInput(d)
		if r, ok := mustTurn(t, in); ok {
			t.Log(prompt(r))
			checkCounts(t, in, r)
		}
		return
	}
	kinds := map[string]int{}
	missing := func() []string {
		return slices.DeleteFunc([]string{"older", "left out", "last of", "last", "newest of", "since", "late", "replies", "total", "activity", "skipped", "skipped, named", "withheld"},
			func(kind string) bool { return kinds[kind] > 0 })
	}
	// A rare kind is looked for further: a new section changes what is drawn.
	for seed, most := uint64(0), uint64(*countTranscripts); seed < most || most >= 1000 && seed < 10*most && len(missing()) > 0; seed++ {
		d := newSeededDice(seed + 1)
		in := countedInput(d)
		if r, ok := mustTurn(t, in); ok {
			checkCounts(seededTB{t, seed + 1}, in, r)
			for _, c := range saidCounts(r) {
				kinds[c.kind]++
			}
		}
	}
	if list := missing(); len(list) > 0 && *countTranscripts >= 1000 {
		t.Errorf("no prompt says a count of the kinds %q: %v", list, kinds)
	}
}

// countedInput is a transcript in which counts are said often: a hostile one with
// notes of the platform's that mention the agent, and with much that is stored and
// not loaded.
func countedInput(d dice) assemble.Input {
	in, _ := lawInput(d)
	root := rootOf(in)
	changes := map[earshot.MessageID]with{} // the same for all copies of a message
	for i := range in.Messages {
		m := &in.Messages[i]
		if m.ID == in.Anchor {
			continue
		}
		if changes[m.ID] == nil {
			moved, note, called := root != "" && m.ID != root && m.Thread == "" && one(d, 3), one(d, 6), one(d, 4)
			changes[m.ID] = func(m *earshot.Message) {
				if moved {
					m.Thread = root
				}
				if note {
					m.Author = earshot.Author{ID: "USLACK", Name: "Slack", Kind: earshot.System}
				}
				if called {
					m.Mentions = []earshot.AuthorID{"U0BOT"}
				}
			}
		}
		changes[m.ID](m)
	}
	if one(d, 2) {
		in.Stored = append(in.Stored[:0:0], assemble.StoredCount{Thread: root, Count: d.roll(120), From: started, To: started + minute})
		if root != "" && one(d, 2) {
			in.Stored = append(in.Stored, assemble.StoredCount{Count: d.roll(400), From: started, To: started + minute})
		}
	}
	if len(in.Stored) > 1 && in.Stored[0].Thread == in.Stored[1].Thread {
		in.Stored = in.Stored[:1]
	}
	return in
}

// A saidCount is a number of messages that a prompt says.
type saidCount struct {
	kind    string
	section assemble.SectionName
	n       int // left out; where a kind has only that, of a total
	of      int // in all
	shown   int
	line    string
	id      earshot.MessageID
}

var countLines = []struct {
	kind string
	line *regexp.Regexp
}{
	{"skipped", regexp.MustCompile(`^\[(?P<n>-?[\d,]+) (older )?messages? (not shown|were left out)\]$`)},
	{"withheld", regexp.MustCompile(`^\[(?P<n>[\d,]+) messages? withheld by the operator\]$`)},
	{"late", regexp.MustCompile(`^\[older messages of this conversation, known only now; (?P<n>-?[\d,]+) older messages? not shown\]$`)},
	{"older", regexp.MustCompile(`^\[[a-z][^;]*; (?P<n>-?[\d,]+) older messages? not shown\]$`)},
	{"skipped, named", regexp.MustCompile(`^\[[a-z][^;]*: (?P<n>-?[\d,]+) messages? were left out\]$`)},
	{"left out", regexp.MustCompile(`^\[(?P<n>-?[\d,]+) earlier messages? were left out\]$`)},
	{"last of", regexp.MustCompile(`^.*\(last (?P<shown>-?\d+) of (?P<of>-?\d+) messages; (?P<n>-?\d+) earlier ones were left out\)[:\]]$`)},
	{"last", regexp.MustCompile(`^.*\((last )?(?P<shown>-?\d+) messages?\)[:\]]$`)},
	{"newest of", regexp.MustCompile(`^\[since your last answer: the newest (?P<shown>-?\d+) of (?P<of>-?\d+) messages\]$`)},
	{"since", regexp.MustCompile(`^\[since your last answer: (?P<shown>-?\d+) messages?\]$`)},
}

var repliesLine = regexp.MustCompile(`(?m)^\+ ([\d,]+) repl(?:y|ies) not shown, thread (\S+)$`)

// saidCounts reads every count of messages in what a turn adds to its prompt. What
// Earshot says stands outside of passages, but the line below a root that counts
// its replies.
func saidCounts(r assemble.Result) []saidCount {
	var out []saidCount
	for _, m := range r.Messages {
		if slices.Contains(m.Sections, assemble.SessionPart) {
			continue
		}
		for _, s := range m.Spans {
			if s.Section.Source() == assemble.SourceNone {
				continue // a summary's text may say anything
			}
			at, own := s.From, ""
			for _, p := range m.Passages {
				if p.From < s.From || p.To > s.To {
					continue
				}
				own += m.Text[at:p.From] + "\n"
				at = p.To
				for _, f := range repliesLine.FindAllStringSubmatch(m.Text[p.From:p.To], -1) {
					out = append(out, saidCount{kind: "replies", section: s.Section, n: countIn(f[1]), line: f[0], id: earshot.MessageID(f[2])})
				}
			}
			own += m.Text[at:s.To]
			for line := range strings.Lines(own) {
				line = strings.TrimSuffix(line, "\n")
				for _, k := range countLines {
					if f := k.line.FindStringSubmatch(line); f != nil {
						c := saidCount{kind: k.kind, section: s.Section, line: line}
						for i, name := range k.line.SubexpNames() {
							switch name {
							case "n":
								c.n = countIn(f[i])
							case "of":
								c.of = countIn(f[i])
							case "shown":
								c.shown = countIn(f[i])
							}
						}
						out = append(out, c)
						break
					}
				}
			}
			if s.Section == assemble.Thread || s.Section == assemble.Snapshot {
				out = append(out, saidInJSON(m.Text[s.From:s.To], s.Section)...)
			}
		}
	}
	return out
}

func countIn(s string) int {
	n, err := strconv.Atoi(strings.ReplaceAll(s, ",", ""))
	if err != nil {
		panic(err)
	}
	return n
}

// saidInJSON reads the counts of a thread and of neighbours as typed JSON.
func saidInJSON(text string, section assemble.SectionName) []saidCount {
	var out []saidCount
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, `{"schema_version"`) {
			continue
		}
		var v struct {
			assemble.ThreadRef
			Adjacent []assemble.Neighbour `json:"adjacent"`
		}
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			panic(err)
		}
		if section == assemble.Thread {
			out = append(out, saidCount{kind: "total", section: section, n: v.Truncation.TotalReplies, shown: v.Truncation.IncludedReplies, line: line, id: earshot.MessageID(v.ThreadID)})
		}
		for _, n := range v.Adjacent {
			if a := n.ThreadActivity; a != nil {
				out = append(out, saidCount{kind: "activity", section: section, n: a.ReplyCount, line: line, id: earshot.MessageID(n.MessageID)})
			}
		}
	}
	return out
}

// countedWorld is what an input says of its messages, read without the assembler.
type countedWorld struct {
	in       assemble.Input
	r        assemble.Result
	anchor   earshot.Position
	root     earshot.MessageID
	later    bool
	messages map[earshot.MessageID]earshot.Message // at or before the anchor
	rows     map[earshot.MessageID]earshot.LedgerRow
}

func worldOf(in assemble.Input, r assemble.Result) countedWorld {
	w := countedWorld{in: in, r: r, root: rootOf(in), messages: map[earshot.MessageID]earshot.Message{}, rows: map[earshot.MessageID]earshot.LedgerRow{}}
	for _, row := range r.Ledger {
		w.rows[row.ID] = row
	}
	for _, m := range in.Messages {
		if m.ID == in.Anchor {
			w.anchor = m.Position()
		}
	}
	for _, m := range in.Messages {
		if m.Position().Compare(w.anchor) <= 0 {
			m.Deleted = m.Deleted || w.messages[m.ID].Deleted
			w.messages[m.ID] = m
		}
	}
	for _, m := range r.Messages {
		w.later = w.later || slices.Contains(m.Sections, assemble.SessionPart)
	}
	return w
}

// has reports whether the turn's list of the policy has a section.
func (w countedWorld) has(name assemble.SectionName) bool {
	list := w.in.Policy.First
	if w.later {
		list = w.in.Policy.Later
	}
	return hasSection(list, name)
}

// talk reports whether a section may show a message.
func (w countedWorld) talk(m earshot.Message) bool {
	reason := w.rows[m.ID].Reason
	return m.ID != w.in.Anchor && !m.Deleted && m.Author.Kind != earshot.System && reason != "blank" && reason != "summarised"
}

func isShown(row earshot.LedgerRow) bool { return row.Verdict != earshot.Out }

// unloaded is how much of a thread, or with "" of the channel, is stored and not in
// the input.
func (w countedWorld) unloaded(thread earshot.MessageID) int {
	for _, s := range w.in.Stored {
		if s.Thread != thread {
			continue
		}
		n := s.Count
		for _, m := range w.messages {
			if !m.Deleted && (thread == "" || m.ID == thread || m.Root() == thread) {
				n--
			}
		}
		return max(0, n)
	}
	return 0
}

// toldOnly is how many messages of a thread, root and question included, the platform
// counts beside those of the input, where a stretch of it is missing that its count knows.
func (w countedWorld) toldOnly(thread earshot.MessageID) int {
	a := w.messages[thread].Replies
	if a == nil || w.messages[thread].Deleted || a.Count <= 0 || w.later {
		return 0
	}
	missing := false
	for _, c := range w.in.Coverage {
		if c.Thread != thread || c.State == earshot.Known || c.From >= w.anchor.Time || c.To != 0 && c.From >= c.To {
			continue
		}
		if missing = true; c.To == 0 || c.To > a.Last {
			return 0
		}
	}
	n := 1 + a.Count
	for id, m := range w.messages {
		if !m.Deleted && (id == thread || m.Root() == thread && m.Time <= a.Last) {
			n--
		}
	}
	if !missing {
		return 0
	}
	return max(0, n)
}

// notShown is how many messages of a section's own the prompt does not show: what
// the ledger says that it left out, and what is stored and was not loaded.
func (w countedWorld) notShown(section assemble.SectionName) int {
	n := 0
	for _, row := range w.rows {
		if assemble.SectionName(row.Section) == section && (row.Reason == "cap" || row.Reason == "budget") {
			n++
		}
	}
	conversation := w.root != "" || w.in.Channel.Kind == earshot.KindDM
	switch {
	case section == assemble.Thread && w.root != "":
		if talk := w.notShownOfThread(); talk != n {
			return -1000 - talk // the ledger disagrees with the input
		}
		return n + w.unloaded(w.root)
	case section == assemble.Transcript && conversation && !addressedOnly(w.in.Policy) && (w.root == "" || !w.has(assemble.Thread)):
		return n + w.unloaded(w.root)
	case section == assemble.Delta && conversation:
		return n + max(0, w.unloaded(w.root)-w.heldNotLoaded())
	case section == assemble.Window && !w.later:
		// What is not loaded of the conversation is its own block's.
		rest := w.unloaded("")
		if w.root != "" && w.has(assemble.Thread) || conversation && w.has(assemble.Transcript) && !addressedOnly(w.in.Policy) {
			rest -= w.unloaded(w.root)
		}
		return n + max(0, rest)
	}
	return n
}

func addressedOnly(p assemble.Policy) bool {
	return slices.ContainsFunc(p.First, func(s assemble.Section) bool { return s.AddressedOnly })
}

// notShownOfThread counts the replies of the anchor's thread that stand nowhere in
// the prompt.
func (w countedWorld) notShownOfThread() int {
	n := 0
	for id, m := range w.messages {
		if m.Root() == w.root && id != w.root && w.talk(m) && !isShown(w.rows[id]) && w.rows[id].Reason != "untrusted" {
			n++
		}
	}
	return n
}

// heldNotLoaded is how many messages the session shows that are not in the input.
func (w countedWorld) heldNotLoaded() int {
	ids := map[earshot.MessageID]bool{}
	for _, s := range w.in.Conversation.Shown {
		ids[s.ID] = true
	}
	for _, a := range w.in.Conversation.Turns {
		for _, id := range a.Replies {
			ids[id] = true
		}
	}
	for _, m := range w.in.Messages {
		delete(ids, m.ID)
	}
	return len(ids)
}

// shown counts the messages that a section shows.
func (w countedWorld) shown(section assemble.SectionName, which func(earshot.LedgerRow) bool) int {
	n := 0
	for _, row := range w.rows {
		if assemble.SectionName(row.Section) == section && isShown(row) && which(row) {
			n++
		}
	}
	return n
}

func anyRow(earshot.LedgerRow) bool      { return true }
func isLate(row earshot.LedgerRow) bool  { return strings.Contains(row.Reason, ", late") }
func notLate(row earshot.LedgerRow) bool { return !isLate(row) }

// replies is how many replies of a root neither the prompt nor the session shows.
func (w countedWorld) replies(root earshot.MessageID) int {
	held := map[earshot.MessageID]bool{}
	if w.later {
		for _, s := range w.in.Conversation.Shown {
			held[s.ID] = true
		}
		for _, a := range w.in.Conversation.Turns {
			for _, id := range a.Replies {
				held[id] = true
			}
		}
	}
	loaded, shown := 0, 0
	for id, m := range w.messages {
		if m.Root() == root && w.talk(m) {
			loaded++
			if row := w.rows[id]; row.Verdict == earshot.Full || row.Verdict == earshot.Cut || held[id] {
				shown++
			}
		}
	}
	all := loaded
	if a := w.messages[root].Replies; a != nil {
		all = max(all, a.Count-w.anchorIn(root, a.Last))
	}
	for _, s := range w.in.Stored {
		if s.Thread == root {
			all = max(0, s.Count-1-w.anchorIn(root, w.anchor.Time))
			break
		}
	}
	return max(0, all-shown)
}

// anchorIn is 1 where the anchor is among the replies of a root up to a time.
func (w countedWorld) anchorIn(root earshot.MessageID, last earshot.Time) int {
	if w.root == root && last >= w.anchor.Time {
		return 1
	}
	return 0
}

// checkCounts compares every count that a prompt says with what is true of the
// section that says it.
func checkCounts(t rapid.TB, in assemble.Input, r assemble.Result) {
	t.Helper()
	w := worldOf(in, r)
	said := saidCounts(r)
	skipped := map[string]bool{}
	ofDelta := 0
	for _, c := range said {
		want := w.notShown(c.section)
		got, ok := c.n, true
		switch c.kind {
		case "skipped":
			ok = len(skipped) == 0 && len(blocksOf(r)) == 1
			skipped[c.line] = true
		case "skipped, named":
			ok = !skipped[c.line]
			skipped[c.line] = true
		case "older":
			if c.section == assemble.Delta {
				ofDelta += c.n
				continue
			}
		case "left out":
		case "withheld":
			want = 0
			for _, row := range w.rows {
				if assemble.SectionName(row.Section) == c.section && row.Reason == "untrusted" {
					want++
				}
			}
		case "late":
			ofDelta += c.n
			continue
		case "newest of":
			ofDelta += c.of - c.shown
			got, want = c.shown, w.shown(c.section, notLate)
		case "last of":
			ok = c.of == c.shown+c.n && c.shown == w.shown(c.section, anyRow)
		case "last":
			got, want = c.shown, w.shown(c.section, anyRow)
		case "since":
			got, want = c.shown, w.shown(c.section, notLate)
		case "replies":
			if c.section != assemble.Thread {
				want = w.replies(c.id)
			}
		case "total":
			want = max(w.unloaded(w.root), w.toldOnly(w.root))
			for id, m := range w.messages {
				if m.Root() == w.root && id != w.root && w.talk(m) && w.rows[id].Reason != "untrusted" {
					want++
				}
			}
			root := func(row earshot.LedgerRow) bool { return row.ID == w.root }
			ok = c.shown == w.shown(c.section, anyRow)-w.shown(c.section, root)
		case "activity":
			want = 0
			if a := w.messages[c.id].Replies; a != nil {
				want = a.Count
				break
			}
			for id, m := range w.messages {
				if m.Root() == c.id && !m.Deleted && id != in.Anchor { // as stores count, joins included
					want++
				}
			}
		}
		if got != want || got <= 0 && c.kind != "total" || !ok {
			t.Fatalf("%s says %q: %d, %d are true (%+v)\nledger %+v\nstored %+v\n%s", c.section, c.line, got, want, c, r.Ledger, in.Stored, prompt(r))
		}
	}
	if want := w.notShown(assemble.Delta); ofDelta != 0 && ofDelta != want {
		t.Fatalf("the delta says that %d messages are not shown, %d are true\nledger %+v\n%s", ofDelta, want, r.Ledger, prompt(r))
	}
}

// blocksOf returns the sections of messages that have text in what a turn adds.
func blocksOf(r assemble.Result) []assemble.SectionName {
	found := map[assemble.SectionName]bool{}
	for _, m := range r.Messages {
		for _, s := range m.Spans {
			if s.Section.Source() != assemble.SourceNone && s.To > s.From {
				found[s.Section] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func TestTheThreadsCountIsNotLessBecauseTheTranscriptShowsAPlatformsNote(t *testing.T) {
	t.Parallel()
	for replies := 12; replies <= 20; replies++ {
		list := []earshot.Message{said("r", "Alice", "staging is down")}
		for i := 1; i <= replies; i++ {
			name := "Bob"
			if i == 1 || i == 12 {
				name = "Slack"
			}
			m := said(fmt.Sprintf("n%03d", i), name, fmt.Sprintf("number %03d", i), in("r"))
			if name == "Slack" {
				m.Mentions = []earshot.AuthorID{"U0BOT"}
			}
			list = append(list, m)
		}
		x := asking("thread", append(list, said("q", "Alice", "well?", in("r")))...)
		r, err := assemble.Turn(x)
		if err != nil {
			t.Fatal(err)
		}
		checkCounts(t, x, r)
		want := ""
		if left := 1 + replies - 2 - 15; left > 0 {
			want = fmt.Sprintf("staging is down\n[%d earlier messages were left out]\n", left)
		}
		if got := prompt(r); want != "" && !strings.Contains(got, want) || want == "" && strings.Contains(got, "earlier messages were left out") {
			t.Errorf("%d replies: want %q in:\n%s", replies, want, got)
		}
	}
}

func TestALineInPlaceOfABlockSaysWhichBlockWhereThereAreSeveral(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("the worker waits for a lock ", 60)
	checkRules(t, []rule{
		{
			name: "a window and a chain of which nothing fits",
			in:   where(asking("standard", said("a", "Alice", long), said("b", "Bob", long), said("c", "Carol", long), said("d", "Dana", long, to("c")), said("q", "Carol", "well?", to("d"))), tokensOf(60)),
			is:   place + "[recent in this channel; 2 older messages not shown]\n\n[what this replies to; 2 older messages not shown]" + question + "09:00 Carol: well?",
		},
		{
			name: "a window beside a chain that is shown",
			in:   where(asking("standard", said("a", "Alice", long), said("b", "Bob", long), said("d", "Dana", "ok"), said("q", "Carol", "well?", to("d"))), tokensOf(100)),
			is:   place + "[recent in this channel; 2 older messages not shown]\n\n[what this replies to]\n[Mon 2 Mar]\n09:00 Dana: ok" + question + "09:00 Carol: well?",
		},
		{
			name: "a window alone",
			in:   where(asking("standard", said("a", "Alice", long), said("b", "Bob", long), said("q", "Carol", "well?")), tokensOf(60)),
			is:   place + "[2 older messages not shown]" + question + "09:00 Carol: well?",
		},
		{
			name: "a window beside a chain in another form",
			in:   where(asking("window", said("a", "Alice", long), said("b", "Bob", long), said("d", "Dana", "ok"), said("q", "Carol", "well?", to("d"))), tokensOf(60)),
			has:  []string{"[recent in this channel: 2 messages were left out]"},
		},
	})
}
