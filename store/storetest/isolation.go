package storetest

import (
	"fmt"

	"github.com/earshot-ai/earshot"
)

// scopes returns scopes that a wrong store might confuse.
func scopes() []earshot.Scope {
	var out []earshot.Scope
	for _, p := range []earshot.Platform{earshot.Slack, earshot.Discord, earshot.Local, "slack2"} {
		for _, w := range []earshot.WorkspaceID{"T1", "T2", "T", ""} {
			for _, c := range []earshot.ChannelID{"C1", "C2", "1C1", "T1"} {
				out = append(out, earshot.Scope{Platform: p, Workspace: w, Channel: c})
			}
		}
	}
	return out
}

var isolationCases = []testCase{
	{"the same ids in every platform, workspace and channel never meet", func(s *suite) {
		for i, scope := range scopes() {
			mine := fmt.Sprint(scope)
			root, re := plainMessage(1, "root of "+mine), reply(2, "m1", "reply of "+mine)
			re.ReplyTo = "m1"
			edit := plainMessage(3, "edit of "+mine)
			edit.Edited = timeAt(4)
			out, err := s.Record(s.Context(), scope, root, re, plainMessage(3, "first of "+mine), edit)
			s.check(err)
			s.equal("changes", changes(out), []earshot.Change{earshot.New, earshot.New, earshot.New, earshot.Edited})
			s.equal("sequence", out[3].Seq, int64(4))
			if i%3 == 0 { // deleted in this scope only
				_, err := s.Record(s.Context(), scope, tombstone(2))
				s.check(err)
			}
			s.check(s.PutCoverage(s.Context(), scope, earshot.Coverage{State: earshot.Missing, Why: mine}))
		}
		for i, scope := range scopes() {
			s.scope = scope
			s.onlyMine(i%3 == 0)
		}
	}},
	{"several agents share messages and nothing else", func(s *suite) {
		for _, agent := range []earshot.AgentID{"a", "b", "ab", "A"} {
			for _, scope := range scopes() {
				id := earshot.ConversationID{Agent: agent, Scope: scope, Name: "m1"}
				mine := fmt.Sprint(id)
				_, created, err := s.OpenConversation(s.Context(), id, "key of "+string(scope.Channel)+string(scope.Platform))
				s.check(err)
				s.equal("created", created, true)
				_, err = s.MergeMetadata(s.Context(), id, map[string]*string{"who": &mine})
				s.check(err)
				n, err := s.CommitTurn(s.Context(), id, turn(1, mine))
				s.check(err)
				s.equal("number", n, 0)
				s.summarise(id, mine)
			}
		}
		for _, agent := range []earshot.AgentID{"a", "b", "ab", "A"} {
			for _, scope := range scopes() {
				id := earshot.ConversationID{Agent: agent, Scope: scope, Name: "m1"}
				mine := fmt.Sprint(id)
				c, err := s.Conversation(s.Context(), id)
				s.check(err)
				s.equal("metadata", c.Metadata, map[string]string{"who": mine})
				session, err := s.Session(s.Context(), id)
				s.check(err)
				s.equal("session", session, turn(1, mine).Session)
				sum, err := s.Summary(s.Context(), id)
				s.check(err)
				s.equal("summary", sum.Text, mine)
				turns, err := s.Turns(s.Context(), id, 0)
				s.check(err)
				s.equal("turns", len(turns), 1)
			}
		}
	}},
	{"a message of another scope gets the same error as one that does not exist", func(s *suite) {
		s.record(plainMessage(1, "secret"))
		other := s.scope
		other.Workspace = "T9"
		_, outside := s.Message(s.Context(), other, "m1")
		wantError(s.T, outside, earshot.ErrNotFound)
		s.record(tombstone(1))
		_, nowhere := s.Message(s.Context(), other, "m1")
		s.equal("error", outside.Error(), nowhere.Error())
	}},
}

// onlyMine calls every read with the scope and checks that nothing of another scope
// comes back.
func (s *suite) onlyMine(gone bool) {
	s.Helper()
	ctx, mine := s.Context(), fmt.Sprint(s.scope)
	want := []string{"root of " + mine, "reply of " + mine, "edit of " + mine}
	inThread := want[:2]
	if gone {
		want, inThread = []string{want[0], want[2]}, want[:1]
	}
	texts := func(list []earshot.Message) []string {
		var out []string
		for _, m := range list {
			if !m.Deleted {
				out = append(out, m.Text)
			}
		}
		return out
	}
	list, err := s.Newest(ctx, s.scope, whole, open, 100)
	s.check(err)
	s.equal("Newest", texts(list), want)
	s.equal("Range", texts(collect(s.T, s.Range(ctx, s.scope, whole, open, open))), want)
	list, err = s.Newest(ctx, s.scope, earshot.ThreadOf("m1"), open, 100)
	s.check(err)
	s.equal("thread", texts(list), inThread)
	list, err = s.ByID(ctx, s.scope, "m1", "m2", "m3")
	s.check(err)
	s.equal("ByID", texts(list), want)
	list, err = s.Since(ctx, s.scope, 0, 0)
	s.check(err)
	s.equal("Since", len(list), 3)
	list, err = s.Replying(ctx, s.scope, open, "m1")
	s.check(err)
	s.equal("Replying", texts(list), inThread[1:])
	list, err = s.Revisions(ctx, s.scope, "m3")
	s.check(err)
	s.equal("Revisions", texts(list), []string{"first of " + mine, "edit of " + mine})
	count, err := s.Count(ctx, s.scope, whole, open)
	s.check(err)
	s.equal("Count", count.Count, len(want))
	activity, err := s.Activity(ctx, s.scope, open, "m1")
	s.check(err)
	s.equal("Activity", activity["m1"].Count, len(inThread)-1)
	coverage, err := s.Coverage(ctx, s.scope)
	s.check(err)
	s.equal("Coverage", coverage, []earshot.Coverage{{State: earshot.Missing, Why: mine}})
	s.equal("Terms", len(collect(s.T, s.Terms(ctx, s.scope, 0))), 3)
}
