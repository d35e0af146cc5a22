// Package slackmsg decodes Slack's message JSON into [earshot.Message]: of events,
// of history and replies, and of exports.
//
// Start with [Decode], which takes one message or event, and [DecodedMessage], which says
// what it was. [Names] looks up the names that Slack leaves out. For what arrives by
// HTTP or Socket Mode, [ReadCallback] reads the envelope: the delivery's id, the
// workspace, and events that are no messages. [Author] and [Channel] read entries of
// Slack's lists.
//
// Decoding is lenient, because Slack's JSON differs between events, history and
// exports and has changed over the years: every field is read by itself. A malformed
// field is left out and named in [DecodedMessage.Notes]; the rest of the message is kept.
//
// Message.Text has the author's own words once, whether Slack has them in text, in
// blocks or in a bot's attachments; Message.Shared has what the message quotes. Links
// and mentions keep Slack's markup (<@U1|Alice>, <#C1|general>,
// <https://…|label>); the entities &amp; &lt; &gt; are decoded.
//
// The package is pure: the same bytes and names give the same result. Its functions
// are safe for concurrent use.
//
// Unstable: what this package exports may change with any version.
package slackmsg
