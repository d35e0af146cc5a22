// Package earshot is the vocabulary of Earshot: what is said in team chat, who
// said it, what an agent has been shown of it, and what a store promises.
//
// Start with [Message], which is one thing said, [Scope], which is the channel
// that every read is bound to, and [Store], which keeps both. The package
// assemble turns messages into a prompt; the package store opens a Store.
//
// Everything here is pure: values and interfaces, no I/O, no clock, no
// goroutines. Times are integer microseconds (see [Time]), order is by
// [Position], and nothing depends on the order of a map.
package earshot
