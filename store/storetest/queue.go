package storetest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
)

// hold is for how long the suite claims a lease.
const hold = 10 * time.Second

// deliveryOf returns the event that delivers said(n, text).
func deliveryOf(n int, text string) earshot.Event {
	return earshot.Event{Delivery: fmt.Sprint("Ev", n), Raw: []byte(`{"text":"` + text + `"}`), Received: timeAt(n), Message: plainMessage(n, text)}
}

// deletionOf returns the event that delivers tombstone(n). Its raw bytes contain the
// text, as those of a platform may.
func deletionOf(n int, text string) earshot.Event {
	return earshot.Event{Delivery: fmt.Sprint("EvD", n), Raw: []byte(`{"previous":"` + text + `"}`), Received: timeAt(n), Message: tombstone(n)}
}

// accept accepts an event that opens no turn.
func (s *suite) accept(e earshot.Event) earshot.AcceptResult {
	s.Helper()
	out, err := s.Accept(s.Context(), s.scope, e, nil)
	s.check(err)
	return out
}

// ask accepts an event that may open a turn of the suite's agent in a conversation.
func (s *suite) ask(e earshot.Event, conversation string) earshot.AcceptResult {
	s.Helper()
	id := s.conversation(conversation)
	out, err := s.Accept(s.Context(), s.scope, e, &id)
	s.check(err)
	return out
}

// asked opens a turn for message n and returns it.
func (s *suite) asked(n int, conversation string) earshot.TurnID {
	s.Helper()
	out := s.ask(deliveryOf(n, fmt.Sprint("question ", n)), conversation)
	if !out.Opened || out.Turn == 0 {
		s.Fatalf("m%d opened no turn: %+v", n, out)
	}
	return out.Turn
}

func (s *suite) claim(owner string, now earshot.Time) (earshot.Lease, []earshot.QueuedTurn) {
	s.Helper()
	l, turns, err := s.Claim(s.Context(), "agent", owner, now, hold)
	s.check(err)
	return l, turns
}

// idle checks that there is nothing to claim.
func (s *suite) idle(now earshot.Time) {
	s.Helper()
	_, turns, err := s.Claim(s.Context(), "agent", "idler", now, hold)
	if !errors.Is(err, earshot.ErrNotFound) {
		s.Errorf("Claim gave %v, %v, want ErrNotFound", turnIDs(turns), err)
	}
}

func turnIDs(list []earshot.QueuedTurn) []earshot.TurnID {
	out := []earshot.TurnID{}
	for _, t := range list {
		out = append(out, t.ID)
	}
	return out
}

// queued returns a turn without the time of its last change.
func (s *suite) queued(id earshot.TurnID) earshot.QueuedTurn {
	s.Helper()
	t, err := s.QueuedTurn(s.Context(), id)
	s.check(err)
	if t.Updated == 0 {
		s.Errorf("turn %d has no time of change", id)
	}
	t.Updated = 0
	return t
}

// raws returns the raw bytes of the events about message n; "" where they are erased.
func (s *suite) raws(n int) []string {
	s.Helper()
	list, err := s.Events(s.Context(), s.scope, plainMessage(n, "").ID)
	s.check(err)
	out := []string{}
	for _, e := range list {
		out = append(out, string(e.Raw))
	}
	return out
}

