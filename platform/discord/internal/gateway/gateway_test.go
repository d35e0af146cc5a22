package gateway_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot/platform/discord/internal/gateway"
)

func TestASessionBeginsAndItsEventsCarryTheirPlace(t *testing.T) {
	t.Parallel()
	play(t, func(o *gateway.Options) { o.ID, o.Of = 1, 3 }, func(w *world) {
		p := w.next()
		if got, want := p.query, "encoding=json&v=10"; got != want {
			t.Errorf("the query is %q, want %q", got, want)
		}
		p.hello()
		var identify struct {
			Token   string
			Intents int64
			Shard   [2]int
		}
		if err := json.Unmarshal(p.expect(2).Data, &identify); err != nil {
			t.Fatal(err)
		}
		if identify.Token != token || identify.Intents != 1<<15|1 || identify.Shard != [2]int{1, 3} {
			t.Errorf("identify is %+v", identify)
		}
		if _, down := w.shard.Down(); !down {
			t.Error("the shard is up before READY")
		}
		p.ready("s1")
		p.event("2", "100")
		first, second := <-w.events, <-w.events
		now := time.Now()
		want := gateway.Dispatch{
			Type: "MESSAGE_CREATE", Data: json.RawMessage(`{"id":"100"}`), Shard: 1, Delivery: "s1:2", Received: now,
			State: gateway.State{Session: "s1", Sequence: 2, URL: "ws://resume.test", Intents: 1<<15 | 1, At: now},
		}
		if first.Type != "READY" || first.State.Sequence != 1 || first.Delivery != "s1:1" {
			t.Errorf("the first event is %+v", first)
		}
		if d := cmp.Diff(second, want); d != "" {
			t.Error(d)
		}
		if _, down := w.shard.Down(); down {
			t.Error("the shard is down after READY")
		}
	})
}

func TestASessionOfAnEarlierProcessIsResumed(t *testing.T) {
	t.Parallel()
	state := gateway.State{Session: "s1", Sequence: 41, URL: "ws://resume.test", Intents: 1<<15 | 1}
	play(t, func(o *gateway.Options) { o.Resume = state }, func(w *world) {
		p := w.resumed("s1", 41)
		if p.host != "resume.test" {
			t.Errorf("the session is resumed at %s", p.host)
		}
		p.event("42", "100")
		p.write(`{"op":0,"t":"RESUMED","s":43,"d":{}}`)
		p.event("44", "101")
		if got := []string{(<-w.events).Delivery, (<-w.events).Delivery}; got[0] != "s1:42" || got[1] != "s1:44" {
			t.Errorf("events are %v", got)
		}
		if len(w.missed) > 0 {
			t.Error("events count as lost although the session was resumed")
		}
	})
}

func TestASessionWithOtherIntentsIsNotResumed(t *testing.T) {
	t.Parallel()
	at := time.Date(1999, 12, 31, 12, 0, 0, 0, time.UTC)
	play(t, func(o *gateway.Options) {
		o.Resume = gateway.State{Session: "s1", Sequence: 41, URL: "ws://resume.test", Intents: 1, At: at}
	}, func(w *world) {
		w.identified("s2")
		if got := <-w.missed; !got[0].Equal(at.Add(-10 * time.Second)) {
			t.Errorf("missed is %v", got)
		}
	})
}

func TestASessionWithoutMessageContentSaysSoInItsPlace(t *testing.T) {
	t.Parallel()
	play(t, nil, func(w *world) {
		p := w.next()
		p.hello()
		p.expect(2)
		p.closeWith(4014)
		p = w.next()
		p.hello()
		p.expect(2)
		p.ready("s1")
		if d := <-w.events; d.State.Intents != 1 {
			t.Errorf("the place is %+v", d.State)
		}
	})
}
