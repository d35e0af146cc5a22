package postgres

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// Blobs implements [tables.Conn]. It locks a channel's blobs against other transactions
// that add or prune some. The channel's shared lock is taken first: a transaction that
// changes messages holds that lock exclusively, and deletes blobs without this one.
func (t *tx) Blobs(s earshot.Scope) {
	t.Write(`SELECT pg_advisory_xact_lock($1)`, t.key("blobs", string(s.Platform), string(s.Workspace), string(s.Channel)))
}

// InsertBlob implements [tables.Conn].
func (t *tx) InsertBlob(scope earshot.Scope, b earshot.Blob, put earshot.Time) {
	t.Write(`INSERT INTO blob (platform, workspace, channel, sha256, type, name, size, put, data) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		tables.Args(scope, b.SHA256, b.Type, b.Name, rule.BlobSize(b), int64(put), tables.Blob(b.Data))...)
}

// DeleteBlobs implements [tables.Conn].
func (t *tx) DeleteBlobs(n *int, which string, args ...any) {
	t.Count(n, `DELETE FROM blob`+in+which, args...)
}

// FileBlob implements [earshot.Blobs].
func (s *Store) FileBlob(ctx context.Context, scope earshot.Scope, id earshot.ArtifactID) (earshot.Blob, error) {
	id = rule.ID(id)
	found, err := tables.List(ctx, s, "read the blob of a file", `SELECT b.sha256, b.type, b.name, b.data
		FROM blob_file f JOIN blob b USING (platform, workspace, channel, sha256)
		WHERE f.platform = $1 AND f.workspace = $2 AND f.channel = $3 AND f.artifact = $4 ORDER BY b.put DESC LIMIT 1`, tables.Args(rule.Scope(scope), string(id)),
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
	return s.ReadBlob(ctx, `SELECT sha256, type, name, data FROM blob`, scope, sha256)
}
