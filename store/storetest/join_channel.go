package storetest

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/earshot-ai/earshot"
	"pgregory.net/rapid"
)

// joinTo moves the suite's channel to one of which something is stored.
func (s *suite) joinTo(to *suite) {
	s.Helper()
	s.check(s.MoveChannel(s.Context(), s.scope, to.scope.Channel))
	_, err := s.Channel(s.Context(), s.scope)
	wantError(s.T, err, earshot.ErrNotFound)
	s.equal("what is left", len(s.since(0)), 0)
}

// refuses checks that a channel cannot be moved, that the error says why, and that
// nothing has changed.
func (s *suite) refuses(to *suite, why string) {
	s.Helper()
	before := fmt.Sprint(s.since(0), to.since(0))
	err := s.MoveChannel(s.Context(), s.scope, to.scope.Channel)
	wantError(s.T, err, earshot.ErrConflict)
	if err != nil && !strings.Contains(err.Error(), why) {
		s.Errorf("the error is %q, and says nothing of %q", err, why)
	}
	s.equal("both channels", fmt.Sprint(s.since(0), to.since(0)), before)
}

var joinCases = []testCase{
	{"what was heard under the new id first is joined with what the channel had", func(s *suite) {
		_, turns := s.fill()
		was := s.contents(turns)
		to := s.movedTo("C9")
		before := s.queued(to.answered(70, "70", "m70"))
		waits := to.asked(71, "71")
		to.record(reply(72, "m70", "below"), reply(73, "m50", "below the old"))
		to.check(to.PutCoverage(s.Context(), to.scope, earshot.Coverage{From: timeAt(70), State: earshot.Known}))
		old, err := s.Conversation(s.Context(), s.conversation("dm"))
		s.check(err)
		known := to.since(0)
		seen := known[len(known)-1].Seq

		s.joinTo(to)
		s.equal("messages", to.newest(whole, open, 99), names("m1", "m2", "m3", "m50", "m52", "m70", "m71", "m72", "m73"))
		count, err := to.Count(s.Context(), to.scope, whole, open)
		s.check(err)
		s.equal("count", count.Count, 9)
		activity, err := to.Activity(s.Context(), to.scope, open, "m50", "m70")
		s.check(err)
		s.equal("replies", []int{activity["m50"].Count, activity["m70"].Count}, []int{2, 1})
		info, err := s.FindChannels(s.Context(), earshot.ChannelQuery{IDs: []earshot.ChannelID{to.scope.Channel}, Workspaces: []earshot.WorkspaceID{to.scope.Workspace}})
		s.check(err)
		s.equal("counted", []any{info[0].Messages, info[0].Threads, info[0].First, info[0].Last, info[0].Name}, []any{9, 2, timeAt(1), timeAt(73), was.Channel.Name})
		coverage, err := to.Coverage(s.Context(), to.scope)
		s.check(err)
		s.equal("coverage", coverage, []earshot.Coverage{{To: timeAt(70) - 1, State: earshot.Missing, Why: was.Coverage[0].Why}, {From: timeAt(70), State: earshot.Known}})
		for _, id := range turns {
			q, err := s.QueuedTurn(s.Context(), id)
			s.check(err)
			s.equal("scope of a turn", q.Conversation.Scope, to.scope)
		}
		s.equal("blob", to.kept("aa"), []string{"aa"})
		s.equal("raw", []int{len(to.raws(1)), len(to.raws(70))}, []int{1, 1})
		asked, thought := to.approvals(earshot.ApprovalQuery{Scope: &to.scope}), to.opinions(earshot.FeedbackQuery{Scope: &to.scope})
		s.equal("approvals and feedback", []int{len(asked), len(thought)}, []int{len(was.Asked), len(was.Thought)})
		keyed, err := to.Conversation(s.Context(), to.conversation("keyed"))
		s.check(err)
		s.equal("what is said of a conversation", []any{keyed.Metadata["who"], keyed.About.Owner}, []any{fmt.Sprint(s.scope), canaryAbout("canary").Owner})
		drafts, err := s.OpenDrafts(s.Context(), s.draft(50, "keyed", 0).Opener, 0, true, 0)
		s.check(err)
		s.equal("a draft", drafts[0].Conversation.Scope, to.scope)
		before.Conversation.Scope = to.scope
		s.equal("a turn of the new id", s.queued(before.ID), before)
		session, err := to.Session(s.Context(), to.conversation("70"))
		s.check(err)
		s.equal("its session", len(session) > 0, true)
		sum, err := to.Summary(s.Context(), to.conversation("dm"))
		s.check(err)
		s.equal("summary", sum.Text, fmt.Sprint(s.scope))

		// The order in which it became known: the channel's own, then the new id's; and who has
		// read the new id finds all.
		all := to.since(seen)
		s.equal("after what was read", messageIDs(all), names("m50", "m52", "m53", "m1", "m2", "m3", "m70", "m71", "m72", "m73"))
		s.equal("terms", len(collect(s.T, to.Terms(s.Context(), to.scope, seen))), len(all))
		now, err := s.Conversation(s.Context(), to.conversation("dm"))
		s.check(err)
		s.equal("what stands behind a cursor", messageIDs(to.since(now.Cursor)), messageIDs(all)[slices.IndexFunc(was.Messages, func(m earshot.Message) bool { return m.Seq > old.Cursor }):])

		// All goes on.
		l := to.claimOf(to.conversation("dm"))
		s.check(s.AddStep(s.Context(), l, turns[1], earshot.Step{N: 1, Data: []byte("x")}))
		l = to.claimOf(to.conversation("71"))
		s.begin(l, waits, prompt(71))
		to.record(plainMessage(80, "x"))
		if got := to.message("m80").Seq; got <= all[len(all)-1].Seq {
			s.Errorf("sequence %d is not after %d", got, all[len(all)-1].Seq)
		}
		s.check(s.MoveChannel(s.Context(), s.scope, to.scope.Channel))
	}},
	{"a message that both have is told twice: the newest revision stays, and the older one with it", func(s *suite) {
		to := s.movedTo("C9")
		edit := func(n, at int, text string) earshot.Message {
			m := plainMessage(n, text)
			m.Edited = timeAt(at)
			return m
		}
		s.record(plainMessage(1, "one"), edit(1, 11, "one, edited"), plainMessage(2, "two"), plainMessage(3, "same"), withSharedFiles(4, "F1"))
		s.keep(4, "F1", "aa")
		s.embed("m", "m1", "m2", "m3")
		to.record(plainMessage(1, "one"), plainMessage(2, "two"), edit(2, 12, "two, edited"), plainMessage(3, "same"), withSharedFiles(4, "F1"), plainMessage(5, "five"))
		to.keep(4, "F1", "bb")
		to.embed("m", "m5")
		s.joinTo(to)
		s.equal("messages", to.newest(whole, open, 9), names("m1", "m2", "m3", "m4", "m5"))
		for id, want := range map[earshot.MessageID][]string{"m1": {"one", "one, edited"}, "m2": {"two", "two, edited"}, "m3": {"same"}} {
			list, err := to.Revisions(s.Context(), to.scope, id)
			s.check(err)
			var got []string
			for _, m := range list {
				got = append(got, m.Text)
			}
			s.equal(string(id), got, want)
		}
		s.equal("embeddings of what is the same", to.embeddedIDs(), []string{"m1", "m3", "m5"})
		s.equal("file", append(to.kept("aa"), to.kept("bb")...), []string{"bb"})
	}},
	{"what was deleted under one id is gone under the other, and from what has read it", func(s *suite) {
		to := s.movedTo("C9")
		s.record(plainMessage(1, "canary"), plainMessage(2, "canary"), tombstone(2))
		to.record(plainMessage(1, "canary"), tombstone(1), plainMessage(2, "canary"))
		mine := s.answered(8, "8", "m1")
		theirs := to.answered(9, "9", "m2")
		s.joinTo(to)
		s.equal("messages", to.newest(whole, open, 9), names("m8", "m9"))
		for _, conversation := range []string{"8", "9"} {
			session, err := to.Session(s.Context(), to.conversation(conversation))
			s.check(err)
			s.equal("session", len(session), 0)
		}
		s.equal("turns", [][]string{to.text(mine), to.text(theirs)}, [][]string{{}, {}})
	}},
	{"reactions that were heard under both ids are one set, early ones too", func(s *suite) {
		to := s.movedTo("C9")
		s.record(plainMessage(1, "x"), plainMessage(2, "y"))
		s.react(giveReaction("U1", "eyes", 10), giveReaction("U2", "eyes", 11), giveReaction("U3", "tada", 12))
		to.record(plainMessage(3, "z"))
		to.react(giveReaction("U1", "eyes", 10), takeReaction("U2", "eyes", 20), giveReaction("U4", "eyes", 21))
		early := giveReaction("U1", "eyes", 30)
		early.Message = "m3"
		s.react(early)
		s.joinTo(to)
		s.equal("counts", to.counts(), "[{eyes 2} {tada 1}]")
		s.equal("who", to.who(), []earshot.Reactor{{Emoji: "eyes", ID: "U1"}, {Emoji: "eyes", ID: "U4"}, {Emoji: "tada", ID: "U3"}})
		s.equal("early", to.message("m3").Reactions, []earshot.Reaction{eyes(1)})
	}},
	{"a question that waits under the new id goes on in the conversation that the channel has", func(s *suite) {
		to := s.movedTo("C9")
		done := s.answered(1, "top", "m1")
		waits := to.asked(2, "top")
		l, _ := to.claim("me", timeAt(500))
		s.joinTo(to)
		wantError(s.T, s.Begin(s.Context(), l, waits, prompt(2)), earshot.ErrFenced)
		c, err := to.Conversation(s.Context(), to.conversation("top"))
		s.check(err)
		session, err := to.Session(s.Context(), c.ID)
		s.check(err)
		s.equal("the session goes on", len(session) > 0, true)
		next, turns := to.claim("me", timeAt(501))
		s.equal("claimed", turnIDs(turns), []earshot.TurnID{waits})
		if next.Fence <= l.Fence {
			s.Errorf("fence %d after %d", next.Fence, l.Fence)
		}
		p := prompt(2)
		p.From, p.Epoch = c.Epoch, c.Epoch
		s.begin(next, waits, p)
		s.equal("the answer before", s.queued(done).Conversation.Scope, to.scope)
	}},
	{"two sessions of one conversation are not joined", func(s *suite) {
		to := s.movedTo("C9")
		s.answered(1, "top", "m1")
		to.answered(2, "top", "m2")
		s.refuses(to, `agent has a session of conversation "top" in both; what was said before stays under`)
	}},
	{"nor is a turn that is being answered in a conversation that both have", func(s *suite) {
		to := s.movedTo("C9")
		s.answered(1, "top", "m1")
		id := to.asked(2, "top")
		l, _ := to.claim("me", timeAt(500))
		s.begin(l, id, prompt(2))
		s.refuses(to, "it can be moved once that turn has ended")
		s.check(s.Finish(s.Context(), l, id, earshot.TurnFailed, "no reason", nil))
		s.joinTo(to)
	}},
	{"nor two turns for one message", func(s *suite) {
		to := s.movedTo("C9")
		s.asked(1, "a")
		to.asked(1, "b")
		s.refuses(to, "agent has a turn for message m1 in both")
	}},
	{"what was erased under one id is not brought back by the other", func(s *suite) {
		to := s.movedTo("C9")
		s.record(plainMessage(1, "canary"), plainMessage(2, "canary"))
		s.erased(s.of(earshot.ErasureOf{Channel: s.scope.Channel, User: "U1"}))
		to.record(plainMessage(1, "canary"))
		s.refuses(to, "erase the same of C9")
		to.erased(s.of(earshot.ErasureOf{Channel: to.scope.Channel, User: "U1"}))
		s.joinTo(to)
		s.equal("messages", to.newest(whole, open, 9), names())
		later := plainMessage(3, "by another")
		later.Author.ID = "U2"
		to.record(later, plainMessage(2, "canary"))
		s.equal("and it stays erased", to.newest(whole, open, 9), names("m3"))
	}},
	{"nor what others hold of a person who was erased under one id alone", func(s *suite) {
		labels := plainMessage(1, "ask <@U1|Alice>")
		labels.Author.ID = "U2"
		quotes := plainMessage(2, "look")
		quotes.Author.ID, quotes.Shared = "U2", []earshot.SharedContent{{Kind: earshot.Forward, ID: "U1", Author: "Alice", Text: "canary"}}
		for i, m := range []earshot.Message{labels, quotes} {
			for k, erasedFirst := range []bool{true, false} {
				from, to := s.movedTo(earshot.ChannelID(fmt.Sprint("old ", i, k))), s.movedTo(earshot.ChannelID(fmt.Sprint("new ", i, k)))
				has, had := to, from
				if !erasedFirst {
					has, had = from, to
				}
				had.record(plainMessage(9, "canary"))
				had.erased(s.of(earshot.ErasureOf{Channel: had.scope.Channel, User: "U1"}))
				has.record(m)
				from.refuses(to, "erase the same of "+string(has.scope.Channel))
				has.erased(s.of(earshot.ErasureOf{Channel: has.scope.Channel, User: "U1"}))
				from.joinTo(to)
				if got := to.message(m.ID); strings.Contains(fmt.Sprint(got.Text, got.Shared), "Alice") || got.Author.ID != "U2" {
					s.Errorf("joined: %+v", got)
				}
			}
		}
	}},
	{"messages end in one state, whichever id each copy came under", func(s *suite) {
		var tries atomic.Int64
		rapid.Check(s.T, func(t *rapid.T) {
			copies := rapid.SliceOfN(rapid.Custom(drawCopy), 0, 24).Draw(t, "copies")
			n := rapid.IntRange(0, len(copies)).Draw(t, "under the old id")
			try := tries.Add(1)
			from, to := s.movedTo(earshot.ChannelID(fmt.Sprint("old ", try))), s.movedTo(earshot.ChannelID(fmt.Sprint("new ", try)))
			from.arrive(t, copies[:n])
			to.arrive(t, copies[n:])
			if err := s.MoveChannel(background, from.scope, to.scope.Channel); err != nil {
				t.Fatal(err)
			}
			if got, want := to.state(t), expectedState(copies); !equalStates(got, want) {
				t.Fatalf("%d of %v under the old id\ngot  %+v\nwant %+v", n, copies, got, want)
			}
			to.settled(t, copies)
		})
	}},
	{"an emoji that was given and taken away in one moment, under two ids", func(s *suite) {
		for i, takenFirst := range []bool{true, false} {
			given := giveReaction("U1", "eyes", 13)
			taken := given
			taken.Taken = true
			events := []earshot.ReactionEvent{given, taken}
			if takenFirst {
				events = []earshot.ReactionEvent{taken, given}
			}
			at := func(name string, events ...earshot.ReactionEvent) *suite {
				x := s.movedTo(earshot.ChannelID(fmt.Sprint(name, i)))
				_, err := s.Record(s.Context(), x.scope, withReactions(5, nil, eyes(2), earshot.Reaction{Name: "tada", Count: 1}))
				s.check(err)
				for _, e := range events {
					_, err := s.React(s.Context(), x.scope, e)
					s.check(err)
				}
				return x
			}
			from, to, one := at("old ", events[0]), at("new ", events[1]), at("one ", events...)
			s.check(s.MoveChannel(s.Context(), from.scope, to.scope.Channel))
			s.equal("reactions", to.message("m1").Reactions, one.message("m1").Reactions)
		}
	}},
	{"reactions end in one state, whichever id each came under", func(s *suite) {
		var tries atomic.Int64
		rapid.Check(s.T, func(t *rapid.T) {
			history := rapid.SampledFrom([]earshot.Message{plainMessage(1, "x"), withReactions(0, nil, eyes(2)), withReactions(5, nil, eyes(2), earshot.Reaction{Name: "tada", Count: 1}),
				withReactions(5, []earshot.Reactor{{Emoji: "eyes", ID: "U1"}}, eyes(1)), withReactions(5, []earshot.Reactor{{Emoji: "eyes", ID: "U1"}}, eyes(3))}).Draw(t, "history")
			events := rapid.SliceOfNDistinct(rapid.Custom(drawReacted), 0, 10, func(x earshot.ReactionEvent) earshot.ReactionEvent { return x }).Draw(t, "events")
			// What history told after all was taken away is taken for what was told before, where the
			// latter comes late; two ids know better.
			events = slices.DeleteFunc(events, func(x earshot.ReactionEvent) bool {
				return x.All && history.Reactors != nil && x.At <= history.Reactors.AsOf
			})
			n := rapid.IntRange(0, len(events)).Draw(t, "under the old id")
			again := events[:min(n, rapid.IntRange(0, len(events)).Draw(t, "of which told again"))]
			try := tries.Add(1)
			at := func(name string, has bool, events ...earshot.ReactionEvent) *suite {
				x := s.movedTo(earshot.ChannelID(fmt.Sprint(name, try)))
				first := history
				if !has {
					first = plainMessage(2, "another")
				}
				if _, err := s.Record(background, x.scope, first); err != nil {
					t.Fatal(err)
				}
				for _, e := range events {
					if _, err := s.React(background, x.scope, e); err != nil {
						t.Fatal(err)
					}
				}
				return x
			}
			who := func(x *suite) string {
				m, err := s.Message(background, x.scope, "m1")
				if err != nil {
					t.Fatal(err)
				}
				list, err := s.Reactors(background, x.scope, "m1")
				if err != nil {
					t.Fatal(err)
				}
				return fmt.Sprint(m.Reactions, list)
			}
			old := rapid.Bool().Draw(t, "the old has the message")
			from, to := at("old ", old, events[:n]...), at("new ", !old || rapid.Bool().Draw(t, "the new too"), slices.Concat(again, events[n:])...)
			if err := s.MoveChannel(background, from.scope, to.scope.Channel); err != nil {
				t.Fatal(err)
			}
			if got, want := who(to), who(at("one ", true, events...)); got != want {
				t.Fatalf("%d of %+v under the old id\ngot  %s\nwant %s", n, events, got, want)
			}
		})
	}},
}
