package slack_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/simulate"
)

// A fullDisk is a store that fails to count the first reaction.
type fullDisk struct {
	slack.Store
	tries atomic.Int32
}

func (s *fullDisk) React(ctx context.Context, scope earshot.Scope, x earshot.ReactionEvent) (earshot.RecordResult, error) {
	if s.tries.Add(1) == 1 {
		return earshot.RecordResult{}, errors.New("the disk is full")
	}
	return s.Store.React(ctx, scope, x)
}

// A meeting is a store of two replicas, where each that has read a message waits
// for the other one's reading.
type meeting struct {
	earshot.Store
	both sync.WaitGroup
}

func (s *meeting) Message(ctx context.Context, scope earshot.Scope, id earshot.MessageID) (earshot.Message, error) {
	m, err := s.Store.Message(ctx, scope, id)
	s.both.Done()
	s.both.Wait()
	return m, err
}

// Two replicas on one store count reactions of one message at once, and lose
// none. Were they to read the message and write what they made of it, both
// would have read it before either wrote.
func TestReplicasCountReactionsTogether(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	ts := x.slack.Say(x.general, x.mara, "done")
	x.settle()
	st := x.store
	shared := &meeting{Store: st}
	shared.both.Add(2)
	x.store = shared
	var wg sync.WaitGroup
	for i := range 2 {
		h := opening(t, x, x.slack.URL()+"/api/").Handler(x.bot.Handle)
		body := fmt.Sprintf(`{"type":"event_callback","event_id":"Ev%d","event":{"type":"reaction_added","user":"U0%dX","reaction":"tada","event_ts":"1700000009.000100","item":{"type":"message","channel":%q,"ts":%q}}}`, i, i, x.general, ts)
		wg.Go(func() {
			if got := genuine(x.slack.App().SigningSecret, time.Now(), body).post(t, h).Code; got != http.StatusOK {
				t.Errorf("got status %d, want %d", got, http.StatusOK)
			}
		})
	}
	wg.Wait()
	x.store = st
	if diff := cmp.Diff([]earshot.Reaction{{Name: "tada", Count: 2}}, x.message(x.general, ts).Reactions); diff != "" {
		t.Errorf("reactions (-want +got):\n%s", diff)
	}
}

// A reaction that could not be stored counts when Slack tells it again.
func TestAReactionThatWasNotStoredCountsAgain(t *testing.T) {
	t.Parallel()
	x := listenTo(t, func(_ *simulate.SlackOptions, o *slack.Options) { o.Store = &fullDisk{Store: o.Store} })
	ts := x.slack.Say(x.general, x.mara, "done")
	x.settle()
	body := fmt.Sprintf(`{"type":"event_callback","event_id":"Ev1r","event":{"type":"reaction_added","user":"U0X","event_ts":"1700000009.000100","reaction":"tada","item":{"type":"message","channel":%q,"ts":%q}}}`, x.general, ts)
	q := genuine(x.slack.App().SigningSecret, time.Now(), body)
	h := x.platform.Handler(x.bot.Handle)
	for i, want := range []int{http.StatusInternalServerError, http.StatusOK, http.StatusOK} {
		if got := q.post(t, h).Code; got != want {
			t.Fatalf("delivery %d: got status %d, want %d", i, got, want)
		}
	}
	if diff := cmp.Diff([]earshot.Reaction{{Name: "tada", Count: 1}}, x.message(x.general, ts).Reactions); diff != "" {
		t.Errorf("reactions (-want +got):\n%s", diff)
	}
}

// One person's one reaction is one, whichever delivery, replica or order it comes in,
// and none once it is taken back. The event's own time tells which came last.
func TestOnePersonsReactionIsOneHoweverItIsDelivered(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	ts := x.slack.Say(x.general, x.mara, "done")
	x.settle()
	replicas := []http.Handler{x.platform.Handler(x.bot.Handle), opening(t, x, x.slack.URL()+"/api/").Handler(x.bot.Handle)}
	n := 0
	tell := func(kind string, at int) {
		t.Helper()
		n++
		body := fmt.Sprintf(`{"type":"event_callback","event_id":"EvR%d","event":{"type":%q,"user":%q,"reaction":"tada","event_ts":"17000000%02d.000100","item":{"type":"message","channel":%q,"ts":%q}}}`,
			n, kind, x.mara, at, x.general, ts)
		if got := genuine(x.slack.App().SigningSecret, time.Now(), body).post(t, replicas[n%2]).Code; got != http.StatusOK {
			t.Fatalf("got status %d", got)
		}
	}
	for _, step := range []struct {
		kind string
		at   int
		want string
	}{
		{"reaction_added", 10, "[{tada 1}]"}, {"reaction_added", 10, "[{tada 1}]"}, {"reaction_added", 10, "[{tada 1}]"},
		{"reaction_removed", 12, "[]"}, {"reaction_added", 10, "[]"}, {"reaction_removed", 12, "[]"},
		{"reaction_removed", 14, "[]"}, {"reaction_added", 13, "[]"}, {"reaction_added", 15, "[{tada 1}]"},
	} {
		tell(step.kind, step.at)
		if got := fmt.Sprint(x.message(x.general, ts).Reactions); got != step.want {
			t.Errorf("after %+v: got %s", step, got)
		}
	}
}
