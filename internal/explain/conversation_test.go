package explain_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/store"
)

// owned is a channel with one conversation of u1 and many turns in it, and one of
// nobody's.
func owned(t *testing.T, turns int) (*explain.Reader, earshot.ConversationID, earshot.ConversationID) {
	t.Helper()
	ctx := t.Context()
	st, err := store.Open(ctx, "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	if err := st.PutChannel(ctx, channel); err != nil {
		t.Fatal(err)
	}
	theirs := earshot.ConversationID{Agent: "UBOT", Scope: channel.Scope(), Name: "q0"}
	nobodys := earshot.ConversationID{Agent: "UBOT", Scope: channel.Scope(), Name: "other"}
	if _, _, err := st.CreateConversation(ctx, earshot.Conversation{ID: theirs, About: earshot.About{Owner: "u1"}}, ""); err != nil {
		t.Fatal(err)
	}
	ask := func(of earshot.ConversationID, id earshot.MessageID, n int) {
		at := earshot.Time(n+1) * 60e6
		m := earshot.Message{ID: id, Time: at, Author: alice, Text: "what?"}
		if n > 0 {
			m.Thread = earshot.MessageID(of.Name)
		}
		if _, err := st.Accept(ctx, of.Scope, earshot.Event{Received: at, Message: m}, &of); err != nil {
			t.Fatal(err)
		}
		l, list, err := st.Claim(ctx, "UBOT", "test", at, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if err := st.Begin(ctx, l, list[0].ID, earshot.Prompt{Hash: "h", Input: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
		if err := st.Finish(ctx, l, list[0].ID, earshot.TurnDone, "", &earshot.Turn{Answer: earshot.Answer{Anchor: id}, Usage: earshot.Usage{Input: 10}}); err != nil {
			t.Fatal(err)
		}
		if err := st.Release(ctx, l, 0); err != nil {
			t.Fatal(err)
		}
	}
	for n := range turns {
		ask(theirs, earshot.MessageID(fmt.Sprintf("q%d", n)), n)
	}
	ask(nobodys, "other", 0)
	return explain.New(st, search.New(st, nil), explain.Options{}), theirs, nobodys
}

// user is somebody with a token of an issuer.
func user(subject string) access.Principal {
	return access.Principal{ID: "user:" + subject, Kind: access.User, Subject: subject, Reach: access.Reach{Workspaces: []earshot.WorkspaceID{channel.Workspace}}}
}

func TestAnotherUsersConversationIsNeitherShownNorListedNorSummed(t *testing.T) {
	t.Parallel()
	s, theirs, nobodys := owned(t, 3)
	ctx := t.Context()
	for subject, sees := range map[string]bool{"u1": true, "u2": false} {
		p := user(subject)
		w, err := s.WholeConversation(ctx, p, theirs, 0)
		if ok := err == nil && len(w.Turns) == 3; ok != sees {
			t.Errorf("%s reads the conversation of u1: %d turns, %v", subject, len(w.Turns), err)
		}
		if r, is := visible.AsRefusal(err); err != nil && (!is || r.Kind != visible.NotFound) {
			t.Errorf("%s is refused with %v", subject, err)
		}
		if w, err := s.WholeConversation(ctx, p, nobodys, 0); err != nil || len(w.Turns) != 1 {
			t.Errorf("%s reads nobody's conversation: %d turns, %v", subject, len(w.Turns), err)
		}
		want := 1
		if sees {
			want = 2
		}
		if list, _, err := s.Conversations(ctx, p, visible.Place{}, "", 0, 10); err != nil || len(list) != want {
			t.Errorf("%s lists %d conversations, %v", subject, len(list), err)
		}
		turns := 1
		if sees {
			turns = 4
		}
		if list, _, err := s.Spending(ctx, p, explain.SpendingQuery{}); err != nil || len(list) != turns {
			t.Errorf("%s sums %d turns, %v", subject, len(list), err)
		}
	}
}

func TestALongConversationIsReadByPages(t *testing.T) {
	t.Parallel()
	s, theirs, _ := owned(t, 230)
	var seen []earshot.TurnID
	for before, pages := earshot.TurnID(0), 0; ; pages++ {
		w, err := s.WholeConversation(t.Context(), everyone, theirs, before)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range w.Turns {
			if i > 0 && x.History < w.Turns[i-1].History {
				t.Errorf("the history shrinks at turn %d", x.Queued.ID)
			}
			if x.Calls != 1 || x.Usage.Input != 10 {
				t.Errorf("turn %d asked %d times for %+v", x.Queued.ID, x.Calls, x.Usage)
			}
		}
		for i := len(w.Turns) - 1; i >= 0; i-- {
			seen = append(seen, w.Turns[i].Queued.ID)
		}
		if w.Older == 0 {
			if pages != 2 || len(seen) != 230 {
				t.Errorf("%d turns on %d pages", len(seen), pages+1)
			}
			break
		}
		before = w.Older
	}
	for i := 1; i < len(seen); i++ {
		if seen[i] >= seen[i-1] {
			t.Fatalf("turn %d comes after turn %d", seen[i], seen[i-1])
		}
	}
}

func TestConversationsAreListedByPages(t *testing.T) {
	t.Parallel()
	s, theirs, nobodys := owned(t, 3)
	first, more, err := s.Conversations(t.Context(), everyone, visible.Place{}, "", 0, 1)
	if err != nil || len(first) != 1 || first[0].ID != nobodys || more == 0 {
		t.Fatalf("%d conversations, more before %d, %v", len(first), more, err)
	}
	next, more, err := s.Conversations(t.Context(), everyone, visible.Place{}, "", more, 1)
	if err != nil || len(next) != 1 || next[0].ID != theirs || next[0].Turns != 3 || next[0].About.Owner != "u1" || more != 0 {
		t.Errorf("%+v, more before %d, %v", next, more, err)
	}
}

func TestACapabilityHasNoConversationsAndNoCosts(t *testing.T) {
	t.Parallel()
	s, theirs, _ := owned(t, 1)
	p := access.Principal{Kind: access.Capability, ID: "x", Fixed: &access.CapabilityScope{Scope: channel.Scope()}}
	for name, f := range map[string]func() error{
		"conversation":  func() error { _, err := s.WholeConversation(t.Context(), p, theirs, 0); return err },
		"conversations": func() error { _, _, err := s.Conversations(t.Context(), p, visible.Place{}, "", 0, 1); return err },
		"spending":      func() error { _, _, err := s.Spending(t.Context(), p, explain.SpendingQuery{}); return err },
		"coverage": func() error {
			_, err := s.Coverage(t.Context(), p, visible.Place{Channel: channel.ID})
			return err
		},
		"coverages": func() error { _, _, err := s.Coverages(t.Context(), p, nil, 1); return err },
	} {
		var r *visible.Refusal
		if err := f(); !errors.As(err, &r) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
