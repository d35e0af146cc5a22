package partial

import (
	"context"
	"iter"

	"github.com/earshot-ai/earshot"
)

// Locate implements [earshot.Locator]: the disk, then the memory, whose places have
// "memory " before the table.
func (s *Store) Locate(ctx context.Context, text string, looked func(what string, n int64)) iter.Seq2[earshot.Place, error] {
	return func(yield func(earshot.Place, error) bool) {
		for p, err := range s.Store.Locate(ctx, text, looked) {
			if !yield(p, err) || err != nil {
				return
			}
		}
		for p, err := range s.memory.Locate(ctx, text, looked) {
			p.Table = "memory " + p.Table
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// Scrub implements [earshot.Scrubber] for the disk.
func (s *Store) Scrub(ctx context.Context) error {
	if disk, ok := s.Store.(earshot.Scrubber); ok {
		return disk.Scrub(ctx)
	}
	return nil
}
