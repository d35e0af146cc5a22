package sqlite

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// PutBlob implements [earshot.Blobs].
func (s *Store) PutBlob(ctx context.Context, scope earshot.Scope, of earshot.MessageID, id earshot.ArtifactID, b earshot.Blob) error {
	scope, of, id, b, err := rule.CheckBlob(scope, of, id, b)
	if err != nil {
		return err
	}
	return s.apply(ctx, "put a blob", func(t *tx) error {
		var found []earshot.Message
		t.AskMessages("message", scope, []earshot.MessageID{of}, &found)
		if err := t.did(nil); err != nil {
			return err
		}
		var m *earshot.Message
		if len(found) > 0 {
			m = &found[0]
		}
		if err := rule.MayHold(m, of, id); err != nil {
			return err
		}
		if err := t.putBlobFile(scope, of, id, b.SHA256); err != nil {
			return err
		}
		return t.putBlob(scope, b, earshot.TimeOf(s.now()))
	})
}

// putBlobFile links a file to a blob. The blob that it was linked to before is
// deleted, unless another file is linked to it too.
func (t *tx) putBlobFile(scope earshot.Scope, of earshot.MessageID, id earshot.ArtifactID, hash string) error {
	const query = ` FROM blob_file` + in + ` AND message = ? AND artifact = ?`
	a := tables.Args(scope, string(of), string(id))
	var before string
	known, err := t.one(`SELECT sha256`+query, a, []any{&before})
	if err != nil || known && before == hash {
		return err
	}
	if known {
		if err := t.exec(`DELETE`+query, a...); err != nil {
			return err
		}
		if _, err := t.dropBlob(scope, before); err != nil {
			return err
		}
	}
	return t.exec(`INSERT INTO blob_file (platform, workspace, channel, message, artifact, sha256) VALUES `+marks(6, 1), append(a, hash)...)
}

// putBlob stores a blob, or makes the stored one the newest of its channel.
func (t *tx) putBlob(scope earshot.Scope, b earshot.Blob, now earshot.Time) error {
	var newest earshot.Time
	if _, err := t.one(`SELECT put FROM blob`+in+` ORDER BY put DESC LIMIT 1`, tables.Args(scope), []any{&newest}); err != nil {
		return err
	}
	var id int64
	var put earshot.Time
	known, err := t.one(`SELECT id, put FROM blob`+in+` AND sha256 = ?`, tables.Args(scope, b.SHA256), []any{&id, &put})
	if err != nil {
		return err
	}
	next := int64(rule.BlobTime(now, newest))
	switch {
	case known && put == newest:
		return nil
	case known:
		return t.exec(`UPDATE blob SET put = ? WHERE id = ?`, next, id)
	}
	if err := t.makeRoom(scope, rule.BlobSize(b)); err != nil {
		return err
	}
	_, err = t.one(`INSERT INTO blob (platform, workspace, channel, sha256, type, name, size, put) VALUES `+marks(8, 1)+` RETURNING id`,
		tables.Args(scope, b.SHA256, b.Type, b.Name, rule.BlobSize(b), next), []any{&id})
	if err != nil {
		return err
	}
	return t.exec(`INSERT INTO blob_data (id, data) VALUES (?, ?)`, id, tables.Blob(b.Data))
}

// makeRoom removes the oldest blobs of a channel until another one fits.
func (t *tx) makeRoom(scope earshot.Scope, size int64) error {
	var total int64
	if _, err := t.one(`SELECT coalesce(sum(size), 0) FROM blob`+in, tables.Args(scope), []any{&total}); err != nil {
		return err
	}
	for total += size; total > earshot.BlobBytes; {
		var hash string
		var size int64
		if _, err := t.one(`SELECT sha256, size FROM blob`+in+` ORDER BY put LIMIT 1`, tables.Args(scope), []any{&hash, &size}); err != nil {
			return err
		}
		if err := t.removeBlob(scope, hash); err != nil {
			return err
		}
		total -= size
	}
	return nil
}

// removeBlob deletes a blob and its links to files.
func (t *tx) removeBlob(scope earshot.Scope, hash string) error {
	if err := t.exec(`DELETE FROM blob_file`+in+` AND sha256 = ?`, tables.Args(scope, hash)...); err != nil {
		return err
	}
	_, err := t.dropBlob(scope, hash)
	return err
}

