package memory

import (
	"context"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// AddCalls implements [earshot.Meter].
func (s *Store) AddCalls(ctx context.Context, counts ...earshot.CallCount) error {
	counts, forget, err := rule.CheckCalls(counts)
	if err != nil || len(counts) == 0 {
		return err
	}
	return s.write(ctx, func() error {
		for _, c := range counts {
			if i, ok := slices.BinarySearchFunc(s.calls, c, rule.CompareCalls); ok {
				s.calls[i] = rule.SumCalls(s.calls[i], c)
			} else {
				s.calls = slices.Insert(s.calls, i, c)
			}
		}
		s.calls = slices.DeleteFunc(s.calls, func(c earshot.CallCount) bool { return c.Hour < forget })
		return nil
	})
}

// Calls implements [earshot.Meter].
func (s *Store) Calls(ctx context.Context, since earshot.Time) (out []earshot.CallCount, err error) {
	err = s.read(ctx, func() error {
		for _, c := range s.calls {
			if c.Hour >= since {
				out = append(out, c)
			}
		}
		return nil
	})
	return out, err
}
