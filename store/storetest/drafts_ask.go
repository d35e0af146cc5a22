package storetest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/earshot-ai/earshot"
)

// asksFor asks for the approval of a call of a draft.
func (s *suite) asksFor(d earshot.Draft, call string) earshot.Approval {
	s.Helper()
	a, err := s.AskDraft(s.Context(), newApproval(d.ID, call))
	s.check(err)
	return a
}

var draftAskCases = []testCase{
	{"a draft asks, and somebody decides once", func(s *suite) {
		d := s.drafted(1, "m1", 0)
		want := newApproval(d.ID, "1")
		got := s.asksFor(d, "1")
		sum := sha256.Sum256(want.Args)
		want.Conversation, want.Anchor, want.State, want.SHA256 = d.Conversation, d.Anchor, askOpen, hex.EncodeToString(sum[:])
		s.equal("returned", got, want)
		s.equal("stored", s.approval(got.ID), want)
		again := newApproval(d.ID, "1")
		again.ID, again.Args = "another", []byte("other")
		same, err := s.AskDraft(s.Context(), again)
		s.check(err)
		s.equal("the same call", same, want)
		agreed := s.agrees(got)
		s.equal("agreed", s.approval(got.ID), agreed)
		_, err = s.DecideApproval(s.Context(), got.ID, earshot.Decision{State: askRefused, By: "U3", Time: timeAt(51)})
		wantError(s.T, err, earshot.ErrConflict)
		s.check(s.NoteDraft(s.Context(), got.ID, "done"))
		agreed.Result = "done"
		s.equal("with its result", s.approval(got.ID), agreed)
		s.equal("of the draft", s.approvals(earshot.ApprovalQuery{Turn: d.ID}), []earshot.ApprovalID{got.ID})
		s.equal("the draft is as it was", s.stateOf(d.ID), fullDraft)
	}},
	{"only a draft that is held asks, under an id of its own", func(s *suite) {
		d := s.drafted(1, "m1", 0)
		s.asksFor(d, "1")
		ask := func(want error, change func(*earshot.Approval)) {
			s.Helper()
			a := newApproval(d.ID, "2")
			change(&a)
			_, err := s.AskDraft(s.Context(), a)
			wantError(s.T, err, want)
		}
		ask(earshot.ErrConflict, func(a *earshot.Approval) { a.ID = newApproval(d.ID, "1").ID })
		ask(earshot.ErrNotFound, func(a *earshot.Approval) { a.Turn = 999_999 })
		ask(earshot.ErrInvalid, func(a *earshot.Approval) { a.ID = "" })
		ask(earshot.ErrExpired, func(a *earshot.Approval) { a.Asked = timeAt(1001) })
		_, err := s.AbortDraft(s.Context(), d.ID)
		s.check(err)
		ask(earshot.ErrExpired, func(*earshot.Approval) {})
		_, queued := s.ready(2, "m2")
		ask(earshot.ErrNotFound, func(a *earshot.Approval) { a.Turn = queued })
	}},
	{"what came of a call is noted only where somebody agreed", func(s *suite) {
		d := s.drafted(1, "m1", 0)
		open, agreed, refused := s.asksFor(d, "1"), s.asksFor(d, "2"), s.asksFor(d, "3")
		s.agrees(agreed)
		_, err := s.DecideApproval(s.Context(), refused.ID, earshot.Decision{State: askRefused, Time: timeAt(50)})
		s.check(err)
		for _, a := range []earshot.Approval{open, refused} {
			wantError(s.T, s.NoteDraft(s.Context(), a.ID, "done"), earshot.ErrConflict)
		}
		wantError(s.T, s.NoteDraft(s.Context(), "nope", "done"), earshot.ErrNotFound)
		_, _, queued := s.waiting(2, "m2")
		wantError(s.T, s.NoteDraft(s.Context(), queued.ID, "done"), earshot.ErrNotFound)
		_, err = s.commits(d, "done")
		s.check(err)
		s.check(s.NoteDraft(s.Context(), agreed.ID, "done after all"))
		s.equal("noted after the commit", s.approval(agreed.ID).Result, "done after all")
	}},
	{"a draft that ends withdraws what is open; what a commit keeps is the turn's", func(s *suite) {
		d := s.drafted(1, "m1", 0)
		open, agreed := s.asksFor(d, "1"), s.asksFor(d, "2")
		s.agrees(agreed)
		_, err := s.commits(d, "done")
		s.check(err)
		s.equal("after the commit", s.states(open, agreed), []earshot.ApprovalState{askWithdrawn, askAgreed})
		s.equal("texts after it", len(s.words(open, agreed)), 3)
		_, err = s.DecideApproval(s.Context(), open.ID, agreement(open, 51))
		wantError(s.T, err, earshot.ErrConflict)
		_, err = s.PruneDrafts(s.Context(), timeAt(2000))
		s.check(err)
		s.equal("texts after the draft is pruned", len(s.words(open, agreed)), 3)
		_, err = s.PruneTurns(s.Context(), timeAt(1_000_000_000))
		s.check(err)
		s.equal("texts after the turn is pruned", s.words(open, agreed), []string(nil))

		d = s.drafted(2, "m2", 0)
		open, agreed = s.asksFor(d, "1"), s.asksFor(d, "2")
		s.agrees(agreed)
		_, err = s.AbortDraft(s.Context(), d.ID)
		s.check(err)
		s.equal("after it was given up", s.states(open, agreed), []earshot.ApprovalState{askWithdrawn, askAgreed})
		s.equal("texts after that", s.words(open, agreed), []string(nil))
		wantError(s.T, s.NoteDraft(s.Context(), agreed.ID, "x"), earshot.ErrConflict)
	}},
	{"the draft that replaces another has its approvals, and so has the turn that it becomes", func(s *suite) {
		d := s.drafted(1, "m1", 0)
		open, agreed := s.asksFor(d, "1"), s.asksFor(d, "2")
		s.agrees(agreed)
		next := s.draft(1, "m1", 0)
		next.Replaces = d.ID
		d2 := s.opens(next)
		both := []earshot.ApprovalID{agreed.ID, open.ID}
		s.equal("of the first", s.approvals(earshot.ApprovalQuery{Turn: d.ID}), []earshot.ApprovalID{})
		s.equal("of the second", s.approvals(earshot.ApprovalQuery{Turn: d2.ID}), both)
		s.equal("states", s.states(open, agreed), []earshot.ApprovalState{askOpen, askAgreed})
		s.agrees(s.approval(open.ID))
		_, err := s.commits(d2, "done")
		s.check(err)
		s.equal("of the turn", s.approvals(earshot.ApprovalQuery{Turn: d2.ID}), both)
		s.equal("texts", len(s.words(open, agreed)), 4)
	}},
	{"a deletion takes what a draft asked with it", func(s *suite) {
		d := s.drafted(1, "m1", 0)
		open, agreed := s.asksFor(d, "1"), s.asksFor(d, "2")
		s.agrees(agreed)
		s.record(tombstone(1))
		s.equal("states", s.states(open, agreed), []earshot.ApprovalState{askWithdrawn, askAgreed})
		s.equal("texts", s.words(open, agreed), []string(nil))
		_, err := s.AskDraft(s.Context(), newApproval(d.ID, "3"))
		wantError(s.T, err, earshot.ErrConflict)
		s.check(s.NoteDraft(s.Context(), agreed.ID, "did it"))
		s.equal("a result is not kept", s.approval(agreed.ID).Result, "")
	}},
	{"a draft that nobody takes up withdraws what it asked once it is pruned", func(s *suite) {
		d := s.drafted(1, "m1", 0)
		open, agreed := s.asksFor(d, "1"), s.asksFor(d, "2")
		s.agrees(agreed)
		_, err := s.PruneDrafts(s.Context(), timeAt(1000))
		s.check(err)
		s.equal("texts before", len(s.words(open, agreed)), 3)
		_, err = s.PruneDrafts(s.Context(), timeAt(1001))
		s.check(err)
		s.equal("states", s.states(open, agreed), []earshot.ApprovalState{askWithdrawn, askAgreed})
		s.equal("texts", s.words(open, agreed), []string(nil))
		_, err = s.PruneDrafts(s.Context(), timeAt(1_000_000_000))
		s.check(err)
		s.equal("they are still listed", s.approvals(earshot.ApprovalQuery{Turn: d.ID}), []earshot.ApprovalID{agreed.ID, open.ID})
	}},
	{"who is erased is erased from what a draft asked", func(s *suite) {
		d := s.drafted(1, "m1", 0)
		a := s.asksFor(d, "1")
		s.agrees(a)
		s.erased(s.of(earshot.ErasureOf{User: "U2"}))
		got := s.approval(a.ID)
		s.equal("who decided", []string{string(got.By), got.Why}, []string{"", ""})
		s.erased(s.of(earshot.ErasureOf{Channel: s.scope.Channel}))
		_, err := s.Approval(s.Context(), a.ID)
		if !errors.Is(err, earshot.ErrNotFound) {
			s.Errorf("after the channel was erased: %v", err)
		}
	}},
}
