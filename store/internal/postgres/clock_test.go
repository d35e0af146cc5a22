package postgres

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/pgtest"
)

func TestTheClockFollowsTheDatabaseAsFarAsAnAnswerProves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := clock{began: time.Now()}
		database := c.began.Add(time.Hour) // its clock is ahead of this machine's
		want := func(what string, at time.Time) {
			t.Helper()
			if got := c.Now(); !got.Equal(at) {
				t.Errorf("%s: the clock says %s, want %s", what, got, at)
			}
		}
		c.heard(database.Add(2*time.Second), time.Second, 3*time.Second)
		want("the middle of the first question and its answer", database)
		time.Sleep(10 * time.Second)
		want("ten seconds later", database.Add(10*time.Second))
		c.heard(database.Add(9*time.Second), 8*time.Second, 10*time.Second)
		want("an answer that fits", database.Add(10*time.Second))
		c.heard(database.Add(60*time.Second), 0, 10*time.Second)
		want("the database's clock was set forward", database.Add(60*time.Second))
		c.heard(database.Add(-time.Hour), 9*time.Second, 10*time.Second)
		want("the database's clock was set back", database.Add(-time.Hour+time.Second))
		if c.due() != true || c.due() {
			t.Error("the database is to be asked once a second")
		}
		time.Sleep(askEvery)
		if !c.due() {
			t.Error("after a second the database is to be asked again")
		}
	})
}

// The database's time is this machine's here, so a clock that was set wrong shows that
// transactions ask for it.
func TestATransactionSetsAClockThatIsWrong(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), pgtest.Spec(t), nil, slog.New(slog.DiscardHandler))
	check(t, err)
	t.Cleanup(func() { check(t, s.Close()) })
	for _, off := range []time.Duration{time.Hour, -time.Hour} {
		s.clock.mu.Lock()
		s.clock.at, s.clock.asked = s.clock.at.Add(off), -askEvery
		s.clock.mu.Unlock()
		before := time.Now()
		check(t, s.PutChannel(t.Context(), earshot.Channel{Platform: scope.Platform, Workspace: scope.Workspace, ID: scope.Channel}))
		if got := s.Now(); got.Before(before.Add(-time.Second)) || got.After(time.Now().Add(time.Second)) {
			t.Errorf("a clock that was off by %s is now off by %s", off, time.Until(got))
		}
	}
}
