// Package discordmsg decodes Discord's JSON into messages: what the gateway
// delivers, what the REST API shows, and the files of DiscordChatExporter.
//
// Start with [Decode], which takes one message object, and [DecodedMessage], which says what
// it was; [Names] look up what messages leave out, and [Channel.Where] says where a
// message is kept. [ReadDeleteEvent], [ReadReaction], [ReadChannel] and [ReadMember] read
// other events; [Stamp] gives the id and time of a message that cannot be read.
//
// Every field is read by itself: a malformed one is left out and named in
// [DecodedMessage.Notes], and the rest of the message is kept. Message.Text has the author's
// own words, with mentions as <@id|name>, channels as <#id|name> and the server's
// emoji as :name:, and below them in brackets what people see beside the words, such as
// [alt text of a.png: …], [button: …] or [Ann used /deploy]. Message.Shared has what the message quotes: forwards and previews.
//
// A message's time is that of its id, so that it stands at one place whichever
// source tells of it, deletions included, which carry nothing but ids.
//
// The package is pure: the same bytes and names give the same result. Its functions
// are safe for concurrent use.
//
// Unstable: what this package exports may change with any version.
package discordmsg
