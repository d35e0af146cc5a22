package search_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/search/index"
	"github.com/earshot-ai/earshot/store"
)

// A shelf is a source in memory. Each message's sequence is its place.
type shelf struct {
	mu       sync.Mutex // guards what follows
	channels map[earshot.Scope][]earshot.Message
	reads    int   // calls of Terms from the start
	rows     int   // that Terms has given
	fail     error // given after one row of Terms
	opened   chan struct{}
	proceed  chan struct{}
}

func (s *shelf) say(c earshot.Scope, m earshot.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.channels == nil {
		s.channels = map[earshot.Scope][]earshot.Message{}
	}
	m.Seq = int64(len(s.channels[c]) + 1)
	s.channels[c] = append(s.channels[c], m)
}

func (s *shelf) Terms(ctx context.Context, c earshot.Scope, seq int64) iter.Seq2[earshot.Terms, error] {
	return func(yield func(earshot.Terms, error) bool) {
		if s.opened != nil {
			s.opened <- struct{}{}
			<-s.proceed
		}
		s.mu.Lock()
		list, fail := slices.Clone(s.channels[c][seq:]), s.fail
		if seq == 0 {
			s.reads++
		}
		s.rows += len(list)
		s.mu.Unlock()
		for i, m := range list {
			if fail != nil && i == 1 {
				yield(earshot.Terms{}, fail)
				return
			}
			if !yield(earshot.Terms{ID: m.ID, Seq: m.Seq, Time: m.Time, Deleted: m.Deleted, Terms: index.Terms(m.Text)}, nil) {
				return
			}
		}
	}
}

func (s *shelf) ByID(ctx context.Context, c earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	newest := map[earshot.MessageID]earshot.Message{}
	for _, m := range s.channels[c] {
		if slices.Contains(ids, m.ID) {
			newest[m.ID] = m
		}
	}
	var list []earshot.Message
	for _, m := range newest {
		list = append(list, m)
	}
	return list, nil
}

func scope(name string) earshot.Scope {
	return earshot.Scope{Platform: earshot.Local, Workspace: "w", Channel: earshot.ChannelID(name)}
}

func message(id, text string) earshot.Message {
	return earshot.Message{ID: earshot.MessageID(id), Time: 1_700_000_000_000_000, Text: text}
}

func found(t *testing.T, s *search.Searcher, c earshot.Scope, text string) string {
	t.Helper()
	hits, err := s.Search(t.Context(), c, search.Query{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, h := range hits {
		if h.Message.ID != h.ID {
			t.Errorf("the hit %s has the message %s", h.ID, h.Message.ID)
		}
		ids = append(ids, string(h.ID))
	}
	return strings.Join(ids, " ")
}

func TestSearchFindsWhatIsStored(t *testing.T) {
	t.Parallel()
	src := &shelf{}
	s := search.New(src, nil)
	src.say(scope("a"), message("m1", "staging is down"))
	src.say(scope("b"), message("m2", "staging is fine"))
	for _, step := range []struct {
		name, channel, query, want string
		before                     func()
	}{
		{"a message of the channel", "a", "staging", "m1", nil},
		{"not those of another", "b", "down", "", nil},
		{"a channel without messages", "c", "staging", "", nil},
		{"what was said since", "a", "migration", "m3", func() { src.say(scope("a"), message("m3", "the migration hangs")) }},
		{"an edit", "a", "rollback", "m3", func() { src.say(scope("a"), message("m3", "the rollback hangs")) }},
		{"no longer what was edited away", "a", "migration", "", nil},
		{"not what was deleted", "a", "rollback", "", func() { src.say(scope("a"), earshot.Message{ID: "m3", Deleted: true}) }},
	} {
		if step.before != nil {
			step.before()
		}
		if got := found(t, s, scope(step.channel), step.query); got != step.want {
			t.Errorf("%s: found %q, want %q", step.name, got, step.want)
		}
	}
}

func TestAnIndexIsBuiltOnceHoweverManySearch(t *testing.T) {
	t.Parallel()
	src := &shelf{}
	for i := range 500 {
		src.say(scope("a"), message(fmt.Sprint("m", i), "staging is down"))
	}
	s := search.New(src, nil)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			hits, err := s.Search(t.Context(), scope("a"), search.Query{Text: "staging"})
			if err != nil || len(hits) != 8 {
				t.Errorf("%d hits, %v", len(hits), err)
			}
		})
	}
	wg.Wait()
	if src.rows != 500 {
		t.Errorf("%d rows were read, want 500", src.rows)
	}
}

