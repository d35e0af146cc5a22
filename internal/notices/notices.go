// Package notices holds what the bot says where it has no answer. Prompts leave these
// messages out, whoever makes them and wherever the message was read: an apology is no
// conversation that took place.
//
// Start with [Is].
package notices

// What people are told, once, when there is no answer.
const (
	Failed      = "Sorry, I could not answer this: something went wrong on my side. The people who run me can see what."
	Down        = "Sorry, I could not answer this: the language model cannot be reached at the moment. Please ask again later."
	TooLong     = "Sorry, I could not answer this in time."
	TooLarge    = "Sorry, I could not answer this: the conversation is larger than the language model can read, even after leaving out what I could."
	Refused     = "Sorry, I cannot answer this."
	Undelivered = "Sorry, I had an answer to this, but for too long I could not post it. Please ask again."
	Rest        = "Sorry, for too long I could not post the rest of this answer. Please ask again."
	Unsure      = "I answered, but could not find out whether it arrived; the people who run me can see it."
	UnsureSorry = "I could not answer a question here, and could not find out whether saying so arrived; the people who run me can see it."
	Withdrawn   = "(The message that I was answering was deleted.)"
	Stopped     = "(Stopped.)"
	// StoppedActed says that a tool has done something before.
	StoppedActed = "(Stopped, after a tool had already done something. The people who run me can see what was done.)"
	Acted        = "Sorry, I had to stop after a tool had already done something. The people who run me can see what was done; ask again for what is still missing."
	Away         = "I was away when you asked; ask again if it still matters."
)

// Is reports whether a text of the bot's own is one of them.
func Is(text string) bool {
	switch text {
	case Failed, Down, TooLong, TooLarge, Refused, Undelivered, Rest, Unsure, UnsureSorry, Withdrawn, Acted, Stopped, StoppedActed, Away:
		return true
	}
	return false
}
