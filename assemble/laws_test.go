package assemble_test

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// mustTurn assembles in; ok is false where the input is refused with a proper
// error.
func mustTurn(t rapid.TB, in assemble.Input) (assemble.Result, bool) {
	t.Helper()
	r, err := assemble.Turn(in)
	if err == nil {
		return r, true
	}
	var bad *assemble.InputError
	if !errors.As(err, &bad) && !errors.Is(err, assemble.ErrBudgetTooSmall) {
		t.Fatalf("an error of neither kind: %v", err)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Fatalf("an error in several lines: %q", err)
	}
	return r, false
}

// lawSeeds is with how many seeds each law is checked, besides what rapid draws:
// their inputs are larger.
const lawSeeds = 200

// forInputs checks a property with hostile inputs.
func forInputs(t *testing.T, property func(t rapid.TB, d dice, in assemble.Input, r assemble.Result)) {
	t.Helper()
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := rapidDice{t}
		in, _ := lawInput(d)
		if r, ok := mustTurn(t, in); ok {
			property(t, d, in, r)
		}
	})
	for seed := range uint64(lawSeeds) {
		d := newSeededDice(seed)
		in, _ := lawInput(d)
		if r, ok := mustTurn(t, in); ok {
			property(seededTB{t, seed}, d, in, r)
		}
	}
}

// A seededTB names the seed in its failures.
type seededTB struct {
	rapid.TB
	seed uint64
}

func (n seededTB) Fatalf(format string, args ...any) {
	n.Helper()
	n.TB.Fatalf("seed %d: "+format, append([]any{n.seed}, args...)...)
}

// prompt is the text that the hash is of.
func prompt(r assemble.Result) string {
	s := r.System
	for _, m := range r.Messages {
		s += "\x00" + string(m.Role) + "\x00" + m.Text
	}
	return s
}

// chat is all text except system text and session.
func chat(in assemble.Input, r assemble.Result) string {
	var b strings.Builder
	for _, m := range r.Messages {
		for _, s := range m.Spans {
			if s.Section != assemble.SessionPart {
				b.WriteString(m.Text[s.From:s.To] + "\n")
			}
		}
	}
	return b.String()
}

// text is the text of some sections of the prompt.
func text(r assemble.Result, sections ...assemble.SectionName) string {
	var b strings.Builder
	for _, m := range r.Messages {
		for _, s := range m.Spans {
			if slices.Contains(sections, s.Section) {
				b.WriteString(m.Text[s.From:s.To] + "\n")
			}
		}
	}
	return b.String()
}

func samePrompt(t rapid.TB, why string, got, want assemble.Result) {
	t.Helper()
	if g, w := prompt(got), prompt(want); g != w {
		t.Fatalf("%s: another prompt (-got +want):\n%s", why, cmp.Diff(g, w))
	}
}

func sameResult(t rapid.TB, why string, got, want assemble.Result) {
	t.Helper()
	samePrompt(t, why, got, want)
	if d := cmp.Diff(got, want); d != "" {
		t.Fatalf("%s: another result (-got +want):\n%s", why, d)
	}
}

func TestLaw1TheOrderOfTheInputAndDoublesChangeNothing(t *testing.T) {
	forInputs(t, func(t rapid.TB, d dice, in assemble.Input, r assemble.Result) {
		other := clone(in)
		other.Messages = shuffled(d, append(other.Messages, pick(d, in.Messages), pick(d, in.Messages)))
		other.Conversation.Shown = shuffled(d, other.Conversation.Shown)
		other.Coverage = shuffled(d, other.Coverage)
		got, err := assemble.Turn(other)
		if err != nil {
			t.Fatalf("shuffled: %v", err)
		}
		sameResult(t, "shuffled", got, r)
	})
}

func TestLaw2NoBudgetIsExceeded(t *testing.T) {
	forInputs(t, func(t rapid.TB, _ dice, in assemble.Input, r assemble.Result) { checkBudget(t, in, r) })
}

