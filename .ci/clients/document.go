package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// A document is what the clients need of an OpenAPI document.
type document struct {
	types      []named // sorted by name
	operations []operation
}

// A named type is an object with fields, or another name for a type.
type named struct {
	name string
	*schema
}

// An operation is one route.
type operation struct {
	id      []string // its words, such as list, channels
	method  string
	path    string
	summary string
	params  []param // of the path in its order, then of the query and headers by name
	body    *schema // nil where it takes none
	must    bool    // the body is required
	answer  *schema // nil where there is none
	stream  bool    // the answer is a stream of server-sent events
	again   bool    // it may be repeated where nobody knows whether it was done
}

// A param is a parameter of an operation.
type param struct {
	Name        string  `json:"name"`
	In          string  `json:"in"`
	Required    bool    `json:"required"`
	Description string  `json:"description"`
	Explode     *bool   `json:"explode"` // false: a list is one value, with commas
	Schema      *schema `json:"schema"`
}

// joined reports whether a list is sent as one value.
func (p param) joined() bool {
	return p.Explode != nil && !*p.Explode && slices.Contains(p.Schema.Type, "array")
}

// A schema is a JSON schema, as far as huma writes it.
type schema struct {
	Ref         string             `json:"$ref"`
	Type        types              `json:"type"`
	Description string             `json:"description"`
	Properties  map[string]*schema `json:"properties"`
	Required    []string           `json:"required"`
	Items       *schema            `json:"items"`
	Additional  *additional        `json:"additionalProperties"`
	Enum        []any              `json:"enum"`
	Format      string             `json:"format"` // binary: bytes in place of JSON
	OneOf       []*schema          `json:"oneOf"`
	AnyOf       []*schema          `json:"anyOf"`
}

// types is the keyword type: a name or a list of names.
type types []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *types) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = types{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(t))
}

// additional is the keyword additionalProperties: whether there may be any, or
// their schema.
type additional struct {
	any bool
	of  *schema
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *additional) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &a.any) == nil {
		return nil
	}
	return json.Unmarshal(b, &a.of)
}

// repeatable are the operations besides GET, PUT, DELETE and PATCH that do the same
// when they are done twice, by the API's own promise: events are known by their
// identity, a turn ends once, and the others change nothing.
var repeatable = []string{"post-events", "post-history", "post-coverage", "make-context", "commit-turn", "renew-turn", "abort-turn", "assemble", "call-tool"}

