package storetest

import (
	"fmt"

	"github.com/earshot-ai/earshot"
)

// turn returns the nth turn of a conversation, whole.
func turn(n int, text string) earshot.Turn {
	return earshot.Turn{
		Answer: earshot.Answer{Anchor: earshot.MessageID(fmt.Sprintf("m%d", n)), Replies: []earshot.MessageID{"r1", "r2"}},
		Policy: "standard", Hash: "cafe", Cursor: int64(n),
		Shown:    []earshot.ShownRevision{{ID: earshot.MessageID(fmt.Sprintf("m%d", n)), Revision: timeAt(n), Seen: "0.t1f2e3d4c.q0a1b2c3d"}, {ID: "m0"}},
		Attached: []earshot.AttachedFile{{ID: "F1", SHA256: "ab", Tokens: 85}},
		Names:    []earshot.SessionName{{ID: earshot.AuthorID(fmt.Sprint("U", n)), Name: "name of " + text}},
		Form:     "log", Zone: "Europe/Berlin",
		Session: exchange(text),
		Ledger: earshot.Ledger{
			{ID: "m0", Section: "thread", Verdict: earshot.Out, Reason: "shown"},
			{ID: "m1", Section: "anchor", Verdict: earshot.Full, Reason: "anchor", Tokens: 7},
			{ID: "m2", Section: "recall", Verdict: earshot.Full, Reason: "recall", Tokens: 5, Score: 23.3, Cover: 0.6, Parts: map[string]float64{"words": 20, "recency": 3.3}},
		},
		Usage: earshot.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4},
		Time:  timeAt(100 + n),
	}
}

// exchange is a question with a file, a tool call, its result, and the reply.
func exchange(text string) []earshot.SessionEntry {
	return []earshot.SessionEntry{
		{Role: earshot.User, Text: text, Media: []earshot.ArtifactID{"F1", "F2"}},
		{Role: earshot.Assistant, Calls: []earshot.Call{{ID: "call 1", Name: "search", Args: `{"query": "` + text + `"}`}, {ID: "call 2"}}, Opaque: `{"of": "` + text + `"}`},
		{Role: earshot.ToolRole, Call: "call 1", Text: "found " + text},
		{Role: earshot.ToolRole, Call: "call 2", Text: "no such tool", Failed: true},
		{Role: earshot.Assistant, Text: "re: " + text},
	}
}

// commit commits a turn and returns it as it is read back.
func (s *suite) commit(name string, t earshot.Turn) earshot.Turn {
	s.Helper()
	n, err := s.CommitTurn(s.Context(), s.conversation(name), t)
	s.check(err)
	t.Number = n
	for i := range t.Attached {
		t.Attached[i].Turn = n
	}
	return t
}

