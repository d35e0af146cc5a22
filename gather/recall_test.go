package gather_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/search/index"
)

const (
	monday = earshot.Time(1_772_442_000_000_000) // 2 March 2026, 09:00 UTC
	hour   = earshot.Time(3600_000_000)
)

// months is a channel with a story at its beginning, then talk about other
// things, and a question at the end.
func months() (list []earshot.Message, question earshot.Message) {
	say := func(id string, at earshot.Time, who, text string, thread ...string) {
		m := earshot.Message{ID: earshot.MessageID(id), Time: at, Author: earshot.Author{ID: earshot.AuthorID("U" + who), Name: who, Kind: earshot.Human}, Text: text}
		if len(thread) > 0 {
			m.Thread = earshot.MessageID(thread[0])
		}
		list = append(list, m)
	}
	say("a1", monday, "Alice", "the ferry terminal prints its tickets twice")
	say("a2", monday+60e6, "Bob", "which printer?", "a1")
	say("a3", monday+120e6, "Carol", "the spooler of the terminal kept a stale job, I emptied /var/spool/ferry", "a1")
	say("a4", monday+180e6, "Alice", "that was it, thanks", "a1")
	for i := range 400 {
		say(fmt.Sprintf("m%03d", i), monday+earshot.Time(i+2)*hour, []string{"Dana", "Erin"}[i%2], fmt.Sprintf("lunch number %d: %s with rice", i, []string{"soup", "salad", "noodles", "curry"}[i%4]))
	}
	say("q", monday+500*hour, "Frank", "<@U0BOT> the ferry terminal prints tickets twice, what was the spooler problem?")
	return list, list[len(list)-1]
}

func channelOf(t testing.TB, list []earshot.Message) earshot.Store {
	t.Helper()
	st := open(t, "memory:")
	record(t, st, general.Scope(), list...)
	return st
}

func recalling(t testing.TB, st earshot.Store, anchor earshot.MessageID) gather.Request {
	t.Helper()
	return gather.Request{Channel: general, Anchor: anchor, Identity: self, Counter: counter(t), Finder: search.New(st, nil)}
}

// block returns one block of the last prompt message.
func block(r assemble.Result, header string) string {
	text := r.Messages[len(r.Messages)-1].Text
	_, rest, found := strings.Cut(text, header+"\n")
	if !found {
		return ""
	}
	inside, _, _ := strings.Cut(rest, "\n\n")
	return inside
}

const (
	foundHere   = "[earlier in this channel, found for this question]"
	foundBySome = "[earlier in this channel, found by some words of this question]"
)

func TestAStoryOfMonthsAgoIsRecalled(t *testing.T) {
	t.Parallel()
	list, question := months()
	st := channelOf(t, list)
	in, res, err := gather.Turn(t.Context(), st, recalling(t, st, question.ID))
	if err != nil {
		t.Fatal(err)
	}
	want := "[Mon 2 Mar]\n09:00 Alice: the ferry terminal prints its tickets twice\n↳ 09:01 Bob: which printer?\n" +
		"↳ 09:02 Carol: the spooler of the terminal kept a stale job, I emptied /var/spool/ferry\n↳ 09:03 Alice: that was it, thanks"
	if got := block(res, foundHere); got != want {
		t.Errorf("(-got +want)\n%s", cmp.Diff(got, want))
	}
	rows := map[earshot.MessageID]earshot.LedgerRow{}
	for _, row := range res.Ledger {
		rows[row.ID] = row
	}
	if row := rows["a3"]; row.Section != "recall" || row.Score == 0 || row.Cover == 0 || row.Parts["words"] == 0 {
		t.Errorf("the ledger says %+v", row)
	}
	if len(res.Ledger) != len(in.Messages) || len(rows) != len(in.Messages) {
		t.Errorf("%d rows for %d messages", len(res.Ledger), len(in.Messages))
	}
	// 405 messages are stored: all but the question are shown or counted.
	shown := 0
	for _, row := range res.Ledger {
		if row.Verdict == earshot.Full || row.Verdict == earshot.Cut {
			shown++
		}
	}
	if header := fmt.Sprintf("[recent in this channel; %d older messages not shown]", len(list)-shown); !strings.Contains(res.Messages[0].Text, header) {
		t.Errorf("lacks %s: %.300s", header, res.Messages[0].Text[strings.Index(res.Messages[0].Text, "[recent"):])
	}
}

