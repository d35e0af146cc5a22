package earshot

import "context"

// A Blob is the content of a file as models are given it: scaled, or as text.
type Blob struct {
	SHA256 string // of the file's bytes as they were shared, lower-case hex
	Type   string // media type of Data
	Name   string
	Data   []byte
}

// BlobBytes is how much a channel keeps of its files, in bytes of [Blob.Data]. A
// blob counts as at least 4 KiB.
const BlobBytes = 64 << 20

// Blobs stores files as models were given them, so that a later prompt of the same
// epoch has the same bytes. Each channel keeps at most BlobBytes: the blobs that
// were put longest ago are deleted first. Putting a blob again is cheap and makes
// it the newest; reading it does not, so that a read never writes.
//
// A blob is kept for the messages it was put for. It is deleted when the last of
// them is deleted or loses the file in a newer revision, when its channel is
// erased, and by PruneTurns when its last PutBlob is too old.
type Blobs interface {
	// PutBlob stores the content of one file of a message. If a blob with this hash
	// is stored already, its bytes stay, because prompts contain them, and it is
	// kept for this message too. ErrNotFound when the message is not stored, is
	// deleted, or has no such file; ErrInvalid without a hash or a file id, or for
	// more than BlobBytes.
	PutBlob(ctx context.Context, s Scope, of MessageID, id ArtifactID, b Blob) error
	// Blob returns the blob with this hash, or ErrNotFound.
	Blob(ctx context.Context, s Scope, sha256 string) (Blob, error)
	// FileBlob returns the blob of a file, whichever message it was put for; of
	// several the one put last. ErrNotFound where there is none.
	FileBlob(ctx context.Context, s Scope, id ArtifactID) (Blob, error)
}
