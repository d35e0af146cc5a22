// Package search finds messages within one channel.
//
// [Terms] cuts a text into search terms; they are stored with the message. An
// [Index] holds one channel's terms in memory and ranks its messages for a
// [Query], by their words and by what stands next to them: [Index.Search] says
// how, weights.go with what weights. It is filled from the store and forgotten
// at will, so that there is nothing to erase on disk, and no statistic of
// another channel can show through.
//
// The package is pure: no clock, no locks, no I/O. The same messages and the
// same query give the same hits, with the same scores, on every machine.
package search
