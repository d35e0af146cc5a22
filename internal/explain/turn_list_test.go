package explain_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/store"
)

// A ward is a store with turns in all states, and a reader of it.
type ward struct {
	testing.TB
	store  earshot.Store
	reader *explain.Reader
	log    bytes.Buffer
}

const hour = earshot.Time(time.Hour / time.Microsecond)

// begin is when the first turn was opened.
var begin = earshot.TimeOf(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))

var bob = earshot.Author{ID: "U2", Name: "Bob", FullName: "Robert Fox", Kind: earshot.Human}

func newWard(t testing.TB) *ward {
	t.Helper()
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	w := &ward{TB: t, store: st}
	w.reader = explain.New(st, search.New(st, nil), explain.Options{Log: slog.New(slog.NewTextHandler(&w.log, nil))})
	for _, id := range []earshot.ChannelID{"C1", "C2"} {
		w.must(st.PutChannel(t.Context(), earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: id, Name: "name of " + string(id), Kind: earshot.KindChannel}))
	}
	return w
}

func (w *ward) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func at(channel earshot.ChannelID) earshot.Scope {
	return earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: channel}
}

// turn is a turn to make: its journal has an answer of each model, which read a hundred
// tokens.
type turn struct {
	in     earshot.ChannelID
	by     earshot.Author
	state  earshot.TurnState
	models []string
}

// add makes the n-th turn, opened n hours after the first. Its question is mN, its
// only post is ambiguous unless it is done.
func (w *ward) add(n int, x turn) earshot.TurnID {
	w.Helper()
	ctx, sc := w.Context(), at(x.in)
	id := earshot.ConversationID{Agent: "agent", Scope: sc, Name: fmt.Sprint("c", n)}
	opened := begin + earshot.Time(n)*hour
	m := earshot.Message{ID: earshot.MessageID(fmt.Sprint("m", n)), Time: opened, Author: x.by, Text: fmt.Sprint("question ", n)}
	out, err := w.store.Accept(ctx, sc, earshot.Event{Delivery: fmt.Sprint("d", n), Received: opened, Message: m}, &id)
	w.must(err)
	l, _, err := w.store.Claim(ctx, "agent", "me", opened, time.Hour)
	w.must(err)
	w.must(w.store.Begin(ctx, l, out.Turn, earshot.Prompt{Hash: "h", Input: []byte("input")}))
	for i, model := range x.models {
		w.must(w.store.AddStep(ctx, l, out.Turn, earshot.Step{N: i, Kind: "answer", Data: fmt.Appendf(nil, `{"model":%q,"stop":"end","parts":[],"usage":{"Input":100}}`, model)}))
	}
	why := "who knows"
	var done *earshot.Turn
	if x.state == earshot.TurnDone {
		why, done = "", &earshot.Turn{Answer: earshot.Answer{Anchor: m.ID}, Policy: "standard", Usage: earshot.Usage{Input: 7}}
	} else {
		w.must(w.store.PutPost(ctx, l, earshot.Post{Turn: out.Turn, Key: fmt.Sprint("r", n), Text: fmt.Sprint("answer ", n), State: earshot.PostAmbiguous, Tries: 2}))
	}
	if x.state.Final() {
		w.must(w.store.Finish(ctx, l, out.Turn, x.state, why, done))
		w.must(w.store.Release(ctx, l, 0))
	}
	return out.Turn
}

// price makes the large model dear, and knows no other but the small one.
func price(model string, u earshot.Usage) (float64, bool) {
	per := map[string]float64{"large": 0.01, "small": 0.001}[model]
	return per * float64(u.Input), per > 0
}

func turnIDs(l explain.TurnList) []earshot.TurnID {
	list := []earshot.TurnID{}
	for _, r := range l.Rows {
		list = append(list, r.Queued.ID)
	}
	return list
}

