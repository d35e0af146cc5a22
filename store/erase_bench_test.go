package store_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/erasure"
	"github.com/earshot-ai/earshot/internal/pgtest"
)

// BenchmarkErasePerson erases a person with 50,000 of 1,000,000 messages in 20
// channels, while 200 events a second are accepted. "s/erasure" is how long it takes;
// "ms/p50", "ms/p99" and "ms/p99.9" are how long Accept takes meanwhile. The aims are
// 30 s and a p99 of 50 ms. EARSHOT_ERASE_MESSAGES is another number of messages.
func BenchmarkErasePerson(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) { benchmarkErasePerson(b, b.TempDir()+"/x.db") })
	b.Run("postgres", func(b *testing.B) { benchmarkErasePerson(b, pgtest.Spec(b)) })
}

func benchmarkErasePerson(b *testing.B, spec string) {
	total := 1_000_000
	if n, err := strconv.Atoi(os.Getenv("EARSHOT_ERASE_MESSAGES")); err == nil {
		total = n
	}
	const channels = 20
	s := open(b, spec)
	scope := func(n int) earshot.Scope {
		return earshot.Scope{Platform: earshot.Slack, Workspace: "T0123456789", Channel: earshot.ChannelID(fmt.Sprint("C", 100+n%channels))}
	}
	const erased earshot.AuthorID = "UERASED"
	for from := 0; from < total; from += 10_000 {
		batches := make([]earshot.Batch, channels)
		for c := range batches {
			batches[c].Scope = scope(c)
		}
		for n := from; n < min(from+10_000, total); n++ {
			m := chatter(n)
			switch {
			case n%20 == n/20%20: // every 20th, in all channels
				m.Author = earshot.Author{ID: erased, Name: "Bea Example", Kind: earshot.Human}
			case n%200 == 1:
				m.Text += " <@" + string(erased) + "|Bea Example>"
			}
			batches[n%channels].Messages = append(batches[n%channels].Messages, m)
		}
		if _, err := s.(earshot.Bulk).RecordBatches(b.Context(), batches...); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		e, err := s.BeginErasure(b.Context(), earshot.ErasureOf{Platform: earshot.Slack, Workspace: "T0123456789", User: erased})
		if err != nil {
			b.Fatal(err)
		}
		ctx, stop := context.WithCancel(b.Context())
		var taken []time.Duration
		var events sync.WaitGroup
		events.Go(func() { taken = acceptSteadily(ctx, b, s, scope) })
		began := time.Now()
		if e, err = erasure.Run(b.Context(), s, e.ID, nil); err != nil {
			b.Fatal(err)
		}
		took := time.Since(began)
		stop()
		events.Wait()
		slices.Sort(taken)
		share := func(of int) float64 { return float64(taken[len(taken)*of/1000].Microseconds()) / 1000 }
		b.ReportMetric(took.Seconds(), "s/erasure")
		b.ReportMetric(float64(e.Removed.Messages), "messages")
		b.ReportMetric(float64(len(taken))/took.Seconds(), "events/s")
		b.ReportMetric(share(500), "ms/p50")
		b.ReportMetric(share(990), "ms/p99")
		b.ReportMetric(share(999), "ms/p99.9")
	}
}

// acceptSteadily accepts 200 events a second until ctx ends, and returns how long each
// took. An event is due at its time, however long others take.
func acceptSteadily(ctx context.Context, b *testing.B, s earshot.Store, scope func(int) earshot.Scope) []time.Duration {
	var mu sync.Mutex // guards taken
	var taken []time.Duration
	var running sync.WaitGroup
	every := time.NewTicker(5 * time.Millisecond)
	defer every.Stop()
	for n := 0; ; n++ {
		select {
		case due := <-every.C:
			running.Go(func() {
				m := chatter(n)
				m.ID, m.Time, m.Thread = earshot.MessageID(fmt.Sprint("live", n)), earshot.TimeOf(due), ""
				_, err := s.Accept(context.WithoutCancel(ctx), scope(n), earshot.Event{Delivery: fmt.Sprint("Ev", n), Raw: []byte(`{"text":"live"}`), Received: m.Time, Message: m}, nil)
				if err != nil {
					b.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				taken = append(taken, time.Since(due))
			})
		case <-ctx.Done():
			running.Wait()
			return taken
		}
	}
}
