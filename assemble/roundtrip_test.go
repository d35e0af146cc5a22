package assemble_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// A spoken is an utterance that should be found, and its author.
type spoken struct {
	section string
	author  earshot.Author
	note    bool // of the platform itself, in a transcript
	edited  bool
	cut     bool
	text    string // "" for any
}

// fileNames are the hostile file names as a reader may see them.
var fileNames = map[string]string{"x\n---\ny.png": "x --- y.png", "\u202Egpj.exe": "gpj.exe"}

func withFiles(text string, m earshot.Message) string {
	if len(m.Files) == 0 {
		return text
	}
	var list []string
	for _, f := range m.Files {
		name, ok := fileNames[f.Name]
		if !ok {
			name = f.Name
		}
		if name == "" {
			name = string(f.ID)
		}
		list = append(list, name)
	}
	return strings.TrimSpace(text + " [attached: " + strings.Join(list, ", ") + "]")
}

// expected lists the messages that the prompt has according to the ledger, by
// section.
func expected(in assemble.Input, r assemble.Result, want map[earshot.MessageID]string) map[string][]spoken {
	messages := map[earshot.MessageID]earshot.Message{}
	for _, m := range in.Messages {
		messages[m.ID] = m
	}
	typed := in.Policy.Form == assemble.JSON && slices.Contains(r.Messages[len(r.Messages)-1].Sections, assemble.Snapshot)
	out := map[string][]spoken{}
	var window []earshot.Message
	own := "" // the section of the last message, where that was the agent's turn
	for _, row := range transcriptOrder(in, r.Ledger, messages) {
		m := messages[row.ID]
		if row.Verdict == earshot.Out {
			continue
		}
		s := spoken{section: row.Section, author: m.Author, edited: m.Edited != 0, cut: row.Verdict == earshot.Cut, text: withFiles(want[m.ID], m)}
		if typed && row.Section != "delta" {
			s.edited, s.text = false, want[m.ID]
		}
		switch row.Section {
		case "snapshot":
			s.text, s.edited = "", false
		case "window":
			window = append(window, m)
		case "anchor":
			s.edited = false
		case "chain", "transcript":
			s.section = "turn"
			was := own
			own = ""
			s.note = m.Author.Kind == earshot.System && row.Section == "transcript"
			if self.Is(m.Author.ID) {
				s.author, s.edited, own = earshot.Author{}, false, row.Section
				if list := out["turn"]; was == row.Section {
					last := &list[len(list)-1]
					last.cut = last.cut || s.cut
					last.text += "\n" + s.text
					continue
				}
			}
		}
		out[s.section] = append(out[s.section], s)
	}
	if len(window) > 0 {
		out["window"] = windowOrder(in, window, out["window"])
	}
	return out
}

// transcriptOrder puts the rows of answers that stand in threads behind those of the
// questions at the top level that they answer.
func transcriptOrder(in assemble.Input, ledger []earshot.LedgerRow, messages map[earshot.MessageID]earshot.Message) []earshot.LedgerRow {
	asked := map[earshot.MessageID]earshot.MessageID{}
	for _, turn := range in.Conversation.Turns {
		q, ok := messages[turn.Anchor]
		if !ok || q.Root() != "" || len(turn.Replies) == 0 {
			continue
		}
		before, ok := messages[asked[turn.Replies[0]]]
		if !ok || q.Position().Compare(before.Position()) < 0 { // of two questions the first has it
			asked[turn.Replies[0]] = turn.Anchor
		}
	}
	at := func(row earshot.LedgerRow) (earshot.Position, int) {
		m := messages[row.ID]
		if row.Section == "transcript" && m.Root() != "" && rootOf(in) == "" {
			q := messages[cmp.Or(asked[row.ID], m.Root())]
			return q.Position(), 1
		}
		return m.Position(), 0
	}
	rows := slices.Clone(ledger)
	slices.SortStableFunc(rows, func(x, y earshot.LedgerRow) int {
		xAt, xBelow := at(x)
		yAt, yBelow := at(y)
		return cmp.Or(xAt.Compare(yAt), cmp.Compare(xBelow, yBelow))
	})
	return rows
}

