package tables

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// PutNote implements [earshot.Notes].
func (s *Store) PutNote(ctx context.Context, n earshot.Note) error {
	n, err := rule.CheckNote(n)
	if err != nil {
		return err
	}
	return s.write(ctx, "put note", `INSERT INTO note (key, data) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET data = excluded.data`, n.Key, n.Data)
}

// Notes implements [earshot.Notes].
func (s *Store) Notes(ctx context.Context, prefix string, limit int) ([]earshot.Note, error) {
	return List(ctx, s.engine, "list notes", `SELECT key, data FROM note WHERE key >= $1 AND key < $2 ORDER BY key LIMIT $3`,
		[]any{prefix, rule.NotesEnd(prefix), limitParam(limit)},
		func(row Row, n *earshot.Note) error { return row.Scan(&n.Key, &n.Data) })
}

// DropNote implements [earshot.Notes].
func (s *Store) DropNote(ctx context.Context, key string) error {
	return s.write(ctx, "drop note", `DELETE FROM note WHERE key = $1`, key)
}

// write runs one statement in a transaction of its own.
func (s *Store) write(ctx context.Context, what, query string, args ...any) error {
	return s.engine.Apply(ctx, what, func(_ context.Context, t *Tx) error {
		t.Write(query, args...)
		return nil
	})
}
