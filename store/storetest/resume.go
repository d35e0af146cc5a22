package storetest

import (
	"strings"

	"github.com/earshot-ai/earshot"
)

// eventWithResume returns an event with a resume state.
func eventWithResume(n int, key, state string) earshot.Event {
	e := deliveryOf(n, "text")
	e.Resume = &earshot.Resume{Key: key, State: []byte(state)}
	return e
}

func (s *suite) resumes(p earshot.Platform, key, want string) {
	s.Helper()
	got, err := s.Resume(s.Context(), p, key)
	s.check(err)
	s.equal("resume state of "+key, string(got), want)
}

var resumeCases = []testCase{
	{"a resume state is stored with its event", func(s *suite) {
		_, err := s.Resume(s.Context(), s.scope.Platform, "shard 0")
		wantError(s.T, err, earshot.ErrNotFound)
		s.accept(eventWithResume(1, "shard 0", "s:1"))
		s.accept(eventWithResume(2, "shard 1", "t:1"))
		s.accept(eventWithResume(3, "shard 0", "s:2"))
		s.accept(deliveryOf(4, "an event that brings none"))
		s.resumes(s.scope.Platform, "shard 0", "s:2")
		s.resumes(s.scope.Platform, "shard 1", "t:1")
		events, err := s.Events(s.Context(), s.scope, "m3")
		s.check(err)
		s.equal("not read back", events[0].Resume == nil, true)
	}},
	{"a resume state belongs to the platform, whatever the event's workspace", func(s *suite) {
		s.accept(eventWithResume(1, "shard 0", "s:1"))
		for _, other := range []earshot.Scope{
			{Platform: s.scope.Platform, Workspace: "T2", Channel: "C9"}, {Platform: "another", Workspace: s.scope.Workspace, Channel: s.scope.Channel},
		} {
			_, err := s.Accept(s.Context(), other, eventWithResume(1, "shard 0", "s:"+string(other.Platform)), nil)
			s.check(err)
		}
		s.resumes(s.scope.Platform, "shard 0", "s:"+string(s.scope.Platform))
		s.resumes("another", "shard 0", "s:another")
	}},
	{"a known delivery still stores its resume state", func(s *suite) {
		s.accept(eventWithResume(1, "shard 0", "s:1"))
		out := s.accept(eventWithResume(1, "shard 0", "s:2"))
		s.equal("duplicate", out.Duplicate, true)
		s.resumes(s.scope.Platform, "shard 0", "s:2")
	}},
	{"a refused event does not change the resume state", func(s *suite) {
		s.accept(eventWithResume(1, "shard 0", "s:1"))
		refused := eventWithResume(2, "shard 0", "s:2")
		refused.Message.ID = ""
		_, err := s.Accept(s.Context(), s.scope, refused, nil)
		wantError(s.T, err, earshot.ErrInvalid)
		for _, r := range []earshot.Resume{{State: []byte("x")}, {Key: strings.Repeat("k", 513)}, {Key: "k", State: make([]byte, earshot.ResumeBytes+1)}} {
			e := deliveryOf(3, "text")
			e.Resume = &r
			_, err := s.Accept(s.Context(), s.scope, e, nil)
			wantError(s.T, err, earshot.ErrInvalid)
		}
		_, err = s.Message(s.Context(), s.scope, "m3")
		wantError(s.T, err, earshot.ErrNotFound)
		s.resumes(s.scope.Platform, "shard 0", "s:1")
	}},
	{"the caller may change its bytes afterwards", func(s *suite) {
		e := eventWithResume(1, "a\x00b", "s:1")
		s.accept(e)
		e.Resume.State[0] = 'x'
		got, err := s.Resume(s.Context(), s.scope.Platform, "a\x00b")
		s.check(err)
		got[0] = 'y'
		s.resumes(s.scope.Platform, "a\x00b", "s:1")
		s.accept(eventWithResume(2, "empty", ""))
		s.resumes(s.scope.Platform, "empty", "")
	}},
	{"erasing a channel keeps the resume state", func(s *suite) {
		s.accept(eventWithResume(1, "shard 0", "s:1"))
		s.check(s.Erase(s.Context(), s.scope))
		s.resumes(s.scope.Platform, "shard 0", "s:1")
	}},
}
