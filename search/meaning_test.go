package search_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/search/index"
	"github.com/earshot-ai/earshot/store"
)

// A dictionary is an encoder that knows a few words: each line of words that mean the
// same is a dimension, and other words say nothing.
type dictionary struct {
	mu      sync.Mutex // guards what follows
	texts   []string   // that were encoded, queries aside
	queries []string
	fail    error
	hang    bool
}

var sameMeaning = []string{
	"crashed died failed broke",
	"worker process job",
	"memory ram oom",
	"lunch pizza food",
}

func (d *dictionary) Name() string { return "dictionary" }

func (d *dictionary) Encode(ctx context.Context, texts []string, queries bool) ([][]float32, error) {
	d.mu.Lock()
	fail, hang := d.fail, d.hang
	if queries {
		d.queries = append(d.queries, texts...)
	} else {
		d.texts = append(d.texts, texts...)
	}
	d.mu.Unlock()
	if hang {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if fail != nil {
		return nil, fail
	}
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = make([]float32, len(sameMeaning)+1)
		out[i][len(sameMeaning)] = 0.01
		for k, words := range sameMeaning {
			for w := range strings.FieldsSeq(strings.ToLower(text)) {
				if slices.Contains(strings.Fields(words), w) {
					out[i][k] = 1
				}
			}
		}
	}
	return out, nil
}

func (d *dictionary) set(fail error, hang bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail, d.hang = fail, hang
}

// encoded returns what was encoded of messages since it was called last.
func (d *dictionary) encoded() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := d.texts
	d.texts = nil
	return out
}

// A library is a store with a search by meaning over it.
type library struct {
	*testing.T
	earshot.Store
	*search.Searcher
	words  *dictionary
	scope  earshot.Scope
	mu     sync.Mutex // guards failed
	failed []error
}

func newLibrary(t *testing.T) *library {
	t.Helper()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	l := &library{T: t, Store: st, words: &dictionary{}, scope: earshot.Scope{Platform: earshot.Local, Workspace: "w", Channel: "C1"}}
	l.Searcher = search.New(st, &search.Options{Meaning: &search.Meaning{Encoder: l.words, Store: st, Failed: func(err error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.failed = append(l.failed, err)
	}}})
	return l
}

// told returns what went wrong so far.
func (l *library) told() []error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.failed)
}

// say records messages, the first at second n.
func (l *library) say(n int, texts ...string) {
	l.Helper()
	for i, text := range texts {
		at := n + i
		l.record(earshot.Message{ID: earshot.MessageID(fmt.Sprint("m", at)), Time: earshot.Time(at) * 1_000_000, Author: earshot.Author{ID: "U1", Name: "Ana"}, Text: text})
	}
}

func (l *library) record(m earshot.Message) {
	l.Helper()
	if _, err := l.Record(l.Context(), l.scope, m); err != nil {
		l.Fatal(err)
	}
}

func (l *library) fill() {
	l.Helper()
	if err := l.Fill(l.Context(), l.scope, func(int) {}); err != nil {
		l.Fatal(err)
	}
}

// find returns the ids of hits, each with "*" where it was found by its meaning.
func (l *library) find(q search.Query) string {
	l.Helper()
	hits, err := l.Search(l.Context(), l.scope, q)
	if err != nil {
		l.Fatal(err)
	}
	var out []string
	for _, h := range hits {
		id := string(h.ID)
		if slices.ContainsFunc(h.Parts, func(p index.Part) bool { return p.Name == index.PartMeaning }) {
			id += "*"
		}
		out = append(out, id)
	}
	return strings.Join(out, " ")
}

func (l *library) want(what, got, want string) {
	l.Helper()
	if got != want {
		l.Errorf("%s: %q, want %q", what, got, want)
	}
}

var asked = search.Query{Text: "which process died of ram?", Limit: 2}

func TestWhatMeansTheSameIsFound(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	l.say(1, "the worker crashed: memory", "lunch is at noon", "who brings the pizza?", "the deploy went well")
	if got := l.find(asked); strings.Contains(got, "*") {
		t.Errorf("before anything is encoded: %s", got)
	}
	l.fill()
	l.want("encoded", l.find(asked)[:3], "m1*")
	l.want("one word", l.find(search.Query{Text: "food", Limit: 2}), "m3* m2*")
	l.want("words of nothing", l.find(search.Query{Text: "?!", Limit: 1}), "m4") // the newest
	l.want("short, in reply to something", l.find(search.Query{Text: "why?", Context: "ram is gone and the process died", Limit: 1}), "m1*")
}

func TestConditionsHoldForWhatMeansTheSame(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	l.say(1, "the worker crashed: memory", "a job broke, oom", "one process failed: ram")
	l.record(earshot.Message{ID: "m9", Time: 9_000_000, Author: earshot.Author{ID: "U2", Name: "Ben"}, Text: "job died memory"})
	l.fill()
	q := asked
	q.Limit = 8
	for _, c := range []struct {
		what   string
		change func(*search.Query)
		want   string
	}{
		{"before", func(q *search.Query) { q.Before = earshot.Position{Time: 1_000_000} }, "m1*"},
		{"since", func(q *search.Query) { q.Since = 9_000_000 }, "m9*"},
		{"an author's", func(q *search.Query) { q.Authors = []earshot.AuthorID{"U2"} }, "m9*"},
		{"without some", func(q *search.Query) { q.Exclude = []earshot.MessageID{"m1", "m3", "m9"} }, "m2*"},
	} {
		q := q
		c.change(&q)
		l.want(c.what, l.find(q), c.want)
	}
	l.scope.Channel = "C2"
	l.want("another channel's", l.find(q), "")
}