func TestRecallReadsAHandfulMore(t *testing.T) {
	t.Parallel()
	list, question := months()
	st := channelOf(t, list)
	counting := &reads{Store: st}
	req := recalling(t, st, question.ID)
	searches := &finderOf{search: func(ctx context.Context, s earshot.Scope, q search.Query) ([]search.Hit, error) {
		return req.Finder.Search(ctx, s, q)
	}}
	without := req
	without.Finder = nil
	if _, err := gather.Input(t.Context(), counting, without); err != nil {
		t.Fatal(err)
	}
	before := counting.n
	counting.n = 0
	with := req
	with.Finder = searches
	if _, err := gather.Input(t.Context(), counting, with); err != nil {
		t.Fatal(err)
	}
	if searches.n != 1 || counting.n-before > 4 {
		t.Errorf("%d searches, %d reads more than the %d without: want 1 and 4 at most", searches.n, counting.n-before, before)
	}
}

// reads counts what is read.
type reads struct {
	earshot.Store
	n int
}

func (r *reads) ByID(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error) {
	r.n++
	return r.Store.ByID(ctx, s, ids...)
}

func (r *reads) Newest(ctx context.Context, s earshot.Scope, p earshot.ChannelPart, upTo earshot.Position, limit int) ([]earshot.Message, error) {
	r.n++
	return r.Store.Newest(ctx, s, p, upTo, limit)
}

func (r *reads) Range(ctx context.Context, s earshot.Scope, p earshot.ChannelPart, from, to earshot.Position) iter.Seq2[earshot.Message, error] {
	r.n++
	return r.Store.Range(ctx, s, p, from, to)
}

func (r *reads) Replying(ctx context.Context, s earshot.Scope, upTo earshot.Position, ids ...earshot.MessageID) ([]earshot.Message, error) {
	r.n++
	return r.Store.Replying(ctx, s, upTo, ids...)
}

func (r *reads) Activity(ctx context.Context, s earshot.Scope, upTo earshot.Position, roots ...earshot.MessageID) (map[earshot.MessageID]earshot.Activity, error) {
	r.n++
	return r.Store.Activity(ctx, s, upTo, roots...)
}

func (r *reads) Count(ctx context.Context, s earshot.Scope, p earshot.ChannelPart, upTo earshot.Position) (earshot.Count, error) {
	r.n++
	return r.Store.Count(ctx, s, p, upTo)
}

// finderOf is a Finder that does as it is told.
type finderOf struct {
	search func(ctx context.Context, s earshot.Scope, q search.Query) ([]search.Hit, error)
	n      int
	asked  []search.Query
}

func (f *finderOf) Search(ctx context.Context, s earshot.Scope, q search.Query) ([]search.Hit, error) {
	f.n++
	f.asked = append(f.asked, q)
	return f.search(ctx, s, q)
}

func TestAFinderIsNotTrusted(t *testing.T) {
	t.Parallel()
	list, question := months()
	st := channelOf(t, list)
	foreign := earshot.Message{ID: "f1", Time: monday, Author: earshot.Author{ID: "U9", Name: "Mallory"}, Text: "the ferry terminal's secret"}
	other := general
	other.ID = "C2"
	record(t, st, other.Scope(), foreign)
	later := earshot.Message{ID: "z", Time: question.Time + hour, Author: foreign.Author, Text: "the ferry terminal, later"}
	record(t, st, general.Scope(), later)
	req := recalling(t, st, question.ID)
	honest, want, err := gather.Turn(t.Context(), st, req)
	if err != nil {
		t.Fatal(err)
	}
	real := req.Finder
	req.Finder = &finderOf{search: func(ctx context.Context, s earshot.Scope, q search.Query) ([]search.Hit, error) {
		hits, err := real.Search(ctx, s, q)
		for i := range hits {
			hits[i].Near = append(hits[i].Near, "f1", "z", "404")
			hits[i].Message.Text = "not what was said"
		}
		for _, m := range []earshot.Message{foreign, later, question} {
			hits = append(hits, search.Hit{Hit: index.Hit{ID: m.ID, Time: m.Time, Score: 0.1, Near: []earshot.MessageID{"f1", "z"}}, Message: m})
		}
		return append(hits, hits...), err
	}}
	in, got, err := gather.Turn(t.Context(), st, req)
	if err != nil || got.Hash != want.Hash {
		t.Errorf("another prompt, %v", err)
	}
	if d := cmp.Diff(in.Recalled, honest.Recalled); d != "" {
		t.Errorf("recalled (-got +want)\n%s", d)
	}
	if slices.ContainsFunc(in.Messages, func(m earshot.Message) bool { return m.ID == "f1" || m.ID == "z" }) {
		t.Error("a message of elsewhere, or of after the question, was read")
	}
}