func checkBudget(t rapid.TB, in assemble.Input, r assemble.Result) {
	t.Helper()
	b := in.Budget
	if b == (assemble.Budget{}) {
		b = assemble.DefaultBudget()
	}
	s := r.Tokens.Sections
	if r.Tokens.Total > b.Limit {
		t.Fatalf("%d tokens, the limit is %d: %v", r.Tokens.Total, b.Limit, s)
	}
	if s[assemble.SessionPart] > b.Session {
		t.Fatalf("%d tokens of session, the limit is %d", s[assemble.SessionPart], b.Session)
	}
	added := r.Tokens.Total
	for _, name := range []assemble.SectionName{assemble.Guide, assemble.Instructions, assemble.SessionPart, assemble.Place, assemble.SubjectPart, assemble.Anchor} {
		added -= s[name]
	}
	rooted := assemble.SectionName("")
	for _, row := range r.Ledger {
		if row.ID == rootOf(in) && (row.Section == "thread" || row.Section == "delta") && row.Verdict == earshot.Full {
			added -= row.Tokens
			rooted = assemble.SectionName(row.Section)
		}
	}
	if added <= b.Tokens {
		return
	}
	// The root and the lines around it are shown for any budget.
	frame := s[rooted]
	for _, row := range r.Ledger {
		if assemble.SectionName(row.Section) == rooted && row.Verdict != earshot.Out {
			frame -= row.Tokens
		}
	}
	if rooted == "" || added > frame {
		t.Fatalf("this turn adds %d tokens, the budget is %d: %v", added, b.Tokens, s)
	}
}

func rootOf(in assemble.Input) earshot.MessageID {
	for _, m := range in.Messages {
		if m.ID == in.Anchor {
			return m.Root()
		}
	}
	return ""
}

func TestTokensAreThoseOfThePrompt(t *testing.T) {
	forInputs(t, func(t rapid.TB, _ dice, in assemble.Input, r assemble.Result) { checkCount(t, in, r) })
}

// checkCount compares the sum of the parts with the count of the whole. Parts are
// counted separately, so their sum is a little higher, and hardly ever lower.
func checkCount(t rapid.TB, in assemble.Input, r assemble.Result) {
	t.Helper()
	sum := 0
	for name, n := range r.Tokens.Sections {
		if n < 0 {
			t.Fatalf("section %s has %d tokens", name, n)
		}
		sum += n
	}
	if sum != r.Tokens.Total {
		t.Fatalf("the sections sum to %d, the total is %d", sum, r.Tokens.Total)
	}
	got, want := r.Tokens.Counter, in.Counter.Name()
	if got != want {
		t.Fatalf("counter %q, want %q", got, want)
	}
	whole := 0
	if r.System != "" {
		whole = in.Counter.Count(r.System)
	}
	for _, m := range r.Messages {
		whole += in.Counter.Count(m.Text)
	}
	if r.Tokens.Total < whole {
		t.Fatalf("%d tokens are reported; the counter says %d: %v\n%s", r.Tokens.Total, whole, r.Tokens.Sections, prompt(r))
	}
}

var markers = regexp.MustCompile(`zq\d{4}r\dz`)

func TestLaw3NoMessageStandsTwice(t *testing.T) {
	forInputs(t, func(t rapid.TB, _ dice, in assemble.Input, r assemble.Result) {
		count := map[string]string{}
		for _, m := range markers.FindAllString(chat(in, r), -1) {
			id := m[:6]
			if before, ok := count[id]; ok {
				t.Fatalf("message %s stands twice, as %s and %s:\n%s", id, before, m, chat(in, r))
			}
			count[id] = m
		}
	})
}

var (
	outReasons = []string{"shown", "considered", "own-recorded", "deleted", "blank", "not-addressed", "cap", "budget", "after-anchor", "other-conversation", "isolated", "system", "late", "summarised", "news", "untrusted"}
	inReason   = regexp.MustCompile(`^(transcript|snapshot|recall|window|thread|chain|delta|news|anchor)(, edited)?(, late)?(, guessed)?$`)
)

func TestLaw4TheLedgerHasOneRowForEachMessage(t *testing.T) {
	forInputs(t, func(t rapid.TB, _ dice, in assemble.Input, r assemble.Result) {
		checkLedger(t, in, r)
		newest := map[earshot.MessageID]earshot.Message{}
		for _, m := range in.Messages {
			newest[m.ID] = m
		}
		said := map[string]bool{}
		for _, m := range markers.FindAllString(chat(in, r), -1) {
			said[m[:6]] = true
		}
		for _, row := range r.Ledger {
			mark := markers.FindString(newest[row.ID].Text)
			if mark == "" {
				continue
			}
			if seen := said[mark[:6]]; seen && row.Verdict == earshot.Out || !seen && row.Verdict == earshot.Full {
				t.Fatalf("row %+v, but its text is in the prompt: %v\n%s", row, seen, chat(in, r))
			}
		}
	})
}

