package assemble

import (
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
)

// A Result is the prompt, and why it is what it is.
type Result struct {
	// System is the guide and the operator's instructions. Nothing in it comes
	// from chat.
	System string
	// Messages are the prompt's messages: the session's as recorded, then those
	// of this turn, of which the last is the user's and ends in the question.
	Messages []Message
	// Tokens is what the prompt costs.
	Tokens Tokens
	// Ledger has one row for each id in the input, in the order of Position.
	Ledger earshot.Ledger
	// Next is what to store with the reply.
	Next NextState
	// Notes are for the operator: what is missing, and what was left out.
	Notes []Note
	// Hash is the SHA-256, in hex, of System and then for each message NUL, role,
	// NUL and text. Equal hashes mean equal prompts.
	Hash string
}

// A Message is one message of the prompt: what one role says until another
// does. Of the session, each recorded entry is a message.
type Message struct {
	Role     earshot.Role
	Text     string
	Sections []SectionName        // the sections in it, in order
	Spans    []Span               // which bytes of Text belong to which section
	Passages []Passage            // which bytes of Text show which message; none in the session's
	Media    []earshot.ArtifactID // files to attach to it
	Calls    []earshot.Call       // the assistant's, of a recorded entry
	Call     string               // of a tool's answer: the id of the call
	Failed   bool                 // of a tool's answer: it says what went wrong
	Opaque   string               // [earshot.SessionEntry.Opaque]
}

// A Span is a stretch of a message's text, From inclusive, To exclusive, in
// bytes. What separates sections belongs to no span.
type Span struct {
	Section  SectionName
	From, To int
}

// A Passage is the stretch of a prompt message's text that shows one message of
// chat: its label, its text whole, cut or as a snippet, and its lines with quotes,
// files and reactions. From is inclusive, To exclusive, in bytes. Passages are in
// order, do not overlap, and each lies in one span; the anchor's may be empty. The
// messages of a turn's passages are those whose verdict in the ledger is not out,
// once each. What stands in no passage is Earshot's: headers, days, counts.
type Passage struct {
	Message  earshot.MessageID
	From, To int
}

// Tokens is what the prompt costs, as the Counter of that name counts. Total
// includes system text and session; Sections sum to it. Budget is
// [Budget.Tokens] of the input.
type Tokens struct {
	Total    int
	Budget   int
	Counter  string
	Sections map[SectionName]int
}

// NextState is what the caller stores with the reply, in one transaction; a turn that
// failed stores none of it, so that the next one finds everything again. Shown,
// Attached and Names are added to what [ConversationState] had. Where Epoch is greater
// than the input's, they replace it, and the session begins anew with this turn.
type NextState struct {
	Cursor   int64
	Epoch    int
	Shown    []earshot.ShownRevision // without the reply, which the platform adds
	Attached []earshot.AttachedFile
	Names    []earshot.SessionName
}

// A Note tells an operator what was missing or left out.
type Note struct {
	Kind string // NoteGap, NoteStale or NoteOmitted
	Text string
}

// The kinds of notes.
const (
	NoteGap     = "gap"     // a stretch of history could not be loaded
	NoteStale   = "stale"   // a stretch of history may be out of date
	NoteOmitted = "omitted" // the budget or a limit left something out
)

// ErrBudgetTooSmall says that anchor, thread root and instructions, which are
// never cut, cost more than [Budget.Limit].
var ErrBudgetTooSmall = errors.New("budget too small")

// An InputError says which field of the input cannot be used, and why. Path is
// written as in the JSON contract, such as messages[0].time.
type InputError struct {
	Path   string
	Reason string
}

// Error returns path and reason in one line.
func (e *InputError) Error() string { return e.Path + ": " + e.Reason }

func inputError(path, format string, args ...any) error {
	return &InputError{Path: path, Reason: fmt.Sprintf(format, args...)}
}