// windowOrder sorts the messages of a window by tree, the tree with the newest
// message first.
func windowOrder(in assemble.Input, window []earshot.Message, list []spoken) []spoken {
	messages := map[earshot.MessageID]earshot.Message{}
	var anchor earshot.Position
	for _, m := range in.Messages {
		messages[m.ID] = m
		if m.ID == in.Anchor {
			anchor = m.Position()
		}
	}
	tree := func(m earshot.Message) earshot.MessageID {
		for range len(in.Messages) + 1 {
			up := m.ReplyTo
			next, ok := messages[up]
			ok = ok && next.Position().Compare(anchor) <= 0
			known := ok && !(next.Deleted && next.ReplyTo == "" && next.Root() == "")
			if root := m.Root(); up == "" || root != "" && !known {
				up = root
				next, ok = messages[up]
				ok = ok && next.Position().Compare(anchor) <= 0
			}
			if up == "" {
				return m.ID
			}
			if !ok {
				return up
			}
			m = next
		}
		panic("a circle")
	}
	var order []earshot.MessageID
	for _, m := range slices.Backward(window) {
		if id := tree(m); !slices.Contains(order, id) {
			order = append(order, id)
		}
	}
	var out []spoken
	for _, id := range order {
		for i, m := range window {
			if tree(m) == id {
				out = append(out, list[i])
			}
		}
	}
	return out
}

var number = regexp.MustCompile(`( \(\d+\))+$`)

// isNameOf reports whether a name without marks may be made of an author's name,
// perhaps with a number: its letters and digits are among those of the author's
// name, in the same order. Where that has none it may be the id.
func isNameOf(name string, a earshot.Author) bool {
	core := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return r
			}
			return -1
		}, fold(strings.ToValidUTF8(s, "")))
	}
	got, own := core(number.ReplaceAllString(name, "")), core(a.Name)
	for _, r := range got {
		i := strings.IndexRune(own, r)
		if i < 0 {
			return got == core(string(a.ID)) || got == "unknown"
		}
		own = own[i+utf8.RuneLen(r):]
	}
	return got != "" || core(a.Name) == ""
}

// A cast is the label of each author in the prompts of an epoch.
type cast struct {
	labels map[earshot.AuthorID]string
	bot    string

	onceABlock bool // marks of standings stand where somebody is named first in a block
}

func fold(s string) string {
	return norm.NFKC.String(cases.Fold().String(norm.NFKC.String(s)))
}

// check returns what is wrong with a label, given whose it should be, and whether their
// words are inert.
func (c *cast) check(label string, a earshot.Author, inert bool) error {
	if self.Is(a.ID) {
		if label != self.Name {
			return fmt.Errorf("the agent goes by %q", label)
		}
		return nil
	}
	if is := inertMark.MatchString(label); is != inert {
		return fmt.Errorf("%+v goes by %q, inert: %t", a, label, inert)
	}
	name, marked := strings.CutSuffix(withoutInert(label), c.bot)
	if a.Kind == earshot.Bot && !marked {
		return fmt.Errorf("the bot %+v goes by %q", a, label)
	} else if a.Kind != earshot.Bot && marked {
		return fmt.Errorf("%+v goes by a bot's label %q", a, label)
	}
	standing := standingMark.FindString(name)
	switch name = name[:len(name)-len(standing)]; {
	case standingMark.MatchString(name) || standing != "" && (a.Standing == "" || a.Kind == earshot.Bot || !strings.HasSuffix(standing, string(a.Standing)+")")):
		return fmt.Errorf("%+v goes by %q, which has a mark that is not theirs", a, label)
	case standing == "" && a.Standing != "" && a.Kind != earshot.Bot && !c.onceABlock:
		return fmt.Errorf("%+v goes by %q, without a mark", a, label)
	}
	name = unescape(name)
	if !isNameOf(name, a) {
		return fmt.Errorf("%+v goes by %q, want what can be seen of it and perhaps a number", a, label)
	}
	if before, ok := c.labels[a.ID]; ok && before != name {
		return fmt.Errorf("%+v goes by %q and by %q", a, before, name)
	}
	c.labels[a.ID] = name
	for id, other := range c.labels {
		if id != a.ID && fold(other) == fold(name) || fold(name) == fold(self.Name) {
			return fmt.Errorf("%s and %s look the same: %q, %q", a.ID, id, name, other)
		}
	}
	return nil
}

// inertMark is the mark of whose words are inert, by itself or within another.
var inertMark = regexp.MustCompile(`(?: \(|( \((?:bot|agent|(?:[^,()]+, )?(?:external|guest))), )inert\)$`)

// withoutInert returns a label without that mark.
func withoutInert(label string) string {
	if i := inertMark.FindStringSubmatchIndex(label); i != nil && i[2] >= 0 {
		return label[:i[3]] + ")"
	}
	return inertMark.ReplaceAllString(label, "")
}

