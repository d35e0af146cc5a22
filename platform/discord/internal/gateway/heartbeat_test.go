package gateway_test

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-ai/earshot/platform/discord/internal/gateway"
)

func TestTheFirstHeartbeatComesAtARandomTimeAndTheNextAfterAnInterval(t *testing.T) {
	t.Parallel()
	var asked []time.Duration
	play(t, func(o *gateway.Options) {
		o.Jitter = func(most time.Duration) time.Duration {
			asked = append(asked, most)
			return most / 4
		}
	}, func(w *world) {
		p := w.next()
		start := time.Now()
		p.hello()
		p.expect(2)
		if s := p.expect(1); string(s.Data) != "null" {
			t.Errorf("a heartbeat before any event says %s", s.Data)
		}
		if got, want := time.Since(start), 10*time.Second; got != want || asked[0] != 40*time.Second {
			t.Errorf("the first heartbeat came after %s, want %s", got, want)
		}
		p.ack()
		p.ready("s1")
		p.event("7", "100")
		for i := range 3 {
			if s := p.expect(1); string(s.Data) != "7" {
				t.Errorf("a heartbeat says %s, want the last sequence, 7", s.Data)
			}
			if got, want := time.Since(start), 10*time.Second+time.Duration(i+1)*40*time.Second; got != want {
				t.Errorf("heartbeat %d came after %s, want %s", i+2, got, want)
			}
			p.ack()
		}
	})
}

func TestAHeartbeatThatDiscordAsksForIsSentAtOnce(t *testing.T) {
	t.Parallel()
	play(t, nil, func(w *world) {
		p := w.identified("s1")
		start := time.Now()
		p.write(`{"op":1,"d":null}`)
		p.expect(1)
		if got := time.Since(start); got != 0 {
			t.Errorf("it came after %s", got)
		}
		// It was not acknowledged, and is none of those that must be.
		p.expect(1)
		if got, want := time.Since(start), 20*time.Second; got != want {
			t.Errorf("the next one came after %s, want %s", got, want)
		}
		p.ack()
		p.event("2", "100")
		if d := <-w.events; d.State.Sequence != 2 {
			t.Errorf("got %+v", d)
		}
	})
}

func TestAConnectionWithoutAcknowledgementsIsClosedAndResumed(t *testing.T) {
	t.Parallel()
	play(t, nil, func(w *world) {
		p := w.identified("s1")
		p.event("2", "100")
		start := time.Now()
		for range p.in { // heartbeats that nobody acknowledges
		}
		if got, want := time.Since(start), 60*time.Second; got != want {
			t.Errorf("the connection was closed after %s, want %s", got, want)
		}
		if p.code < 4000 {
			t.Errorf("it was closed with code %d, which ends the session", p.code)
		}
		synctest.Wait()
		if since, down := w.shard.Down(); !down || !since.Equal(time.Now()) {
			t.Errorf("Down is %s, %t", since, down)
		}
		p = w.resumed("s1", 2)
		if p.host != "resume.test" {
			t.Errorf("the session is resumed at %s", p.host)
		}
		p.write(`{"op":0,"t":"RESUMED","s":3,"d":{}}`)
		synctest.Wait()
		if _, down := w.shard.Down(); down {
			t.Error("the shard is down after RESUMED")
		}
	})
}

func TestHeartbeatsGoOnWhileEventsAreHandledSlowly(t *testing.T) {
	t.Parallel()
	// The first number fits into the queue, the second does not.
	for _, n := range []int{500, 3000} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			handle := make(chan struct{})
			var got []string
			done := make(chan struct{})
			play(t, func(o *gateway.Options) {
				o.Handle = func(ctx context.Context, d gateway.Dispatch) error {
					select {
					case <-handle:
					case <-ctx.Done():
						return ctx.Err()
					}
					got = append(got, d.Delivery)
					if len(got) == n {
						close(done)
					}
					return nil
				}
				handle, done = make(chan struct{}), make(chan struct{}) // the bubble's
			}, func(w *world) {
				p := w.next()
				p.hello()
				p.expect(2)
				go func() {
					p.ready("s1")
					for i := range n - 1 {
						p.event(strconv.Itoa(i+2), "100")
					}
				}()
				beats := 0
				for deadline := time.After(10 * time.Minute); deadline != nil; {
					select {
					case s, ok := <-p.in:
						if !ok {
							t.Fatalf("the connection was closed after %d heartbeats", beats)
						}
						if s.Op == 1 {
							beats++
							if n == 500 { // else no answer would be read
								p.ack()
							}
						}
					case <-deadline:
						deadline = nil
					}
				}
				if beats != 15 {
					t.Errorf("%d heartbeats were sent in 10 minutes, want 15", beats)
				}
				close(handle)
				<-done
				for i, d := range got {
					if want := "s1:" + strconv.Itoa(i+1); d != want {
						t.Fatalf("event %d is %s, want %s", i, d, want)
					}
				}
				// Acknowledgements count again, from the next heartbeat on.
				start := time.Now()
				for range p.in {
				}
				if got, want := time.Since(start), time.Minute; got != want {
					t.Errorf("a connection without acknowledgements was closed after %s, want %s", got, want)
				}
				w.resumed("s1", int64(n))
			})
		})
	}
}

func TestAServerThatSaysNothingIsLeft(t *testing.T) {
	t.Parallel()
	play(t, nil, func(w *world) {
		p := w.next()
		start := time.Now()
		for range p.in {
		}
		if got, want := time.Since(start), 20*time.Second; got != want {
			t.Errorf("a server without hello was left after %s, want %s", got, want)
		}
		p = w.next()
		start = time.Now()
		p.hello()
		p.expect(2)
		for s := range p.in {
			if s.Op == 1 {
				p.ack()
			}
		}
		if got, want := time.Since(start), time.Minute; got != want {
			t.Errorf("a server that does not answer identify was left after %s, want %s", got, want)
		}
		w.identified("s1")
	})
}
