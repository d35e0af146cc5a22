package rule

import (
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
)

// minBlob is the least that a blob counts as, in bytes, which bounds how many
// blobs a channel has to some ten thousand.
const minBlob = 4 << 10

// BlobSize is how much of [earshot.BlobBytes] a blob takes.
func BlobSize(b earshot.Blob) int64 {
	return max(int64(len(b.Data)), minBlob)
}

// BlobTime returns the time under which a blob is put: now, or one microsecond
// after the channel's newest put if that is later (clocks may differ).
func BlobTime(now, newest earshot.Time) earshot.Time { return max(now, newest+1) }

// CheckBlob returns what PutBlob is given as it is stored. Data is the caller's.
func CheckBlob(s earshot.Scope, of earshot.MessageID, id earshot.ArtifactID, b earshot.Blob) (earshot.Scope, earshot.MessageID, earshot.ArtifactID, earshot.Blob, error) {
	s, of, id = Scope(s), text(of), text(id)
	b.SHA256, b.Type, b.Name = Text(b.SHA256), Text(b.Type), Text(b.Name)
	var err error
	switch {
	case b.SHA256 == "":
		err = fmt.Errorf("%w: the blob has no hash", earshot.ErrInvalid)
	case id == "":
		err = fmt.Errorf("%w: the blob's file has no id", earshot.ErrInvalid)
	case len(b.SHA256) > MaxID:
		err = tooLong("hash", len(b.SHA256))
	case len(id) > MaxID:
		err = tooLong("the file's id", len(id))
	case BlobSize(b) > earshot.BlobBytes:
		err = fmt.Errorf("%w: the blob has %d bytes, a channel keeps %d", earshot.ErrInvalid, len(b.Data), int64(earshot.BlobBytes))
	}
	return s, of, id, b, err
}

// MayHold returns [earshot.ErrNotFound] unless m, which is nil where the message
// is not stored, has the file.
func MayHold(m *earshot.Message, of earshot.MessageID, id earshot.ArtifactID) error {
	if m == nil || m.Deleted {
		return NoMessage(of)
	}
	if !slices.ContainsFunc(m.Files, func(f earshot.File) bool { return f.ID == id }) {
		return fmt.Errorf("file %q of message %q: %w", id, of, earshot.ErrNotFound)
	}
	return nil
}

// DroppedFiles returns the files that before has and after does not.
func DroppedFiles(before, after earshot.Message) []earshot.ArtifactID {
	var out []earshot.ArtifactID
	for _, f := range before.Files {
		if !slices.ContainsFunc(after.Files, func(g earshot.File) bool { return g.ID == f.ID }) {
			out = append(out, f.ID)
		}
	}
	return out
}

// A Drop names files that a newer copy of a message does not have.
type Drop struct {
	Message earshot.MessageID
	Files   []earshot.ArtifactID
}

// Drops are the files that stored messages have lost, deleted messages left out.
func (b *Batch) Drops() []Drop {
	var out []Drop
	for _, e := range b.order {
		if e.before == nil || e.before.Deleted || e.after.Deleted {
			continue
		}
		if files := DroppedFiles(e.before.Message, e.after.Message); len(files) > 0 {
			out = append(out, Drop{e.after.ID, files})
		}
	}
	return out
}
