package storetest

import (
	"sync"

	"github.com/earshot-ai/earshot"
)

// spendDay is a moment of a day; the next one is a day later.
const (
	aDay     = 24 * hour
	spendDay = 20_000*aDay + 9*hour
)

// Purses of a person who asks in a channel.
var (
	allPurse    = earshot.Purse{}
	placePurse  = earshot.Purse{Platform: earshot.Slack, Workspace: "T/1"}
	channelOf   = earshot.Purse{Platform: earshot.Slack, Workspace: "T/1", Channel: "C1"}
	personPurse = earshot.Purse{Platform: earshot.Slack, Workspace: "T/1", Author: "C1"}
)

func limited(p earshot.Purse, tokens int64) earshot.PurseLimit {
	return earshot.PurseLimit{Purse: p, Most: earshot.Spend{Tokens: tokens}}
}

func tokensOf(n int64) earshot.Spend { return earshot.Spend{Tokens: n} }

// spends makes a change that is not refused.
func (s *suite) spends(c earshot.SpendChange) earshot.SpendResult {
	s.Helper()
	out, err := s.Spend(s.Context(), c)
	s.check(err)
	s.equal("full", out.Full, []earshot.Purse(nil))
	return out
}

// spent returns the sums of a day.
func (s *suite) spent(day earshot.Time) map[earshot.Purse]earshot.Spend {
	s.Helper()
	list, err := s.Spent(s.Context(), day)
	s.check(err)
	out := map[earshot.Purse]earshot.Spend{}
	for _, x := range list {
		s.equal("the day of a sum", x.Day, earshot.DayOf(day))
		out[x.Purse] = x.Spend
	}
	s.equal("sums, each once", len(list), len(out))
	return out
}

