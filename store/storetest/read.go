package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/earshot-ai/earshot"
)

// chat records messages with a thread among them, one of whose four replies is
// deleted: m1 m2(root) m3>m2 m4 m5>m2 m6>m2 m7 m8>m2(deleted).
func (s *suite) chat() {
	s.Helper()
	s.record(plainMessage(7, "seven"), reply(3, "m2", "three"), plainMessage(1, "one"), plainMessage(4, "four"), reply(6, "m2", "six"),
		plainMessage(2, "two"), reply(5, "m2", "five"), reply(8, "m2", "eight"), tombstone(8))
}

var (
	whole  = earshot.Whole()
	top    = earshot.TopLevel()
	thread = earshot.ThreadOf("m2")
	open   = earshot.Position{}
)

var readCases = []testCase{
	{"newest and range read each part within its bounds", func(s *suite) {
		s.chat()
		for _, c := range []struct {
			name     string
			part     earshot.ChannelPart
			from, to earshot.Position
			want     []earshot.MessageID
		}{
			{"the whole channel", whole, open, open, names("m1", "m2", "m3", "m4", "m5", "m6", "m7")},
			{"the top level", top, open, open, names("m1", "m2", "m4", "m7")},
			{"a thread with its root", thread, open, open, names("m2", "m3", "m5", "m6")},
			{"the whole up to a message, itself included", whole, open, positionAt(4), names("m1", "m2", "m3", "m4")},
			{"a thread up to its root", thread, open, positionAt(2), names("m2")},
			{"a thread before its root", thread, open, positionAt(1), names()},
			{"a thread up to a message of another part", thread, open, positionAt(4), names("m2", "m3")},
			{"the whole from a message, itself included", whole, positionAt(5), open, names("m5", "m6", "m7")},
			{"a thread from its root", thread, positionAt(2), positionAt(5), names("m2", "m3", "m5")},
			{"a thread from after its root", thread, positionAt(3), open, names("m3", "m5", "m6")},
			{"between two moments without a message", whole, earshot.Position{Time: timeAt(2) + 1}, earshot.Position{Time: timeAt(5) - 1}, names("m3", "m4")},
			{"a moment is before every message at it", whole, earshot.Position{Time: timeAt(3)}, earshot.Position{Time: timeAt(4)}, names("m3")},
			{"bounds the wrong way round", whole, positionAt(6), positionAt(2), names()},
			{"a thread that does not exist", earshot.ThreadOf("nope"), open, open, names()},
			{"a thread without replies is its root", earshot.ThreadOf("m4"), open, open, names("m4")},
		} {
			s.equal("Range of "+c.name, s.ranged(c.part, c.from, c.to), c.want)
			if c.from.IsZero() {
				s.equal("Newest of "+c.name, s.newest(c.part, c.to, 100), c.want)
				n := min(2, len(c.want))
				s.equal("Newest two of "+c.name, s.newest(c.part, c.to, 2), c.want[len(c.want)-n:])
			}
		}
		s.equal("no limit, nothing", s.newest(whole, open, 0), names())
	}},
	{"messages of one moment are in the order of their ids' bytes", func(s *suite) {
		var list []earshot.Message
		for _, id := range []earshot.MessageID{"b", "ä", "B", "a", "10", "9", "aa"} {
			m := plainMessage(1, "x")
			m.ID = id
			list = append(list, m)
		}
		s.record(list...)
		want := names("10", "9", "B", "a", "aa", "b", "ä")
		s.equal("Range", s.ranged(whole, open, open), want)
		s.equal("Newest", s.newest(whole, earshot.Position{Time: timeAt(1), ID: "aa"}, 3), names("B", "a", "aa"))
		s.equal("from", s.ranged(whole, earshot.Position{Time: timeAt(1), ID: "b"}, open), names("b", "ä"))
	}},
	{"a thread whose root was never recorded has only its replies", func(s *suite) {
		s.record(reply(3, "m0", "a"), reply(4, "m0", "b"))
		s.equal("thread", s.newest(earshot.ThreadOf("m0"), open, 9), names("m3", "m4"))
		s.record(plainMessage(0, "root"))
		s.equal("with root", s.newest(earshot.ThreadOf("m0"), open, 9), names("m0", "m3", "m4"))
		s.record(tombstone(0))
		s.equal("deleted root", s.ranged(earshot.ThreadOf("m0"), open, open), names("m3", "m4"))
	}},
	{"a root stands by its position even after its replies", func(s *suite) {
		s.record(reply(1, "m5", "early"), plainMessage(5, "root"), reply(9, "m5", "late"))
		want := names("m1", "m5", "m9")
		s.equal("Newest", s.newest(earshot.ThreadOf("m5"), open, 9), want)
		s.equal("Newest two", s.newest(earshot.ThreadOf("m5"), open, 2), want[1:])
		s.equal("Range", s.ranged(earshot.ThreadOf("m5"), open, open), want)
		s.equal("Range to the root", s.ranged(earshot.ThreadOf("m5"), open, positionAt(5)), want[:2])
	}},
	{"a range may be left early, and messages may be recorded meanwhile", func(s *suite) {
		var list []earshot.Message
		for i := range 1500 {
			list = append(list, plainMessage(i, "x"))
		}
		s.record(list...)
		n := 0
		for m, err := range s.Range(s.Context(), s.scope, whole, open, open) {
			s.check(err)
			if n++; n == 3 {
				s.record(plainMessage(5000, "meanwhile "+string(m.ID)))
			}
			if n == 1200 {
				break
			}
		}
		s.equal("read", n, 1200)
	}},
	{"messages by id come in the order of position, each once", func(s *suite) {
		s.chat()
		list, err := s.ByID(s.Context(), s.scope, "m7", "m1", "nope", "m8", "m7", "m3")
		s.check(err)
		s.equal("ids", messageIDs(list), names("m1", "m3", "m7", "m8"))
		var many []earshot.MessageID
		for i := 200; i >= 0; i-- {
			many = append(many, plainMessage(i, "").ID)
		}
		list, err = s.ByID(s.Context(), s.scope, many...)
		s.check(err)
		s.equal("many", messageIDs(list), names("m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8"))
		list, err = s.ByID(s.Context(), s.scope)
		s.check(err)
		s.equal("none", len(list), 0)
	}},
	{"a message that is not stored is not found", func(s *suite) {
		_, err := s.Message(s.Context(), s.scope, "nope")
		wantError(s.T, err, earshot.ErrNotFound)
		_, err = s.Revisions(s.Context(), s.scope, "nope")
		wantError(s.T, err, earshot.ErrNotFound)
	}},
	{"since returns what became known, in the order of sequence", func(s *suite) {
		s.record(plainMessage(3, "c"), plainMessage(1, "a"), plainMessage(2, "b"))
		edit := plainMessage(3, "cc")
		edit.Edited = timeAt(9)
		s.record(edit, tombstone(1))
		list, err := s.Since(s.Context(), s.scope, 0, 0)
		s.check(err)
		s.equal("all", messageIDs(list), names("m2", "m3", "m1"))
		list, err = s.Since(s.Context(), s.scope, 3, 1)
		s.check(err)
		s.equal("one after 3", messageIDs(list), names("m3"))
		list, err = s.Since(s.Context(), s.scope, 5, 0)
		s.check(err)
		s.equal("after all", messageIDs(list), names())
	}},
	{"replying finds the replies to a message", func(s *suite) {
		refer := func(n int, to earshot.MessageID) earshot.Message {
			m := plainMessage(n, "re")
			m.ReplyTo = to
			return m
		}
		s.record(plainMessage(1, "a"), plainMessage(2, "b"), refer(6, "m2"), refer(5, "m1"), refer(3, "m1"), refer(4, "m9"), refer(7, "m1"), tombstone(7))
		for _, c := range []struct {
			upTo earshot.Position
			ids  []earshot.MessageID
			want []earshot.MessageID
		}{
			{open, names("m1", "m2"), names("m3", "m5", "m6")},
			{positionAt(5), names("m2", "m1", "m1"), names("m3", "m5")},
			{open, names("m9"), names("m4")},
			{open, names("m4", ""), names()},
			{open, names(), names()},
		} {
			list, err := s.Replying(s.Context(), s.scope, c.upTo, c.ids...)
			s.check(err)
			s.equal("replying", messageIDs(list), c.want)
		}
	}},
	{"a cancelled read returns the error of its context", func(s *suite) {
		s.chat()
		ctx, cancel := context.WithCancel(s.Context())
		cancel()
		_, err := s.Newest(ctx, s.scope, whole, open, 5)
		wantError(s.T, err, context.Canceled)
		_, err = s.Record(ctx, s.scope, plainMessage(100, "x"))
		wantError(s.T, err, context.Canceled)
		for _, err := range s.Range(ctx, s.scope, whole, open, open) {
			wantError(s.T, err, context.Canceled)
		}
		s.equal("not recorded", s.newest(whole, open, 1), names("m7"))
	}},
}

