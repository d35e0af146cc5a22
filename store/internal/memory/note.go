package memory

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// PutNote implements [earshot.Notes].
func (s *Store) PutNote(ctx context.Context, n earshot.Note) error {
	n, err := rule.CheckNote(n)
	if err != nil {
		return err
	}
	return s.write(ctx, func() error {
		s.notes[n.Key] = slices.Clone(n.Data)
		return nil
	})
}

// Notes implements [earshot.Notes].
func (s *Store) Notes(ctx context.Context, prefix string, limit int) (out []earshot.Note, err error) {
	err = s.read(ctx, func() error {
		for key, data := range s.notes {
			if strings.HasPrefix(key, prefix) {
				out = append(out, earshot.Note{Key: key, Data: slices.Clone(data)})
			}
		}
		return nil
	})
	slices.SortFunc(out, func(a, b earshot.Note) int { return cmp.Compare(a.Key, b.Key) })
	if limit > 0 && len(out) > limit {
		out = out[:limit]
	}
	return out, err
}

// DropNote implements [earshot.Notes].
func (s *Store) DropNote(ctx context.Context, key string) error {
	return s.write(ctx, func() error {
		delete(s.notes, key)
		return nil
	})
}
