package discord_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/backfill"
	"github.com/earshot-ai/earshot/platform/discord"
	fake "github.com/earshot-ai/earshot/simulate/discord"
)

// TestAProcessThatEndsWhileItCatchesUpBeginsThereAgain: until what was missed is read, the
// place from which a restart continues stays that of the session that was lost.
func TestAProcessThatEndsWhileItCatchesUpBeginsThereAgain(t *testing.T) {
	t.Parallel()
	var read atomic.Bool
	gaps := map[earshot.WorkspaceID][]backfill.Gap{}
	told := map[earshot.WorkspaceID]int{}
	x := listen(t, func(x *ear, _ *fake.Options, o *discord.Options) {
		o.Behind = func(_ context.Context, w earshot.WorkspaceID, gap backfill.Gap, list []backfill.Newest) error {
			x.mu.Lock()
			defer x.mu.Unlock()
			gaps[w] = append(gaps[w], gap)
			told[w] = len(list)
			x.signal()
			return nil
		}
		o.CaughtUp = read.Load
	})
	x.start(nil, "")
	x.fake.Say(x.general, x.mara, "heard while history is read")
	x.settle()
	if _, err := x.store.Resume(t.Context(), earshot.Discord, x.fake.App().ID+"/1/0"); err == nil {
		t.Error("a place is stored before history was read")
	}
	read.Store(true)
	x.fake.Say(x.general, x.mara, "heard after it")
	x.settle()
	if _, err := x.store.Resume(t.Context(), earshot.Discord, x.fake.App().ID+"/1/0"); err != nil {
		t.Errorf("no place is stored once history was read: %v", err)
	}
	x.close()
	read.Store(false)
	guild := earshot.WorkspaceID(x.fake.Guild())
	x.fake.ForgetSessions()
	x.start(nil, "")
	x.until(func() bool { return len(gaps[guild]) == 2 })
	x.fake.Say(x.general, x.mara, "heard in the second session")
	x.settle()
	x.close()
	x.start(nil, "") // it asks for the session that was lost, not for the second one
	x.until(func() bool { return len(gaps[guild]) == 3 })
	x.close()
	if n := len(gaps[guild]); n != 3 || !gaps[guild][0].First || gaps[guild][1].First || !gaps[guild][1].From.Equal(gaps[guild][2].From) {
		t.Errorf("the guild's gaps are %+v; want three, and the last from where the second began", gaps[guild])
	}
	if told[guild] != 1 || len(gaps["@me"]) != 3 {
		t.Errorf("of the guild %d channels are told, want 1; direct messages have %d gaps, want 3", told[guild], len(gaps["@me"]))
	}
}
