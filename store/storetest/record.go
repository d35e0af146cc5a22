package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/search/index"
	"github.com/earshot-ai/earshot/tokens"
)

func fullMessage(n int) earshot.Message {
	m := plainMessage(n, "see <@U2|Bob>, the log is attached")
	m.Author = earshot.Author{ID: "B7", Name: "CI", FullName: "Build and Test", Kind: earshot.Bot}
	m.Thread, m.ReplyTo, m.Edited = "m0", "m0", timeAt(n+5)
	m.Mentions = []earshot.AuthorID{"U2", "U3"}
	m.Reactions = []earshot.Reaction{{Name: "eyes", Count: 2}, {Name: "+1", Count: 1}}
	m.Shared = []earshot.SharedContent{
		{Kind: earshot.Forward, ID: "U9", Author: "Erin Vogt", Place: "#support", Time: timeAt(-90), Text: "we see it\n\tin our region too"},
		{Kind: earshot.Link, Place: "example.com"},
	}
	m.Files = []earshot.File{{ID: "F1", Name: "a.png", Type: "image/png", Size: 1 << 40, SHA256: "ab"}, {ID: "F2", Name: "b"}}
	return m
}

var recordCases = []testCase{
	{"a message comes back as it was recorded", func(s *suite) {
		s.equal("changes", s.record(fullMessage(1)), []earshot.Change{earshot.New})
		got := s.message("m1")
		s.equal("message", withoutStoreFields(got), fullMessage(1))
		s.equal("seq", got.Seq, int64(1))
		s.equal("tokens", got.Tokens, tokens.Base(fullMessage(1).Text))
	}},
	{"nothing to record is no error", func(s *suite) { s.record() }},
	{"a known message changes nothing and gets no sequence", func(s *suite) {
		s.record(fullMessage(1), plainMessage(2, "two"))
		again := s.recorded(plainMessage(2, "two"), fullMessage(1))
		s.equal("outcomes", again, []earshot.RecordResult{{ID: "m2", Change: earshot.Same, Seq: 2}, {ID: "m1", Change: earshot.Same, Seq: 1}})
		s.equal("next sequence", s.recorded(plainMessage(3, "three"))[0].Seq, int64(3))
	}},
	{"fields that the store sets are not taken from the caller", func(s *suite) {
		m := plainMessage(1, "hello")
		m.Seq, m.Tokens, m.Author.Zone = 77, 99, "Europe/Berlin"
		s.record(m)
		got := s.message("m1")
		s.equal("zone", got.Author.Zone, "")
		s.equal("seq", got.Seq, int64(1))
		s.equal("tokens", got.Tokens, tokens.Base("hello"))
	}},
	{"a root with its own id as thread is no reply", func(s *suite) {
		m := plainMessage(1, "root")
		m.Thread = m.ID
		s.record(m)
		s.equal("thread", s.message("m1").Thread, earshot.MessageID(""))
		s.equal("the same without a thread", s.record(plainMessage(1, "root")), []earshot.Change{earshot.Same})
	}},
	{"a newer edit wins and the older stays as history", func(s *suite) {
		edit := plainMessage(1, "after")
		edit.Edited = timeAt(9)
		s.equal("changes", s.record(plainMessage(1, "before"), edit), []earshot.Change{earshot.New, earshot.Edited})
		s.equal("text", s.message("m1").Text, "after")
		list, err := s.Revisions(s.Context(), s.scope, "m1")
		s.check(err)
		s.equal("revisions", bareAll(list), []earshot.Message{plainMessage(1, "before"), edit})
	}},
	{"an edit that arrives late is history only", func(s *suite) {
		e5, e9 := plainMessage(1, "five"), plainMessage(1, "nine")
		e5.Edited, e9.Edited = timeAt(5), timeAt(9)
		out := s.recorded(e9, e5, plainMessage(1, "zero"))
		s.equal("outcomes", out, []earshot.RecordResult{
			{ID: "m1", Change: earshot.New, Seq: 1}, {ID: "m1", Change: earshot.Late, Seq: 1}, {ID: "m1", Change: earshot.Late, Seq: 1}})
		s.equal("text", s.message("m1").Text, "nine")
		list, err := s.Revisions(s.Context(), s.scope, "m1")
		s.check(err)
		s.equal("revisions", bareAll(list), []earshot.Message{plainMessage(1, "zero"), e5, e9})
		s.equal("again", s.record(plainMessage(1, "zero"), e5), []earshot.Change{earshot.Same, earshot.Same})
	}},
	{"of one revision the greater text wins, whichever came first", func(s *suite) {
		s.equal("changes", s.record(plainMessage(1, "a"), plainMessage(1, "b"), plainMessage(2, "b"), plainMessage(2, "a")),
			[]earshot.Change{earshot.New, earshot.Updated, earshot.New, earshot.Same})
		s.equal("texts", s.message("m1").Text+s.message("m2").Text, "bb")
	}},
	{"reactions, files and mentions come and go without a revision", func(s *suite) {
		s.record(plainMessage(1, "x"))
		more := fullMessage(1)
		more.Text, more.Edited, more.Thread, more.ReplyTo, more.Author = "x", 0, "", "", plainMessage(1, "").Author
		out := s.recorded(more)
		s.equal("outcome", out[0], earshot.RecordResult{ID: "m1", Change: earshot.Updated, Seq: 2})
		s.equal("message", withoutStoreFields(s.message("m1")), more)
		less := more
		less.Reactions = []earshot.Reaction{}
		s.equal("taken away", s.record(less), []earshot.Change{earshot.Updated})
		s.equal("reactions", s.message("m1").Reactions, []earshot.Reaction(nil))
		s.equal("files", s.message("m1").Files, more.Files)
	}},
	{"a copy with nil lists leaves the stored ones", func(s *suite) {
		m := fullMessage(1)
		s.record(m)
		m.Reactions, m.Files, m.Mentions, m.Shared = nil, nil, nil, nil
		s.equal("change", s.record(m), []earshot.Change{earshot.Same})
		s.equal("message", withoutStoreFields(s.message("m1")), fullMessage(1))
	}},
	{"a value wins over none", func(s *suite) {
		poor := plainMessage(1, "x")
		poor.Author = earshot.Author{ID: "U1"}
		rich := reply(1, "m0", "x")
		rich.ReplyTo = "m0"
		s.equal("changes", s.record(poor, rich, poor), []earshot.Change{earshot.New, earshot.Updated, earshot.Same})
		s.equal("message", withoutStoreFields(s.message("m1")), rich)
	}},
	{"a deletion leaves an id and a position", func(s *suite) {
		edit := fullMessage(1)
		edit.Edited, edit.Text = timeAt(50), "canary after"
		s.record(fullMessage(1), edit)
		s.equal("change", s.recorded(tombstone(1))[0], earshot.RecordResult{ID: "m1", Change: earshot.Gone, Seq: 3})
		want := tombstone(1)
		want.Seq = 3
		s.equal("message", s.message("m1"), want)
		list, err := s.Revisions(s.Context(), s.scope, "m1")
		s.check(err)
		s.equal("revisions", list, []earshot.Message{want})
		s.equal("terms", collect(s.T, s.Terms(s.Context(), s.scope, 0)), []earshot.Terms{{ID: "m1", Seq: 3, Time: timeAt(1), Deleted: true}})
	}},
	{"a deleted message never comes back", func(s *suite) {
		s.record(plainMessage(1, "x"), tombstone(1))
		edit := plainMessage(1, "y")
		edit.Edited = timeAt(90)
		for _, r := range s.recorded(plainMessage(1, "x"), edit, tombstone(1)) {
			s.equal("outcome", r, earshot.RecordResult{ID: "m1", Change: earshot.Same, Seq: 2})
		}
		s.equal("text", s.message("m1").Text, "")
	}},
	{"a tombstone outlives the late arrival of a message never seen", func(s *suite) {
		s.equal("changes", s.record(tombstone(1), plainMessage(1, "late")), []earshot.Change{earshot.Gone, earshot.Same})
		s.equal("deleted", s.message("m1").Deleted, true)
		s.equal("newest", s.newest(earshot.Whole(), earshot.Position{}, 9), names())
	}},
	{"text in a tombstone is not stored", func(s *suite) {
		m := fullMessage(1)
		m.Deleted = true
		s.record(m)
		want := tombstone(1)
		want.Seq = 1
		s.equal("message", s.message("m1"), want)
	}},
	{"one call may hold one message several times", func(s *suite) {
		edit := plainMessage(1, "b")
		edit.Edited = timeAt(3)
		s.equal("outcomes", s.recorded(plainMessage(1, "a"), plainMessage(1, "a"), edit, tombstone(1)), []earshot.RecordResult{
			{ID: "m1", Change: earshot.New, Seq: 1}, {ID: "m1", Change: earshot.Same, Seq: 1},
			{ID: "m1", Change: earshot.Edited, Seq: 2}, {ID: "m1", Change: earshot.Gone, Seq: 3}})
	}},
	{"a message whose time or thread changes is read only at its new position", func(s *suite) {
		s.record(plainMessage(1, "a"), plainMessage(2, "b"))
		moved := reply(1, "m2", "a")
		moved.Time, moved.Edited = timeAt(3), timeAt(4)
		s.record(moved)
		s.equal("whole", s.newest(earshot.Whole(), earshot.Position{}, 9), names("m2", "m1"))
		s.equal("top", s.newest(earshot.TopLevel(), earshot.Position{}, 9), names("m2"))
		s.equal("thread", s.newest(earshot.ThreadOf("m2"), earshot.Position{}, 9), names("m2", "m1"))
	}},
	{"one invalid message refuses the whole call", func(s *suite) {
		noTime := plainMessage(2, "x")
		noTime.Time = 0
		long := plainMessage(2, "x")
		long.ID = earshot.MessageID(strings.Repeat("x", 600))
		for _, bad := range []earshot.Message{noTime, long, {Time: 1, Text: "no id"}} {
			_, err := s.Record(s.Context(), s.scope, plainMessage(1, "good"), bad)
			if !errors.Is(err, earshot.ErrInvalid) || !strings.Contains(err.Error(), "messages[1]") {
				s.Errorf("got %v, want ErrInvalid that names messages[1]", err)
			}
		}
		s.equal("stored", s.newest(earshot.Whole(), earshot.Position{}, 9), names())
	}},
	{"a scope without a channel is refused", func(s *suite) {
		_, err := s.Record(s.Context(), earshot.Scope{Platform: earshot.Slack, Workspace: "T1"}, plainMessage(1, "x"))
		if !errors.Is(err, earshot.ErrInvalid) {
			s.Errorf("got %v, want ErrInvalid", err)
		}
	}},
	{"the caller's messages are neither changed nor shared", func(s *suite) {
		m := fullMessage(1)
		s.record(m)
		s.equal("given", m, fullMessage(1))
		m.Mentions[0], m.Reactions[0].Count, m.Shared[0].Text = "X", 99, "changed"
		got := s.message("m1")
		got.Files[0].Name, got.Shared[0].Author = "changed", "changed"
		s.equal("stored", withoutStoreFields(s.message("m1")), fullMessage(1))
	}},
	{"terms are made when a message is stored", func(s *suite) {
		s.record(plainMessage(1, "the deploy deploys"), reply(2, "m1", "日本語のテキスト"))
		want := []earshot.Terms{
			{ID: "m1", Seq: 1, Time: timeAt(1), Author: "U1", Name: "Alice", Terms: index.Terms("the deploy deploys")},
			{ID: "m2", Seq: 2, Time: timeAt(2), Author: "U1", Name: "Alice", Thread: "m1", Terms: index.Terms("日本語のテキスト")},
		}
		s.equal("all", collect(s.T, s.Terms(s.Context(), s.scope, 0)), want)
		s.equal("after the first", collect(s.T, s.Terms(s.Context(), s.scope, 1)), want[1:])
		edit := plainMessage(1, "rollback")
		edit.Edited = timeAt(9)
		s.record(edit)
		got := collect(s.T, s.Terms(s.Context(), s.scope, 2))
		s.equal("edited", got, []earshot.Terms{{ID: "m1", Seq: 3, Time: timeAt(1), Author: "U1", Name: "Alice", Terms: index.Terms("rollback")}})
	}},
	{"terms have the reply reference, and say whether a message is the platform's", func(s *suite) {
		answer, joined := plainMessage(2, "x"), plainMessage(3, "Alice joined")
		answer.ReplyTo, joined.Author.Kind = "m1", earshot.System
		s.record(plainMessage(1, "x"), answer, joined)
		list := s.terms(0)
		s.equal("replies to", []earshot.MessageID{list[0].ReplyTo, list[1].ReplyTo, list[2].ReplyTo}, []earshot.MessageID{"", "m1", ""})
		s.equal("the platform's", []bool{list[0].System, list[1].System, list[2].System}, []bool{false, false, true})
		s.record(tombstone(2), tombstone(3))
		s.equal("deleted", s.terms(3), []earshot.Terms{{ID: "m2", Seq: 4, Time: timeAt(2), Deleted: true}, {ID: "m3", Seq: 5, Time: timeAt(3), Deleted: true}})
	}},
	{"terms name the author as the message does", func(s *suite) {
		silent, nameless, gone := plainMessage(2, ""), plainMessage(3, "x"), plainMessage(4, "x")
		nameless.Author.Name = ""
		s.record(plainMessage(1, "x"), silent, nameless, gone)
		s.check(s.PutAuthors(s.Context(), s.scope.Platform, s.scope.Workspace, earshot.Author{ID: "U1", Name: "Alice Maier"}))
		of := func(list []earshot.Terms) map[earshot.MessageID]string {
			out := map[earshot.MessageID]string{}
			for _, t := range list {
				out[t.ID] = t.Name
			}
			return out
		}
		s.equal("names", of(s.terms(0)), map[earshot.MessageID]string{"m1": "Alice", "m2": "Alice", "m3": "", "m4": "Alice"})
		s.equal("a message without text", s.terms(1)[0], earshot.Terms{ID: "m2", Seq: 2, Time: timeAt(2), Author: "U1", Name: "Alice"})
		renamed := plainMessage(1, "x")
		renamed.Author.Name = "Bob"
		s.record(renamed, tombstone(4))
		s.equal("renamed, and deleted", of(s.terms(4)), map[earshot.MessageID]string{"m1": "Bob", "m4": ""})
		s.equal("deleted", s.terms(5), []earshot.Terms{{ID: "m4", Seq: 6, Time: timeAt(4), Deleted: true}})
	}},
	{"terms of many messages come once, in order and as they are now", func(s *suite) {
		const n = 2700
		list := make([]earshot.Message, n)
		for i := range list {
			list[i] = plainMessage(i, fmt.Sprintf("word%d", i))
		}
		s.record(list...)
		var edits []earshot.Message
		for i := 600; i < 1900; i++ { // leaves whole ranges of sequences empty
			list[i].Edited, list[i].Text = timeAt(n), fmt.Sprintf("edit%d", i)
			edits = append(edits, list[i])
		}
		s.record(edits...)
		last := int64(0)
		read := map[earshot.MessageID][]string{}
		take := func(t earshot.Terms) {
			if t.Seq <= last {
				s.Fatalf("sequence %d came behind %d", t.Seq, last)
			}
			last, read[t.ID] = t.Seq, t.Terms
		}
		for t, err := range s.Terms(s.Context(), s.scope, 0) {
			s.check(err)
			if take(t); t.ID == "m550" {
				list[2].Edited, list[2].Text = timeAt(n), "again"
				list[2650].Edited, list[2650].Text = timeAt(n), "ahead"
				s.record(list[2], list[2650], tombstone(2651))
				list[2651].Text = ""
			}
		}
		for _, t := range s.terms(last) { // what changed meanwhile has come already, or comes now
			take(t)
		}
		s.equal("messages", len(read), n)
		for _, m := range list {
			s.equal(string(m.ID), read[m.ID], index.Terms(m.Text))
		}
		seen := 0
		for _, err := range s.Terms(s.Context(), s.scope, 0) {
			s.check(err)
			if seen++; seen == 800 {
				break
			}
		}
		ctx, cancel := context.WithCancel(s.Context())
		defer cancel()
		var failed error
		for t, err := range s.Terms(ctx, s.scope, 0) {
			if t.ID == "m580" {
				cancel()
			}
			failed = err
		}
		wantError(s.T, failed, context.Canceled)
	}},
	{"a large call is stored whole and in order", func(s *suite) {
		var list []earshot.Message
		for i := range 1237 {
			list = append(list, plainMessage(i, "text"))
		}
		for i, r := range s.recorded(list...) {
			if r.Seq != int64(i+1) || r.ID != list[i].ID {
				s.Fatalf("outcome %d: got %v", i, r)
			}
		}
		all := collect(s.T, s.Range(s.Context(), s.scope, earshot.Whole(), earshot.Position{}, earshot.Position{}))
		s.equal("ids", messageIDs(all), messageIDs(list))
		if !slices.IsSortedFunc(all, func(a, b earshot.Message) int { return a.Position().Compare(b.Position()) }) {
			s.Error("Range is out of order")
		}
	}},
}