func TestWithoutASearchATurnGoesOn(t *testing.T) {
	t.Parallel()
	list, question := months()
	st := channelOf(t, list)
	req := recalling(t, st, question.ID)
	broken := errors.New("the index is broken")
	req.Finder = &finderOf{search: func(context.Context, earshot.Scope, search.Query) ([]search.Hit, error) { return nil, broken }}
	var told error
	req.Failed = func(err error) { told = err }
	_, res, err := gather.Turn(t.Context(), st, req)
	if err != nil || !errors.Is(told, broken) {
		t.Errorf("got %v, told %v", err, told)
	}
	req.Finder = nil
	_, want, _ := gather.Turn(t.Context(), st, req)
	if res.Hash != want.Hash {
		t.Error("a failed search changes more than recall")
	}
	ended, cancel := context.WithCancel(t.Context())
	req.Finder = &finderOf{search: func(context.Context, earshot.Scope, search.Query) ([]search.Hit, error) {
		cancel()
		return nil, context.Canceled
	}}
	if _, err := gather.Input(ended, st, req); !errors.Is(err, context.Canceled) {
		t.Errorf("a turn that ended goes on: %v", err)
	}
}

func TestWhatIsAsked(t *testing.T) {
	t.Parallel()
	list, _ := months()
	root := earshot.Message{ID: "r", Time: monday + 450*hour, Author: earshot.Author{ID: "U1", Name: "Alice"}, Text: "<@U0BOT|earshot> the gangway is stuck"}
	ask := func(id, text string, thread earshot.MessageID) earshot.Message {
		return earshot.Message{ID: earshot.MessageID(id), Time: monday + 460*hour, Author: root.Author, Text: text, Thread: thread}
	}
	asked := []earshot.Message{
		ask("q1", "<@U0BOT> again? <@!B0BOT> <@U0BOTTOM>", "r"), ask("q2", "<@U0BOT>", "r"), ask("q3", "<@U0BOT> ?!", ""), ask("q4", "<@U0BOT> 🚫 the gangway", "r"), ask("q5", "@earshot the gangway", ""),
	}
	st := channelOf(t, append(list, append(asked, root)...))
	for _, c := range []struct {
		anchor        earshot.MessageID
		policy        string
		text, context string // "" where nothing is asked
	}{
		{"q1", "standard", "again? <@U0BOTTOM>", "the gangway is stuck"},
		{"q2", "standard", "", ""},
		{"q3", "standard", "", ""},
		{"q4", "standard", "", ""},
		{"q5", "standard", "the gangway", ""},
		{"q5", "delta", "", ""},
	} {
		f := &finderOf{search: func(context.Context, earshot.Scope, search.Query) ([]search.Hit, error) { return nil, nil }}
		req := recalling(t, st, c.anchor)
		req.Finder = f
		req.Policy, _ = assemble.ByName(c.policy)
		in, err := gather.Input(t.Context(), st, req)
		if err != nil {
			t.Fatal(err)
		}
		if c.text == "" {
			if f.n > 0 || in.Recalled != nil {
				t.Errorf("%s under %s: %d searches, %v", c.anchor, c.policy, f.n, in.Recalled)
			}
			continue
		}
		q := f.asked[0]
		if got := strings.Join(strings.Fields(q.Text), " "); got != c.text || strings.TrimSpace(q.Context) != c.context {
			t.Errorf("%s: asked %q under %q", c.anchor, got, q.Context)
		}
		if q.Before.ID != c.anchor || q.At != q.Before.Time || q.Exclude[0] != c.anchor || c.context != "" && len(q.Exclude) != 2 || q.Zone == nil {
			t.Errorf("%s: asked %+v", c.anchor, q)
		}
	}
}

