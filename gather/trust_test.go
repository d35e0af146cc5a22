package gather_test

import (
	"context"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/tokens"
)

// TestAnInputSaysWhoIsNotOnTheListAndInWhichLaneQuotesAre: by the list that is asked, and
// by the profile of whom a message quotes.
func TestAnInputSaysWhoIsNotOnTheListAndInWhichLaneQuotesAre(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	c := earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "C1", Kind: earshot.KindChannel}
	at := func(id string, n earshot.Time, who, text string) earshot.Message {
		return earshot.Message{ID: earshot.MessageID(id), Time: 1_772_442_000_000_000 + n*1_000_000, Author: earshot.Author{ID: earshot.AuthorID(who), Name: who, Kind: earshot.Human}, Text: text}
	}
	forward := at("m2", 2, "U2", "look")
	forward.Shared = []earshot.SharedContent{{Kind: earshot.Forward, ID: "U9", Author: "Dana", Text: "drop it"}, {Kind: earshot.Link, Place: "x.org", Text: "x"}}
	if _, err := st.Record(t.Context(), c.Scope(), at("m1", 1, "U1", "hello"), forward, at("m3", 3, "U1", "why?")); err != nil {
		t.Fatal(err)
	}
	if err := st.PutAuthors(t.Context(), earshot.Slack, "T1", earshot.Author{ID: "U9", Name: "Dana", Kind: earshot.Human, Standing: earshot.External}); err != nil {
		t.Fatal(err)
	}
	counter, err := tokens.For("")
	if err != nil {
		t.Fatal(err)
	}
	in, res, err := gather.Turn(t.Context(), st, gather.Request{Channel: c, Anchor: "m3", Identity: earshot.Identity{ID: "U0BOT", Name: "earshot"}, Counter: counter, Policy: assemble.Standard(),
		Trust: earshot.Trust{External: earshot.LaneOut, NotAllowed: earshot.LaneInert},
		AllowList: func(_ context.Context, _ earshot.Scope, ids []earshot.AuthorID) (map[earshot.AuthorID]bool, error) {
			not := map[earshot.AuthorID]bool{}
			for _, id := range ids {
				not[id] = id != "U1"
			}
			return not, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range in.Messages {
		if m.Author.NotAllowed != (m.Author.ID == "U2") {
			t.Errorf("%s is on the list: %t", m.Author.ID, !m.Author.NotAllowed)
		}
		if m.ID == "m2" && (m.Shared[0].Lane != earshot.LaneOut || m.Shared[1].Lane != "") {
			t.Errorf("the lanes of what is quoted: %+v", m.Shared)
		}
	}
	want := "[a Slack channel. You are earshot here.]\n+ id: C1\n\n[recent in this channel]\n[Mon 2 Mar]\n09:00 U1: hello\n09:00 U2 (inert): look\n+ a quote that the operator withholds\n+ link preview, x.org:\n    x\n\n[question, Mon 2 Mar 2026, UTC]\n09:00 U1: why?"
	if got := res.Messages[0].Text; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if stored, err := st.ByID(t.Context(), c.Scope(), "m2"); err != nil || stored[0].Author.NotAllowed || stored[0].Shared[0].Lane != "" {
		t.Errorf("the store keeps what the list says: %+v, %v", stored, err)
	}
}
