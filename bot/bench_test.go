package bot_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/tokens"
)

// BenchmarkTurn measures what a turn costs besides the model and the platform,
// on SQLite with every commit synced: from the event to the end of the turn, one
// turn after the other, in threads of twenty turns. The aim is a median of 5 ms.
func BenchmarkTurn(b *testing.B) {
	st, err := store.Open(b.Context(), "sqlite:"+filepath.Join(b.TempDir(), "bench.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	counter, err := tokens.For("o200k")
	if err != nil {
		b.Fatal(err)
	}
	ended := make(chan bot.Report, 1)
	x := bot.New(bot.Options{
		Store: st, Model: &echo{}, Platform: &board{}, Identity: self, Counter: counter,
		Done: func(r bot.Report) { ended <- r },
	})
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- x.Run(ctx) }()
	var acks, turns []time.Duration
	i := 0
	for b.Loop() {
		root := fmt.Sprintf("m%d", i-i%20)
		e := bot.Event{Channel: general, Event: earshot.Event{Delivery: fmt.Sprint(i), Raw: []byte(`{"type":"message"}`), Message: earshot.Message{
			ID: earshot.MessageID(fmt.Sprintf("m%d", i)), Time: earshot.TimeOf(time.Now()), Author: alice, Thread: earshot.MessageID(root),
			Text: "<@U0BOT> what is the state of the deploy, and who looks at the migration?"}}}
		began := time.Now()
		if _, err := x.Handle(ctx, e); err != nil {
			b.Fatal(err)
		}
		acks = append(acks, time.Since(began))
		if r := <-ended; r.Turn.State != earshot.TurnDone {
			b.Fatalf("turn %d is %s: %s", r.Turn.ID, r.Turn.State, r.Turn.Why)
		}
		turns = append(turns, time.Since(began))
		i++
	}
	cancel()
	<-done
	slices.Sort(acks)
	slices.Sort(turns)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(acks[len(acks)/2]), "p50-ack-ms")
	b.ReportMetric(ms(turns[len(turns)/2]), "p50-turn-ms")
	b.ReportMetric(ms(turns[len(turns)*99/100]), "p99-turn-ms")
}
