package index

import "testing"

// BenchmarkSearch1000000 asks an index of a million messages for three words of
// middling rarity (aim: 20 ms).
func BenchmarkSearch1000000(b *testing.B) {
	messages := synthetic(1_000_000)
	x := build(messages)
	q := Query{Text: "w120 w900 w7000", At: messages[len(messages)-1].Time, Limit: 10}
	s := new(Scratch)
	for b.Loop() {
		if len(x.SearchIn(q, s)) == 0 {
			b.Fatal("nothing was found")
		}
	}
	b.ReportMetric(float64(x.Bytes())/float64(x.Len()), "bytes/message")
}
