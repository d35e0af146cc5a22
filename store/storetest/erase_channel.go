package storetest

import (
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
)

// neighbours are channels that differ from s.scope in one part of the scope.
func (s *suite) neighbours() []*suite {
	var out []*suite
	for _, scope := range scopes() {
		if scope != s.scope && (scope.Channel == s.scope.Channel || scope.Workspace == s.scope.Workspace) {
			out = append(out, &suite{T: s.T, Store: s.Store, scope: scope})
		}
	}
	return out
}

// fill writes every kind of data into a channel. It returns its turns: one that is
// done, one that is being answered under the lease, one that waits.
func (s *suite) fill() (earshot.Lease, []earshot.TurnID) {
	s.Helper()
	mine := fmt.Sprint(s.scope)
	ctx := s.Context()
	s.check(s.PutChannel(ctx, earshot.Channel{Platform: s.scope.Platform, Workspace: s.scope.Workspace, ID: s.scope.Channel, Name: mine}))
	edit := plainMessage(50, "edited")
	edit.Edited = timeAt(51)
	edit.Files = withSharedFiles(50, "F1").Files
	edit.Metadata = map[string]string{"ticket": "canary"}
	s.record(plainMessage(50, "canary"), edit, reply(52, "m50", "canary"), plainMessage(53, "gone"), tombstone(53))
	s.keep(50, "F1", "aa")
	s.check(s.PutCoverage(ctx, s.scope, earshot.Coverage{State: earshot.Missing, Why: mine}))
	done := s.answered(1, "dm", "m50")
	s.summarise(s.conversation("dm"), mine, "m50")
	_, err := s.MergeMetadata(ctx, s.conversation("dm"), map[string]*string{"who": &mine})
	s.check(err)
	s.create("keyed", "key "+mine, canaryAbout("canary"), map[string]string{"who": mine})
	drafted := s.draft(50, "keyed", 0)
	drafted.Prompt.Input, drafted.Turn.Session[0].Text = []byte("canary"), "canary"
	s.opens(drafted)
	id, waits := s.asked(2, "dm"), s.asked(3, "dm")
	l := s.claimOf(s.conversation("dm"))
	s.begin(l, id, prompt(2))
	s.step(l, id, 0)
	s.put(l, newPost(id, 0, earshot.PostPlanned))
	s.asks(l, id, "1")
	s.stops(id, "U1")
	s.thinks(done, "U1", true, "canary")
	return l, []earshot.TurnID{done, id, waits}
}

// claimOf claims conversations until it gets this one.
func (s *suite) claimOf(id earshot.ConversationID) earshot.Lease {
	s.Helper()
	for {
		l, _ := s.claim("me", timeAt(1000))
		if l.Conversation == id {
			return l
		}
	}
}

// empty checks that nothing of the channel is stored.
func (s *suite) empty(turns []earshot.TurnID) {
	s.Helper()
	ctx := s.Context()
	_, err := s.Channel(ctx, s.scope)
	wantError(s.T, err, earshot.ErrNotFound)
	known, err := s.Since(ctx, s.scope, 0, 0)
	s.check(err)
	revisions, err := s.Revisions(ctx, s.scope, "m50")
	wantError(s.T, err, earshot.ErrNotFound)
	activity, err := s.Activity(ctx, s.scope, open, "m50")
	s.check(err)
	count, err := s.Count(ctx, s.scope, whole, open)
	s.check(err)
	coverage, err := s.Coverage(ctx, s.scope)
	s.check(err)
	terms := collect(s.T, s.Terms(ctx, s.scope, 0))
	queue, err := s.QueuedTurns(ctx, earshot.TurnQuery{Scope: &s.scope})
	s.check(err)
	thought, err := s.Feedback(ctx, earshot.FeedbackQuery{Scope: &s.scope})
	s.check(err)
	n := []int{len(s.approvals(earshot.ApprovalQuery{Scope: &s.scope})), len(thought), len(s.kept("aa")), len(known), len(revisions), len(activity), count.Count, len(coverage), len(terms), len(queue)}
	for _, name := range []string{"dm", "keyed"} {
		id := s.conversation(name)
		_, err = s.Conversation(ctx, id)
		wantError(s.T, err, earshot.ErrNotFound)
		_, err = s.Summary(ctx, id)
		wantError(s.T, err, earshot.ErrNotFound)
		list, err := s.Turns(ctx, id, 0)
		s.check(err)
		session, err := s.Session(ctx, id)
		s.check(err)
		manifest, err := s.Manifest(ctx, id)
		s.check(err)
		n = append(n, len(list), len(session), len(manifest.Shown), len(manifest.Attached), len(manifest.Names))
	}
	for i := range 4 {
		n = append(n, len(s.raws(i)))
	}
	for _, id := range turns {
		_, err = s.QueuedTurn(ctx, id)
		wantError(s.T, err, earshot.ErrNotFound)
		_, err = s.Approval(ctx, newApproval(id, "1").ID)
		wantError(s.T, err, earshot.ErrNotFound)
		n = append(n, len(s.steps(id)), len(s.posts(id)))
	}
	for _, n := range n {
		if n != 0 {
			s.Errorf("something is left: %v", n)
		}
	}
}

