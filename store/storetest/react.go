package storetest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/earshot-ai/earshot"
	"pgregory.net/rapid"
)

// giveReaction and takeReaction are what a person does to m1 at a second.
func giveReaction(user earshot.AuthorID, emoji string, at int) earshot.ReactionEvent {
	return earshot.ReactionEvent{Message: "m1", Emoji: emoji, Author: user, At: timeAt(at)}
}

func takeReaction(user earshot.AuthorID, emoji string, at int) earshot.ReactionEvent {
	x := giveReaction(user, emoji, at)
	x.Taken = true
	return x
}

// clearReactions is that all of an emoji, or of every emoji, are taken away from m1.
func clearReactions(emoji string, at int) earshot.ReactionEvent {
	return earshot.ReactionEvent{Message: "m1", Emoji: emoji, Taken: true, All: true, At: timeAt(at)}
}

func (s *suite) react(list ...earshot.ReactionEvent) earshot.RecordResult {
	s.Helper()
	var out earshot.RecordResult
	for _, x := range list {
		var err error
		out, err = s.React(s.Context(), s.scope, x)
		s.check(err)
	}
	return out
}

// withReactions is m1 as history shows it, with its reactions.
func withReactions(asOf int, by []earshot.Reactor, list ...earshot.Reaction) earshot.Message {
	m := plainMessage(1, "x")
	m.Reactions = append([]earshot.Reaction{}, list...)
	if asOf != 0 || by != nil {
		m.Reactors = &earshot.Reactors{List: by}
	}
	if asOf != 0 {
		m.Reactors.AsOf = timeAt(asOf)
	}
	return m
}

// counts returns the reactions of m1 as text.
func (s *suite) counts() string {
	s.Helper()
	return fmt.Sprint(s.message("m1").Reactions)
}

// who returns who is known to have reacted to m1, without the times.
func (s *suite) who() []earshot.Reactor {
	s.Helper()
	list, err := s.Reactors(s.Context(), s.scope, "m1")
	s.check(err)
	for i := range list["m1"] {
		list["m1"][i].At = 0
	}
	return list["m1"]
}

func eyes(n int) earshot.Reaction { return earshot.Reaction{Name: "eyes", Count: n} }

