package contract

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-ai/earshot/assemble"
)

// Metadata is what callers keep with a message or a conversation: any JSON value by key.
type Metadata map[string]jsontext.Value

// The bounds of metadata. The stores have the first two as well.
const (
	maxMetadataKeys  = 64
	maxMetadataBytes = 16 << 10 // of keys and values, as they are stored
	maxNumber        = 64       // bytes of a number
	maxNested        = 8        // arrays and objects in one another, in a value
)

// jsonMark begins a stored value that is no plain string: a JSON literal follows.
// A string that begins with it is stored as a literal too.
const jsonMark = "json:"

var metadataKey = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// Read returns metadata as a store keeps them; a JSON null is nil. The error is an
// [*assemble.InputError] whose path begins with at.
func (w Metadata) Read(at string) (map[string]*string, error) {
	out := make(map[string]*string, len(w))
	for _, key := range slices.Sorted(maps.Keys(w)) {
		if !metadataKey.MatchString(key) {
			return nil, &assemble.InputError{Path: at, Reason: "has a key that does not match " + metadataKey.String()}
		}
		v, err := readValue(w[key])
		if err != nil {
			return nil, &assemble.InputError{Path: at + "." + key, Reason: err.Error()}
		}
		out[key] = v
	}
	return out, nil
}

// ReadWhole returns all metadata that something has, within their bounds; a key with null
// is not among them. Of nil it is nil, which says nothing. The error is that of Read.
func (w Metadata) ReadWhole(at string) (map[string]string, error) {
	if w == nil {
		return nil, nil
	}
	read, err := w.Read(at)
	if err != nil {
		return nil, err
	}
	out, size := make(map[string]string, len(read)), 0
	for key, v := range read {
		if v != nil {
			out[key] = *v
			size += len(key) + len(*v)
		}
	}
	if len(out) > maxMetadataKeys || size > maxMetadataBytes {
		return nil, &assemble.InputError{Path: at, Reason: fmt.Sprintf("has %d keys and %d bytes; at most %d and %d", len(out), size, maxMetadataKeys, maxMetadataBytes)}
	}
	return out, nil
}

// MetadataOf returns stored metadata as JSON values: each as it was given, a number with
// the same digits. It is not nil.
func MetadataOf(stored map[string]string) Metadata {
	out := make(Metadata, len(stored))
	for k, v := range stored {
		if rest, ok := strings.CutPrefix(v, jsonMark); ok {
			if lit := jsontext.Value(rest); lit.IsValid() && lit.Kind() != 'n' {
				out[k] = lit
				continue
			}
		}
		out[k] = jsontext.Value(quoteJSON(v))
	}
	return out
}

// StoredText returns a text as the stores keep it.
func StoredText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\u2400")
}

// readValue returns a JSON value as it is stored, nil for null.
func readValue(v jsontext.Value) (*string, error) {
	out := ""
	switch v.Kind() {
	case 'n':
		return nil, nil
	case 't', 'f':
		out = jsonMark + v.Kind().String()
	case '0':
		f, err := strconv.ParseFloat(string(v), 64)
		if err != nil || math.IsInf(f, 0) || len(v) > maxNumber {
			return nil, fmt.Errorf("is a number that a double cannot hold, or one of more than %d characters", maxNumber)
		}
		out = jsonMark + string(v)
	case '"':
		if err := json.Unmarshal(v, &out, jsontext.AllowInvalidUTF8(true)); err != nil {
			return nil, errors.New("is not a valid string")
		}
		if out = StoredText(out); strings.HasPrefix(out, jsonMark) {
			out = jsonMark + quoteJSON(out)
		}
	case '{', '[':
		nested, err := readNested(v)
		if err != nil {
			return nil, err
		}
		out = jsonMark + nested
	default:
		return nil, errors.New("is not valid JSON")
	}
	return &out, nil
}

// readNested returns an array or an object as it is stored: without spaces and without
// escapes that are not needed, names and numbers as they were given.
func readNested(v jsontext.Value) (string, error) {
	invalid := errors.New("is not valid JSON, or has a name twice")
	var out bytes.Buffer
	from := jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowInvalidUTF8(true))
	to := jsontext.NewEncoder(&out, jsontext.AllowInvalidUTF8(true), jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
	for {
		t, err := from.ReadToken()
		switch {
		case errors.Is(err, io.EOF):
			return strings.TrimSuffix(out.String(), "\n"), nil
		case err != nil:
			return "", invalid
		case from.StackDepth() > maxNested:
			return "", fmt.Errorf("has more than %d arrays and objects in one another", maxNested)
		case t.Kind() == '"':
			t = jsontext.String(StoredText(t.String()))
		case t.Kind() == '0' && len(t.String()) > maxNumber:
			return "", fmt.Errorf("has a number of more than %d characters", maxNumber)
		}
		if err := to.WriteToken(t); err != nil {
			return "", invalid
		}
	}
}

// quoteJSON writes a JSON string.
func quoteJSON(s string) string {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil { // broken UTF-8, which b has as U+FFFD
		b, _ = jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "\uFFFD"))
	}
	return string(b)
}