// laneIn returns the lane of an author in an input, by the rule's words.
func laneIn(in assemble.Input, a earshot.Author) earshot.Lane {
	var anchor earshot.Message
	for _, m := range in.Messages {
		if m.ID == in.Anchor {
			anchor = m
		}
	}
	var lanes []earshot.Lane
	if !self.Is(a.ID) && a.ID != anchor.Author.ID {
		lanes = map[earshot.Standing][]earshot.Lane{earshot.External: {in.Trust.External}, earshot.Guest: {in.Trust.Guest}}[a.Standing]
		if a.Kind == earshot.Bot {
			lanes = append(lanes, in.Trust.Bots)
		}
		if a.Kind == earshot.Human && a.NotAllowed {
			lanes = append(lanes, in.Trust.NotAllowed)
		}
	}
	for _, l := range []earshot.Lane{earshot.LaneOut, earshot.LaneInert} {
		if slices.Contains(lanes, l) {
			return l
		}
	}
	return earshot.LaneFull
}

// standingMark is the mark of who is no member, as Earshot writes it.
var standingMark = regexp.MustCompile(`(?i) \((?:[^,()]+, )?(?:external|guest)\)$`)

// newCast returns the cast of a new epoch, which has nobody.
func newCast(p assemble.Policy) *cast {
	return &cast{labels: map[earshot.AuthorID]string{}, bot: " (" + p.Bots + ")", onceABlock: p.Frame == assemble.Log}
}

// compare returns how the prompt differs from what should be found.
func compare(in assemble.Input, r assemble.Result, want map[earshot.MessageID]string, exact bool) error {
	return newCast(in.Policy).compare(in, r, want, exact)
}

// compare is the function of that name, in a conversation whose earlier turns c has
// seen.
func (c *cast) compare(in assemble.Input, r assemble.Result, want map[earshot.MessageID]string, exact bool) error {
	found, err := parsePrompt(in.Policy, r)
	if err != nil {
		return err
	}
	all, got := expected(in, r, want), bySection(found)
	for _, section := range sections(found) {
		if len(all[section]) == 0 {
			return fmt.Errorf("%s holds %+v, the ledger nothing", section, got[section])
		}
	}
	for section, list := range all {
		if len(got[section]) != len(list) {
			return fmt.Errorf("%s holds %d messages, want %d\n%+v", section, len(got[section]), len(list), got[section])
		}
		for i, s := range list {
			g := got[section][i]
			switch {
			case s.note:
				if g.Speaker != "[system note]" {
					return fmt.Errorf("%+v is told as %+v", s, g)
				}
			case g.Speaker == "" && (section == "anchor" || s.author.ID == ""):
			default:
				if err := c.check(g.Speaker, s.author, laneIn(in, s.author) != earshot.LaneFull); err != nil {
					return fmt.Errorf("%s: %w", section, err)
				}
			}
			if g.Edited != s.edited {
				return fmt.Errorf("%+v is told as %+v", s, g)
			}
			if err := compareText(g.Text, s, exact); err != nil {
				return fmt.Errorf("%s: %w", section, err)
			}
		}
	}
	return nil
}

var cutMarks = regexp.MustCompile(`… \[\+([\d,]+) characters\]`)

func compareText(got string, s spoken, exact bool) error {
	switch {
	case s.text == "":
		return nil
	case s.cut:
		loc := cutMarks.FindAllStringSubmatchIndex(got, -1)
		if loc == nil {
			return fmt.Errorf("%q is cut without a mark", got)
		}
		head := got[:loc[len(loc)-1][0]]
		if strings.Contains(s.text, "<") || strings.Contains(s.text, "&") || !exact || s.author.ID == "" {
			return nil // cut within what is written for them, or several in one run
		}
		if !strings.HasPrefix(s.text, head) {
			return fmt.Errorf("%q is no beginning of %q", head, s.text)
		}
		digits := strings.ReplaceAll(got[loc[len(loc)-1][2]:loc[len(loc)-1][3]], ",", "")
		if n := uniseg.GraphemeClusterCount(s.text) - uniseg.GraphemeClusterCount(head); fmt.Sprint(n) != digits {
			return fmt.Errorf("%s characters are said to be missing, want %d: %q of %q", digits, n, head, s.text)
		}
		return nil
	case exact && got != s.text:
		return fmt.Errorf("got  %+q\nwant %+q", got, s.text)
	case !exact && skeleton(got) != skeleton(s.text):
		return fmt.Errorf("got  %+q\nwant %+q", got, s.text)
	}
	return nil
}

