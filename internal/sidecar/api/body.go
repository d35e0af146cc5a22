package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The bounds of a body.
const (
	maxBody  = 1 << 20 // bytes
	maxDepth = 64      // objects and arrays in one another
)

var errDepth = errors.New("has more than 64 objects and arrays in one another")

// unmarshal reads one JSON value, strictly: exact case, no unknown or duplicate
// keys, nothing after the value, at most maxDepth deep. Broken UTF-8 and lone
// surrogates become U+FFFD.
func unmarshal(data []byte, v any) error {
	if tooDeep(data) {
		return errDepth
	}
	return json.Unmarshal(data, v, json.RejectUnknownMembers(true), jsontext.AllowInvalidUTF8(true))
}

// tooDeep reports whether JSON is nested deeper than maxDepth. It looks at
// brackets outside strings, so it needs no memory and no valid JSON.
func tooDeep(data []byte) bool {
	depth, inText := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// marshal writes compact JSON with a line break at its end. Characters of HTML
// are not escaped.
func marshal(w io.Writer, v any) error {
	b, err := json.Marshal(v, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// marshalIndented writes JSON for people to read.
func marshalIndented(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := marshal(&b, v); err != nil {
		return nil, err
	}
	text := jsontext.Value(b.Bytes())
	if err := text.Indent(jsontext.WithIndent("  ")); err != nil {
		return nil, err
	}
	return append(text, '\n'), nil
}
