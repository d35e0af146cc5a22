package storetest

import "github.com/earshot-ai/earshot"

// endsCases test the two counters of a turn: the processes that crashed while they
// answered it (Ends), and its other claims (Tries).
var endsCases = []testCase{
	{"a lease that ran out counts as an end, one that was given back as a try", func(s *suite) {
		id := s.asked(1, "m1")
		s.claim("dead", timeAt(0))
		for n := range 3 {
			_, turns := s.claim("dead", timeAt(20+20*n))
			s.equal("left", []any{turns[0].Tries, turns[0].Ends}, []any{1, n + 1})
		}
		l, _ := s.claim("me", timeAt(100))
		s.begin(l, id, prompt(1))
		s.check(s.Release(s.Context(), l, timeAt(110)))
		_, turns := s.claim("me", timeAt(110))
		s.equal("given back", []any{turns[0].Tries, turns[0].Ends}, []any{2, 4})
		s.equal("stored", []any{s.queued(id).Tries, s.queued(id).Ends}, []any{2, 4})
	}},
	{"an open turn counts no end, since nobody was answering it", func(s *suite) {
		a, b := s.asked(1, "m1"), s.asked(2, "m1")
		l, _ := s.claim("dead", timeAt(0))
		s.check(s.Finish(s.Context(), l, a, earshot.TurnDropped, "stale", nil))
		_, turns := s.claim("heir", timeAt(20))
		s.equal("the next", []any{turns[0].ID, turns[0].Tries, turns[0].Ends}, []any{b, 1, 0})
	}},
	{"a turn that makes progress counts its ends from zero", func(s *suite) {
		id := s.asked(1, "m1")
		l, _ := s.claim("dead", timeAt(0))
		planned, sending, sent := newPost(id, 0, earshot.PostPlanned), newPost(id, 0, earshot.PostSending), newPost(id, 0, earshot.PostSent)
		step := func(n int, posts ...earshot.Post) func() error {
			return func() error {
				return s.AddStep(s.Context(), l, id, earshot.Step{N: n, Kind: "model", Data: []byte("a")}, posts...)
			}
		}
		put := func(p earshot.Post) func() error { return func() error { return s.PutPost(s.Context(), l, p) } }
		begin := func() error { return s.Begin(s.Context(), l, id, prompt(1)) }
		for n, c := range []struct {
			name  string
			write func() error
			want  int
		}{
			{"begun", begin, 1},
			{"begun again", begin, 2},
			{"a step", step(0), 0},
			{"the step again", step(0), 1},
			{"a step with a post", step(1, planned), 0},
			{"the post again", put(planned), 1},
			{"the post is being sent", put(sending), 0},
			{"that again", put(sending), 1},
			{"a step while it is posted", step(2), 0},
			{"the post was sent", put(sent), 0},
			{"that again", put(sent), 1},
		} {
			l, _ = s.claim("dead", timeAt(20+20*n))
			s.check(c.write())
			s.equal(c.name, s.queued(id).Ends, c.want)
		}
	}},
	{"a turn that is reopened counts from zero", func(s *suite) {
		id := s.asked(1, "m1")
		s.claim("dead", timeAt(0))
		l, _ := s.claim("me", timeAt(20))
		s.check(s.Finish(s.Context(), l, id, earshot.TurnFailed, "x", nil))
		s.equal("before", []any{s.queued(id).Tries, s.queued(id).Ends}, []any{1, 1})
		s.check(s.Reopen(s.Context(), id))
		s.equal("after", []any{s.queued(id).Tries, s.queued(id).Ends}, []any{0, 0})
	}},
	{"a turn that an emoji asked for and that failed is still asked for by it", func(s *suite) {
		s.accept(deliveryOf(1, "the build is red"))
		e := deliveryOf(1, "the build is red")
		e.Delivery, e.Anew, e.By = "emoji", true, earshot.Reactor{Emoji: "eyes", ID: "u9"}
		id := s.ask(e, "m1").Turn
		for _, end := range []earshot.TurnState{earshot.TurnFailed, earshot.TurnParked} {
			l, _ := s.claim("me", timeAt(0))
			s.check(s.Finish(s.Context(), l, id, end, "no model; none", nil))
			s.equal("why it ended", s.queued(id).Why, "asked by the emoji eyes of u9; no model; none")
			s.check(s.Release(s.Context(), l, 0))
			s.check(s.Reopen(s.Context(), id))
			by, ok := s.queued(id).AskedBy()
			s.equal("asked by", []any{by, ok, s.queued(id).Why}, []any{e.By, true, "asked by the emoji eyes of u9"})
		}
	}},
}
