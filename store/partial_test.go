package store_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/erasure"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/store/storetest"
	"github.com/google/go-cmp/cmp"
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
	disk, err := store.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "x.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	st := store.Partial(disk, all, nil)
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
	named := func(when string, want, onDisk int) { // who has a name after a profile of Alice's
		t.Helper()
		if err := st.PutAuthors(t.Context(), scope.Platform, scope.Workspace, earshot.Author{ID: alice.ID, Name: "Alice", Kind: earshot.Human}); err != nil {
			t.Fatal(err)
		}
		here, err := st.Authors(t.Context(), scope.Platform, scope.Workspace)
		there, problem := disk.Authors(t.Context(), scope.Platform, scope.Workspace)
		if err != nil || problem != nil || len(here) != want || len(there) != onDisk {
			t.Errorf("%s: %d names, %d of them on the disk, %v, %v; want %d and %d", when, len(here), len(there), err, problem, want, onDisk)
		}
	}
	said("1", now-2)
	named("at first", 1, 0)
	e, err := st.BeginErasure(t.Context(), earshot.ErasureOf{Platform: scope.Platform, Workspace: scope.Workspace, User: alice.ID, Forget: true})
	if err == nil {
		_, err = erasure.Run(t.Context(), st, e.ID, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	named("erased", 0, 0)
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
	named("remembered", 1, 0)
	said("4", later+1)
	if !shown("4") || shown("3") {
		t.Errorf("of a remembered person the channel shows 4: %t, 3: %t", shown("4"), shown("3"))
	}
}

// TestADraftOfATransientChannelIsInMemory: the disk has ids and counts of it, and
// decides which of several is committed; what it is made of dies with the process or
// with what it shows.
func TestADraftOfATransientChannelIsInMemory(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	disk, err := store.Open(t.Context(), "sqlite:"+path, nil)
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(err)
	st := store.Partial(disk, all, nil)
	defer st.Close()
	scope := earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "C1"}
	for i := range 6 {
		_, err := st.Record(t.Context(), scope, earshot.Message{ID: earshot.MessageID(fmt.Sprint("m", i)), Time: earshot.Time(i + 1), Text: "canary"})
		check(err)
	}
	opens := func(name string, shows ...earshot.MessageID) earshot.Draft {
		t.Helper()
		d, err := st.OpenDraft(t.Context(), earshot.Draft{
			Conversation: earshot.ConversationID{Agent: "A", Scope: scope, Name: name}, Anchor: shows[0], Asked: []byte("asked canary"), Expires: 100,
			Prompt: earshot.Prompt{Input: []byte("input canary"), Hash: "h", Shows: shows},
			Turn:   earshot.Turn{Session: []earshot.SessionEntry{{Role: earshot.User, Text: "session canary"}}},
		})
		check(err)
		if len(d.Asked) == 0 || len(d.Prompt.Input) == 0 || len(d.Turn.Session) != 1 {
			t.Fatalf("opened %+v", d)
		}
		read, err := st.Draft(t.Context(), d.ID)
		check(err)
		if diff := cmp.Diff(read, d); diff != "" {
			t.Errorf("read (-got +want):\n%s", diff)
		}
		return d
	}
	onDisk := func() {
		t.Helper()
		for p, err := range disk.Locate(t.Context(), "canary", nil) {
			check(err)
			t.Errorf("the disk has %+v", p)
		}
	}
	reply := earshot.Message{ID: "r", Time: 50, Text: "reply canary"}
	commit := func(st earshot.Store, d earshot.Draft, now earshot.Time, m earshot.Message) error {
		_, err := st.CommitDraft(t.Context(), d.ID, d.Turn, now, m)
		return err
	}

	one, two := opens("a", "m0"), opens("a", "m1")
	ask := earshot.Approval{ID: "ask1", Turn: one.ID, Asker: "U1", Call: "c1", Tool: "deploy", Args: []byte(`{"to":"canary"}`), Asked: 5, Expires: 90}
	if _, err := st.AskDraft(t.Context(), ask); !errors.Is(err, earshot.ErrInvalid) { // the words would wait on the disk
		t.Errorf("a draft that asks: %v, want it to be refused", err)
	}
	onDisk()
	other := store.Partial(disk, all, nil) // another process
	if err := commit(other, one, 10, reply); !errors.Is(err, earshot.ErrConflict) {
		t.Errorf("in another process: %v, want a conflict", err)
	}
	check(commit(st, one, 10, reply))
	check(commit(st, one, 10, earshot.Message{ID: "again", Time: 51, Text: "x"}))
	if err := commit(st, two, 10, reply); !errors.Is(err, earshot.ErrConflict) {
		t.Errorf("the second of two: %v, want a conflict", err)
	}
	list, err := st.ByID(t.Context(), scope, "r", "again")
	if err != nil || len(list) != 1 || list[0].Text != "reply canary" {
		t.Errorf("recorded %+v, %v, want the first reply", list, err)
	}
	q, err := st.QueuedTurn(t.Context(), one.ID)
	if err != nil || q.State != earshot.TurnDone || q.Hash != "h" || q.Input != nil {
		t.Errorf("queued %+v, %v", q, err)
	}
	onDisk()

	gone := opens("b", "m2", "m3")
	_, err = st.Record(t.Context(), scope, earshot.Message{ID: "m3", Time: 4, Deleted: true})
	check(err)
	if d, err := st.Draft(t.Context(), gone.ID); err != nil || d.Prompt.Input != nil || len(d.Turn.Session) > 0 {
		t.Errorf("after a deletion: %+v, %v", d, err)
	}
	if err := commit(st, gone, 10, reply); !errors.Is(err, earshot.ErrConflict) {
		t.Errorf("after a deletion: %v, want a conflict", err)
	}
	late, aborted := opens("c", "m4"), opens("d", "m5")
	if err := commit(st, late, 101, reply); !errors.Is(err, earshot.ErrExpired) {
		t.Errorf("late: %v, want that it expired", err)
	}
	_, err = st.AbortDraft(t.Context(), aborted.ID)
	check(err)
	if err := commit(st, aborted, 10, reply); !errors.Is(err, earshot.ErrExpired) {
		t.Errorf("aborted: %v, want that it expired", err)
	}
	_, err = st.PruneDrafts(t.Context(), 101)
	check(err)
	for p, err := range st.Locate(t.Context(), "input canary", nil) {
		check(err)
		t.Errorf("after a prune: %+v", p)
	}
}