func checkLedger(t rapid.TB, in assemble.Input, r assemble.Result) {
	t.Helper()
	ids := map[earshot.MessageID]bool{}
	for _, m := range in.Messages {
		ids[m.ID] = true
	}
	cost := map[assemble.SectionName]int{}
	for _, row := range r.Ledger {
		if !ids[row.ID] {
			t.Fatalf("row %+v is of no message, or the second one of it", row)
		}
		delete(ids, row.ID)
		switch row.Verdict {
		case earshot.Out:
			if !slices.Contains(outReasons, row.Reason) || row.Tokens != 0 {
				t.Fatalf("row %+v: reason or tokens of what is out", row)
			}
		case earshot.Full, earshot.Cut, earshot.Snippet:
			if !inReason.MatchString(row.Reason) || !strings.HasPrefix(row.Reason, row.Section) || row.Tokens <= 0 {
				t.Fatalf("row %+v: reason, section or tokens of what is shown", row)
			}
			short, title := row.Section == "snapshot" || row.Section == "news", row.Section == "window" && inForum(in)
			if row.Verdict == earshot.Snippet && !short && !title || row.Verdict != earshot.Snippet && short {
				t.Fatalf("row %+v: snippets are the snapshot's, those of news, and the other posts of a forum", row)
			}
			cost[assemble.SectionName(row.Section)] += row.Tokens
		default:
			t.Fatalf("row %+v: unknown verdict", row)
		}
		if (row.ID == in.Anchor) != (row.Section == "anchor") || row.Section == "anchor" && row.Verdict != earshot.Full {
			t.Fatalf("row %+v: the anchor, and nothing else, is the anchor", row)
		}
	}
	if len(ids) > 0 {
		t.Fatalf("no row for %v", ids)
	}
	for name, n := range cost {
		if have := r.Tokens.Sections[name]; have < n {
			t.Fatalf("the rows of %s cost %d, the section %d: %+v\n%s", name, n, have, r.Ledger, chat(in, r))
		}
	}
}

// raise returns the policy with one limit higher, or false where the section has
// none that qualifies. Cut and snippet do not, because of longer messages fewer
// fit; nor threads, because a further tree competes for the same room.
func raise(d dice, p assemble.Policy) (assemble.Policy, assemble.SectionName, bool) {
	p = p.WithDefaults()
	lists := [][]assemble.Section{p.First, p.Later}
	list := lists[d.roll(2)]
	if len(list) == 0 {
		list = p.First
	}
	s := &list[d.roll(len(list))]
	var limits []*int
	for _, v := range []*int{&s.Messages, &s.Tokens, &s.Look, &s.Minutes} {
		if *v > 0 {
			limits = append(limits, v)
		}
	}
	if len(limits) == 0 {
		return p, "", false
	}
	*pick(d, limits) += 1 + d.roll(pick(d, []int{3, 300}))
	return p, s.Section, true
}

func TestLaw5AHigherLimitRemovesNothing(t *testing.T) {
	forInputs(t, func(t rapid.TB, d dice, in assemble.Input, r assemble.Result) {
		in = clone(in)
		in.Policy = in.Policy.WithDefaults()
		r, ok := mustTurn(t, in)
		if !ok {
			t.Fatalf("limits spelled out make an error")
		}
		more, section, ok := raise(d, in.Policy)
		if !ok {
			return
		}
		was := in.Policy
		in.Policy = more
		got, ok := mustTurn(t, in)
		if !ok {
			t.Fatalf("higher limits make an error")
		}
		for i, row := range r.Ledger {
			if row.Section == string(section) && row.Verdict != earshot.Out && got.Ledger[i].Verdict == earshot.Out {
				t.Fatalf("with a higher limit of %s %+v is now %+v\nwas %+v\nnow %+v", section, row, got.Ledger[i], was, more)
			}
		}
	})
}

func TestSpellingOutDefaultsChangesNothing(t *testing.T) {
	forInputs(t, func(t rapid.TB, _ dice, in assemble.Input, r assemble.Result) {
		in = clone(in)
		in.Policy = in.Policy.WithDefaults()
		got, _ := mustTurn(t, in)
		sameResult(t, "limits spelled out", got, r)
	})
}

