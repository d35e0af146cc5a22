package gateway_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-ai/earshot/platform/discord/internal/gateway"
)

func TestAnEventThatFailsIsHandledAgainAndNoneIsSkipped(t *testing.T) {
	t.Parallel()
	var got []string
	var at []time.Time
	play(t, func(o *gateway.Options) {
		o.Handle = func(_ context.Context, d gateway.Dispatch) error {
			got = append(got, d.Delivery)
			at = append(at, time.Now())
			if d.Delivery == "s1:3" && len(got) < 9 {
				return errors.New("the store is busy")
			}
			return nil
		}
	}, func(w *world) {
		p := w.next()
		p.hello()
		p.expect(2)
		p.ready("s1")
		for i := range 3 {
			p.event(strconv.Itoa(i+2), "100")
		}
		pass(5 * time.Minute)
		want := []string{"s1:1", "s1:2", "s1:3", "s1:3", "s1:3", "s1:3", "s1:3", "s1:3", "s1:3", "s1:4"}
		if !slices.Equal(got, want) {
			t.Fatalf("events were handled as %v, want %v", got, want)
		}
		for i, want := range []float64{1.25, 2.5, 5, 10, 20, 37.5} {
			if got := at[i+3].Sub(at[i+2]).Seconds(); got != want {
				t.Errorf("wait %d is %g s, want %g s", i+1, got, want)
			}
		}
	})
}

// TestAnEventBesideTheOthersWaitsForNone has an event that fails each time, and one that
// takes its time.
func TestAnEventBesideTheOthersWaitsForNone(t *testing.T) {
	t.Parallel()
	beside := make(chan string, 10)
	first := true
	play(t, func(o *gateway.Options) {
		o.Beside = func(kind string) bool { return kind == "INTERACTION_CREATE" }
		o.Handle = func(ctx context.Context, d gateway.Dispatch) error {
			switch d.Type {
			case "READY":
				return nil
			case "MESSAGE_CREATE":
				return errors.New("the store is full")
			}
			beside <- d.Delivery
			if d.Delivery == "s1:3" && first {
				first = false
				<-ctx.Done()
			}
			return errors.New("not now")
		}
	}, func(w *world) {
		p := w.next()
		p.hello()
		p.expect(2)
		p.ready("s1")
		p.event("2", "100")
		for seq := 3; seq < 6; seq++ {
			p.write(`{"op":0,"t":"INTERACTION_CREATE","s":` + strconv.Itoa(seq) + `,"d":{}}`)
		}
		pass(time.Minute)
		var got []string
		for len(beside) > 0 {
			got = append(got, <-beside)
		}
		slices.Sort(got)
		if want := []string{"s1:3", "s1:4", "s1:5"}; !slices.Equal(got, want) {
			t.Errorf("beside the others were handled %v, want each of %v once", got, want)
		}
	})
}

func TestAPayloadThatCannotBeReadCostsOnlyItself(t *testing.T) {
	t.Parallel()
	play(t, nil, func(w *world) {
		p := w.identified("s1")
		p.event("2", "100")
		for _, bad := range []string{`{`, ``, `null`, `[]`, `7`, `{"op":"0"}`, `{"t":"X"}`, `{"op":99,"d":1}`, `{"op":0,"t":7,"s":"x","d":1}`, "\xff"} {
			p.write(bad)
		}
		p.write(`{"op":0,"t":"HUGE","s":3,"d":"` + strings.Repeat("x", 33<<20) + `"}`)
		p.event("4", "101")
		var got []string
		for range 2 {
			got = append(got, (<-w.events).Delivery)
		}
		if want := []string{"s1:2", "s1:4"}; !slices.Equal(got, want) {
			t.Errorf("events are %v, want %v", got, want)
		}
	})
}

