package gather_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/tokens"
)

var (
	self    = earshot.Identity{ID: "U0BOT", Name: "earshot", Aliases: []earshot.AuthorID{"B0BOT"}}
	general = earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "C1", Name: "general", Kind: earshot.KindChannel, Topic: "all"}
)

func counter(t testing.TB) assemble.Counter {
	t.Helper()
	c, err := tokens.For("o200k")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func open(t testing.TB, spec string) earshot.Store {
	t.Helper()
	st, err := store.Open(t.Context(), spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st
}

func record(t testing.TB, st earshot.Store, s earshot.Scope, list ...earshot.Message) {
	t.Helper()
	for len(list) > 0 {
		n := min(len(list), 500)
		if _, err := st.Record(t.Context(), s, list[:n]...); err != nil {
			t.Fatal(err)
		}
		list = list[n:]
	}
}

// talk makes a channel's history: threads, top-level talk, reply references,
// bots, files, blank messages, mentions.
func talk(rng *rand.Rand, n int) []earshot.Message {
	people := []earshot.Author{
		{ID: "U1", Name: "Alice", Kind: earshot.Human}, {ID: "U2", Name: "Bob", Kind: earshot.Human},
		{ID: "U3", Name: "Carol", Kind: earshot.Human}, {ID: "B9", Name: "CI", Kind: earshot.Bot},
		{ID: self.ID, Name: self.Name, Kind: earshot.Bot}, {ID: "U4", Name: "田中", Kind: earshot.Human},
	}
	words := strings.Fields("deploy the worker queue again staging is slow today <@U0BOT> why did nobody look at that migration 障害 ok")
	var out []earshot.Message
	var roots []earshot.MessageID
	at := earshot.Time(1_772_442_000_000_000)
	for i := range n {
		at += earshot.Time(rng.IntN(90_000_000) + 1)
		m := earshot.Message{
			ID: earshot.MessageID(fmt.Sprintf("%d.%06d", int64(at)/1_000_000, int64(at)%1_000_000)), Time: at,
			Author: people[rng.IntN(len(people))],
		}
		var text []string
		for range rng.IntN(40) + 1 {
			text = append(text, words[rng.IntN(len(words))])
		}
		m.Text = strings.Join(text, " ")
		if strings.Contains(m.Text, "<@U0BOT>") {
			m.Mentions = []earshot.AuthorID{self.ID}
		}
		switch r := rng.IntN(100); {
		case r < 3:
			m.Text = " "
		case r < 6:
			m.Files = []earshot.File{{ID: earshot.ArtifactID(fmt.Sprintf("F%d", i)), Name: "a.png", Type: "image/png", Size: 10}}
		case r < 8:
			m.Text = strings.Repeat(m.Text+" ", 30)
		}
		switch r := rng.IntN(100); {
		case r < 55 && len(roots) > 0:
			m.Thread = roots[max(0, len(roots)-1-rng.IntN(6))]
		case r < 65 && len(out) > 3:
			m.ReplyTo = out[len(out)-1-rng.IntN(3)].ID
		default:
			if rng.IntN(3) == 0 {
				roots = append(roots, m.ID)
			}
		}
		out = append(out, m)
	}
	return out
}

func all(t testing.TB, st earshot.Store, s earshot.Scope) []earshot.Message {
	t.Helper()
	list, err := st.Since(t.Context(), s, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func promptOf(r assemble.Result) string {
	var b strings.Builder
	for _, m := range r.Messages {
		fmt.Fprintf(&b, "== %s\n%s\n", m.Role, m.Text)
	}
	return b.String()
}

// withoutGuesses has the policy's windows group by references alone: a guess knows
// what was read, not the whole channel.
func withoutGuesses(p assemble.Policy) assemble.Policy {
	p.First = slices.Clone(p.First)
	for i := range p.First {
		if p.First[i].Section == assemble.Window {
			p.First[i].Link = assemble.LinkOff
		}
	}
	return p
}

// remember is the state after a turn that the agent answered.
func remember(p assemble.Policy, anchor earshot.MessageID, r assemble.Result) assemble.ConversationState {
	c := assemble.ConversationState{
		Cursor: r.Next.Cursor, Epoch: r.Next.Epoch, Shown: r.Next.Shown, Attached: r.Next.Attached, Names: r.Next.Names, Form: p.Frame,
		Turns: []earshot.Answer{{Anchor: anchor, Replies: []earshot.MessageID{"none"}}},
	}
	if p.Session {
		for _, m := range r.Messages {
			c.Session = append(c.Session, earshot.SessionEntry{Role: m.Role, Text: m.Text})
		}
		c.Session = append(c.Session, earshot.SessionEntry{Role: earshot.Assistant, Text: "Yes."})
	}
	return c
}

// Each section is read, also one that no built-in policy has.
func TestEachSectionIsRead(t *testing.T) {
	t.Parallel()
	st := open(t, "memory:")
	list := thread(3)
	record(t, st, general.Scope(), list...)
	for _, name := range assemble.SectionNames() {
		for _, frame := range []assemble.Frame{assemble.Log, assemble.Brackets} {
			p := assemble.Policy{Name: "one section", Form: assemble.Text, Frame: frame, Bots: "bot", First: []assemble.Section{{Section: name}, {Section: assemble.Anchor}}}
			if p.Check() != nil {
				continue
			}
			if _, err := gather.Input(t.Context(), st, gather.Request{Channel: general, Anchor: list[3].ID, Identity: self, Policy: p, Counter: counter(t)}); err != nil {
				t.Errorf("%s in the frame %s: %v", name, frame, err)
			}
		}
	}
}

// What is read is enough: the prompt is the one that the whole channel gives.
func TestWhatIsReadGivesThePromptOfTheWholeChannel(t *testing.T) {
	t.Parallel()
	count := counter(t)
	budgets := []assemble.Budget{assemble.DefaultBudget(), {Tokens: 700, Session: 4000, Limit: 200000}}
	for seed := range uint64(4) {
		for _, p := range assemble.Policies() {
			t.Run(fmt.Sprintf("%s/%d", p.Name, seed), func(t *testing.T) {
				t.Parallel()
				rng := rand.New(rand.NewPCG(seed, 7))
				st := open(t, "memory:")
				s := general.Scope()
				history := talk(rng, 900)
				record(t, st, s, history[:800]...)
				for range 25 {
					i := 200 + rng.IntN(600)
					if strings.TrimSpace(history[i].Text) == "" {
						continue
					}
					req := gather.Request{Channel: general, Anchor: history[i].ID, Identity: self, Policy: withoutGuesses(p),
						Budget: budgets[rng.IntN(2)], Counter: count}
					same(t, st, req, assemble.ConversationState{})
				}
			})
		}
	}
}

// The same holds for a turn after another, when messages were edited, deleted
// and added in between.
func TestWhatIsReadOfAFollowUpGivesThePromptOfTheWholeChannel(t *testing.T) {
	t.Parallel()
	count := counter(t)
	for seed := range uint64(12) {
		for _, p := range assemble.Policies() {
			t.Run(fmt.Sprintf("%s/%d", p.Name, seed), func(t *testing.T) {
				t.Parallel()
				rng := rand.New(rand.NewPCG(seed, 11))
				st := open(t, "memory:")
				s := general.Scope()
				history := talk(rng, 700)
				record(t, st, s, history[:500]...)
				first := pick(history[400:500], func(m earshot.Message) bool { return m.Root() != "" && strings.TrimSpace(m.Text) != "" })
				req := gather.Request{Channel: general, Anchor: first.ID, Identity: self, Policy: p, Counter: count}
				_, res, err := gather.Turn(t.Context(), st, req)
				if err != nil {
					t.Fatal(err)
				}
				state := remember(p, first.ID, res)
				record(t, st, s, history[500:]...)
				for range 10 {
					m := history[rng.IntN(500)]
					m.Text, m.Edited = "changed: "+m.Text, history[699].Time
					if rng.IntN(4) == 0 && m.ID != first.ID && m.ID != first.Root() {
						m.Deleted = true
					}
					record(t, st, s, m)
				}
				second := pick(history[600:], func(m earshot.Message) bool { return m.Root() == first.Root() && strings.TrimSpace(m.Text) != "" })
				if second.ID == "" {
					t.Skip("the thread was not gone on with")
				}
				req.Anchor = second.ID
				same(t, st, req, state)
			})
		}
	}
}

func pick(list []earshot.Message, ok func(earshot.Message) bool) earshot.Message {
	for _, m := range list {
		if ok(m) {
			return m
		}
	}
	return earshot.Message{}
}

var (
	leftOut = regexp.MustCompile(`\[\d+ earlier messages? w(as|ere) left out\]`)
	older   = regexp.MustCompile(`; \d+ older messages? not shown\]`)
)

func same(t *testing.T, st earshot.Store, req gather.Request, state assemble.ConversationState) {
	t.Helper()
	req.State = &state
	in, got, err := gather.Turn(t.Context(), st, req)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range in.Messages {
		if i > 0 && in.Messages[i-1].Position().Compare(m.Position()) >= 0 {
			t.Fatalf("messages %d and %d are not in the order of Position", i-1, i)
		}
	}
	if last := in.Messages[len(in.Messages)-1]; last.ID != req.Anchor {
		t.Errorf("the last message read is %s, want the anchor %s", last.ID, req.Anchor)
	}
	whole := in
	whole.Messages, whole.Stored = all(t, st, req.Channel.Scope()), nil
	want, err := assemble.Turn(whole)
	if err != nil {
		t.Fatal(err)
	}
	// How many addressed messages there are further back is not known; a store
	// counts joins and blank messages too.
	uncounted := func(s string) string {
		s = older.ReplaceAllString(s, "; older messages not shown]")
		if req.Policy.Name == "transcript" || req.Policy.Name == "thread" || req.Policy.Name == "window" {
			return leftOut.ReplaceAllString(s, "[earlier messages were left out]")
		}
		return s
	}
	if diff := cmp.Diff(uncounted(promptOf(want)), uncounted(promptOf(got))); diff != "" {
		t.Errorf("anchor %s, budget %d: the prompt differs from that of the whole channel (-want +got):\n%s", req.Anchor, req.Budget.Tokens, diff)
	}
	if got.Next.Cursor > want.Next.Cursor || got.Next.Epoch != want.Next.Epoch {
		t.Errorf("next: got cursor %d, epoch %d, want at most %d, and %d", got.Next.Cursor, got.Next.Epoch, want.Next.Cursor, want.Next.Epoch)
	}
}

// A counting counts how many messages a store hands out.
type counting struct {
	earshot.Store
	read int
}

func (c *counting) Newest(ctx context.Context, s earshot.Scope, p earshot.ChannelPart, upTo earshot.Position, limit int) ([]earshot.Message, error) {
	list, err := c.Store.Newest(ctx, s, p, upTo, limit)
	c.read += len(list)
	return list, err
}

func (c *counting) Since(ctx context.Context, s earshot.Scope, seq int64, limit int) ([]earshot.Message, error) {
	list, err := c.Store.Since(ctx, s, seq, limit)
	c.read += len(list)
	return list, err
}

func (c *counting) Range(context.Context, earshot.Scope, earshot.ChannelPart, earshot.Position, earshot.Position) iter.Seq2[earshot.Message, error] {
	panic("a turn reads no ranges: they grow with the history")
}

func TestTheLengthOfAThreadDoesNotMatter(t *testing.T) {
	t.Parallel()
	for _, p := range assemble.Policies() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			var read [2]int
			for i, n := range []int{600, 3000} {
				st := &counting{Store: open(t, "memory:")}
				list := thread(n)
				record(t, st, general.Scope(), list...)
				req := gather.Request{Channel: general, Anchor: list[n].ID, Identity: self, Policy: p, Counter: counter(t)}
				if _, _, err := gather.Turn(t.Context(), st, req); err != nil {
					t.Fatal(err)
				}
				read[i] = st.read
			}
			if d := read[0] - read[1]; max(d, -d) > 10 || read[0] > 600 {
				t.Errorf("read %d messages of a thread of 600 and %d of one of 3,000, want about the same, and at most 600", read[0], read[1])
			}
		})
	}
}

func TestAFollowUpReadsLittleOfABusyChannel(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{"memory:", "sqlite:" + filepath.Join(t.TempDir(), "busy.db")} {
		st := &counting{Store: open(t, spec)}
		list := thread(1000)
		record(t, st, general.Scope(), list[:999]...)
		req := gather.Request{Channel: general, Anchor: list[998].ID, Identity: self, Policy: assemble.Standard(), Counter: counter(t)}
		_, res, err := gather.Turn(t.Context(), st, req)
		if err != nil {
			t.Fatal(err)
		}
		state := remember(req.Policy, req.Anchor, res)
		record(t, st, general.Scope(), list[999:]...)
		st.read = 0
		req.Anchor, req.State = list[1000].ID, &state
		if _, res, err = gather.Turn(t.Context(), st, req); err != nil {
			t.Fatal(err)
		}
		if st.read > 60 || !strings.Contains(promptOf(res), "message 999: ") {
			t.Errorf("%s: %d messages read, want those since the last turn and at most 60 in all:\n%s", spec, st.read, promptOf(res))
		}
	}
}

// thread makes one thread of n replies; every message has about 60 tokens.
func thread(n int) []earshot.Message {
	var out []earshot.Message
	for i := range n + 1 {
		at := earshot.Time(1_772_442_000_000_000 + i*20_000_000)
		m := earshot.Message{
			ID: earshot.MessageID(fmt.Sprintf("%d.%06d", int64(at)/1_000_000, 100)), Time: at,
			Author: earshot.Author{ID: earshot.AuthorID(fmt.Sprintf("U%d", i%7)), Name: string(rune('A'+i%7)) + "nn", Kind: earshot.Human},
			Text:   fmt.Sprintf("message %d: ", i) + strings.Repeat("the queue is still growing and nobody knows why yet, ", 5) + "sadly",
		}
		if i > 0 {
			m.Thread = out[0].ID
		}
		out = append(out, m)
	}
	return out
}

func TestTextIsReadInPlaceOfTheMessage(t *testing.T) {
	t.Parallel()
	st := open(t, "memory:")
	list := thread(3)
	record(t, st, general.Scope(), list...)
	req := gather.Request{Channel: general, Anchor: list[3].ID, Identity: self, Counter: counter(t), Text: "and who found out?"}
	_, res, err := gather.Turn(t.Context(), st, req)
	if err != nil {
		t.Fatal(err)
	}
	if got := promptOf(res); !strings.HasSuffix(got, "and who found out?\n") || strings.Contains(got, "message 3") {
		t.Errorf("the prompt is\n%s", got)
	}
	kept, err := st.Message(t.Context(), general.Scope(), list[3].ID)
	if err != nil || !strings.HasPrefix(kept.Text, "message 3") {
		t.Errorf("stored: %q, %v; want it as it was", kept.Text, err)
	}
}

func TestACountOfRepliesFromAfterTheAnchorIsNotTold(t *testing.T) {
	t.Parallel()
	st := open(t, "memory:")
	list := thread(3)
	anchor := list[3]
	anchor.Thread = ""
	told := func(id earshot.MessageID, count int, last earshot.Time) earshot.Message {
		m := list[0]
		m.ID, m.Replies = id, &earshot.Activity{Count: count, Last: last}
		return m
	}
	record(t, st, general.Scope(), told("before", 2, anchor.Time), told("after", 14, anchor.Time+1), told("unknown", 3, 0), anchor)
	for _, name := range []string{"standard", "structured"} {
		policy, ok := assemble.ByName(name)
		if !ok {
			t.Fatalf("there is no policy %s", name)
		}
		in, err := gather.Input(t.Context(), st, gather.Request{Channel: general, Anchor: anchor.ID, Identity: self, Counter: counter(t), Policy: policy})
		if err != nil {
			t.Fatal(err)
		}
		got := map[earshot.MessageID]int{}
		for _, m := range in.Messages {
			if m.Replies != nil {
				got[m.ID] = m.Replies.Count
			}
		}
		if want := map[earshot.MessageID]int{"before": 2}; !maps.Equal(got, want) {
			t.Errorf("%s: got the counts %v, want %v", name, got, want)
		}
	}
}

// The root of the anchor's old thread stands above what a window has of the thread, and
// says how many replies there are besides, also where no section reads the thread.
func TestAWindowAloneCountsTheRepliesOfTheAnchorsThread(t *testing.T) {
	t.Parallel()
	st := open(t, "memory:")
	list := thread(20)
	record(t, st, general.Scope(), list...)
	p := assemble.Policy{Name: "window alone", Form: assemble.Text, Frame: assemble.Log, Bots: "bot", First: []assemble.Section{
		{Section: assemble.Window, Look: 3}, {Section: assemble.Anchor},
	}}
	_, res, err := gather.Turn(t.Context(), st, gather.Request{Channel: general, Anchor: list[20].ID, Identity: self, Policy: p, Counter: counter(t)})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := promptOf(res), "\n+ 16 replies not shown, thread "; !strings.Contains(got, want) { // 19, of which three are shown
		t.Errorf("the prompt lacks %q:\n%s", want, got)
	}
}

// A messagesAlone is a store that keeps no conversations.
type messagesAlone struct{ gather.Store }

func TestAStoreForMessagesAloneIsEnough(t *testing.T) {
	t.Parallel()
	st := open(t, "memory:")
	list := thread(3)
	record(t, st, general.Scope(), list...)
	req := gather.Request{Channel: general, Anchor: list[3].ID, Identity: self, Counter: counter(t)}
	_, want, err := gather.Turn(t.Context(), st, req)
	if err != nil {
		t.Fatal(err)
	}
	_, got, err := gather.Turn(t.Context(), messagesAlone{st}, req)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(promptOf(got), promptOf(want)); d != "" {
		t.Errorf("(-got +want)\n%s", d)
	}
	req.Conversation = earshot.ConversationID{Agent: "a", Scope: general.Scope(), Name: "talk"}
	if _, _, err := gather.Turn(t.Context(), messagesAlone{st}, req); !errors.Is(err, gather.ErrNoConversations) {
		t.Errorf("a conversation of a store that keeps none: got %v, want ErrNoConversations", err)
	}
}

func TestAMessageOfAnotherChannelIsNotFound(t *testing.T) {
	t.Parallel()
	st := open(t, "memory:")
	list := thread(3)
	record(t, st, earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "C2"}, list...)
	req := gather.Request{Channel: general, Anchor: list[3].ID, Identity: self, Counter: counter(t)}
	if _, err := gather.Input(t.Context(), st, req); !errors.Is(err, earshot.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

func TestADeletionOfWhatWasShownReadsAFirstTurn(t *testing.T) {
	t.Parallel()
	st := open(t, "memory:")
	s := general.Scope()
	list := thread(20)
	record(t, st, s, list[:11]...)
	p := assemble.Standard()
	req := gather.Request{Channel: general, Anchor: list[10].ID, Identity: self, Policy: p, Counter: counter(t)}
	_, res, err := gather.Turn(t.Context(), st, req)
	if err != nil {
		t.Fatal(err)
	}
	state := remember(p, list[10].ID, res)
	record(t, st, s, list[11:]...)
	gone := list[5]
	gone.Deleted = true
	record(t, st, s, gone)
	req.Anchor, req.State = list[20].ID, &state
	_, res, err = gather.Turn(t.Context(), st, req)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := res.Next.Epoch, state.Epoch+1; got != want {
		t.Errorf("epoch: got %d, want %d", got, want)
	}
	got := promptOf(res)
	for _, want := range []string{"message 4:", "message 6:", "message 19:"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in the prompt", want)
		}
	}
	if strings.Contains(got, "message 5:") {
		t.Error("the deleted message is in the prompt")
	}
}

// A name that the session has used stays with its author, also when nothing of
// the other one of that name is new.
func TestTwoOfOneNameAreToldApartInAFollowUp(t *testing.T) {
	t.Parallel()
	st := open(t, "memory:")
	s := general.Scope()
	list := thread(8)
	for i := range list {
		list[i].Author = earshot.Author{ID: earshot.AuthorID(fmt.Sprintf("U%d", i%2)), Name: "Sam", Kind: earshot.Human}
		list[i].Text = fmt.Sprintf("number %d", i)
	}
	record(t, st, s, list[:5]...)
	for _, p := range assemble.Policies() {
		if !p.Session || p.Form == assemble.JSON {
			continue
		}
		req := gather.Request{Channel: general, Anchor: list[4].ID, Identity: self, Policy: p, Counter: counter(t)}
		_, res, err := gather.Turn(t.Context(), st, req)
		if err != nil {
			t.Fatal(err)
		}
		state := remember(p, list[4].ID, res)
		record(t, st, s, list[5], list[7])
		req.Anchor, req.State = list[7].ID, &state
		_, res, err = gather.Turn(t.Context(), st, req)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := promptOf(res), "Sam (2): number 5"; !strings.Contains(got, want) {
			t.Errorf("policy %s: %q is not in\n%s", p.Name, want, got)
		}
	}
}

func TestStoredStateIsRead(t *testing.T) {
	t.Parallel()
	st := open(t, "memory:")
	s := general.Scope()
	list := thread(12)
	record(t, st, s, list[:9]...)
	req := gather.Request{Channel: general, Anchor: list[8].ID, Identity: self, Policy: assemble.Standard(), Counter: counter(t)}
	id, err := gather.ConversationOf(t.Context(), st, general, list[8], self)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := st.OpenConversation(t.Context(), id, ""); err != nil {
		t.Fatal(err)
	}
	req.Conversation = id
	_, res, err := gather.Turn(t.Context(), st, req)
	if err != nil {
		t.Fatal(err)
	}
	state := remember(req.Policy, list[8].ID, res)
	if _, err := st.CommitTurn(t.Context(), id, earshot.Turn{Answer: state.Turns[0], Policy: "standard", Cursor: state.Cursor,
		Epoch: state.Epoch, Shown: state.Shown, Names: state.Names, Form: string(state.Form), Session: state.Session, Ledger: res.Ledger, Time: list[8].Time}); err != nil {
		t.Fatal(err)
	}
	record(t, st, s, list[9:]...)
	req.Anchor = list[12].ID
	_, fromStore, err := gather.Turn(t.Context(), st, req)
	if err != nil {
		t.Fatal(err)
	}
	req.Conversation, req.State = earshot.ConversationID{}, &state
	_, given, err := gather.Turn(t.Context(), st, req)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(given, fromStore); diff != "" {
		t.Errorf("stored and given state give different results (-given +stored):\n%s", diff)
	}
	if !strings.Contains(promptOf(fromStore), "[since your last answer: 3 messages]") {
		t.Errorf("no delta in\n%s", promptOf(fromStore))
	}
}

func TestConversationOf(t *testing.T) {
	t.Parallel()
	st := open(t, "memory:")
	author := func(id earshot.AuthorID) earshot.Author { return earshot.Author{ID: id, Name: string(id)} }
	list := []earshot.Message{
		{ID: "q1", Time: 1, Author: author("U1"), Text: "?"},
		{ID: "a1", Time: 2, Author: author("B0BOT"), Text: "!", ReplyTo: "q1"},
		{ID: "x1", Time: 3, Author: author("U2"), Text: "hm", ReplyTo: "a1"},
		{ID: "q2", Time: 4, Author: author("U1"), Text: "and?", ReplyTo: "x1"},
		{ID: "q3", Time: 5, Author: author("U1"), Text: "new?"},
		{ID: "q4", Time: 6, Author: author("U1"), Text: "new?", ReplyTo: "q3"},
	}
	record(t, st, general.Scope(), list...)
	dm := general
	dm.Kind = earshot.KindDM
	for _, c := range []struct {
		name    string
		channel earshot.Channel
		message earshot.Message
		want    string
	}{
		{"a message at a channel's top level begins the thread that it roots", general, list[0], "q1"},
		{"a reply in a thread belongs to the thread", general, earshot.Message{ID: "r", Thread: "q1"}, "q1"},
		{"a root that names itself as its thread is a root", general, earshot.Message{ID: "q1", Thread: "q1"}, "q1"},
		{"the top level of a DM is one conversation", dm, list[0], gather.TopLevel},
		{"a thread in a DM is its own", dm, earshot.Message{ID: "r", Thread: "q1"}, "q1"},
		{"a reply goes on with the conversation whose answer stands in its chain", general, list[3], "q1"},
		{"a chain without an answer is no conversation yet", general, list[5], "q4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := gather.ConversationOf(t.Context(), st, c.channel, c.message, self)
			if err != nil {
				t.Fatal(err)
			}
			want := earshot.ConversationID{Agent: "U0BOT", Scope: general.Scope(), Name: c.want}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// After a deletion the store's next epoch has neither session nor manifest. The file
// of a message far above what a first turn shows is given again, and that of the
// deleted one is not in the input.
func TestAnEndedEpochsFilesAreReadHoweverLongAgo(t *testing.T) {
	t.Parallel()
	st := open(t, "memory:")
	ctx, scope := t.Context(), general.Scope()
	at := func(n int) earshot.Time { return earshot.Time(1_772_442_000_000_000 + n*60_000_000) }
	reply := func(n int, text string, files ...earshot.File) earshot.Message {
		return earshot.Message{
			ID: earshot.MessageID(fmt.Sprintf("m%04d", n)), Time: at(n), Thread: "m0000", Text: text, Files: files,
			Author: earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human},
		}
	}
	graph := earshot.File{ID: "F1", Name: "graph.png", Type: "image/png", Size: 1234}
	secret := earshot.File{ID: "F2", Name: "secret.png", Type: "image/png", Size: 1234}
	record(t, st, scope, reply(0, "the import hangs"), reply(1, "look", graph), reply(2, "and this", secret))
	id := earshot.ConversationID{Agent: earshot.AgentID(self.ID), Scope: scope, Name: "m0000"}
	if _, _, err := st.OpenConversation(ctx, id, ""); err != nil {
		t.Fatal(err)
	}
	_, err := st.CommitTurn(ctx, id, earshot.Turn{
		Answer: earshot.Answer{Anchor: "m0002"}, Policy: "standard", Hash: "x", Form: "log", Cursor: 3,
		Shown:    []earshot.ShownRevision{{ID: "m0000"}, {ID: "m0001"}, {ID: "m0002"}},
		Attached: []earshot.AttachedFile{{ID: "F1", SHA256: "ab12", Tokens: 85}, {ID: "F2", SHA256: "cd34", Tokens: 85}},
		Session:  []earshot.SessionEntry{{Role: earshot.User, Text: "q"}, {Role: earshot.Assistant, Text: "a"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for n := 3; n < 600; n++ {
		record(t, st, scope, reply(n, strings.Repeat("somebody said something about the lock table ", 5)))
	}
	gone := reply(2, "")
	gone.Deleted = true
	record(t, st, scope, gone, reply(600, "and now?"))
	in, res, err := gather.Turn(ctx, st, gather.Request{Channel: general, Anchor: "m0600", Identity: self, Counter: counter(t), Conversation: id})
	if err != nil {
		t.Fatal(err)
	}
	want := []earshot.AttachedFile{{ID: "F1", SHA256: "ab12", Turn: 1, Tokens: 85}}
	if d := cmp.Diff(in.Conversation.Attached, want); d != "" {
		t.Errorf("the input's files (-got +want):\n%s", d)
	}
	last := res.Messages[len(res.Messages)-1]
	if d := cmp.Diff(last.Media, []earshot.ArtifactID{"F1"}); d != "" || res.Next.Epoch != 1 || len(res.Messages) != 1 {
		t.Errorf("epoch %d, %d messages, files (-got +want):\n%s", res.Next.Epoch, len(res.Messages), d)
	}
	if !strings.Contains(last.Text, "\n[Post-compaction context recovery: re-attaching 1 media items from this thread]\n") || strings.Contains(last.Text, "0001") {
		t.Error(last.Text[max(0, len(last.Text)-500):])
	}
}
