package slack_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
)

// What cannot be moved when Slack says that a channel has another id is moved once it can
// be, and so is what comes under the old id later, for a day.
func TestAChannelIsMovedOnceItCanBe(t *testing.T) {
	t.Parallel()
	x := leaving(t)
	old, now := x.scope(x.general), x.scope("C0NEW")
	say := func(scope earshot.Scope, id earshot.MessageID) {
		t.Helper()
		if _, err := x.store.Record(t.Context(), scope, earshot.Message{ID: id, Time: earshot.TimeOf(time.Now()), Author: earshot.Author{ID: "U1"}, Text: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	has := func(scope earshot.Scope, id earshot.MessageID) bool {
		t.Helper()
		_, err := x.store.Message(t.Context(), scope, id)
		if err != nil && !errors.Is(err, earshot.ErrNotFound) {
			t.Fatal(err)
		}
		return err == nil
	}
	erase := func(channel earshot.ChannelID) {
		t.Helper()
		e, err := x.store.BeginErasure(t.Context(), earshot.ErasureOf{Platform: old.Platform, Workspace: old.Workspace, Channel: channel, User: "U1"})
		for err == nil && e.Ended == 0 {
			e, err = x.store.StepErasure(t.Context(), e.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	// What was erased under the old id was heard under the new one.
	say(old, "9.000001")
	say(now, "9.000001")
	erase(old.Channel)
	if got := x.send(`{"type":"event_callback","event_id":"EvMove","team_id":"` + x.slack.Team().ID + `","event":{"type":"channel_id_changed","old_channel_id":"` +
		x.general + `","new_channel_id":"C0NEW"}}`); got != http.StatusOK {
		t.Fatalf("the event was answered with %d", got)
	}
	x.wantKept("at once", true)
	x.confirm()
	x.wantKept("when it is tried again", true)
	erase(now.Channel)
	x.confirm()
	x.wantKept("under the old id, once it can be moved", false)
	if !has(now, earshot.MessageID(x.ts)) {
		t.Error("what was said is not under the new id")
	}
	x.clock.forward(23 * time.Hour)
	say(old, "9.000002")
	x.confirm()
	if has(old, "9.000002") || !has(now, "9.000002") {
		t.Error("what came late was not moved")
	}
	x.clock.forward(2 * time.Hour)
	x.confirm()
	say(old, "9.000003")
	x.confirm()
	if !has(old, "9.000003") {
		t.Error("a day later it was moved")
	}
}
