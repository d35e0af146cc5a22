// Package openapi checks requests and answers against Discord's OpenAPI description,
// so that tests find out when what is sent is not what Discord documents.
//
//	v, err := openapi.Load(os.DirFS(dir), "spec/discord-openapi.json")
//	s, err := discord.New(&discord.Options{Observe: func(method, path string, query url.Values, body []byte, contentType string) {
//		if err := v.Check(method, path, query, body, contentType); err != nil {
//			t.Error(err)
//		}
//	}})
//
// The description is at https://github.com/discord/discord-api-spec; it is not part
// of Earshot.
//
// Unstable: what this package exports may change with any version.
package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"mime"
	"mime/multipart"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

type object = map[string]any

// A Validator knows a description. It is safe for concurrent use.
type Validator struct {
	schemas    object // of components
	operations []operation
	requests   func() (*jsonschema.Resolved, error)
	answers    func() (*jsonschema.Resolved, error)
}

// An operation is one method of one path.
type operation struct {
	id, method string
	path       []string // segments; {name} stands for any
	query      object   // the schema of the query, as an object
	params     object   // the schemas of the path's values, by their names with braces
	body       any      // the schema of a JSON body, nil for none
	required   bool     // the body
	answers    map[string]any
}

// Load reads a description.
func Load(fsys fs.FS, name string) (*Validator, error) {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	return Parse(data)
}

// Parse reads a description from its text.
func Parse(data []byte) (*Validator, error) {
	var doc struct {
		Paths      map[string]map[string]json.RawMessage `json:"paths"`
		Components struct {
			Schemas object `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("read the description: %w", err)
	}
	v := &Validator{schemas: doc.Components.Schemas}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		methods := doc.Paths[path]
		for _, method := range slices.Sorted(maps.Keys(methods)) {
			if method == "parameters" {
				continue
			}
			o, err := readOperation(method, path, methods[method], methods["parameters"])
			if err != nil {
				return nil, fmt.Errorf("read the description: %s %s: %w", method, path, err)
			}
			v.operations = append(v.operations, o)
		}
	}
	if len(v.operations) == 0 || len(v.schemas) == 0 {
		return nil, errors.New("read the description: it has no operations")
	}
	v.requests = sync.OnceValues(func() (*jsonschema.Resolved, error) { return v.resolve(true) })
	v.answers = sync.OnceValues(func() (*jsonschema.Resolved, error) { return v.resolve(false) })
	return v, nil
}

// find returns the operation of a path, which names the least with {…}.
func (v *Validator) find(method, path string) (o operation, values map[string]string, err error) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	best := -1
	var methods []string
	for _, candidate := range v.operations {
		if len(candidate.path) != len(parts) {
			continue
		}
		literal, found := 0, map[string]string{}
		for i, p := range candidate.path {
			switch {
			case strings.HasPrefix(p, "{"):
				found[p] = parts[i]
			case p == parts[i]:
				literal++
			default:
				literal = -len(parts) - 1
			}
		}
		if literal < 0 {
			continue
		}
		methods = append(methods, candidate.method)
		if candidate.method == method && literal > best {
			best, o, values = literal, candidate, found
		}
	}
	switch {
	case best >= 0:
		return o, values, nil
	case methods != nil:
		return o, nil, fmt.Errorf("%s %s: Discord's description has only %s", method, path, strings.Join(slices.Compact(slices.Sorted(slices.Values(methods))), ", "))
	}
	return o, nil, fmt.Errorf("%s %s: Discord's description has no such path", method, path)
}

// Check returns what is wrong with a request, or nil. path has no prefix such as
// /api/v10, and may be escaped. A form is checked by its payload_json. Properties and
// parameters that the description does not list are errors.
func (v *Validator) Check(method, path string, query url.Values, body []byte, contentType string) error {
	o, values, err := v.find(method, path)
	if err != nil {
		return err
	}
	wrong := func(what string, err error) error {
		return fmt.Errorf("%s %s (%s): %s: %w", method, path, o.id, what, err)
	}
	rules, err := v.requests()
	if err != nil {
		return err
	}
	for name, text := range values {
		plain, err := url.PathUnescape(text)
		if err != nil {
			return wrong(name, err)
		}
		if err := rules.Validate(object{"path " + o.id + " " + name: v.typed(o.params[name], plain)}); err != nil {
			return wrong(name, err)
		}
	}
	asked := object{}
	for name, list := range query {
		fields, _ := o.query["properties"].(object)
		asked[name] = v.typed(fields[name], list...)
	}
	if err := rules.Validate(object{"query " + o.id: asked}); err != nil {
		return wrong("query", err)
	}
	if body, err = payload(body, contentType); err != nil {
		return wrong("body", err)
	}
	switch {
	case len(body) == 0 && o.required:
		return wrong("body", errors.New("it is missing"))
	case len(body) == 0:
		return nil
	case o.body == nil:
		return wrong("body", errors.New("the operation takes none"))
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return wrong("body", err)
	}
	if err := rules.Validate(object{"body " + o.id: value}); err != nil {
		return wrong("body", err)
	}
	return nil
}

// Answer returns in what the body of an answer differs from the description, or nil.
// Properties that are not listed are no error. An answer for which the description
// has no schema is not looked at.
func (v *Validator) Answer(method, path string, status int, body []byte) error {
	o, _, err := v.find(method, path)
	if err != nil {
		return err
	}
	schema, ok := o.answers[strconv.Itoa(status)]
	switch {
	case !ok && status < 400:
		return fmt.Errorf("%s %s (%s): Discord's description has no answer with status %d", method, path, o.id, status)
	case schema == nil && status < 300 && len(body) > 0:
		return fmt.Errorf("%s %s (%s): the answer should be empty", method, path, o.id)
	case schema == nil:
		return nil
	}
	rules, err := v.answers()
	if err != nil {
		return err
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return fmt.Errorf("%s %s (%s): %w", method, path, o.id, err)
	}
	if err := rules.Validate(object{"answer " + o.id + " " + strconv.Itoa(status): value}); err != nil {
		return fmt.Errorf("%s %s (%s): answer: %w", method, path, o.id, err)
	}
	return nil
}

// payload is the JSON of a body: all of it, or the payload_json of a form.
func payload(body []byte, contentType string) ([]byte, error) {
	if len(body) == 0 {
		return nil, nil
	}
	kind, about, err := mime.ParseMediaType(contentType)
	switch {
	case err != nil:
		return nil, fmt.Errorf("its type is %q: %w", contentType, err)
	case kind == "application/json":
		return body, nil
	case kind != "multipart/form-data":
		return nil, fmt.Errorf("its type is %q, want application/json or multipart/form-data", contentType)
	}
	form, err := multipart.NewReader(bytes.NewReader(body), about["boundary"]).ReadForm(32 << 20)
	if err != nil {
		return nil, err
	}
	defer form.RemoveAll() //nolint:errcheck // nothing of it is kept
	for name := range form.File {
		if !fileField.MatchString(name) {
			return nil, fmt.Errorf("a file is called %q, want files[0] to files[9]", name)
		}
	}
	for name, values := range form.Value {
		if name != "payload_json" || len(values) != 1 {
			return nil, fmt.Errorf("the form has %d of %q, want one payload_json", len(values), name)
		}
		return []byte(values[0]), nil
	}
	return []byte("{}"), nil
}

var fileField = regexp.MustCompile(`^files\[[0-9]\]$`)
