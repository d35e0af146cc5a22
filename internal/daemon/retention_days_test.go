package daemon_test

import (
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/store"
)

// TestMessagesAreKeptForDays: what is older than a channel's rule allows goes from
// every table, with what agents made of it; what is younger stays, and so does the
// usage. Neither the platform's history nor a redelivery brings it back, and the model
// is told of the gap.
func TestMessagesAreKeptForDays(t *testing.T) {
	t.Parallel()
	x := newSlackWorld(t, modeltest.StartScripted(t, canaryScript), bySocket, nil)
	x.start()
	root := x.Say(x.general, x.ann, "the canaryroot is loose")
	x.Reply(x.general, root, x.bob, x.at("where is the canaryfirst?"))
	spent := x.ends(earshot.TurnDone).Usage
	x.settled()
	x.stop()
	if len(x.located("canaryroot")) == 0 {
		t.Fatal("nothing is stored")
	}

	x.environ = append(x.environ, "EARSHOT_RETENTION_DAYS=2")
	x.options.Outside.Now = func() time.Time { return time.Now().Add(4 * 24 * time.Hour) }
	x.start()
	gone := []string{"canaryroot", "canaryfirst", "canaryreply", "canarylast"}
	scope := earshot.Scope{Platform: earshot.Slack, Workspace: earshot.WorkspaceID(x.Team().ID), Channel: earshot.ChannelID(x.general)}
	var done []daemon.RetentionResult
	x.eventually("retention was applied", func() bool {
		var err error
		if done, err = daemon.RetainedIn(t.Context(), x.daemon.Store); err != nil {
			t.Fatal(err)
		}
		return len(done) > 0
	})
	if r := done[0]; r.Channel != scope.Channel || r.Days != "2" || r.Floor == 0 || r.Removed.Messages != 3 {
		t.Errorf("it notes %+v, want three messages removed", r)
	}
	x.Redeliver(x.Deliveries()[0].EventID, true)
	x.Reply(x.general, root, x.ann, x.at("and where is the canarylast?")) // said days ago, by the bot's clock
	x.settled()
	x.stop()
	if places := x.located(gone...); len(places) > 0 {
		t.Errorf("there are %+v", places)
	}
	st, err := store.Open(t.Context(), "sqlite:"+x.db, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	gaps, err := st.Coverage(t.Context(), scope)
	if err != nil || len(gaps) == 0 || gaps[0].State != earshot.Missing || gaps[0].Why != earshot.ErasedBefore {
		t.Errorf("the coverage is %+v, %v", gaps, err)
	}
	turns, err := st.Turns(t.Context(), earshot.ConversationID{Agent: earshot.AgentID(x.self), Scope: scope, Name: root}, 0)
	if err != nil || len(turns) != 1 || turns[0].Usage != spent || len(turns[0].Session)+len(turns[0].Ledger) > 0 {
		t.Errorf("the turns are %+v, %v, want one with its usage", turns, err)
	}
}
