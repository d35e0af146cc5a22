// Package index is the search index of one channel, in memory.
//
// Start with [Terms], which cuts a text into search terms (stores keep them
// beside each message), [Index], which holds one channel's terms, and
// [Index.Search], which ranks the channel's messages for a [Query]. Package
// search keeps an Index for each channel of a store; most programs need only
// that.
//
// An Index is filled from the store and forgotten at will, so that there is
// nothing to erase on disk, and no statistic of another channel can show
// through. Messages are ranked by their words (BM25) and by what stands next to
// them; weights.go has the weights.
//
// The package is pure: no clock, no locks, no I/O. The same messages and the
// same query give the same hits, with the same scores, on every machine.
//
// Unstable: what this package exports may change with any version.
package index
