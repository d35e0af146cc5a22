package storetest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
)

// newApproval returns the approval that is asked for a call of a turn.
func newApproval(id earshot.TurnID, call string) earshot.Approval {
	return earshot.Approval{
		ID: earshot.ApprovalID(fmt.Sprint("ask ", id, " ", call)), Turn: id, Asker: "U1", Call: call, Tool: "deploy",
		Args: []byte(`{"call":"` + call + `"}`), Asked: timeAt(1), Expires: timeAt(100),
	}
}

// asks asks for the approval of a call.
func (s *suite) asks(l earshot.Lease, id earshot.TurnID, call string) earshot.Approval {
	s.Helper()
	a, err := s.AskApproval(s.Context(), l, newApproval(id, call))
	s.check(err)
	return a
}

func (s *suite) approval(id earshot.ApprovalID) earshot.Approval {
	s.Helper()
	a, err := s.Approval(s.Context(), id)
	s.check(err)
	return a
}

// agreement returns U2's yes to an approval at second(n).
func agreement(a earshot.Approval, n int) earshot.Decision {
	return earshot.Decision{State: earshot.ApprovalAgreed, SHA256: a.SHA256, By: "U2", Why: "go on", Time: timeAt(n)}
}

func (s *suite) agrees(a earshot.Approval) earshot.Approval {
	s.Helper()
	out, err := s.DecideApproval(s.Context(), a.ID, agreement(a, 50))
	s.check(err)
	return out
}

func (s *suite) awaits(l earshot.Lease, id earshot.TurnID) bool {
	s.Helper()
	waits, err := s.AwaitApprovals(s.Context(), l, id)
	s.check(err)
	return waits
}

// waiting opens a conversation's turn for message n, which asks for the approval of
// call 1 in its journal and waits. The lease is held.
func (s *suite) waiting(n int, conversation string, shows ...earshot.MessageID) (earshot.Lease, earshot.TurnID, earshot.Approval) {
	s.Helper()
	id := s.asked(n, conversation)
	l, _ := s.claim("me", timeAt(n))
	s.begin(l, id, prompt(n, shows...))
	s.step(l, id, 0)
	a := s.asks(l, id, "1")
	if !s.awaits(l, id) {
		s.Fatalf("turn %d does not wait", id)
	}
	return l, id, a
}

// approvals lists approvals.
func (s *suite) approvals(q earshot.ApprovalQuery) []earshot.ApprovalID {
	s.Helper()
	list, err := s.Approvals(s.Context(), q)
	s.check(err)
	out := []earshot.ApprovalID{}
	for _, a := range list {
		s.equal("listed", a, s.approval(a.ID))
		out = append(out, a.ID)
	}
	return out
}

// words returns the texts that approvals still have.
func (s *suite) words(list ...earshot.Approval) (out []string) {
	s.Helper()
	for _, a := range list {
		a = s.approval(a.ID)
		for _, text := range []string{string(a.Args), a.Why, a.Result} {
			if text != "" {
				out = append(out, text)
			}
		}
	}
	return out
}

func (s *suite) states(list ...earshot.Approval) (out []earshot.ApprovalState) {
	s.Helper()
	for _, a := range list {
		a = s.approval(a.ID)
		if (a.State == earshot.ApprovalOpen) != (a.Decided == 0) {
			s.Errorf("approval %q is %s and was decided at %d", a.ID, a.State, a.Decided)
		}
		out = append(out, a.State)
	}
	return out
}

// Short names of states that tests compare.
const (
	askOpen      = earshot.ApprovalOpen
	askAgreed    = earshot.ApprovalAgreed
	askRefused   = earshot.ApprovalRefused
	askExpired   = earshot.ApprovalExpired
	askWithdrawn = earshot.ApprovalWithdrawn
)

