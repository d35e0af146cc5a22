package storetest

import (
	"fmt"
	"time"

	"github.com/earshot-ai/earshot"
)

// in returns the suite for another channel.
func (s *suite) in(scope earshot.Scope) *suite { return &suite{T: s.T, Store: s.Store, scope: scope} }

var workspaceCases = []testCase{
	{"a workspace that is erased leaves nothing, and no other loses anything", func(s *suite) {
		ctx := s.Context()
		var gone, others []*suite
		turns := map[earshot.Scope][]earshot.TurnID{}
		for _, scope := range []earshot.Scope{
			{Platform: earshot.Slack, Workspace: "T1", Channel: "C1"}, {Platform: earshot.Slack, Workspace: "T1", Channel: "C2"},
			{Platform: earshot.Slack, Workspace: "T2", Channel: "C1"}, {Platform: earshot.Discord, Workspace: "T1", Channel: "C1"},
		} {
			x := s.in(scope)
			_, turns[scope] = x.fill()
			s.check(s.PutAuthors(ctx, scope.Platform, scope.Workspace, earshot.Author{ID: "U9", Name: "never spoke"}))
			s.check(s.AddCalls(ctx, earshot.CallCount{Platform: scope.Platform, Workspace: scope.Workspace, Method: "m", Hour: timeAt(0), Calls: 1}))
			s.check(s.PutNote(ctx, earshot.Note{Key: fmt.Sprintf("%s/kind/%s/x", scope.Platform, scope.Workspace), Data: []byte("canary")}))
			of := earshot.Purse{Platform: scope.Platform, Workspace: scope.Workspace}
			channel, person := of, of
			channel.Channel, person.Author = scope.Channel, "U9"
			_, err := s.Spend(ctx, earshot.SpendChange{Day: timeAt(0), Used: earshot.Spend{Tokens: 5}, Purses: []earshot.PurseLimit{{}, {Purse: of}, {Purse: channel}, {Purse: person}}})
			s.check(err)
			_, err = s.BookCalls(ctx, fmt.Sprintf("%s %s method", scope.Platform, scope.Workspace), earshot.Rate{Every: time.Minute, Burst: 1}, 1, timeAt(0))
			s.check(err)
			if scope.Workspace == "T1" && scope.Platform == earshot.Slack {
				gone = append(gone, x)
			} else {
				others = append(others, x)
			}
		}
		for _, key := range []string{"slack/kind/T11/x", "agent/T1/*/U1", "agent/T2/*/U1", "kind/slack/%541/C1"} {
			s.check(s.PutNote(ctx, earshot.Note{Key: key}))
		}
		first, err := s.BeginErasure(ctx, earshot.ErasureOf{Platform: earshot.Slack, Workspace: "T2", User: "U7", Forget: true})
		s.check(err)
		last, err := s.BeginErasure(ctx, earshot.ErasureOf{Platform: earshot.Slack, Workspace: "T1", User: "U1", Forget: true})
		s.check(err)
		s.check(s.EraseWorkspace(ctx, earshot.Slack, "T1"))
		for _, x := range gone {
			x.empty(turns[x.scope])
		}
		authors, err := s.Authors(ctx, earshot.Slack, "T1")
		s.check(err)
		s.equal("authors", len(authors), 0)
		calls, err := s.Calls(ctx, 0)
		s.check(err)
		s.equal("counts of calls", len(calls), 2)
		var keys []string
		notes, err := s.Notes(ctx, "", 0)
		s.check(err)
		for _, n := range notes {
			keys = append(keys, n.Key)
		}
		s.equal("notes", keys, []string{"agent/T2/*/U1", "discord/kind/T1/x", "slack/kind/T11/x", "slack/kind/T2/x"})
		again, err := s.BookCalls(ctx, "slack T1 method", earshot.Rate{Every: time.Minute, Burst: 1}, 1, timeAt(0))
		s.check(err)
		s.equal("the rate begins anew", again.From, timeAt(0))
		spent, err := s.Spent(ctx, timeAt(0))
		s.check(err)
		purses := map[earshot.Purse]int64{}
		for _, x := range spent {
			if x.Purse.Platform == earshot.Slack && x.Purse.Workspace == "T1" {
				s.Errorf("spent is %+v", x)
			}
			purses[x.Purse] = x.Spend.Tokens
		}
		s.equal("what everybody has spent", purses[earshot.Purse{}], int64(20))
		s.equal("what others have spent", len(purses), 7)
		for _, x := range others {
			s.equal("messages of another", x.newest(whole, open, 9), names("m1", "m2", "m3", "m50", "m52"))
			authors, err := s.Authors(ctx, x.scope.Platform, x.scope.Workspace, "U9")
			s.check(err)
			s.equal("authors of another", len(authors), 1)
		}
		log, err := s.ErasureLog(ctx, false, 0)
		s.check(err)
		for _, e := range log {
			if e.Of.Workspace == "T1" || e.Of.User == "U1" {
				s.Errorf("the audit has %+v", e.Of)
			}
		}
		_, err = s.Erasure(ctx, first.ID)
		s.check(err)
		next, err := s.BeginErasure(ctx, earshot.ErasureOf{Platform: earshot.Slack, Workspace: "T2", User: "U8"})
		s.check(err)
		if next.ID <= last.ID {
			s.Errorf("erasure %d after erasure %d: ids rise", next.ID, last.ID)
		}
		gone[0].record(plainMessage(1, "U1 is not barred any more"))
		s.equal("what is said afterwards", gone[0].message("m1").Text, "U1 is not barred any more")
		s.check(s.EraseWorkspace(ctx, earshot.Slack, "T9"))
	}},
}
