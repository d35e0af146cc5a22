package store_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
)

// delivery returns the nth event of a channel with its message as a platform
// would wrap it, and the conversation that every tenth asks.
func delivery(n int) (earshot.Event, *earshot.ConversationID) {
	m := chatter(n)
	e := earshot.Event{
		Delivery: fmt.Sprintf("Ev%011d", n), Client: fmt.Sprintf("%08x-0000-4000-8000-%012x", n, n), Received: m.Time, Message: m,
		Raw: fmt.Appendf(nil, `{"type":"event_callback","team_id":"T0123456789","event_id":"Ev%011d","event":{"type":"message","channel":"C0123456789","user":%q,"ts":%q,"text":%q}}`,
			n, m.Author.ID, m.ID, m.Text),
	}
	if n%10 != 0 {
		return e, nil
	}
	return e, &earshot.ConversationID{Agent: "agent", Scope: benchScope, Name: string(m.ID)}
}

// BenchmarkAccept measures what stands before an acknowledgement, with the
// fsync in it: the time of each event when they arrive at 500 a second
// (aim: p50 ≤ 2 ms, p99 ≤ 15 ms), and how many a second there may be.
func BenchmarkAccept(b *testing.B) {
	b.Run("500 a second", func(b *testing.B) {
		s := open(b, filepath.Join(b.TempDir(), "x.db"))
		const every = time.Second / 500
		var mu sync.Mutex
		var took []time.Duration
		var wg sync.WaitGroup
		n, due := 0, time.Now()
		for b.Loop() {
			time.Sleep(time.Until(due))
			arrived, nth := due, n // a late start counts as waiting
			wg.Go(func() {
				e, ask := delivery(nth)
				if _, err := s.Accept(context.Background(), benchScope, e, ask); err != nil {
					b.Error(err)
				}
				d := time.Since(arrived)
				mu.Lock()
				took = append(took, d)
				mu.Unlock()
			})
			n++
			due = due.Add(every)
		}
		wg.Wait()
		slices.Sort(took)
		ms := func(q float64) float64 { return took[int(q*float64(len(took)-1))].Seconds() * 1000 }
		b.ReportMetric(ms(0.50), "ms/p50")
		b.ReportMetric(ms(0.99), "ms/p99")
		b.ReportMetric(ms(1), "ms/max")
	})
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprint(callers, " at once"), func(b *testing.B) {
			s := open(b, filepath.Join(b.TempDir(), "x.db"))
			var next atomic.Int64
			work := make(chan int)
			var wg sync.WaitGroup
			for range callers {
				wg.Go(func() {
					for range work {
						e, ask := delivery(int(next.Add(1) - 1))
						if _, err := s.Accept(context.Background(), benchScope, e, ask); err != nil {
							b.Error(err)
						}
					}
				})
			}
			start := time.Now()
			for b.Loop() {
				work <- 0
			}
			close(work)
			wg.Wait()
			b.ReportMetric(float64(next.Load())/time.Since(start).Seconds(), "events/s")
		})
	}
}

// BenchmarkTurn measures all writes of a turn, from its claim to its release,
// without the model: the store's part of what a turn costs.
func BenchmarkTurn(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "x.db"))
	ctx := b.Context()
	n := 0
	for b.Loop() {
		n++
		b.StopTimer()
		e, _ := delivery(n)
		id := earshot.ConversationID{Agent: "agent", Scope: benchScope, Name: "dm"}
		if _, err := s.Accept(ctx, benchScope, e, &id); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		l, turns, err := s.Claim(ctx, "agent", "owner", earshot.Time(n), time.Minute)
		if err != nil {
			b.Fatal(err)
		}
		q := turns[0]
		p := earshot.Post{Turn: q.ID, Key: fmt.Sprint(q.ID), Text: "answer", State: earshot.PostSending}
		sent := p
		sent.State, sent.Message = earshot.PostSent, earshot.MessageID(fmt.Sprint("r", n))
		for _, err := range []error{
			s.Begin(ctx, l, q.ID, earshot.Prompt{Hash: "hash", Input: e.Raw}),
			s.AddStep(ctx, l, q.ID, earshot.Step{Kind: "model", Data: e.Raw}),
			s.PutPost(ctx, l, p),
			s.PutPost(ctx, l, sent),
			s.Finish(ctx, l, q.ID, earshot.TurnDone, "", &earshot.Turn{
				Answer: earshot.Answer{Anchor: q.Anchor, Replies: []earshot.MessageID{sent.Message}},
				Shown:  []earshot.ShownRevision{{ID: q.Anchor}}, Session: []earshot.SessionEntry{{Role: earshot.User, Text: e.Message.Text}},
			}),
			s.Release(ctx, l, 0),
		} {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
