package daemon

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/store"
)

// TestWhoHasHeardAll: while another process runs, and once after it has ended, this
// one has not heard all of a channel that is not stored.
func TestWhoHasHeardAll(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	keep := config.Retention{Days: config.KeepForever, Keep: []config.Retaining{{Channel: "C1", Days: config.KeepNone}}}
	h := newHearing(sharedParts{options: Options{Config: config.Config{Retention: keep}}, store: st, owner: "me"})
	scope := earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "C1"}
	beats := func(owner string, ended bool) {
		t.Helper()
		data, err := json.Marshal(Presence{Owner: owner, Seen: earshot.TimeOf(time.Now()), Ended: ended})
		if err == nil {
			err = st.PutNote(t.Context(), earshot.Note{Key: presenceKey + owner, Data: data})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	check := func(what string, s earshot.Scope, want bool) {
		t.Helper()
		if got := h.partial(t.Context(), s); got != want {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	beats("me", false)
	check("alone", scope, false)
	beats("other", false)
	check("beside another", scope, true)
	check("beside it again", scope, true)
	check("in a channel that is stored", earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "C2"}, false)
	beats("other", true)
	check("after it has ended", scope, true)
	check("and then", scope, false)
}
