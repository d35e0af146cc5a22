package storetest

import (
	"fmt"
	"maps"
	"strings"

	"github.com/earshot-ai/earshot"
)

// withMetadata returns plainMessage(n, text) with metadata. An even list is keys and values.
func withMetadata(n int, text string, pairs ...string) earshot.Message {
	m := plainMessage(n, text)
	m.Metadata = map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m.Metadata[pairs[i]] = pairs[i+1]
	}
	return m
}

// metadata checks what metadata message n has, in every way to read it.
func (s *suite) metadata(what string, n int, want map[string]string) {
	s.Helper()
	id := earshot.MessageID(fmt.Sprint("m", n))
	s.equal(what, s.message(id).Metadata, want)
	list, err := s.Newest(s.Context(), s.scope, whole, open, 100)
	s.check(err)
	since, err := s.Since(s.Context(), s.scope, 0, 0)
	s.check(err)
	for _, m := range append(list, since...) {
		if m.ID == id {
			s.equal(what+", listed", m.Metadata, want)
		}
	}
}

var metadataCases = []testCase{
	{"metadata are read back, also of a message without text", func(s *suite) {
		notes := map[string]string{"ticket": "T-1", "nested": `json:{"a":[1.50,null,{"b":"é"}]}`, "empty": ""}
		m := plainMessage(1, "")
		m.Metadata = notes
		s.equal("changes", s.record(m, plainMessage(2, "x")), []earshot.Change{earshot.New, earshot.New})
		s.metadata("m1", 1, notes)
		s.metadata("m2", 2, nil)
		s.message("m1").Metadata["ticket"] = "changed by a caller"
		m.Metadata["ticket"] = "T-2"
		s.equal("not shared with callers", s.message("m1").Metadata["ticket"], "T-1")
		s.equal("text", s.message("m1").Text, "")
		s.record(withMetadata(3, "nul and broken", "a", "x\x00\xff"))
		s.metadata("normalised", 3, map[string]string{"a": "x␀\uFFFD"})
	}},
	{"an edit without metadata leaves them, and one with metadata replaces them whole", func(s *suite) {
		s.record(withMetadata(1, "x", "a", "1", "b", "2"))
		edit := plainMessage(1, "y")
		edit.Edited = timeAt(5)
		s.equal("an edit", s.record(edit), []earshot.Change{earshot.Edited})
		s.metadata("left", 1, map[string]string{"a": "1", "b": "2"})
		edit = withMetadata(1, "z", "b", "3")
		edit.Edited = timeAt(6)
		s.equal("an edit with some", s.record(edit), []earshot.Change{earshot.Edited})
		s.metadata("replaced", 1, map[string]string{"b": "3"})
		list, err := s.Revisions(s.Context(), s.scope, "m1")
		s.check(err)
		s.equal("older revisions have none", []map[string]string{list[0].Metadata, list[1].Metadata, list[2].Metadata}, []map[string]string{nil, nil, {"b": "3"}})
		s.equal("told with an older revision", s.record(withMetadata(1, "x", "c", "4")), []earshot.Change{earshot.Updated})
		s.metadata("the last to arrive", 1, map[string]string{"c": "4"})
		s.equal("text", s.message("m1").Text, "z")
	}},
	{"metadata that change are no news", func(s *suite) {
		s.record(withMetadata(1, "x", "a", "1"), plainMessage(2, "y"))
		s.equal("the same again", s.record(withMetadata(1, "x", "a", "1"), plainMessage(1, "x")), []earshot.Change{earshot.Same, earshot.Same})
		s.equal("others", s.recorded(withMetadata(1, "x", "a", "2"))[0], earshot.RecordResult{ID: "m1", Change: earshot.Updated, Seq: 1})
		s.metadata("replaced", 1, map[string]string{"a": "2"})
		s.equal("first ones", s.recorded(withMetadata(2, "y", "a", "2"))[0], earshot.RecordResult{ID: "m2", Change: earshot.Updated, Seq: 2})
		s.metadata("set", 2, map[string]string{"a": "2"})
		s.equal("none", s.recorded(withMetadata(1, "x"))[0], earshot.RecordResult{ID: "m1", Change: earshot.Updated, Seq: 1})
		s.metadata("removed", 1, nil)
		s.equal("of another text", s.record(withMetadata(2, "z", "a", "3")), []earshot.Change{earshot.Updated})
		s.metadata("the greater text", 2, map[string]string{"a": "3"})
		told, err := s.Tell(s.Context(), s.scope, withMetadata(2, "a conflict", "a", "4"))
		s.check(err)
		s.equal("told with a conflict", told[0].Change, earshot.Other)
		s.metadata("not taken", 2, map[string]string{"a": "3"})
	}},
	{"a tombstone has no metadata, whatever arrives later", func(s *suite) {
		s.record(withMetadata(1, "x", "a", "canary"), tombstone(1), withMetadata(1, "x", "a", "canary"))
		s.metadata("deleted", 1, nil)
		gone := withMetadata(2, "x", "a", "canary")
		gone.Deleted = true
		s.record(gone)
		s.metadata("told as deleted", 2, nil)
	}},
	{"metadata over their bounds are refused with their message", func(s *suite) {
		many := map[string]string{}
		for i := range 64 {
			many[fmt.Sprint("k", i)] = "v"
		}
		full := plainMessage(1, "x")
		full.Metadata = many
		s.record(full, withMetadata(2, "x", "a", strings.Repeat("v", 16<<10-1)), withMetadata(3, "x", "last_processed_ts", "no key is reserved"))
		more := maps.Clone(many)
		more["one"] = "more"
		over := plainMessage(9, "x")
		over.Metadata = more
		for _, m := range []earshot.Message{over, withMetadata(9, "x", "a", strings.Repeat("v", 16<<10)), withMetadata(9, "x", "A", ""), withMetadata(9, "x", "a.b", ""), withMetadata(9, "x", "", "")} {
			_, err := s.Record(s.Context(), s.scope, plainMessage(8, "x"), m)
			wantError(s.T, err, earshot.ErrInvalid)
		}
		s.equal("stored", s.newest(whole, open, 9), names("m1", "m2", "m3"))
	}},
}