var spendCases = []testCase{
	{"what is used adds up by day and purse", func(s *suite) {
		all := []earshot.PurseLimit{{Purse: personPurse}, {Purse: allPurse}, {Purse: channelOf}, {Purse: placePurse}}
		out := s.spends(earshot.SpendChange{Day: spendDay, Used: earshot.Spend{Tokens: 5, Cost: 7}, Purses: all})
		five := earshot.Spend{Tokens: 5, Cost: 7}
		six := five.Plus(tokensOf(1))
		sumOf := func(p earshot.Purse, x earshot.Spend) earshot.PurseSum {
			return earshot.PurseSum{Day: earshot.DayOf(spendDay), Purse: p, Spend: x}
		}
		s.equal("sums, in the order asked", out.Sums, []earshot.PurseSum{sumOf(personPurse, five), sumOf(allPurse, five), sumOf(channelOf, five), sumOf(placePurse, five)})
		s.spends(earshot.SpendChange{Day: spendDay + 14*hour, Used: tokensOf(1), Purses: all[:2]})
		s.spends(earshot.SpendChange{Day: spendDay + 15*hour, Used: tokensOf(2), Purses: all[:1]})
		s.equal("the day", s.spent(spendDay), map[earshot.Purse]earshot.Spend{personPurse: six, allPurse: six, channelOf: five, placePurse: five})
		s.equal("the next", s.spent(spendDay+aDay), map[earshot.Purse]earshot.Spend{personPurse: tokensOf(2)})
		list, err := s.Spent(s.Context(), spendDay)
		s.check(err)
		s.equal("everybody's is first", list[0].Purse, allPurse)
	}},
	{"what would pass a limit changes nothing", func(s *suite) {
		of := []earshot.PurseLimit{limited(channelOf, 100), limited(personPurse, 50), limited(allPurse, 0)}
		s.spends(earshot.SpendChange{Turn: 1, Day: spendDay, Held: tokensOf(50), Purses: of, Bounded: true})
		before := s.spent(spendDay)
		out, err := s.Spend(s.Context(), earshot.SpendChange{Turn: 2, Day: spendDay, Held: tokensOf(1), Purses: of, Bounded: true})
		s.check(err)
		s.equal("full", out.Full, []earshot.Purse{personPurse})
		s.equal("as it is", out.Sums[1].Spend, tokensOf(50))
		s.equal("sums", s.spent(spendDay), before)
		s.spends(earshot.SpendChange{Turn: 2, Day: spendDay, Used: tokensOf(1), Purses: of}) // what has happened counts
		s.spends(earshot.SpendChange{Turn: 2, Day: spendDay + aDay, Held: tokensOf(50), Purses: of, Bounded: true})
		cost := []earshot.PurseLimit{{Purse: allPurse, Most: earshot.Spend{Cost: 10}}}
		s.spends(earshot.SpendChange{Day: spendDay, Used: earshot.Spend{Tokens: 1000, Cost: 10}, Purses: cost, Bounded: true})
		out, err = s.Spend(s.Context(), earshot.SpendChange{Day: spendDay, Used: earshot.Spend{Cost: 1}, Purses: cost, Bounded: true})
		s.check(err)
		s.equal("full by cost", out.Full, []earshot.Purse{allPurse})
	}},
	{"what a turn holds counts until it says otherwise", func(s *suite) {
		of := []earshot.PurseLimit{limited(allPurse, 100)}
		change := func(turn earshot.TurnID, day earshot.Time, used, held int64) {
			s.spends(earshot.SpendChange{Turn: turn, Day: day, Used: tokensOf(used), Held: tokensOf(held), Purses: of, Bounded: true})
		}
		sum := func(day earshot.Time, want int64) {
			s.Helper()
			s.equal("sum", s.spent(day)[allPurse], tokensOf(want))
		}
		change(1, spendDay, 0, 60)
		change(1, spendDay, 0, 60) // a process that goes on with the turn
		sum(spendDay, 60)
		change(2, spendDay, 0, 40)
		sum(spendDay, 100)
		change(1, spendDay, 30, 20) // in place of what it held
		sum(spendDay, 90)
		change(1, spendDay, 10, 0)
		sum(spendDay, 80)
		change(3, spendDay, 0, 20)
		change(2, spendDay, 40, 0)
		change(3, spendDay, 0, 0)
		sum(spendDay, 80)
	}},
	{"what a turn held yesterday is given back to yesterday", func(s *suite) {
		of := []earshot.PurseLimit{limited(allPurse, 100), limited(placePurse, 0)}
		s.spends(earshot.SpendChange{Turn: 1, Day: spendDay, Used: tokensOf(3), Held: tokensOf(60), Purses: of})
		s.spends(earshot.SpendChange{Turn: 1, Day: spendDay + aDay, Used: tokensOf(4), Held: tokensOf(5), Purses: of})
		s.equal("yesterday", s.spent(spendDay), map[earshot.Purse]earshot.Spend{allPurse: tokensOf(3), placePurse: tokensOf(3)})
		s.spends(earshot.SpendChange{Turn: 1, Day: spendDay + aDay, Purses: of})
		s.spends(earshot.SpendChange{Turn: 1, Day: spendDay + aDay, Purses: of})
		s.equal("today", s.spent(spendDay+aDay), map[earshot.Purse]earshot.Spend{allPurse: tokensOf(4), placePurse: tokensOf(4)})
	}},
	{"that a limit is near is told once a day", func(s *suite) {
		of := []earshot.PurseLimit{limited(allPurse, 100), limited(channelOf, 1000)}
		near := func(day earshot.Time, used, held int64) []earshot.Purse {
			return s.spends(earshot.SpendChange{Turn: 1, Day: day, Used: tokensOf(used), Held: tokensOf(held), Purses: of}).Near
		}
		s.equal("below", near(spendDay, 70, 9), []earshot.Purse(nil))
		s.equal("at it", near(spendDay, 0, 10), []earshot.Purse{allPurse})
		s.equal("below again", near(spendDay, 0, 0), []earshot.Purse(nil))
		s.equal("and over", near(spendDay, 50, 0), []earshot.Purse(nil))
		s.equal("the other", near(spendDay, 700, 0), []earshot.Purse{channelOf})
		s.equal("the next day", near(spendDay+aDay, 80, 0), []earshot.Purse{allPurse})
	}},
	{"replicas that begin at once do not pass a limit together", func(s *suite) {
		of := []earshot.PurseLimit{limited(allPurse, 100), limited(channelOf, 0), limited(personPurse, 0)}
		var mu sync.Mutex
		begun := 0
		var replicas sync.WaitGroup
		for replica := range 8 {
			replicas.Go(func() {
				purses := []earshot.PurseLimit{of[replica%3], of[(replica+1)%3], of[(replica+2)%3]}
				for n := range 5 {
					out, err := s.Spend(s.Context(), earshot.SpendChange{Turn: earshot.TurnID(1 + replica*5 + n), Day: spendDay, Held: tokensOf(7), Purses: purses, Bounded: true})
					if err != nil {
						s.Error(err)
						return
					}
					if out.Full == nil {
						mu.Lock()
						begun++
						mu.Unlock()
					}
				}
			})
		}
		replicas.Wait()
		s.equal("turns that began", begun, 14) // 14 times 7 is 98
		s.equal("sum", s.spent(spendDay)[allPurse], tokensOf(98))
	}},
	{"sums go with their channel, and are pruned", func(s *suite) {
		to := s.movedTo("C9")
		of := func(c *suite) earshot.Purse {
			return earshot.Purse{Platform: c.scope.Platform, Workspace: c.scope.Workspace, Channel: c.scope.Channel}
		}
		s.check(s.PutChannel(s.Context(), earshot.Channel{Platform: s.scope.Platform, Workspace: s.scope.Workspace, ID: s.scope.Channel, Kind: earshot.KindChannel}))
		s.spends(earshot.SpendChange{Day: spendDay, Used: tokensOf(5), Purses: []earshot.PurseLimit{{Purse: of(s)}, {Purse: allPurse}}})
		s.spends(earshot.SpendChange{Day: spendDay, Used: tokensOf(2), Purses: []earshot.PurseLimit{{Purse: of(to)}}})
		s.check(s.MoveChannel(s.Context(), s.scope, "C9"))
		s.equal("moved", s.spent(spendDay), map[earshot.Purse]earshot.Spend{of(to): tokensOf(7), allPurse: tokensOf(5)})
		s.check(s.Erase(s.Context(), to.scope))
		s.equal("erased", s.spent(spendDay), map[earshot.Purse]earshot.Spend{allPurse: tokensOf(5)})
		s.spends(earshot.SpendChange{Day: spendDay + aDay, Used: tokensOf(1), Purses: []earshot.PurseLimit{{Purse: allPurse}}})
		n, err := s.PruneSpends(s.Context(), earshot.DayOf(spendDay)+1)
		s.check(err)
		s.equal("pruned", n, 1)
		s.equal("kept", s.spent(spendDay+aDay), map[earshot.Purse]earshot.Spend{allPurse: tokensOf(1)})
	}},
	{"amounts that no model can use are refused", func(s *suite) {
		of := []earshot.PurseLimit{{Purse: allPurse}}
		for name, c := range map[string]earshot.SpendChange{
			"negative":                   {Day: spendDay, Used: tokensOf(-1), Purses: of},
			"a negative cost":            {Day: spendDay, Used: earshot.Spend{Cost: -1}, Purses: of},
			"more than any sum may grow": {Day: spendDay, Used: tokensOf(1 << 62), Purses: of},
			"held by nobody":             {Day: spendDay, Held: tokensOf(1), Purses: of},
			"a purse twice":              {Day: spendDay, Used: tokensOf(1), Purses: append(of, of...)},
			"a limit below nothing":      {Day: spendDay, Used: tokensOf(1), Purses: []earshot.PurseLimit{limited(allPurse, -1)}},
			"of a person in a channel":   {Day: spendDay, Used: tokensOf(1), Purses: []earshot.PurseLimit{{Purse: earshot.Purse{Channel: "C", Author: "U"}}}},
		} {
			if _, err := s.Spend(s.Context(), c); err == nil {
				s.Errorf("%s: no error", name)
			} else {
				wantError(s.T, err, earshot.ErrInvalid)
			}
		}
		s.equal("sums", s.spent(spendDay), map[earshot.Purse]earshot.Spend{})
	}},
}
