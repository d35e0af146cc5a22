package postgres

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/jackc/pgx/v5"
)

// PutNote implements [earshot.Notes].
func (s *Store) PutNote(ctx context.Context, n earshot.Note) error {
	n, err := rule.CheckNote(n)
	if err != nil {
		return err
	}
	return s.apply(ctx, "put note", func(_ context.Context, t *tx) error {
		t.write(`INSERT INTO note (key, data) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET data = excluded.data`, n.Key, n.Data)
		return nil
	})
}

// Notes implements [earshot.Notes].
func (s *Store) Notes(ctx context.Context, prefix string, limit int) ([]earshot.Note, error) {
	most := &limit
	if limit <= 0 {
		most = nil // LIMIT NULL is none
	}
	return list(ctx, s, "list notes", `SELECT key, data FROM note WHERE key >= $1 AND key < $2 ORDER BY key LIMIT $3`,
		[]any{prefix, rule.NotesEnd(prefix), most},
		func(rows pgx.Rows, n *earshot.Note) error { return rows.Scan(&n.Key, &n.Data) })
}

// DropNote implements [earshot.Notes].
func (s *Store) DropNote(ctx context.Context, key string) error {
	return s.apply(ctx, "drop note", func(_ context.Context, t *tx) error {
		t.write(`DELETE FROM note WHERE key = $1`, key)
		return nil
	})
}
