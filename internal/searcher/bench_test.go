package searcher_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/search"
	"github.com/earshot-ai/earshot/internal/searcher"
	"github.com/earshot-ai/earshot/store"
)

// BenchmarkSQLite100000 searches a channel of 100,000 messages that is kept in
// SQLite: cold, when the index has to be read from the stored terms (aim:
// 1.5 s), and warm (aim: 2 ms).
func BenchmarkSQLite100000(b *testing.B) {
	st, err := store.Open(b.Context(), "sqlite:"+filepath.Join(b.TempDir(), "x.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	scope := earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "C1"}
	const n = 100_000
	random := rand.New(rand.NewPCG(1, 2))
	word := rand.NewZipf(random, 1.1, 8, 60_000)
	batch := make([]earshot.Message, 0, 1000)
	var last earshot.Time
	for i := range n {
		words := make([]string, 4+random.IntN(20))
		for j := range words {
			words[j] = fmt.Sprintf("w%d", word.Uint64())
		}
		last = earshot.Time(1_700_000_000_000_000 + int64(i)*1_000_000)
		batch = append(batch, earshot.Message{
			ID: earshot.MessageID(fmt.Sprintf("%d.%06d", 1_700_000_000+i, 100)), Time: last, Text: strings.Join(words, " "),
			Author: earshot.Author{ID: earshot.AuthorID(fmt.Sprint("U", i%40)), Name: "Somebody", Kind: earshot.Human},
		})
		if len(batch) == cap(batch) {
			if _, err := st.Record(b.Context(), scope, batch...); err != nil {
				b.Fatal(err)
			}
			batch = batch[:0]
		}
	}
	query := search.Query{Text: "w120 w900 w7000", At: last, Limit: 8}
	find := func(s *searcher.Searcher) {
		hits, err := s.Search(b.Context(), scope, query)
		if err != nil || len(hits) == 0 {
			b.Fatalf("%d hits, %v", len(hits), err)
		}
	}
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			find(searcher.New(st, nil))
		}
	})
	b.Run("warm", func(b *testing.B) {
		s := searcher.New(st, nil)
		find(s)
		for b.Loop() {
			find(s)
		}
	})
}
