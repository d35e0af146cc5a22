package discordmsg

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxBytes is the size of the largest message that is decoded, in bytes.
const MaxBytes = 1 << 20

// MaxDepth is how deep a message may be nested. What lies deeper is left out,
// with a note.
const MaxDepth = 64

// A value is one JSON value, read tolerantly: every accessor answers for every
// kind, with the zero value where the kind is another.
type value struct {
	kind    jsontext.Kind // 0: absent, or too deep to be read
	text    string        // of a string, or a number as written
	list    []value
	members []member
}

type member struct {
	name  string
	value value
}

// parse reads one JSON value and nothing after it. deep reports that parts of
// it were left out because of MaxDepth. Of duplicate names the last counts;
// broken UTF-8 and lone surrogates become U+FFFD, NUL becomes U+2400.
func parse(raw []byte) (v value, deep bool, err error) {
	if len(raw) > MaxBytes {
		return value{}, false, fmt.Errorf("%w: %d bytes, at most %d are read", ErrTooLarge, len(raw), MaxBytes)
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	p := parser{d: d}
	v, err = p.value(0)
	if err != nil {
		return value{}, false, syntaxError(err)
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return value{}, false, fmt.Errorf("%w: something follows the value", ErrSyntax)
	}
	return v, p.deep, nil
}

// syntaxError says where the decoder stopped, without quoting the input: an
// error text must not carry a message.
func syntaxError(err error) error {
	var at *jsontext.SyntacticError
	if errors.As(err, &at) {
		if at.Err != nil && at.Err.Error() == "exceeded max depth" {
			return fmt.Errorf("%w at byte %d: nested too deep", ErrSyntax, at.ByteOffset)
		}
		return fmt.Errorf("%w at byte %d", ErrSyntax, at.ByteOffset)
	}
	return ErrSyntax
}

type parser struct {
	d    *jsontext.Decoder
	deep bool
}

func (p *parser) value(depth int) (value, error) {
	kind := p.d.PeekKind()
	if depth >= MaxDepth && (kind == '{' || kind == '[') {
		p.deep = true
		return value{}, p.d.SkipValue()
	}
	tok, err := p.d.ReadToken()
	if err != nil {
		return value{}, err
	}
	v := value{kind: tok.Kind()}
	switch v.kind {
	case '"', '0':
		v.text = clean(tok.String())
	case '[':
		for p.d.PeekKind() != ']' {
			x, err := p.value(depth + 1)
			if err != nil {
				return value{}, err
			}
			v.list = append(v.list, x)
		}
		_, err = p.d.ReadToken()
	case '{':
		for p.d.PeekKind() != '}' {
			name, err := p.d.ReadToken()
			if err != nil {
				return value{}, err
			}
			m := member{name: name.String()}
			if m.value, err = p.value(depth + 1); err != nil {
				return value{}, err
			}
			v.members = append(v.members, m)
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

// get returns a member of an object, or an absent value.
func (v value) get(name string) value {
	for i := len(v.members) - 1; i >= 0; i-- {
		if v.members[i].name == name {
			return v.members[i].value
		}
	}
	return value{}
}

// str returns a string, or a number as it is written; "" for every other kind.
func (v value) str() string { return v.text }

// at is get and str in one.
func (v value) at(name string) string { return v.get(name).str() }

// int returns a whole number that fits, or one written as a string; else 0.
func (v value) int() int64 {
	n, err := strconv.ParseInt(v.text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func (v value) bool() bool   { return v.kind == 't' || v.text == "true" }
func (v value) absent() bool { return v.kind == 0 || v.kind == 'n' }
func (v value) object() bool { return v.kind == '{' }
func (v value) array() bool  { return v.kind == '[' }
