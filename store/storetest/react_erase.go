package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
)

var reactErasureCases = []testCase{
	{"an erased person is in no reaction, and the counts stay", func(s *suite) {
		s.record(withReactions(5, nil, eyes(2)))
		s.react(giveReaction("UCANARY", "eyes", 10), giveReaction("U2", "eyes", 11), giveReaction("UCANARY", "tada", 12), takeReaction("UCANARY", "+1", 13))
		waits := giveReaction("UCANARY", "eyes", 10)
		waits.Message = "m9"
		s.react(waits)
		before := s.message("m1")
		s.erased(s.ofPerson("UCANARY"))
		for _, p := range s.tables("UCANARY") {
			if !slices.Contains([]string{"erasure", "barred", "erasures", "bars"}, p.Table) {
				s.Errorf("left in %v", p)
			}
		}
		s.equal("who", s.who(), []earshot.Reactor{{Emoji: "eyes", ID: "U2"}})
		s.equal("the message", s.message("m1"), before)
		s.react(giveReaction("UCANARY", "eyes", 10), takeReaction("UCANARY", "tada", 14))
		s.record(withReactions(20, []earshot.Reactor{{Emoji: "tada", ID: "UCANARY"}, {Emoji: "eyes", ID: "U2"}}, eyes(4), earshot.Reaction{Name: "tada", Count: 1}))
		s.equal("what is told again of them", s.counts(), "[{eyes 4} {tada 1}]")
		s.equal("who", s.who(), []earshot.Reactor{{Emoji: "eyes", ID: "U2"}})
		later := earshot.TimeOf(time.Now().Add(time.Hour))
		s.react(earshot.ReactionEvent{Message: "m1", Emoji: "eyes", Author: "U3", At: later})
		s.equal("another one's, later", s.counts(), "[{eyes 5} {tada 1}]")
		s.react(earshot.ReactionEvent{Message: "m1", Emoji: "new", Author: "UCANARY", At: later})
		s.equal("theirs, later", len(s.who()), 3)
	}},
	{"a person who has only reacted can be erased, and forgotten", func(s *suite) {
		s.record(plainMessage(1, "x"))
		s.react(giveReaction("U7", "eyes", 10))
		of := s.ofPerson("U7")
		of.Forget = true
		s.erased(of)
		s.equal("counts", s.counts(), "[{eyes 1}]")
		s.equal("who", s.who(), []earshot.Reactor(nil))
		s.react(earshot.ReactionEvent{Message: "m1", Emoji: "tada", Author: "U7", At: earshot.TimeOf(time.Now().Add(time.Hour))})
		s.equal("what they do later", s.counts(), "[{eyes 1}]")
	}},
	{"who asked by an emoji and is erased is in no turn, unfinished or not", func(s *suite) {
		s.record(plainMessage(1, "x"), plainMessage(2, "y"), plainMessage(3, "z"))
		var turns []earshot.TurnID
		for n := range 3 {
			asks := giveReaction("UCANARY", "eyes", 10)
			e := deliveryOf(n+1, []string{"x", "y", "z"}[n])
			e.Delivery, e.Anew, e.By = fmt.Sprint("r", n), true, earshot.Reactor{Emoji: asks.Emoji, ID: asks.Author}
			out := s.ask(e, fmt.Sprint("c", n))
			if !out.Opened {
				s.Fatalf("no turn: %+v", out)
			}
			turns = append(turns, out.Turn)
			s.react(asks)
		}
		input := earshot.Prompt{Hash: "h", Input: []byte(`{"input":{"asked_by":{"emoji":"eyes","id":"UCANARY"}}}`)}
		for _, n := range []int{1, 2} {
			l := s.claimOf(s.conversation(fmt.Sprint("c", n)))
			s.begin(l, turns[n], input)
			if n == 1 {
				s.check(s.Finish(s.Context(), l, turns[n], earshot.TurnFailed, "the model is down", nil))
				continue
			}
			s.check(s.PutPost(s.Context(), l, earshot.Post{Turn: turns[n], Key: "k", State: earshot.PostSending, Text: "It was"}))
		}
		s.erased(s.ofPerson("UCANARY"))
		for _, p := range s.tables("UCANARY") {
			if !slices.Contains([]string{"erasure", "barred", "erasures", "bars"}, p.Table) {
				s.Errorf("left in %v", p)
			}
		}
		q := s.queued(turns[0])
		s.equal("what had not begun", []any{q.State, q.Why}, []any{earshot.TurnDropped, "asker erased"})
		q = s.queued(turns[1])
		s.equal("what had failed", []any{q.State, q.Why, q.Input == nil}, []any{earshot.TurnFailed, "the model is down", true})
		q = s.queued(turns[2])
		s.equal("what may be visible", []any{q.State, q.Why, q.Input == nil}, []any{earshot.TurnPosting, "", true})
	}},
	{"an erasure of a person takes several steps through their reactions", func(s *suite) {
		const n = 450
		for i := range n {
			s.record(plainMessage(i, "x"))
			x := giveReaction("U7", "eyes", 10_000)
			x.Message = plainMessage(i, "").ID
			s.react(x)
		}
		s.erased(s.ofPerson("U7"))
		for i := range n {
			list, err := s.Reactors(s.Context(), s.scope, plainMessage(i, "").ID)
			s.check(err)
			if len(list) != 0 || len(s.message(plainMessage(i, "").ID).Reactions) != 1 {
				s.Fatalf("message %d: %v, %v", i, list, s.message(plainMessage(i, "").ID).Reactions)
			}
		}
	}},
	{"nothing is left of the reactions of what is erased", func(s *suite) {
		react := func(s *suite) {
			for i := range 3 {
				x := giveReaction("UCANARY", "canary", 10+i)
				x.Message = plainMessage(i+1, "").ID // m3 is not stored
				s.react(x)
			}
		}
		for name, of := range map[string]earshot.ErasureOf{
			"a channel": s.ofChannel(), "messages": s.ofMessages("m1", "m2"), "before a time": s.of(earshot.ErasureOf{Channel: s.scope.Channel, Before: timeAt(100)}),
		} {
			s := &suite{T: s.T, Store: s.Store, scope: s.scope}
			s.scope.Channel = earshot.ChannelID(name)
			of.Channel = s.scope.Channel
			s.record(plainMessage(1, "x"), plainMessage(2, "y"))
			react(s)
			s.react(giveReaction("UCANARY", "canary", 10))
			s.erased(of)
			list, err := s.Reactors(s.Context(), s.scope, "m1", "m2", "m3")
			s.check(err)
			s.equal(name, len(list), 0)
			if of.Messages == nil && of.Before == 0 {
				s.record(plainMessage(3, "later"))
				s.equal(name+": what waited for its message", s.message("m3").Reactions, []earshot.Reaction(nil))
			}
			s.check(s.Erase(s.Context(), s.scope))
		}
		s.record(plainMessage(1, "x"), plainMessage(2, "y"))
		react(s)
		s.check(s.Erase(s.Context(), s.scope))
		s.without("canary")
	}},
	{"reactions that wait for a message are pruned with the events", func(s *suite) {
		s.record(plainMessage(5, "another"))
		s.react(giveReaction("U1", "eyes", 10))
		x := giveReaction("U1", "eyes", 20)
		x.Message = "m2"
		s.react(x)
		stays := giveReaction("U1", "eyes", 1)
		stays.Message = "m5"
		s.react(stays)
		_, err := s.PruneEvents(s.Context(), timeAt(15))
		s.check(err)
		s.record(plainMessage(1, "x"), plainMessage(2, "y"))
		s.equal("pruned", s.message("m1").Reactions, []earshot.Reaction(nil))
		s.equal("not yet", fmt.Sprint(s.message("m2").Reactions), "[{eyes 1}]")
		s.equal("of a stored message", fmt.Sprint(s.message("m5").Reactions), "[{eyes 1}]")
		list, err := s.Reactors(s.Context(), s.scope, "m5")
		s.check(err)
		s.equal("who", len(list["m5"]), 1)
		_, err = s.PruneEvents(s.Context(), timeAt(30))
		s.check(err)
		s.equal("after its message came", len(s.who()), 0)
		s.equal("of the other", fmt.Sprint(s.message("m2").Reactions), "[{eyes 1}]")
	}},
}
