package earshot

import "context"

// Bounds of a note.
const (
	NoteKeyBytes = 512
	NoteBytes    = 4 << 20
)

// A Note is what an adapter must remember and what belongs to no channel: who
// its bot is, a delivery that it cannot place yet. It is outside of every
// channel, so Erase does not reach it: whoever puts one drops it.
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