var turnCases = []testCase{
	{"a turn comes back whole", func(s *suite) {
		s.opened("m1", "")
		want := []earshot.Turn{s.commit("m1", turn(1, "one")), s.commit("m1", turn(2, "two"))}
		for n, w := range want {
			s.equal("number", w.Number, n)
			got, err := s.Turn(s.Context(), s.conversation("m1"), n)
			s.check(err)
			s.equal("turn", got, w)
		}
		c, err := s.Conversation(s.Context(), s.conversation("m1"))
		s.check(err)
		s.equal("cursor", c.Cursor, int64(2))
		for _, n := range []int{-1, 2} {
			_, err = s.Turn(s.Context(), s.conversation("m1"), n)
			wantError(s.T, err, earshot.ErrNotFound)
		}
	}},
	{"a turn moves its conversation's metadata with it", func(s *suite) {
		s.opened("m1", "")
		_, err := s.merge("m1", map[string]*string{"kept": to("1"), "changed": to("1")})
		s.check(err)
		after := func(n int, patch map[string]*string) map[string]string {
			s.Helper()
			t := turn(n, "x")
			t.Metadata = patch
			_, err := s.CommitTurn(s.Context(), s.conversation("m1"), t)
			s.check(err)
			read, err := s.Turns(s.Context(), s.conversation("m1"), 1)
			s.check(err)
			s.equal("read back", read[0].Metadata, map[string]*string(nil))
			c, err := s.Conversation(s.Context(), s.conversation("m1"))
			s.check(err)
			return c.Metadata
		}
		s.equal("first", after(1, map[string]*string{"changed": to("2"), "last_processed_ts": to("1700000005.000100")}),
			map[string]string{"kept": "1", "changed": "2", "last_processed_ts": "1700000005.000100"})
		s.equal("backward", after(2, map[string]*string{"changed": nil, "last_processed_ts": to("1700000001.000000")}),
			map[string]string{"kept": "1", "last_processed_ts": "1700000005.000100"})
		s.equal("what cannot be", after(3, map[string]*string{"A": to("1"), "changed": to("3")}),
			map[string]string{"kept": "1", "last_processed_ts": "1700000005.000100"})
	}},
	{"a turn may be almost empty, and gets its time from the store", func(s *suite) {
		s.opened("m1", "")
		s.commit("m1", earshot.Turn{Answer: earshot.Answer{Anchor: "m1"}})
		got, err := s.Turn(s.Context(), s.conversation("m1"), 0)
		s.check(err)
		s.equal("dated", got.Time != 0, true)
		got.Time = 0
		s.equal("turn", got, earshot.Turn{Answer: earshot.Answer{Anchor: "m1"}})
	}},
	{"turns are listed newest last, without session and ledger", func(s *suite) {
		s.opened("m1", "")
		var want []earshot.Turn
		for n := range 5 {
			t := turn(n+1, "x")
			t.Epoch = n / 3
			t = s.commit("m1", t)
			t.Session, t.Ledger = nil, nil
			want = append(want, t)
		}
		for limit, from := range map[int]int{0: 0, 9: 0, 3: 2, 1: 4} {
			got, err := s.Turns(s.Context(), s.conversation("m1"), limit)
			s.check(err)
			s.equal(fmt.Sprint("the newest ", limit), got, want[from:])
		}
	}},
	{"session and manifest grow by what each turn appends", func(s *suite) {
		s.opened("m1", "")
		var session []earshot.SessionEntry
		var m earshot.Manifest
		for n := range 12 {
			t := s.commit("m1", turn(n, fmt.Sprint("text ", n)))
			session = append(session, t.Session...)
			m.Shown, m.Attached, m.Names = append(m.Shown, t.Shown...), append(m.Attached, t.Attached...), append(m.Names, t.Names...)
		}
		got, err := s.Session(s.Context(), s.conversation("m1"))
		s.check(err)
		s.equal("session", got, session)
		manifest, err := s.Manifest(s.Context(), s.conversation("m1"))
		s.check(err)
		s.equal("manifest", manifest, m)
	}},
	{"a new epoch's session and manifest begin empty", func(s *suite) {
		s.opened("m1", "")
		s.commit("m1", turn(1, "old"))
		next := turn(2, "new")
		next.Epoch = 1
		next = s.commit("m1", next)
		c, err := s.Conversation(s.Context(), s.conversation("m1"))
		s.check(err)
		s.equal("epoch", c.Epoch, 1)
		session, err := s.Session(s.Context(), s.conversation("m1"))
		s.check(err)
		s.equal("session", session, next.Session)
		m, err := s.Manifest(s.Context(), s.conversation("m1"))
		s.check(err)
		s.equal("manifest", m, earshot.Manifest{Shown: next.Shown, Attached: next.Attached, Names: next.Names})
		old, err := s.Turn(s.Context(), s.conversation("m1"), 0)
		s.check(err)
		s.equal("the old turn is kept", old.Session[0].Text, "old")
	}},
	{"of two names for a person the first of an epoch counts", func(s *suite) {
		s.opened("m1", "")
		named := func(n, epoch int, names ...earshot.SessionName) {
			s.Helper()
			t := turn(n, "x")
			t.Epoch, t.Names = epoch, names
			s.commit("m1", t)
		}
		named(1, 0, earshot.SessionName{ID: "U1", Name: "Alice"}, earshot.SessionName{ID: "U2", Name: "Bob"}, earshot.SessionName{ID: "U1", Name: "Eve"})
		named(2, 0, earshot.SessionName{ID: "U3", Name: "Alice"}, earshot.SessionName{ID: "U2", Name: "Mallory"})
		first, err := s.Turn(s.Context(), s.conversation("m1"), 0)
		s.check(err)
		s.equal("within a turn", first.Names, []earshot.SessionName{{ID: "U1", Name: "Alice"}, {ID: "U2", Name: "Bob"}})
		m, err := s.Manifest(s.Context(), s.conversation("m1"))
		s.check(err)
		s.equal("over turns", m.Names, []earshot.SessionName{{ID: "U1", Name: "Alice"}, {ID: "U2", Name: "Bob"}, {ID: "U3", Name: "Alice"}})
		named(3, 1, earshot.SessionName{ID: "U2", Name: "Robert\x00"})
		m, err = s.Manifest(s.Context(), s.conversation("m1"))
		s.check(err)
		s.equal("in the next", m.Names, []earshot.SessionName{{ID: "U2", Name: "Robert\u2400"}})
	}},
	{"a session entry comes back byte for byte", func(s *suite) {
		s.opened("m1", "")
		odd := "\"\\</script>&\u2028\n\t\r \u00e9 e\u0301 \U0001f600"
		t := turn(1, "x")
		t.Session = []earshot.SessionEntry{
			{Role: earshot.User, Text: odd, Media: []earshot.ArtifactID{earshot.ArtifactID(odd), ""}},
			{Role: earshot.Assistant, Text: odd, Calls: []earshot.Call{{ID: odd, Name: odd, Args: odd}, {}}, Opaque: odd},
			{Role: earshot.ToolRole, Text: odd, Call: odd, Failed: true},
			{Role: earshot.Assistant, Calls: []earshot.Call{}, Media: []earshot.ArtifactID{}},
			{},
		}
		want := s.commit("m1", t)
		got, err := s.Turn(s.Context(), s.conversation("m1"), 0)
		s.check(err)
		s.equal("turn", got, want)
		session, err := s.Session(s.Context(), s.conversation("m1"))
		s.check(err)
		s.equal("session", session, want.Session)
		bad := turn(2, "\x00\xff")
		s.commit("m1", bad)
		got, err = s.Turn(s.Context(), s.conversation("m1"), 1)
		s.check(err)
		s.equal("what cannot be stored", got.Session, exchange("\u2400\ufffd"))
	}},
	{"a committed reply becomes messages one by one", func(s *suite) {
		s.opened("m1", "")
		first := turn(1, "one")
		first.Answer.Replies = nil
		first = s.commit("m1", first)
		second := s.commit("m1", turn(2, "two"))
		add := func(number int, id earshot.MessageID, have ...earshot.MessageID) error {
			return s.AddReply(s.Context(), s.conversation("m1"), number, have, earshot.ShownRevision{ID: id, Revision: 7, Seen: "0"})
		}
		s.check(add(0, "e1"))
		wantError(s.T, add(0, "e2"), earshot.ErrConflict) // it has e1
		wantError(s.T, add(0, "e1", "e1"), earshot.ErrConflict)
		wantError(s.T, add(0, "m2", "e1"), earshot.ErrConflict) // the second turn shows it
		wantError(s.T, add(2, "e2"), earshot.ErrNotFound)
		wantError(s.T, add(0, "", "e1"), earshot.ErrNotFound)
		wantError(s.T, s.AddReply(s.Context(), s.conversation("other"), 0, nil, earshot.ShownRevision{ID: "e2"}), earshot.ErrNotFound)
		s.check(add(0, "e2", "e1"))
		first.Answer.Replies = []earshot.MessageID{"e1", "e2"}
		first.Shown = append(first.Shown, earshot.ShownRevision{ID: "e1", Revision: 7, Seen: "0"}, earshot.ShownRevision{ID: "e2", Revision: 7, Seen: "0"})
		got, err := s.Turn(s.Context(), s.conversation("m1"), 0)
		s.check(err)
		s.equal("turn", got, first)
		m, err := s.Manifest(s.Context(), s.conversation("m1"))
		s.check(err)
		s.equal("shown", m.Shown, append(first.Shown[:len(first.Shown):len(first.Shown)], second.Shown...))
	}},
	{"a reply that was added is a part of its epoch", func(s *suite) {
		s.opened("m1", "")
		s.commit("m1", turn(1, "one"))
		s.record(plainMessage(50, "posted"), plainMessage(51, "posted too"))
		s.check(s.AddReply(s.Context(), s.conversation("m1"), 0, []earshot.MessageID{"r1", "r2"}, earshot.ShownRevision{ID: "m50"}))
		s.record(tombstone(51), tombstone(50))
		c, err := s.Conversation(s.Context(), s.conversation("m1"))
		s.check(err)
		s.equal("epoch", c.Epoch, 1)
		wantError(s.T, s.AddReply(s.Context(), s.conversation("m1"), 0, []earshot.MessageID{"r1", "r2", "m50"}, earshot.ShownRevision{ID: "m51"}), earshot.ErrConflict)
	}},
	{"of several messages that a reply may have become one is added", func(s *suite) {
		s.opened("m1", "")
		t := turn(1, "one")
		t.Answer.Replies = nil
		s.commit("m1", t)
		errs := runTogether(8, func(i int) error {
			return s.AddReply(s.Context(), s.conversation("m1"), 0, nil, earshot.ShownRevision{ID: earshot.MessageID(fmt.Sprint("e", i))})
		})
		s.equal("refused", len(errs), 7)
		for _, err := range errs {
			wantError(s.T, err, earshot.ErrConflict)
		}
	}},
	{"a turn that comes too late changes nothing", func(s *suite) {
		s.opened("m1", "")
		s.opened("m2", "")
		first := turn(1, "x")
		first.Epoch = 2
		s.commit("m1", first)
		again, old, none := turn(1, "y"), turn(2, "y"), turn(3, "y")
		again.Epoch, old.Epoch, none.Epoch = 2, 1, 2
		again.Cursor, old.Cursor, none.Answer.Anchor = 99, 99, ""
		for _, c := range []struct {
			conversation string
			turn         earshot.Turn
			want         error
		}{{"m1", again, earshot.ErrConflict}, {"m2", again, earshot.ErrConflict}, {"m1", old, earshot.ErrConflict}, {"m1", none, earshot.ErrInvalid}, {"m9", turn(4, "y"), earshot.ErrNotFound}} {
			_, err := s.CommitTurn(s.Context(), s.conversation(c.conversation), c.turn)
			wantError(s.T, err, c.want)
		}
		c, err := s.Conversation(s.Context(), s.conversation("m1"))
		s.check(err)
		s.equal("cursor", c.Cursor, int64(1))
		session, err := s.Session(s.Context(), s.conversation("m1"))
		s.check(err)
		s.equal("session", session, first.Session)
	}},
	{"a turn moves the cursor forward only", func(s *suite) {
		s.opened("m1", "")
		s.check(s.AdvanceCursor(s.Context(), s.conversation("m1"), 50))
		s.commit("m1", turn(1, "x"))
		c, err := s.Conversation(s.Context(), s.conversation("m1"))
		s.check(err)
		s.equal("cursor", c.Cursor, int64(50))
	}},
	{"a conversation without turns has an empty session and manifest", func(s *suite) {
		s.opened("m1", "")
		for _, name := range []string{"m1", "unknown"} {
			id := s.conversation(name)
			session, err := s.Session(s.Context(), id)
			s.check(err)
			m, err := s.Manifest(s.Context(), id)
			s.check(err)
			turns, err := s.Turns(s.Context(), id, 0)
			s.check(err)
			s.equal("empty", []int{len(session), len(m.Shown), len(m.Attached), len(m.Names), len(turns)}, []int{0, 0, 0, 0, 0})
		}
	}},
}
