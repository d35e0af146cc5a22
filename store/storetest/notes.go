package storetest

import (
	"strings"

	"github.com/earshot-ai/earshot"
)

var noteCases = []testCase{
	{"notes are kept by key until they are dropped", func(s *suite) {
		ctx := s.Context()
		for _, n := range []earshot.Note{{Key: "a/2", Data: []byte("two")}, {Key: "a/1", Data: []byte("one")}, {Key: "a}"}, {Key: "b", Data: []byte{0, 255}}} {
			s.check(s.PutNote(ctx, n))
		}
		s.check(s.PutNote(ctx, earshot.Note{Key: "a/1", Data: []byte("one again")}))
		want := []earshot.Note{{Key: "a/1", Data: []byte("one again")}, {Key: "a/2", Data: []byte("two")}, {Key: "a}", Data: []byte{}}, {Key: "b", Data: []byte{0, 255}}}
		for prefix, some := range map[string][]earshot.Note{"": want, "a": want[:3], "a/": want[:2], "a/2": want[1:2], "c": nil} {
			got, err := s.Notes(ctx, prefix, 0)
			s.check(err)
			s.equal("with prefix "+prefix, got, some)
		}
		got, err := s.Notes(ctx, "a", 2)
		s.check(err)
		s.equal("the first two", got, want[:2])
		s.check(s.DropNote(ctx, "a/2"))
		s.check(s.DropNote(ctx, "a/2"))
		got, err = s.Notes(ctx, "a/", 0)
		s.check(err)
		s.equal("left", got, want[:1])
	}},
	{"invalid notes are refused", func(s *suite) {
		for _, n := range []earshot.Note{
			{}, {Key: "a b"}, {Key: "a~"}, {Key: "é"}, {Key: strings.Repeat("a", earshot.NoteKeyBytes+1)},
			{Key: "a", Data: make([]byte, earshot.NoteBytes+1)},
		} {
			wantError(s.T, s.PutNote(s.Context(), n), earshot.ErrInvalid)
		}
		got, err := s.Notes(s.Context(), "", 0)
		s.check(err)
		s.equal("stored", got, []earshot.Note(nil))
	}},
}
