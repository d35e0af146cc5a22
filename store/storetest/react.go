package storetest

import (
	"errors"

	"github.com/earshot-ai/earshot"
)

var reactCases = []testCase{
	{"a reaction is counted up and down", func(s *suite) {
		s.record(full(1))
		for _, x := range []struct {
			emoji string
			by    int
			want  earshot.Change
		}{{"eyes", +1, earshot.Updated}, {"tada", +1, earshot.Updated}, {"+1", -1, earshot.Updated}, {"none", -1, earshot.Same}, {"new", +2, earshot.Updated}} {
			before := s.message("m1").Seq
			out, err := s.React(s.Context(), s.scope, "m1", x.emoji, x.by)
			s.check(err)
			want := earshot.Recorded{ID: "m1", Change: x.want, Seq: before}
			if x.want == earshot.Updated {
				want.Seq++
			}
			s.equal(x.emoji, out, want)
		}
		want := full(1)
		want.Reactions = []earshot.Reaction{{Name: "eyes", Count: 3}, {Name: "tada", Count: 1}, {Name: "new", Count: 2}}
		got := s.message("m1")
		s.equal("the rest of the message", bare(got), want)
		_, err := s.React(s.Context(), s.scope, "m1", "a\x00b", 1)
		s.check(err)
		s.equal("an emoji's name is normalised", s.message("m1").Reactions[3].Name, "a\u2400b")
	}},
	{"a reaction leaves the search terms as they are", func(s *suite) {
		s.record(full(1))
		before := collect(s.T, s.Terms(s.Context(), s.scope, 0))
		_, err := s.React(s.Context(), s.scope, "m1", "eyes", 1)
		s.check(err)
		after := collect(s.T, s.Terms(s.Context(), s.scope, 0))
		before[0].Seq = after[0].Seq
		s.equal("terms", after, before)
	}},
	{"a reaction to a deleted or unknown message changes nothing", func(s *suite) {
		if _, err := s.React(s.Context(), s.scope, "m1", "eyes", 1); !errors.Is(err, earshot.ErrNotFound) {
			s.Errorf("of an unknown channel: got %v, want %v", err, earshot.ErrNotFound)
		}
		s.record(earshot.Message{ID: "m2", Deleted: true})
		if _, err := s.React(s.Context(), s.scope, "m1", "eyes", 1); !errors.Is(err, earshot.ErrNotFound) {
			s.Errorf("of an unknown message: got %v, want %v", err, earshot.ErrNotFound)
		}
		out, err := s.React(s.Context(), s.scope, "m2", "eyes", 1)
		s.check(err)
		s.equal("of a tombstone", out, earshot.Recorded{ID: "m2", Change: earshot.Same, Seq: 1})
		s.equal("the tombstone", s.message("m2").Reactions, []earshot.Reaction(nil))
	}},
	{"concurrent reactions are all counted, while the message is recorded again", func(s *suite) {
		s.record(said(1, "done"))
		const writers, each = 16, 10
		errs := together(writers+1, func(w int) error {
			for i := range each {
				if w == writers { // records copies of the message without reactions, and other messages
					if _, err := s.Record(s.Context(), s.scope, said(1, "done"), said(2+i, "next")); err != nil {
						return err
					}
					continue
				}
				for _, x := range []struct {
					emoji string
					by    int
				}{{"tada", +1}, {"eyes", +1}, {"eyes", -1}} {
					if _, err := s.React(s.Context(), s.scope, "m1", x.emoji, x.by); err != nil {
						return err
					}
				}
			}
			return nil
		})
		s.equal("errors", len(errs), 0)
		s.equal("reactions", s.message("m1").Reactions, []earshot.Reaction{{Name: "tada", Count: writers * each}})
	}},
	{"a concurrent edit is not lost", func(s *suite) {
		s.record(said(1, "draft"))
		const edits = 20
		errs := together(2, func(w int) error {
			for i := range edits {
				m := said(1, "final")
				m.Edited, m.Reactions = second(10+i), []earshot.Reaction{}
				_, err := s.React(s.Context(), s.scope, "m1", "eyes", 1)
				if w == 0 {
					_, err = s.Record(s.Context(), s.scope, m)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		s.equal("errors", len(errs), 0)
		got := s.message("m1")
		s.equal("text", got.Text, "final")
		s.equal("revision", got.Edited, second(10+edits-1))
	}},
	{"a reaction finds a message whose id was normalised", func(s *suite) {
		s.record(earshot.Message{ID: "a\x00b", Time: second(1), Text: "text"})
		out, err := s.React(s.Context(), s.scope, "a\x00b", "eyes", 1)
		s.check(err)
		s.equal("outcome", out, earshot.Recorded{ID: "a\u2400b", Change: earshot.Updated, Seq: 2})
	}},
}
