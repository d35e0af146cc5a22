package postgres

import (
	"cmp"
	"context"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"golang.org/x/sync/errgroup"
)

var _ earshot.Bulk = (*Store)(nil)

const (
	// channelsAtOnce is how many channels one transaction writes.
	channelsAtOnce = 200
	// parallelChannels is how many channels RecordBatches writes at once.
	parallelChannels = 8
)

// PutChannels implements [earshot.Bulk]. The locks of one transaction are taken
// in the order of their keys.
func (s *Store) PutChannels(ctx context.Context, list ...earshot.Channel) error {
	list, err := rule.CheckChannels(list)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(list, channelsAtOnce) {
		err := s.inTx(ctx, "put channels", func(_ context.Context, t *tx) error {
			order := slices.Clone(some)
			slices.SortStableFunc(order, func(a, b earshot.Channel) int { return cmp.Compare(t.channelKey(a.Scope()), t.channelKey(b.Scope())) })
			for _, c := range order {
				t.PutChannel(c)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// RecordBatches implements [earshot.Bulk]. Each batch is a transaction. Batches of
// different channels are written concurrently.
func (s *Store) RecordBatches(ctx context.Context, list ...earshot.Batch) ([][]earshot.RecordResult, error) {
	prepared, err := rule.PrepareBatches(ctx, list)
	if err != nil {
		return nil, err
	}
	out := rule.Outcomes(prepared)
	of := map[earshot.Scope][]int{} // the batches of each channel, in their order
	var scopes []earshot.Scope
	for i, b := range prepared {
		if of[b.Scope] == nil {
			scopes = append(scopes, b.Scope)
		}
		of[b.Scope] = append(of[b.Scope], i)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallelChannels)
	for _, scope := range scopes {
		g.Go(func() error {
			for _, i := range of[scope] {
				if len(prepared[i].Messages) == 0 {
					continue
				}
				outcomes, err := s.Keep(ctx, scope, prepared[i].Messages)
				if err != nil {
					return err
				}
				copy(out[i], outcomes)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return out, nil
}
