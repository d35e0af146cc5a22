package storetest

import (
	"fmt"

	"github.com/earshot-ai/earshot"
)

// newPost returns the post of a turn's chunk in a state.
func newPost(id earshot.TurnID, chunk int, state earshot.PostState) earshot.Post {
	p := earshot.Post{Turn: id, Chunk: chunk, Key: fmt.Sprint("key ", id, " ", chunk), Text: fmt.Sprint("answer ", chunk), State: state, Tries: 1}
	if state == earshot.PostSent {
		p.Message = earshot.MessageID(fmt.Sprint("p", id, ".", chunk))
	}
	return p
}

func (s *suite) put(l earshot.Lease, p earshot.Post) {
	s.Helper()
	s.check(s.PutPost(s.Context(), l, p))
}

// posts reads a turn's posts without the times of their changes.
func (s *suite) posts(id earshot.TurnID) []earshot.Post {
	s.Helper()
	list, err := s.Posts(s.Context(), id)
	s.check(err)
	for i := range list {
		if list[i].Updated == 0 {
			s.Errorf("post %d has no time of change", i)
		}
		list[i].Updated = 0
	}
	return list
}

func (s *suite) step(l earshot.Lease, id earshot.TurnID, n int, shows ...earshot.MessageID) {
	s.Helper()
	s.check(s.AddStep(s.Context(), l, id, earshot.Step{N: n, Kind: "tool", Data: fmt.Append(nil, "step ", n), Time: timeAt(n), Shows: shows}))
}

func (s *suite) steps(id earshot.TurnID) []earshot.Step {
	s.Helper()
	list, err := s.Steps(s.Context(), id)
	s.check(err)
	return list
}

// ready opens a conversation's turn for message n, claims and begins it.
func (s *suite) ready(n int, conversation string) (earshot.Lease, earshot.TurnID) {
	s.Helper()
	id := s.asked(n, conversation)
	l, _ := s.claim("me", timeAt(n))
	s.begin(l, id, prompt(n))
	return l, id
}

