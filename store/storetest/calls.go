package storetest

import (
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
)

const hour = earshot.Time(time.Hour / time.Microsecond)

var callCases = []testCase{
	{"calls are added up by hour and method", func(s *suite) {
		count := func(w earshot.WorkspaceID, method string, at earshot.Time, n int) earshot.CallCount {
			return earshot.CallCount{
				Platform: earshot.Slack, Workspace: w, Method: method, Hour: at,
				Calls: n, Limited: n + 1, Failed: n + 2, Waits: n + 3, Waited: time.Duration(n) * time.Second,
			}
		}
		ten := 1_000_000 * hour
		s.check(s.AddCalls(s.Context()))
		s.check(s.AddCalls(s.Context(), count("T1", "b", ten+5, 1), count("T1", "a", ten, 2), count("T1", "b", ten+7, 3)))
		s.check(s.AddCalls(s.Context(), count("T1", "b", ten+hour-1, 4), count("T2", "b", ten, 5), count("T1", "b", ten+hour, 6)))
		b := count("T1", "b", ten, 8)
		b.Limited, b.Failed, b.Waits = 11, 14, 17
		all := []earshot.CallCount{count("T1", "a", ten, 2), b, count("T2", "b", ten, 5), count("T1", "b", ten+hour, 6)}
		got, err := s.Calls(s.Context(), 0)
		s.check(err)
		s.equal("all", got, all)
		got, err = s.Calls(s.Context(), ten+1)
		s.check(err)
		s.equal("of the later hour", got, all[3:])
	}},
	{"calls are forgotten after thirty days", func(s *suite) {
		old := earshot.CallCount{Platform: earshot.Slack, Workspace: "T1", Method: "a", Hour: 1_000_000 * hour, Calls: 1}
		later, latest := old, old
		later.Hour += hour
		latest.Hour += earshot.CallsKept + hour
		s.check(s.AddCalls(s.Context(), old, later))
		s.check(s.AddCalls(s.Context(), latest))
		got, err := s.Calls(s.Context(), 0)
		s.check(err)
		s.equal("left", got, []earshot.CallCount{later, latest})
	}},
	{"invalid calls are refused, and nothing is counted", func(s *suite) {
		good := earshot.CallCount{Platform: earshot.Slack, Method: "a", Calls: 1}
		for _, bad := range []earshot.CallCount{
			{Method: "a"}, {Platform: earshot.Slack}, {Platform: earshot.Slack, Method: "a", Calls: -1}, {Platform: earshot.Slack, Method: "a", Waited: -1},
		} {
			wantError(s.T, s.AddCalls(s.Context(), good, bad), earshot.ErrInvalid)
		}
		got, err := s.Calls(s.Context(), 0)
		s.check(err)
		s.equal("stored", got, []earshot.CallCount(nil))
	}},
	{"calls that several replicas add concurrently all count", func(s *suite) {
		const replicas, times = 8, 20
		var wg sync.WaitGroup
		for i := range replicas {
			wg.Go(func() {
				for range times {
					a := earshot.CallCount{Platform: earshot.Slack, Method: "a", Hour: hour, Calls: 1}
					b := a
					b.Method = "b"
					if i%2 == 0 {
						a, b = b, a
					}
					if err := s.AddCalls(s.Context(), a, b); err != nil {
						s.Error(err)
					}
				}
			})
		}
		wg.Wait()
		got, err := s.Calls(s.Context(), 0)
		s.check(err)
		for _, c := range got {
			s.equal(c.Method, c.Calls, replicas*times)
		}
		s.equal("methods", len(got), 2)
	}},
}
