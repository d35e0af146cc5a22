package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
)

func (s *suite) thinks(id earshot.TurnID, by earshot.AuthorID, good bool, reason string) earshot.Feedback {
	s.Helper()
	f := earshot.Feedback{Turn: id, Author: by, Good: good, Reason: reason, Time: timeAt(int(id))}
	s.check(s.PutFeedback(s.Context(), f))
	return f
}

// opinions lists feedback as "turn author good reason".
func (s *suite) opinions(q earshot.FeedbackQuery) []string {
	s.Helper()
	list, err := s.Feedback(s.Context(), q)
	s.check(err)
	out := []string{}
	for _, f := range list {
		in := s.queued(f.Turn).Conversation
		s.equal("conversation", f.Conversation, in)
		out = append(out, fmt.Sprint(s.queued(f.Turn).Anchor, " ", f.Author, " ", f.Good, " ", f.Reason))
	}
	return out
}

var feedbackCases = []testCase{
	{"a person thinks one thing of an answer", func(s *suite) {
		id := s.answered(1, "m1")
		f := s.thinks(id, "U2", true, "clear\x00")
		s.thinks(id, "U3", false, "")
		list, err := s.Feedback(s.Context(), earshot.FeedbackQuery{Turn: id, Limit: 1})
		s.check(err)
		f.Conversation, f.Reason = s.conversation("m1"), "clear␀"
		s.equal("stored", list, []earshot.Feedback{f})
		s.thinks(id, "U2", true, "")
		s.equal("the reason stays", s.opinions(earshot.FeedbackQuery{}), []string{"m1 U2 true clear␀", "m1 U3 false "})
		s.thinks(id, "U2", true, "quick")
		s.equal("another reason", s.opinions(earshot.FeedbackQuery{})[0], "m1 U2 true quick")
		s.thinks(id, "U2", false, "")
		s.equal("the other way", s.opinions(earshot.FeedbackQuery{})[0], "m1 U2 false ")
		for range 2 {
			s.check(s.RemoveFeedback(s.Context(), id, "U2"))
		}
		s.check(s.RemoveFeedback(s.Context(), id+99, "U2"))
		s.equal("removed", s.opinions(earshot.FeedbackQuery{}), []string{"m1 U3 false "})
	}},
	{"feedback of which no time is told is stored", func(s *suite) {
		id := s.answered(1, "m1")
		s.check(s.PutFeedback(s.Context(), earshot.Feedback{Turn: id, Author: "U2", Good: true}))
		s.equal("stored", s.opinions(earshot.FeedbackQuery{}), []string{"m1 U2 true "})
	}},
	{"feedback of no turn, by nobody or at length is refused", func(s *suite) {
		id := s.answered(1, "m1")
		for _, c := range []struct {
			f    earshot.Feedback
			want error
		}{
			{earshot.Feedback{Turn: id + 99, Author: "U2", Time: 1}, earshot.ErrNotFound},
			{earshot.Feedback{Turn: id, Time: 1}, earshot.ErrInvalid},
			{earshot.Feedback{Turn: id, Author: earshot.AuthorID(strings.Repeat("x", 513)), Time: 1}, earshot.ErrInvalid},
			{earshot.Feedback{Turn: id, Author: "U2", Reason: strings.Repeat("x", earshot.FeedbackBytes+1), Time: 1}, earshot.ErrInvalid},
		} {
			wantError(s.T, s.PutFeedback(s.Context(), c.f), c.want)
		}
		s.equal("stored", s.opinions(earshot.FeedbackQuery{}), []string{})
	}},
	{"feedback is listed by falling turn, and of one turn by author", func(s *suite) {
		other := &suite{T: s.T, Store: s.Store, scope: s.scope}
		other.scope.Channel = "C2"
		first, second, third := s.answered(1, "m1"), other.answered(2, "m2"), s.answered(3, "m1")
		for _, id := range []earshot.TurnID{second, first, third} {
			s.thinks(id, "U3", true, "")
			s.thinks(id, "U2", id == third, "")
		}
		good, bad := true, false
		all := []string{"m3 U2 true ", "m3 U3 true ", "m2 U2 false ", "m2 U3 true ", "m1 U2 false ", "m1 U3 true "}
		for _, c := range []struct {
			name string
			q    earshot.FeedbackQuery
			want []string
		}{
			{"all", earshot.FeedbackQuery{}, all},
			{"the newest", earshot.FeedbackQuery{Limit: 3}, all[:3]},
			{"before a turn", earshot.FeedbackQuery{Before: third}, all[2:]},
			{"of a turn", earshot.FeedbackQuery{Turn: second}, all[2:4]},
			{"of a turn, elsewhere", earshot.FeedbackQuery{Turn: second, Scope: &s.scope}, []string{}},
			{"of a channel", earshot.FeedbackQuery{Scope: &s.scope}, append(all[:2:2], all[4:]...)},
			{"of a channel, before a turn", earshot.FeedbackQuery{Scope: &s.scope, Before: third, Limit: 1}, all[4:5]},
			{"of an agent", earshot.FeedbackQuery{Agent: "agent", Limit: 1}, all[:1]},
			{"of another agent", earshot.FeedbackQuery{Agent: "other"}, []string{}},
			{"bad", earshot.FeedbackQuery{Good: &bad}, []string{all[2], all[4]}},
			{"good", earshot.FeedbackQuery{Good: &good, Scope: &s.scope}, []string{all[0], all[1], all[5]}},
		} {
			s.equal(c.name, s.opinions(c.q), c.want)
		}
	}},
	{"the reason goes with the journal of its turn", func(s *suite) {
		s.record(plainMessage(50, "canary"))
		deleted, pruned := s.answered(1, "m1", "m50"), s.answered(2, "m2")
		s.thinks(deleted, "U2", true, "canary")
		s.thinks(pruned, "U2", true, "canary")
		s.accept(deletionOf(50, ""))
		s.equal("after a deletion", s.opinions(earshot.FeedbackQuery{}), []string{"m2 U2 true canary", "m1 U2 true "})
		later := earshot.TimeOf(time.Now().Add(time.Hour))
		s.prune(later)
		s.equal("after pruning", s.opinions(earshot.FeedbackQuery{}), []string{"m2 U2 true ", "m1 U2 true "})
		s.thinks(pruned, "U3", false, "canary")
		s.equal("pruned again", s.prune(later), 1)
		s.without("canary")
	}},
	{"an erased person thinks nothing, and what they said until then is not stored any more", func(s *suite) {
		id := s.answered(1, "m1")
		s.thinks(id, "U8", true, "canary")
		s.thinks(id, "U9", true, "canary")
		later := earshot.Feedback{Turn: id, Author: "U9", Time: earshot.Time(1 << 61)}
		s.erased(s.ofPerson("U9"))
		s.equal("of others", s.opinions(earshot.FeedbackQuery{}), []string{"m1 U8 true canary"})
		s.thinks(id, "U9", true, "canary")
		s.equal("put again", s.opinions(earshot.FeedbackQuery{}), []string{"m1 U8 true canary"})
		s.check(s.PutFeedback(s.Context(), later))
		s.erased(s.of(earshot.ErasureOf{User: "U8", Channel: s.scope.Channel}))
		s.equal("what is thought later", s.opinions(earshot.FeedbackQuery{}), []string{"m1 U9 false "})
		s.without("canary")
	}},
	{"feedback goes with its conversation", func(s *suite) {
		s.thinks(s.answered(1, "m1"), "U2", true, "canary")
		s.erased(s.ofChannel())
		s.equal("left", s.opinions(earshot.FeedbackQuery{}), []string{})
		s.without("canary")
	}},
}
