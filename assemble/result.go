package assemble

import (
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
)

// A Result is the prompt, and why it is what it is.
type Result struct {
	System   string
	Messages []Message
	Tokens   Tokens
	Ledger   earshot.Ledger // one row for each id in the input, in the order of Position
	Next     Next
	Notes    []Note
	Hash     string // hex SHA-256 over system, then for each message NUL role NUL text
}

// A Message is one run of a role in the prompt. What the session holds of
// calls and their answers comes back as it was recorded.
type Message struct {
	Role     earshot.Role
	Text     string
	Sections []SectionName        // what stands in it, in order
	Media    []earshot.ArtifactID // files to attach to it
	Spans    []Span               // which bytes of Text belong to which section
	Calls    []earshot.Call       // the assistant's, of a recorded entry
	Call     string               // a tool's answer: to which call
	Failed   bool                 // of a tool's answer: it tells what went wrong
	Opaque   string               // [earshot.SessionEntry.Opaque]
}

// A Span is a stretch of a message's text, From inclusive, To exclusive, in
// bytes.
type Span struct {
	Section  SectionName
	From, To int
}

// Tokens is what the prompt costs by the counter in use. Sections sum to Total.
type Tokens struct {
	Total    int
	Budget   int
	Counter  string
	Sections map[SectionName]int
}

// Next is what a platform stores with the reply, in one transaction. A failed
// turn stores none of it. Where Epoch is greater than the input's, session and
// manifest begin anew with this turn: what they held is replaced, not added to.
type Next struct {
	Cursor   int64
	Epoch    int
	Shown    []earshot.Shown    // what this turn adds to the manifest; the reply is the platform's to add
	Attached []earshot.Attached // likewise
	Names    []earshot.Named    // of whom this turn named first
}

// A Note tells an operator what a model was told, or not shown.
type Note struct {
	Kind string // gap, stale or omitted
	Text string
}

// The kinds of notes.
const (
	NoteGap     = "gap"
	NoteStale   = "stale"
	NoteOmitted = "omitted"
)

// ErrBudgetTooSmall is returned when anchor, thread root and instructions alone
// exceed Budget.Limit. They are never cut.
var ErrBudgetTooSmall = errors.New("budget too small")

// An InputError is a field of the input that cannot be used. Path is written
// as in the JSON contract, such as messages[0].time.
type InputError struct {
	Path   string
	Reason string
}

func (e *InputError) Error() string { return e.Path + ": " + e.Reason }

func inputError(path, format string, args ...any) error {
	return &InputError{Path: path, Reason: fmt.Sprintf(format, args...)}
}
