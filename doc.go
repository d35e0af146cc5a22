// Package earshot is the vocabulary of Earshot: what is said in team chat, who said
// it, what an agent was shown of it, and what a store must keep.
//
// Start with [Message], one thing that was said; [Scope], the one channel that
// every read is bound to; and [Store], which keeps messages, conversations and
// turns. The other packages are built on these:
//
//	assemble    messages → a prompt, and a ledger that explains it
//	gather      a store → the messages that a prompt needs
//	store       opens a Store; store/storetest tests yours
//	bot         a platform's event → one posted answer
//	tools       what a model may look up, in one channel
//
// Everything here is pure: values and interfaces, without I/O, clock, randomness or
// goroutines. Times are integer microseconds (see [Time]) and messages are ordered
// by [Position], so the same input always gives the same bytes.
package earshot
