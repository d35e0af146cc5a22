// Package assemble makes a prompt from chat history: bounded, deterministic, and
// explained message by message.
//
// [Turn] takes an [Input] and returns a [Result]. It is a pure function: no I/O,
// no clock, no randomness; the same input gives the same bytes on every machine.
//
// An Input needs who the agent is, the channel, the messages, which of them is to
// be answered (the anchor), and a [Counter], which package tokens makes:
//
//	counter, err := tokens.For("o200k")
//	in := assemble.Input{Identity: self, Channel: channel, Messages: messages, Anchor: id, Counter: counter}
//	res, err := assemble.Turn(in)
//
// [Result.System] and [Result.Messages] go to the model; package llm makes a
// request of them. [Result.Ledger] says of each message whether it is shown, in
// which section, and if not why. [Result.Notes] are for the operator.
//
// The next turn of the same conversation needs what this one left behind, in
// [Input.Conversation]: what [Result.Next] says, added to what was there; the reply,
// in Shown and in Turns; and the prompt with the reply as Session, whose entries
// llm.Record makes. Then the model is shown only what is new; without a Session the
// turn is a first one again. Package gather reads all of it from a store, and package
// bot writes it.
//
// A [Policy] decides what a prompt has: which sections, in which order, with
// which limits. The default is [Standard]; [Policies] lists the others, and a
// [Budget] bounds them all. docs/policies.md shows what each policy writes, and
// docs/context.md the rules.
//
// Reading order: turn.go has the steps, section.go the table of sections. Each
// section has a file of its name.
package assemble