func TestLaw6OtherConversationsChangeNothingHere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := rapidDice{t}
		in, g := lawInput(d)
		in.Budget = assemble.Budget{Tokens: 1 << 20, Session: 1 << 20, Limit: 1 << 22}
		root := rootOf(in)
		if root == "" {
			return // at the top level the channel is the conversation
		}
		r, ok := mustTurn(t, in)
		if !ok {
			return
		}
		here := func(r assemble.Result) string {
			return text(r, assemble.Delta, assemble.Thread, assemble.Transcript, assemble.Chain, assemble.Anchor)
		}
		other := clone(in)
		kept := map[earshot.MessageID]bool{root: true}
		for _, m := range in.Messages {
			if m.Root() == root {
				kept[m.ID] = true
			}
		}
		for _, s := range in.Conversation.Shown {
			kept[s.ID] = true // an edit of what was shown is news here, wherever it stands
		}
		for _, id := range besideInDM(in, r, root) {
			kept[id] = true
		}
		for i := range other.Messages {
			m := &other.Messages[i]
			if !kept[m.ID] && m.ReplyTo == "" {
				m.Text += " changed " + marker(9000+i, 0)
				m.Tokens = 0
				m.Reactions = nil
			}
		}
		// The snapshot has the anchor, and a chain may lead anywhere.
		for _, m := range g.messages {
			if m.ReplyTo != "" {
				return
			}
		}
		got, ok := mustTurn(t, other)
		if !ok {
			t.Fatalf("other conversations make an error")
		}
		if in.Policy.Form == assemble.Text {
			if g, w := here(got), here(r); g != w {
				t.Fatalf("what was said elsewhere changes what stands here (-got +want):\n%s", cmp.Diff(g, w))
			}
		}
	})
}

// besideInDM returns the agent's answers to the root of a thread that stand beside it in a
// direct message, and so belong to the thread's conversation: what it says after the root,
// before anybody else does.
func besideInDM(in assemble.Input, r assemble.Result, root earshot.MessageID) (ids []earshot.MessageID) {
	if in.Channel.Kind != earshot.KindDM {
		return nil
	}
	silent := map[earshot.MessageID]bool{}
	for _, row := range r.Ledger {
		silent[row.ID] = row.Reason == "blank" || row.Reason == "deleted"
	}
	list := slices.Clone(in.Messages)
	slices.SortStableFunc(list, func(a, b earshot.Message) int { return a.Position().Compare(b.Position()) })
	after := false
	for _, m := range list {
		own := in.Identity.Is(m.Author.ID)
		switch {
		case m.ID == root:
			after = true
		case !after || silent[m.ID] || m.Root() != "" || m.Author.Kind == earshot.System:
		case !own:
			return ids
		default:
			ids = append(ids, m.ID)
		}
	}
	return ids
}

func TestLaw7EverythingIsValidUTF8(t *testing.T) {
	forInputs(t, func(t rapid.TB, _ dice, in assemble.Input, r assemble.Result) { checkUTF8(t, r) })
}

func checkUTF8(t rapid.TB, r assemble.Result) {
	t.Helper()
	for _, m := range r.Messages {
		if slices.Contains(m.Sections, assemble.SessionPart) {
			continue // as recorded, byte for byte
		}
		if !utf8.ValidString(m.Text) {
			t.Fatalf("broken UTF-8: %q", m.Text)
		}
		for _, s := range m.Spans {
			if !utf8.ValidString(m.Text[s.From:s.To]) {
				t.Fatalf("a section ends inside a character: %q", m.Text[s.From:s.To])
			}
		}
	}
	for _, n := range r.Notes {
		if !utf8.ValidString(n.Text) || strings.Contains(n.Text, "\n") {
			t.Fatalf("a note that is no line: %q", n.Text)
		}
	}
}

func TestLaw8RootAnchorAndInstructionsAreWhole(t *testing.T) {
	forInputs(t, func(t rapid.TB, _ dice, in assemble.Input, r assemble.Result) {
		if !strings.HasSuffix(r.System, in.Instructions) {
			t.Fatalf("the system text lacks the operator's: %q", r.System)
		}
		for _, row := range r.Ledger {
			if row.ID == in.Anchor && row.Verdict != earshot.Full {
				t.Fatalf("the anchor is %+v", row)
			}
			if row.ID == rootOf(in) && (row.Section == "thread" || row.Section == "delta") && row.Verdict == earshot.Cut {
				t.Fatalf("the root is %+v", row)
			}
			// A first turn in a thread shows its root, for any budget.
			if row.ID == rootOf(in) && row.Verdict == earshot.Out && slices.Contains([]string{"cap", "budget"}, row.Reason) &&
				hasSection(in.Policy.First, assemble.Thread) && len(in.Conversation.Session) == 0 && minutes(in.Policy) == 0 {
				t.Fatalf("the root is %+v", row)
			}
		}
	})
}

func hasSection(list []assemble.Section, name assemble.SectionName) bool {
	return slices.ContainsFunc(list, func(s assemble.Section) bool { return s.Section == name })
}

func minutes(p assemble.Policy) int {
	n := 0
	for _, s := range slices.Concat(p.First, p.Later) {
		n += s.Minutes
	}
	return n
}

