package memory

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// An embedding is what a model made of a message.
type embedding struct {
	earshot.Embedding
	model string
}

// PutEmbeddings implements [earshot.Embeddings].
func (s *Store) PutEmbeddings(ctx context.Context, scope earshot.Scope, model string, list ...earshot.Embedding) error {
	if err := rule.CheckEmbeddings(model, list); err != nil {
		return err
	}
	return s.write(ctx, func() error {
		c := s.channels[rule.Scope(scope)]
		if c == nil {
			return nil
		}
		for _, e := range list {
			if m := c.byID[e.ID]; m != nil && m.Seq == e.Seq && !m.Deleted {
				e.Vector = slices.Clone(e.Vector)
				c.embedded[e.ID] = embedding{e, model}
			}
		}
		return nil
	})
}

// Embeddings implements [earshot.Embeddings].
func (s *Store) Embeddings(ctx context.Context, scope earshot.Scope, model string, after int64) iter.Seq2[earshot.Embedding, error] {
	return func(yield func(earshot.Embedding, error) bool) {
		var list []earshot.Embedding
		err := s.in(ctx, scope, func(c *channel) {
			for _, e := range c.embedded {
				if e.model == model && e.Seq > after {
					list = append(list, e.Embedding)
				}
			}
		})
		if err != nil {
			yield(earshot.Embedding{}, err)
			return
		}
		slices.SortFunc(list, func(a, b earshot.Embedding) int { return cmp.Compare(a.Seq, b.Seq) })
		for _, e := range list {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// EmbeddingsOf implements [earshot.Embeddings].
func (s *Store) EmbeddingsOf(ctx context.Context, scope earshot.Scope, model string, ids ...earshot.MessageID) (out []earshot.Embedding, err error) {
	err = s.in(ctx, scope, func(c *channel) {
		for _, id := range ids {
			if e, ok := c.embedded[id]; ok && e.model == model {
				out = append(out, e.Embedding)
			}
		}
	})
	return out, err
}
