package counted

import (
	"fmt"
	"testing"

	"github.com/earshot-ai/earshot"
)

// A Bound is the most that one request or command may ask of a store.
type Bound struct{ Calls, Rows int }

// Check reports what st has counted over the bound.
func (b Bound) Check(t testing.TB, st *Store, what string) {
	t.Helper()
	if calls, rows := st.Counts(); calls > b.Calls || rows > b.Rows {
		t.Errorf("%s: %d calls of the store that return %d rows; the bound is %d and %d", what, calls, rows, b.Calls, b.Rows)
	}
}

// Crowd puts many channels into a store, half of them in the workspace T1 and the rest a
// hundred to a workspace: 100,000, and 2,000 with -short. It returns the store as one
// that counts.
func Crowd(t testing.TB, of earshot.Store) *Store {
	t.Helper()
	list := make([]earshot.Channel, Channels())
	for i := range list {
		w := earshot.WorkspaceID("T1")
		if i >= len(list)/2 {
			w = earshot.WorkspaceID(fmt.Sprint("W", i/100))
		}
		list[i] = earshot.Channel{Platform: earshot.Slack, Workspace: w, ID: earshot.ChannelID(fmt.Sprint("K", i)), Name: fmt.Sprint("room-", i), Kind: earshot.KindChannel}
	}
	st := New(of)
	if err := st.PutChannels(t.Context(), list...); err != nil {
		t.Fatal(err)
	}
	return st
}

// Channels is how many channels Crowd puts into a store.
func Channels() int {
	if testing.Short() {
		return 2_000
	}
	return 100_000
}
