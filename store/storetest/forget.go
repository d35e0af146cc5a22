package storetest

import (
	"fmt"

	"github.com/earshot-ai/earshot"
)

// epoch returns a conversation's epoch.
func (s *suite) epoch(conversation string) int {
	s.Helper()
	c, err := s.Conversation(s.Context(), s.conversation(conversation))
	s.check(err)
	return c.Epoch
}

// answered answers message n in a conversation, showing messages, and returns
// the turn.
func (s *suite) answered(n int, conversation string, shows ...earshot.MessageID) earshot.TurnID {
	s.Helper()
	id := s.asked(n, conversation)
	l, _ := s.claim("me", timeAt(n))
	p := prompt(n, shows...)
	p.From = s.epoch(conversation)
	p.Epoch = p.From
	s.begin(l, id, p)
	s.step(l, id, 0)
	s.put(l, newPost(id, 0, earshot.PostSent))
	t := turn(n, fmt.Sprint("turn ", n))
	t.Epoch, t.Ledger, t.Shown = p.Epoch, nil, nil
	for _, m := range append(shows, t.Answer.Anchor) {
		t.Shown = append(t.Shown, earshot.ShownRevision{ID: m})
	}
	s.check(s.Finish(s.Context(), l, id, earshot.TurnDone, "", &t))
	s.check(s.Release(s.Context(), l, 0))
	return id
}

// text lists which texts a turn still has, such as "input journal post session".
func (s *suite) text(id earshot.TurnID) []string {
	s.Helper()
	out := []string{}
	q := s.queued(id)
	if len(q.Input) > 0 {
		out = append(out, "input")
	}
	for _, step := range s.steps(id) {
		if step.Erased == (len(step.Data) > 0) {
			s.Errorf("step %d of turn %d has %d bytes and is erased: %v", step.N, id, len(step.Data), step.Erased)
		}
		if !step.Erased {
			out = append(out, "journal")
		}
	}
	for _, p := range s.posts(id) {
		if p.Text != "" {
			out = append(out, "post")
		}
	}
	if q.State != earshot.TurnDone {
		return out
	}
	t, err := s.Turn(s.Context(), q.Conversation, q.Number)
	s.check(err)
	if len(t.Session) > 0 {
		out = append(out, "session")
	} else if len(t.Names) > 0 {
		s.Errorf("turn %d has names and no session", id)
	}
	return out
}

var everyText = []string{"input", "journal", "post", "session"}

