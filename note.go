package earshot

import "context"

// Bounds of a note.
const (
	NoteKeyBytes = 512
	NoteBytes    = 4 << 20
)

// A Note is something that an adapter must remember and that belongs to no channel,
// such as who its bot is, or a delivery whose channel is not known yet. Erase does
// not reach notes: whoever puts one must drop it. EraseWorkspace drops those whose keys
// name the workspace.
type Note struct {
	Key  string // printable ASCII without spaces and ~, at most NoteKeyBytes
	Data []byte // at most NoteBytes
}

// Notes keeps notes by key.
type Notes interface {
	// PutNote stores a note, or replaces the one with its key. ErrInvalid when
	// its key or its data breaks a bound.
	PutNote(ctx context.Context, n Note) error
	// Notes returns the notes whose keys begin with prefix, by key, at most limit
	// (0: all).
	Notes(ctx context.Context, prefix string, limit int) ([]Note, error)
	// DropNote removes a note. One that is not stored is no error.
	DropNote(ctx context.Context, key string) error
}
