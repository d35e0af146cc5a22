package sqlite

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// The bytes of a blob are in a table of their own, so that its other columns are read
// without them.

// Blobs implements [tables.Conn]: the writer is alone.
func (t *tx) Blobs(earshot.Scope) {}

// InsertBlob implements [tables.Conn].
func (t *tx) InsertBlob(scope earshot.Scope, b earshot.Blob, put earshot.Time) {
	var id int64
	t.Ask(`INSERT INTO blob (platform, workspace, channel, sha256, type, name, size, put) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id`,
		tables.Args(scope, b.SHA256, b.Type, b.Name, rule.BlobSize(b), int64(put)), tables.ScanOne(new(bool), &id))
	t.Write(`INSERT INTO blob_data (id, data) VALUES ($1, $2)`, id, tables.Blob(b.Data))
}

// DeleteBlobs implements [tables.Conn].
func (t *tx) DeleteBlobs(n *int, which string, args ...any) {
	t.Write(`DELETE FROM blob_data WHERE id IN (SELECT id FROM blob`+tables.In+which+`)`, args...)
	t.Count(n, `DELETE FROM blob`+tables.In+which, args...)
}

// FileBlob implements [earshot.Blobs].
func (s *Store) FileBlob(ctx context.Context, scope earshot.Scope, id earshot.ArtifactID) (earshot.Blob, error) {
	id = rule.ID(id)
	found, err := tables.List(ctx, s, "read the blob of a file", `SELECT b.sha256, b.type, b.name, d.data
		FROM blob_file f JOIN blob b USING (platform, workspace, channel, sha256) JOIN blob_data d ON d.id = b.id
		WHERE f.platform = ? AND f.workspace = ? AND f.channel = ? AND f.artifact = ? ORDER BY b.put DESC LIMIT 1`, tables.Args(rule.Scope(scope), string(id)),
		func(rows tables.Row, b *earshot.Blob) error { return rows.Scan(&b.SHA256, &b.Type, &b.Name, &b.Data) })
	if err != nil {
		return earshot.Blob{}, err
	}
	if len(found) == 0 {
		return earshot.Blob{}, rule.NoFileBlob(id)
	}
	return found[0], nil
}

// Blob implements [earshot.Blobs].
func (s *Store) Blob(ctx context.Context, scope earshot.Scope, sha256 string) (earshot.Blob, error) {
	return s.ReadBlob(ctx, `SELECT sha256, type, name, data FROM blob JOIN blob_data USING (id)`, scope, sha256)
}
