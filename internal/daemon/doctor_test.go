package daemon_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/store"
)

// examined is what the doctor finds over a store, by what it is about.
func examined(t *testing.T, c config.Config) map[string]daemon.Finding {
	t.Helper()
	out := map[string]daemon.Finding{}
	daemon.Doctor(t.Context(), daemon.Options{Config: c, Version: "1.2.3"}, func(f daemon.Finding) {
		if _, twice := out[f.What]; twice {
			t.Errorf("%s is said twice", f.What)
		}
		out[f.What] = f
	})
	return out
}

func wantFinding(t *testing.T, found map[string]daemon.Finding, what string, state daemon.FindingState, text string) {
	t.Helper()
	if f := found[what]; f.State != state || !strings.Contains(f.Found, text) {
		t.Errorf("%s: got %+v, want %s with %q", what, f, state, text)
	}
}

// Messages that named the bot and got no turn are counted by their reason, as far back as
// a day and no further than a bounded number of them.
func TestTheDoctorCountsWhatWasRefused(t *testing.T) {
	t.Parallel()
	c := defaults(t)
	c.Store = "sqlite:" + filepath.Join(t.TempDir(), "earshot.db")
	st, err := store.Open(t.Context(), c.Store, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	n := 0
	refuse := func(why earshot.Refusal, ago time.Duration) {
		t.Helper()
		n++
		at := earshot.TimeOf(time.Now().Add(-ago))
		id := earshot.ConversationID{Agent: "earshot", Scope: earshot.Scope{Platform: "local", Workspace: "local", Channel: "C1"}, Name: "top"}
		if _, err := st.Accept(t.Context(), id.Scope, earshot.Event{
			Received: at, Refused: why, Message: earshot.Message{ID: earshot.MessageID(fmt.Sprint(n)), Time: at, Author: earshot.Author{ID: "U1"}, Text: "@earshot?"},
		}, &id); err != nil {
			t.Fatal(err)
		}
	}
	for what := range examined(t, c) {
		if strings.HasPrefix(what, "refused") {
			t.Errorf("of a store without refusals it says %s", what)
		}
	}
	refuse(earshot.RefusedForm, 25*time.Hour)
	refuse(earshot.RefusedBot, 23*time.Hour)
	refuse(earshot.RefusedBot, time.Hour)
	refuse(earshot.RefusedGroupUnknown, time.Hour)
	found := examined(t, c)
	wantFinding(t, found, "refused messages (bot)", daemon.Unknown, "2 messages in the last day: another bot mentioned it")
	wantFinding(t, found, "refused messages (group-unknown)", daemon.Poor, "1 message in the last day: a group was mentioned")
	if got := found["refused messages (bot)"].Remedy; got != "answer.bots: true answers other bots; earshot turns --refused lists them" {
		t.Errorf("the remedy is %q", got)
	}
	if f, ok := found["refused messages (form)"]; ok {
		t.Errorf("of the day before it says %+v", f)
	}
	for range 1000 {
		refuse(earshot.RefusedLate, time.Minute)
	}
	wantFinding(t, examined(t, c), "refused messages (edited-late)", daemon.Unknown, "1,000 messages since ")
}

// Each trouble that the store tells of is a finding with a remedy; without any, the same
// things are well.
func TestTheDoctorReadsWhatTheStoreTells(t *testing.T) {
	t.Parallel()
	c := defaults(t)
	c.Store = "sqlite:" + filepath.Join(t.TempDir(), "earshot.db")
	st, err := store.Open(t.Context(), c.Store, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	found := examined(t, c)
	wantFinding(t, found, "turns", daemon.Good, "nobody waits")
	wantFinding(t, found, "calls", daemon.Good, "0 calls")
	wantFinding(t, found, "daemons", daemon.Unknown, "none has run")
	wantFinding(t, found, "history", daemon.Unknown, "nothing was heard")
	for _, what := range []string{"parked turns", "failed turns", "erasures"} {
		if f, ok := found[what]; ok {
			t.Errorf("of a store without trouble it says %+v", f)
		}
	}

	general := earshot.Channel{Platform: "local", Workspace: "local", ID: "C1", Name: "general"}
	ops := earshot.Channel{Platform: "local", Workspace: "local", ID: "C2", Name: "ops"}
	now := time.Now()
	ago := func(d time.Duration) earshot.Time { return earshot.TimeOf(now.Add(-d)) }
	try := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	try(st.PutChannel(t.Context(), general))
	try(st.PutChannel(t.Context(), ops))
	for i, ch := range []earshot.Channel{general, ops} {
		_, err := st.Record(t.Context(), ch.Scope(), earshot.Message{ID: "1", Time: ago(time.Hour + time.Duration(i)), Author: earshot.Author{ID: "U1"}, Text: "hello"})
		try(err)
	}
	try(st.PutCoverage(t.Context(), ops.Scope(), earshot.Coverage{From: ago(2 * time.Hour), To: ago(time.Hour), State: earshot.Missing, Why: "downtime"}))
	try(st.AddCalls(t.Context(),
		earshot.CallCount{Platform: "slack", Workspace: "T1", Method: "conversations.replies", Hour: ago(time.Hour), Calls: 30, Limited: 10},
		earshot.CallCount{Platform: "slack", Workspace: "T1", Method: "chat.postMessage", Hour: ago(time.Hour), Calls: 30}))
	_, err = st.BeginErasure(t.Context(), earshot.ErasureOf{Platform: "local", Workspace: "local", Channel: "C9"})
	try(err)
	put := func(id earshot.MessageID, channel earshot.Channel, ask time.Duration) earshot.TurnID {
		t.Helper()
		of := earshot.ConversationID{Agent: "earshot", Scope: channel.Scope(), Name: string(id)}
		a, err := st.Accept(t.Context(), channel.Scope(), earshot.Event{
			Delivery: "E" + string(id), Received: ago(ask), Message: earshot.Message{ID: id, Time: ago(ask), Author: earshot.Author{ID: "U1"}, Text: "@earshot?"},
		}, &of)
		try(err)
		return a.Turn
	}
	failed := put("2", general, time.Minute)
	lease, _, err := st.Claim(t.Context(), "earshot", "me", earshot.TimeOf(now), time.Minute)
	try(err)
	try(st.Finish(t.Context(), lease, failed, earshot.TurnFailed, "the key was refused", nil))
	try(st.Release(t.Context(), lease, 0))
	parked := put("3", general, time.Minute)
	lease, _, err = st.Claim(t.Context(), "earshot", "me", earshot.TimeOf(now), time.Minute)
	try(err)
	try(st.Finish(t.Context(), lease, parked, earshot.TurnParked, "nobody knows", nil))
	try(st.Release(t.Context(), lease, 0))
	put("4", ops, time.Minute)

	found = examined(t, c)
	wantFinding(t, found, "turns", daemon.Good, "1 turn under way")
	wantFinding(t, found, "parked turns", daemon.Poor, "1 turn")
	wantFinding(t, found, "failed turns", daemon.Poor, "the key was refused")
	wantFinding(t, found, "calls", daemon.Poor, "slack conversations.replies: 30 calls in the last day, 10 refused")
	wantFinding(t, found, "history", daemon.Poor, "1 have stretches that were not heard: ops")
	wantFinding(t, found, "erasures", daemon.Poor, "has not ended")
	try(st.AddCalls(t.Context(), earshot.CallCount{Platform: "slack", Workspace: "T2", Method: "auth.test", Hour: ago(time.Hour), Calls: 1}))
	wantFinding(t, examined(t, c), "calls", daemon.Poor, "slack conversations.replies of T1: 30 calls in the last day, 10 refused")
	for what, f := range found {
		if f.State == daemon.Poor && f.Remedy == "" {
			t.Errorf("%s has no remedy: %+v", what, f)
		}
	}
}

// Beside a bot that runs its platform is not asked, but its probe.
func TestTheDoctorAsksTheProbeOfABotThatRuns(t *testing.T) {
	t.Parallel()
	c := defaults(t)
	c.Store = "sqlite:" + filepath.Join(t.TempDir(), "earshot.db")
	c.Local.Listen, c.Health.Listen = "127.0.0.1:0", "127.0.0.1:0"
	d, err := daemon.Open(t.Context(), daemon.Options{Config: c, Version: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	done := make(chan error, 1)
	go func() { done <- d.Run(t.Context()) }()
	for {
		if list, err := daemon.Presences(t.Context(), d.Store); err != nil || len(list) > 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	c.Health.Listen = d.Health
	found := examined(t, c)
	wantFinding(t, found, "daemons", daemon.Good, "a bot on local with the model offline")
	wantFinding(t, found, "probe", daemon.Good, "the bot that runs is ready: ok")
	c.Health.Listen = ""
	wantFinding(t, examined(t, c), "platform", daemon.Unknown, "not asked beside a bot that runs")
	c.Health.Listen = strings.TrimPrefix(answering(t, func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "slack: unreachable", http.StatusServiceUnavailable)
	}), "http://")
	wantFinding(t, examined(t, c), "probe", daemon.Bad, "slack: unreachable")
}
