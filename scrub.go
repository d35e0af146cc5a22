package earshot

import "context"

// A Scrubber is an optional ability of a [Store] whose files hold bytes of what was
// deleted for a time.
type Scrubber interface {
	// Scrub overwrites what is left of deleted text in the store's files, and returns
	// once nothing is left. The store does it by itself within seconds of a deletion,
	// also of one that another process has made; Scrub is for whoever has to know. The
	// error says what keeps the bytes in the files for now, such as another process
	// that reads.
	Scrub(ctx context.Context) error
}