// dropBlob deletes a blob unless a file is linked to it, and reports whether it did.
func (t *tx) dropBlob(scope earshot.Scope, hash string) (bool, error) {
	var id int64
	gone, err := t.one(`DELETE FROM blob`+in+` AND sha256 = ?
		AND NOT EXISTS (SELECT 1 FROM blob_file`+in+` AND sha256 = ?) RETURNING id`, append(tables.Args(scope, hash), tables.Args(scope, hash)...), []any{&id})
	if err != nil || !gone {
		return false, err
	}
	t.Tally.Files++
	return true, t.exec(`DELETE FROM blob_data WHERE id = ?`, id)
}

// dropFiles deletes the blobs of deleted messages (gone) and of files that messages
// have lost, unless other files are linked to them too.
func (t *tx) dropFiles(scope earshot.Scope, gone []earshot.Message, lost []rule.Drop) error {
	for _, m := range gone {
		if err := t.dropFile(scope, ` AND message = ?`, string(m.ID)); err != nil {
			return err
		}
	}
	for _, d := range lost {
		for _, id := range d.Files {
			if err := t.dropFile(scope, ` AND message = ? AND artifact = ?`, string(d.Message), string(id)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *tx) dropFile(scope earshot.Scope, which string, a ...any) error {
	hashes, err := all(t, `DELETE FROM blob_file`+in+which+` RETURNING sha256`, tables.Args(scope, a...),
		func(rows tables.Row, hash *string) error { return rows.Scan(hash) })
	if err != nil {
		return err
	}
	for _, hash := range hashes {
		gone, err := t.dropBlob(scope, hash)
		if err == nil && gone {
			err = t.needScrub()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eraseBlobs removes all blobs of a channel.
func (t *tx) eraseBlobs(scope earshot.Scope) error {
	for _, query := range []string{
		`DELETE FROM blob_data WHERE id IN (SELECT id FROM blob` + in + `)`, `DELETE FROM blob` + in, `DELETE FROM blob_file` + in,
	} {
		if err := t.exec(query, tables.Args(scope)...); err != nil {
			return err
		}
	}
	return nil
}

// prunedBlobs is how many blobs one transaction deletes. A blob may have megabytes.
const prunedBlobs = 10

// PruneBlobs implements [tables.Engine].
func (s *Store) PruneBlobs(ctx context.Context, before earshot.Time) error {
	type row struct {
		scope earshot.Scope
		hash  string
	}
	for n := prunedBlobs; n == prunedBlobs; {
		err := s.apply(ctx, "prune blobs", func(t *tx) error {
			old, err := all(t, `SELECT platform, workspace, channel, sha256 FROM blob WHERE put < ? ORDER BY put LIMIT ?`, []any{int64(before), prunedBlobs},
				func(rows tables.Row, r *row) error {
					return rows.Scan(&r.scope.Platform, &r.scope.Workspace, &r.scope.Channel, &r.hash)
				})
			if err != nil {
				return err
			}
			n = len(old)
			for _, r := range old {
				if err := t.removeBlob(r.scope, r.hash); err != nil {
					return err
				}
			}
			if n == 0 {
				return nil
			}
			return t.needScrub()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Blob implements [earshot.Blobs].
func (s *Store) Blob(ctx context.Context, scope earshot.Scope, sha256 string) (earshot.Blob, error) {
	hash := rule.ID(sha256)
	found, err := tables.List(ctx, s, "read a blob", `SELECT b.sha256, b.type, b.name, d.data FROM blob b JOIN blob_data d ON d.id = b.id
		WHERE b.platform = ? AND b.workspace = ? AND b.channel = ? AND b.sha256 = ?`, tables.Args(rule.Scope(scope), hash),
		func(rows tables.Row, b *earshot.Blob) error { return rows.Scan(&b.SHA256, &b.Type, &b.Name, &b.Data) })
	if err != nil {
		return earshot.Blob{}, err
	}
	if len(found) == 0 {
		return earshot.Blob{}, rule.NoBlob(hash)
	}
	return found[0], nil
}