var acceptCases = []testCase{
	{"an event is kept with its message and its turn", func(s *suite) {
		e := deliveryOf(1, "hello")
		e.Client = "c1"
		out := s.ask(e, "m1")
		s.equal("accepted", out, earshot.AcceptResult{RecordResult: earshot.RecordResult{ID: "m1", Change: earshot.New, Seq: 1}, Turn: out.Turn, Opened: true})
		s.equal("message", withoutStoreFields(s.message("m1")), e.Message)
		events, err := s.Events(s.Context(), s.scope, "m1")
		s.check(err)
		e.Message = earshot.Message{ID: "m1"}
		s.equal("events", events, []earshot.Event{e})
		s.equal("turn", s.queued(out.Turn), earshot.QueuedTurn{
			ID: out.Turn, Conversation: s.conversation("m1"), Anchor: "m1", State: earshot.TurnOpen, Opened: timeAt(1),
		})
		c, err := s.Conversation(s.Context(), s.conversation("m1"))
		s.check(err)
		s.equal("the conversation is opened", c.ID, s.conversation("m1"))
	}},
	{"an event without a conversation is stored and opens no turn", func(s *suite) {
		s.equal("accepted", s.accept(deliveryOf(1, "hello")), earshot.AcceptResult{RecordResult: earshot.RecordResult{ID: "m1", Change: earshot.New, Seq: 1}})
		s.equal("raw", s.raws(1), []string{`{"text":"hello"}`})
		s.idle(timeAt(1))
	}},
	{"a delivery that is known writes nothing", func(s *suite) {
		first := s.ask(deliveryOf(1, "hello"), "m1")
		again := deliveryOf(1, "other")
		again.Received = timeAt(9)
		s.equal("again", s.ask(again, "m1"), earshot.AcceptResult{
			RecordResult: earshot.RecordResult{ID: "m1", Change: earshot.Same, Seq: 1}, Duplicate: true, Turn: first.Turn})
		s.equal("again, asking nobody", s.accept(again), earshot.AcceptResult{RecordResult: earshot.RecordResult{ID: "m1", Change: earshot.Same, Seq: 1}, Duplicate: true})
		s.equal("text", s.message("m1").Text, "hello")
		s.equal("raw", s.raws(1), []string{`{"text":"hello"}`})
	}},
	{"a delivery is known in its channel only", func(s *suite) {
		s.asked(1, "m1")
		other := s.scope
		other.Workspace = "T2"
		out, err := s.Accept(s.Context(), other, deliveryOf(1, "hello"), nil)
		s.check(err)
		s.equal("duplicate", out.Duplicate, false)
		events, err := s.Events(s.Context(), other, "m1")
		s.check(err)
		s.equal("events there", len(events), 1)
	}},
	{"a message has one turn, however many deliveries it has", func(s *suite) {
		first := s.asked(1, "m1")
		for i := range 11 {
			e := deliveryOf(1, "question 1")
			e.Delivery = fmt.Sprint("again ", i)
			if i == 5 {
				e.Delivery = ""
			}
			out := s.ask(e, fmt.Sprint("m", i%3))
			s.equal("again", []any{out.Turn, out.Opened, out.Change}, []any{first, false, earshot.Same})
		}
		s.equal("events", len(s.raws(1)), 12)
	}},
	{"a message that was recorded before opens its turn when its event comes", func(s *suite) {
		s.record(plainMessage(1, "question 1"))
		s.accept(earshot.Event{Delivery: "Ev0", Message: plainMessage(1, "question 1")})
		s.asked(1, "m1")
	}},
	{"each agent has a turn of its own for a message", func(s *suite) {
		first := s.asked(1, "m1")
		id := s.conversation("m1")
		id.Agent = "other"
		e := deliveryOf(1, "question 1")
		e.Delivery = "to the other"
		out, err := s.Accept(s.Context(), s.scope, e, &id)
		s.check(err)
		s.equal("opened", out.Opened && out.Turn > first, true)
		_, turns := s.claim("a", timeAt(2))
		s.equal("the agent's", turnIDs(turns), []earshot.TurnID{first})
		s.idle(timeAt(2))
	}},
	{"an edit opens no turn, the original that comes after it does", func(s *suite) {
		e := deliveryOf(1, "edited")
		e.Message.Edited = timeAt(5)
		out := s.ask(e, "m1")
		s.equal("edit", []any{out.Change, out.Turn, out.Opened}, []any{earshot.New, earshot.TurnID(0), false})
		late := deliveryOf(1, "original")
		late.Delivery = "late"
		out = s.ask(late, "m1")
		s.equal("original", []any{out.Change, out.Opened}, []any{earshot.Late, true})
		s.equal("the edit stands", s.message("m1").Text, "edited")
		again := deliveryOf(1, "edited again")
		again.Delivery, again.Message.Edited = "edit again", timeAt(6)
		s.equal("an edit of a message with a turn names it", s.ask(again, "m1").Turn, out.Turn)
	}},
	{"a message that history has only as it was edited opens its turn, once", func(s *suite) {
		e := deliveryOf(1, "edited")
		e.Message.Edited, e.Past = timeAt(5), true
		first := s.ask(e, "m1")
		s.equal("first", []any{first.Change, first.Opened}, []any{earshot.New, true})
		e.Delivery, e.Message.Edited = "edited again", timeAt(6)
		again := s.ask(e, "m1")
		s.equal("a later edit", []any{again.Change, again.Turn, again.Opened}, []any{earshot.Edited, first.Turn, false})
		s.record(plainMessage(2, "known"))
		known := deliveryOf(2, "known, edited")
		known.Message.Edited, known.Past = timeAt(5), true
		s.equal("of what was known", s.ask(known, "m2").Opened, false)
	}},
	{"a message that its sender sent twice opens one turn", func(s *suite) {
		base := func(n int, minutes float64) earshot.Event {
			e := deliveryOf(n, "twice")
			e.Client = "c1"
			e.Message.Time = timeAt(0) + earshot.Time(minutes*60_000_000)
			return e
		}
		other := func(change func(*earshot.Event), e earshot.Event) earshot.Event {
			change(&e)
			return e
		}
		for _, c := range []struct {
			name   string
			e      earshot.Event
			opened bool
		}{
			{"the first", base(1, 20), true},
			{"within ten minutes", base(2, 30), false},
			{"before it, within ten minutes", base(3, 10), false},
			{"later", base(4, 31), true},
			{"by another author", other(func(e *earshot.Event) { e.Message.Author.ID = "U2" }, base(5, 20)), true},
			{"under another client id", other(func(e *earshot.Event) { e.Client = "c2" }, base(6, 20)), true},
			{"without a client id", other(func(e *earshot.Event) { e.Client = "" }, base(7, 20)), true},
		} {
			out := s.ask(c.e, "dm")
			s.equal(c.name, []any{out.Change, out.Opened, out.Turn != 0}, []any{earshot.New, c.opened, c.opened})
		}
	}},
	{"an invalid event is refused and nothing is stored", func(s *suite) {
		long := strings.Repeat("x", 513)
		elsewhere, nobody := s.conversation("m1"), s.conversation("m1")
		elsewhere.Scope.Channel, nobody.Agent = "C2", ""
		for _, c := range []struct {
			name string
			e    earshot.Event
			ask  *earshot.ConversationID
		}{
			{"a message without an id", earshot.Event{Delivery: "x", Message: earshot.Message{Time: 1}}, nil},
			{"a delivery id that is too long", earshot.Event{Delivery: long, Message: plainMessage(1, "x")}, nil},
			{"a client id that is too long", earshot.Event{Client: long, Message: plainMessage(1, "x")}, nil},
			{"a conversation in another channel", deliveryOf(1, "x"), &elsewhere},
			{"a conversation of nobody", deliveryOf(1, "x"), &nobody},
		} {
			if _, err := s.Accept(s.Context(), s.scope, c.e, c.ask); !errors.Is(err, earshot.ErrInvalid) {
				s.Errorf("%s: got %v, want ErrInvalid", c.name, err)
			}
		}
		_, err := s.Message(s.Context(), s.scope, "m1")
		wantError(s.T, err, earshot.ErrNotFound)
	}},
	{"raw bytes come back unchanged", func(s *suite) {
		raw := "\x00\xff\xed\xa0\x80" + strings.Repeat("z", 200_000)
		s.accept(earshot.Event{Delivery: "a\x00b", Raw: []byte(raw), Message: plainMessage(1, "x")})
		s.equal("raw", s.raws(1), []string{raw})
		out := s.accept(earshot.Event{Delivery: "a\x00b", Message: plainMessage(1, "x")})
		s.equal("known", out.Duplicate, true)
	}},
	{"old events are pruned when the caller asks", func(s *suite) {
		for n := range 10 {
			s.asked(n, "dm")
		}
		count := func(before earshot.Time) int {
			n, err := s.PruneEvents(s.Context(), before)
			s.check(err)
			return n
		}
		s.equal("before the first", count(timeAt(0)), 0)
		s.equal("some", count(timeAt(4)), 4)
		s.equal("the same again", count(timeAt(4)), 0)
		s.equal("forgotten", len(s.raws(3)), 0)
		s.equal("kept", len(s.raws(4)), 1)
		s.equal("kept is known", s.ask(deliveryOf(4, "question 4"), "dm").Duplicate, true)
		again := s.ask(deliveryOf(3, "question 3"), "dm")
		s.equal("forgotten, but the message is known", []any{again.Duplicate, again.Change, again.Opened, again.Turn != 0},
			[]any{false, earshot.Same, false, true})
	}},
	{"many old events are pruned by one call", func(s *suite) {
		q := earshot.Queue(s.Store)
		n := sizeUnderRace(1203, 503)
		errs := runTogether(8, func(i int) error {
			for k := i; k < n; k += 8 {
				if _, err := q.Accept(s.Context(), s.scope, deliveryOf(k, "x"), nil); err != nil {
					return err
				}
			}
			return nil
		})
		s.equal("errors", len(errs), 0)
		got, err := q.PruneEvents(s.Context(), timeAt(n-2))
		s.check(err)
		s.equal("forgotten", got, n-2)
	}},
}