func TestAFollowUpIsShownWhatItWasNot(t *testing.T) {
	t.Parallel()
	list, question := months()
	list = append(list,
		earshot.Message{ID: "own", Time: question.Time + 60e6, Author: earshot.Author{ID: self.ID, Name: self.Name, Kind: earshot.Bot}, Text: "A stale job in the spooler.", Thread: question.ID},
		earshot.Message{ID: "q2", Time: question.Time + 120e6, Author: question.Author, Text: "<@U0BOT> what about the spooler of the ferry, and which curry was lunch number 7?", Thread: question.ID},
		earshot.Message{ID: "q3", Time: question.Time + 180e6, Author: question.Author, Text: "<@U0BOT> and now?", Thread: question.ID})
	st := channelOf(t, list)
	in, first, err := gather.Turn(t.Context(), st, recalling(t, st, question.ID))
	if err != nil {
		t.Fatal(err)
	}
	state := assemble.ConversationState{
		Cursor: first.Next.Cursor, Shown: append(first.Next.Shown, earshot.ShownRevision{ID: "own"}), Names: first.Next.Names, Form: in.Policy.Frame,
		Session: []earshot.SessionEntry{{Role: earshot.User, Text: first.Messages[0].Text}, {Role: earshot.Assistant, Text: "A stale job in the spooler."}},
		Turns:   []earshot.Answer{{Anchor: question.ID, Replies: []earshot.MessageID{"own"}}},
	}
	req := recalling(t, st, "q2")
	req.State = &state
	_, res, err := gather.Turn(t.Context(), st, req)
	if err != nil {
		t.Fatal(err)
	}
	got := block(res, foundBySome) // the best hit is in the session
	if !strings.Contains(got, "lunch number 7: ") || strings.Contains(got, "ferry") {
		t.Errorf("found:\n%s", got)
	}
	for _, row := range res.Ledger {
		if row.ID == "a3" && (row.Reason != "shown" && row.Reason != "considered" || row.Verdict != earshot.Out || row.Score == 0) {
			t.Errorf("what was shown: %+v", row)
		}
	}
	bare := recalling(t, st, "q3")
	bare.State = &state
	if in, _, err := gather.Turn(t.Context(), st, bare); err != nil || in.Recalled != nil {
		t.Errorf("a follow-up without words of its own: %v, %v", in.Recalled, err)
	}
	// Once something of it is deleted, what was said of it must be forgotten.
	if _, err := st.Record(t.Context(), general.Scope(), earshot.Message{ID: "a3", Deleted: true}); err != nil {
		t.Fatal(err)
	}
	_, res, err = gather.Turn(t.Context(), st, req)
	if err != nil || res.Next.Epoch != 1 || strings.Contains(res.Messages[0].Text, "/var/spool/ferry") {
		t.Errorf("epoch %d, %v", res.Next.Epoch, err)
	}
}

func TestWhatIsSaidLaterChangesNoInputThatIsKept(t *testing.T) {
	t.Parallel()
	list, question := months()
	st := channelOf(t, list)
	req := recalling(t, st, question.ID)
	in, res, err := gather.Turn(t.Context(), st, req)
	if err != nil {
		t.Fatal(err)
	}
	record(t, st, general.Scope(), earshot.Message{ID: "z1", Time: question.Time + hour, Author: question.Author, Text: "the ferry terminal prints tickets twice again, the spooler"})
	again, err := assemble.Turn(in)
	if err != nil || again.Hash != res.Hash {
		t.Errorf("a kept input makes another prompt: %v", err)
	}
	fresh, _, err := gather.Turn(t.Context(), st, req)
	if err != nil || slices.ContainsFunc(fresh.Recalled, func(r assemble.RecalledMessage) bool { return r.ID == "z1" }) {
		t.Errorf("what was said after the question is recalled: %v", err)
	}
}

// An edit is found by its new words, and shown as one.
func TestAnEditIsRecalledAsItStands(t *testing.T) {
	t.Parallel()
	list, question := months()
	st := channelOf(t, list)
	edited := list[2]
	edited.Text, edited.Edited = "the spooler of the ferry terminal had two printers set up", monday+hour
	record(t, st, general.Scope(), edited)
	_, res, err := gather.Turn(t.Context(), st, recalling(t, st, question.ID))
	if err != nil {
		t.Fatal(err)
	}
	got := block(res, foundHere)
	if !strings.Contains(got, "Carol (edited): the spooler of the ferry terminal had two printers") || strings.Contains(got, "stale job") {
		t.Errorf("found:\n%s", got)
	}
}
