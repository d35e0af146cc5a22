package counted

import (
	"fmt"
	"testing"

	"github.com/earshot-ai/earshot"
)

// A CallBound is the most that one request or command may ask of a store that Crowd filled.
// What lists all channels by its nature may ask for more with each of them.
type CallBound struct {
	Calls, Rows         int
	CallsEach, RowsEach int
}

// Check reports what st has counted over the bound.
func (b CallBound) Check(t testing.TB, st *Store, what string) {
	t.Helper()
	most := CallBound{Calls: b.Calls + b.CallsEach*st.Crowded, Rows: b.Rows + b.RowsEach*st.Crowded}
	if calls, rows := st.Counts(); calls > most.Calls || rows > most.Rows {
		t.Errorf("%s: %d calls of the store that return %d rows; the bound is %d and %d", what, calls, rows, most.Calls, most.Rows)
	}
}

// Crowd puts n channels into a store, half of them in the workspace T1 and the rest a
// hundred to a workspace. It returns the store as one that counts.
func Crowd(t testing.TB, of earshot.Store, n int) *Store {
	t.Helper()
	list := make([]earshot.Channel, n)
	for i := range list {
		w := earshot.WorkspaceID("T1")
		if i >= n/2 {
			w = earshot.WorkspaceID(fmt.Sprint("W", i/100))
		}
		list[i] = earshot.Channel{Platform: earshot.Slack, Workspace: w, ID: earshot.ChannelID(fmt.Sprint("K", i)), Name: fmt.Sprint("room-", i), Kind: earshot.KindChannel}
	}
	st := New(of)
	st.Crowded = n
	if err := st.PutChannels(t.Context(), list...); err != nil {
		t.Fatal(err)
	}
	return st
}

// Queue opens n turns in one conversation, for which nobody comes.
func Queue(t testing.TB, st earshot.Store, n int) {
	t.Helper()
	of := earshot.ConversationID{Agent: "away", Scope: earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "K0"}, Name: "asked"}
	for i := range n {
		m := earshot.Message{ID: earshot.MessageID(fmt.Sprint("q", i)), Time: earshot.Time(1 + i), Author: earshot.Author{ID: "U1", Kind: earshot.Human}, Text: "anybody?"}
		if _, err := st.Accept(t.Context(), of.Scope, earshot.Event{Delivery: string(m.ID), Received: m.Time, Message: m}, &of); err != nil {
			t.Fatal(err)
		}
	}
}

// Few are as many channels as a test has time for that reads each of them.
const Few = 2_000

// CrowdSize returns 100,000, and with -short Few.
func CrowdSize() int {
	if testing.Short() {
		return Few
	}
	return 100_000
}
