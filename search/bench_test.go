package search_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/pgtest"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/search/index"
	"github.com/earshot-ai/earshot/store"
)

var room = earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "C1"}

// filled returns a store with a channel of n messages, whose words follow
// Zipf's law as those of real chat do, and what finds some of them.
func filled(b *testing.B, spec string, n int) (earshot.Store, search.Query) {
	b.Helper()
	st, err := store.Open(b.Context(), spec, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = st.Close() })
	random := rand.New(rand.NewPCG(1, 2))
	word := rand.NewZipf(random, 1.1, 8, 60_000)
	id := func(i int) earshot.MessageID { return earshot.MessageID(fmt.Sprintf("%d.%06d", 1_700_000_000+i, 100)) }
	batch := make([]earshot.Message, 0, 1000)
	var last earshot.Time
	for i := range n {
		words := make([]string, 4+random.IntN(20))
		for j := range words {
			words[j] = fmt.Sprintf("w%d", word.Uint64())
		}
		last = earshot.Time(1_700_000_000_000_000 + int64(i)*1_000_000)
		who := i % 200
		m := earshot.Message{
			ID: id(i), Time: last, Text: strings.Join(words, " "),
			Author: earshot.Author{ID: earshot.AuthorID(fmt.Sprint("U", who)), Name: fmt.Sprint("Somebody ", who), Kind: earshot.Human},
		}
		if i%3 == 2 {
			m.Thread = id(i - i%30)
		}
		if batch = append(batch, m); len(batch) == cap(batch) || i == n-1 {
			if _, err := st.Record(b.Context(), room, batch...); err != nil {
				b.Fatal(err)
			}
			batch = batch[:0]
		}
	}
	return st, search.Query{Text: "w120 w900 w7000", At: last, Limit: 8}
}

func sqliteSpec(b *testing.B) string { return "sqlite:" + filepath.Join(b.TempDir(), "x.db") }

func find(b *testing.B, s *search.Searcher, q search.Query) {
	b.Helper()
	hits, err := s.Search(b.Context(), room, q)
	if err != nil || len(hits) == 0 {
		b.Fatalf("%d hits, %v", len(hits), err)
	}
}

// BenchmarkCold is a channel's first search, which reads the stored terms and
// builds the index, whole and in its two parts. Memory is what the heap holds
// once the garbage is gone.
func BenchmarkCold(b *testing.B) {
	for _, c := range []struct {
		engine   string
		spec     func(*testing.B) string
		messages int
	}{
		{"sqlite", sqliteSpec, 100_000},
		{"sqlite", sqliteSpec, 200_000},
		{"postgres", func(b *testing.B) string { return pgtest.Spec(b) }, 100_000},
	} {
		b.Run(fmt.Sprintf("%s=%d", c.engine, c.messages), func(b *testing.B) {
			st, query := filled(b, c.spec(b), c.messages)
			b.Run("search", func(b *testing.B) {
				b.ReportAllocs()
				before := heap()
				var s *search.Searcher
				for b.Loop() {
					s = search.New(st, nil)
					find(b, s, query)
				}
				b.ReportMetric(float64(heap()-before)/float64(c.messages), "bytes/msg")
				runtime.KeepAlive(s)
			})
			b.Run("read", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					for _, err := range st.Terms(b.Context(), room, 0) {
						if err != nil {
							b.Fatal(err)
						}
					}
				}
			})
			b.Run("add", func(b *testing.B) {
				b.ReportAllocs()
				var list []earshot.Terms
				for t, err := range st.Terms(b.Context(), room, 0) {
					if err != nil {
						b.Fatal(err)
					}
					list = append(list, t)
				}
				for b.Loop() {
					x := index.New()
					for _, t := range list {
						x.Add(t)
					}
				}
			})
		})
	}
}

// heap returns the bytes in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkWarm is a search of a channel that was searched before, one after another
// and as many at once as there are processors.
func BenchmarkWarm(b *testing.B) {
	st, query := filled(b, sqliteSpec(b), 100_000)
	s := search.New(st, nil)
	find(b, s, query)
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			find(b, s, query)
		}
	})
	b.Run("at once", func(b *testing.B) {
		b.RunParallel(func(p *testing.PB) {
			for p.Next() {
				find(b, s, query)
			}
		})
	})
}

// BenchmarkManyChannels searches 8,000 channels of 20 messages once each. Memory is what
// the heap holds for the indexes once the garbage is gone.
func BenchmarkManyChannels(b *testing.B) {
	const channels, messages = 8000, 20
	st, err := store.Open(b.Context(), sqliteSpec(b), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = st.Close() })
	random := rand.New(rand.NewPCG(1, 2))
	word := rand.NewZipf(random, 1.1, 8, 60_000)
	place := func(i int) earshot.Scope {
		return earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: earshot.ChannelID(fmt.Sprint("C", i))}
	}
	for i := range channels {
		var list []earshot.Message
		for j := range messages {
			words := make([]string, 4+random.IntN(24))
			for k := range words {
				words[k] = fmt.Sprintf("w%d", word.Uint64())
			}
			who := j % 5
			list = append(list, earshot.Message{
				ID: earshot.MessageID(fmt.Sprintf("%d.%06d", 1_700_000_000+j, i)), Time: earshot.Time(1_700_000_000_000_000 + int64(j)*60_000_000), Text: strings.Join(words, " "),
				Author: earshot.Author{ID: earshot.AuthorID(fmt.Sprint("U", who)), Name: fmt.Sprint("Somebody ", who), Kind: earshot.Human},
			})
		}
		if _, err := st.Record(b.Context(), place(i), list...); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		before := heap()
		s := search.New(st, nil)
		for i := range channels {
			if _, err := s.Search(b.Context(), place(i), search.Query{Text: "w1 w5 w12 w40 w120", Limit: 60}); err != nil {
				b.Fatal(err)
			}
		}
		held := heap() - before
		b.ReportMetric(float64(held)/(1<<20), "MB")
		b.ReportMetric(float64(held)/channels, "bytes/channel")
		b.ReportMetric(float64(s.Bytes())/float64(held), "estimate/heap")
		runtime.KeepAlive(s)
	}
}
