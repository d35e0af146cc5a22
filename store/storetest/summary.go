package storetest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
)

// due claims a summary of any of the suite's conversations with more than over
// turns to summarise.
func (s *suite) due(owner string, over int, now earshot.Time) (earshot.SummaryClaim, error) {
	s.Helper()
	return s.ClaimSummary(s.Context(), "agent", owner, over, now, hold)
}

// mayClaim is due, where there must be one.
func (s *suite) mayClaim(owner string, over int, now earshot.Time) earshot.SummaryClaim {
	s.Helper()
	c, err := s.due(owner, over, now)
	s.check(err)
	return c
}

// none checks that no conversation has more than over turns to summarise.
func (s *suite) none(over int, now earshot.Time) {
	s.Helper()
	c, err := s.due("nobody", over, now)
	if !errors.Is(err, earshot.ErrNotFound) {
		s.Errorf("ClaimSummary gave %q, %v, want ErrNotFound", c.Conversation.Name, err)
	}
}

// summarise puts a summary of the older half of what a conversation's summary does
// not cover.
func (s *suite) summarise(id earshot.ConversationID, text string, of ...earshot.MessageID) earshot.Summary {
	s.Helper()
	var others []earshot.SummaryClaim
	for {
		c, err := s.ClaimSummary(s.Context(), id.Agent, "summariser", 0, timeAt(1), hold)
		s.check(err)
		if c.Conversation != id {
			others = append(others, c)
			continue
		}
		sum := earshot.Summary{Text: text, From: timeAt(0), To: timeAt(60), Turns: c.Next, By: earshot.ByDigest}
		s.check(s.PutSummary(s.Context(), c, sum, of...))
		for _, c := range others {
			s.check(s.ReleaseSummary(s.Context(), c, 0))
		}
		return sum
	}
}

// talk commits the turns from to upTo-1 of a conversation.
func (s *suite) talk(name string, from, upTo int) {
	s.Helper()
	s.opened(name, "")
	for n := from; n < upTo; n++ {
		t := turn(n, fmt.Sprint("turn ", n))
		t.Epoch = s.epoch(name)
		t.Shown, t.Ledger = nil, nil
		s.commit(name, t)
	}
}

// summed returns the text of a conversation's summary, "" when there is none.
func (s *suite) summed(name string) string {
	s.Helper()
	sum, err := s.Summary(s.Context(), s.conversation(name))
	if errors.Is(err, earshot.ErrNotFound) {
		return ""
	}
	s.check(err)
	return sum.Text
}