func TestAListOfTurnsIsFiltered(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	for n, x := range []turn{
		1: {"C1", alice, earshot.TurnDone, []string{"small"}},
		2: {"C1", bob, earshot.TurnDone, []string{"large", "small", "large"}},
		3: {"C2", alice, earshot.TurnFailed, []string{"strange"}},
		4: {"C2", bob, earshot.TurnParked, []string{"large"}},
		5: {"C1", alice, earshot.TurnDropped, nil},
		6: {"C2", alice, earshot.TurnPosting, []string{"small"}},
	} {
		if n > 0 {
			if id := w.add(n, x); id != earshot.TurnID(n) {
				t.Fatalf("turn %d has id %d", n, id)
			}
		}
	}
	only := func(c earshot.ChannelID) access.Principal {
		p := everyone
		p.Reach.Channels = []earshot.ChannelID{c}
		return p
	}
	for _, c := range []struct {
		name string
		p    access.Principal
		f    explain.TurnFilter
		want []earshot.TurnID
	}{
		{"all", everyone, explain.TurnFilter{}, []earshot.TurnID{6, 5, 4, 3, 2, 1}},
		{"of a channel", everyone, explain.TurnFilter{TurnQuery: explain.TurnQuery{Channel: visible.Place{Channel: "C2"}}}, []earshot.TurnID{6, 4, 3}},
		{"of a channel by its name", everyone, explain.TurnFilter{TurnQuery: explain.TurnQuery{Channel: visible.Place{Channel: "#name of C2"}}}, []earshot.TurnID{6, 4, 3}},
		{"in states", everyone, explain.TurnFilter{TurnQuery: explain.TurnQuery{States: []earshot.TurnState{earshot.TurnParked, earshot.TurnFailed}}}, []earshot.TurnID{4, 3}},
		{"by a person's id", everyone, explain.TurnFilter{Person: "U2"}, []earshot.TurnID{4, 2}},
		{"by a person's name", everyone, explain.TurnFilter{Person: "@bob"}, []earshot.TurnID{4, 2}},
		{"by a person's whole name", everyone, explain.TurnFilter{Person: "robert fox"}, []earshot.TurnID{4, 2}},
		{"by nobody", everyone, explain.TurnFilter{Person: "Rob"}, []earshot.TurnID{}},
		{"of a model", everyone, explain.TurnFilter{Model: "small"}, []earshot.TurnID{6, 2, 1}},
		{"that cost", everyone, explain.TurnFilter{Cost: 1}, []earshot.TurnID{4, 2}},
		{"that cost more", everyone, explain.TurnFilter{Cost: 1.01}, []earshot.TurnID{2}},
		{"from a time", everyone, explain.TurnFilter{From: begin + 5*hour}, []earshot.TurnID{6, 5}},
		{"until a time", everyone, explain.TurnFilter{To: begin + 3*hour}, []earshot.TurnID{2, 1}},
		{"between times", everyone, explain.TurnFilter{From: begin + 2*hour, To: begin + 5*hour}, []earshot.TurnID{4, 3, 2}},
		{"of all at once", everyone, explain.TurnFilter{TurnQuery: explain.TurnQuery{Channel: visible.Place{Channel: "C1"}}, Person: "Bob", Model: "large", From: begin}, []earshot.TurnID{2}},
		{"with a key for one channel", only("C1"), explain.TurnFilter{}, []earshot.TurnID{5, 2, 1}},
	} {
		c.f.Journals, c.f.Price = true, price
		got, err := w.reader.TurnList(t.Context(), c.p, c.f)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(turnIDs(got), c.want); diff != "" || got.Before != 0 || got.Stopped {
			t.Errorf("%s (-got +want): %s, next %d, stopped %v", c.name, diff, got.Before, got.Stopped)
		}
	}
	_, err := w.reader.TurnList(t.Context(), only("C1"), explain.TurnFilter{TurnQuery: explain.TurnQuery{Channel: visible.Place{Channel: "C2"}}})
	wantRefusal(t, err, visible.NotFound)
}

