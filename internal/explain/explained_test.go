package explain_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/contexts"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/step"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/store"
)

// A room is a channel in which a bot beside the sidecar answers.
type room struct {
	t       testing.TB
	store   earshot.Store
	service *sidecar.Service
	reader  *explain.Reader
	n       int // messages that were said
}

func newRoom(t testing.TB) *room {
	t.Helper()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return roomOf(t, st)
}

func roomOf(t testing.TB, st earshot.Store) *room {
	t.Helper()
	r := &room{t: t, store: st, service: sidecar.New(st, search.New(st, nil), nil, sidecar.Options{}), reader: explain.New(st, search.New(st, nil), explain.Options{})}
	r.must(st.PutChannel(t.Context(), channel))
	_, err := r.service.PutAgent(t.Context(), everyone, visible.Agent{Identity: earshot.Identity{ID: "U0BOT", Name: "earshot"}, Workspace: "T1"})
	r.must(err)
	return r
}

func (r *room) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// say records a message, a minute after the last one.
func (r *room) say(id, text string, thread earshot.MessageID) {
	r.t.Helper()
	r.n++
	_, err := r.store.Record(r.t.Context(), channel.Scope(), earshot.Message{ID: earshot.MessageID(id), Time: begin + earshot.Time(r.n)*60e6, Author: alice, Text: text, Thread: thread})
	r.must(err)
}

// answer opens a turn for a message, and commits it.
func (r *room) answer(id earshot.MessageID, text string, entries ...earshot.SessionEntry) earshot.TurnID {
	r.t.Helper()
	c, err := r.service.Context(r.t.Context(), everyone, sidecar.ContextRequest{Channel: visible.Place{Channel: "C1"}, Anchor: id, Agent: "U0BOT", Open: true})
	r.must(err)
	r.n++
	_, err = r.service.Commit(r.t.Context(), everyone, c.Draft.ID, sidecar.Reply{
		Text: text, Entries: entries, Messages: []earshot.Message{{ID: "r-" + id, Text: text, Time: begin + earshot.Time(r.n)*60e6}},
	})
	r.must(err)
	return c.Draft.ID
}

// shows lists the segments that show a message, as the turn and the message.
func shows(x explain.Explanation) (list []string) {
	for _, s := range x.Segments {
		if s.Shows != "" {
			list = append(list, fmt.Sprint(s.Turn, " ", s.Shows))
		}
	}
	return list
}