var approvalCases = []testCase{
	{"an approval is stored open, with what its turn answers and the sum of its arguments", func(s *suite) {
		l, id := s.ready(1, "m1")
		want := newApproval(id, "1")
		ask := want
		ask.State, ask.By, ask.Operator, ask.Why, ask.Decided, ask.Result, ask.SHA256, ask.Anchor = askAgreed, "U9", true, "x", 5, "x", "x", "x"
		got, err := s.AskApproval(s.Context(), l, ask)
		s.check(err)
		sum := sha256.Sum256(want.Args)
		want.Conversation, want.Anchor, want.State, want.SHA256 = s.conversation("m1"), "m1", askOpen, hex.EncodeToString(sum[:])
		s.equal("returned", got, want)
		s.equal("stored", s.approval(got.ID), want)
		got.Args[2] = 'X'
		s.equal("is a copy", s.approval(got.ID), want)
		empty := newApproval(id, "none")
		empty.Args = []byte{}
		got, err = s.AskApproval(s.Context(), l, empty)
		s.check(err)
		s.equal("without arguments", []bool{got.Args == nil, s.approval(got.ID).Args == nil}, []bool{true, true})
		_, err = s.Approval(s.Context(), "nope")
		wantError(s.T, err, earshot.ErrNotFound)
	}},
	{"who asks twice for a call gets the first approval, whatever its state", func(s *suite) {
		l, id := s.ready(1, "m1")
		first := s.asks(l, id, "1")
		again := newApproval(id, "1")
		again.ID, again.Args = "another", []byte("other")
		ask := func() earshot.Approval {
			s.Helper()
			got, err := s.AskApproval(s.Context(), l, again)
			s.check(err)
			return got
		}
		s.equal("open", ask(), first)
		agreed := s.agrees(first)
		s.equal("agreed", ask(), agreed)
		_, err := s.Approval(s.Context(), "another")
		wantError(s.T, err, earshot.ErrNotFound)
		again.ID, again.Call = first.ID, "2"
		_, err = s.AskApproval(s.Context(), l, again)
		wantError(s.T, err, earshot.ErrConflict)
		for _, id := range []earshot.ApprovalID{"a", "b"} { // calls without an id are different ones
			again.ID, again.Call = id, ""
			s.equal("of no call", ask().ID, id)
		}
		l, other := s.ready(2, "m2")
		s.equal("another turn's call", s.asks(l, other, "1").Turn, other)
	}},
	{"only a turn that is being answered asks, under its lease", func(s *suite) {
		id := s.asked(1, "m1")
		l, _ := s.claim("me", timeAt(1))
		ask := func(l earshot.Lease, a earshot.Approval) error {
			_, err := s.AskApproval(s.Context(), l, a)
			return err
		}
		wantError(s.T, ask(l, newApproval(id, "1")), earshot.ErrConflict)
		_, err := s.AwaitApprovals(s.Context(), l, id)
		wantError(s.T, err, earshot.ErrConflict)
		s.begin(l, id, prompt(1))
		stale := l
		stale.Fence--
		wantError(s.T, ask(stale, newApproval(id, "1")), earshot.ErrFenced)
		_, err = s.AwaitApprovals(s.Context(), stale, id)
		wantError(s.T, err, earshot.ErrFenced)
		wantError(s.T, ask(l, newApproval(id+99, "1")), earshot.ErrNotFound)
		_, err = s.AwaitApprovals(s.Context(), l, id+99)
		wantError(s.T, err, earshot.ErrNotFound)
		long := strings.Repeat("x", 513)
		for name, change := range map[string]func(*earshot.Approval){
			"no id":                       func(a *earshot.Approval) { a.ID = "" },
			"an id that is too long":      func(a *earshot.Approval) { a.ID = earshot.ApprovalID(long) },
			"a call that is too long":     func(a *earshot.Approval) { a.Call = long },
			"a tool that is too long":     func(a *earshot.Approval) { a.Tool = long },
			"an asker who is too long":    func(a *earshot.Approval) { a.Asker = earshot.AuthorID(long) },
			"arguments that are too long": func(a *earshot.Approval) { a.Args = make([]byte, earshot.ApprovalArgs+1) },
		} {
			a := newApproval(id, "1")
			change(&a)
			if err := ask(l, a); !errors.Is(err, earshot.ErrInvalid) {
				s.Errorf("%s: got %v, want ErrInvalid", name, err)
			}
		}
		a := newApproval(id, "1")
		a.Args = []byte(strings.Repeat("\xff", earshot.ApprovalArgs))
		s.check(ask(l, a))
		s.equal("arguments", s.approval(a.ID).Args, a.Args)
		s.check(s.Finish(s.Context(), l, id, earshot.TurnFailed, "x", nil))
		wantError(s.T, ask(l, newApproval(id, "2")), earshot.ErrConflict)
	}},
	{"a turn waits while somebody is asked, and nobody claims it", func(s *suite) {
		l, id := s.ready(1, "dm")
		s.step(l, id, 0)
		before := s.traces(id)
		s.equal("nobody is asked", s.awaits(l, id), false)
		s.equal("nothing is written", s.traces(id), before)
		a := s.asks(l, id, "1")
		for range 2 {
			s.equal("waits", s.awaits(l, id), true)
		}
		q := s.queued(id)
		s.equal("turn", []any{q.State, q.Tries, q.Ends}, []any{earshot.TurnWaiting, 0, 0})
		depth, err := s.Depth(s.Context())
		s.check(err)
		s.equal("depth", depth, map[earshot.TurnState]int{earshot.TurnWaiting: 1})
		list, err := s.QueuedTurns(s.Context(), earshot.TurnQuery{States: []earshot.TurnState{earshot.TurnWaiting}})
		s.check(err)
		s.equal("listed", turnIDs(list), []earshot.TurnID{id})
		wantError(s.T, s.PutPost(s.Context(), l, newPost(id, 0, earshot.PostPlanned)), earshot.ErrConflict)
		wantError(s.T, s.AddStep(s.Context(), l, id, earshot.Step{N: 1}), earshot.ErrConflict)
		wantError(s.T, s.Begin(s.Context(), l, id, prompt(1)), earshot.ErrConflict)
		s.check(s.Release(s.Context(), l, 0))
		s.idle(timeAt(99))
		later := s.asked(2, "dm")
		l, turns := s.claim("you", timeAt(3))
		s.equal("others go on", turnIDs(turns), []earshot.TurnID{later})
		s.begin(l, later, prompt(2))
		s.finish(l, later)
		s.equal("and it still waits", []any{s.queued(id).State, s.states(a)}, []any{earshot.TurnWaiting, []earshot.ApprovalState{askOpen}})
	}},
	{"the last decision opens the turn again, and it keeps its journal", func(s *suite) {
		id := s.asked(1, "m1")
		for n := range 3 { // crashes
			s.claim("dead", timeAt(20*n))
		}
		l, _ := s.claim("me", timeAt(60))
		s.begin(l, id, prompt(1))
		s.step(l, id, 0)
		a, b := s.asks(l, id, "1"), s.asks(l, id, "2")
		s.equal("waits", s.awaits(l, id), true)
		s.check(s.Release(s.Context(), l, timeAt(900)))
		s.agrees(a)
		s.equal("one of two", s.queued(id).State, earshot.TurnWaiting)
		s.idle(timeAt(950))
		d := earshot.Decision{State: askRefused, By: "U3", Why: "not now", Time: timeAt(51)}
		got, err := s.DecideApproval(s.Context(), b.ID, d)
		s.check(err)
		want := b
		want.State, want.By, want.Why, want.Decided = askRefused, "U3", "not now", timeAt(51)
		s.equal("returned", got, want)
		s.equal("stored", s.approval(b.ID), want)
		s.equal("open", s.queued(id).State, earshot.TurnOpen)
		_, turns := s.claim("you", timeAt(70)) // though it was given back until later
		s.equal("claimed", []any{turnIDs(turns), turns[0].Tries, turns[0].Ends, string(turns[0].Input)}, []any{[]earshot.TurnID{id}, 1, 0, "input 1"})
		s.equal("journal", len(s.steps(id)), 1)
	}},
	{"while somebody holds the lease, a decision takes it from nobody", func(s *suite) {
		_, id, a := s.waiting(1, "m1")
		s.agrees(a)
		s.idle(timeAt(10))
		_, turns := s.claim("you", timeAt(11))
		s.equal("once it has run out", turnIDs(turns), []earshot.TurnID{id})
	}},
	{"of several decisions the first counts", func(s *suite) {
		_, _, a := s.waiting(1, "m1")
		ends := runTogether(8, func(i int) error {
			d := agreement(a, 40+i)
			d.By = earshot.AuthorID(fmt.Sprint("U", i))
			_, err := s.Store.DecideApproval(background, a.ID, d)
			return err
		})
		for _, err := range ends {
			wantError(s.T, err, earshot.ErrConflict)
		}
		s.equal("refused", len(ends), 7)
		stored := s.approval(a.ID)
		for _, state := range earshot.ApprovalStates()[1:] {
			got, err := s.DecideApproval(s.Context(), a.ID, earshot.Decision{State: state, SHA256: a.SHA256, Operator: true, Why: "x", Time: timeAt(200)})
			wantError(s.T, err, earshot.ErrConflict)
			s.equal("the stored one comes with the error", got, stored)
		}
		s.equal("stored", s.approval(a.ID), stored)
	}},
	{"who agrees agrees to these arguments, and in time", func(s *suite) {
		_, id, a := s.waiting(1, "m1")
		decide := func(d earshot.Decision, want error) earshot.Approval {
			s.Helper()
			got, err := s.DecideApproval(s.Context(), a.ID, d)
			if !errors.Is(err, want) || want == nil && err != nil {
				s.Errorf("%+v: got %v, want %v", d, err, want)
			}
			return got
		}
		other := agreement(a, 50)
		other.SHA256 = "another"
		s.equal("other arguments", decide(other, earshot.ErrConflict), a)
		s.equal("expired too early", decide(earshot.Decision{State: askExpired, Time: timeAt(99)}, earshot.ErrConflict), a)
		for name, d := range map[string]earshot.Decision{
			"open": {State: askOpen, Time: 1}, "no state": {Time: 1}, "no time": {State: askRefused}, "long": {State: askRefused, Time: 1, By: earshot.AuthorID(strings.Repeat("x", 513))},
		} {
			if _, err := s.DecideApproval(s.Context(), a.ID, d); !errors.Is(err, earshot.ErrInvalid) {
				s.Errorf("%s: got %v, want ErrInvalid", name, err)
			}
		}
		_, err := s.DecideApproval(s.Context(), "nope", agreement(a, 50))
		wantError(s.T, err, earshot.ErrNotFound)
		s.equal("still open", []any{s.approval(a.ID), s.queued(id).State}, []any{a, earshot.TurnWaiting})
		want := a
		want.State, want.Decided = askExpired, timeAt(100)
		s.equal("when it expires", decide(agreement(a, 100), earshot.ErrConflict), want)
		s.equal("stored", s.approval(a.ID), want)
		s.equal("the turn goes on", s.queued(id).State, earshot.TurnOpen)
	}},
	{"each decision can end an approval, and a long answer is cut", func(s *suite) {
		l, id := s.ready(1, "m1")
		long := strings.Repeat("é", earshot.ApprovalWords)
		for i, d := range []earshot.Decision{
			{State: askAgreed, Operator: true, Time: timeAt(99)}, {State: askRefused, By: "U2", Why: long, Time: timeAt(99)},
			{State: askExpired, Time: timeAt(100)}, {State: askWithdrawn, Time: timeAt(1)}, {State: askWithdrawn, Time: timeAt(200)},
		} {
			a := s.asks(l, id, fmt.Sprint(i))
			d.SHA256 = a.SHA256
			got, err := s.DecideApproval(s.Context(), a.ID, d)
			s.check(err)
			a.State, a.By, a.Operator, a.Why, a.Decided = d.State, d.By, d.Operator, d.Why[:min(len(d.Why), earshot.ApprovalWords)], d.Time
			s.equal("decided", got, a)
			s.equal("stored", s.approval(a.ID), a)
		}
		s.equal("the turn is answered meanwhile", s.queued(id).State, earshot.TurnGenerating)
		s.equal("and need not wait", s.awaits(l, id), false)
	}},
	{"a turn that has waited comes before later ones, but after one that was claimed", func(s *suite) {
		for n, c := range []struct {
			name string
			use  func(l earshot.Lease, id earshot.TurnID) // what the holder of a later turn does, before its end or release
			ends bool
		}{
			{"begun", func(l earshot.Lease, id earshot.TurnID) { s.begin(l, id, prompt(9)) }, true},
			{"posting", func(l earshot.Lease, id earshot.TurnID) {
				s.begin(l, id, prompt(9))
				s.put(l, newPost(id, 0, earshot.PostSent))
			}, true},
			{"claimed, and given back", func(earshot.Lease, earshot.TurnID) {}, false},
		} {
			talk := fmt.Sprint("talk ", n)
			l, first, a := s.waiting(10*n+1, talk)
			s.check(s.Release(s.Context(), l, 0))
			second, third := s.asked(10*n+2, talk), s.asked(10*n+3, talk)
			l, turns := s.claim("you", timeAt(20))
			s.equal(c.name, turnIDs(turns), []earshot.TurnID{second, third})
			if c.ends {
				c.use(l, second)
			}
			s.agrees(a)
			s.idle(timeAt(21))
			wantError(s.T, s.Begin(s.Context(), l, first, prompt(1)), earshot.ErrConflict)
			if c.ends {
				s.put(l, newPost(second, 1, earshot.PostPlanned)) // it goes on undisturbed
				l, turns = s.claim("heir", timeAt(40))
				s.equal(c.name+": taken over", turnIDs(turns), []earshot.TurnID{second, first, third})
				s.finish(l, second)
			}
			s.check(s.Release(s.Context(), l, 0))
			l, turns = s.claim("me", timeAt(60))
			want := []earshot.TurnID{first, second, third}
			if c.ends {
				want = []earshot.TurnID{first, third}
			}
			s.equal(c.name+": then", turnIDs(turns), want)
			for _, id := range want {
				s.check(s.Finish(s.Context(), l, id, earshot.TurnDropped, "x", nil))
			}
			s.check(s.Release(s.Context(), l, 0))
		}
	}},
	{"a turn that is opened again after it was reopened or unmerged keeps the line in order", func(s *suite) {
		l, first, a := s.waiting(1, "dm")
		second, third := s.asked(2, "dm"), s.asked(3, "dm")
		wantError(s.T, s.Merge(s.Context(), l, third, first, second), earshot.ErrConflict)
		wantError(s.T, s.Merge(s.Context(), l, first, second), earshot.ErrConflict)
		s.check(s.Merge(s.Context(), l, third, second)) // the one that waits does not stand before it
		s.agrees(a)
		s.accept(deletionOf(3, ""))
		s.check(s.Release(s.Context(), l, 0))
		_, turns := s.claim("you", timeAt(5))
		s.equal("in line", turnIDs(turns), []earshot.TurnID{first, second})
	}},
	{"the end of a turn withdraws what is open", func(s *suite) {
		for n, c := range []struct {
			name string
			end  func(l earshot.Lease, id earshot.TurnID, n int)
			want earshot.TurnState
		}{
			{"done", func(l earshot.Lease, id earshot.TurnID, _ int) { s.finish(l, id) }, earshot.TurnDone},
			{"failed", func(l earshot.Lease, id earshot.TurnID, _ int) {
				s.check(s.Finish(s.Context(), l, id, earshot.TurnFailed, "x", nil))
			}, earshot.TurnFailed},
			{"dropped while it waits", func(l earshot.Lease, id earshot.TurnID, _ int) {
				s.awaits(l, id)
				s.check(s.Finish(s.Context(), l, id, earshot.TurnDropped, "x", nil))
			}, earshot.TurnDropped},
			{"discarded", func(l earshot.Lease, id earshot.TurnID, _ int) {
				s.check(s.Finish(s.Context(), l, id, earshot.TurnParked, "x", nil))
				s.check(s.Discard(s.Context(), id, "x"))
			}, earshot.TurnDropped},
			{"merged", func(l earshot.Lease, id earshot.TurnID, n int) {
				into := s.asked(n+1, fmt.Sprint("talk ", n))
				s.check(s.Merge(s.Context(), l, into, id))
				s.check(s.Finish(s.Context(), l, into, earshot.TurnDropped, "x", nil))
			}, earshot.TurnDropped},
			{"its anchor is deleted", func(_ earshot.Lease, _ earshot.TurnID, n int) { s.accept(deletionOf(n, "")) }, earshot.TurnDropped},
			{"its anchor is deleted while it waits", func(l earshot.Lease, id earshot.TurnID, n int) {
				s.awaits(l, id)
				s.accept(deletionOf(n, ""))
			}, earshot.TurnDropped},
		} {
			n = 10 * (n + 1)
			l, id := s.ready(n, fmt.Sprint("talk ", n))
			a, b := s.asks(l, id, "1"), s.asks(l, id, "2")
			agreed := s.agrees(b)
			c.end(l, id, n)
			s.equal(c.name, s.queued(id).State, c.want)
			s.equal(c.name, s.states(a, b), []earshot.ApprovalState{askWithdrawn, askAgreed})
			s.equal(c.name+": what was decided stays", s.approval(b.ID).Decided, agreed.Decided)
			_, err := s.DecideApproval(s.Context(), a.ID, agreement(a, 50))
			wantError(s.T, err, earshot.ErrConflict)
			s.check(s.Release(s.Context(), l, 0))
			s.idle(timeAt(1000))
		}
	}},
	{"a turn that shows something goes on when its anchor or its asker is gone, and asks nobody", func(s *suite) {
		for n, gone := range []func(n int){
			func(n int) { s.accept(deletionOf(n, "")) },
			func(int) {
				s.record(messageBy(90, "u9", "Nia", "hello"))
				s.erased(s.ofPerson("u9"))
			},
		} {
			n = 10 * (n + 1)
			s.accept(deliveryOf(n, "the build is red"))
			e := deliveryOf(n, "the build is red")
			e.Delivery, e.Anew, e.By = fmt.Sprint("emoji", n), true, earshot.Reactor{Emoji: "eyes", ID: "u9"}
			id := s.ask(e, fmt.Sprint("talk ", n)).Turn
			l, _ := s.claim("me", timeAt(n))
			s.begin(l, id, prompt(n))
			s.put(l, newPost(id, 0, earshot.PostSent))
			s.step(l, id, 0)
			a := s.asks(l, id, "1")
			s.equal("waits", s.awaits(l, id), true)
			s.check(s.Release(s.Context(), l, timeAt(9999)))
			gone(n)
			s.equal("asked", s.states(a), []earshot.ApprovalState{askWithdrawn})
			s.equal("words", s.words(a), []string(nil))
			s.equal("text", s.text(id), []string{})
			l, turns := s.claim("you", timeAt(n+1))
			s.equal("open", turnIDs(turns), []earshot.TurnID{id})
			s.check(s.Finish(s.Context(), l, id, earshot.TurnDropped, "taken back", nil))
			s.check(s.Release(s.Context(), l, 0))
		}
	}},
	{"a new journal knows no call of the old one", func(s *suite) {
		l, id := s.ready(1, "m1")
		s.step(l, id, 0)
		a, b := s.asks(l, id, "1"), s.asks(l, id, "2")
		agreed := s.agrees(b)
		s.begin(l, id, prompt(1)) // the same prompt: nothing begins anew
		s.equal("asked", s.states(a, b), []earshot.ApprovalState{askOpen, askAgreed})
		s.begin(l, id, prompt(2))
		s.equal("asked", s.states(a, b), []earshot.ApprovalState{askWithdrawn, askAgreed})
		agreed.Call = ""
		s.equal("what was agreed to stays", s.approval(b.ID), agreed)
		again := newApproval(id, "2")
		again.ID = "again"
		got, err := s.AskApproval(s.Context(), l, again)
		s.check(err)
		s.equal("asked again", []any{got.ID, got.State}, []any{again.ID, askOpen})
	}},
	{"a prompt that keeps the journal keeps what was asked", func(s *suite) {
		_, id, a := s.waiting(1, "m1")
		s.agrees(a)
		l, _ := s.claim("me", timeAt(60))
		p := prompt(2)
		p.Keeps = true
		s.begin(l, id, p)
		s.equal("journal", len(s.steps(id)), 1)
		s.equal("input", string(s.queued(id).Input), "input 2")
		s.equal("the same call", s.asks(l, id, "1"), s.approval(a.ID))
		s.step(l, id, 1)
		s.check(s.NoteApproval(s.Context(), l, a.ID, "done"))
		s.equal("words", s.words(a), []string{`{"call":"1"}`, "go on", "done"})
		b := s.asks(l, id, "2")
		s.equal("waits again", s.awaits(l, id), true)
		s.agrees(b)
		s.equal("open again", s.queued(id).State, earshot.TurnOpen)
	}},
	{"a journal of which something was erased is not kept", func(s *suite) {
		s.record(plainMessage(50, "canary"))
		l, id, a := s.waiting(1, "m1", "m50")
		s.check(s.Release(s.Context(), l, 0))
		s.accept(deletionOf(50, ""))
		s.equal("it waits on", []any{s.queued(id).State, s.words(a)}, []any{earshot.TurnWaiting, []string(nil)})
		s.equal("text", s.text(id), []string{})
		s.agrees(a)
		l, _ = s.claim("me", timeAt(60))
		p := prompt(2)
		p.From, p.Epoch, p.Keeps = 1, 1, true
		s.begin(l, id, p)
		s.equal("journal", len(s.steps(id)), 0)
		s.equal("its call", s.approval(a.ID).Call, "")
	}},
	{"what a kept journal had read is erased with it in another epoch too", func(s *suite) {
		s.record(plainMessage(50, "canary"))
		_, id, a := s.waiting(1, "dm", "m50")
		later := s.asked(2, "dm")
		l, _ := s.claim("me", timeAt(30))
		p := prompt(2)
		p.Epoch = 1
		s.begin(l, later, p)
		t := turn(2, "compact")
		t.Epoch, t.Ledger, t.Shown = 1, nil, []earshot.ShownRevision{{ID: "m2"}}
		s.check(s.Finish(s.Context(), l, later, earshot.TurnDone, "", &t))
		s.agrees(a)
		p = prompt(3)
		p.From, p.Epoch, p.Keeps = 1, 1, true
		s.begin(l, id, p)
		s.equal("kept", s.text(id), []string{"input", "journal"})
		s.check(s.NoteApproval(s.Context(), l, a.ID, "done"))
		s.put(l, newPost(id, 0, earshot.PostSent))
		t = turn(1, "x")
		t.Epoch, t.Ledger, t.Shown = 1, nil, []earshot.ShownRevision{{ID: "m1"}}
		s.check(s.Finish(s.Context(), l, id, earshot.TurnDone, "", &t))
		s.equal("text", s.text(id), everyText)
		s.equal("words", len(s.words(a)), 3)
		s.accept(deletionOf(50, ""))
		s.equal("text", s.text(id), []string{})
		s.equal("words", s.words(a), []string(nil))
		s.equal("epoch", s.epoch("dm"), 2)
	}},
	{"what was asked in another epoch, by a journal that is not kept, has no words left", func(s *suite) {
		s.record(plainMessage(50, "canary"))
		l, id := s.ready(1, "m1")
		s.step(l, id, 0, "m50")
		a := s.asks(l, id, "1")
		p := prompt(2)
		p.Epoch = 1
		s.begin(l, id, p)
		s.equal("words", s.words(a), []string(nil))
	}},
	{"the words of an approval go with the journal, the rest stays", func(s *suite) {
		for n, erase := range []func(){
			func() { s.prune(earshot.TimeOf(time.Now().Add(time.Hour))) },
			func() { s.accept(deletionOf(50, "")) },
		} {
			s.record(plainMessage(50, "canary"))
			id := s.asked(n, fmt.Sprint("m", n))
			l, _ := s.claim("me", timeAt(n))
			s.begin(l, id, prompt(n, "m50"))
			s.step(l, id, 0)
			a := s.agrees(s.asks(l, id, "1"))
			s.check(s.NoteApproval(s.Context(), l, a.ID, "deployed"))
			s.check(s.Finish(s.Context(), l, id, earshot.TurnFailed, "x", nil))
			s.check(s.Release(s.Context(), l, 0))
			erase()
			a.Args, a.Why = nil, ""
			s.equal("approval", s.approval(a.ID), a)
		}
	}},
	{"what was asked by a turn that has read what is deleted now is stored without its words", func(s *suite) {
		s.record(plainMessage(50, "canary"))
		id := s.asked(1, "m1")
		l, _ := s.claim("me", timeAt(1))
		s.begin(l, id, prompt(1, "m50"))
		s.put(l, newPost(id, 0, earshot.PostSending))
		s.accept(deletionOf(50, ""))
		a := s.asks(l, id, "1")
		s.equal("asked", []any{s.words(a), a.Args == nil, a.SHA256 != ""}, []any{[]string(nil), true, true})
		s.equal("what is to be posted stays", s.text(id), []string{"post"})
		s.equal("waits", s.awaits(l, id), true)
		s.equal("until it waits", s.text(id), []string{})
		s.agrees(a)
		wantError(s.T, s.Begin(s.Context(), l, id, prompt(1)), earshot.ErrConflict)
		p := prompt(2)
		p.From, p.Epoch = 1, 1
		s.begin(l, id, p)
	}},
	{"what came of a call is noted once it is known", func(s *suite) {
		l, id := s.ready(1, "m1")
		a := s.asks(l, id, "1")
		note := func(l earshot.Lease, id earshot.ApprovalID, result string) error {
			return s.NoteApproval(s.Context(), l, id, result)
		}
		wantError(s.T, note(l, a.ID, "x"), earshot.ErrConflict)
		wantError(s.T, note(l, "nope", "x"), earshot.ErrNotFound)
		s.agrees(a)
		stale := l
		stale.Owner = "you"
		wantError(s.T, note(stale, a.ID, "x"), earshot.ErrFenced)
		long := strings.Repeat("日", earshot.ApprovalWords)
		for _, result := range []string{"deployed", "deployed", long} {
			s.check(note(l, a.ID, result))
		}
		s.equal("cut", s.approval(a.ID).Result, long[:earshot.ApprovalWords/3*3])
		s.finish(l, id)
		s.check(note(l, a.ID, long))
		wantError(s.T, note(l, a.ID, "later"), earshot.ErrConflict)
	}},
	{"an erased person has decided, asked and stopped nothing", func(s *suite) {
		l, id := s.ready(1, "m1")
		own, other, late := newApproval(id, "own"), newApproval(id, "other"), newApproval(id, "late")
		own.Asker, other.Asker, late.Asker = "U8", "U9", "U8"
		late.Asked, late.Expires = earshot.Time(1<<61), earshot.Time(1<<62)
		var asked []earshot.Approval
		for _, a := range []earshot.Approval{own, other, late} {
			a, err := s.AskApproval(s.Context(), l, a)
			s.check(err)
			d := agreement(a, 50)
			if d.By = "U9"; a.ID == other.ID {
				d.By = "U8"
			}
			if a.ID == late.ID {
				d.Time = late.Asked
			}
			a, err = s.DecideApproval(s.Context(), a.ID, d)
			s.check(err)
			asked = append(asked, a)
		}
		_, err := s.StopTurn(s.Context(), id, "U9")
		s.check(err)
		s.erased(s.ofPerson("U9"))
		asked[0].By, asked[0].Why, asked[1].Asker = "", "", ""
		for _, want := range asked { // the last was decided after the erasure had begun
			s.equal("approval", s.approval(want.ID), want)
		}
		q := s.queued(id)
		s.equal("stopped", []any{q.Stopped != 0, q.StoppedBy}, []any{true, earshot.AuthorID("")})
		_, err = s.PlanErasure(s.Context(), s.of(earshot.ErasureOf{User: "U8", Channel: "C9"}))
		wantError(s.T, err, earshot.ErrNotFound)
		s.erased(s.of(earshot.ErasureOf{User: "U8", Channel: s.scope.Channel}))
		s.equal("askers", []earshot.AuthorID{s.approval(own.ID).Asker, s.approval(other.ID).By}, []earshot.AuthorID{"", ""})
	}},
	{"approvals are listed, the newest first", func(s *suite) {
		other := &suite{T: s.T, Store: s.Store, scope: s.scope}
		other.scope.Channel = "C2"
		l, id := s.ready(1, "m1")
		a, b := s.asks(l, id, "1"), s.asks(l, id, "2")
		l2, id2 := other.ready(2, "m1")
		c := other.asks(l2, id2, "1")
		soon := newApproval(id, "3")
		soon.Expires = timeAt(60)
		d, err := s.AskApproval(s.Context(), l, soon)
		s.check(err)
		s.agrees(b)
		_, err = s.DecideApproval(s.Context(), c.ID, earshot.Decision{State: askRefused, Time: timeAt(50)})
		s.check(err)
		type ids = []earshot.ApprovalID
		for _, x := range []struct {
			name string
			q    earshot.ApprovalQuery
			want ids
		}{
			{"all", earshot.ApprovalQuery{}, ids{d.ID, c.ID, b.ID, a.ID}},
			{"the newest", earshot.ApprovalQuery{Limit: 2}, ids{d.ID, c.ID}},
			{"before one", earshot.ApprovalQuery{Before: c.ID}, ids{b.ID, a.ID}},
			{"before one, bounded", earshot.ApprovalQuery{Before: d.ID, Limit: 1}, ids{c.ID}},
			{"before none", earshot.ApprovalQuery{Before: "nope"}, ids{}},
			{"an agent's", earshot.ApprovalQuery{Agent: "agent", Limit: 1}, ids{d.ID}},
			{"another agent's", earshot.ApprovalQuery{Agent: "other"}, ids{}},
			{"a channel's", earshot.ApprovalQuery{Scope: &s.scope}, ids{d.ID, b.ID, a.ID}},
			{"another channel's", earshot.ApprovalQuery{Scope: &other.scope}, ids{c.ID}},
			{"a turn's", earshot.ApprovalQuery{Turn: id2}, ids{c.ID}},
			{"a turn's of another channel", earshot.ApprovalQuery{Turn: id2, Scope: &s.scope}, ids{}},
			{"open", earshot.ApprovalQuery{States: []earshot.ApprovalState{askOpen}}, ids{d.ID, a.ID}},
			{"of two states", earshot.ApprovalQuery{States: []earshot.ApprovalState{askOpen, askRefused}}, ids{d.ID, c.ID, a.ID}},
			{"of two states, bounded", earshot.ApprovalQuery{States: []earshot.ApprovalState{askOpen, askRefused}, Limit: 2}, ids{d.ID, c.ID}},
			{"of two states, before one", earshot.ApprovalQuery{States: []earshot.ApprovalState{askOpen, askAgreed}, Before: d.ID}, ids{b.ID, a.ID}},
			{"a channel's of two states", earshot.ApprovalQuery{Scope: &s.scope, States: []earshot.ApprovalState{askAgreed, askRefused}}, ids{b.ID}},
			{"a turn's that are open", earshot.ApprovalQuery{Turn: id, States: []earshot.ApprovalState{askOpen}, Limit: 1}, ids{d.ID}},
			{"due", earshot.ApprovalQuery{States: []earshot.ApprovalState{askOpen}, Due: timeAt(60)}, ids{d.ID}},
			{"not yet due", earshot.ApprovalQuery{Due: timeAt(59)}, ids{}},
		} {
			s.equal(x.name, s.approvals(x.q), x.want)
		}
	}},
}