// Two searches of a channel whose index is there ask the store for news at the same time:
// neither waits for the other.
func TestSearchesOfOneChannelRunAtOnce(t *testing.T) {
	t.Parallel()
	shelf := &shelf{}
	at := earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "C1"}
	shelf.say(at, earshot.Message{ID: "m1", Time: 1, Text: "the anchor is up"})
	s := search.New(shelf, nil)
	if _, err := s.Search(t.Context(), at, search.Query{Text: "anchor"}); err != nil {
		t.Fatal(err)
	}
	shelf.opened, shelf.proceed = make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if hits, err := s.Search(t.Context(), at, search.Query{Text: "anchor"}); err != nil || len(hits) != 1 {
				t.Errorf("%d hits, %v", len(hits), err)
			}
		})
	}
	for range 2 {
		<-shelf.opened
	}
	close(shelf.proceed)
	wg.Wait()
}

// Searches that run while messages arrive find all that was there when they began.
func TestSearchesRunWhileMessagesArrive(t *testing.T) {
	t.Parallel()
	shelf := &shelf{}
	at := earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "C1"}
	s := search.New(shelf, nil)
	var wg sync.WaitGroup
	for i := range 100 {
		shelf.say(at, earshot.Message{ID: earshot.MessageID(fmt.Sprint("m", i)), Time: earshot.Time(1 + (i*37)%100), Text: fmt.Sprintf("anchor %d crane%d", i, i%7)})
		for range 2 {
			wg.Go(func() {
				hits, err := s.Search(t.Context(), at, search.Query{Text: fmt.Sprintf("crane%d", i%7), Limit: 100})
				if err != nil || len(hits) < i/7+1 {
					t.Errorf("%d of %d are found, %v", len(hits), i/7+1, err)
				}
			})
		}
	}
	wg.Wait()
}

