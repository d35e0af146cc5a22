package storetest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/earshot-ai/earshot"
)

// runTogether calls f(0) to f(n-1) concurrently and returns the errors that are not nil.
func runTogether(n int, f func(i int) error) []error {
	var wg sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		wg.Go(func() { errs[i] = f(i) })
	}
	wg.Wait()
	return slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}

var concurrencyCases = []testCase{
	{"concurrent writers lose nothing, and each gets its own outcomes", func(s *suite) {
		const writers, each = 32, 20
		outcomes := make([][]earshot.RecordResult, writers)
		errs := runTogether(writers, func(w int) error {
			for i := range each {
				out, err := s.Record(s.Context(), s.scope, plainMessage(w*each+i, "x"), reply(10_000+w*each+i, "m0", "y"))
				if err != nil {
					return err
				}
				outcomes[w] = append(outcomes[w], out...)
			}
			return nil
		})
		s.equal("errors", len(errs), 0)
		seqs := map[int64]bool{}
		for w, list := range outcomes {
			for i, r := range list {
				id := plainMessage(w*each+i/2+10_000*(i%2), "").ID
				if r.ID != id || r.Change != earshot.New || seqs[r.Seq] || r.Seq < 1 || r.Seq > 2*writers*each {
					s.Fatalf("writer %d, outcome %d: got %+v, want %s new under a sequence of its own", w, i, r, id)
				}
				seqs[r.Seq] = true
				if got := s.message(id); got.Seq != r.Seq {
					s.Fatalf("%s has sequence %d, Record said %d", id, got.Seq, r.Seq)
				}
			}
		}
		for part, want := range map[earshot.ChannelPart]int{whole: 2 * writers * each, top: writers * each, earshot.ThreadOf("m0"): writers*each + 1} {
			c, err := s.Count(s.Context(), s.scope, part, open)
			s.check(err)
			s.equal("count", c.Count, want)
			s.equal("read", len(s.ranged(part, open, open)), want)
		}
	}},
	{"a turn whose state changes while turns are listed is in the list once", func(s *suite) {
		id := s.asked(1, "m1")
		moved := make(chan error, 1)
		go func() {
			var err error
			for i := 0; i < 300 && err == nil; i++ {
				var l earshot.Lease
				if l, _, err = s.Claim(s.Context(), "agent", "owner", timeAt(1), hold); err == nil {
					err = s.Release(s.Context(), l, 0)
				}
			}
			moved <- err
		}()
		unfinished := earshot.UnfinishedStates()
		for {
			list, err := s.QueuedTurns(s.Context(), earshot.TurnQuery{States: unfinished, Limit: 2})
			s.check(err)
			s.equal("unfinished", turnIDs(list), []earshot.TurnID{id})
			select {
			case err := <-moved:
				s.check(err)
				return
			default:
			}
		}
	}},
	{"concurrent copies of one message are stored once", func(s *suite) {
		var mu sync.Mutex
		seen := map[earshot.Change]int{}
		errs := runTogether(24, func(i int) error {
			m := plainMessage(1, "x")
			m.Edited = timeAt(i % 3)
			out, err := s.Record(s.Context(), s.scope, m)
			mu.Lock()
			defer mu.Unlock()
			for _, r := range out {
				seen[r.Change]++
			}
			return err
		})
		s.equal("errors", len(errs), 0)
		s.equal("new", seen[earshot.New], 1)
		s.equal("edits and late ones", seen[earshot.Edited]+seen[earshot.Late], 2)
		s.equal("same", seen[earshot.Same], 21)
		list, err := s.Revisions(s.Context(), s.scope, "m1")
		s.check(err)
		s.equal("revisions", len(list), 3)
	}},
	{"a refused write does not fail other concurrent writes", func(s *suite) {
		s.opened("m1", "")
		errs := runTogether(60, func(i int) error {
			switch i % 3 {
			case 0:
				_, err := s.MergeMetadata(s.Context(), s.conversation("nope"), map[string]*string{"a": to("1")})
				return err
			case 1:
				_, err := s.MergeMetadata(s.Context(), s.conversation("m1"), map[string]*string{fmt.Sprint("k", i): to("v")})
				return err
			}
			_, err := s.Record(s.Context(), s.scope, plainMessage(i, "x"))
			return err
		})
		s.equal("refused", len(errs), 20)
		for _, err := range errs {
			wantError(s.T, err, earshot.ErrNotFound)
		}
		c, err := s.Conversation(s.Context(), s.conversation("m1"))
		s.check(err)
		s.equal("merged", len(c.Metadata), 20)
		s.equal("recorded", len(s.ranged(whole, open, open)), 20)
	}},
	{"a thousand concurrent patches lose no key", func(s *suite) {
		const conversations = 20
		for i := range conversations {
			s.opened(fmt.Sprint("m", i), "")
		}
		errs := runTogether(1000, func(i int) error {
			_, err := s.merge(fmt.Sprint("m", i%conversations), map[string]*string{fmt.Sprint("k", i): to(fmt.Sprint(i))})
			return err
		})
		s.equal("errors", len(errs), 0)
		for i := range conversations {
			c, err := s.Conversation(s.Context(), s.conversation(fmt.Sprint("m", i)))
			s.check(err)
			s.equal("keys", len(c.Metadata), 1000/conversations)
		}
	}},
	{"of many concurrent calls one creates the conversation and one answers the anchor", func(s *suite) {
		var mu sync.Mutex
		created := 0
		errs := runTogether(40, func(i int) error {
			_, c, err := s.OpenConversation(s.Context(), s.conversation(fmt.Sprint("m", i)), "key")
			mu.Lock()
			defer mu.Unlock()
			if c {
				created++
			}
			return err
		})
		s.equal("errors", len(errs), 0)
		s.equal("created", created, 1)
		s.opened("one", "")
		errs = runTogether(40, func(i int) error {
			_, err := s.CommitTurn(s.Context(), s.conversation("one"), turn(1, "x"))
			return err
		})
		s.equal("conflicts", len(errs), 39)
	}},
	{"concurrent reads see whole transactions", func(s *suite) {
		ctx, cancel := context.WithCancel(s.Context())
		defer cancel()
		errs := runTogether(4, func(i int) error {
			if i == 0 {
				defer cancel()
				for n := range 120 { // a root and its reply always come together
					if _, err := s.Record(s.Context(), s.scope, plainMessage(2*n, "root"), reply(2*n+1, plainMessage(2*n, "").ID, "reply")); err != nil {
						return err
					}
				}
				return nil
			}
			for ctx.Err() == nil {
				list, err := s.Newest(s.Context(), s.scope, whole, open, 10)
				if err != nil {
					return err
				}
				if len(list)%2 != 0 {
					return fmt.Errorf("saw %d messages: half a change", len(list))
				}
				if c, err := s.Count(s.Context(), s.scope, whole, open); err != nil || c.Count%2 != 0 {
					return fmt.Errorf("counted %d (%w): half a change", c.Count, err)
				}
			}
			return nil
		})
		for _, err := range errs {
			s.Error(err)
		}
	}},
}

