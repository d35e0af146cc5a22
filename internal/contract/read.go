package contract

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// Unmarshal reads a JSON value into a type that is made of those of this package, as
// strictly as [Decode]. The error is an [*assemble.InputError]; the path of the whole
// is what.
func Unmarshal(data []byte, v any, what string) error {
	switch string(bytes.TrimSpace(data)) {
	case "":
		return &assemble.InputError{Path: what, Reason: "is empty; one JSON object is expected"}
	case "null":
		return &assemble.InputError{Path: what, Reason: "is null; one JSON object is expected"}
	}
	err := json.Unmarshal(data, v, json.RejectUnknownMembers(true), jsontext.AllowInvalidUTF8(true))
	if err == nil {
		return nil
	}
	err = inputError(err)
	var e *assemble.InputError
	if errors.As(err, &e) && e.Path == "input" {
		return &assemble.InputError{Path: what, Reason: e.Reason}
	}
	return err
}

// ReadPolicy returns the policy of a field named policy: by its name, or an object.
// An absent one is the default, [assemble.Standard].
func ReadPolicy(w jsontext.Value) (assemble.Policy, error) {
	r := &reader{}
	p := r.policy(w)
	return p, r.err
}

// ReadCounter returns the counter of a field named counter; o200k where it is absent.
func ReadCounter(w *string) (assemble.Counter, error) {
	r := &reader{}
	c := r.counter(w)
	return c, r.err
}

// Over returns the budget; what w does not say is as in b.
func (w *Budget) Over(b assemble.Budget) (assemble.Budget, error) {
	r := &reader{}
	b = r.budget(w, b)
	return b, r.err
}

// Read returns the entry of a session. The path is that of the entry.
func (w *Entry) Read(at string) (earshot.SessionEntry, error) {
	r := &reader{}
	e := r.entry(at, item(r, at, w))
	return e, r.err
}
