package visible

import (
	"errors"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// A Kind is a kind of refusal; a transport has a status for each.
type Kind string

// The kinds of refusals.
const (
	Invalid   Kind = "invalid"   // the request cannot be understood
	Forbidden Kind = "forbidden" // the caller may not do this to what it sees, such as writing with a read-only key
	NotFound  Kind = "not_found" // there is no such thing, or none that the caller may see
	Conflict  Kind = "conflict"  // something has changed; ask anew
	Expired   Kind = "expired"   // an open turn's time is over
)

// A Refusal says why a request is not carried out. The caller may be shown all of
// it. Its texts never repeat an id or a text of the request.
type Refusal struct {
	Kind   Kind
	Code   string // for programs, such as read_only; "" means the kind
	Path   string // the field, such as messages[0].time; "" where it is none
	Detail string // one sentence for people, with the remedy where there is one
}

// Error implements error.
func (r *Refusal) Error() string {
	if r.Path != "" {
		return r.Path + " " + r.Detail
	}
	return r.Detail
}

// Absent is the answer for what does not exist and for what the caller may not
// see. It is one value, so that the two cannot differ.
var Absent = &Refusal{Kind: NotFound, Detail: "there is nothing with this id that you can see"}

// ReadOnly is the answer to a write by a caller that may only read.
var ReadOnly = &Refusal{Kind: Forbidden, Code: "read_only", Detail: "this key may only read; use one that may write"}

// ToolsOnly is the answer to a capability that is used for anything but tools.
var ToolsOnly = &Refusal{Kind: Forbidden, Code: "tools_only", Detail: "a capability is for the tools of a channel; use the key that it was made with"}

// AsRefusal returns the refusal in an error: one that was made as such, or what the
// store's or the assembler's errors mean. It reports false for an error that is
// nobody's fault but ours.
func AsRefusal(err error) (*Refusal, bool) {
	var r *Refusal
	var input *assemble.InputError
	switch {
	case errors.As(err, &r):
		return r, true
	case errors.As(err, &input):
		return &Refusal{Kind: Invalid, Path: input.Path, Detail: input.Reason}, true
	case errors.Is(err, earshot.ErrNotFound):
		return Absent, true
	case errors.Is(err, earshot.ErrExpired):
		return &Refusal{Kind: Expired, Detail: "the turn's time is over; open another one"}, true
	case errors.Is(err, earshot.ErrConflict):
		return &Refusal{Kind: Conflict, Detail: "something has changed since; ask anew"}, true
	case errors.Is(err, earshot.ErrInvalid):
		return &Refusal{Kind: Invalid, Detail: err.Error()}, true
	}
	return nil, false
}

// InvalidField is a refusal of a field.
func InvalidField(path, detail string) error {
	return &Refusal{Kind: Invalid, Path: path, Detail: detail}
}