var purgeCases = []testCase{
	{"a channel that is erased leaves nothing, and no other loses anything", func(s *suite) {
		type kept struct {
			*suite
			turns []earshot.TurnID
		}
		var others []kept
		for _, other := range s.neighbours() {
			_, turns := other.fill()
			others = append(others, kept{other, turns})
		}
		_, turns := s.fill()
		before, err := s.Channels(s.Context())
		s.check(err)
		s.check(s.Erase(s.Context(), s.scope))
		s.empty(turns)
		after, err := s.Channels(s.Context())
		s.check(err)
		s.equal("channels", len(after), len(before)-1)
		for _, other := range others {
			s.equal("messages", other.newest(whole, open, 9), names("m1", "m2", "m3", "m50", "m52"))
			s.equal("text", other.text(other.turns[0]), everyText)
			s.equal("under way", other.text(other.turns[1]), []string{"input", "journal", "post"})
			s.equal("raw", len(other.raws(2)), 1)
			s.equal("blob", other.kept("aa"), []string{"aa"})
			sum, err := other.Summary(s.Context(), other.conversation("dm"))
			s.check(err)
			s.equal("summary", sum.Text, fmt.Sprint(other.scope))
		}
		s.check(s.Erase(s.Context(), s.scope))
	}},
	{"a turn under way in an erased channel can write nothing more", func(s *suite) {
		l, turns := s.fill()
		s.check(s.Erase(s.Context(), s.scope))
		id := turns[1]
		_, renewed := s.Renew(s.Context(), l, timeAt(9), hold)
		t := turn(2, "canary")
		for name, err := range map[string]error{
			"Begin":   s.Begin(s.Context(), l, id, prompt(2)),
			"AddStep": s.AddStep(s.Context(), l, id, earshot.Step{N: 1, Data: []byte("canary")}),
			"PutPost": s.PutPost(s.Context(), l, newPost(id, 0, earshot.PostSending)),
			"Finish":  s.Finish(s.Context(), l, id, earshot.TurnDone, "", &t, earshot.Arrival{Key: newPost(id, 0, earshot.PostPlanned).Key, Message: plainMessage(2, "canary")}),
			"Renew":   renewed,
		} {
			if !errors.Is(err, earshot.ErrFenced) {
				s.Errorf("%s: got %v, want ErrFenced", name, err)
			}
		}
		wantError(s.T, s.Confirm(s.Context(), s.scope, newPost(id, 0, earshot.PostPlanned).Key, "r2"), earshot.ErrNotFound)
		wantError(s.T, s.Reopen(s.Context(), id), earshot.ErrNotFound)
		wantError(s.T, s.Discard(s.Context(), id, "x"), earshot.ErrNotFound)
		s.check(s.Release(s.Context(), l, 0))
		s.idle(timeAt(5000))
		s.empty(turns)
	}},
	{"an erased channel starts again, and no sequence or turn id is given twice", func(s *suite) {
		l, turns := s.fill()
		known, err := s.Since(s.Context(), s.scope, 0, 0)
		s.check(err)
		last := known[len(known)-1].Seq
		s.check(s.Erase(s.Context(), s.scope))
		id := s.asked(2, "dm")
		if id <= turns[2] {
			s.Errorf("turn %d after turn %d was erased", id, turns[2])
		}
		if m := s.message("m2"); m.Seq <= last {
			s.Errorf("sequence %d after %d was erased", m.Seq, last)
		}
		s.equal("messages", s.newest(whole, open, 9), names("m2"))
		s.claim("me", timeAt(5000))
		if err := s.AddStep(s.Context(), l, turns[1], earshot.Step{N: 1}); err == nil {
			s.Error("the erased turn's step was taken")
		}
		c, created, err := s.OpenConversation(s.Context(), s.conversation("other"), "key")
		s.check(err)
		s.equal("opened", []any{created, c.Cursor, c.Epoch}, []any{true, int64(0), 0})
		for _, scope := range []earshot.Scope{s.scope, {Platform: earshot.Slack, Workspace: "T8", Channel: "never seen"}} {
			s.check(s.PutChannel(s.Context(), earshot.Channel{Platform: scope.Platform, Workspace: scope.Workspace, ID: scope.Channel}))
			s.check(s.Erase(s.Context(), scope))
		}
		s.record(plainMessage(9, "x"))
		if m := s.message("m9"); m.Seq <= last+1 {
			s.Errorf("sequence %d after %d was erased", m.Seq, last+1)
		}
	}},
	{"erasing a channel deletes the authors who have spoken in no other of the workspace", func(s *suite) {
		by := func(n int, author earshot.AuthorID) earshot.Message {
			m := plainMessage(n, "x")
			m.Author.ID = author
			return m
		}
		left := func(w earshot.WorkspaceID) (out []earshot.AuthorID) {
			s.Helper()
			list, err := s.Authors(s.Context(), earshot.Slack, w)
			s.check(err)
			for _, a := range list {
				out = append(out, a.ID)
			}
			return out
		}
		all := []earshot.AuthorID{"U1", "U2", "U3", "U4"}
		for _, w := range []earshot.WorkspaceID{"T1", "T2"} {
			for _, a := range all {
				s.check(s.PutAuthors(s.Context(), earshot.Slack, w, earshot.Author{ID: a}))
			}
		}
		second := &suite{T: s.T, Store: s.Store, scope: s.scope}
		second.scope.Channel = "C2"
		elsewhere := &suite{T: s.T, Store: s.Store, scope: s.scope}
		elsewhere.scope.Workspace = "T2"
		s.record(by(1, "U1"), by(2, "U2"))
		second.record(by(1, "U2"), by(2, "U3"))
		elsewhere.record(by(1, "U1"))
		s.check(s.Erase(s.Context(), s.scope))
		s.equal("after one of two", left("T1"), all[1:])
		s.check(s.Erase(s.Context(), second.scope))
		s.equal("after the last", left("T1"), []earshot.AuthorID(nil))
		s.equal("in another workspace", left("T2"), all)
	}},
}
