package postgres

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// blobs locks a channel's blobs against other transactions that add or prune some.
// The channel's shared lock is taken first: a transaction that changes messages
// holds that lock exclusively, and deletes blobs without this one.
func (t *tx) blobs(s earshot.Scope) {
	t.Write(`SELECT pg_advisory_xact_lock($1)`, t.key("blobs", string(s.Platform), string(s.Workspace), string(s.Channel)))
}

// PutBlob implements [earshot.Blobs]. The bytes are sent only when they are not
// stored.
func (s *Store) PutBlob(ctx context.Context, scope earshot.Scope, of earshot.MessageID, id earshot.ArtifactID, b earshot.Blob) error {
	scope, of, id, b, err := rule.CheckBlob(scope, of, id, b)
	if err != nil {
		return err
	}
	return s.apply(ctx, "put a blob", func(ctx context.Context, t *tx) error {
		p := blobPut{scope: scope, of: of, id: id, blob: b}
		p.ask(t)
		if err := t.Send(ctx); err != nil {
			return err
		}
		if err := p.write(t, earshot.TimeOf(s.now())); err != nil {
			return err
		}
		// Apart from COMMIT: to encode many bytes can take a busy machine longer than
		// the server lets a transaction be idle.
		return t.Send(ctx)
	})
}

// A blobPut is a call of PutBlob with what it found.
type blobPut struct {
	scope earshot.Scope
	of    earshot.MessageID
	id    earshot.ArtifactID
	blob  earshot.Blob

	message []earshot.Message // the message, if it is stored
	before  string            // the hash of the file's present blob
	had     bool              // the file has one
	put     earshot.Time      // when the same blob was put
	stored  bool              // the same blob is stored
	newest  earshot.Time      // the channel's newest put
	total   int64             // the size of all its blobs
}

const ofFile = in + ` AND message = $4 AND artifact = $5`

func (p *blobPut) ask(t *tx) {
	t.Shared(p.scope)
	t.blobs(p.scope)
	t.AskMessages("message", p.scope, []earshot.MessageID{p.of}, &p.message)
	t.Ask(`SELECT sha256 FROM blob_file`+ofFile, tables.Args(p.scope, string(p.of), string(p.id)), tables.One(&p.had, &p.before))
	t.Ask(`SELECT put FROM blob`+in+` AND sha256 = $4`, tables.Args(p.scope, p.blob.SHA256), tables.One(&p.stored, &p.put))
	t.Ask(`SELECT coalesce(max(put), 0), coalesce(sum(size), 0)::bigint FROM blob`+in, tables.Args(p.scope), tables.One(new(bool), &p.newest, &p.total))
}

