// Package gather makes a context from a store: it reads what one turn can use,
// and no more, and assembles it.
//
// Start with [Turn], which goes from store to prompt in one call, [Request],
// which says for which message and as whom, and [ConversationOf], which says
// which conversation a message belongs to. [Input] only reads. [Unknown] says what
// a platform should be asked for first.
//
//	in, result, err := gather.Turn(ctx, store, gather.Request{
//		Channel: channel, Anchor: id, Identity: self, Counter: counter,
//	})
//
// What is read are the newest messages that may fit the policy's sections, what
// the anchor refers to, counts of the rest, coverage, and the state of the
// conversation. How much that is depends on the policy and the budget, not on
// how long the thread or the channel is. Nothing is written.
//
// A [Store] that keeps only messages is enough. One that keeps conversations too
// ([Conversations], as every [earshot.Store] does) lets a session go on: name
// the conversation in the Request.
//
// Unstable: what this package exports may change with any version.
package gather