func TestWhoWaitsForAnIndexCanGiveUp(t *testing.T) {
	t.Parallel()
	src := &shelf{opened: make(chan struct{}), proceed: make(chan struct{})}
	src.say(scope("a"), message("m1", "staging is down"))
	s := search.New(src, nil)
	done := make(chan error)
	go func() {
		_, err := s.Search(context.Background(), scope("a"), search.Query{Text: "staging"})
		done <- err
	}()
	<-src.opened
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Search(ctx, scope("a"), search.Query{Text: "staging"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	close(src.proceed)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestAFailedReadGoesOnWhereItEnded(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk")
	src := &shelf{fail: broken}
	src.say(scope("a"), message("m1", "staging is down"))
	src.say(scope("a"), message("m2", "staging is fine"))
	s := search.New(src, nil)
	if _, err := s.Search(t.Context(), scope("a"), search.Query{Text: "staging"}); !errors.Is(err, broken) {
		t.Fatalf("got %v", err)
	}
	src.fail = nil
	if got := found(t, s, scope("a"), "staging"); got != "m2 m1" {
		t.Errorf("found %q", got)
	}
	if src.reads != 1 {
		t.Errorf("read %d times from the start, want 1", src.reads)
	}
}

func TestIndexesAreEvictedByBytes(t *testing.T) {
	t.Parallel()
	src := &shelf{}
	for _, c := range []string{"a", "b", "c"} {
		for i := range 100 {
			src.say(scope(c), message(fmt.Sprint("m", i), fmt.Sprintf("staging is down %d", i)))
		}
	}
	probe := search.New(src, nil)
	found(t, probe, scope("a"), "down")
	one := probe.Bytes()

	src.reads = 0
	s := search.New(src, &search.Options{MaxBytes: 2*one + one/2})
	for _, c := range []string{"a", "b", "a", "c", "a"} { // c evicts b
		found(t, s, scope(c), "down")
	}
	if src.reads != 3 || s.Bytes() > 2*one+one/2 {
		t.Errorf("%d indexes were built, which hold %d bytes; want 3 and two of %d", src.reads, s.Bytes(), one)
	}
	found(t, s, scope("b"), "down")
	if src.reads != 4 {
		t.Errorf("%d indexes were built, want 4: b was evicted", src.reads)
	}

	tiny := search.New(src, &search.Options{MaxBytes: 1})
	if found(t, tiny, scope("a"), "down") == "" || found(t, tiny, scope("b"), "down") == "" {
		t.Error("an index that is too large is not searched")
	}
	tiny.Forget(scope("b"))
	if tiny.Bytes() != 0 {
		t.Errorf("%d bytes are held after the last was forgotten", tiny.Bytes())
	}
	s.Clear()
	if s.Bytes() != 0 || found(t, s, scope("a"), "down") == "" || src.reads != 7 {
		t.Errorf("after Clear %d bytes are held, and %d indexes were built; want none before the next search, which builds one", s.Bytes(), src.reads)
	}
}

func TestAChannelThatWasErasedIsFoundAsItIsNow(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	scope := earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "C1"}
	s := search.New(st, nil)
	find := func(want ...earshot.MessageID) {
		t.Helper()
		hits, err := s.Search(t.Context(), scope, search.Query{Text: "migration", Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		var got []earshot.MessageID
		for _, h := range hits {
			got = append(got, h.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	say := func(id earshot.MessageID, text string) {
		t.Helper()
		if _, err := st.Record(t.Context(), scope, earshot.Message{ID: id, Time: 1, Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	say("m1", "migration migration migration")
	find("m1")
	if err := st.Erase(t.Context(), scope); err != nil {
		t.Fatal(err)
	}
	say("m2", "the migration, among other things that were said")
	find("m2")
	if err := st.Erase(t.Context(), scope); err != nil {
		t.Fatal(err)
	}
	find()
}

func TestWhatAMessageQuotesIsFoundOverAStore(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	s := search.New(st, nil)
	find := func(q search.Query, want ...earshot.MessageID) {
		t.Helper()
		hits, err := s.Search(t.Context(), scope("a"), q)
		if err != nil {
			t.Fatal(err)
		}
		var got []earshot.MessageID
		for _, h := range hits {
			got = append(got, h.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v: got %v, want %v", q, got, want)
		}
	}
	say := func(shared ...earshot.SharedContent) {
		t.Helper()
		m := message("m1", "from the vendor")
		m.Author.ID, m.Shared = "carol", append([]earshot.SharedContent{}, shared...)
		if _, err := st.Record(t.Context(), scope("a"), m); err != nil {
			t.Fatal(err)
		}
	}
	carol, erin := []earshot.AuthorID{"carol"}, []earshot.AuthorID{"erin"}
	say()
	find(search.Query{Text: "region"})
	say(earshot.SharedContent{Kind: earshot.Forward, ID: "erin", Author: "Erin Vogt", Text: "the region is slow"})
	find(search.Query{Text: "region"}, "m1")
	find(search.Query{Text: "region", Authors: erin}, "m1")
	find(search.Query{Text: "region", Names: []string{"erin vogt"}}, "m1")
	find(search.Query{Text: "region", Authors: carol})
	find(search.Query{Text: "vendor", Authors: carol}, "m1")
	say(earshot.SharedContent{Kind: earshot.AppQuote, ID: "erin", Author: "Erin Vogt", Text: "approved"}, earshot.SharedContent{Kind: earshot.AppQuote, Text: "disk full"})
	find(search.Query{Text: "region"})
	find(search.Query{Text: "approved", Authors: erin})
	find(search.Query{Text: "approved", Names: []string{"Erin Vogt"}}, "m1")
	find(search.Query{Text: "disk", Authors: carol}, "m1")
}
