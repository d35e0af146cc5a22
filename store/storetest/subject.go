package storetest

import (
	"strings"

	"github.com/earshot-ai/earshot"
)

// titled returns plainMessage(n, text) with what its thread is called, as told at a time.
func titled(n int, text string, at earshot.Time, name string, tags ...string) earshot.Message {
	m := plainMessage(n, text)
	m.Subject = &earshot.Subject{Name: name, Tags: tags, AsOf: at}
	return m
}

// subject checks what the thread of message m1 is called, in every way to read it.
func (s *suite) subject(what string, want *earshot.Subject) {
	s.Helper()
	list, err := s.Newest(s.Context(), s.scope, whole, open, 100)
	s.check(err)
	since, err := s.Since(s.Context(), s.scope, 0, 0)
	s.check(err)
	found, err := s.ByID(s.Context(), s.scope, "m1")
	s.check(err)
	for _, m := range append(append(list, since...), found...) {
		if got := m.Subject; m.ID == "m1" && !got.Equal(want) {
			s.Errorf("%s: the subject is %+v, want %+v", what, got, want)
		}
	}
}

// termsOf returns the search terms of a message, with spaces between them.
func (s *suite) termsOf(id earshot.MessageID) string {
	s.Helper()
	for _, t := range s.terms(0) {
		if t.ID == id {
			return strings.Join(t.Terms, " ")
		}
	}
	return ""
}

var subjectCases = []testCase{
	{"a subject is read back and is found by its words", func(s *suite) {
		m := titled(1, "it fails again", timeAt(5), "Invoice 4711 refused", "solved", "bug")
		m.Subject.Post = true
		s.record(m)
		s.subject("stored", m.Subject)
		s.equal("terms", s.termsOf("m1"), "it fail again invoic 4711 refus solv bug")
		s.record(titled(2, "VPN is down\nsince nine", timeAt(5), "VPN is down"))
		s.equal("what the text begins with counts once", s.termsOf("m2"), "vpn is down sinc nine")
	}},
	{"a new name is news, and the same told again is none", func(s *suite) {
		s.record(titled(1, "x", timeAt(5), "old"))
		before := s.message("m1").Seq
		s.equal("again", s.record(titled(1, "x", timeAt(6), "old")), []earshot.Change{earshot.Same})
		s.equal("renamed", s.record(titled(1, "x", timeAt(7), "[SOLVED] old")), []earshot.Change{earshot.Updated})
		if now := s.message("m1"); now.Seq <= before || now.Text != "x" {
			s.Errorf("after a new name: %+v", now)
		}
		s.subject("renamed", &earshot.Subject{Name: "[SOLVED] old"})
		s.equal("nothing told", s.record(plainMessage(1, "x")), []earshot.Change{earshot.Same})
		s.subject("nothing told", &earshot.Subject{Name: "[SOLVED] old"})
		s.equal("terms", s.termsOf("m1"), "x solv old")
	}},
	{"of two names the one told later stands, in whatever order and revision they arrive", func(s *suite) {
		edit := titled(1, "y", timeAt(7), "second")
		edit.Edited = timeAt(6)
		s.record(edit)
		s.equal("an older copy", s.record(titled(1, "x", timeAt(5), "first")), []earshot.Change{earshot.Late})
		s.subject("an older name", edit.Subject)
		s.equal("an older copy with a later name", s.record(titled(1, "x", timeAt(9), "third")), []earshot.Change{earshot.Updated})
		s.subject("a later name", &earshot.Subject{Name: "third"})
		s.equal("text", s.message("m1").Text, "y")
		s.equal("terms", s.termsOf("m1"), "y third")
		again := titled(1, "z", timeAt(8), "second")
		again.Edited = timeAt(10)
		s.equal("an edit with an older name", s.record(again), []earshot.Change{earshot.Edited})
		s.subject("an edit with an older name", &earshot.Subject{Name: "third"})
		s.equal("terms of the edit", s.termsOf("m1"), "z third")
		for _, name := range []string{"b", "a"} {
			s.record(titled(1, "z", timeAt(11), name))
		}
		s.subject("at the same time the greater", &earshot.Subject{Name: "b"})
		s.record(titled(1, "z", 0, "c"))
		s.subject("one of no time", &earshot.Subject{Name: "b"})
		s.record(titled(2, "n", 0, "first"))
		s.equal("both of no time", s.record(titled(2, "n", 0, "a second")), []earshot.Change{earshot.Updated})
	}},
	{"a copy that tells no subject leaves the message found by it", func(s *suite) {
		s.record(titled(1, "it fails", timeAt(5), "invoice"))
		preview := plainMessage(1, "it fails")
		preview.Shared = []earshot.SharedContent{{Kind: earshot.Link, Place: "wiki.example", Text: "rows"}}
		s.equal("a preview", s.record(preview), []earshot.Change{earshot.Updated})
		s.equal("terms after a preview", s.termsOf("m1"), "it fail invoic")
		s.equal("a greater text", s.record(plainMessage(1, "it fails now")), []earshot.Change{earshot.Updated})
		s.equal("terms after a greater text", s.termsOf("m1"), "it fail now invoic")
	}},
	{"a deleted message has no subject", func(s *suite) {
		s.record(titled(1, "x", timeAt(5), "name"))
		s.record(earshot.Message{ID: "m1", Time: timeAt(1), Deleted: true})
		s.record(titled(1, "x", timeAt(9), "name"))
		s.subject("deleted", nil)
	}},
}