func TestAPromptIsExplainedPartByPart(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.say("m0", "staging is down", "")
	r.say("q1", "<@U0BOT> why?", "m0")
	first := r.answer("q1", "The disk is full.",
		earshot.SessionEntry{Role: earshot.Assistant, Calls: []earshot.Call{{ID: "c1", Name: "channel_messages", Args: `{"message_ids":["m0"]}`}}},
		earshot.SessionEntry{Role: earshot.ToolRole, Call: "c1", Text: `{"messages":[]}`})
	r.say("m2", "not mine", "m0")
	r.say("q2", "<@U0BOT> which\ndisk?", "m0")
	second := r.answer("q2", "The first.")

	told, x, err := r.reader.Explain(t.Context(), everyone, second)
	r.must(err)
	want := []string{
		fmt.Sprint(first, " m0"), fmt.Sprint(first, " q1"), fmt.Sprint(first, " r-q1"), "0 m2", "0 q2",
	}
	if diff := cmp.Diff(want, shows(*x)); diff != "" {
		t.Errorf("the prompt shows; -want +got\n%s", diff)
	}
	var parts []string
	for _, s := range x.Segments {
		parts = append(parts, fmt.Sprintf("%d %s %s %q", s.Part, s.Role, s.Section, s.Text[:min(len(s.Text), 22)]))
	}
	if diff := cmp.Diff([]string{
		`-1  guide "You take part in a tea"`,
		`0 user session "[a Slack channel. You "`, `0 user session "09:01 Alice: staging i"`, `0 user session "\n\n[question, Mon 2 Mar"`, `0 user session "09:02 Alice: @earshot "`,
		`1 assistant session ""`, `2 tool session "{\"messages\":[]}"`, `3 assistant session "The disk is full."`,
		`4 user delta "[since your last answe"`, `4 user delta "09:04 Alice: not mine"`, `4 user  "\n\n"`, `4 user anchor "[question, Mon 2 Mar 2"`, `4 user anchor "09:05 Alice: @earshot "`,
	}, parts); diff != "" {
		t.Errorf("segments; -want +got\n%s", diff)
	}
	if len(x.Before) != 1 || x.Before[0].ID != first || x.Cached.Of != first || !x.Cached.Known {
		t.Errorf("the turn before is %d; before %+v, cached %+v", first, x.Before, x.Cached)
	}
	// All of the first request is cached, with what the tool said, and the answer is not.
	rest := x.Result.Tokens.Total - x.Result.Tokens.Sections[assemble.Delta] - x.Result.Tokens.Sections[assemble.Anchor]
	if answer := rest - x.Cached.Tokens; answer < 4 || answer > 8 {
		t.Errorf("cached %+v of %d tokens", x.Cached, x.Result.Tokens.Total)
	}
	if x.Anchor.ID != "q2" || x.Agent.ID != "U0BOT" || x.Channel.ID != "C1" || told.Queued.ID != second {
		t.Errorf("explained as the turn of %+v", x.Anchor)
	}
	ids := []string{}
	for _, c := range x.Candidates {
		ids = append(ids, string(c.Message.ID)+" "+string(c.Row.Verdict)+" "+c.Message.Text)
	}
	if diff := cmp.Diff([]string{"m0 out staging is down", "q1 out <@U0BOT> why?", "r-q1 out The disk is full.", "m2 full not mine", "q2 full <@U0BOT> which\ndisk?"}, ids); diff != "" {
		t.Errorf("candidates; -want +got\n%s", diff)
	}

	_, x, err = r.reader.Explain(t.Context(), everyone, first)
	r.must(err)
	if len(x.Before) != 0 || x.Cached != (explain.CachedPrefix{Known: true}) {
		t.Errorf("nothing is before the first turn: %+v %+v", x.Before, x.Cached)
	}
}

// TestAnotherSystemTextIsNotCached has the second turn of a session get other
// instructions: a provider can read nothing of the session from its cache.
func TestAnotherSystemTextIsNotCached(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.say("m0", "<@U0BOT> why?", "")
	r.answer("m0", "Because.")
	r.say("q2", "<@U0BOT> and now?", "m0")
	other := "Answer in one word."
	c, err := r.service.Context(t.Context(), everyone, sidecar.ContextRequest{
		Channel: visible.Place{Channel: "C1"}, Anchor: "q2", Agent: "U0BOT", Open: true, Settings: contexts.Settings{Instructions: &other},
	})
	r.must(err)
	_, err = r.service.Commit(t.Context(), everyone, c.Draft.ID, sidecar.Reply{Text: "No."})
	r.must(err)
	_, x, err := r.reader.Explain(t.Context(), everyone, c.Draft.ID)
	r.must(err)
	if guide := len(x.Result.System) - len(other) - 2; len(x.Before) != 1 || !x.Cached.Known || x.Cached.Bytes != guide {
		t.Errorf("cached %+v, the guide has %d bytes", x.Cached, guide)
	}
	if last := x.Segments[1]; last.Section != assemble.Instructions || last.Text != other {
		t.Errorf("the instructions are told as %+v", last)
	}
}

func TestAMessageIsExplainedAsIfItWereAnswered(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.say("m0", "staging is down", "")
	r.say("q1", "<@U0BOT> why?", "m0")
	first := r.answer("q1", "The disk is full.")
	r.say("q2", "<@U0BOT> which?", "m0")
	x, err := r.reader.ExplainMessage(t.Context(), everyone, explain.PreviewRequest{Channel: visible.Place{Channel: "C1"}, Message: "q2"})
	r.must(err)
	if diff := cmp.Diff([]string{fmt.Sprint(first, " m0"), fmt.Sprint(first, " q1"), fmt.Sprint(first, " r-q1"), "0 q2"}, shows(x)); diff != "" {
		t.Errorf("the prompt shows; -want +got\n%s", diff)
	}
	x, err = r.reader.ExplainMessage(t.Context(), everyone, explain.PreviewRequest{Channel: visible.Place{Channel: "ops"}, Message: "q1", Policy: "window"})
	r.must(err)
	if diff := cmp.Diff([]string{"0 m0", "0 q1"}, shows(x)); diff != "" || x.Input.Policy.Name != "window" {
		t.Errorf("a message that was answered begins a conversation; -want +got\n%s", diff)
	}
}

