package index

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/earshot-ai/earshot"
)

// synthetic makes messages whose words follow Zipf's law, as those of real
// chat do: the commonest word stands in about half of them.
func synthetic(n int) []earshot.Terms {
	r := rand.New(rand.NewPCG(7, 7))
	zipf := rand.NewZipf(r, 1.07, 3, 200_000)
	messages := make([]earshot.Terms, n)
	for i := range messages {
		terms := make([]string, 4+r.IntN(24))
		for j := range terms {
			terms[j] = fmt.Sprintf("w%d", zipf.Uint64())
		}
		m := earshot.Terms{
			ID: earshot.MessageID(fmt.Sprintf("1700%06d.%06d", i, i%1_000_000)), Seq: int64(i + 1),
			Time: earshot.Time(1_700_000_000_000_000 + int64(i)*60_000_000), Author: earshot.AuthorID(fmt.Sprintf("U%d", r.IntN(200))), Terms: terms,
		}
		if i > 0 && r.IntN(3) == 0 {
			m.Thread = messages[max(0, i-1-r.IntN(50))].ID
		}
		messages[i] = m
	}
	return messages
}

func build(messages []earshot.Terms) *Index {
	x := New()
	for _, m := range messages {
		x.Add(m)
	}
	return x
}

func BenchmarkAdd100000(b *testing.B) {
	messages := synthetic(100_000)
	b.ReportAllocs()
	var x *Index
	for b.Loop() {
		x = build(messages)
	}
	b.ReportMetric(float64(x.Bytes())/float64(x.Len()), "bytes/message")
}

func BenchmarkSearch100000(b *testing.B) {
	messages := synthetic(100_000)
	x := build(messages)
	s := new(Scratch)
	at := messages[len(messages)-1].Time
	for _, c := range []struct{ name, text string }{
		{"one rare word", "w90000"},
		{"three words", "w120 w900 w7000"},
		{"eight words", "w20 w60 w200 w500 w1200 w3000 w9000 w30000"},
		{"the three commonest words", "w0 w1 w2"},
		{"the forty commonest words", "w0 w1 w2 w3 w4 w5 w6 w7 w8 w9 w10 w11 w12 w13 w14 w15 w16 w17 w18 w19 w20 w21 w22 w23 w24 w25 w26 w27 w28 w29 w30 w31 w32 w33 w34 w35 w36 w37 w38 w39"},
		{"no word: the newest", ""},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if len(x.SearchIn(Query{Text: c.text, At: at}, s)) == 0 {
					b.Fatal("nothing was found")
				}
			}
		})
	}
}
