package store_test

import (
	"context"
	"testing"

	"github.com/earshot-ai/earshot/store"
)

// BenchmarkStart opens a database of 1,000,000 messages and accepts one event,
// as a restarted bot does: what a store adds to the time until the first
// acknowledgement, of which the aim is 300 ms.
func BenchmarkStart(b *testing.B) {
	path, err := million()
	if err != nil {
		b.Fatal(err)
	}
	n := 10_000_000
	for b.Loop() {
		s, err := store.Open(b.Context(), path, nil)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Channels(b.Context()); err != nil { // a bot first stores what it may have missed
			b.Fatal(err)
		}
		e, ask := delivery(n)
		n++
		if _, err := s.Accept(context.Background(), benchScope, e, ask); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
