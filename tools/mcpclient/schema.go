package mcpclient

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/earshot-ai/earshot/llm"
)

// Bounds of a tool's schema.
const (
	mostSchema      = 16 << 10
	mostSchemaDepth = 32
)

// noArguments is the schema of a tool that says nothing of its arguments.
const noArguments = llm.JSON(`{"properties":{},"type":"object"}`)

// argumentName is what providers take as the name of an argument.
var argumentName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// choices are the words that providers refuse at the top of a schema.
var choices = []string{"oneOf", "anyOf", "allOf", "not", "enum", "if", "then", "else"}

// cleanSchema returns the schema of a tool's arguments as every provider takes it, with
// its keys sorted, and notes on what was changed. An error says why the tool has to be
// left out. References stand as they are and are not followed.
func (x strainer) cleanSchema(schema any) (clean llm.JSON, notes []string, err error) {
	object, ok := schema.(map[string]any)
	if schema == nil || ok && len(object) == 0 {
		return noArguments, nil, nil
	}
	if !ok {
		return "", nil, errors.New("its schema is not an object's")
	}
	cleaned, err := x.cleanValue(object, 1)
	if err != nil {
		return "", nil, err
	}
	object = cleaned.(map[string]any) // a map comes back as one
	switch t := object["type"].(type) {
	case nil:
		object["type"] = "object"
	case string:
		if t != "object" {
			return "", nil, fmt.Errorf("its arguments are of type %q, not an object", t)
		}
	case []any:
		if !slices.Contains(t, any("object")) {
			return "", nil, errors.New("its arguments are not an object")
		}
		object["type"] = "object"
	default:
		return "", nil, errors.New("the type of its arguments is not a word")
	}
	for _, word := range choices {
		if _, ok := object[word]; ok {
			delete(object, word)
			notes = append(notes, fmt.Sprintf("%s at the top of its schema is left out: providers refuse it; the server still checks it", word))
		}
	}
	switch properties := object["properties"].(type) {
	case nil:
		object["properties"] = map[string]any{}
	case map[string]any:
		for name := range properties {
			if !argumentName.MatchString(name) {
				return "", nil, errors.New("an argument has a name that providers refuse: not 1 to 64 letters, digits, dots, hyphens and underscores")
			}
		}
	default:
		return "", nil, errors.New("the properties of its schema are no object")
	}
	text, err := json.Marshal(object)
	if err != nil {
		return "", nil, errors.New("its schema is no JSON")
	}
	if len(text) > mostSchema {
		return "", nil, fmt.Errorf("its schema has %d bytes, more than %d", len(text), mostSchema)
	}
	return llm.JSON(text), notes, nil
}

// cleanValue returns a copy of a schema's value with its texts cleaned.
func (x strainer) cleanValue(v any, depth int) (any, error) {
	if depth > mostSchemaDepth {
		return nil, fmt.Errorf("its schema is nested deeper than %d", mostSchemaDepth)
	}
	switch v := v.(type) {
	case string:
		s, _ := x.text(v, mostSchema)
		return s, nil
	case []any:
		out := make([]any, len(v))
		for i := range v {
			one, err := x.cleanValue(v[i], depth+1)
			if err != nil {
				return nil, err
			}
			out[i] = one
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			if s, _ := x.text(key, mostSchema); s != key {
				return nil, errors.New("a key of its schema has characters that nobody sees, or a secret")
			}
			one, err := x.cleanValue(value, depth+1)
			if err != nil {
				return nil, err
			}
			out[key] = one
		}
		return out, nil
	}
	return v, nil
}
