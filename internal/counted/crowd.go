package counted

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store"
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

// Crowd makes a SQLite file with many channels, half of them in the workspace T1 and
// the rest a hundred to a workspace, and returns its path and how many there are:
// 100,000, and 2,000 with -short.
func Crowd(t testing.TB) (path string, channels int) {
	t.Helper()
	channels = 100_000
	if testing.Short() {
		channels = 2_000
	}
	path = filepath.Join(t.TempDir(), "crowd.db")
	st, err := store.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	list := make([]earshot.Channel, channels)
	for i := range list {
		w := earshot.WorkspaceID("T1")
		if i >= channels/2 {
			w = earshot.WorkspaceID(fmt.Sprint("W", i/100))
		}
		list[i] = earshot.Channel{Platform: earshot.Slack, Workspace: w, ID: earshot.ChannelID(fmt.Sprint("K", i)), Name: fmt.Sprint("room-", i), Kind: earshot.KindChannel}
	}
	if err := st.(earshot.Bulk).PutChannels(t.Context(), list...); err != nil { //nolint:forcetypeassert // every store of package store is one
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	return path, channels
}

// Open opens a store that counts, until the test ends.
func Open(t testing.TB, path string) *Store {
	t.Helper()
	st, err := store.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return New(st)
}