var closeCases = []testCase{
	{"Close may be called twice, and later calls of other methods are refused", func(s *suite) {
		s.record(plainMessage(1, "x"))
		s.check(s.Close())
		s.check(s.Close())
		if _, err := s.Record(background, s.scope, plainMessage(2, "y")); err == nil {
			s.Error("Record after Close: no error")
		}
		if _, err := s.Newest(background, s.scope, whole, open, 1); err == nil {
			s.Error("Newest after Close: no error")
		}
		_, channel := s.Channel(background, s.scope)
		_, pruned := s.PruneTurns(background, timeAt(1))
		_, blob := s.Blob(background, s.scope, "aa")
		put := s.PutBlob(background, s.scope, "m1", "F1", blobOf("aa"))
		for name, err := range map[string]error{
			"Channel": channel, "PruneTurns": pruned, "Erase": s.Erase(background, s.scope), "Blob": blob, "PutBlob": put,
		} {
			if err == nil {
				s.Errorf("%s after Close: no error", name)
			}
		}
		for _, err := range s.Range(background, s.scope, whole, open, open) {
			if err == nil {
				s.Error("Range after Close: no error")
			}
		}
	}},
	{"Close waits for writers, and each learns whether its write was stored", func(s *suite) {
		started := make(chan struct{}, 16)
		done := make(chan []error)
		go func() {
			done <- runTogether(16, func(i int) error {
				for n := range 1000 {
					_, err := s.Record(background, s.scope, plainMessage(i*1000+n, "x"))
					if n == 0 {
						started <- struct{}{}
					}
					if err != nil {
						return err
					}
				}
				return nil
			})
		}()
		for range 16 {
			<-started
		}
		s.check(s.Close())
		<-done
	}},
}