func wantError(t testing.TB, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("got error %v, want %v", got, want)
	}
}

var countCases = []testCase{
	{"counts are of what is stored at or before a position", func(s *suite) {
		s.chat()
		for _, c := range []struct {
			name string
			part earshot.ChannelPart
			upTo earshot.Position
			want earshot.Count
		}{
			{"the whole", whole, open, earshot.Count{Count: 7, From: timeAt(1), To: timeAt(7)}},
			{"the top level", top, open, earshot.Count{Count: 4, From: timeAt(1), To: timeAt(7)}},
			{"a thread", thread, open, earshot.Count{Count: 4, From: timeAt(2), To: timeAt(6)}},
			{"the whole up to m4", whole, positionAt(4), earshot.Count{Count: 4, From: timeAt(1), To: timeAt(4)}},
			{"a thread up to m4", thread, positionAt(4), earshot.Count{Count: 2, From: timeAt(2), To: timeAt(3)}},
			{"a thread up to its root", thread, positionAt(2), earshot.Count{Count: 1, From: timeAt(2), To: timeAt(2)}},
			{"a thread before its root", thread, positionAt(1), earshot.Count{}},
			{"a thread that does not exist", earshot.ThreadOf("nope"), open, earshot.Count{}},
			{"before everything", whole, earshot.Position{Time: 1}, earshot.Count{}},
		} {
			got, err := s.Count(s.Context(), s.scope, c.part, c.upTo)
			s.check(err)
			s.equal("Count of "+c.name, got, c.want)
		}
	}},
	{"activity counts the replies of each root that has any", func(s *suite) {
		s.chat()
		s.record(reply(4000, "m2", "an hour later"))
		got, err := s.Activity(s.Context(), s.scope, open, "m1", "m2", "m3", "nope", "")
		s.check(err)
		s.equal("without a bound", got, map[earshot.MessageID]earshot.Activity{"m2": {Count: 4, Last: timeAt(4000)}})
		got, err = s.Activity(s.Context(), s.scope, positionAt(4000), "m2")
		s.check(err)
		s.equal("at the last", got, map[earshot.MessageID]earshot.Activity{"m2": {Count: 4, LastHour: 1, Last: timeAt(4000)}})
		got, err = s.Activity(s.Context(), s.scope, earshot.Position{Time: timeAt(3605)}, "m2")
		s.check(err)
		s.equal("an hour after m5, both ends counted", got, map[earshot.MessageID]earshot.Activity{"m2": {Count: 3, LastHour: 2, Last: timeAt(6)}})
		got, err = s.Activity(s.Context(), s.scope, positionAt(2), "m2")
		s.check(err)
		s.equal("before the first reply", got, map[earshot.MessageID]earshot.Activity{})
	}},
}