var queuedTurnCases = []testCase{
	{"a turn goes from prompt to journal, posts and commit", func(s *suite) {
		l, id := s.ready(1, "m1")
		s.equal("begun", s.queued(id), earshot.QueuedTurn{
			ID: id, Conversation: s.conversation("m1"), Anchor: "m1", State: earshot.TurnGenerating, Tries: 1, Opened: timeAt(1),
			Input: []byte("input 1"), Hash: "hash 1", Began: earshot.BeganFull,
		})
		s.step(l, id, 0)
		s.step(l, id, 1, "m1")
		s.equal("journal", s.steps(id), []earshot.Step{
			{N: 0, Kind: "tool", Data: []byte("step 0"), Time: timeAt(0)}, {N: 1, Kind: "tool", Data: []byte("step 1"), Time: timeAt(1)}})
		s.put(l, newPost(id, 1, earshot.PostPlanned))
		s.put(l, newPost(id, 0, earshot.PostSending))
		s.put(l, newPost(id, 0, earshot.PostSent))
		s.equal("posts", s.posts(id), []earshot.Post{newPost(id, 0, earshot.PostSent), newPost(id, 1, earshot.PostPlanned)})
		s.equal("state", s.queued(id).State, earshot.TurnPosting)
		t := turn(1, "x")
		s.check(s.Finish(s.Context(), l, id, earshot.TurnDone, "", &t))
		s.equal("state", s.queued(id).State, earshot.TurnDone)
		got, err := s.Turn(s.Context(), s.conversation("m1"), 0)
		s.check(err)
		t.Attached[0].Turn = 0
		s.equal("committed", got, t)
		s.equal("the journal stays", len(s.steps(id)), 2)
		s.check(s.Release(s.Context(), l, 0))
		s.idle(timeAt(99))
	}},
	{"a turn that is done has its number in the conversation", func(s *suite) {
		for n := range 3 {
			l, id := s.ready(n, "dm")
			s.finish(l, id)
			s.equal("number", s.queued(id).Number, n)
			s.check(s.Release(s.Context(), l, 0))
		}
	}},
	{"the same write again is no error and changes nothing", func(s *suite) {
		l, id := s.ready(1, "m1")
		s.step(l, id, 0)
		s.put(l, newPost(id, 0, earshot.PostSending))
		again := func(what string, f func() error) {
			s.Helper()
			before := s.traces(id)
			s.check(f())
			s.equal(what, s.traces(id), before)
		}
		again("Begin", func() error { return s.Begin(s.Context(), l, id, prompt(1)) })
		again("AddStep", func() error {
			return s.AddStep(s.Context(), l, id, earshot.Step{N: 0, Kind: "other", Data: []byte("other"), Time: 9})
		})
		again("PutPost", func() error { return s.PutPost(s.Context(), l, newPost(id, 0, earshot.PostSending)) })
		s.put(l, newPost(id, 0, earshot.PostSent))
		again("PutPost, sent", func() error { return s.PutPost(s.Context(), l, newPost(id, 0, earshot.PostSent)) })
		t := turn(1, "x")
		finish := func() error { return s.Finish(s.Context(), l, id, earshot.TurnDone, "", &t) }
		s.check(finish())
		again("Finish", finish)
		again("AddStep of a turn that is done", func() error { return s.AddStep(s.Context(), l, id, earshot.Step{N: 0}) })
		again("PutPost of a turn that is done", func() error { return s.PutPost(s.Context(), l, newPost(id, 0, earshot.PostSent)) })
		turns, err := s.Turns(s.Context(), s.conversation("m1"), 0)
		s.check(err)
		s.equal("committed once", len(turns), 1)
	}},
	{"a prompt with another hash starts the turn again", func(s *suite) {
		l, id := s.ready(1, "m1")
		s.step(l, id, 0)
		s.begin(l, id, prompt(2))
		s.equal("journal", len(s.steps(id)), 0)
		q := s.queued(id)
		s.equal("prompt", []string{string(q.Input), q.Hash}, []string{"input 2", "hash 2"})
		s.step(l, id, 0)
	}},
	{"a prompt of another epoch erases the texts of the posts", func(s *suite) {
		l, id := s.ready(1, "m1")
		compacted := prompt(2)
		compacted.Epoch++
		s.begin(l, id, compacted)
		s.put(l, newPost(id, 0, earshot.PostPlanned))
		s.begin(l, id, prompt(1))
		s.equal("text", s.posts(id)[0].Text, "")
	}},
	{"a journal has no gaps", func(s *suite) {
		l, id := s.ready(1, "m1")
		for _, n := range []int{-1, 1, 7} {
			wantError(s.T, s.AddStep(s.Context(), l, id, earshot.Step{N: n, Kind: "tool"}), earshot.ErrInvalid)
		}
		s.equal("journal", len(s.steps(id)), 0)
	}},
	{"an outdated or invalid prompt is refused", func(s *suite) {
		id := s.asked(1, "m1")
		l, _ := s.claim("me", timeAt(1))
		for _, c := range []struct {
			p    earshot.Prompt
			want error
		}{
			{earshot.Prompt{Hash: "h", From: 1, Epoch: 1}, earshot.ErrConflict},
			{earshot.Prompt{Hash: "h", From: 1, Epoch: 0}, earshot.ErrInvalid},
			{earshot.Prompt{Hash: "h", From: -1}, earshot.ErrInvalid},
			{earshot.Prompt{}, earshot.ErrInvalid},
			{earshot.Prompt{Hash: "h", Began: "boredom"}, earshot.ErrInvalid},
		} {
			wantError(s.T, s.Begin(s.Context(), l, id, c.p), c.want)
		}
		wantError(s.T, s.AddStep(s.Context(), l, id, earshot.Step{Kind: "x"}), earshot.ErrConflict)
		s.equal("state", s.queued(id).State, earshot.TurnClaimed)
	}},
	{"a post that was sent keeps its message, its key and its state; its text may change", func(s *suite) {
		l, id := s.ready(1, "m1")
		sent := newPost(id, 0, earshot.PostSent)
		s.put(l, sent)
		for _, change := range []func(*earshot.Post){
			func(p *earshot.Post) { p.Message = "other" }, func(p *earshot.Post) { p.Key = "other" },
			func(p *earshot.Post) { *p = newPost(id, 0, earshot.PostSending) }, func(p *earshot.Post) { *p = newPost(id, 0, earshot.PostPlanned) },
			func(p *earshot.Post) { *p = newPost(id, 0, earshot.PostAmbiguous) }, func(p *earshot.Post) { *p = newPost(id, 0, earshot.PostFailed) },
		} {
			p := sent
			change(&p)
			wantError(s.T, s.PutPost(s.Context(), l, p), earshot.ErrConflict)
		}
		s.equal("posts", s.posts(id), []earshot.Post{sent})
		sent.Text = "the whole answer"
		s.put(l, sent)
		s.equal("posts", s.posts(id), []earshot.Post{sent})
	}},
	{"no post of a final turn may be sent, even if it was stored before", func(s *suite) {
		l, id := s.ready(1, "m1")
		s.put(l, newPost(id, 0, earshot.PostSending))
		s.check(s.Finish(s.Context(), l, id, earshot.TurnParked, "x", nil))
		wantError(s.T, s.PutPost(s.Context(), l, newPost(id, 0, earshot.PostSending)), earshot.ErrConflict)
		s.check(s.Reopen(s.Context(), id))
		s.put(l, newPost(id, 0, earshot.PostSending))
		s.equal("state", s.queued(id).State, earshot.TurnPosting)
	}},
	{"an invalid post is refused", func(s *suite) {
		l, id := s.ready(1, "m1")
		for _, change := range []func(*earshot.Post){
			func(p *earshot.Post) { p.State = "" }, func(p *earshot.Post) { p.State = earshot.PostSent },
			func(p *earshot.Post) { p.Message = "m9" }, func(p *earshot.Post) { p.Chunk = -1 },
		} {
			p := newPost(id, 0, earshot.PostPlanned)
			change(&p)
			wantError(s.T, s.PutPost(s.Context(), l, p), earshot.ErrInvalid)
		}
		s.put(l, newPost(id, 0, earshot.PostPlanned))
		taken := newPost(id, 1, earshot.PostPlanned)
		taken.Key = newPost(id, 0, earshot.PostPlanned).Key
		wantError(s.T, s.PutPost(s.Context(), l, taken), earshot.ErrConflict)
		s.equal("posts", len(s.posts(id)), 1)
	}},
	{"Confirm needs no lease: the platform itself says that the post is there", func(s *suite) {
		l, id := s.ready(1, "m1")
		for _, state := range []earshot.PostState{earshot.PostPlanned, earshot.PostSending, earshot.PostAmbiguous} {
			s.put(l, newPost(id, 0, state))
		}
		want := newPost(id, 0, earshot.PostSent)
		for range 2 {
			s.check(s.Confirm(s.Context(), s.scope, want.Key, want.Message))
			s.equal("posts", s.posts(id), []earshot.Post{want})
		}
		wantError(s.T, s.Confirm(s.Context(), s.scope, want.Key, "other"), earshot.ErrConflict)
		wantError(s.T, s.Confirm(s.Context(), s.scope, "no key", "other"), earshot.ErrNotFound)
		wantError(s.T, s.Confirm(s.Context(), s.scope, "", "other"), earshot.ErrInvalid)
		elsewhere := s.scope
		elsewhere.Channel = "C2"
		wantError(s.T, s.Confirm(s.Context(), elsewhere, want.Key, want.Message), earshot.ErrNotFound)
		wantError(s.T, s.PutPost(s.Context(), l, newPost(id, 0, earshot.PostSending)), earshot.ErrConflict)
	}},
	{"a reply's chunks lead to their turn", func(s *suite) {
		l, id := s.ready(1, "m1")
		for chunk := range 3 {
			s.put(l, newPost(id, chunk, earshot.PostSent))
		}
		for chunk := range 3 {
			got, err := s.Posted(s.Context(), s.scope, newPost(id, chunk, earshot.PostSent).Message)
			s.check(err)
			s.equal("turn", got.ID, id)
		}
		elsewhere := s.scope
		elsewhere.Workspace = "T2"
		_, err := s.Posted(s.Context(), elsewhere, newPost(id, 0, earshot.PostSent).Message)
		wantError(s.T, err, earshot.ErrNotFound)
		for _, none := range []earshot.MessageID{"", "m1"} {
			_, err := s.Posted(s.Context(), s.scope, none)
			wantError(s.T, err, earshot.ErrNotFound)
		}
	}},
	{"a turn that ends without an answer changes no conversation and keeps its reason", func(s *suite) {
		for n, state := range []earshot.TurnState{earshot.TurnFailed, earshot.TurnParked, earshot.TurnDropped} {
			l, id := s.ready(n, "dm")
			s.check(s.Finish(s.Context(), l, id, state, "a\x00reason", nil))
			q := s.queued(id)
			s.equal("turn", []any{q.State, q.Why}, []any{state, "a␀reason"})
			s.check(s.Finish(s.Context(), l, id, state, "another", nil))
			s.equal("the first reason stands", s.queued(id).Why, "a␀reason")
			wantError(s.T, s.Finish(s.Context(), l, id, earshot.TurnDone, "", nil), earshot.ErrConflict)
			wantError(s.T, s.Begin(s.Context(), l, id, prompt(n)), earshot.ErrConflict)
			wantError(s.T, s.AddStep(s.Context(), l, id, earshot.Step{Kind: "x"}), earshot.ErrConflict)
			wantError(s.T, s.PutPost(s.Context(), l, newPost(id, 0, earshot.PostPlanned)), earshot.ErrConflict)
			s.check(s.Release(s.Context(), l, 0))
		}
		c, err := s.Conversation(s.Context(), s.conversation("dm"))
		s.check(err)
		s.equal("conversation", []any{c.Cursor, c.Epoch}, []any{int64(0), 0})
		turns, err := s.Turns(s.Context(), s.conversation("dm"), 0)
		s.check(err)
		s.equal("turns", len(turns), 0)
	}},
	{"an invalid end is refused", func(s *suite) {
		l, id := s.ready(1, "m1")
		t, other := turn(1, "x"), turn(2, "x")
		for _, c := range []struct {
			state earshot.TurnState
			why   string
			t     *earshot.Turn
		}{{earshot.TurnOpen, "x", nil}, {earshot.TurnFailed, "x", &t}, {earshot.TurnDropped, "", nil}, {"", "", nil}, {earshot.TurnDone, "", &other}} {
			wantError(s.T, s.Finish(s.Context(), l, id, c.state, c.why, c.t), earshot.ErrInvalid)
		}
		s.equal("state", s.queued(id).State, earshot.TurnGenerating)
	}},
	{"an isolated turn is done and commits nothing", func(s *suite) {
		l, id := s.ready(1, "m1")
		s.check(s.Finish(s.Context(), l, id, earshot.TurnDone, "", nil))
		turns, err := s.Turns(s.Context(), s.conversation("m1"), 0)
		s.check(err)
		s.equal("turns", []any{len(turns), s.queued(id).State}, []any{0, earshot.TurnDone})
	}},
	{"an earlier turn may be dropped for a later one, but not answered after it", func(s *suite) {
		a, b, c := s.asked(1, "m1"), s.asked(2, "m1"), s.asked(3, "m1")
		l, _ := s.claim("me", timeAt(5))
		wantError(s.T, s.Begin(s.Context(), l, c, prompt(3)), earshot.ErrConflict)
		wantError(s.T, s.Finish(s.Context(), l, c, earshot.TurnDone, "", nil), earshot.ErrConflict)
		wantError(s.T, s.PutPost(s.Context(), l, newPost(c, 0, earshot.PostSending)), earshot.ErrConflict)
		s.check(s.Finish(s.Context(), l, b, earshot.TurnDropped, "answered with a later one", nil))
		s.check(s.Finish(s.Context(), l, a, earshot.TurnDropped, "answered with a later one", nil))
		s.begin(l, c, prompt(3))
		s.finish(l, c)
	}},
	{"a parked or failed turn can be reopened, and is answered before later ones", func(s *suite) {
		l, id := s.ready(1, "m1")
		s.step(l, id, 0)
		s.put(l, newPost(id, 0, earshot.PostAmbiguous))
		wantError(s.T, s.Reopen(s.Context(), id), earshot.ErrConflict)
		s.check(s.Finish(s.Context(), l, id, earshot.TurnParked, "who knows", nil))
		later := s.asked(2, "m1")
		s.begin(l, later, prompt(2))
		wantError(s.T, s.Reopen(s.Context(), id), earshot.ErrConflict)
		s.check(s.Finish(s.Context(), l, later, earshot.TurnFailed, "x", nil))
		last := s.asked(3, "m1")
		s.check(s.Release(s.Context(), l, 0))
		s.check(s.Reopen(s.Context(), later))
		s.check(s.Reopen(s.Context(), id))
		wantError(s.T, s.Reopen(s.Context(), id), earshot.ErrConflict)
		wantError(s.T, s.Reopen(s.Context(), 999), earshot.ErrNotFound)
		q := s.queued(id)
		s.equal("turn", []any{q.State, q.Why, q.Tries}, []any{earshot.TurnOpen, "", 0})
		l, turns := s.claim("me", timeAt(9))
		s.equal("in order", turnIDs(turns), []earshot.TurnID{id, later, last})
		s.begin(l, id, prompt(1))
		s.equal("with its journal and its posts", []int{len(s.steps(id)), len(s.posts(id))}, []int{1, 1})
		s.finish(l, id)
		wantError(s.T, s.Reopen(s.Context(), id), earshot.ErrConflict)
	}},
	{"turns are listed newest first, by agent, channel and state", func(s *suite) {
		var want []earshot.TurnID
		for n := range 7 {
			want = append([]earshot.TurnID{s.asked(n, fmt.Sprint("c", n))}, want...)
		}
		other := s.scope
		other.Channel = "C2"
		id := earshot.ConversationID{Agent: "other", Scope: other, Name: "dm"}
		out, err := s.Accept(s.Context(), other, deliveryOf(1, "x"), &id)
		s.check(err)
		l, turns := s.claim("me", timeAt(9))
		s.begin(l, turns[0].ID, prompt(1))
		s.finish(l, turns[0].ID)
		for _, c := range []struct {
			name string
			q    earshot.TurnQuery
			want []earshot.TurnID
		}{
			{"all", earshot.TurnQuery{}, append([]earshot.TurnID{out.Turn}, want...)},
			{"of an agent", earshot.TurnQuery{Agent: "agent", Limit: 3}, want[:3]},
			{"before", earshot.TurnQuery{Before: want[2], Limit: 2}, want[3:5]},
			{"the oldest", earshot.TurnQuery{Oldest: true, Limit: 2}, []earshot.TurnID{want[6], want[5]}},
			{"the oldest in two states", earshot.TurnQuery{Oldest: true, States: []earshot.TurnState{earshot.TurnOpen, earshot.TurnParked}, Limit: 1}, want[5:6]},
			{"the oldest of a channel", earshot.TurnQuery{Oldest: true, Scope: &s.scope, Agent: "agent", Limit: 1}, want[6:]},
			{"of a channel", earshot.TurnQuery{Scope: &other}, []earshot.TurnID{out.Turn}},
			{"of a channel and an agent", earshot.TurnQuery{Scope: &other, Agent: "agent"}, nil},
			{"in a state", earshot.TurnQuery{States: []earshot.TurnState{earshot.TurnDone}}, want[6:]},
			{"in two states", earshot.TurnQuery{States: []earshot.TurnState{earshot.TurnOpen, earshot.TurnDone, earshot.TurnOpen}, Agent: "agent", Before: want[1]}, want[2:]},
			{"in a state and a channel", earshot.TurnQuery{Scope: &s.scope, States: []earshot.TurnState{earshot.TurnOpen, earshot.TurnFailed}, Limit: 4}, want[:4]},
		} {
			list, err := s.QueuedTurns(s.Context(), c.q)
			s.check(err)
			s.equal(c.name, turnIDs(list), c.want)
			for _, t := range list {
				s.equal("input", len(t.Input), 0)
			}
		}
		depth, err := s.Depth(s.Context())
		s.check(err)
		s.equal("depth", depth, map[earshot.TurnState]int{earshot.TurnOpen: 7, earshot.TurnDone: 1})
		depth, err = s.Depth(s.Context(), earshot.TurnOpen, earshot.TurnParked)
		s.check(err)
		s.equal("depth of two states", depth, map[earshot.TurnState]int{earshot.TurnOpen: 7})
		_, err = s.QueuedTurn(s.Context(), 999)
		wantError(s.T, err, earshot.ErrNotFound)
		s.equal("of no turn", []int{len(s.steps(999)), len(s.posts(999))}, []int{0, 0})
	}},
}
