// Package tolerant reads the JSON of platforms in such a way that one malformed field
// costs that field, and not the message. It is pure.
//
// Start with [Parse] and [Value].
package tolerant

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// A SizeError is the size of JSON that is too large to be read, in bytes.
type SizeError int

func (e SizeError) Error() string {
	return fmt.Sprintf("%d bytes, at most %d are read", int(e), MaxBytes)
}

// A SyntaxError says where JSON is broken, such as "at byte 7". It quotes nothing of it: the text of an
// error must not have a message in it.
type SyntaxError string

func (e SyntaxError) Error() string { return string(e) }

// MaxBytes is the size of the largest JSON that is decoded, in bytes.
const MaxBytes = 1 << 20

// MaxDepth is how deep a message may be nested. What lies deeper is left out,
// with a note.
const MaxDepth = 64

// CutBytes shortens s to at most n bytes between two characters.
func CutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// CutRunes shortens s to at most n characters.
func CutRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// A Value is one JSON value, read tolerantly: every accessor answers for every
// kind, with the zero value where the kind is another.
type Value struct {
	Kind    jsontext.Kind // 0: absent, or too deep to be read
	Text    string        // of a string, or a number as written
	List    []Value
	Members []Member
}

// A Member is a name of an object with its value.
type Member struct {
	Name  string
	Value Value
}

// Parse reads one JSON value and nothing after it. deep reports that parts of
// it were left out because of MaxDepth. Of duplicate names the last counts;
// broken UTF-8 and lone surrogates become U+FFFD, NUL becomes U+2400. The error
// is a SizeError above MaxBytes, else a SyntaxError.
func Parse(raw []byte) (v Value, deep bool, err error) {
	if len(raw) > MaxBytes {
		return Value{}, false, SizeError(len(raw))
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	p := parser{d: d}
	v, err = p.value(0)
	if err != nil {
		return Value{}, false, syntaxError(err)
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return Value{}, false, SyntaxError("with something behind the value")
	}
	return v, p.deep, nil
}

// ParseAs is [Parse] whose error wraps tooLarge or broken as well.
func ParseAs(raw []byte, tooLarge, broken error) (v Value, deep bool, err error) {
	v, deep, err = Parse(raw)
	var size SizeError
	switch {
	case errors.As(err, &size):
		err = fmt.Errorf("%w: %w", tooLarge, err)
	case err != nil:
		err = fmt.Errorf("%w %w", broken, err)
	}
	return v, deep, err
}

// syntaxError says where the decoder stopped.
func syntaxError(err error) error {
	var at *jsontext.SyntacticError
	if errors.As(err, &at) {
		if at.Err != nil && at.Err.Error() == "exceeded max depth" {
			return SyntaxError(fmt.Sprintf("at byte %d: nested too deep", at.ByteOffset))
		}
		return SyntaxError(fmt.Sprintf("at byte %d", at.ByteOffset))
	}
	return SyntaxError("that cannot be read")
}

type parser struct {
	d    *jsontext.Decoder
	deep bool
}

func (p *parser) value(depth int) (Value, error) {
	kind := p.d.PeekKind()
	if depth >= MaxDepth && (kind == '{' || kind == '[') {
		p.deep = true
		return Value{}, p.d.SkipValue()
	}
	tok, err := p.d.ReadToken()
	if err != nil {
		return Value{}, err
	}
	v := Value{Kind: tok.Kind()}
	switch v.Kind {
	case '"', '0':
		v.Text = clean(tok.String())
	case '[':
		for p.d.PeekKind() != ']' {
			x, err := p.value(depth + 1)
			if err != nil {
				return Value{}, err
			}
			v.List = append(v.List, x)
		}
		_, err = p.d.ReadToken()
	case '{':
		for p.d.PeekKind() != '}' {
			name, err := p.d.ReadToken()
			if err != nil {
				return Value{}, err
			}
			m := Member{Name: name.String()}
			if m.Value, err = p.value(depth + 1); err != nil {
				return Value{}, err
			}
			v.Members = append(v.Members, m)
		}
		_, err = p.d.ReadToken()
	}
	return v, err
}

// clean makes a string storable: NUL is the one character that not every
// store can keep.
func clean(s string) string {
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "\u2400")
	}
	return s
}

// Get returns a member of an object, or an absent value.
func (v Value) Get(name string) Value {
	for i := len(v.Members) - 1; i >= 0; i-- {
		if v.Members[i].Name == name {
			return v.Members[i].Value
		}
	}
	return Value{}
}

// Str returns a string, or a number as it is written; "" for every other kind.
func (v Value) Str() string { return v.Text }

// Shown returns a string, a number or a truth value as it is written.
func (v Value) Shown() string {
	switch v.Kind {
	case 't':
		return "true"
	case 'f':
		return "false"
	}
	return v.Text
}

// At is Get and Str in one.
func (v Value) At(name string) string { return v.Get(name).Str() }

// First returns the first member of names that is a non-empty string.
func (v Value) First(names ...string) string {
	for _, n := range names {
		if s := v.At(n); s != "" {
			return s
		}
	}
	return ""
}

// Int returns a whole number that fits, or one written as a string; else 0.
func (v Value) Int() int64 {
	n, err := strconv.ParseInt(v.Text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Bool reports whether the value is true, or "true".
func (v Value) Bool() bool { return v.Kind == 't' || v.Text == "true" }

// Absent reports whether there is no value, or null.
func (v Value) Absent() bool { return v.Kind == 0 || v.Kind == 'n' }

// Object reports whether the value is an object.
func (v Value) Object() bool { return v.Kind == '{' }

// Array reports whether the value is a list.
func (v Value) Array() bool { return v.Kind == '[' }
