package gather_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/gather"
)

// BenchmarkTurn reads and assembles a context of 8,000 tokens from SQLite. The
// aim is 0.6 ms, whatever the thread's length.
func BenchmarkTurn(b *testing.B) {
	for _, p := range []assemble.Policy{assemble.Standard()} {
		for _, n := range []int{1000, 10000} {
			b.Run(fmt.Sprintf("%s/replies=%d", p.Name, n), func(b *testing.B) {
				st := open(b, "sqlite:"+filepath.Join(b.TempDir(), "bench.db"))
				list := thread(n)
				record(b, st, general.Scope(), list...)
				req := gather.Request{Channel: general, Anchor: list[n].ID, Identity: self, Policy: p, Counter: counter(b)}
				in, res, err := gather.Turn(b.Context(), st, req)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(res.Tokens.Total), "tokens")
				b.ReportMetric(float64(len(in.Messages)), "read")
				b.ReportAllocs()
				for b.Loop() {
					if _, _, err := gather.Turn(b.Context(), st, req); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