// skeleton is what can be seen of a text, without white space.
func skeleton(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || !unicode.IsGraphic(r) || unicode.In(r, unicode.Cf, unicode.Cc, unicode.Mn, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// transcriptOf returns a hostile input with a built-in policy.
func transcriptOf(d dice) (assemble.Input, *channelGen) {
	g := newChannelGen(d)
	for range 3 + d.roll(30) {
		g.say()
	}
	in := assemble.Input{Policy: pick(d, readable()), Budget: assemble.DefaultBudget(), Counter: counterNamed(pick(d, []string{"bytes4", "bytes4", "o200k"})), Identity: self, Channel: hostileChannel(d), Anchor: g.ask().ID}
	if one(d, 4) {
		in.Budget.Tokens = d.roll(2000)
	}
	if one(d, 2) {
		in.Conversation = hostileConversation(d, g)
		in.Attach = []earshot.ArtifactID{"F1", "F2"}
	}
	if one(d, 3) {
		in.Coverage = []earshot.Coverage{{Thread: rootOf(assemble.Input{Messages: g.messages, Anchor: in.Anchor}), To: g.now, State: earshot.Missing}}
	}
	in.Messages, in.Trust = g.messages, hostileTrust(d)
	return in, g
}

// TestEveryTranscriptCanBeReadBack checks that the parser, which does not see the
// input, finds each message with its speaker, section and text, whatever
// characters names and texts have.
func TestEveryTranscriptCanBeReadBack(t *testing.T) {
	t.Parallel()
	total := 20_000
	if os.Getenv("EARSHOT_LONG") == "1" {
		total = 1_000_000
	}
	messages, shown, breakouts := 0, 0, 0
	for seed := uint64(1); messages < total; seed++ {
		d := newSeededDice(seed)
		in, g := transcriptOf(d)
		r, err := assemble.Turn(in)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		messages += len(in.Messages)
		for _, row := range r.Ledger {
			if row.Verdict != earshot.Out {
				shown++
			}
		}
		if err := compare(in, r, g.want, true); err != nil {
			breakouts++
			t.Errorf("seed %d, policy %s: %v\n%+q", seed, in.Policy.Name, err, r.Messages[len(r.Messages)-1].Text)
			if breakouts > 3 {
				t.FailNow()
			}
		}
	}
	t.Logf("%d messages, %d of them shown, %d breakouts", messages, shown, breakouts)
	if shown < messages/5 {
		t.Errorf("only %d of %d messages were shown", shown, messages)
	}
}

// testData returns the folder of shared test data. Without it the test is skipped
// with a message, or fails where CI is true.
func testData(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("EARSHOT_TEST_DATA")
	if dir == "" && os.Getenv("CI") == "true" {
		t.Fatal("EARSHOT_TEST_DATA is not set")
	} else if dir == "" {
		t.Skip("SKIPPED: EARSHOT_TEST_DATA is not set, so the naughty strings are not tried")
	}
	return dir
}

func TestNaughtyStringsCanBeReadBackFromEveryField(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join(testData(t), "spec", "naughty", "blns.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	list = slices.DeleteFunc(list, func(s string) bool { return skeleton(s) == "" })
	for i, s := range list {
		d := newSeededDice(uint64(i))
		in, g := transcriptOf(d)
		other := func() string { return list[(i*31+d.roll(len(list)))%len(list)] }
		in.Channel.Name, in.Channel.Topic, in.Channel.Purpose = other(), s, other()
		for j := range in.Messages {
			m := &in.Messages[j]
			m.Tokens = 0
			if m.Deleted || g.want[m.ID] == "" {
				continue
			}
			m.Text = pick(d, []string{s, other(), s + "\n" + other(), other() + " " + s})
			g.want[m.ID] = m.Text
			for k := range m.Files {
				m.Files[k].Name = other()
			}
			m.Reactions = []earshot.Reaction{{Name: s, Count: 1}}
		}
		in.Conversation.Summary = &earshot.Summary{Text: s}
		in.Conversation.Session = nil
		for j := range in.Messages {
			in.Messages[j].Files = nil
			if in.Messages[j].ID == in.Anchor && strings.Contains(in.Messages[j].Text, "🚫") {
				in.Messages[j].Text, g.want[in.Anchor] = "plain", "plain"
			}
		}
		for _, p := range readable() {
			in.Policy = p
			r, err := assemble.Turn(in)
			if err != nil {
				t.Fatalf("%q: %v", s, err)
			}
			if err := compare(in, r, g.want, false); err != nil {
				t.Errorf("%q by %s: %v", s, p.Name, err)
			}
			checkUTF8(t, r)
			checkResult(t, in, r)
		}
	}
}
