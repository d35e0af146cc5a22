package earshot

import (
	"context"
	"iter"
)

// A Place is where a text was found in a store.
type Place struct {
	Table  string // "" for raw bytes of a file
	Column string
	Row    string // the row's key, for people; of a file its name and the byte's offset
}

// A Locator looks through everything that a store holds, for the proof that
// nothing is left of what was erased.
type Locator interface {
	// Locate yields the places that contain text, with upper and lower case: as it
	// stands, as Slack writes &, < and >, and as either is spelled in a JSON string, or
	// in one within another. JSON strings are compared decoded, so that each spelling
	// of a character is found.
	// It reads every column of every table by the database's catalogue, and of a
	// SQLite store the raw bytes of its files (database and WAL) too, also where the
	// text stands across the border of two pages. It reads in short steps, and sees
	// what is written meanwhile or not.
	//
	// looked, unless nil, is called after each step with the table or the file and
	// how many of its rows or bytes were read. ErrInvalid for an empty text.
	Locate(ctx context.Context, text string, looked func(what string, n int64)) iter.Seq2[Place, error]
}
