package memory

import (
	"context"
	"maps"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// blobs are a channel's blobs by hash, and the hash of each file's blob.
type blobs struct {
	stored map[string]*blob
	files  map[file]string
}

type blob struct {
	earshot.Blob
	put earshot.Time
}

// A file is one of a message's.
type file struct {
	message earshot.MessageID
	id      earshot.ArtifactID
}

func newBlobs() blobs { return blobs{map[string]*blob{}, map[file]string{}} }

// PutBlob implements [earshot.Blobs].
func (s *Store) PutBlob(ctx context.Context, scope earshot.Scope, of earshot.MessageID, id earshot.ArtifactID, b earshot.Blob) error {
	scope, of, id, b, err := rule.CheckBlob(scope, of, id, b)
	if err != nil {
		return err
	}
	return s.write(ctx, func() error {
		c := s.channels[scope]
		var m *earshot.Message
		if c != nil && c.byID[of] != nil {
			m = &c.byID[of].Message
		}
		if err := rule.MayHold(m, of, id); err != nil {
			return err
		}
		c.blobs.put(file{of, id}, b, s.time())
		return nil
	})
}

func (x *blobs) put(of file, b earshot.Blob, now earshot.Time) {
	if before, ok := x.files[of]; ok && before != b.SHA256 {
		x.drop(func(f file) bool { return f == of })
	}
	x.files[of] = b.SHA256
	var newest earshot.Time
	for _, old := range x.stored {
		newest = max(newest, old.put)
	}
	stored := x.stored[b.SHA256]
	if stored == nil {
		x.makeRoom(rule.BlobSize(b))
		b.Data = slices.Clone(b.Data)
		stored = &blob{Blob: b}
		x.stored[b.SHA256] = stored
	}
	stored.put = rule.BlobTime(now, newest)
}

// makeRoom removes the oldest blobs until another one fits.
func (x *blobs) makeRoom(size int64) {
	total := size
	for _, b := range x.stored {
		total += rule.BlobSize(b.Blob)
	}
	for total > earshot.BlobBytes {
		var oldest *blob
		for _, b := range x.stored {
			if oldest == nil || b.put < oldest.put {
				oldest = b
			}
		}
		x.remove(oldest)
		total -= rule.BlobSize(oldest.Blob)
	}
}

// remove deletes a blob and its links to files.
func (x *blobs) remove(b *blob) {
	delete(x.stored, b.SHA256)
	maps.DeleteFunc(x.files, func(_ file, hash string) bool { return hash == b.SHA256 })
}

// drop deletes the links of files that are gone, and the blobs that no other file is
// linked to.
func (x *blobs) drop(gone func(file) bool) {
	maps.DeleteFunc(x.files, func(f file, _ string) bool { return gone(f) })
	kept := map[string]bool{}
	for _, hash := range x.files {
		kept[hash] = true
	}
	maps.DeleteFunc(x.stored, func(hash string, _ *blob) bool { return !kept[hash] })
}

// revised drops the files that a message had before and does not have after.
func (x *blobs) revised(before, after earshot.Message) {
	if len(x.files) == 0 {
		return
	}
	lost := rule.DroppedFiles(before, after)
	if len(lost) > 0 {
		x.drop(func(f file) bool { return f.message == after.ID && slices.Contains(lost, f.id) })
	}
}

// prune removes blobs whose last PutBlob was before a time.
func (x *blobs) prune(before earshot.Time) {
	for _, b := range x.stored {
		if b.put < before {
			x.remove(b)
		}
	}
}

// FileBlob implements [earshot.Blobs].
func (s *Store) FileBlob(ctx context.Context, scope earshot.Scope, id earshot.ArtifactID) (earshot.Blob, error) {
	id = rule.ID(id)
	var found *blob
	err := s.read(ctx, func() error {
		if c := s.channels[rule.Scope(scope)]; c != nil {
			for f, hash := range c.blobs.files {
				if b := c.blobs.stored[hash]; f.id == id && b != nil && (found == nil || b.put > found.put) {
					found = b
				}
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return earshot.Blob{}, err
	case found == nil:
		return earshot.Blob{}, rule.NoFileBlob(id)
	}
	out := found.Blob
	out.Data = slices.Clone(out.Data)
	return out, nil
}

// Blob implements [earshot.Blobs].
func (s *Store) Blob(ctx context.Context, scope earshot.Scope, sha256 string) (earshot.Blob, error) {
	hash := rule.ID(sha256)
	var out earshot.Blob
	err := s.read(ctx, func() error {
		c := s.channels[rule.Scope(scope)]
		if c == nil || c.blobs.stored[hash] == nil {
			return rule.NoBlob(hash)
		}
		out = c.blobs.stored[hash].Blob
		out.Data = slices.Clone(out.Data)
		return nil
	})
	return out, err
}
