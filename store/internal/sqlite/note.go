package sqlite

import (
	"context"
	"database/sql"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// PutNote implements [earshot.Notes].
func (s *Store) PutNote(ctx context.Context, n earshot.Note) error {
	n, err := rule.CheckNote(n)
	if err != nil {
		return err
	}
	return s.apply(ctx, "put note", func(t *tx) error {
		return t.exec(`INSERT INTO note (key, data) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET data = excluded.data`, n.Key, n.Data)
	})
}

// Notes implements [earshot.Notes].
func (s *Store) Notes(ctx context.Context, prefix string, limit int) ([]earshot.Note, error) {
	if limit <= 0 {
		limit = -1
	}
	return list(ctx, s, "list notes", `SELECT key, data FROM note WHERE key >= ? AND key < ? ORDER BY key LIMIT ?`,
		[]any{prefix, rule.NotesEnd(prefix), limit},
		func(rows *sql.Rows, n *earshot.Note) error { return rows.Scan(&n.Key, &n.Data) })
}

// DropNote implements [earshot.Notes].
func (s *Store) DropNote(ctx context.Context, key string) error {
	return s.apply(ctx, "drop note", func(t *tx) error { return t.exec(`DELETE FROM note WHERE key = ?`, key) })
}