var summaryCases = []testCase{
	{"a conversation is due past so many turns, and then its older half", func(s *suite) {
		s.talk("m1", 1, 9)
		s.none(8, timeAt(1))
		c := s.mayClaim("me", 7, timeAt(1))
		s.equal("claim", c, earshot.SummaryClaim{
			Lease: earshot.Lease{Conversation: s.conversation("m1"), Owner: "me", Fence: 1, Until: timeAt(11)}, Turns: 8, Next: 4})
		want := earshot.Summary{Text: "one\u2400", From: timeAt(1), To: timeAt(4), Turns: 4, By: "cheap"}
		given := want
		given.Text = " one\x00\n"
		_, err := s.Summary(s.Context(), s.conversation("m1"))
		wantError(s.T, err, earshot.ErrNotFound)
		s.check(s.PutSummary(s.Context(), c, given, "m1", "m2"))
		got, err := s.Summary(s.Context(), s.conversation("m1"))
		s.check(err)
		s.equal("summary", got, want)
		s.none(4, timeAt(1))
		s.talk("m1", 9, 12)
		next := s.mayClaim("me", 6, timeAt(1))
		s.equal("the next continues it", []any{next.Before, next.Turns, next.Next, next.Fence}, []any{want, 11, 8, int64(2)})
		s.check(s.PutSummary(s.Context(), next, earshot.Summary{Text: "two", Turns: 5}))
		s.equal("it replaces it", s.summed("m1"), "two")
		s.none(6, timeAt(1))
		s.mayClaim("me", 5, timeAt(1))
	}},
	{"long turns count as several", func(s *suite) {
		s.opened("m1", "")
		for n, bytes := range []int{1, 1, 20_000, 1, 1, 1} {
			s.commit("m1", earshot.Turn{Answer: earshot.Answer{Anchor: plainMessage(n, "").ID}, Session: []earshot.SessionEntry{{Role: earshot.User, Text: strings.Repeat("x", bytes)}}})
		}
		s.none(15, timeAt(1))
		c := s.mayClaim("me", 14, timeAt(1))
		s.equal("half", c.Next, 3)
		s.check(s.PutSummary(s.Context(), c, earshot.Summary{Text: "x", Turns: 3}))
		s.none(3, timeAt(1))
		s.equal("the rest", s.mayClaim("me", 2, timeAt(1)).Next, 5)
	}},
	{"the conversation with the most turns is claimed first, and by one owner only", func(s *suite) {
		s.talk("few", 1, 4)
		s.talk("most", 11, 17)
		other := s.conversation("theirs")
		other.Agent = "other"
		_, _, err := s.OpenConversation(s.Context(), other, "")
		s.check(err)
		for n := range 9 {
			_, err := s.CommitTurn(s.Context(), other, earshot.Turn{Answer: earshot.Answer{Anchor: plainMessage(20+n, "").ID}})
			s.check(err)
		}
		first := s.mayClaim("a", 2, timeAt(1))
		second2 := s.mayClaim("b", 2, timeAt(1))
		s.equal("in order", []string{first.Conversation.Name, second2.Conversation.Name}, []string{"most", "few"})
		s.none(2, timeAt(1))
		s.none(2, timeAt(11)-1)
		again := s.mayClaim("b", 2, timeAt(11))
		s.equal("a claim runs out", []any{again.Conversation.Name, again.Fence}, []any{"most", int64(2)})
		wantError(s.T, s.PutSummary(s.Context(), first, earshot.Summary{Text: "late", Turns: 1}), earshot.ErrFenced)
		s.check(s.ReleaseSummary(s.Context(), first, timeAt(99)))
		s.check(s.PutSummary(s.Context(), again, earshot.Summary{Text: "right", Turns: 1}))
		s.equal("summary", s.summed("most"), "right")
		wantError(s.T, s.PutSummary(s.Context(), again, earshot.Summary{Text: "twice", Turns: 2}), earshot.ErrFenced)
	}},
	{"a claim that ran out is good until somebody else has it", func(s *suite) {
		s.talk("m1", 1, 4)
		c := s.mayClaim("a", 0, timeAt(1))
		s.check(s.PutSummary(s.Context(), c, earshot.Summary{Text: "late", Turns: 1}))
		s.equal("summary", s.summed("m1"), "late")
	}},
	{"a claim that is given back waits, and others do not", func(s *suite) {
		s.talk("first", 1, 6)
		s.talk("second", 11, 14)
		c := s.mayClaim("a", 1, timeAt(1))
		s.check(s.ReleaseSummary(s.Context(), c, timeAt(60)))
		s.check(s.ReleaseSummary(s.Context(), c, 0))
		other := s.mayClaim("a", 1, timeAt(2))
		s.equal("others do not wait", other.Conversation.Name, "second")
		s.none(1, timeAt(2))
		s.equal("after its time", s.mayClaim("a", 1, timeAt(60)).Conversation.Name, "first")
	}},
	{"a claim by a clock that was set back since is nobody's", func(s *suite) {
		s.talk("m1", 1, 4)
		s.mayClaim("a", 1, timeAt(7200))
		s.equal("claimed again", s.mayClaim("b", 1, timeAt(1)).Owner, "b")
	}},
	{"a summary that is not one is refused, and changes nothing", func(s *suite) {
		s.talk("m1", 1, 6)
		s.summarise(s.conversation("m1"), "stands")
		c := s.mayClaim("me", 1, timeAt(1))
		ctx := s.Context()
		wantError(s.T, s.PutSummary(ctx, c, earshot.Summary{Text: " \n", Turns: 4}), earshot.ErrInvalid)
		wantError(s.T, s.PutSummary(ctx, c, earshot.Summary{Text: "x", Turns: c.Before.Turns}), earshot.ErrInvalid)
		wantError(s.T, s.PutSummary(ctx, c, earshot.Summary{Text: "x", Turns: 6}), earshot.ErrInvalid)
		wantError(s.T, s.PutSummary(ctx, c, earshot.Summary{Text: "x", Turns: 5, From: 2, To: 1}), earshot.ErrInvalid)
		wantError(s.T, s.PutSummary(ctx, c, earshot.Summary{Text: "x", Turns: 5}, earshot.MessageID(strings.Repeat("x", 513))), earshot.ErrInvalid)
		nowhere := c
		nowhere.Conversation.Name = "m2"
		wantError(s.T, s.PutSummary(ctx, nowhere, earshot.Summary{Text: "x", Turns: 5}), earshot.ErrFenced)
		for _, f := range []func() error{
			func() error { _, err := s.ClaimSummary(ctx, "", "me", 1, 1, hold); return err },
			func() error { _, err := s.ClaimSummary(ctx, "agent", "", 1, 1, hold); return err },
			func() error { _, err := s.ClaimSummary(ctx, "agent", "me", -1, 1, hold); return err },
			func() error { _, err := s.ClaimSummary(ctx, "agent", "me", 1, 1, 0); return err },
		} {
			wantError(s.T, f(), earshot.ErrInvalid)
		}
		s.equal("summary", s.summed("m1"), "stands")
		s.check(s.PutSummary(ctx, c, earshot.Summary{Text: "the claim is still good", Turns: 5}))
	}},
	{"a summary of what was deleted since it was read is refused", func(s *suite) {
		s.record(plainMessage(50, "a"), plainMessage(51, "b"), plainMessage(52, "c"))
		s.talk("m1", 1, 6)
		c := s.mayClaim("me", 1, timeAt(1))
		s.record(tombstone(51))
		wantError(s.T, s.PutSummary(s.Context(), c, earshot.Summary{Text: "x", Turns: 2}, "m50", "m51"), earshot.ErrConflict)
		s.check(s.PutSummary(s.Context(), c, earshot.Summary{Text: "of the rest", Turns: 2}, "m50", "m52"))
		c = s.mayClaim("me", 1, timeAt(1))
		s.record(tombstone(50))
		wantError(s.T, s.PutSummary(s.Context(), c, earshot.Summary{Text: "continues what is dropped", Turns: 4}), earshot.ErrConflict)
		s.equal("summary", s.summed("m1"), "")
	}},
	{"a deletion drops the summaries that were made of its message, and they are due again", func(s *suite) {
		s.record(plainMessage(50, "never shown"), plainMessage(51, "in the second"), plainMessage(52, "in none"))
		s.talk("m1", 1, 9)
		s.talk("m2", 11, 19)
		s.summarise(s.conversation("m1"), "first", "m50")
		s.summarise(s.conversation("m1"), "second", "m51")
		s.summarise(s.conversation("m2"), "of another", "m51")
		s.accept(deletionOf(52, ""))
		s.equal("of what no summary has", []string{s.summed("m1"), s.summed("m2")}, []string{"second", "of another"})
		s.equal("epochs", []int{s.epoch("m1"), s.epoch("m2")}, []int{0, 0})
		s.none(4, timeAt(1))
		s.record(tombstone(50))
		s.equal("of what the one before has", []string{s.summed("m1"), s.summed("m2")}, []string{"", "of another"})
		s.equal("epochs", []int{s.epoch("m1"), s.epoch("m2")}, []int{1, 0})
		session, err := s.Session(s.Context(), s.conversation("m1"))
		s.check(err)
		s.equal("session", len(session), 0)
		c := s.mayClaim("me", 7, timeAt(1))
		s.equal("due again", []any{c.Conversation.Name, c.Before, c.Next}, []any{"m1", earshot.Summary{}, 4})
		s.check(s.PutSummary(s.Context(), c, earshot.Summary{Text: "anew", Turns: 4}))
		s.record(tombstone(51))
		s.equal("what is made anew knows its own messages only", []string{s.summed("m1"), s.summed("m2")}, []string{"anew", ""})
	}},
	{"a summary that is dropped takes along every epoch that may have read it or one before it", func(s *suite) {
		s.record(plainMessage(50, "canary"), plainMessage(51, "x"), plainMessage(60, "x"))
		begin := func(n, from, epoch int) (earshot.Lease, earshot.TurnID) {
			id := s.asked(n, "dm")
			l, _ := s.claim("me", timeAt(n))
			p := prompt(n)
			p.From, p.Epoch = from, epoch
			s.begin(l, id, p)
			return l, id
		}
		finish := func(l earshot.Lease, id earshot.TurnID, n, epoch int) {
			t := turn(n, "canary")
			t.Epoch, t.Shown, t.Ledger = epoch, nil, nil
			s.check(s.Finish(s.Context(), l, id, earshot.TurnDone, "", &t))
			s.check(s.Release(s.Context(), l, 0))
		}
		var done []earshot.TurnID
		for epoch := range 3 { // the summary is made in epoch 1, another continues it in epoch 2
			l, id := begin(epoch+1, max(epoch-1, 0), epoch)
			finish(l, id, epoch+1, epoch)
			done = append(done, id)
			if epoch > 0 {
				s.summarise(s.conversation("dm"), "canary", earshot.MessageID(fmt.Sprint("m", 49+epoch)))
			}
		}
		l, running := begin(4, 2, 3)
		s.step(l, running, 0)
		s.accept(deletionOf(51, ""))
		s.equal("before it", s.text(done[0]), []string{"input", "session"})
		s.equal("that read the first", s.text(done[1]), []string{})
		s.equal("that read the second", s.text(done[2]), []string{})
		s.equal("that is under way", s.text(running), []string{})
		finish(l, running, 4, 3)
		s.equal("and done", s.text(running), []string{})
		s.equal("summary", s.summed("dm"), "")
		session, err := s.Session(s.Context(), s.conversation("dm"))
		s.check(err)
		s.equal("session", len(session), 0)
	}},
	{"replicas never make two summaries of one range", func(s *suite) {
		for c := range 3 {
			s.talk(fmt.Sprint("c", c), 100*c+1, 100*c+41)
		}
		type made struct {
			conversation string
			from, to     int
		}
		all := make([][]made, 8)
		errs := runTogether(len(all), func(i int) error {
			owner := fmt.Sprint("replica ", i)
			for {
				c, err := s.ClaimSummary(s.Context(), "agent", owner, 3, timeAt(1), time.Hour)
				if errors.Is(err, earshot.ErrNotFound) {
					return nil
				}
				if err != nil {
					return err
				}
				if len(all[i])%3 == 2 { // gives up once in a while
					all[i] = append(all[i], made{})
					if err := s.ReleaseSummary(s.Context(), c, 0); err != nil {
						return err
					}
					continue
				}
				if err := s.PutSummary(s.Context(), c, earshot.Summary{Text: c.Before.Text + "x", Turns: c.Next}); err != nil {
					return err
				}
				all[i] = append(all[i], made{c.Conversation.Name, c.Before.Turns, c.Next})
			}
		})
		s.equal("errors", errs, []error{})
		for {
			c, err := s.due("last", 3, timeAt(1))
			if errors.Is(err, earshot.ErrNotFound) {
				break
			}
			s.check(err)
			s.check(s.PutSummary(s.Context(), c, earshot.Summary{Text: c.Before.Text + "x", Turns: c.Next}))
			all[0] = append(all[0], made{c.Conversation.Name, c.Before.Turns, c.Next})
		}
		for i := range 3 {
			name := fmt.Sprint("c", i)
			covered, parts := make([]int, 40), 0
			for _, list := range all {
				for _, m := range list {
					if m.conversation == name {
						parts++
						for n := m.from; n < m.to; n++ {
							covered[n]++
						}
					}
				}
			}
			s.equal("every turn at most once", strings.Trim(fmt.Sprint(covered), "[]"), strings.Repeat("1 ", 38)+"0 0")
			s.equal("each continues the one before", s.summed(name), strings.Repeat("x", parts))
		}
	}},
}