var metadataErasureCases = []testCase{
	{"metadata go with the person who is named in them, and others' stay", func(s *suite) {
		s.check(s.PutAuthors(s.Context(), s.scope.Platform, s.scope.Workspace, earshot.Author{ID: "UCANARY", Name: "Bea Canary", Kind: earshot.Human}))
		s.record(messageBy(1, "UCANARY", "Bea Canary", "x"), withMetadata(2, "y", "by", "ucanary", "ticket", "T-2", "last_processed_ts", "Bea Canary"),
			withMetadata(3, "z", "list", `json:["\u0042ea Canary"]`, "object", `json:{"UCANARY":1}`), withMetadata(4, "w", "ticket", "T-4"))
		own := withMetadata(5, "mine", "ticket", "canary")
		own.Author.ID = "UCANARY"
		s.record(own)
		for n := 10; n < 1100; n += 100 { // more than one piece of work looks at
			var list []earshot.Message
			for i := range 100 {
				list = append(list, plainMessage(n+i, "filler"))
			}
			s.record(list...)
		}
		s.record(withMetadata(2000, "late", "by", "UCANARY"))
		seq := s.message("m2").Seq
		s.erased(s.ofPerson("UCANARY"))
		s.metadata("one of several", 2, map[string]string{"ticket": "T-2"})
		s.metadata("nested", 3, nil)
		s.metadata("another's", 4, map[string]string{"ticket": "T-4"})
		s.metadata("the last", 2000, nil)
		s.equal("no news", s.message("m2").Seq, seq)
		for _, p := range s.tables("anary") {
			if p.Table != "erasure" && p.Table != "barred" && p.Table != "erasures" && p.Table != "bars" {
				s.Errorf("left in %v", p)
			}
		}
	}},
}
