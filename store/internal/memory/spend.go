package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// A purseDay names a purse's sum of one day.
type purseDay struct {
	day   earshot.Time
	purse string
}

// spends are what models have used by day, and what turns hold of it.
type spends struct {
	sums map[purseDay]rule.Purse
	held map[earshot.TurnID]rule.Held
}

// Spend implements [earshot.Spends].
func (s *Store) Spend(ctx context.Context, c earshot.SpendChange) (out earshot.SpendResult, err error) {
	c, purses, err := rule.CheckSpend(c)
	if err != nil {
		return out, err
	}
	err = s.write(ctx, func() error {
		held := s.spends.held[c.Turn]
		for _, p := range purses {
			was := s.spends.sums[purseDay{c.Day, p.Key}]
			p.Sum, p.Near = was.Sum, was.Near
		}
		var had earshot.Spend
		if held.Day == c.Day {
			had = held.Spend
		}
		if out = rule.DecideSpend(c, had, purses); out.Full != nil {
			return nil
		}
		for _, p := range purses {
			if before := (purseDay{held.Day, p.Key}); held.Day != c.Day && held.Spend != (earshot.Spend{}) {
				x := s.spends.sums[before]
				x.Sum = earshot.Spend{Tokens: max(0, x.Sum.Tokens-held.Spend.Tokens), Cost: max(0, x.Sum.Cost-held.Spend.Cost)}
				s.spends.sums[before] = x
			}
			s.spends.sums[purseDay{c.Day, p.Key}] = *p
		}
		if delete(s.spends.held, c.Turn); c.Held != (earshot.Spend{}) {
			s.spends.held[c.Turn] = rule.Held{Day: c.Day, Spend: c.Held}
		}
		return nil
	})
	return out, err
}

// Spent implements [earshot.Spends].
func (s *Store) Spent(ctx context.Context, day earshot.Time) (out []earshot.PurseSum, err error) {
	day = earshot.DayOf(day)
	err = s.read(ctx, func() error {
		keys := slices.Collect(maps.Keys(s.spends.sums))
		slices.SortFunc(keys, func(a, b purseDay) int { return cmp.Compare(a.purse, b.purse) })
		for _, at := range keys {
			x := s.spends.sums[at]
			if at.day != day || x.Sum == (earshot.Spend{}) {
				continue
			}
			p, err := rule.PurseOf(at.purse)
			if err != nil {
				return err
			}
			out = append(out, earshot.PurseSum{Day: at.day, Purse: p, Spend: x.Sum})
		}
		return nil
	})
	return out, err
}

// PruneSpends implements [earshot.Spends].
func (s *Store) PruneSpends(ctx context.Context, before earshot.Time) (n int, err error) {
	err = s.write(ctx, func() error {
		n = len(s.spends.sums)
		maps.DeleteFunc(s.spends.sums, func(at purseDay, _ rule.Purse) bool { return at.day < before })
		maps.DeleteFunc(s.spends.held, func(_ earshot.TurnID, h rule.Held) bool { return h.Day < before })
		n -= len(s.spends.sums)
		return nil
	})
	return n, err
}

// moveSpends adds the sums of a channel to those of another one.
func (s *Store) moveSpends(from, to earshot.Scope) {
	was, is := rule.ChannelPurse(from), rule.ChannelPurse(to)
	for at, x := range maps.Clone(s.spends.sums) {
		if at.purse != was {
			continue
		}
		next := purseDay{at.day, is}
		sum := s.spends.sums[next]
		sum.Sum, sum.Near = sum.Sum.Plus(x.Sum), sum.Near || x.Near
		s.spends.sums[next] = sum
		delete(s.spends.sums, at)
	}
}

// dropSpends removes a channel's sums.
func (s *Store) dropSpends(of earshot.Scope) {
	key := rule.ChannelPurse(of)
	maps.DeleteFunc(s.spends.sums, func(at purseDay, _ rule.Purse) bool { return at.purse == key })
}