// TestOfAnAwayNoticeOnlyItsKeyStays: of the notice to somebody whose question was dropped
// the disk keeps the key, a hash by which nobody is told twice, and the notice's words,
// which are always the same; nothing of the question, and no name.
func TestOfAnAwayNoticeOnlyItsKeyStays(t *testing.T) {
	t.Parallel()
	st := partly(t, all)
	defer st.Close()
	ctx, scope := t.Context(), earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "C1"}
	now := earshot.TimeOf(time.Now())
	drop := func(n int, at earshot.Time) error {
		of := earshot.ConversationID{Agent: "bot", Scope: scope, Name: fmt.Sprint("c", n)}
		m := earshot.Message{ID: earshot.MessageID(fmt.Sprint("m", n)), Time: at, Author: earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}, Text: "a canary?"}
		a, err := st.Accept(ctx, scope, earshot.Event{Delivery: string(m.ID), Received: at, Message: m}, &of)
		if err != nil {
			t.Fatal(err)
		}
		l, _, err := st.Claim(ctx, "bot", "me", at, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		told := st.PutPost(ctx, l, earshot.Post{Turn: a.Turn, Key: "away-hash", State: earshot.PostAmbiguous, Text: "I was away"})
		if err := errors.Join(st.Finish(ctx, l, a.Turn, earshot.TurnDropped, "stale", nil), st.Release(ctx, l, 0)); err != nil {
			t.Fatal(err)
		}
		return told
	}
	if err := drop(1, now); err != nil {
		t.Fatal(err)
	}
	if err := drop(2, now+1); !errors.Is(err, earshot.ErrConflict) {
		t.Errorf("a second notice of the hour: got %v, want a conflict", err)
	}
	if err := erasure.Scrub(ctx, st, time.Minute); err != nil {
		t.Fatal(err)
	}
	left := map[string][]string{}
	for _, text := range []string{"canary", "Alice", "I was away", "away-hash"} {
		for p, err := range st.Locate(ctx, text, nil) {
			if err != nil {
				t.Fatal(err)
			}
			if p.Table != "" && !strings.HasPrefix(p.Table, "memory ") { // "" is the bytes of the file
				left[text] = append(left[text], p.Table+"."+p.Column)
			}
		}
	}
	if diff := cmp.Diff(left, map[string][]string{"away-hash": {"outbox.key"}, "I was away": {"outbox.text"}}); diff != "" {
		t.Errorf("got -, want +:\n%s", diff)
	}
}

