package openapi

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

type parameter struct {
	Name     string `json:"name"`
	In       string `json:"in"`
	Required bool   `json:"required"`
	Schema   any    `json:"schema"`
}

func readOperation(method, path string, data, common json.RawMessage) (operation, error) {
	var spec struct {
		ID         string      `json:"operationId"`
		Parameters []parameter `json:"parameters"`
		Body       *struct {
			Required bool `json:"required"`
			Content  map[string]struct {
				Schema any `json:"schema"`
			} `json:"content"`
		} `json:"requestBody"`
		Responses map[string]struct {
			Content map[string]struct {
				Schema any `json:"schema"`
			} `json:"content"`
		} `json:"responses"`
	}
	if err := json.Unmarshal(data, &spec); err != nil {
		return operation{}, err
	}
	var shared []parameter
	if len(common) > 0 {
		if err := json.Unmarshal(common, &shared); err != nil {
			return operation{}, err
		}
	}
	o := operation{
		id: spec.ID, method: strings.ToUpper(method), path: strings.Split(strings.Trim(path, "/"), "/"),
		params: object{}, answers: map[string]any{},
	}
	fields, required := object{}, []any{}
	for _, p := range append(shared, spec.Parameters...) {
		switch p.In {
		case "path":
			o.params["{"+p.Name+"}"] = p.Schema
		case "query":
			fields[p.Name] = p.Schema
			if p.Required {
				required = append(required, p.Name)
			}
		}
	}
	o.query = object{"type": "object", "properties": fields, "required": required, "additionalProperties": false}
	if spec.Body != nil {
		o.body, o.required = spec.Body.Content["application/json"].Schema, spec.Body.Required
	}
	for status, r := range spec.Responses {
		o.answers[status] = r.Content["application/json"].Schema
	}
	return o, nil
}

// resolve makes one schema of the whole description: its properties are the bodies,
// queries and answers of the operations, so that a value of any can be checked by its
// name. closed refuses properties that a schema does not list.
func (v *Validator) resolve(closed bool) (*jsonschema.Resolved, error) {
	all := object{}
	for _, o := range v.operations {
		if closed {
			all["query "+o.id] = o.query
			for name, schema := range o.params {
				all["path "+o.id+" "+name] = schema
			}
			if o.body != nil {
				all["body "+o.id] = o.body
			}
			continue
		}
		for status, schema := range o.answers {
			if schema != nil {
				all["answer "+o.id+" "+status] = schema
			}
		}
	}
	whole := object{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": rewrite(all, closed, false),
		"additionalProperties": false, "$defs": rewrite(v.schemas, closed, false),
	}
	data, err := json.Marshal(whole)
	if err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, err
	}
	return s.Resolve(nil)
}

// rewrite copies a schema, with its references to where resolve puts what they mean.
// A part of allOf is never closed: the other parts list the rest.
func rewrite(v any, closed, part bool) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = rewrite(v[i], closed, part)
		}
		return out
	case object:
		out := object{}
		for k, inner := range v {
			if text, ok := inner.(string); ok && k == "$ref" {
				out[k] = strings.Replace(text, "#/components/schemas/", "#/$defs/", 1)
				continue
			}
			out[k] = rewrite(inner, closed, k == "allOf")
		}
		if fields, ok := v["properties"].(object); ok && closed && !part && len(fields) > 0 && v["additionalProperties"] == nil {
			out["additionalProperties"] = false
		}
		return out
	}
	return v
}

// typed is the text of a parameter as the type that its schema names.
func (v *Validator) typed(schema any, texts ...string) any {
	types := v.types(schema, 0)
	if slices.Contains(types, "array") {
		list := []any{}
		s, _ := schema.(object)
		for _, text := range texts {
			list = append(list, v.typed(s["items"], text))
		}
		return list
	}
	if len(texts) != 1 {
		list := []any{}
		for _, text := range texts {
			list = append(list, text)
		}
		return list
	}
	text := texts[0]
	if slices.Contains(types, "integer") || slices.Contains(types, "number") {
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			return n
		}
	}
	if slices.Contains(types, "boolean") {
		if b, err := strconv.ParseBool(text); err == nil {
			return b
		}
	}
	return text
}

// types are those that a schema allows, as far as it says so itself.
func (v *Validator) types(schema any, depth int) []string {
	s, ok := schema.(object)
	if !ok || depth > 10 {
		return nil
	}
	if ref, ok := s["$ref"].(string); ok {
		return v.types(v.schemas[strings.TrimPrefix(ref, "#/components/schemas/")], depth+1)
	}
	var out []string
	switch t := s["type"].(type) {
	case string:
		out = append(out, t)
	case []any:
		for _, one := range t {
			text, _ := one.(string)
			out = append(out, text)
		}
	}
	for _, k := range []string{"oneOf", "anyOf", "allOf"} {
		list, _ := s[k].([]any)
		for _, one := range list {
			out = append(out, v.types(one, depth+1)...)
		}
	}
	return out
}
