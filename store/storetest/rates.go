package storetest

import (
	"errors"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
)

const aSecond = earshot.Time(time.Second / time.Microsecond)

var rateCases = []testCase{
	{"a pause gives a burst, and then calls come at their rate", func(s *suite) {
		r := earshot.Rate{Every: time.Second, Burst: 3}
		now := 1000 * aSecond
		book := func(calls int, now, from earshot.Time) {
			got, err := s.BookCalls(s.Context(), "k", r, calls, now)
			s.check(err)
			s.equal("booked", got, earshot.Booking{From: from, Every: time.Second, Calls: calls})
		}
		book(1, now, now-2*aSecond) // three at once
		book(2, now, now-1*aSecond)
		book(2, now, now+1*aSecond) // then one a aSecond
		book(1, now, now+3*aSecond)
		book(1, now+1, now+4*aSecond)
		book(1, now+100*aSecond, now+98*aSecond) // a pause
	}},
	{"keys are independent", func(s *suite) {
		r := earshot.Rate{Every: time.Minute, Burst: 1}
		for _, key := range []string{"a", "A", "a ", "%", "_"} {
			got, err := s.BookCalls(s.Context(), key, r, 1, 50*aSecond)
			s.check(err)
			s.equal(key, got.From, 50*aSecond)
		}
	}},
	{"a blocked key is free at the given time, not earlier", func(s *suite) {
		r := earshot.Rate{Every: time.Second, Burst: 2}
		s.check(s.BlockCalls(s.Context(), "k", r, 60*aSecond))
		s.check(s.BlockCalls(s.Context(), "k", r, 40*aSecond)) // changes nothing
		for _, want := range []earshot.Time{60 * aSecond, 61 * aSecond} {
			got, err := s.BookCalls(s.Context(), "k", r, 1, 10*aSecond)
			s.check(err)
			s.equal("from", got.From, want)
		}
		s.check(s.BlockCalls(s.Context(), "k", r, 20*aSecond)) // what is booked stays
		got, err := s.BookCalls(s.Context(), "k", r, 1, 10*aSecond)
		s.check(err)
		s.equal("from", got.From, 62*aSecond)
	}},
	{"concurrent bookings get each moment once", func(s *suite) {
		r := earshot.Rate{Every: time.Second, Burst: 1}
		var mu sync.Mutex
		seen := map[earshot.Time]int{}
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				for range 5 {
					b, err := s.BookCalls(s.Context(), "k", r, 2, 100*aSecond)
					if err != nil {
						s.Error(err)
						return
					}
					mu.Lock()
					for i := range b.Calls {
						seen[b.From+earshot.Time(i)*aSecond]++
					}
					mu.Unlock()
				}
			})
		}
		all.Wait()
		for i := range earshot.Time(200) {
			if n := seen[100*aSecond+i*aSecond]; n != 1 {
				s.Errorf("moment %d was given %d times, want once", i, n)
			}
		}
	}},
	{"idle keys are pruned", func(s *suite) {
		r := earshot.Rate{Every: time.Second, Burst: 1}
		for key, now := range map[string]earshot.Time{"old": 10 * aSecond, "older": 5 * aSecond, "new": 90 * aSecond} {
			_, err := s.BookCalls(s.Context(), key, r, 1, now)
			s.check(err)
		}
		n, err := s.PruneRates(s.Context(), 50*aSecond)
		s.check(err)
		s.equal("forgotten", n, 2)
		got, err := s.BookCalls(s.Context(), "new", r, 1, 90*aSecond)
		s.check(err)
		s.equal("the new one is kept", got.From, 91*aSecond)
	}},
	{"an invalid rate is refused", func(s *suite) {
		for name, c := range map[string]struct {
			key   string
			rate  earshot.Rate
			calls int
		}{
			"no key": {"", earshot.Rate{Every: 1000, Burst: 1}, 1}, "no time": {"k", earshot.Rate{Burst: 1}, 1},
			"no burst": {"k", earshot.Rate{Every: time.Second}, 1}, "no calls": {"k", earshot.Rate{Every: time.Second, Burst: 1}, 0},
		} {
			_, err := s.BookCalls(s.Context(), c.key, c.rate, c.calls, aSecond)
			if !errors.Is(err, earshot.ErrInvalid) {
				s.Errorf("%s: got error %v, want ErrInvalid", name, err)
			}
		}
	}},
}
