// Package slackapi calls Slack's Web API and keeps to its rate limits.
//
// Start with [New] and [Client.Call]. Calls wait for their rate; those that read
// are repeated after a failure, those that write never are. Processes that share
// a store share the rates ([Options.Rates]). An [*Error] is Slack's refusal, and a
// [*LimitedError] a call that was not made; no error shows a token.
//
//	methods.go   the methods, and how often each may be called
//	client.go    one call: wait, send, read the answer, repeat
//	pace.go      when a call may be made
//	limits.go    the two kinds of limit: a number in any minute; a steady rate with a burst
//	shared.go    rates that several processes share
//	tickets.go   the order of posts that could not wait
//	reach.go     whether Slack answers at all
//	errors.go    what calls fail with
//
// Unstable: what this package exports may change with any version.
package slackapi
