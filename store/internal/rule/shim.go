package rule

import "github.com/earshot-ai/earshot"

// MayOpen reports whether an event may open a turn, as far as its message alone
// decides.
func MayOpen(e earshot.Event, change earshot.Change, gone bool) bool {
	return Heard{Event: e, Record: earshot.Recorded{Change: change}, Gone: gone}.opens()
}

// NextPost is nextPost.
func NextPost(stored, in earshot.Post) (bool, error) { return nextPost(stored, in) }
