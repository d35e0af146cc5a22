package memory

import (
	"context"
	"maps"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// BookCalls implements [earshot.Rates].
func (s *Store) BookCalls(ctx context.Context, key string, r earshot.Rate, calls int, now earshot.Time) (out earshot.Booking, err error) {
	if key, err = rule.CheckRate(key, r, calls); err != nil {
		return out, err
	}
	err = s.write(ctx, func() error {
		s.rates[key] = max(s.rates[key], now) + earshot.Time(rule.Span(r, calls))
		out = rule.NewBooking(r, calls, s.rates[key])
		return nil
	})
	return out, err
}

// BlockCalls implements [earshot.Rates].
func (s *Store) BlockCalls(ctx context.Context, key string, r earshot.Rate, until earshot.Time) error {
	key, err := rule.CheckRate(key, r, 1)
	if err != nil {
		return err
	}
	return s.write(ctx, func() error {
		s.rates[key] = max(s.rates[key], rule.BlockedUntil(r, until))
		return nil
	})
}

// PruneRates implements [earshot.Rates].
func (s *Store) PruneRates(ctx context.Context, before earshot.Time) (n int, err error) {
	err = s.write(ctx, func() error {
		n = len(s.rates)
		maps.DeleteFunc(s.rates, func(_ string, next earshot.Time) bool { return next < before })
		n -= len(s.rates)
		return nil
	})
	return n, err
}