func TestWhatIsChangedIsEncodedAnew(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	l.say(1, "the worker crashed: memory", "the worker crashed: memory again", "lunch")
	l.fill()
	l.words.encoded()
	l.record(earshot.Message{ID: "m1", Time: 1_000_000, Edited: 5_000_000, Author: earshot.Author{ID: "U1", Name: "Ana"}, Text: "pizza"})
	l.record(earshot.Message{ID: "m2", Deleted: true})
	l.record(earshot.Message{ID: "m3", Time: 3_000_000, Author: earshot.Author{ID: "U1", Name: "Ana"}, Text: "lunch", Reactions: []earshot.Reaction{{Name: "eyes", Count: 1}}})
	l.want("an edit and a deletion, before they are encoded", l.find(asked), "m3*")
	l.fill()
	l.want("encoded", fmt.Sprint(l.words.encoded()), "[pizza]")
	l.want("the new text", l.find(search.Query{Text: "food"}), "m1* m3*")
	again := search.New(l.Store, &search.Options{Meaning: &search.Meaning{Encoder: l.words, Store: l.Store}})
	if err := again.Fill(t.Context(), l.scope, func(int) {}); err != nil {
		t.Fatal(err)
	}
	l.want("in another process", fmt.Sprint(l.words.encoded()), "[]")
	if err := l.Erase(t.Context(), l.scope); err != nil {
		t.Fatal(err)
	}
	l.want("erased", l.find(asked), "")
}

func TestWhatSaysNothingIsNotEncoded(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	l.say(1, "", "...", "  ", strings.Repeat("lunch ", 1000))
	l.record(earshot.Message{ID: "j", Time: 9_000_000, Author: earshot.Author{ID: "U9", Kind: earshot.System}, Text: "Ana joined for lunch"})
	l.fill()
	got := l.words.encoded()
	if len(got) != 1 || len(got[0]) > 1500 {
		t.Errorf("encoded: %.100q", got)
	}
	l.fill()
	l.want("again", fmt.Sprint(l.words.encoded()), "[]")
}

// A channel is encoded in the background once it is searched, and again when it is
// searched later.
func TestMessagesAreEncodedInTheBackground(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLibrary(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for i := range 100 {
			l.say(10+i, fmt.Sprint("lunch number ", i))
		}
		l.say(1, "the worker crashed: memory")
		go func() { _ = l.Encode(ctx) }()
		synctest.Wait()
		l.want("encoded before a search", fmt.Sprint(l.words.encoded()), "[]")
		l.find(asked)
		synctest.Wait()
		l.want("the next search", l.find(asked)[:3], "m1*")
		synctest.Wait()
		if n := len(l.words.encoded()); n != 101 {
			t.Errorf("%d texts were encoded, want 101", n)
		}
		l.say(2, "a job broke, oom")
		l.find(asked)
		synctest.Wait()
		l.want("what was said since", fmt.Sprint(l.words.encoded()), "[a job broke, oom]")
	})
}

func TestAnEncoderThatFailsCostsNothingButItself(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what string
		fail error
		hang bool
		most time.Duration // of the first search
	}{
		{"it refuses", errors.New("no such model"), false, 0},
		{"it hangs", nil, true, time.Second},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := newLibrary(t)
				l.say(1, "the worker crashed: memory", "which process? the job")
				l.fill()
				l.words.set(c.fail, c.hang)
				began := time.Now()
				l.want("by words", l.find(asked), "m2 m1")
				if took := time.Since(began); took > c.most {
					t.Errorf("a search takes %s", took)
				}
				began = time.Now()
				for range 10 {
					l.want("by words, again", l.find(asked), "m2 m1")
				}
				if took := time.Since(began); took != 0 {
					t.Errorf("ten more take %s", took)
				}
				if told := l.told(); len(told) != 1 {
					t.Errorf("it is told %d times: %v", len(told), told)
				}
				l.words.set(nil, false)
				time.Sleep(31 * time.Second)
				if got := l.find(asked); !strings.Contains(got, "m1*") {
					t.Errorf("after the pause: %s", got)
				}
			})
		})
	}
}

// Whoever gives a search up says nothing about the encoder.
func TestASearchThatIsGivenUpDoesNotPauseTheEncoder(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	l.say(1, "the worker crashed: memory")
	l.fill()
	l.words.set(nil, true)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Search(ctx, l.scope, asked); !errors.Is(err, context.Canceled) {
		t.Errorf("the search ends with %v", err)
	}
	l.words.set(nil, false)
	l.want("the next search", l.find(asked), "m1*")
	if told := l.told(); len(told) != 0 {
		t.Errorf("it is told %v", told)
	}
}

// While the encoder fails, messages wait for it; those that are encoded already stay.
func TestTheBackgroundGoesOnAfterAFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLibrary(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		l.say(1, "the worker crashed: memory")
		l.words.set(errors.New("down"), false)
		go func() { _ = l.Encode(ctx) }()
		l.find(asked)
		time.Sleep(10 * time.Minute)
		if n := len(l.told()); n < 5 || n > 22 { // a query, and a try each half a minute
			t.Errorf("in ten minutes it is told %d times", n)
		}
		l.words.set(nil, false)
		time.Sleep(time.Minute)
		synctest.Wait()
		l.want("then", l.find(asked), "m1*")
	})
}