func (p *blobPut) write(t *tx, now earshot.Time) error {
	var m *earshot.Message
	if len(p.message) > 0 {
		m = &p.message[0]
	}
	if err := rule.MayHold(m, p.of, p.id); err != nil {
		return err
	}
	if p.had && p.before != p.blob.SHA256 {
		t.dropFiles(p.scope, `message = $4 AND artifact = $5`, string(p.of), string(p.id))
	}
	if !p.had || p.before != p.blob.SHA256 {
		t.Write(`INSERT INTO blob_file (platform, workspace, channel, message, artifact, sha256) VALUES ($1, $2, $3, $4, $5, $6)`,
			tables.Args(p.scope, string(p.of), string(p.id), p.blob.SHA256)...)
	}
	put := int64(rule.BlobTime(now, p.newest))
	switch {
	case p.stored && p.put == p.newest:
		return nil
	case p.stored:
		t.Write(`UPDATE blob SET put = $5`+in+` AND sha256 = $4`, tables.Args(p.scope, p.blob.SHA256, put)...)
		return nil
	}
	size := rule.BlobSize(p.blob)
	if p.total+size > earshot.BlobBytes {
		// Keep the newest blobs that fit beside the new one.
		t.removeBlobs(p.scope, `sha256 = ANY(ARRAY(SELECT sha256 FROM (SELECT sha256, sum(size) OVER (ORDER BY put DESC) AS kept
			FROM blob`+in+`) AS b WHERE kept > $4::bigint))`, earshot.BlobBytes-size)
	}
	data := p.blob.Data
	if data == nil {
		data = []byte{}
	}
	t.Write(`INSERT INTO blob (platform, workspace, channel, sha256, type, name, size, put, data) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		tables.Args(p.scope, p.blob.SHA256, p.blob.Type, p.blob.Name, size, put, data)...)
	return nil
}

// removeBlobs queues the deletion of blobs and of their links to files. The
// parameters of which begin at $4.
func (t *tx) removeBlobs(scope earshot.Scope, which string, a ...any) {
	t.Write(`WITH gone AS (DELETE FROM blob`+in+` AND `+which+` RETURNING sha256)
		DELETE FROM blob_file`+in+` AND sha256 = ANY(ARRAY(SELECT sha256 FROM gone))`, tables.Args(scope, a...)...)
}

// dropFiles queues the deletion of files' links to blobs, and of the blobs that no
// other file is linked to. The parameters of which begin at $4. Within one
// statement the second DELETE still sees the rows that the first one deletes, so
// it excludes them.
func (t *tx) dropFiles(scope earshot.Scope, which string, a ...any) {
	t.Count(&t.Tally.Files, `WITH gone AS (DELETE FROM blob_file`+in+` AND `+which+` RETURNING message, artifact, sha256)
		DELETE FROM blob b WHERE platform = $1 AND workspace = $2 AND channel = $3 AND sha256 = ANY(ARRAY(SELECT sha256 FROM gone))
		AND NOT EXISTS (SELECT 1 FROM blob_file f WHERE f.platform = $1 AND f.workspace = $2 AND f.channel = $3 AND f.sha256 = b.sha256
			AND NOT EXISTS (SELECT 1 FROM gone g WHERE g.message = f.message AND g.artifact = f.artifact))`, tables.Args(scope, a...)...)
}

// dropOf queues the deletion of the blobs of deleted messages (gone) and of files
// that messages have lost. The channel must be locked exclusively.
func (t *tx) dropOf(scope earshot.Scope, gone []earshot.Message, lost []rule.Drop) {
	if len(gone) > 0 {
		t.dropFiles(scope, `message = ANY($4)`, idsOf(gone))
	}
	for _, d := range lost {
		t.dropFiles(scope, `message = $4 AND artifact = ANY($5)`, string(d.Message), tables.Texts(d.Files))
	}
}

// PruneBlobs implements [tables.Engine].
func (s *Store) PruneBlobs(ctx context.Context, before earshot.Time) error {
	for {
		old, err := tables.List(ctx, s, "prune blobs", `SELECT platform, workspace, channel FROM blob WHERE put < $1 ORDER BY put LIMIT 1`, []any{int64(before)},
			func(rows tables.Row, scope *earshot.Scope) error {
				return rows.Scan(&scope.Platform, &scope.Workspace, &scope.Channel)
			})
		if err != nil || len(old) == 0 {
			return err
		}
		err = s.apply(ctx, "prune blobs", func(_ context.Context, t *tx) error {
			t.Shared(old[0])
			t.blobs(old[0])
			t.removeBlobs(old[0], `put < $4`, int64(before))
			return nil
		})
		if err != nil {
			return err
		}
	}
}

// Blob implements [earshot.Blobs].
func (s *Store) Blob(ctx context.Context, scope earshot.Scope, sha256 string) (earshot.Blob, error) {
	hash := rule.ID(sha256)
	found, err := tables.List(ctx, s, "read a blob", `SELECT sha256, type, name, data FROM blob`+in+` AND sha256 = $4`, tables.Args(rule.Scope(scope), hash),
		func(rows tables.Row, b *earshot.Blob) error { return rows.Scan(&b.SHA256, &b.Type, &b.Name, &b.Data) })
	if err != nil {
		return earshot.Blob{}, err
	}
	if len(found) == 0 {
		return earshot.Blob{}, rule.NoBlob(hash)
	}
	return found[0], nil
}