// read reads an OpenAPI document. Objects within objects get names of their own.
// repeatable are ids of operations.
func read(raw []byte, repeatable ...string) (*document, error) {
	var in struct {
		Paths map[string]map[string]struct {
			OperationID string  `json:"operationId"`
			Summary     string  `json:"summary"`
			Parameters  []param `json:"parameters"`
			RequestBody struct {
				Required bool               `json:"required"`
				Content  map[string]content `json:"content"`
			} `json:"requestBody"`
			Responses map[string]struct {
				Content map[string]content `json:"content"`
			} `json:"responses"`
		} `json:"paths"`
		Components struct {
			Schemas map[string]*schema `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	d := &document{}
	lift := &lifter{taken: in.Components.Schemas, types: map[string]*schema{}}
	for _, name := range slices.Sorted(maps.Keys(in.Components.Schemas)) {
		s := in.Components.Schemas[name]
		if err := lift.parts(name, s); err != nil {
			return nil, err
		}
		lift.types[name] = s
	}
	for _, path := range slices.Sorted(maps.Keys(in.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(in.Paths[path])) {
			o := in.Paths[path][method]
			op := operation{
				id: strings.Split(o.OperationID, "-"), method: strings.ToUpper(method), path: path, summary: o.Summary,
				params: ordered(path, o.Parameters), must: o.RequestBody.Required,
				again: method != "post" || slices.Contains(repeatable, o.OperationID),
			}
			if o.OperationID == "" {
				return nil, fmt.Errorf("%s %s has no operationId", method, path)
			}
			name := pascal(op.id...)
			var err error
			if op.body, err = lift.body(name+"Body", o.RequestBody.Content); err != nil {
				return nil, fmt.Errorf("%s %s: %w", method, path, err)
			}
			for i, p := range op.params {
				if op.params[i].Schema, err = lift.schema(name+pascal(words(p.Name)...), p.Schema); err != nil {
					return nil, err
				}
			}
			for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
				if !strings.HasPrefix(status, "2") {
					continue
				}
				_, stream := o.Responses[status].Content["text/event-stream"]
				op.stream = op.stream || stream
				answer, err := lift.body(name+"Answer", o.Responses[status].Content)
				if err != nil {
					return nil, fmt.Errorf("%s %s: %w", method, path, err)
				}
				if op.answer == nil {
					op.answer = answer
				} else if answer != nil && op.answer.Ref != answer.Ref {
					return nil, fmt.Errorf("%s %s answers with two types", method, path)
				}
			}
			d.operations = append(d.operations, op)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(lift.types)) {
		d.types = append(d.types, named{name, lift.types[name]})
	}
	return d, d.check(repeatable)
}

// check reports what would make the clients wrong.
func (d *document) check(repeatable []string) error {
	ids := map[string]bool{}
	for _, op := range d.operations {
		id := strings.Join(op.id, "-")
		if ids[id] {
			return fmt.Errorf("two operations are called %s", id)
		}
		ids[id] = true
	}
	for _, id := range repeatable {
		if !ids[id] {
			return fmt.Errorf("repeatable has %s, and no operation is called so", id)
		}
	}
	return nil
}

// A content is a body in one media type.
type content struct {
	Schema *schema `json:"schema"`
}

// ordered puts the parameters of the path first, in the order of the path.
func ordered(path string, list []param) []param {
	list = slices.Clone(list)
	at := func(p param) int {
		if p.In != "path" {
			return len(path)
		}
		return strings.Index(path, "{"+p.Name+"}")
	}
	slices.SortStableFunc(list, func(a, b param) int {
		if c := at(a) - at(b); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list
}

// A lifter gives names to objects that stand within others.
type lifter struct {
	taken map[string]*schema
	types map[string]*schema
}

// body returns the body of a request or of an answer, nil if there is none: JSON, or a
// file's bytes.
func (l *lifter) body(name string, all map[string]content) (*schema, error) {
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		if kind == "application/json" || kind == "text/event-stream" || kind == "application/octet-stream" {
			return l.schema(name, all[kind].Schema)
		}
	}
	if len(all) > 0 {
		return nil, errors.New("has a body that is no JSON")
	}
	return nil, nil //nolint:nilnil // no body
}

// schema returns s, or a reference to it if it is an object with fields.
func (l *lifter) schema(name string, s *schema) (*schema, error) {
	if s == nil {
		return &schema{}, nil
	}
	if err := l.parts(name, s); err != nil {
		return nil, err
	}
	if len(s.Properties) == 0 {
		return s, nil
	}
	if l.taken[name] != nil || l.types[name] != nil {
		return nil, fmt.Errorf("two types would be called %s", name)
	}
	l.types[name] = s
	return &schema{Ref: refPrefix + name, Description: s.Description, Type: slices.DeleteFunc(slices.Clone(s.Type), func(t string) bool { return t != "null" })}, nil
}

// parts lifts what stands within s.
func (l *lifter) parts(name string, s *schema) error {
	var err error
	for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
		if s.Properties[field], err = l.schema(name+pascal(words(field)...), s.Properties[field]); err != nil {
			return err
		}
	}
	if s.Items != nil {
		if s.Items, err = l.schema(name+"Item", s.Items); err != nil {
			return err
		}
	}
	if s.Additional != nil && s.Additional.of != nil {
		if s.Additional.of, err = l.schema(name+"Value", s.Additional.of); err != nil {
			return err
		}
	}
	for _, choices := range [][]*schema{s.OneOf, s.AnyOf} {
		for i := range choices {
			if choices[i], err = l.schema(fmt.Sprintf("%s%d", name, i+1), choices[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

const refPrefix = "#/components/schemas/"

// A form is how a language writes types.
type form struct {
	text, integer, number, boolean, null, unknown, bytes string

	name           func(string) string // of another type
	list, mapping  func(string) string
	union, literal func([]string) string
}

// of writes the type of a schema.
func (f form) of(s *schema) (string, error) {
	var parts []string
	switch {
	case s.Ref != "":
		name, found := strings.CutPrefix(s.Ref, refPrefix)
		if !found {
			return "", fmt.Errorf("a reference to %s", s.Ref)
		}
		parts = append(parts, f.name(name))
	case len(s.OneOf)+len(s.AnyOf) > 0:
		for _, c := range slices.Concat(s.OneOf, s.AnyOf) {
			p, err := f.of(c)
			if err != nil {
				return "", err
			}
			parts = append(parts, p)
		}
	case len(s.Enum) > 0:
		return f.enum(s)
	}
	for _, t := range s.Type {
		var p string
		switch t {
		case "string":
			if p = f.text; s.Format == "binary" {
				p = f.bytes
			}
		case "integer":
			p = f.integer
		case "number":
			p = f.number
		case "boolean":
			p = f.boolean
		case "null":
			p = f.null
		case "array":
			of, err := f.of(orAny(s.Items))
			if err != nil {
				return "", err
			}
			p = f.list(of)
		case "object":
			if len(parts) > 0 {
				continue // beside oneOf it says nothing more
			}
			var of *schema
			if s.Additional != nil {
				of = s.Additional.of
			}
			value, err := f.of(orAny(of))
			if err != nil {
				return "", err
			}
			p = f.mapping(value)
		default:
			return "", fmt.Errorf("a type %s", t)
		}
		parts = append(parts, p)
	}
	if len(parts) == 0 {
		return f.unknown, nil
	}
	return f.union(distinct(parts)), nil
}

// enum writes a type of some texts or numbers.
func (f form) enum(s *schema) (string, error) {
	var values []string
	null := slices.Contains(s.Type, "null")
	for _, v := range s.Enum {
		b, err := json.Marshal(v)
		if err != nil {
			return "", err
		}
		switch v.(type) {
		case nil:
			null = true
		case string, float64:
			values = append(values, string(b))
		default:
			return "", fmt.Errorf("a value %s of an enumeration", b)
		}
	}
	parts := []string{f.literal(values)}
	if null {
		parts = append(parts, f.null)
	}
	return f.union(parts), nil
}

func orAny(s *schema) *schema {
	if s == nil {
		return &schema{}
	}
	return s
}

// distinct returns the parts without repetitions, in their order.
func distinct(parts []string) []string {
	var out []string
	for _, p := range parts {
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// words splits a name such as last_hour, X-Request-Id or lastHour.
func words(name string) []string {
	var b strings.Builder
	for i, r := range name {
		switch {
		case r == '_' || r == '-' || r == '.' || r == '/' || r == '$':
			b.WriteByte(' ')
			continue
		case unicode.IsUpper(r) && i > 0 && !strings.HasSuffix(b.String(), " ") && unicode.IsLower(rune(name[i-1])):
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Fields(b.String())
}

// pascal writes words as in LastHour, and camel as in lastHour.
func pascal(words ...string) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return b.String()
}

func camel(words ...string) string { return words[0] + pascal(words[1:]...) }

// wrapped breaks a text into lines of at most width bytes, where it has spaces.
func wrapped(text string, width int) []string {
	var lines []string
	for _, w := range strings.Fields(text) {
		if n := len(lines); n > 0 && len(lines[n-1])+1+len(w) <= width {
			lines[n-1] += " " + w
		} else {
			lines = append(lines, w)
		}
	}
	return lines
}
