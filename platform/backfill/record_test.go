package backfill_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/backfill"
	"github.com/earshot-ai/earshot/store"
)

// A shown is a source that shows a page, as the first of a thread, and no other.
type shown struct {
	page backfill.Page
	once sync.Once
}

func (s *shown) Replies(context.Context, earshot.Channel, earshot.MessageID, backfill.Window) (p backfill.Page, err error) {
	if s.page.More {
		err = &backfill.LimitError{Wait: time.Hour, Err: errors.New("no more today")}
	}
	s.once.Do(func() { p, err = s.page, nil })
	return p, err
}

func (s *shown) History(context.Context, earshot.Channel, backfill.Window) (backfill.Page, error) {
	return backfill.Page{NewestFirst: true}, nil
}

// An accepting is a store that keeps what it accepts, besides storing it.
type accepting struct {
	earshot.Store
	mu       sync.Mutex // guards accepted
	accepted []earshot.Message
}

func (s *accepting) Accept(ctx context.Context, scope earshot.Scope, e earshot.Event, ask *earshot.ConversationID) (earshot.AcceptResult, error) {
	s.mu.Lock()
	s.accepted = append(s.accepted, e.Message)
	s.mu.Unlock()
	return s.Store.Accept(ctx, scope, e, ask)
}

// A reading is what came of reading a thread's page once.
type reading struct {
	Accepted []earshot.Message
	Handled  []backfill.HistoryMessage // raw, delivery and times left out
}

// read reads a page of thread 1 that shows x, by a store that has what is
// stored.
func read(t *testing.T, x backfill.HistoryMessage, stored ...earshot.Message) reading {
	t.Helper()
	return readPage(t, backfill.Page{Messages: []backfill.HistoryMessage{x}}, stored...)
}

func readPage(t *testing.T, page backfill.Page, stored ...earshot.Message) reading {
	t.Helper()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	s, c := &accepting{Store: st}, channel("C1")
	if _, err := st.Record(t.Context(), c.Scope(), stored...); err != nil {
		t.Fatal(err)
	}
	var out reading
	f, err := backfill.Open(t.Context(), backfill.Options{
		Store: s, Source: &shown{page: page}, Platform: earshot.Slack, Workspace: "T1", ThreadsAlone: true,
		Handle: func(_ context.Context, _ earshot.Channel, f backfill.HistoryMessage) error {
			f.Event = earshot.Event{Message: f.Message}
			out.Handled = append(out.Handled, f)
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	anchor := earshot.Message{ID: "9", Time: earshot.TimeOf(time.Now()), Thread: "1"}
	if err := f.Fill(t.Context(), c, anchor, "1"); err != nil {
		t.Fatal(err)
	}
	out.Accepted = s.accepted
	return out
}

func TestOurOwnPostIsReadAsWhatItIs(t *testing.T) {
	t.Parallel()
	long := earshot.TimeOf(time.Now().Add(-time.Hour))
	ours := earshot.Message{ID: "5", Time: long, Thread: "1", Text: "*because*", Author: earshot.Author{ID: "U0", Name: "earshot", Kind: earshot.Bot}}
	with := func(text string) earshot.Message {
		m := ours
		m.Text = text
		return m
	}
	found := func(key string, whole bool) backfill.HistoryMessage {
		return backfill.HistoryMessage{Event: earshot.Event{Message: ours}, Key: key, Whole: whole}
	}
	handled := func(key string, whole bool) reading {
		return reading{Handled: []backfill.HistoryMessage{found(key, whole)}}
	}
	for name, tt := range map[string]struct {
		found  backfill.HistoryMessage
		stored []earshot.Message
		want   reading
	}{
		"whole, and not stored: it waits for no post":    {found("p1", true), nil, handled("", true)},
		"whole, and stored without a text":               {found("p1", true), []earshot.Message{with("")}, handled("", true)},
		"a draft is its post's to tell":                  {found("p1", false), nil, handled("p1", false)},
		"a draft of one that is stored without a text":   {found("p1", false), []earshot.Message{with("")}, handled("p1", false)},
		"what is stored of it stays, in its own words":   {found("p1", true), []earshot.Message{with("**because**")}, reading{}},
		"and that of a post which was not a placeholder": {found("r1", false), []earshot.Message{with("**because**")}, reading{}},
	} {
		got := read(t, tt.found, tt.stored...)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// What history tells besides the text is told to the store, and no more than
// once.
func TestWhatHistoryTellsOfAStoredMessageIsNew(t *testing.T) {
	t.Parallel()
	root := earshot.Message{ID: "1", Time: earshot.TimeOf(time.Now().Add(-time.Hour)), Text: "root", Author: earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}}
	for name, change := range map[string]func(*earshot.Message){
		"replies": func(m *earshot.Message) { m.Replies = &earshot.Activity{Count: 14, Last: m.Time + 1} },
		"a forward": func(m *earshot.Message) {
			m.Shared = []earshot.SharedContent{{Kind: earshot.Forward, Author: "Erin", Text: "down"}}
		},
		"a reaction": func(m *earshot.Message) { m.Reactions = []earshot.Reaction{{Name: "eyes", Count: 1}} },
	} {
		told := root
		change(&told)
		x := backfill.HistoryMessage{Event: earshot.Event{Message: told}}
		if diff := cmp.Diff([]earshot.Message{told}, read(t, x, root).Accepted, cmpopts.IgnoreFields(earshot.Message{}, "Reactors")); diff != "" {
			t.Errorf("%s: accepted (-want +got):\n%s", name, diff)
		}
		if got := read(t, backfill.HistoryMessage{Event: earshot.Event{Message: root}}, root).Accepted; got != nil {
			t.Errorf("%s: what is known was accepted again: %+v", name, got)
		}
	}
}

// A page of Discord's reaches beyond the window that is asked for: what it shows there of
// stored messages is news too.
func TestOfWhatStandsBesideAWindowTheStoredIsBroughtUpToDate(t *testing.T) {
	t.Parallel()
	at := func(id earshot.MessageID, ago time.Duration, list ...earshot.Reaction) earshot.Message {
		return earshot.Message{ID: id, Time: earshot.TimeOf(time.Now().Add(-ago)), Text: "x", Thread: "1", Author: earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}, Reactions: list}
	}
	eyes := earshot.Reaction{Name: "eyes", Count: 2}
	changed, same, fresh := at("2", 3*time.Hour), at("3", 2*time.Hour, eyes), at("5", time.Minute)
	before := changed
	before.Reactions = []earshot.Reaction{eyes}
	page := backfill.Page{Messages: []backfill.HistoryMessage{{Event: earshot.Event{Message: fresh}}}, NewestFirst: true, More: true}
	for _, m := range []earshot.Message{changed, same, at("4", time.Hour)} {
		page.Beside = append(page.Beside, backfill.HistoryMessage{Event: earshot.Event{Message: m}})
	}
	changed.Reactions = []earshot.Reaction{}
	want := reading{Accepted: []earshot.Message{changed}, Handled: page.Messages} // the missed question is the bot's
	if diff := cmp.Diff(want, readPage(t, page, before, same), cmpopts.IgnoreFields(earshot.Message{}, "Reactors")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
