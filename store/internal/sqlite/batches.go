package sqlite

import (
	"context"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

var _ earshot.Bulk = (*Store)(nil)

// PutChannels implements [earshot.Bulk].
func (s *Store) PutChannels(ctx context.Context, list ...earshot.Channel) error {
	list, err := rule.CheckChannels(list)
	if err != nil {
		return err
	}
	var pieces []func(*tx) error
	for some := range slices.Chunk(list, pieceRows) {
		pieces = append(pieces, func(t *tx) error {
			for _, c := range some {
				t.PutChannel(c)
			}
			return t.did(nil)
		})
	}
	if err := s.writer.runLoad(ctx, pieces); err != nil {
		return fmt.Errorf("put channels: %w", err)
	}
	return nil
}

// RecordBatches implements [earshot.Bulk].
func (s *Store) RecordBatches(ctx context.Context, list ...earshot.Batch) ([][]earshot.RecordResult, error) {
	prepared, err := rule.PrepareBatches(ctx, list)
	if err != nil {
		return nil, err
	}
	out := rule.Outcomes(prepared)
	var pieces []func(*tx) error
	for i, b := range prepared {
		outcomes := out[i]
		for some := range slices.Chunk(b.Messages, pieceRows) {
			r := &recording{scope: b.Scope, messages: some, outcomes: outcomes[:len(some)]}
			outcomes = outcomes[len(some):]
			pieces = append(pieces, func(t *tx) error { return t.record([]*recording{r}) })
		}
	}
	if err := s.writer.runLoad(ctx, pieces); err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	return out, nil
}
