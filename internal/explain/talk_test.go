package explain_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/store"
)

// talk is a channel with seven messages at its top level, of which m3 has three
// replies, and m5 replies to m1.
func talk(t *testing.T) (earshot.Store, *explain.Reader) {
	t.Helper()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	if err := st.PutChannel(t.Context(), channel); err != nil {
		t.Fatal(err)
	}
	put := func(n int, id string, thread, replyTo earshot.MessageID) {
		m := earshot.Message{ID: earshot.MessageID(id), Time: earshot.Time(n * 1e6), Author: alice, Text: "text " + id, Thread: thread, ReplyTo: replyTo}
		if _, err := st.Record(t.Context(), channel.Scope(), m); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 7 {
		reply := earshot.MessageID("")
		if n == 5 {
			reply = "m1"
		}
		put(10+n, fmt.Sprintf("m%d", n), "", reply)
		if n < 3 {
			put(20+n, fmt.Sprintf("r%d", n), "m3", "")
		}
	}
	return st, explain.New(st, search.New(st, nil), explain.Options{})
}

func ids(list []earshot.Message) []earshot.MessageID {
	out := []earshot.MessageID{}
	for _, m := range list {
		out = append(out, m.ID)
	}
	return out
}

func TestTalkIsReadByPages(t *testing.T) {
	t.Parallel()
	_, s := talk(t)
	for name, c := range map[string]struct {
		q            explain.TalkQuery
		want         []earshot.MessageID
		older, newer bool
		next         earshot.MessageID
	}{
		"the newest":                    {explain.TalkQuery{Limit: 3}, []earshot.MessageID{"m4", "m5", "m6"}, true, false, ""},
		"older ones":                    {explain.TalkQuery{Limit: 3, Before: "m4"}, []earshot.MessageID{"m1", "m2", "m3"}, true, true, ""},
		"older ones with two above":     {explain.TalkQuery{Limit: 2, Before: "m3"}, []earshot.MessageID{"m1", "m2"}, true, true, "m5"},
		"the oldest":                    {explain.TalkQuery{Limit: 3, Before: "m1"}, []earshot.MessageID{"m0"}, false, true, "m4"},
		"before a reply":                {explain.TalkQuery{Limit: 2, Before: "r1"}, []earshot.MessageID{"m5", "m6"}, true, true, ""},
		"where few messages come after": {explain.TalkQuery{Limit: 2, At: "m1"}, []earshot.MessageID{"m5", "m6"}, true, false, ""},
		"a thread":                      {explain.TalkQuery{Thread: "m3"}, []earshot.MessageID{"m3", "r0", "r1", "r2"}, false, false, ""},
		"a page of a thread":            {explain.TalkQuery{Thread: "m3", Limit: 2, Before: "r2"}, []earshot.MessageID{"r0", "r1"}, true, true, ""},
	} {
		got, err := s.Talk(t.Context(), everyone, channel, c.q)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(ids(got.Messages), c.want); diff != "" {
			t.Errorf("%s: -got +want\n%s", name, diff)
		}
		if got.Older != c.older || got.Newer != c.newer || got.Next != c.next {
			t.Errorf("%s: older %v, newer %v, next %q; want %v, %v, %q", name, got.Older, got.Newer, got.Next, c.older, c.newer, c.next)
		}
	}
}

func TestTalkShowsAMessageWithSomeAfterIt(t *testing.T) {
	t.Parallel()
	st, s := talk(t)
	for n := range 30 {
		if _, err := st.Record(t.Context(), channel.Scope(), earshot.Message{ID: earshot.MessageID(fmt.Sprintf("x%02d", n)), Time: earshot.Time((100 + n) * 1e6), Author: alice, Text: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Talk(t.Context(), everyone, channel, explain.TalkQuery{At: "x05", Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	if list := ids(got.Messages); len(list) != 10 || list[1] != "x05" || !got.Newer {
		t.Errorf("got %v", list)
	}
}

func TestTalkHasWhatStandsBehindAMessage(t *testing.T) {
	t.Parallel()
	st, s := talk(t)
	got, err := s.Talk(t.Context(), everyone, channel, explain.TalkQuery{})
	if err != nil {
		t.Fatal(err)
	}
	if r := got.Threads["m3"]; len(got.Threads) != 1 || r.Count != 3 || r.Last != 22e6 || !cmp.Equal(ids(r.Newest), []earshot.MessageID{"r1", "r2"}) {
		t.Errorf("the threads are %+v", got.Threads)
	}
	if q := got.Quoted["m1"]; q.Text != "text m1" || len(got.Quoted) != 1 {
		t.Errorf("quoted are %+v", got.Quoted)
	}
	for _, id := range []earshot.MessageID{"m1", "m3"} {
		if _, err := st.Record(t.Context(), channel.Scope(), earshot.Message{ID: id, Deleted: true}); err != nil {
			t.Fatal(err)
		}
	}
	if got, err = s.Talk(t.Context(), everyone, channel, explain.TalkQuery{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ids(got.Deleted), []earshot.MessageID{"m1", "m3"}); diff != "" {
		t.Errorf("what was deleted: -got +want\n%s", diff)
	}
	if got.Threads["m3"].Count != 3 {
		t.Errorf("the thread of the deleted root is %+v", got.Threads["m3"])
	}
	if q, ok := got.Quoted["m1"]; !ok || !q.Deleted || q.Text != "" {
		t.Errorf("the deleted message that is replied to is %+v", q)
	}
	if got, err = s.Talk(t.Context(), everyone, channel, explain.TalkQuery{Limit: 3}); err != nil || len(got.Deleted) != 0 {
		t.Errorf("a page after what was deleted has %v, %v", got.Deleted, err)
	}
}

func TestTalkKnowsTheTurns(t *testing.T) {
	t.Parallel()
	st, s := talk(t)
	service := sidecar.New(st, search.New(st, nil), nil, sidecar.Options{})
	if _, err := service.PutAgent(t.Context(), everyone, visible.Agent{Identity: earshot.Identity{ID: "U0BOT", Name: "earshot"}, Workspace: "T1"}); err != nil {
		t.Fatal(err)
	}
	// A bot beside us answers m6.
	c, err := service.Context(t.Context(), everyone, sidecar.ContextRequest{Channel: visible.Place{Channel: "C1"}, Anchor: "m6", Agent: "U0BOT", Open: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = service.Commit(t.Context(), everyone, c.Draft.ID, sidecar.Reply{Text: "so", Messages: []earshot.Message{{ID: "a6", Text: "so"}}}); err != nil {
		t.Fatal(err)
	}
	// Our own turn for a message waits.
	ask := earshot.ConversationID{Agent: "U0BOT", Scope: channel.Scope(), Name: "m7"}
	e := earshot.Event{Delivery: "d7", Raw: []byte("{}"), Received: 30e6, Message: earshot.Message{ID: "m7", Time: 30e6, Author: alice, Text: "<@U0BOT> and?"}}
	accepted, err := st.Accept(t.Context(), channel.Scope(), e, &ask)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Talk(t.Context(), everyone, channel, explain.TalkQuery{})
	if err != nil {
		t.Fatal(err)
	}
	turns := map[earshot.MessageID]earshot.TurnID{}
	for id, q := range got.Turns {
		turns[id] = q.ID
	}
	if diff := cmp.Diff(turns, map[earshot.MessageID]earshot.TurnID{"m6": c.Draft.ID, "a6": c.Draft.ID, "m7": accepted.Turn}); diff != "" {
		t.Errorf("the turns by message: -got +want\n%s", diff)
	}
	if q := got.Turns["m7"]; q.State != earshot.TurnOpen {
		t.Errorf("the turn that waits is %s", q.State)
	}
}

func TestTalkOfAnotherChannelDoesNotExist(t *testing.T) {
	t.Parallel()
	_, s := talk(t)
	other := access.Principal{ID: "key:other", Kind: access.Key, Reach: access.Reach{Workspaces: []earshot.WorkspaceID{"T2"}}}
	var r *visible.Refusal
	if _, err := s.Talk(t.Context(), other, channel, explain.TalkQuery{}); !errors.As(err, &r) || r.Kind != visible.NotFound {
		t.Errorf("got %v", err)
	}
	if _, err := s.Talk(t.Context(), everyone, channel, explain.TalkQuery{Before: "nothing"}); !errors.Is(err, earshot.ErrNotFound) {
		t.Errorf("before a message that is not there: %v", err)
	}
}