var reactCases = []testCase{
	{"one person's one reaction counts once, however often it is told, and returns to none", func(s *suite) {
		s.record(plainMessage(1, "x"))
		s.equal("given", s.react(giveReaction("U1", "eyes", 10)), earshot.RecordResult{ID: "m1", Change: earshot.Updated, Seq: 2})
		for range 3 {
			s.equal("told again", s.react(giveReaction("U1", "eyes", 10)), earshot.RecordResult{ID: "m1", Change: earshot.Same, Seq: 2})
		}
		s.equal("told again as of later", s.react(giveReaction("U1", "eyes", 11)).Change, earshot.Same)
		s.equal("counts", s.counts(), "[{eyes 1}]")
		s.equal("who", s.who(), []earshot.Reactor{{Emoji: "eyes", ID: "U1"}})
		s.equal("taken back", s.react(takeReaction("U1", "eyes", 12)), earshot.RecordResult{ID: "m1", Change: earshot.Updated, Seq: 3})
		s.equal("taken back again", s.react(takeReaction("U1", "eyes", 12)).Change, earshot.Same)
		s.equal("told late", s.react(giveReaction("U1", "eyes", 11)).Change, earshot.Same)
		s.equal("counts", s.counts(), "[]")
		s.equal("who", s.who(), []earshot.Reactor(nil))
		s.react(giveReaction("U1", "eyes", 13))
		s.equal("given again", s.counts(), "[{eyes 1}]")
	}},
	{"who has reacted, told with the times, is who has reacted", func(s *suite) {
		s.record(plainMessage(1, "x"))
		s.react(giveReaction("U1", "tada", 10), giveReaction("U2", "eyes", 11), giveReaction("U3", "eyes", 12), giveReaction("U3", "none", 13), takeReaction("U3", "none", 14), giveReaction("", "unknown", 15))
		list, err := s.Reactors(s.Context(), s.scope, "m1")
		s.check(err)
		want := []earshot.Reactor{{Emoji: "eyes", ID: "U2", At: timeAt(11)}, {Emoji: "eyes", ID: "U3", At: timeAt(12)}, {Emoji: "tada", ID: "U1", At: timeAt(10)}}
		s.equal("who", list["m1"], want)
		m := s.message("m1")
		m.Reactors = &earshot.Reactors{List: list["m1"]}
		s.scope.Channel = "C2"
		s.record(m)
		s.equal("counts", s.message("m1").Reactions, m.Reactions)
		list, err = s.Reactors(s.Context(), s.scope, "m1")
		s.check(err)
		s.equal("who, elsewhere", list["m1"], want)
		s.react(takeReaction("U2", "eyes", 10))
		s.equal("an event from before, told late", s.counts(), fmt.Sprint(m.Reactions))
		s.react(takeReaction("U2", "eyes", 20), takeReaction("U1", "tada", 20))
		s.equal("taken back", s.counts(), "[{unknown 1} {eyes 1}]")
	}},
	{"a reaction changes nothing else of its message", func(s *suite) {
		s.record(fullMessage(1))
		before := collect(s.T, s.Terms(s.Context(), s.scope, 0))
		want := fullMessage(1)
		want.Reactions = []earshot.Reaction{{Name: "+1", Count: 1}, eyes(2), {Name: "tada", Count: 1}}
		out := s.react(giveReaction("U1", "tada", 10))
		s.equal("change", out.Change, earshot.Updated)
		s.equal("message", withoutStoreFields(s.message("m1")), want)
		after := collect(s.T, s.Terms(s.Context(), s.scope, 0))
		before[0].Seq = out.Seq
		s.equal("terms", after, before)
		s.equal("what became known", messageIDs(s.since(out.Seq-1)), names("m1"))
		list, err := s.Revisions(s.Context(), s.scope, "m1")
		s.check(err)
		s.equal("revisions", len(list), 1)
	}},
	{"an edit keeps the reactions, in either order", func(s *suite) {
		edit := plainMessage(1, "y")
		edit.Edited = timeAt(5)
		s.record(plainMessage(1, "x"))
		s.react(giveReaction("U1", "eyes", 10))
		s.record(edit)
		s.equal("after an edit", s.counts(), "[{eyes 1}]")
		s.react(giveReaction("U2", "eyes", 11))
		s.record(plainMessage(1, "x"))
		s.equal("after the first revision came again", s.counts(), "[{eyes 2}]")
		list, err := s.Revisions(s.Context(), s.scope, "m1")
		s.check(err)
		s.equal("an older revision has none", list[0].Reactions, []earshot.Reaction(nil))
	}},
	{"what history counts is a floor where persons are unknown", func(s *suite) {
		s.record(withReactions(0, nil, eyes(3)))
		s.react(giveReaction("U1", "eyes", 10), giveReaction("U2", "eyes", 11), giveReaction("U3", "eyes", 12))
		s.equal("they may be those that were counted", s.counts(), "[{eyes 3}]")
		s.react(giveReaction("U4", "eyes", 13))
		s.equal("a fourth is one more", s.counts(), "[{eyes 4}]")
		s.record(withReactions(0, nil, eyes(2)))
		s.equal("fewer than are known", s.counts(), "[{eyes 4}]")
		s.record(withReactions(0, nil, eyes(6)))
		s.equal("more than are known", s.counts(), "[{eyes 6}]")
		s.react(takeReaction("U1", "eyes", 20), takeReaction("U1", "eyes", 20))
		s.equal("one less", s.counts(), "[{eyes 5}]")
		s.equal("who", s.who(), []earshot.Reactor{{Emoji: "eyes", ID: "U2"}, {Emoji: "eyes", ID: "U3"}, {Emoji: "eyes", ID: "U4"}})
	}},
	{"who takes back what only history told is one less, once", func(s *suite) {
		s.record(withReactions(0, nil, eyes(2)))
		for range 3 {
			s.react(takeReaction("U1", "eyes", 10))
			s.equal("counts", s.counts(), "[{eyes 1}]")
		}
		s.react(giveReaction("U1", "eyes", 12))
		s.equal("given again", s.counts(), "[{eyes 2}]")
		s.react(takeReaction("U1", "eyes", 13), takeReaction("U2", "eyes", 13))
		s.equal("both", s.counts(), "[]")
		s.react(takeReaction("U3", "eyes", 14))
		s.equal("below none", s.counts(), "[]")
		s.react(giveReaction("U3", "eyes", 15))
		s.equal("and up again", s.counts(), "[{eyes 1}]")
	}},
	{"who reacts after history was asked is one more", func(s *suite) {
		s.record(withReactions(100, nil, eyes(5)))
		s.react(giveReaction("U1", "eyes", 90))
		s.equal("an event from before, told late", s.counts(), "[{eyes 5}]")
		s.react(giveReaction("U2", "eyes", 110))
		s.equal("one from after", s.counts(), "[{eyes 6}]")
		s.react(takeReaction("U2", "eyes", 111))
		s.equal("taken back", s.counts(), "[{eyes 5}]")
		s.record(withReactions(200, nil, eyes(4)))
		s.equal("history wins", s.counts(), "[{eyes 4}]")
	}},
	{"history that names everybody says who has taken theirs back", func(s *suite) {
		s.record(plainMessage(1, "x"))
		s.react(giveReaction("U1", "eyes", 10), giveReaction("U2", "eyes", 11), giveReaction("U3", "tada", 12), giveReaction("U4", "eyes", 100))
		s.record(withReactions(50, []earshot.Reactor{{Emoji: "eyes", ID: "U2"}, {Emoji: "eyes", ID: "U5"}}, eyes(2)))
		s.equal("counts", s.counts(), "[{eyes 3}]")
		s.equal("who", s.who(), []earshot.Reactor{{Emoji: "eyes", ID: "U2"}, {Emoji: "eyes", ID: "U4"}, {Emoji: "eyes", ID: "U5"}})
		s.react(giveReaction("U1", "eyes", 10), giveReaction("U3", "tada", 12), giveReaction("U5", "eyes", 40))
		s.equal("told again", s.counts(), "[{eyes 3}]")
		s.react(takeReaction("U5", "eyes", 60), takeReaction("U5", "eyes", 60))
		s.equal("one of them", s.counts(), "[{eyes 2}]")
		s.equal("the page again", s.record(withReactions(50, []earshot.Reactor{{Emoji: "eyes", ID: "U2"}, {Emoji: "eyes", ID: "U5"}}, eyes(2))), []earshot.Change{earshot.Same})
		s.record(withReactions(200, nil))
		s.equal("all are gone", s.counts(), "[]")
	}},
	{"history that names some leaves the others unknown", func(s *suite) {
		by := []earshot.Reactor{{Emoji: "eyes", ID: "U1"}, {Emoji: "eyes", ID: "U2"}}
		s.record(withReactions(50, by, eyes(4)))
		s.react(giveReaction("U1", "eyes", 40), takeReaction("U2", "eyes", 60), takeReaction("U3", "eyes", 61), giveReaction("U4", "eyes", 62))
		s.equal("counts", s.counts(), "[{eyes 3}]")
		s.react(giveReaction("U4", "eyes", 62), takeReaction("U3", "eyes", 61), takeReaction("U2", "eyes", 60), giveReaction("U1", "eyes", 40))
		s.equal("told again", s.counts(), "[{eyes 3}]")
	}},
	{"fewer than are known were counted later: somebody took theirs back, nobody knows who", func(s *suite) {
		s.record(plainMessage(1, "x"))
		s.react(giveReaction("U1", "eyes", 10), giveReaction("U2", "eyes", 11))
		s.record(withReactions(50, nil, eyes(1)))
		s.equal("counts", s.counts(), "[{eyes 1}]")
		s.react(takeReaction("U1", "eyes", 60))
		s.equal("none is left", s.counts(), "[]")
	}},
	{"all can be taken away at once", func(s *suite) {
		s.record(withReactions(0, nil, eyes(3), earshot.Reaction{Name: "tada", Count: 2}))
		s.react(giveReaction("U1", "eyes", 10), giveReaction("U1", "+1", 11), clearReactions("eyes", 20))
		s.equal("of one emoji", s.counts(), "[{tada 2} {+1 1}]")
		s.react(giveReaction("U1", "eyes", 10), giveReaction("U9", "eyes", 19))
		s.equal("from before, told late", s.counts(), "[{tada 2} {+1 1}]")
		s.react(giveReaction("U1", "eyes", 21), clearReactions("eyes", 20))
		s.equal("given after", s.counts(), "[{tada 2} {+1 1} {eyes 1}]")
		s.react(clearReactions("", 30), giveReaction("U2", "new", 29))
		s.equal("of every emoji", s.counts(), "[]")
		s.react(giveReaction("U2", "new", 31))
		s.equal("and after it", s.counts(), "[{new 1}]")
	}},
	{"somebody unknown counts each time", func(s *suite) {
		s.record(withReactions(0, nil, eyes(1)))
		s.react(giveReaction("", "eyes", 10), giveReaction("", "eyes", 11), giveReaction("U1", "tada", 12), giveReaction("", "tada", 13))
		s.equal("counts", s.counts(), "[{eyes 3} {tada 2}]")
		s.react(takeReaction("", "eyes", 14), takeReaction("", "tada", 15), takeReaction("", "tada", 16), takeReaction("", "none", 17))
		s.equal("taken back, but of those who are known", s.counts(), "[{eyes 2} {tada 1}]")
	}},
	{"a reaction waits for its message", func(s *suite) {
		s.record(plainMessage(2, "another"))
		out := s.react(giveReaction("U1", "eyes", 10), giveReaction("U2", "eyes", 11), takeReaction("U2", "eyes", 12))
		s.equal("before its message", out, earshot.RecordResult{ID: "m1", Change: earshot.Same})
		s.equal("who", s.who(), []earshot.Reactor(nil))
		s.equal("nothing became known", messageIDs(s.since(0)), names("m2"))
		s.record(plainMessage(1, "x"))
		s.equal("after", s.counts(), "[{eyes 1}]")
		s.react(giveReaction("U1", "eyes", 10))
		s.equal("told again", s.counts(), "[{eyes 1}]")
		s.record(plainMessage(3, "a third"))
		s.equal("of another message", s.message("m3").Reactions, []earshot.Reaction(nil))
	}},
	{"a reaction to a deleted message or in an unknown channel changes nothing", func(s *suite) {
		_, err := s.React(s.Context(), s.scope, giveReaction("U1", "eyes", 10))
		wantError(s.T, err, earshot.ErrNotFound)
		_, err = s.Channel(s.Context(), s.scope)
		wantError(s.T, err, earshot.ErrNotFound)
		s.record(tombstone(1))
		s.equal("of a tombstone", s.react(giveReaction("U1", "eyes", 10)), earshot.RecordResult{ID: "m1", Change: earshot.Same, Seq: 1})
		s.equal("the tombstone", s.message("m1").Reactions, []earshot.Reaction(nil))
		s.record(plainMessage(3, "x"))
		x := giveReaction("U1", "eyes", 10)
		x.Message = "m3"
		s.react(x)
		s.record(tombstone(3))
		list, err := s.Reactors(s.Context(), s.scope, "m1", "m3", "m9")
		s.check(err)
		s.equal("who", len(list), 0)
	}},
	{"a reaction needs a message, an emoji and a time", func(s *suite) {
		s.record(plainMessage(1, "x"))
		for _, x := range []earshot.ReactionEvent{
			{Emoji: "eyes", Author: "U1", At: 1},
			{Message: "m1", Author: "U1", At: 1},
			{Message: "m1", Emoji: "eyes", Author: "U1"},
			{Message: "m1", Emoji: "eyes", All: true, At: 1},
			{Message: "m1", Emoji: "eyes", Author: "U1", All: true, Taken: true, At: 1},
		} {
			if _, err := s.React(s.Context(), s.scope, x); !errors.Is(err, earshot.ErrInvalid) {
				s.Errorf("%+v: got %v, want %v", x, err, earshot.ErrInvalid)
			}
		}
	}},
	{"ids and emojis are normalised", func(s *suite) {
		s.record(earshot.Message{ID: "a\x00b", Time: timeAt(1), Text: "text"})
		for range 2 {
			s.react(earshot.ReactionEvent{Message: "a\x00b", Emoji: "e\x00", Author: "U\x00", At: timeAt(10)})
		}
		s.equal("counts", s.message("a\u2400b").Reactions, []earshot.Reaction{{Name: "e\u2400", Count: 1}})
		list, err := s.Reactors(s.Context(), s.scope, "a\x00b")
		s.check(err)
		s.equal("who", list["a\u2400b"], []earshot.Reactor{{Emoji: "e\u2400", ID: "U\u2400", At: timeAt(10)}})
	}},
	{"concurrent reactions are a set, while the message is recorded again", func(s *suite) {
		s.record(plainMessage(1, "done"))
		const writers, each = 16, 10
		errs := runTogether(writers+1, func(w int) error {
			for i := range each {
				if w == writers { // records copies of the message without reactions, and other messages
					if _, err := s.Record(s.Context(), s.scope, plainMessage(1, "done"), plainMessage(2+i, "next")); err != nil {
						return err
					}
					continue
				}
				user := earshot.AuthorID(fmt.Sprint("U", w/2)) // two replicas tell the same
				for _, x := range []earshot.ReactionEvent{giveReaction(user, "tada", 10+i), giveReaction(user, "eyes", 10), takeReaction(user, "eyes", 11)} {
					if _, err := s.React(s.Context(), s.scope, x); err != nil {
						return err
					}
				}
			}
			return nil
		})
		s.equal("errors", len(errs), 0)
		s.equal("reactions", s.message("m1").Reactions, []earshot.Reaction{{Name: "tada", Count: writers / 2}})
	}},
	{"a concurrent edit is not lost", func(s *suite) {
		s.record(plainMessage(1, "draft"))
		const edits = 20
		errs := runTogether(2, func(w int) error {
			for i := range edits {
				m := plainMessage(1, "final")
				m.Edited = timeAt(10 + i)
				_, err := s.React(s.Context(), s.scope, giveReaction("U1", fmt.Sprint("e", i), 1+i))
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
		s.equal("revision", got.Edited, timeAt(10+edits-1))
		s.equal("reactions", len(got.Reactions), edits)
	}},
	{"reactions end in one state in any order, however often they are told", func(s *suite) {
		var tries atomic.Int64
		rapid.Check(s.T, func(t *rapid.T) {
			first := rapid.SampledFrom([]earshot.Message{plainMessage(1, "x"), withReactions(0, nil, eyes(2)), withReactions(5, nil, eyes(2), earshot.Reaction{Name: "tada", Count: 1}),
				withReactions(5, []earshot.Reactor{{Emoji: "eyes", ID: "U1"}}, eyes(1)), withReactions(5, []earshot.Reactor{{Emoji: "eyes", ID: "U1"}}, eyes(3))}).Draw(t, "history")
			events := rapid.SliceOfNDistinct(rapid.Custom(drawReacted), 1, 10, func(x earshot.ReactionEvent) earshot.ReactionEvent { return x }).Draw(t, "events")
			play := func(order []earshot.ReactionEvent) []any {
				s := &suite{T: s.T, Store: s.Store, scope: s.scope}
				s.scope.Channel = earshot.ChannelID(fmt.Sprint("try ", tries.Add(1)))
				if _, err := s.Record(background, s.scope, first); err != nil {
					t.Fatal(err)
				}
				for _, x := range order {
					if _, err := s.React(background, s.scope, x); err != nil {
						t.Fatal(err)
					}
				}
				m, err := s.Message(background, s.scope, "m1")
				if err != nil {
					t.Fatal(err)
				}
				who, err := s.Reactors(background, s.scope, "m1")
				if err != nil {
					t.Fatal(err)
				}
				return []any{m.Reactions, who["m1"]}
			}
			inOrder := slices.SortedFunc(slices.Values(events), func(a, b earshot.ReactionEvent) int { return cmp.Compare(a.At, b.At) })
			want := play(inOrder)
			again := rapid.Permutation(append(slices.Clone(events), rapid.SliceOfN(rapid.SampledFrom(events), 0, 6).Draw(t, "told again")...)).Draw(t, "order")
			if got := play(again); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%v\nthen %+v\ngot  %v\nwant %v", first, again, got, want)
			}
		})
	}},
}

// drawReacted draws what one of three people does to m1, or that all are taken away.
// No two things happen at once.
func drawReacted(t *rapid.T) earshot.ReactionEvent {
	x := giveReaction(earshot.AuthorID(fmt.Sprint("U", rapid.IntRange(1, 3).Draw(t, "user"))), rapid.SampledFrom([]string{"eyes", "tada"}).Draw(t, "emoji"), rapid.IntRange(1, 20).Draw(t, "at"))
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		x = clearReactions(rapid.SampledFrom([]string{"", "eyes"}).Draw(t, "of"), int(x.At-timeAt(0))/1_000_000)
	case 1, 2, 3, 4:
		x.Taken = true
	}
	return x
}

// since returns what became known after a sequence.
func (s *suite) since(seq int64) []earshot.Message {
	s.Helper()
	list, err := s.Since(s.Context(), s.scope, seq, 0)
	s.check(err)
	return list
}