func TestLaw11WhatFollowsTheAnchorChangesNothing(t *testing.T) {
	forInputs(t, func(t rapid.TB, d dice, in assemble.Input, r assemble.Result) {
		var at earshot.Position
		for _, m := range in.Messages {
			if m.ID == in.Anchor {
				at = m.Position()
			}
		}
		for _, m := range in.Messages {
			if m.ID == in.Anchor && m.Position().Compare(at) > 0 {
				at = m.Position()
			}
		}
		other := clone(in)
		added := map[earshot.MessageID]bool{}
		for i := range 1 + d.roll(4) {
			g := newChannelGen(d)
			m := *g.ask()
			m.ID = earshot.MessageID(fmt.Sprintf("zzz%d", i))
			m.Time = at.Time + earshot.Time(d.roll(2)) // at the same time, with a greater id
			m.Thread = pick(d, []earshot.MessageID{"", in.Anchor, rootOf(in), pick(d, in.Messages).ID})
			m.ReplyTo = pick(d, []earshot.MessageID{"", in.Anchor, pick(d, in.Messages).ID})
			m.Author = pick(d, in.Messages).Author
			m.Author.Name = pick(d, hostileNames)
			m.Deleted = one(d, 4)
			m.Seq = int64(d.roll(40))
			other.Messages = append(other.Messages, m)
			added[m.ID] = true
		}
		got, err := assemble.Turn(other)
		if err != nil {
			t.Fatal(err)
		}
		got.Ledger = slices.DeleteFunc(got.Ledger, func(row earshot.LedgerRow) bool {
			if added[row.ID] && (row.Verdict != earshot.Out || row.Reason != "after-anchor") {
				t.Fatalf("a message after the anchor is %+v", row)
			}
			return added[row.ID]
		})
		sameResult(t, "messages after the anchor", got, r)
	})
}

func TestLaw12TheStoreChangesNothing(t *testing.T) {
	forInputs(t, func(t rapid.TB, d dice, in assemble.Input, r assemble.Result) {
		other := clone(in)
		step := int64(1 + d.roll(5))
		for i := range other.Messages {
			m := &other.Messages[i]
			m.Seq *= step // another store numbers otherwise
			m.Tokens = 0  // and keeps no counts
		}
		other.Conversation.Cursor *= step
		got, err := assemble.Turn(other)
		if err != nil {
			t.Fatal(err)
		}
		if got.Next.Cursor != r.Next.Cursor*step {
			t.Fatalf("cursor %d, want %d", got.Next.Cursor, r.Next.Cursor*step)
		}
		got.Next.Cursor = r.Next.Cursor
		sameResult(t, "another store", got, r)
	})
}

func TestLaw12PlatformAndModelChangeNothing(t *testing.T) {
	forInputs(t, func(t rapid.TB, d dice, in assemble.Input, _ assemble.Result) {
		in = clone(in)
		in.Budget = assemble.Budget{Tokens: 1 << 20, Session: 1 << 20, Limit: 1 << 22}
		in.Policy = pick(d, []assemble.Policy{policy("delta"), policy("thread"), policy("window")})
		for _, list := range [][]assemble.Section{in.Policy.First, in.Policy.Later} {
			for i := range list {
				if list[i].Tokens > 0 {
					list[i].Tokens = 1 << 20
				}
			}
		}
		r, ok := mustTurn(t, in)
		if !ok {
			return
		}
		in.Channel.Platform, in.Channel.Workspace, in.Channel.ID = "telegram", "W7", "C7"
		in.Counter = counter(d)
		for i := range in.Messages {
			in.Messages[i].Tokens = 0
		}
		got, ok := mustTurn(t, in)
		if !ok {
			t.Fatal("another platform makes an error")
		}
		samePrompt(t, "another platform and counter", got, r)
	})
}

func policy(name string) assemble.Policy {
	p, ok := assemble.ByName(name)
	if !ok {
		panic(name)
	}
	return p
}

func TestTheSameInputGivesTheSameResultAndStaysAsItIs(t *testing.T) {
	forInputs(t, func(t rapid.TB, _ dice, in assemble.Input, r assemble.Result) {
		before := clone(in)
		got, err := assemble.Turn(in)
		if err != nil {
			t.Fatal(err)
		}
		sameResult(t, "run again", got, r)
		if !reflect.DeepEqual(in, before) {
			t.Fatal("the input was changed")
		}
	})
}

// inForum reports whether the question is a forum's post, or is asked in one.
func inForum(in assemble.Input) bool {
	for _, m := range in.Messages {
		if (m.ID == in.Anchor || m.ID == rootOf(in)) && m.Subject != nil && m.Subject.Post && !m.Deleted {
			return true
		}
	}
	return false
}
