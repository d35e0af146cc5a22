package memory

import (
	"context"

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
	return s.write(ctx, func() error {
		for _, c := range list {
			s.channel(c.Scope()).info = c
		}
		return nil
	})
}

// RecordBatches implements [earshot.Bulk]. The lock is given back after each
// batch.
func (s *Store) RecordBatches(ctx context.Context, list ...earshot.Batch) ([][]earshot.RecordResult, error) {
	prepared, err := rule.PrepareBatches(ctx, list)
	if err != nil {
		return nil, err
	}
	out := rule.Outcomes(prepared)
	for i, b := range prepared {
		if err := s.recordInto(ctx, b, out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// recordInto stores a batch and writes its outcomes into out.
func (s *Store) recordInto(ctx context.Context, b rule.PreparedBatch, out []earshot.RecordResult) error {
	if len(b.Messages) == 0 {
		return nil
	}
	return s.write(ctx, func() error {
		c := s.channel(b.Scope)
		for i, m := range b.Messages {
			out[i] = s.record(b.Scope, c, m)
		}
		return nil
	})
}
