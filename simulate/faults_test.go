package simulate_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"

	"github.com/earshot-ai/earshot/simulate"
)

func TestACallGoesWrongAsItIsTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		fault  simulate.Fault
		posted bool
		check  func(error) bool
	}{
		{"too often", simulate.Fault{Kind: simulate.RateLimit, Wait: 7 * time.Second}, false, func(err error) bool {
			var limited *slack.RateLimitedError
			return errors.As(err, &limited) && limited.RetryAfter == 7*time.Second
		}},
		{"a server error", simulate.Fault{Kind: simulate.ServerError, Status: 503}, false, isStatus(503)},
		{"a server error once it is done", simulate.Fault{Kind: simulate.FailedLate}, true, isStatus(500)},
		{"an error of Slack's", simulate.Fault{Kind: simulate.APIError, Error: "internal_error"}, false, func(err error) bool { return err.Error() == "internal_error" }},
		{"a request that is lost", simulate.Fault{Kind: simulate.LostRequest}, false, func(err error) bool { return err != nil }},
		{"an answer that is lost", simulate.Fault{Kind: simulate.LostResponse}, true, func(err error) bool { return err != nil }},
		{"an answer that never comes", simulate.Fault{Kind: simulate.HungResponse}, true, func(err error) bool { return errors.Is(err, context.Canceled) }},
		{"half an answer", simulate.Fault{Kind: simulate.BadJSON}, true, func(err error) bool {
			var syntax *json.SyntaxError
			return errors.As(err, &syntax) || err.Error() == "unexpected EOF"
		}},
		{"an answer that is late", simulate.Fault{Kind: simulate.LateResponse, Wait: time.Millisecond}, true, func(err error) bool { return err == nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := small(t, simulate.SlackOptions{})
			c.fault.On, c.fault.Times = "chat.*", 1
			w.Inject(c.fault)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.fault.Kind == simulate.HungResponse { // the client goes once its message is there
				go func() {
					_ = w.Until(ctx, func() bool { return len(w.Posts()) == 1 }) // else ctx is done
					cancel()
				}()
			}
			_, _, err := w.api.PostMessageContext(ctx, w.general, slack.MsgOptionText("once", false))
			if !c.check(err) {
				t.Errorf("the client got %v", err)
			}
			if got := len(w.Posts()) == 1; got != c.posted {
				t.Errorf("it was posted: %t, want %t", got, c.posted)
			}
			if calls := w.Calls("chat.postMessage"); len(calls) != 1 || calls[0].Fault != c.fault.Kind {
				t.Errorf("the calls are %+v, want one with the fault", calls)
			}
			if _, _, err := w.api.PostMessageContext(t.Context(), w.general, slack.MsgOptionText("twice", false)); err != nil {
				t.Errorf("the fault was to happen once: %v", err)
			}
		})
	}
}

func isStatus(want int) func(error) bool {
	return func(err error) bool {
		var code slack.StatusCodeError
		return errors.As(err, &code) && code.Code == want
	}
}

func TestFaultsAreCountedSkippedAndLeftToChance(t *testing.T) {
	t.Parallel()
	failures := func(seed uint64, f simulate.Fault) []bool {
		w := small(t, simulate.SlackOptions{Seed: seed})
		f.Kind, f.Error = simulate.APIError, "fatal_error"
		w.Inject(f)
		var out []bool
		for range 20 {
			_, err := w.api.AuthTestContext(t.Context())
			out = append(out, err != nil)
		}
		w.Heal()
		if _, err := w.api.AuthTestContext(t.Context()); err != nil {
			t.Errorf("after Heal: %v", err)
		}
		return out
	}
	got := failures(1, simulate.Fault{Skip: 2, Times: 3})
	want := make([]bool, 20)
	want[2], want[3], want[4] = true, true, true
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("skip 2, 3 times (-got +want):\n%s", diff)
	}
	chance := failures(7, simulate.Fault{Chance: 0.5})
	if !slices.Contains(chance, true) || !slices.Contains(chance, false) {
		t.Errorf("by chance: %v, want some of each", chance)
	}
	if diff := cmp.Diff(failures(7, simulate.Fault{Chance: 0.5}), chance); diff != "" {
		t.Errorf("one seed, two courses:\n%s", diff)
	}
}

func TestEventsGoWrongAsTheyAreTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		kind   simulate.FaultKind
		texts  []string // what the app hears of one, two, three
		unique int      // event ids
	}{
		{"dropped", simulate.DropEvent, []string{"two", "three"}, 2},
		{"repeated", simulate.RepeatEvent, []string{"one", "one", "two", "three"}, 3},
		{"under a new event id", simulate.RenewEvent, []string{"one", "one", "two", "three"}, 4},
		{"in another order", simulate.SwapEvent, []string{"two", "one", "three"}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := small(t, simulate.SlackOptions{})
			e := listen(t, w.Slack)
			w.Inject(simulate.Fault{Kind: c.kind, On: "message", Times: 1})
			for _, text := range []string{"one", "two", "three"} {
				w.Say(w.general, w.mara, text)
			}
			var texts []string
			ids := map[string]bool{}
			for _, h := range e.heard(t, w.Slack) {
				texts = append(texts, h.Event.Text)
				ids[h.EventID] = true
			}
			if diff := cmp.Diff(texts, c.texts); diff != "" {
				t.Errorf("heard (-got +want):\n%s", diff)
			}
			if len(ids) != c.unique {
				t.Errorf("%d event ids, want %d", len(ids), c.unique)
			}
		})
	}
}

func TestALateEventComesAfterLaterOnes(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{})
	e := listen(t, w.Slack)
	w.Inject(simulate.Fault{Kind: simulate.LateEvent, Times: 1, Wait: 300 * time.Millisecond})
	w.Say(w.general, w.mara, "early")
	w.Say(w.general, w.mara, "later")
	got := e.heard(t, w.Slack)
	if len(got) != 2 || got[1].Event.Text != "early" {
		t.Errorf("heard %+v, want early last", got)
	}
}

func TestAnEventThatWaitsForTheNextCanBeReleased(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{})
	e := listen(t, w.Slack)
	w.Inject(simulate.Fault{Kind: simulate.SwapEvent})
	w.Say(w.general, w.mara, "alone")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Settle(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Settle says %v of an event that is kept back", err)
	}
	w.Release()
	if got := e.heard(t, w.Slack); len(got) != 1 {
		t.Errorf("heard %+v", got)
	}
}

func TestAFaultThatMakesNoSenseIsRefused(t *testing.T) {
	t.Parallel()
	for _, f := range []simulate.Fault{{Kind: "storm"}, {Kind: simulate.RateLimit, On: "["}, {Kind: simulate.RateLimit, Chance: 2}, {Kind: simulate.RateLimit, Times: -1}} {
		if f.Check() == nil {
			t.Errorf("%+v was taken", f)
		}
	}
}
