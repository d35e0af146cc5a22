package gather_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/search"
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

// BenchmarkRecall is a question in a channel of 10,000 messages in SQLite,
// without recall and with a search whose index is there.
func BenchmarkRecall(b *testing.B) {
	st := open(b, "sqlite:"+filepath.Join(b.TempDir(), "bench.db"))
	list := talk(rand.New(rand.NewPCG(1, 1)), 10_000)
	question := list[len(list)-1]
	question.Text, question.Thread, question.ReplyTo, question.Files = "<@U0BOT> why was staging slow after the migration of the worker queue?", "", "", nil
	list[len(list)-1] = question
	record(b, st, general.Scope(), list...)
	for _, c := range []struct {
		name string
		find gather.Finder
	}{{"without", nil}, {"with", search.New(st, nil)}} {
		b.Run(c.name, func(b *testing.B) {
			req := gather.Request{Channel: general, Anchor: question.ID, Identity: self, Counter: counter(b), Finder: c.find}
			in, res, err := gather.Turn(b.Context(), st, req)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := gather.Turn(b.Context(), st, req); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(res.Tokens.Total), "tokens")
			b.ReportMetric(float64(len(in.Messages)), "read")
			b.ReportMetric(float64(len(in.Recalled)), "hits")
		})
	}
}