// TestASequenceMayBeginWithZero is of a server that is not Discord's, which also tells
// of no URL to resume at.
func TestASequenceMayBeginWithZero(t *testing.T) {
	t.Parallel()
	play(t, nil, func(w *world) {
		p := w.next()
		p.hello()
		p.expect(2)
		p.write(`{"op":0,"t":"READY","s":0,"d":{"session_id":"s1","resume_gateway_url":7}}`)
		p.event("1", "100")
		var got []string
		for range 2 {
			got = append(got, (<-w.events).Delivery)
		}
		if want := []string{"s1:0", "s1:1"}; !slices.Equal(got, want) {
			t.Errorf("events are %v, want %v", got, want)
		}
	})
}

func TestAREADYWithoutASessionIsNoSession(t *testing.T) {
	t.Parallel()
	play(t, nil, func(w *world) {
		p := w.next()
		p.hello()
		p.expect(2)
		p.event("1", "99") // before READY, it belongs to no session
		p.write(`{"op":0,"t":"READY","s":1,"d":{"session_id":7}}`)
		for range p.in {
		}
		w.identified("s1")
	})
}

func TestTheEndOfAShardKeepsTheSessionAndWhatWasNotHandled(t *testing.T) {
	t.Parallel()
	play(t, func(o *gateway.Options) {
		handle := o.Handle
		o.Handle = func(ctx context.Context, d gateway.Dispatch) error {
			if d.Delivery == "s1:2" {
				<-ctx.Done()
				return ctx.Err()
			}
			return handle(ctx, d)
		}
	}, func(w *world) {
		p := w.identified("s1")
		p.event("2", "100")
		p.event("3", "101")
		synctest.Wait()
		w.stop()
		if err := <-w.ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the shard ended with %v", err)
		}
		for range p.in {
		}
		if p.code < 4000 {
			t.Errorf("it closed with code %d, which ends the session", p.code)
		}
		if len(w.events) > 0 {
			t.Errorf("%+v was handled although an event before it was not", <-w.events)
		}
	})
}

func TestEventsOfTheOldSessionAreHandledBeforeThoseOfTheNew(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	play(t, func(o *gateway.Options) {
		release = make(chan struct{}) // the bubble's
		handle := o.Handle
		o.Handle = func(ctx context.Context, d gateway.Dispatch) error {
			if d.Type != "READY" {
				<-release
			}
			return handle(ctx, d)
		}
	}, func(w *world) {
		p := w.identified("s1")
		p.event("2", "100")
		p.event("3", "101")
		p.write(`{"op":9,"d":false}`)
		p = w.next()
		p.hello()
		p.expect(2)
		p.ready("s2")
		synctest.Wait()
		close(release)
		if got := []string{(<-w.events).Delivery, (<-w.events).Delivery, (<-w.events).Delivery}; !slices.Equal(got, []string{"s1:2", "s1:3", "s2:1"}) {
			t.Errorf("events are %v", got)
		}
	})
}

func TestPermissionToIdentifyIsAskedForOncePerIdentify(t *testing.T) {
	t.Parallel()
	asked, fail := 0, true
	play(t, func(o *gateway.Options) {
		o.Identify = func(context.Context) error {
			asked++
			if fail {
				fail = false
				return errors.New("the limits are not known")
			}
			return nil
		}
		url := o.URL
		tries := 0
		o.URL = func(ctx context.Context) (string, error) {
			if tries++; tries < 5 {
				return "", errors.New("for a moment")
			}
			return url(ctx)
		}
	}, func(w *world) {
		p := w.identified("s1")
		if asked != 2 { // one failed
			t.Errorf("permission was asked for %d times", asked)
		}
		p.closeWith(4000)
		p = w.resumed("s1", 1)
		if asked != 2 {
			t.Error("permission was asked for to resume")
		}
		p.write(`{"op":9,"d":false}`)
		w.identified("s2")
		if asked != 3 {
			t.Errorf("permission was asked for %d times, want 3", asked)
		}
	})
}

func TestNoErrorShowsTheToken(t *testing.T) {
	t.Parallel()
	play(t, nil, func(w *world) {
		w.refuses(true)
		pass(time.Hour) // play looks at the log
		if !strings.Contains(w.log.String(), "refused for ***") {
			t.Errorf("the log is %s", w.log)
		}
	})
}