// TestOfAnApprovalInATransientChannelNoWordsStay: a turn that waits for a person goes on
// with its journal where nothing of what it had read was deleted, in the process that
// knows what that was. After its end the disk has no words of it, or of who was content.
func TestOfAnApprovalInATransientChannelNoWordsStay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		deletes, restarts bool
		want              int // steps that are kept
	}{
		"nothing is deleted":            {want: 1},
		"what the prompt had showed is": {deletes: true},
		"another process goes on":       {restarts: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			ctx := t.Context()
			disk, err := store.Open(ctx, "sqlite:"+filepath.Join(t.TempDir(), "x.db"), nil)
			check(err)
			st := store.Partial(disk, all, nil)
			defer st.Close()
			scope := earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "C1"}
			_, err = st.Record(ctx, scope, earshot.Message{ID: "1", Time: 1, Text: "canary"})
			check(err)
			id := earshot.ConversationID{Agent: "A", Scope: scope, Name: "2"}
			out, err := st.Accept(ctx, scope, earshot.Event{Message: earshot.Message{ID: "2", Time: 2, Text: "canary"}}, &id)
			check(err)
			l, _, err := st.Claim(ctx, "A", "p1", 3, time.Second)
			check(err)
			check(st.Begin(ctx, l, out.Turn, earshot.Prompt{Hash: "a", Input: []byte("canary"), Shows: []earshot.MessageID{"1"}}))
			check(st.AddStep(ctx, l, out.Turn, earshot.Step{Data: []byte("canary")}))
			a, err := st.AskApproval(ctx, l, earshot.Approval{ID: "k", Turn: out.Turn, Call: "c", Args: []byte("canary"), Expires: 9})
			check(err)
			waits, err := st.AwaitApprovals(ctx, l, out.Turn)
			check(err)
			check(st.Release(ctx, l, 0))
			if !waits {
				t.Fatal("the turn does not wait")
			}
			if c.deletes {
				_, err = st.Record(ctx, scope, earshot.Message{ID: "1", Time: 1, Deleted: true})
				check(err)
			}
			if c.restarts {
				st = store.Partial(disk, all, nil)
			}
			_, err = st.DecideApproval(ctx, a.ID, earshot.Decision{State: earshot.ApprovalAgreed, SHA256: a.SHA256, By: "U1", Why: "canary", Time: 4})
			check(err)
			l, _, err = st.Claim(ctx, "A", "p1", 5, time.Second)
			check(err)
			check(st.Begin(ctx, l, out.Turn, earshot.Prompt{Hash: "b", Input: []byte("canary"), Keeps: true}))
			steps, err := st.Steps(ctx, out.Turn)
			check(err)
			if len(steps) != c.want {
				t.Errorf("%d steps are kept, want %d", len(steps), c.want)
			}
			check(st.NoteApproval(ctx, l, a.ID, "canary"))
			check(st.Finish(ctx, l, out.Turn, earshot.TurnDone, "", &earshot.Turn{Answer: earshot.Answer{Anchor: "2"}}))
			check(st.PutFeedback(ctx, earshot.Feedback{Turn: out.Turn, Author: "U1", Good: true, Reason: "canary", Time: 6}))
			opinions, err := st.Feedback(ctx, earshot.FeedbackQuery{Turn: out.Turn})
			check(err)
			if len(opinions) != 1 || !opinions[0].Good {
				t.Errorf("feedback is %+v", opinions)
			}
			for p, err := range disk.Locate(ctx, "canary", nil) {
				check(err)
				if p.Table != "" { // files are scrubbed later
					t.Errorf("the disk has it in %+v", p)
				}
			}
		})
	}
}
