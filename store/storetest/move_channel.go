package storetest

import (
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
)

// movedTo returns the suite with another channel of the same workspace.
func (s *suite) movedTo(id earshot.ChannelID) *suite {
	to := &suite{T: s.T, Store: s.Store, scope: s.scope}
	to.scope.Channel = id
	return to
}

// contents is what is stored of a channel, as callers read it.
type contents struct {
	Channel       earshot.Channel
	Messages      []earshot.Message
	Revisions     []earshot.Message
	Activity      map[earshot.MessageID]earshot.Activity
	Terms         []earshot.Terms
	Coverage      []earshot.Coverage
	Blobs         []string
	Raws          []int
	Turns         []string
	Asked         []earshot.Approval
	Thought       []string
	Conversations []any
}

// contents reads it. What names the channel is left out.
func (s *suite) contents(turns []earshot.TurnID) (x contents) {
	s.Helper()
	ctx := s.Context()
	var err error
	x.Channel, err = s.Channel(ctx, s.scope)
	s.check(err)
	x.Channel.ID = ""
	x.Messages, err = s.Since(ctx, s.scope, 0, 0)
	s.check(err)
	x.Revisions, err = s.Store.Revisions(ctx, s.scope, "m50")
	s.check(err)
	x.Activity, err = s.Store.Activity(ctx, s.scope, open, "m50")
	s.check(err)
	x.Coverage, err = s.Store.Coverage(ctx, s.scope)
	s.check(err)
	x.Terms, x.Blobs = s.terms(0), s.kept("aa")
	for i := range 4 {
		x.Raws = append(x.Raws, len(s.raws(i)))
	}
	for _, id := range turns {
		q, err := s.QueuedTurn(ctx, id)
		s.check(err)
		s.equal("scope of a turn", q.Conversation.Scope, s.scope)
		x.Turns = append(x.Turns, fmt.Sprint(id, q.Tries, q.Ends, q.Stopped, q.StoppedBy, s.text(id), s.steps(id), s.posts(id)))
	}
	queue, err := s.QueuedTurns(ctx, earshot.TurnQuery{Scope: &s.scope})
	s.check(err)
	s.equal("turns", len(queue), len(turns))
	x.Asked, err = s.Store.Approvals(ctx, earshot.ApprovalQuery{Scope: &s.scope})
	s.check(err)
	for i := range x.Asked {
		s.equal("scope of an approval", x.Asked[i].Conversation.Scope, s.scope)
		x.Asked[i].Conversation = earshot.ConversationID{}
	}
	x.Thought = s.opinions(earshot.FeedbackQuery{Scope: &s.scope})
	for _, name := range []string{"dm", "keyed"} {
		id := s.conversation(name)
		c, err := s.Conversation(ctx, id)
		s.check(err)
		s.equal("scope of a conversation", c.ID, id)
		c.ID.Scope = earshot.Scope{}
		list, err := s.Store.Turns(ctx, id, 0)
		s.check(err)
		session, err := s.Session(ctx, id)
		s.check(err)
		manifest, err := s.Manifest(ctx, id)
		s.check(err)
		sum, err := s.Summary(ctx, id)
		if !errors.Is(err, earshot.ErrNotFound) {
			s.check(err)
		}
		x.Conversations = append(x.Conversations, c, list, session, manifest, sum)
	}
	return x
}

var moveCases = []testCase{
	{"a channel that gets another id keeps all that is stored, and no other gains or loses anything", func(s *suite) {
		type kept struct {
			*suite
			turns []earshot.TurnID
			was   contents
		}
		var others []kept
		for _, other := range s.neighbours() {
			_, turns := other.fill()
			others = append(others, kept{other, turns, other.contents(turns)})
		}
		l, turns := s.fill()
		was := s.contents(turns)
		to := s.movedTo("C0 moved")
		s.check(s.PutChannel(s.Context(), earshot.Channel{Platform: to.scope.Platform, Workspace: to.scope.Workspace, ID: to.scope.Channel, Name: "new"})) // its name came first
		for range 2 {
			s.check(s.MoveChannel(s.Context(), s.scope, to.scope.Channel))
			s.equal("moved", to.contents(turns), was)
			s.empty(nil)
			for _, other := range others {
				s.equal("another channel", other.contents(other.turns), other.was)
			}
		}
		// Who worked on it finds it gone, and somebody else goes on at once.
		wantError(s.T, s.AddStep(s.Context(), l, turns[1], earshot.Step{N: 1}), earshot.ErrFenced)
		lease := to.claimOf(to.conversation("dm"))
		q, err := s.QueuedTurn(s.Context(), turns[1])
		s.check(err)
		s.equal("deaths", q.Ends, 0)
		s.check(s.AddStep(s.Context(), lease, turns[1], earshot.Step{N: 1, Data: []byte("x")}))
		// What is new goes on where the channel was.
		last := was.Messages[len(was.Messages)-1].Seq
		to.record(plainMessage(60, "x"))
		if m := to.message("m60"); m.Seq != last+1 {
			s.Errorf("sequence %d after %d", m.Seq, last)
		}
	}},
	{"a channel that is not stored is moved to nothing, and one to itself", func(s *suite) {
		_, turns := s.fill()
		was := s.contents(turns)
		s.check(s.MoveChannel(s.Context(), s.movedTo("never seen").scope, s.scope.Channel))
		s.check(s.MoveChannel(s.Context(), s.scope, s.scope.Channel))
		s.equal("the channel", s.contents(turns), was)
	}},
	{"an erasure that has begun finds a channel that is moved meanwhile", func(s *suite) {
		of := earshot.ErasureOf{Platform: s.scope.Platform, Workspace: s.scope.Workspace}
		for n, id := range []earshot.ChannelID{"A0", "Z0"} {
			from := s.movedTo(earshot.ChannelID(fmt.Sprint("M", n)))
			from.record(plainMessage(50, "canary"))
			of.User, of.Channel = "U1", ""
			if n > 0 {
				of.User, of.Channel = "", from.scope.Channel
			}
			e, err := s.BeginErasure(s.Context(), of)
			s.check(err)
			s.check(s.MoveChannel(s.Context(), from.scope, id))
			for e.Ended == 0 {
				e, err = s.StepErasure(s.Context(), e.ID)
				s.check(err)
			}
			to := s.movedTo(id)
			s.equal("what is left", to.newest(whole, open, 9), names())
			to.record(plainMessage(50, "canary")) // as read from history again: it is barred there too
			s.equal("what is left then", to.newest(whole, open, 9), names())
		}
	}},
}