func TestARowSaysWhatBecameOfATurn(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	done := w.add(1, turn{"C1", bob, earshot.TurnDone, []string{"large", "small", "large"}})
	parked := w.add(2, turn{"C2", alice, earshot.TurnParked, []string{"small", "strange"}})
	bare := w.add(3, turn{"C1", alice, earshot.TurnDone, nil})
	got, err := w.reader.TurnList(t.Context(), everyone, explain.TurnFilter{Journals: true, Price: price, Posts: true})
	if err != nil || len(got.Rows) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	a, b, c := got.Rows[2], got.Rows[1], got.Rows[0]
	for _, x := range []struct {
		name      string
		got, want any
	}{
		{"turns", turnIDs(got), []earshot.TurnID{bare, parked, done}},
		{"channel", a.Channel.Name, "name of C1"},
		{"question", []string{a.Question.Text, a.Question.Author.Name}, []string{"question 1", "Bob"}},
		{"policy", a.Policy, "standard"},
		{"models", a.Models, []string{"large", "small"}},
		{"calls and tokens", []int{a.Calls, a.Usage.Input}, []int{3, 300}},
		{"cost", fmt.Sprintf("%.2f %v", a.Cost, a.Priced), "2.10 true"},
		{"cost where a model has no price", fmt.Sprintf("%.2f %v", b.Cost, b.Priced), "0.10 false"},
		{"tokens without a journal", []int{c.Calls, c.Usage.Input}, []int{0, 7}},
		{"waits", []bool{a.Waits(), b.Waits()}, []bool{false, true}},
		{"posts", []any{len(a.Posts), b.Posts[0].Text, b.Posts[0].State, b.Posts[0].Tries}, []any{0, "answer 2", earshot.PostAmbiguous, 2}},
		{"the input stays out", len(b.Queued.Input), 0},
	} {
		if diff := cmp.Diff(x.got, x.want); diff != "" {
			t.Errorf("%s (-got +want): %s", x.name, diff)
		}
	}
	if _, err := w.store.Record(t.Context(), at("C2"), earshot.Message{ID: "m2", Deleted: true}); err != nil {
		t.Fatal(err)
	}
	got, err = w.reader.TurnList(t.Context(), everyone, explain.TurnFilter{})
	if err != nil || got.Rows[1].Question != nil || got.Rows[1].Calls != 0 {
		t.Errorf("after its question was deleted: %+v, %v", got.Rows[1], err)
	}
}

// A list that is filtered by what is rare ends its page after so many turns, and goes
// on where it ended.
func TestAListLooksAtABoundedNumberOfTurns(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	const n = explain.MaxLook + 300
	rare := w.add(0, turn{"C1", bob, earshot.TurnDone, []string{"large"}})
	w.open(n)
	for _, c := range []struct {
		name  string
		f     explain.TurnFilter
		bound int
	}{
		{"person", explain.TurnFilter{Person: "Bob"}, explain.MaxLook},
		{"model", explain.TurnFilter{Model: "large", Journals: true}, explain.MaxLookDeep},
	} {
		pages := 0
		var found []earshot.TurnID
		for {
			l, err := w.reader.TurnList(t.Context(), everyone, c.f)
			if err != nil {
				t.Fatal(err)
			}
			pages++
			found = append(found, turnIDs(l)...)
			if l.Looked > c.bound+explain.MaxTurns || l.Stopped != (l.Before != 0) {
				t.Fatalf("%s: %d turns were looked at: %+v", c.name, l.Looked, l)
			}
			if c.f.Before = l.Before; l.Before == 0 {
				break
			}
		}
		if diff := cmp.Diff(found, []earshot.TurnID{rare}); diff != "" || pages != n/c.bound+1 {
			t.Errorf("%s: %d pages (-got +want): %s", c.name, pages, diff)
		}
	}
	var all []earshot.TurnID
	f := explain.TurnFilter{TurnQuery: explain.TurnQuery{Limit: 200}}
	for range 3 {
		l, err := w.reader.TurnList(t.Context(), everyone, f)
		if err != nil || l.Looked > 201 || l.Stopped {
			t.Fatalf("%d looked at, %v", l.Looked, err)
		}
		all, f.Before = append(all, turnIDs(l)...), l.Before
	}
	for i, id := range all {
		if want := earshot.TurnID(n + 1 - i); id != want {
			t.Fatalf("row %d is turn %d, want %d", i, id, want)
		}
	}
	rareOnly := everyone
	rareOnly.Reach.Channels = []earshot.ChannelID{"C1"}
	for _, c := range []struct {
		name string
		p    access.Principal
		want int
	}{{"who sees all", everyone, 50}, {"who sees what is far below", rareOnly, 0}} {
		list, err := w.reader.NewestTurns(t.Context(), c.p, 50)
		if err != nil || len(list) != c.want || c.want > 0 && list[0].ID != n+1 {
			t.Errorf("the newest turns for one %s: %d, %v", c.name, len(list), err)
		}
	}
	old, err := w.reader.TurnList(t.Context(), everyone, explain.TurnFilter{To: begin + hour/2})
	if err != nil || len(old.Rows) != 1 || old.Rows[0].Queued.ID != rare || old.Looked > 200 {
		t.Errorf("until a time long ago: %v of %d, %v", turnIDs(old), old.Looked, err)
	}
}

