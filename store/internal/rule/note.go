package rule

import (
	"fmt"
	"strings"

	"github.com/earshot-ai/earshot"
)

// CheckNote reports whether a note can be stored. Its data is never nil
// afterwards.
func CheckNote(n earshot.Note) (earshot.Note, error) {
	if n.Key == "" || len(n.Key) > earshot.NoteKeyBytes || strings.ContainsFunc(n.Key, func(r rune) bool { return r <= ' ' || r >= '~' }) {
		return n, fmt.Errorf("%w: the key of a note is 1 to %d printable ASCII characters without spaces and ~", earshot.ErrInvalid, earshot.NoteKeyBytes)
	}
	if len(n.Data) > earshot.NoteBytes {
		return n, fmt.Errorf("%w: note %s has more than %d bytes", earshot.ErrInvalid, n.Key, earshot.NoteBytes)
	}
	if n.Data == nil {
		n.Data = []byte{}
	}
	return n, nil
}

// NotesEnd returns the upper bound, exclusive, of the keys that begin with
// prefix.
func NotesEnd(prefix string) string { return prefix + "~" }
