package contract

import (
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// A reader makes values of the JSON form and keeps the first error.
type reader struct{ err error }

func (r *reader) fail(path, format string, args ...any) {
	if r.err == nil {
		r.err = &assemble.InputError{Path: path, Reason: oneLine(fmt.Sprintf(format, args...))}
	}
}

// requireValue returns the value; an absent one is an error.
func requireValue[T any](r *reader, path string, v *T) T {
	if v == nil {
		r.fail(path, "is required")
		var zero T
		return zero
	}
	return *v
}

// id is a required string that must not be empty.
func (r *reader) id(path string, v *string) string {
	s := requireValue(r, path, v)
	if s == "" {
		r.fail(path, "is required")
	}
	return s
}

// optional returns the value, or the zero value when it is absent.
func optional[T any](v *T) T {
	if v == nil {
		var zero T
		return zero
	}
	return *v
}

func (r *reader) time(path string, v *string) earshot.Time {
	if v == nil {
		return 0
	}
	t, err := earshot.ParseTime(*v)
	if err != nil {
		r.fail(path, "%q is %v", *v, err)
	}
	return t
}

// timeOrEmpty is time, but "" is no error and means none, as in a revision.
func (r *reader) timeOrEmpty(path string, v *string) earshot.Time {
	if v == nil || *v == "" {
		return 0
	}
	return r.time(path, v)
}

// count is a number; a negative one is an error.
func (r *reader) count(path string, v *int) int {
	n := optional(v)
	if n < 0 {
		r.fail(path, "must not be negative")
	}
	return n
}

// item returns an element of a list; a null is an error.
func item[T any](r *reader, path string, v *T) *T {
	if v == nil {
		r.fail(path, "must not be null")
		return new(T)
	}
	return v
}

func ids[T ~string](list []string) []T {
	var out []T
	for _, s := range list {
		out = append(out, T(s))
	}
	return out
}

// ptr returns a pointer to v.
func ptr[T any](v T) *T { return &v }
