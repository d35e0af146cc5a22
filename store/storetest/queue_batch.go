package storetest

import "github.com/earshot-ai/earshot"

// arrivalOf returns the post's message, as the platform shows it.
func arrivalOf(p earshot.Post, n int) earshot.Arrival {
	m := deliveryOf(n, "the reply").Message
	m.ID = earshot.MessageID("r-" + string(m.ID))
	return earshot.Arrival{Key: p.Key, Message: m}
}

var batchCases = []testCase{
	{"a step and its posts are written in one transaction", func(s *suite) {
		l, id := s.ready(1, "m1")
		first, second := newPost(id, 0, earshot.PostPlanned), newPost(id, 1, earshot.PostSending)
		for range 2 {
			s.check(s.AddStep(s.Context(), l, id, earshot.Step{N: 0, Kind: "answer", Data: []byte("x")}, first, second))
		}
		s.equal("steps and posts", []int{len(s.steps(id)), len(s.posts(id))}, []int{1, 2})
		s.equal("state", s.queued(id).State, earshot.TurnPosting)
		// A refused call writes nothing.
		wantError(s.T, s.AddStep(s.Context(), l, id, earshot.Step{N: 2, Kind: "answer"}, newPost(id, 2, earshot.PostSending)), earshot.ErrInvalid)
		taken := newPost(id, 2, earshot.PostSending)
		taken.Key = first.Key
		wantError(s.T, s.AddStep(s.Context(), l, id, earshot.Step{N: 1, Kind: "answer"}, taken), earshot.ErrConflict)
		wantError(s.T, s.AddStep(s.Context(), l, id, earshot.Step{N: 1, Kind: "answer"}, newPost(id+1, 0, earshot.PostSending)), earshot.ErrInvalid)
		s.equal("steps and posts after refusals", []int{len(s.steps(id)), len(s.posts(id))}, []int{1, 2})
		// The post is written even though the step is known.
		first.State = earshot.PostSending
		s.check(s.AddStep(s.Context(), l, id, earshot.Step{N: 0, Kind: "answer"}, first))
		s.equal("the first post", s.posts(id)[0].State, earshot.PostSending)
	}},
	{"arrivals are stored with the end of the turn", func(s *suite) {
		l, id := s.ready(1, "m1")
		p := newPost(id, 0, earshot.PostSending)
		s.put(l, p)
		a := arrivalOf(p, 2)
		unknown := arrivalOf(p, 3)
		unknown.Key = "nobody's"
		turn := &earshot.Turn{Answer: earshot.Answer{Anchor: s.queued(id).Anchor, Replies: []earshot.MessageID{a.Message.ID}}, Hash: "h"}
		wantError(s.T, s.Finish(s.Context(), l, id, earshot.TurnDone, "", turn, a, unknown), earshot.ErrNotFound)
		wantError(s.T, s.Finish(s.Context(), l, id, earshot.TurnDone, "", turn, earshot.Arrival{Key: p.Key}), earshot.ErrInvalid)
		_, err := s.Message(s.Context(), s.scope, a.Message.ID)
		wantError(s.T, err, earshot.ErrNotFound)
		s.equal("after a refusal", []any{s.queued(id).State, s.posts(id)[0].State}, []any{earshot.TurnPosting, earshot.PostSending})
		for range 2 {
			s.check(s.Finish(s.Context(), l, id, earshot.TurnDone, "", turn, a))
		}
		m, err := s.Message(s.Context(), s.scope, a.Message.ID)
		s.check(err)
		s.equal("our own message", m.Text, "the reply")
		s.equal("at the end", []any{s.queued(id).State, s.posts(id)[0].State, s.posts(id)[0].Message}, []any{earshot.TurnDone, earshot.PostSent, a.Message.ID})
		posted, err := s.Posted(s.Context(), s.scope, a.Message.ID)
		s.check(err)
		s.equal("whose it is", posted.ID, id)
	}},
	{"an apology that arrived is stored with the failure", func(s *suite) {
		l, id := s.ready(1, "m1")
		p := newPost(id, 0, earshot.PostSending)
		s.put(l, p)
		a := arrivalOf(p, 2)
		s.check(s.Confirm(s.Context(), s.scope, p.Key, a.Message.ID)) // its event came first
		s.check(s.Finish(s.Context(), l, id, earshot.TurnFailed, "why", nil, a))
		_, err := s.Message(s.Context(), s.scope, a.Message.ID)
		s.check(err)
		s.equal("state", s.queued(id).State, earshot.TurnFailed)
	}},
}
