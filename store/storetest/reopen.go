package storetest

import (
	"errors"
	"testing"

	"github.com/earshot-ai/earshot"
)

// Reopen tests a store that outlives its process: nothing may be lost between Close
// and the next opening. For each test open returns a function that opens one and the
// same store each time that it is called, a new and empty one the first time. The
// tests run in parallel.
func Reopen(t *testing.T, open func(t *testing.T) func() earshot.Store) {
	reopenQueue(t, open)
	t.Run("Events of two replicas", func(t *testing.T) {
		t.Parallel()
		for _, h := range histories {
			t.Run(h.kind, func(t *testing.T) {
				t.Parallel()
				again := open(t)
				a, b := again(), again()
				h.tell(t, a, b)
				requireNoError(t, errors.Join(a.Close(), b.Close()))
			})
		}
	})
	t.Run("an erasure goes on after a restart", func(t *testing.T) {
		t.Parallel()
		again := open(t)
		s := &suite{T: t, Store: again(), scope: earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "C1"}}
		s.personOf()
		for n := range 300 {
			s.record(messageBy(100+n, "U2", "Bea", "canarytext"))
		}
		e, err := s.BeginErasure(t.Context(), s.ofPerson("U2"))
		s.check(err)
		for removed := 0; e.Ended == 0; removed = e.Removed.Messages { // each step by another process
			e, err = s.StepErasure(t.Context(), e.ID)
			s.check(err)
			if e.Removed.Messages < removed {
				t.Errorf("%d messages were removed, and then %d", removed, e.Removed.Messages)
			}
			s.check(s.Close())
			s.Store = again()
		}
		s.equal("removed", e.Removed.Messages, 302)
		s.without("canarytext", "Bea")
		log, err := s.ErasureLog(t.Context(), false, 0)
		s.check(err)
		s.equal("log", log, []earshot.Erasure{e})
		s.check(s.Close())
	})
	t.Run("everything is there after a restart", func(t *testing.T) {
		t.Parallel()
		again := open(t)
		s := &suite{T: t, Store: again(), scope: earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "C1"}}
		s.chat()
		edit := fullMessage(1)
		s.record(edit)
		s.record(threadRoot(2, "two", 14, 60))
		s.check(s.PutChannel(t.Context(), earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "C1", Name: "general"}))
		s.check(s.PutAuthors(t.Context(), earshot.Slack, "T1", earshot.Author{ID: "U1", Name: "Alice", FullName: "Alice Maier", Kind: earshot.Human, Zone: "Europe/Berlin"}))
		s.check(s.PutCoverage(t.Context(), s.scope, earshot.Coverage{State: earshot.Missing}))
		s.opened("m2", "key")
		_, err := s.merge("m2", map[string]*string{"a": to("1")})
		s.check(err)
		s.commit("m2", turn(1, "x"))
		s.summarise(s.conversation("m2"), "sum", "m2")
		shared := withSharedFiles(98, "F1")
		s.record(shared)
		s.keep(98, "F1", "aa")
		e := eventWithResume(98, "shard 0", "s:1")
		e.Message = shared
		s.accept(e)
		s.create("m2 about", "key 2", canaryAbout("x"), map[string]string{"a": "1"})
		d := s.draft(2, "m2 about", 0)
		d = s.opens(d)
		before := s.everything()
		s.check(s.Close())

		s.Store = again()
		s.equal("everything", s.everything(), before)
		got, err := s.Draft(t.Context(), d.ID)
		s.check(err)
		s.equal("a draft", got, d)
		again2, made := s.create("elsewhere", "key 2", earshot.About{}, nil)
		s.equal("by its key", []any{again2.About, made}, []any{canaryAbout("x"), false})
		first, err := s.commits(d, "reply")
		s.check(err)
		s.equal("known already", s.record(edit), []earshot.Change{earshot.Same})
		_, created := s.opened("m2", "key")
		s.equal("created", created, false)
		out := s.recorded(plainMessage(99, "next"))
		s.equal("the sequence goes on", out[0].Seq, int64(13)) // the reply has the one before
		s.check(s.Close())

		s.Store = again()
		repeated, err := s.commits(d, "another")
		s.check(err)
		s.equal("repeated", repeated.Repeated, true)
		repeated.Repeated = false
		s.equal("committed once", repeated, first)
		s.check(s.Close())
	})
}

// everything reads all data of the suite's scope.
func (s *suite) everything() []any {
	s.Helper()
	id := s.conversation("m2")
	var out []any
	add := func(v any, err error) {
		s.Helper()
		s.check(err)
		out = append(out, v)
	}
	add(s.Channels(s.Context()))
	add(s.Authors(s.Context(), s.scope.Platform, s.scope.Workspace))
	add(s.Since(s.Context(), s.scope, 0, 0))
	add(s.Revisions(s.Context(), s.scope, "m1"))
	add(s.Newest(s.Context(), s.scope, thread, open, 100))
	add(s.Count(s.Context(), s.scope, whole, open))
	add(s.Coverage(s.Context(), s.scope))
	add(s.Conversation(s.Context(), id))
	add(s.Session(s.Context(), id))
	add(s.Manifest(s.Context(), id))
	add(s.Summary(s.Context(), id))
	add(s.Turn(s.Context(), id, 0))
	add(s.Blob(s.Context(), s.scope, "aa"))
	add(s.Resume(s.Context(), s.scope.Platform, "shard 0"))
	return append(out, collect(s.T, s.Terms(s.Context(), s.scope, 0)))
}