// open opens many turns of C2, an hour apart, after the first.
func (w *ward) open(n int) {
	w.Helper()
	for i := range n {
		t := begin + earshot.Time(i+1)*hour
		id := earshot.ConversationID{Agent: "agent", Scope: at("C2"), Name: "many"}
		e := earshot.Event{Received: t, Message: earshot.Message{ID: earshot.MessageID(fmt.Sprint("x", i)), Time: t, Author: alice, Text: "x"}}
		_, err := w.store.Accept(w.Context(), at("C2"), e, &id)
		w.must(err)
	}
}

func wantRefusal(t *testing.T, err error, kind visible.Kind) {
	t.Helper()
	if r, ok := visible.AsRefusal(err); !ok || r.Kind != kind {
		t.Errorf("got %v, want a refusal of kind %s", err, kind)
	}
}

func TestAnOperatorOpensATurnAgainOrDiscardsIt(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	again := w.add(1, turn{"C1", bob, earshot.TurnFailed, nil})
	given := w.add(2, turn{"C1", alice, earshot.TurnParked, nil})
	gone := w.add(3, turn{"C1", alice, earshot.TurnParked, nil})
	done := w.add(4, turn{"C1", alice, earshot.TurnDone, nil})
	ctx := t.Context()
	viewer, foreign := everyone, everyone
	viewer.ReadOnly = true
	foreign.Reach.Channels = []earshot.ChannelID{"C2"}
	fixed := access.Principal{ID: "x", Kind: access.Capability, Fixed: &access.CapabilityScope{Scope: at("C1")}}
	both := foreign
	both.ReadOnly = true
	for name, f := range map[string]func(p access.Principal, id earshot.TurnID) error{
		"retry": func(p access.Principal, id earshot.TurnID) error { _, err := w.reader.Retry(ctx, p, id); return err },
		"discard": func(p access.Principal, id earshot.TurnID) error {
			_, err := w.reader.Discard(ctx, p, id, "")
			return err
		},
	} {
		t.Log(name)
		wantRefusal(t, f(viewer, again), visible.Forbidden)
		wantRefusal(t, f(foreign, again), visible.NotFound)
		wantRefusal(t, f(both, again), visible.NotFound)
		wantRefusal(t, f(fixed, again), visible.NotFound)
		wantRefusal(t, f(everyone, 99), visible.NotFound)
		wantRefusal(t, f(everyone, done), visible.Conflict)
	}
	if w.log.Len() > 0 {
		t.Errorf("what was refused is logged: %s", &w.log)
	}
	was, err := w.reader.Retry(ctx, everyone, again)
	if err != nil || was.State != earshot.TurnFailed || was.Input != nil {
		t.Errorf("retry: %+v, %v", was, err)
	}
	was, err = w.reader.Discard(ctx, everyone, given, "it said: question 2")
	if err != nil || was.State != earshot.TurnParked {
		t.Errorf("discard: %+v, %v", was, err)
	}
	_, err = w.reader.Discard(ctx, everyone, given, strings.Repeat("x", 1001))
	wantRefusal(t, err, visible.Invalid)
	if _, err := w.store.Record(ctx, at("C1"), earshot.Message{ID: "m3", Deleted: true}); err != nil {
		t.Fatal(err)
	}
	_, err = w.reader.Retry(ctx, everyone, gone)
	var r *visible.Refusal
	if !errors.As(err, &r) || r.Code != "no_question" {
		t.Errorf("retry without a question: %v", err)
	}
	if _, err := w.reader.Discard(ctx, everyone, gone, ""); err != nil {
		t.Errorf("discard without a question: %v", err)
	}
	for id, want := range map[earshot.TurnID]earshot.TurnState{again: earshot.TurnOpen, given: earshot.TurnDropped, gone: earshot.TurnDropped} {
		if q, err := w.store.QueuedTurn(ctx, id); err != nil || q.State != want {
			t.Errorf("turn %d is %s, want %s: %v", id, q.State, want, err)
		}
	}
	log := w.log.String()
	if strings.Count(log, "\n") != 3 || !strings.Contains(log, "turn=1 change=\"opened again\" was=failed by=key:test") || strings.Contains(log, "question") {
		t.Errorf("the log: %s", log)
	}
}
