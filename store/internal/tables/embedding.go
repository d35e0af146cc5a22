package tables

import (
	"context"
	"iter"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// embeddingPage is how many embeddings one query reads: about half a megabyte.
const embeddingPage = 500

// PutEmbeddings implements [earshot.Embeddings].
func (s *Store) PutEmbeddings(ctx context.Context, scope earshot.Scope, model string, list ...earshot.Embedding) error {
	if err := rule.CheckEmbeddings(model, list); err != nil {
		return err
	}
	scope = rule.Scope(scope)
	query := `INSERT INTO embedding (` + s.sql.Channel + `, message, seq, sum, model, vector)
		SELECT ` + s.sql.Channel + `, id, seq, $6, $7, $8 FROM message` + s.sql.MessagesIn + ` AND id = $4 AND seq = $5 AND deleted = 0
		ON CONFLICT (` + s.sql.Channel + `, message) DO UPDATE SET seq = excluded.seq, sum = excluded.sum, model = excluded.model, vector = excluded.vector`
	return s.engine.Volatile(ctx, "put embeddings", func(_ context.Context, t *Tx) error {
		t.Shared(scope) // a text that is changed meanwhile must not leave its embedding
		for _, e := range list {
			t.Write(query, Args(scope, string(e.ID), e.Seq, e.Sum, model, rule.VectorBytes(e.Vector))...)
		}
		return nil
	})
}

// Embeddings implements [earshot.Embeddings].
func (s *Store) Embeddings(ctx context.Context, scope earshot.Scope, model string, after int64) iter.Seq2[earshot.Embedding, error] {
	scope = rule.Scope(scope)
	return func(yield func(earshot.Embedding, error) bool) {
		for {
			page, err := List(ctx, s.engine, "read embeddings", embeddings+s.sql.MessagesIn+` AND model = $4 AND seq > $5 ORDER BY seq LIMIT $6`,
				Args(scope, model, after, embeddingPage), scanEmbedding)
			if err != nil {
				yield(earshot.Embedding{}, err)
				return
			}
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
				after = e.Seq
			}
			if len(page) < embeddingPage {
				return
			}
		}
	}
}

// EmbeddingsOf implements [earshot.Embeddings].
func (s *Store) EmbeddingsOf(ctx context.Context, scope earshot.Scope, model string, ids ...earshot.MessageID) ([]earshot.Embedding, error) {
	scope = rule.Scope(scope)
	var out []earshot.Embedding
	err := s.engine.Read(ctx, "read embeddings", func(a Asker) {
		out = nil
		for _, id := range ids {
			a.Ask(embeddings+s.sql.MessagesIn+` AND model = $4 AND message = $5`, Args(scope, model, string(id)), Gather(&out, scanEmbedding))
		}
	})
	return out, err
}

const embeddings = `SELECT message, seq, sum, vector FROM embedding`

func scanEmbedding(row Row, e *earshot.Embedding) error {
	var vector []byte
	if err := row.Scan(&e.ID, &e.Seq, &e.Sum, &vector); err != nil {
		return err
	}
	e.Vector = rule.VectorOf(vector)
	return nil
}
