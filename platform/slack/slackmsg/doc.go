// Package slackmsg decodes Slack's message JSON into [earshot.Message]. It is
// shared by the live adapter, which gets events, and by the import of exports,
// which reads the same objects from files.
//
// Start with [Decode], which takes one message or event, and [Decoded], which
// says what it was. [Names] fills in what Slack leaves out.
//
// Slack's JSON has grown for a decade and differs between events, history and
// exports, so nothing here is strict: every field is read by itself, and one
// that is malformed costs that field and a note, never the message. What a
// person would read in Slack ends up once: in Message.Text what its author says,
// whether it came in text, blocks or a bot's attachments, and in Message.Shared
// what it quotes. Markup stays in Slack's form (<@U1|Alice>, <#C1|general>,
// <https://…|label>), its entities do not.
//
// The package is pure: same bytes in, same Decoded out.
package slackmsg
