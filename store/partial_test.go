package store_test

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/erasure"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/store/storetest"
)

func none(earshot.Scope) bool { return false }
func all(earshot.Scope) bool  { return true }

// partly opens a store over a new SQLite file.
func partly(t *testing.T, transient func(earshot.Scope) bool) store.Transient {
	t.Helper()
	disk, err := store.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "x.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return store.Partial(disk, transient, nil)
}

// TestPartialWithoutTransientChannels: the wrapper changes nothing of what a store
// promises.
func TestPartialWithoutTransientChannels(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) earshot.Store { return partly(t, none) })
}

// TestPartialMessages: what is said in a transient channel is kept as any store
// keeps messages.
func TestPartialMessages(t *testing.T) {
	t.Parallel()
	storetest.RunMessages(t, func(t *testing.T) earshot.Messages { return partly(t, all) })
}

// TestPartialIsLookedThroughWhole: what the memory holds is located too, and what is
// deleted is scrubbed from the disk.
func TestPartialIsLookedThroughWhole(t *testing.T) {
	t.Parallel()
	st := partly(t, func(s earshot.Scope) bool { return s.Channel == "C2" })
	defer st.Close()
	tables := func() (out []string) {
		for p, err := range st.Locate(t.Context(), "canary", nil) {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, p.Table)
		}
		return out
	}
	m := earshot.Message{ID: "1", Time: 1, Text: "canary"}
	for _, c := range []earshot.ChannelID{"C1", "C2"} {
		if _, err := st.Record(t.Context(), earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: c}, m); err != nil {
			t.Fatal(err)
		}
	}
	if got := tables(); !slices.Contains(got, "message") || !slices.Contains(got, "memory channels") {
		t.Errorf("found in %q", got)
	}
	for _, c := range []earshot.ChannelID{"C1", "C2"} {
		if _, err := st.Record(t.Context(), earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: c}, earshot.Message{ID: "1", Time: 1, Deleted: true}); err != nil {
			t.Fatal(err)
		}
	}
	if err := erasure.Scrub(t.Context(), st, 30*time.Second); err != nil {
		t.Fatal(err)
	}
	if got := tables(); len(got) != 0 {
		t.Errorf("left in %q", got)
	}
}

// TestAnErasureReachesWhatIsInMemory: another process erases a person, and the next
// turn of this one sees nothing of that person.
func TestAnErasureReachesWhatIsInMemory(t *testing.T) {
	t.Parallel()
	disk, err := store.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "x.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	st := store.Partial(disk, all, nil)
	defer st.Close()
	scope := earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "C1"}
	now := earshot.TimeOf(time.Now())
	alice, bob := earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}, earshot.Author{ID: "U2", Name: "Bob", Kind: earshot.Human}
	if err := st.PutAuthors(t.Context(), earshot.Slack, "T1", alice, bob); err != nil {
		t.Fatal(err)
	}
	_, err = st.Record(t.Context(), scope,
		earshot.Message{ID: "1", Time: now - 2, Author: alice, Text: "said by Alice"},
		earshot.Message{ID: "2", Time: now - 1, Author: bob, Text: "said by Bob"})
	if err != nil {
		t.Fatal(err)
	}
	e, err := disk.BeginErasure(t.Context(), earshot.ErasureOf{Platform: earshot.Slack, Workspace: "T1", User: "U1"})
	if err == nil {
		_, err = erasure.Run(t.Context(), disk, e.ID, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	ask := &earshot.ConversationID{Agent: "A", Scope: scope, Name: "3"}
	question := earshot.Event{Message: earshot.Message{ID: "3", Time: now, Author: bob, Text: "and now?"}}
	if _, err := st.Accept(t.Context(), scope, question, ask); err != nil {
		t.Fatal(err)
	}
	if _, _, err := st.Claim(t.Context(), "A", "p1", now, time.Second); err != nil {
		t.Fatal(err)
	}
	list, err := st.Newest(t.Context(), scope, earshot.Whole(), earshot.Position{}, 10)
	if err != nil || len(list) != 2 || list[0].ID != "2" || list[1].ID != "3" {
		t.Errorf("the channel has %+v, %v, want Bob's messages", list, err)
	}
	people, err := st.Authors(t.Context(), earshot.Slack, "T1")
	if err != nil || len(people) != 1 || people[0].ID != "U2" {
		t.Errorf("the people are %+v, %v, want Bob", people, err)
	}
}

// TestARememberedPersonIsHeardInMemory: what a forgotten person says is heard again in
// a transient channel once the person is remembered.
func TestARememberedPersonIsHeardInMemory(t *testing.T) {
	t.Parallel()
	st := partly(t, all)
	defer st.Close()
	scope := earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "C1"}
	now := earshot.TimeOf(time.Now())
	alice, bob := earshot.Author{ID: "U1", Kind: earshot.Human}, earshot.Author{ID: "U2", Kind: earshot.Human}
	said := func(id earshot.MessageID, at earshot.Time) {
		t.Helper()
		if _, err := st.Record(t.Context(), scope, earshot.Message{ID: id, Time: at, Author: alice, Text: "said by Alice"}); err != nil {
			t.Fatal(err)
		}
	}
	shown := func(id earshot.MessageID) bool {
		t.Helper()
		list, err := st.Newest(t.Context(), scope, earshot.Whole(), earshot.Position{}, 10)
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(list, func(m earshot.Message) bool { return m.ID == id })
	}
	said("1", now-2)
	e, err := st.BeginErasure(t.Context(), earshot.ErasureOf{Platform: scope.Platform, Workspace: scope.Workspace, User: alice.ID, Forget: true})
	if err == nil {
		_, err = erasure.Run(t.Context(), st, e.ID, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	// The memory follows the erasure at the next claim.
	ask := &earshot.ConversationID{Agent: "A", Scope: scope, Name: "2"}
	if _, err := st.Accept(t.Context(), scope, earshot.Event{Message: earshot.Message{ID: "2", Time: now - 1, Author: bob, Text: "and now?"}}, ask); err != nil {
		t.Fatal(err)
	}
	if _, _, err := st.Claim(t.Context(), "A", "p1", now, time.Second); err != nil {
		t.Fatal(err)
	}
	later := earshot.TimeOf(time.Now().Add(time.Hour))
	said("3", later)
	if shown("1") || shown("3") {
		t.Errorf("of a forgotten person the channel shows 1: %t, 3: %t", shown("1"), shown("3"))
	}
	if err := st.Remember(t.Context(), scope.Platform, scope.Workspace, alice.ID); err != nil {
		t.Fatal(err)
	}
	said("4", later+1)
	if !shown("4") || shown("3") {
		t.Errorf("of a remembered person the channel shows 4: %t, 3: %t", shown("4"), shown("3"))
	}
}
