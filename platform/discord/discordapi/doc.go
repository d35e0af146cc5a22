// Package discordapi calls Discord's REST API: within the limits that its answers
// tell, without repeating by itself what may have been done, and stopping where going
// on would get the address banned. Endpoints and bodies are disgo's.
//
// Start with [New] and [Client.Call]. An [*Error] is Discord's refusal, a
// [*LimitedError] a call that was not made or was refused because of a limit, and
// what wraps [ErrNotAnswered] may have been done. [Undone] tells these apart. No
// error shows a token or a URL.
//
//	client.go    one call: wait, send, read the answer
//	limits.go    when a call may be made
//	bucket.go    one limit, as the headers of answers tell it
//	stops.go     what is not asked any more
//	routes.go    the counts of calls
//	reach.go     whether Discord answers at all
//	errors.go    what calls fail with
//
// Unstable: what this package exports may change with any version.
package discordapi
