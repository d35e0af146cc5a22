package tables

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// PutBlob implements [earshot.Blobs]. The bytes are written only when they are not
// stored.
func (s *Store) PutBlob(ctx context.Context, scope earshot.Scope, of earshot.MessageID, id earshot.ArtifactID, b earshot.Blob) error {
	scope, of, id, b, err := rule.CheckBlob(scope, of, id, b)
	if err != nil {
		return err
	}
	return s.engine.Apply(ctx, "put a blob", func(ctx context.Context, t *Tx) error {
		var found []earshot.Message
		t.Shared(scope)
		t.Blobs(scope)
		t.askMessages("message", scope, []earshot.MessageID{of}, &found)
		if err := t.Send(ctx); err != nil {
			return err
		}
		var m *earshot.Message
		if len(found) > 0 {
			m = &found[0]
		}
		if err := rule.MayHold(m, of, id); err != nil {
			return err
		}
		if err := t.linkFile(ctx, scope, of, id, b.SHA256); err != nil {
			return err
		}
		if err := t.storeBlob(ctx, scope, b); err != nil {
			return err
		}
		// Apart from COMMIT: to encode many bytes can take a busy machine longer than
		// the server lets a transaction be idle.
		return t.Send(ctx)
	})
}

const ofFile = In + ` AND message = $4 AND artifact = $5`

// linkFile links a file to a blob. The blob that it was linked to before is
// deleted, unless another file is linked to it too.
func (t *Tx) linkFile(ctx context.Context, s earshot.Scope, of earshot.MessageID, id earshot.ArtifactID, hash string) error {
	a := Args(s, string(of), string(id))
	var before string
	t.Ask(`SELECT sha256 FROM blob_file`+ofFile, a, ScanOne(new(bool), &before))
	if err := t.Send(ctx); err != nil || before == hash {
		return err
	}
	if before != "" {
		t.Write(`DELETE FROM blob_file`+ofFile, a...)
		if err := t.dropUnlinked(ctx, s, []string{before}); err != nil {
			return err
		}
	}
	t.Write(`INSERT INTO blob_file (platform, workspace, channel, message, artifact, sha256) VALUES ($1, $2, $3, $4, $5, $6)`, append(a, hash)...)
	return nil
}

// storeBlob stores a blob, for which the oldest of the channel make room, or makes the
// stored one the newest.
func (t *Tx) storeBlob(ctx context.Context, s earshot.Scope, b earshot.Blob) error {
	var put, newest earshot.Time
	var total int64
	stored := false
	t.Ask(`SELECT put FROM blob`+In+` AND sha256 = $4`, Args(s, b.SHA256), ScanOne(&stored, &put))
	t.Ask(`SELECT coalesce(max(put), 0), CAST(coalesce(sum(size), 0) AS bigint) FROM blob`+In, Args(s), ScanOne(new(bool), &newest, &total))
	if err := t.Send(ctx); err != nil || stored && put == newest {
		return err
	}
	next := rule.BlobTime(t.now(), newest)
	if stored {
		t.Write(`UPDATE blob SET put = $5`+In+` AND sha256 = $4`, Args(s, b.SHA256, int64(next))...)
		return nil
	}
	for total += rule.BlobSize(b); total > earshot.BlobBytes; {
		var old []string
		t.Ask(`SELECT sha256, size FROM blob`+In+` ORDER BY put LIMIT 100`, Args(s), func(row Row) error {
			if total <= earshot.BlobBytes {
				return nil
			}
			var hash string
			var size int64
			err := row.Scan(&hash, &size)
			old, total = append(old, hash), total-size
			return err
		})
		if err := t.Send(ctx); err != nil {
			return err
		}
		t.removeBlobs(s, old)
	}
	t.InsertBlob(s, b, next)
	return nil
}

// removeBlobs queues the deletion of blobs and of their links to files.
func (t *Tx) removeBlobs(s earshot.Scope, hashes []string) {
	which := ` AND ` + t.SQL.Any(`sha256`, 4)
	a := Args(s, t.SQL.List(hashes))
	t.DeleteBlobs(new(int), which, a...)
	t.Write(`DELETE FROM blob_file`+In+which, a...)
}

// dropUnlinked deletes those of the blobs that no file is linked to.
func (t *Tx) dropUnlinked(ctx context.Context, s earshot.Scope, hashes []string) error {
	if len(hashes) == 0 {
		return nil
	}
	n := 0
	t.DeleteBlobs(&n, ` AND `+t.SQL.Any(`sha256`, 4)+` AND NOT EXISTS (SELECT 1 FROM blob_file`+In+` AND sha256 = blob.sha256)`, Args(s, t.SQL.List(hashes))...)
	err := t.Send(ctx)
	if t.Tally.Files += n; n > 0 {
		t.Erased()
	}
	return err
}

// DropFiles deletes the blobs of deleted messages (gone) and of files that messages
// have lost, unless other files are linked to them too. The channel is locked
// exclusively.
func (t *Tx) DropFiles(ctx context.Context, s earshot.Scope, gone []earshot.Message, lost []rule.Drop) error {
	if len(gone)+len(lost) == 0 {
		return nil
	}
	var hashes []string
	drop := func(which string, a ...any) {
		t.Ask(`DELETE FROM blob_file`+In+which+` RETURNING sha256`, Args(s, a...), Gather(&hashes, Scan[string]))
	}
	for _, m := range gone {
		drop(` AND message = $4`, string(m.ID))
	}
	for _, d := range lost {
		drop(` AND message = $4 AND `+t.SQL.Any(`artifact`, 5), string(d.Message), t.SQL.List(Texts(d.Files)))
	}
	if err := t.Send(ctx); err != nil {
		return err
	}
	return t.dropUnlinked(ctx, s, hashes)
}

// prunedBlobs is how many blobs one transaction deletes. A blob may have megabytes.
const prunedBlobs = 10

// pruneBlobs removes blobs whose last PutBlob was before a time.
func (s *Store) pruneBlobs(ctx context.Context, before earshot.Time) error {
	for {
		old, err := List(ctx, s.engine, "prune blobs", `SELECT platform, workspace, channel FROM blob WHERE put < $1 ORDER BY put LIMIT 1`, []any{int64(before)},
			func(row Row, scope *earshot.Scope) error {
				return row.Scan(&scope.Platform, &scope.Workspace, &scope.Channel)
			})
		if err != nil || len(old) == 0 {
			return err
		}
		err = s.engine.Apply(ctx, "prune blobs", func(ctx context.Context, t *Tx) error {
			var hashes []string
			t.Shared(old[0])
			t.Blobs(old[0])
			t.Ask(`SELECT sha256 FROM blob`+In+` AND put < $4 ORDER BY put LIMIT $5 + 0`, Args(old[0], int64(before), prunedBlobs), Gather(&hashes, Scan[string]))
			if err := t.Send(ctx); err != nil {
				return err
			}
			t.removeBlobs(old[0], hashes)
			t.Erased()
			return nil
		})
		if err != nil {
			return err
		}
	}
}

// ReadBlob reads a blob by an engine's query for its hash, type, name and bytes.
func (s *Store) ReadBlob(ctx context.Context, query string, scope earshot.Scope, sha256 string) (earshot.Blob, error) {
	hash := rule.ID(sha256)
	return readFirst(ctx, s.engine, "read a blob", query+In+` AND sha256 = $4`, Args(rule.Scope(scope), hash), rule.NoBlob(hash),
		func(row Row, b *earshot.Blob) error { return row.Scan(&b.SHA256, &b.Type, &b.Name, &b.Data) })
}
