// Package rawjson writes JSON in which some values stand exactly as they came,
// byte for byte: what a provider has signed must go back to it unchanged.
// encoding/json changes such values when it writes them: it removes spaces and
// escapes <, > and &.
//
//	body := rawjson.New("model", name, "stream", true)
//	body.Set("messages", rawjson.List(messages...))
//	send(body.JSON())
package rawjson

import (
	"bytes"
	"encoding/json"
)

// A Value is a JSON text that is written as it is. Whoever makes one answers
// for its being JSON: it is not checked.
type Value []byte

// An Object is a JSON object that is being written. The zero Object is empty and
// ready to use.
type Object struct{ b []byte }

// New returns an object with members: names and values by turns.
func New(members ...any) *Object {
	o := &Object{}
	for i := 0; i < len(members); i += 2 {
		o.Set(members[i].(string), members[i+1])
	}
	return o
}

// Set adds a member behind those that are there. A [Value] and an [*Object] are
// written as they are, anything else by encoding/json, with <, > and & as they
// are. It panics for a value that encoding/json cannot write.
func (o *Object) Set(name string, v any) {
	if len(o.b) == 0 {
		o.b = append(o.b, '{')
	} else {
		o.b = append(o.b, ',')
	}
	o.b = append(o.b, Of(name)...)
	o.b = append(o.b, ':')
	o.b = append(o.b, Of(v)...)
}

// Empty reports whether the object has no members.
func (o *Object) Empty() bool { return len(o.b) == 0 }

// JSON returns the object. It may be called more than once, and members may be
// added afterwards.
func (o *Object) JSON() Value {
	if o.Empty() {
		return Value("{}")
	}
	return append(bytes.Clone(o.b), '}')
}

// Of returns a value's JSON, by the rules of [Object.Set].
func Of(v any) Value {
	switch v := v.(type) {
	case Value:
		return v
	case *Object:
		return v.JSON()
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("rawjson: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// List returns an array.
func List(items ...Value) Value {
	b := []byte{'['}
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, item...)
	}
	return append(b, ']')
}

// A Member is a member of an object.
type Member struct {
	Name  string
	Value Value
	end   int // where the value ends in the object
}

// Members returns the members of an object in their order, each value as it
// stands there. It returns false for what is no object.
func Members(object []byte) ([]Member, bool) {
	var out []Member
	d := json.NewDecoder(bytes.NewReader(object))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, false
		}
		var v json.RawMessage
		if d.Decode(&v) != nil {
			return nil, false
		}
		out = append(out, Member{name.(string), Value(v), int(d.InputOffset())})
	}
	if _, err := d.Token(); err != nil {
		return nil, false
	}
	return out, true
}

// Replace returns object with another value for a member, or with the member
// added where there is none; all other bytes stay. What is no object is returned
// as it is.
func Replace(object []byte, name string, v Value) []byte {
	members, ok := Members(object)
	if !ok {
		return object
	}
	for _, m := range members {
		if m.Name == name {
			return splice(object, m.end-len(m.Value), m.end, v)
		}
	}
	added := append(append(Of(name), ':'), v...)
	if len(members) == 0 {
		at := bytes.IndexByte(object, '{') + 1
		return splice(object, at, at, added)
	}
	at := members[len(members)-1].end
	return splice(object, at, at, append([]byte(","), added...))
}

// splice returns b with what stands between two offsets replaced.
func splice(b []byte, from, to int, by []byte) []byte {
	out := make([]byte, 0, len(b)+len(by))
	out = append(out, b[:from]...)
	out = append(out, by...)
	return append(out, b[to:]...)
}