func TestAReplyThatWasSplitIsExplainedPostByPost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stored string
		want   []string
	}{
		"as it was posted":     {"second part", []string{`r1 "first part"`, `r2 "second part"`}},
		"shown in other words": {"2nd part", []string{`r1 "first part\n\nsecond part"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRoom(t)
			r.say("q1", "<@U0BOT> tell me", "")
			o, err := r.service.Context(t.Context(), everyone, sidecar.ContextRequest{Channel: visible.Place{Channel: "C1"}, Anchor: "q1", Agent: "U0BOT", Open: true})
			r.must(err)
			r.n++
			_, err = r.service.Commit(t.Context(), everyone, o.Draft.ID, sidecar.Reply{Text: "first part\n\nsecond part", Messages: []earshot.Message{
				{ID: "r1", Text: "first part", Time: begin + earshot.Time(r.n)*60e6}, {ID: "r2", Text: c.stored, Time: begin + earshot.Time(r.n)*60e6 + 1},
			}})
			r.must(err)
			r.say("q2", "<@U0BOT> go on", "q1")
			_, x, err := r.reader.Explain(t.Context(), everyone, r.answer("q2", "No."))
			r.must(err)
			var got []string
			for _, s := range x.Segments {
				if s.Role == earshot.Assistant && s.Shows != "" {
					got = append(got, fmt.Sprintf("%s %q", s.Shows, s.Text))
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("the reply shows; -want +got\n%s", diff)
			}
		})
	}
}

// TestALongEpochIsExplainedWithinBounds has more turns in one epoch than are made
// again: of the oldest it is told which turn said what, without the messages.
func TestALongEpochIsExplainedWithinBounds(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.say("m0", "a long thread", "")
	const turns = 54
	var ids []earshot.TurnID
	for n := range turns {
		q := fmt.Sprint("q", n)
		r.say(q, "<@U0BOT> and now?", "m0")
		ids = append(ids, r.answer(earshot.MessageID(q), "The same."))
	}
	_, x, err := r.reader.Explain(t.Context(), everyone, ids[turns-1])
	r.must(err)
	if len(x.Before) != turns-1 {
		t.Fatalf("%d turns are before the last of %d", len(x.Before), turns)
	}
	for i, b := range x.Before {
		if b.ID != ids[i] {
			t.Fatalf("turn %d before the last is %d, want %d", i, b.ID, ids[i])
		}
	}
	shown := map[earshot.MessageID]earshot.TurnID{}
	said := map[earshot.TurnID]bool{}
	for _, s := range x.Segments {
		said[s.Turn] = true
		if s.Shows != "" {
			shown[s.Shows] = s.Turn
		}
	}
	for i, id := range ids[:turns-1] {
		q := earshot.MessageID(fmt.Sprint("q", i))
		again := i >= turns-1-50
		if !said[id] || (shown[q] == id) != again || shown["r-"+q] != id {
			t.Errorf("turn %d of %d: said %v, its question is shown by %d, its answer by %d", i, turns, said[id], shown[q], shown["r-"+q])
		}
	}
}

func TestWhatWasDeletedIsNotExplained(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.say("m0", "the secret is 42", "")
	r.say("q1", "<@U0BOT> why?", "m0")
	turn := r.answer("q1", "Because.")
	_, err := r.store.Record(t.Context(), channel.Scope(), earshot.Message{ID: "m0", Time: begin + 60e6, Deleted: true})
	r.must(err)
	told, x, err := r.reader.Explain(t.Context(), everyone, turn)
	r.must(err)
	if x != nil || told.Changed == "" {
		t.Errorf("explained %v, changed %q", x, told.Changed)
	}
	list := told.Candidates()
	if len(list) != 2 || list[0].Message.ID != "m0" || strings.Contains(fmt.Sprintf("%+v %+v", list, told), "secret is") {
		t.Errorf("candidates %+v", list)
	}
	_, err = r.reader.WhatIf(t.Context(), everyone, explain.WhatIf{Turn: turn, Budget: 100})
	wantRefusal(t, err, visible.Conflict)
}

// An eraser is a store that has lost the input of one turn.
type eraser struct {
	earshot.Store
	lost earshot.TurnID
}

func (e *eraser) QueuedTurn(ctx context.Context, id earshot.TurnID) (earshot.QueuedTurn, error) {
	q, err := e.Store.QueuedTurn(ctx, id)
	if id == e.lost {
		q.Input = nil
	}
	return q, err
}

func TestATurnThatCannotBeMadeAgainLeavesItsPartWithoutMessages(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	lossy := &eraser{Store: st}
	r := roomOf(t, lossy)
	r.say("m0", "staging is down", "")
	var ids []earshot.TurnID
	for n := range 3 {
		q := fmt.Sprint("q", n)
		r.say(q, "<@U0BOT> and now?", "m0")
		ids = append(ids, r.answer(earshot.MessageID(q), "The same."))
	}
	lossy.lost = ids[0]
	_, x, err := r.reader.Explain(t.Context(), everyone, ids[2])
	r.must(err)
	want := []string{fmt.Sprint(ids[0], " r-q0"), fmt.Sprint(ids[1], " q1"), fmt.Sprint(ids[1], " r-q1"), "0 q2"}
	if diff := cmp.Diff(want, shows(*x)); diff != "" {
		t.Errorf("the prompt shows; -want +got\n%s", diff)
	}
	if first := x.Segments[1]; first.Turn != ids[0] || !strings.Contains(first.Text, "staging is down") {
		t.Errorf("the first part of the session: %+v", first)
	}
}

// A reading is a store that counts the messages that are read from it.
type reading struct {
	earshot.Store
	read, whole int
}

func TestExplainingReadsNoMoreOfALongerChannel(t *testing.T) {
	t.Parallel()
	read := func(messages int) (explained, whatIf int) {
		st, err := store.Open(t.Context(), "memory:", nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = st.Close() })
		counted := &reading{Store: st}
		r := roomOf(t, counted)
		var list []earshot.Message
		for i := range messages {
			r.n++
			list = append(list, earshot.Message{ID: earshot.MessageID(fmt.Sprintf("m%06d", i)), Time: begin + earshot.Time(r.n)*60e6, Author: alice, Text: fmt.Sprint("deploy ", i)})
		}
		_, err = st.Record(t.Context(), channel.Scope(), list...)
		r.must(err)
		r.say("q1", "<@U0BOT> which deploy?", "")
		r.answer("q1", "The last one.")
		r.say("q2", "<@U0BOT> and now?", "q1")
		turn := r.answer("q2", "The same.")
		counted.read, counted.whole = 0, 0
		_, x, err := r.reader.Explain(t.Context(), everyone, turn)
		r.must(err)
		if x == nil || len(x.Before) != 1 {
			t.Fatalf("explained %+v", x)
		}
		explained = counted.read
		_, err = r.reader.WhatIf(t.Context(), everyone, explain.WhatIf{Turn: turn, Budget: 2000})
		r.must(err)
		if counted.whole > 0 {
			t.Errorf("the channel was read %d times", counted.whole)
		}
		return explained, counted.read - explained
	}
	shortExplain, shortWhatIf := read(2000)
	longExplain, longWhatIf := read(8000)
	if longExplain > shortExplain || longWhatIf > shortWhatIf || shortExplain == 0 || shortWhatIf == 0 {
		t.Errorf("of 2,000 messages %d and %d are read, of 8,000 messages %d and %d", shortExplain, shortWhatIf, longExplain, longWhatIf)
	}
	t.Logf("%d messages are read to explain, %d more for a what-if", longExplain, longWhatIf)
}

func names(list []assemble.Policy) (out []string) {
	for _, p := range list {
		out = append(out, p.Name)
	}
	return out
}

func TestControlsAreTheLimitsThatAPolicyHas(t *testing.T) {
	t.Parallel()
	for _, p := range assemble.Policies() {
		for _, later := range []bool{false, true} {
			for _, c := range explain.Controls(p, later) {
				// Every control can be set to its largest value, and a policy file with it is right.
				changed := p.WithDefaults()
				list := slices.Clone(changed.First)
				if later && len(changed.Later) > 0 {
					list = changed.Later
				}
				if !slices.ContainsFunc(list, func(s assemble.Section) bool { return s.Section == c.Section }) || c.What == "" || c.Max < c.Value || c.Max < c.Default {
					t.Errorf("%s: %+v", p.Name, c)
				}
				if c.Switch() != (c.Max == 1 && c.Unit == "") {
					t.Errorf("%s: a switch has a unit: %+v", p.Name, c)
				}
			}
		}
	}
	find := func(p assemble.Policy, section assemble.SectionName, limit string) (explain.Control, bool) {
		list := explain.Controls(p, false)
		i := slices.IndexFunc(list, func(c explain.Control) bool { return c.Section == section && c.Limit == limit })
		if i < 0 {
			return explain.Control{}, false
		}
		return list[i], true
	}
	if c, ok := find(assemble.Standard(), assemble.Window, "messages"); !ok || c.Value != 80 || c.Default != 20 || c.Unit != "messages" {
		t.Errorf("the standard window: %+v", c)
	}
	if c, ok := find(assemble.Standard(), assemble.Window, "threads"); ok {
		t.Errorf("the log form has no limit of threads: %+v", c)
	}
	window, _ := assemble.ByName("window")
	if c, ok := find(window, assemble.Window, "link"); !ok || !c.Switch() || c.Value != 1 {
		t.Errorf("a window's link: %+v", c)
	}
	var choices []string
	for _, c := range explain.PolicyChoices() {
		if choices = append(choices, c.Name); c.What == "" {
			t.Errorf("%s is not explained", c.Name)
		}
	}
	if diff := cmp.Diff(names(assemble.Policies()), choices); diff != "" {
		t.Errorf("choices; -want +got\n%s", diff)
	}
}

func TestATurnComesWithItsJournal(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	ctx := t.Context()
	id := earshot.ConversationID{Agent: "U0BOT", Scope: channel.Scope(), Name: "q1"}
	a, err := r.store.Accept(ctx, channel.Scope(), earshot.Event{Delivery: "d1", Received: 1, Message: earshot.Message{ID: "q1", Time: begin, Author: alice, Text: "<@U0BOT> why?"}}, &id)
	r.must(err)
	l, _, err := r.store.Claim(ctx, "U0BOT", "test", begin, time.Minute)
	r.must(err)
	r.must(r.store.Begin(ctx, l, a.Turn, earshot.Prompt{Hash: "h"}))
	r.must(r.store.AddStep(ctx, l, a.Turn, earshot.Step{N: 0, Kind: step.Answer, Time: begin + 1, Data: []byte(`{"model":"m1","provider":"p","parts":[{"kind":"text","text":"Because."}]}`)}))
	r.must(r.store.AddStep(ctx, l, a.Turn, earshot.Step{N: 1, Kind: "of the future", Time: begin + 2, Data: []byte(`?`)}))
	r.must(r.store.AddStep(ctx, l, a.Turn, earshot.Step{N: 2, Kind: step.Failed, Time: begin + 3, Data: []byte("too long")}))
	turn, x, err := r.reader.Explain(ctx, everyone, a.Turn)
	r.must(err)
	if x != nil || turn.Changed == "" || len(turn.Steps) != 3 {
		t.Fatalf("explained %v, changed %q, steps %+v", x, turn.Changed, turn.Steps)
	}
	if s := turn.Steps; s[0].Answer == nil || s[0].Answer.Text() != "Because." || s[1].Kind != "of the future" || s[2].Failed != "too long" {
		t.Errorf("steps %+v", s)
	}
}
