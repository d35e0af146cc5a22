package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
)

// refusal returns the event that delivers a message which is not answered.
func refusal(n int, why earshot.Refusal) earshot.Event {
	e := deliveryOf(n, "question")
	e.Refused = why
	return e
}

// refusedTurns returns the turns that were refused, newest first, without their times.
func (s *suite) refusedTurns() []earshot.QueuedTurn {
	s.Helper()
	list, err := s.QueuedTurns(s.Context(), earshot.TurnQuery{States: []earshot.TurnState{earshot.TurnRefused}})
	s.check(err)
	for i := range list {
		list[i].Updated = 0
	}
	return list
}

// committed is what a turn about message n leaves with its conversation.
func committed(n int) *earshot.Turn {
	return &earshot.Turn{Answer: earshot.Answer{Anchor: plainMessage(n, "").ID}, Hash: "h"}
}

var refusedCases = []testCase{
	{"a refusal is recorded once, whatever is delivered again", func(s *suite) {
		first := s.ask(refusal(1, earshot.RefusedBots), "c")
		s.equal("accepted", first, earshot.AcceptResult{RecordResult: earshot.RecordResult{ID: "m1", Change: earshot.New, Seq: 1}, Refused: true})
		s.equal("the delivery again", s.ask(refusal(1, earshot.RefusedBots), "c"), earshot.AcceptResult{
			RecordResult: earshot.RecordResult{ID: "m1", Change: earshot.Same, Seq: 1}, Duplicate: true})
		other := refusal(1, earshot.RefusedBot)
		other.Delivery = "by another way"
		s.equal("another delivery of it", s.ask(other, "c").Refused, false)
		got := s.refusedTurns()
		want := []earshot.QueuedTurn{{Conversation: s.conversation("c"), Anchor: "m1", State: earshot.TurnRefused, Why: "bots-bounded", Opened: timeAt(1)}}
		if len(got) == 1 {
			want[0].ID = got[0].ID
		}
		s.equal("turns", got, want)
		depth, err := s.Depth(s.Context())
		s.check(err)
		s.equal("depth", depth, map[earshot.TurnState]int{earshot.TurnRefused: 1})
	}},
	{"a refusal is claimed by nobody and holds up nobody", func(s *suite) {
		s.ask(refusal(1, earshot.RefusedBot), "c")
		s.idle(timeAt(1))
		id := s.asked(2, "c")
		s.ask(refusal(3, earshot.RefusedBot), "c")
		l, turns := s.claim("me", timeAt(4))
		s.equal("claimed", turnIDs(turns), []earshot.TurnID{id})
		s.begin(l, id, prompt(2))
		s.finish(l, id)
		s.check(s.Release(s.Context(), l, 0))
		s.idle(timeAt(99))
		refused := s.refusedTurns()
		for _, q := range refused {
			wantError(s.T, s.Reopen(s.Context(), q.ID), earshot.ErrConflict)
			wantError(s.T, s.Discard(s.Context(), q.ID, "x"), earshot.ErrConflict)
		}
		s.equal("refused", len(refused), 2)
	}},
	{"what is asked later takes the place of a refusal, under an id of its own", func(s *suite) {
		s.ask(refusal(1, earshot.RefusedBot), "c")
		refused := s.refusedTurns()[0].ID
		again := deliveryOf(1, "question")
		again.Delivery = "again"
		out := s.ask(again, "c")
		s.equal("opened", []bool{out.Opened, out.Refused, out.Turn > refused}, []bool{true, false, true})
		s.equal("refused", len(s.refusedTurns()), 0)
		_, err := s.QueuedTurn(s.Context(), refused)
		wantError(s.T, err, earshot.ErrNotFound)
		late := refusal(1, earshot.RefusedLate)
		late.Delivery = "late"
		s.equal("once it has a turn, nothing is refused", s.ask(late, "c"), earshot.AcceptResult{
			RecordResult: earshot.RecordResult{ID: "m1", Change: earshot.Same, Seq: out.Seq}, Turn: out.Turn})
		l, turns := s.claim("me", timeAt(4))
		s.equal("claimed", turnIDs(turns), []earshot.TurnID{out.Turn})
		s.begin(l, out.Turn, prompt(1))
		s.finish(l, out.Turn)
	}},
	{"a refusal is no claim: another way to answer the message stays free", func(s *suite) {
		s.ask(refusal(1, earshot.RefusedBot), "m1")
		d := s.opens(s.draft(1, "m1", 0))
		if _, err := s.commits(d, "an answer"); err != nil {
			s.Errorf("the draft: %v", err)
		}
		s.equal("refused", len(s.refusedTurns()), 0)
	}},
	{"an edit opens a turn where it asks anew, once", func(s *suite) {
		s.accept(deliveryOf(1, "hello"))
		edit := func(delivery string) earshot.Event {
			e := deliveryOf(1, "hello, <@agent>")
			e.Delivery, e.Message.Edited, e.Anew = delivery, timeAt(50), true
			return e
		}
		out := s.ask(edit("edit"), "c")
		s.equal("opened", []bool{out.Opened, out.Turn != 0}, []bool{true, true})
		again := s.ask(edit("edit again"), "c")
		s.equal("again", []any{again.Opened, again.Turn}, []any{false, out.Turn})
		plain := edit("plain")
		plain.Message.ID, plain.Anew = "m2", false
		s.equal("an edit that does not", s.ask(plain, "c").Opened, false)
	}},
	{"a message about which an agent said nothing, called by nobody, is asked about once more", func(s *suite) {
		ends := []struct {
			why   string
			state earshot.TurnState
			t     *earshot.Turn
		}{
			{"silent: they talk", earshot.TurnDone, committed(1)},
			{"ambient; silent: they talk", earshot.TurnDone, nil},
			{"ambient; silent: people went on talking", earshot.TurnDropped, nil},
			{"ambient; reacted :eyes:", earshot.TurnDone, nil},
			{"", earshot.TurnDone, committed(5)},
			{"too old", earshot.TurnDropped, nil},
		}
		for i, c := range ends {
			n := i + 1
			first := deliveryOf(n, "question")
			first.Client, first.Ambient = fmt.Sprint("client", n), strings.HasPrefix(c.why, earshot.WhyAmbient)
			id := s.ask(first, "c").Turn
			if first.Ambient {
				s.equal("opened as", s.queued(id).Why, earshot.WhyAmbient)
			}
			l, _ := s.claim("me", timeAt(n))
			if c.t != nil {
				s.begin(l, id, prompt(n))
			}
			s.check(s.Finish(s.Context(), l, id, c.state, c.why, c.t))
			s.check(s.Release(s.Context(), l, 0))
			plain := deliveryOf(n, "question")
			plain.Delivery = fmt.Sprint("again", n)
			s.equal(c.why+": delivered again", s.ask(plain, "c").Opened, false)
			by := earshot.Reactor{Emoji: "eyes", ID: "u9"}
			emoji := func(way string) earshot.Event {
				e := deliveryOf(n, "question")
				e.Delivery, e.Client, e.Anew, e.By = fmt.Sprint(way, n), first.Client, true, by
				return e
			}
			may := strings.Contains(c.why, "silent") || strings.Contains(c.why, "reacted")
			out := s.ask(emoji("emoji"), "c")
			s.equal(c.why+": asked by an emoji", []bool{out.Opened, out.Turn > id, out.Turn != id}, []bool{may, may, may})
			if !may {
				continue
			}
			s.equal(c.why+": the first turn stays", s.queued(id).Why, c.why)
			s.equal(c.why+": once", []any{s.ask(emoji("twice"), "c").Opened, s.ask(emoji("twice"), "c").Turn}, []any{false, out.Turn})
			l, turns := s.claim("me", timeAt(n))
			s.equal(c.why+": claimed", turnIDs(turns), []earshot.TurnID{out.Turn})
			s.begin(l, out.Turn, prompt(n))
			s.check(s.Finish(s.Context(), l, out.Turn, earshot.TurnDone, "", committed(n)))
			s.check(s.Release(s.Context(), l, 0))
			s.equal(c.why+": and then no more", s.ask(emoji("thrice"), "c").Opened, false)
		}
	}},
	{"a deleted message is not refused, and a refusal outlives its message", func(s *suite) {
		s.ask(refusal(1, earshot.RefusedBot), "c")
		s.accept(deletionOf(1, "question"))
		s.equal("refused", s.refusedTurns()[0].State, earshot.TurnRefused)
		s.accept(deletionOf(2, "question"))
		s.equal("afterwards", s.ask(refusal(2, earshot.RefusedBot), "c").Refused, false)
	}},
	{"a refusal is pruned as a turn that ended, and only known reasons are taken", func(s *suite) {
		s.ask(refusal(1, earshot.RefusedBot), "c")
		s.equal("pruned", s.prune(earshot.TimeOf(time.Now().Add(time.Hour))), 1)
		s.equal("it stays", len(s.refusedTurns()), 1)
		id := s.conversation("c")
		_, err := s.Accept(s.Context(), s.scope, refusal(2, "because"), &id)
		wantError(s.T, err, earshot.ErrInvalid)
	}},
	{"a message that was refused under one of its sender's ids can be asked under the next", func(s *suite) {
		first := refusal(1, earshot.RefusedAuthor)
		first.Client = "c1"
		s.ask(first, "c")
		second := deliveryOf(2, "question")
		second.Client = "c1"
		s.equal("opened", s.ask(second, "c").Opened, true)
	}},
	{"what is read along can be asked about by an emoji before its turn has ended, once", func(s *suite) {
		first := deliveryOf(1, "question")
		first.Ambient = true
		id := s.ask(first, "c").Turn
		event := func(n int, by earshot.Reactor) earshot.Event {
			e := deliveryOf(1, "question")
			e.Delivery, e.Anew, e.By = fmt.Sprint("more", n), true, by
			if by.Emoji == "" {
				e.Message.Edited = timeAt(10)
			}
			return e
		}
		out := s.ask(event(1, earshot.Reactor{}), "c")
		s.equal("an edit is the same turn's", []any{out.Opened, out.Turn}, []any{false, id})
		out = s.ask(event(2, earshot.Reactor{Emoji: "eyes", ID: "U9"}), "c")
		s.equal("an emoji", []bool{out.Opened, out.Turn > id}, []bool{true, true})
		again := s.ask(event(3, earshot.Reactor{Emoji: "eyes", ID: "U8"}), "c")
		s.equal("another one", []any{again.Opened, again.Turn}, []any{false, out.Turn})
		_, turns := s.claim("me", timeAt(20))
		s.equal("in order", turnIDs(turns), []earshot.TurnID{id, out.Turn})
	}},
}