var eraseCases = []testCase{
	{"a deletion erases the raw events of its message, its own included", func(s *suite) {
		s.accept(deliveryOf(1, "canary"))
		edit := deliveryOf(1, "canary, edited")
		edit.Delivery, edit.Message.Edited = "edit", timeAt(2)
		s.accept(edit)
		s.accept(deliveryOf(2, "stays"))
		out := s.accept(deletionOf(1, "canary"))
		s.equal("change", out.Change, earshot.Gone)
		s.equal("raw", s.raws(1), []string{"", "", ""})
		s.equal("of another", len(s.raws(2)[0]) > 0, true)
		s.equal("the delivery is still known", s.accept(edit).Duplicate, true)
	}},
	{"late copies of a deleted message store no text", func(s *suite) {
		s.accept(deletionOf(1, "canary"))
		out := s.ask(deliveryOf(1, "canary"), "m1")
		s.equal("accepted", []any{out.Change, out.Turn, out.Opened}, []any{earshot.Same, earshot.TurnID(0), false})
		s.equal("raw", s.raws(1), []string{"", ""})
		s.equal("message", s.message("m1").Text, "")
		s.idle(timeAt(9))
	}},
	{"replies to a deleted message keep their text and lose the raw events that may quote it", func(s *suite) {
		inThread, answer, other := deliveryOf(2, "reply"), deliveryOf(3, "answer"), deliveryOf(4, "other")
		inThread.Message.Thread, answer.Message.ReplyTo = "m1", "m1"
		s.accept(deliveryOf(1, "canary"))
		for _, e := range []earshot.Event{inThread, answer, other, deletionOf(1, "canary")} {
			s.accept(e)
		}
		late := deliveryOf(5, "late reply")
		late.Message.Thread = "m1"
		s.accept(late)
		for n, want := range map[int]int{2: 0, 3: 0, 4: 1, 5: 0} {
			got := 0
			for _, raw := range s.raws(n) {
				got += min(1, len(raw))
			}
			s.equal(fmt.Sprint("raw events of m", n), got, want)
		}
		s.equal("text", s.message("m2").Text, "reply")
	}},
	{"a deletion by Record erases as much as one by Accept", func(s *suite) {
		id := s.answered(1, "m1")
		s.record(tombstone(1))
		s.equal("text", s.text(id), []string{})
		s.equal("raw", s.raws(1), []string{""})
	}},
	{"the turns of an ended epoch still tell which files they gave", func(s *suite) {
		s.answered(1, "dm")
		s.answered(2, "dm")
		s.accept(deletionOf(1, ""))
		m, err := s.Manifest(s.Context(), s.conversation("dm"))
		s.check(err)
		s.equal("manifest", m, earshot.Manifest{})
		turns, err := s.Turns(s.Context(), s.conversation("dm"), 10)
		s.check(err)
		for n, t := range turns {
			s.equal("shown", t.Shown, []earshot.ShownRevision{{ID: earshot.MessageID(fmt.Sprint("m", n+1))}})
			s.equal("attached", t.Attached, []earshot.AttachedFile{{ID: "F1", SHA256: "ab", Turn: n, Tokens: 85}})
		}
		s.equal("turns", len(turns), 2)
	}},
	{"a turn whose anchor is deleted before the reply is dropped", func(s *suite) {
		a, b := s.asked(1, "dm"), s.asked(2, "dm")
		s.accept(deletionOf(1, ""))
		q := s.queued(a)
		s.equal("turn", []any{q.State, q.Why}, []any{earshot.TurnDropped, "anchor deleted"})
		l, turns := s.claim("me", timeAt(3))
		s.equal("left", turnIDs(turns), []earshot.TurnID{b})
		s.begin(l, b, prompt(2))
		s.put(l, newPost(b, 0, earshot.PostPlanned))
		s.accept(deletionOf(2, ""))
		s.equal("turn", s.queued(b).State, earshot.TurnDropped)
		wantError(s.T, s.PutPost(s.Context(), l, newPost(b, 0, earshot.PostSending)), earshot.ErrConflict)
		wantError(s.T, s.Finish(s.Context(), l, b, earshot.TurnDone, "", nil), earshot.ErrConflict)
		s.check(s.Finish(s.Context(), l, b, earshot.TurnDropped, "mine", nil))
		s.check(s.Release(s.Context(), l, 0))
		s.idle(timeAt(9))
		s.equal("text", s.text(b), []string{})
	}},
	{"a turn that may have posted outlives its anchor and keeps no text", func(s *suite) {
		l, id := s.ready(1, "m1")
		s.step(l, id, 0)
		s.put(l, newPost(id, 0, earshot.PostSending))
		s.accept(deletionOf(1, ""))
		s.equal("state", s.queued(id).State, earshot.TurnPosting)
		s.equal("what is to be posted stays", s.text(id), []string{"post"})
		s.step(l, id, 1)
		s.put(l, newPost(id, 0, earshot.PostSent))
		t := turn(1, "canary")
		s.check(s.Finish(s.Context(), l, id, earshot.TurnDone, "", &t))
		s.equal("text", s.text(id), []string{})
		s.equal("epoch", s.epoch("m1"), 1)
		session, err := s.Session(s.Context(), s.conversation("m1"))
		s.check(err)
		m, err := s.Manifest(s.Context(), s.conversation("m1"))
		s.check(err)
		s.equal("the next epoch is empty", []int{len(session), len(m.Shown), len(m.Names)}, []int{0, 0, 0})
	}},
	{"a deletion ends the epochs that have read the message, and no other", func(s *suite) {
		s.record(plainMessage(50, "canary"), plainMessage(51, "other"))
		before, shown, after := s.answered(1, "dm"), s.answered(2, "dm", "m50"), s.answered(3, "dm")
		elsewhere := s.answered(4, "m4", "m51")
		s.accept(deletionOf(50, "canary"))
		for _, id := range []earshot.TurnID{before, shown, after} {
			s.equal("text", s.text(id), []string{})
		}
		s.equal("of another conversation", s.text(elsewhere), everyText)
		s.equal("epochs", []int{s.epoch("dm"), s.epoch("m4")}, []int{1, 0})
		session, err := s.Session(s.Context(), s.conversation("dm"))
		s.check(err)
		s.equal("session", len(session), 0)
		next := s.answered(5, "dm")
		s.accept(deletionOf(2, ""))
		s.equal("an epoch that began after it", s.text(next), everyText)
		s.equal("epoch", s.epoch("dm"), 1)
	}},
	{"a snippet and what a tool found count as read", func(s *suite) {
		s.record(plainMessage(50, "canary"), plainMessage(51, "canary"), plainMessage(52, "only considered"))
		l, id := s.ready(1, "m1")
		s.step(l, id, 0, "m50")
		t := turn(1, "x")
		t.Shown = nil
		t.Ledger = earshot.Ledger{{ID: "m51", Verdict: earshot.Snippet}, {ID: "m52", Verdict: earshot.Out}}
		s.check(s.Finish(s.Context(), l, id, earshot.TurnDone, "", &t))
		s.accept(deletionOf(52, ""))
		s.equal("only considered", s.text(id), []string{"input", "journal", "session"})
		s.accept(deletionOf(51, ""))
		s.equal("snippet", s.text(id), []string{})
		s.check(s.Release(s.Context(), l, 0))
		other := s.asked(2, "m2")
		l, _ = s.claim("me", timeAt(60))
		s.begin(l, other, prompt(2))
		s.step(l, other, 0, "m50")
		s.accept(deletionOf(50, ""))
		s.equal("a tool's", s.text(other), []string{})
	}},
	{"a turn under way whose prompt shows a deleted message may finish, and no text of it is kept", func(s *suite) {
		s.record(plainMessage(50, "canary"))
		id := s.asked(1, "m1")
		l, _ := s.claim("me", timeAt(1))
		s.begin(l, id, prompt(1, "m50"))
		s.step(l, id, 0)
		s.accept(deletionOf(50, ""))
		steps := s.steps(id)
		s.equal("the journal says so", len(steps) == 1 && steps[0].Erased, true)
		s.step(l, id, 1)
		s.put(l, newPost(id, 0, earshot.PostSent))
		t := turn(1, "canary")
		s.check(s.Finish(s.Context(), l, id, earshot.TurnDone, "", &t))
		s.equal("text", s.text(id), []string{})
		c, err := s.Conversation(s.Context(), s.conversation("m1"))
		s.check(err)
		s.equal("conversation", []any{c.Epoch, c.Cursor}, []any{1, t.Cursor})
	}},
	{"so with a turn that begins a new epoch", func(s *suite) {
		s.record(plainMessage(50, "canary"))
		old := s.answered(1, "dm")
		id := s.asked(2, "dm")
		l, _ := s.claim("me", timeAt(2))
		p := prompt(2, "m50")
		p.Epoch = 1
		s.begin(l, id, p)
		s.accept(deletionOf(50, ""))
		t := turn(2, "canary")
		t.Epoch = 1
		s.check(s.Finish(s.Context(), l, id, earshot.TurnDone, "", &t))
		s.equal("text", s.text(id), []string{})
		s.equal("what has not read it stays", s.text(old), everyText)
		s.equal("epoch", s.epoch("dm"), 2)
	}},
	{"after an erasure the turn needs a new prompt", func(s *suite) {
		s.record(plainMessage(50, "canary"))
		id := s.asked(1, "m1")
		l, _ := s.claim("me", timeAt(1))
		s.accept(deletionOf(50, ""))
		wantError(s.T, s.Begin(s.Context(), l, id, prompt(1, "m50")), earshot.ErrConflict)
		s.begin(l, id, prompt(1))
		s.equal("text", s.text(id), []string{"input"})
	}},
	{"a step that shows a deleted message is stored without its data, and so are the steps after it", func(s *suite) {
		s.record(plainMessage(50, "canary"))
		l, id := s.ready(1, "m1")
		s.step(l, id, 0)
		s.accept(deletionOf(50, ""))
		s.step(l, id, 1, "m50")
		s.step(l, id, 2)
		var erased []bool
		for _, step := range s.steps(id) {
			erased = append(erased, step.Erased)
		}
		s.equal("erased", erased, []bool{false, true, true})
		t := turn(1, "canary")
		s.check(s.Finish(s.Context(), l, id, earshot.TurnDone, "", &t))
		s.equal("text", s.text(id), []string{})
	}},
	{"a commit that shows a deleted message stores no session", func(s *suite) {
		s.record(plainMessage(50, "canary"))
		s.accept(deletionOf(50, ""))
		l, id := s.ready(1, "m1")
		t := turn(1, "canary")
		t.Shown = []earshot.ShownRevision{{ID: "m50"}}
		s.check(s.Finish(s.Context(), l, id, earshot.TurnDone, "", &t))
		s.equal("text", s.text(id), []string{})
		s.equal("epoch", s.epoch("m1"), 1)
		s.opened("m2", "")
		t = turn(2, "canary")
		t.Shown = []earshot.ShownRevision{{ID: "m50"}}
		t = s.commit("m2", t)
		got, err := s.Turn(s.Context(), s.conversation("m2"), t.Number)
		s.check(err)
		s.equal("without a queue", []any{len(got.Session), len(got.Names), s.epoch("m2")}, []any{0, 0, 1})
	}},
	{"the model's reason to say nothing goes with what it had read", func(s *suite) {
		s.record(plainMessage(50, "canary"))
		for n, why := range []string{"silent: canary", "ambient; silent: canary", "ambient; reacted :eyes:"} {
			id := s.asked(n, fmt.Sprint("m", n))
			l, _ := s.claim("me", timeAt(n))
			s.begin(l, id, prompt(n, "m50"))
			s.check(s.Finish(s.Context(), l, id, earshot.TurnDone, why, nil))
			s.check(s.Release(s.Context(), l, 0))
		}
		id := s.asked(3, "m3")
		l, _ := s.claim("me", timeAt(3))
		s.begin(l, id, prompt(3, "m50"))
		s.accept(deletionOf(50, ""))
		s.check(s.Finish(s.Context(), l, id, earshot.TurnDone, "silent: canary", nil))
		list, err := s.QueuedTurns(s.Context(), earshot.TurnQuery{})
		s.check(err)
		got := []string{}
		for _, q := range list {
			got = append(got, q.Why)
		}
		s.equal("why", got, []string{"silent: (erased)", "ambient; reacted :eyes:", "ambient; silent: (erased)", "silent: (erased)"})
	}},
	{"a failed or parked turn keeps no deleted text, and cannot be reopened if its anchor is deleted", func(s *suite) {
		s.record(plainMessage(50, "canary"))
		for n, state := range []earshot.TurnState{earshot.TurnFailed, earshot.TurnParked} {
			id := s.asked(n, fmt.Sprint("m", n))
			l, _ := s.claim("me", timeAt(n))
			s.begin(l, id, prompt(n, "m50"))
			s.step(l, id, 0)
			s.put(l, newPost(id, 0, earshot.PostAmbiguous))
			s.check(s.Finish(s.Context(), l, id, state, "x", nil))
			s.check(s.Release(s.Context(), l, 0))
		}
		s.accept(deletionOf(50, ""))
		s.accept(deletionOf(0, ""))
		list, err := s.QueuedTurns(s.Context(), earshot.TurnQuery{})
		s.check(err)
		for i, want := range []earshot.TurnState{earshot.TurnParked, earshot.TurnFailed} {
			s.equal("text", s.text(list[i].ID), []string{})
			s.equal("state", list[i].State, want)
		}
		wantError(s.T, s.Reopen(s.Context(), list[1].ID), earshot.ErrConflict)
		s.check(s.Reopen(s.Context(), list[0].ID))
	}},
	{"a turn that is reopened after an erasure keeps no text of its first try", func(s *suite) {
		s.record(plainMessage(50, "canary"))
		for n, begun := range []bool{false, true} { // when the deletion comes
			id := s.asked(n, fmt.Sprint("m", n))
			l, _ := s.claim("me", timeAt(n))
			shown := earshot.MessageID("m50")
			if begun {
				shown = "m51"
				s.record(plainMessage(51, "canary"))
			}
			s.begin(l, id, prompt(n, shown))
			s.put(l, newPost(id, 0, earshot.PostSent))
			if !begun {
				s.check(s.Finish(s.Context(), l, id, earshot.TurnParked, "x", nil))
				s.check(s.Reopen(s.Context(), id))
			}
			s.record(earshot.Message{ID: shown, Deleted: true})
			p := prompt(9)
			p.From, p.Epoch = 1, 1
			s.begin(l, id, p)
			s.equal("text", s.text(id), []string{"input"})
			s.check(s.Finish(s.Context(), l, id, earshot.TurnDone, "", nil))
			s.check(s.Release(s.Context(), l, 0))
		}
	}},
	{"a deletion erases in the conversations of every agent, but in no other channel", func(s *suite) {
		own := s.answered(1, "m1")
		other := s.scope
		other.Channel = "C2"
		there := &suite{T: s.T, Store: s.Store, scope: other}
		theirs := there.answered(1, "m1")
		id := s.conversation("theirs")
		id.Agent = "other"
		_, _, err := s.OpenConversation(s.Context(), id, "")
		s.check(err)
		t := turn(1, "x")
		_, err = s.CommitTurn(s.Context(), id, t)
		s.check(err)
		s.accept(deletionOf(1, ""))
		s.equal("own", s.text(own), []string{})
		s.equal("in another channel", there.text(theirs), everyText)
		session, err := s.Session(s.Context(), id)
		s.check(err)
		s.equal("another agent's session", len(session), 0)
		s.equal("raw elsewhere", len(there.raws(1)[0]) > 0, true)
	}},
}
