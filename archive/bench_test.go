package archive

import (
	"path/filepath"
	"testing"

	"github.com/earshot-ai/earshot/store"
)

// BenchmarkImport imports a real chat into SQLite, token counts and search
// terms included.
func BenchmarkImport(b *testing.B) {
	p := filepath.Join(testData(b), "meshcore-discord.messages.jsonl.gz")
	messages := 0
	for b.Loop() {
		s, err := store.Open(b.Context(), "sqlite:"+filepath.Join(b.TempDir(), "x.db"), nil)
		if err != nil {
			b.Fatal(err)
		}
		r, err := ImportJSONL(b.Context(), s, p, nil)
		if err != nil {
			b.Fatal(err)
		}
		messages += r.Messages.New
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(messages)/b.Elapsed().Seconds(), "messages/s")
}
