package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// typescriptForm is how TypeScript writes types.
var typescriptForm = form{
	text: "string", integer: "number", number: "number", boolean: "boolean", null: "null", unknown: "unknown", bytes: "Uint8Array",
	name: func(of string) string { return of },
	list: func(of string) string {
		if strings.Contains(of, " | ") {
			of = "(" + of + ")"
		}
		return of + "[]"
	},
	mapping: func(of string) string { return "Record<string, " + of + ">" },
	literal: func(values []string) string { return strings.Join(values, " | ") },
	union: func(parts []string) string {
		if slices.Contains(parts, "unknown") {
			return "unknown"
		}
		return strings.Join(parts, " | ")
	},
}

const typescriptHead = `// Written by "make clients" from docs/openapi.json. Do not edit: change the API, or .ci/clients.
// What Earshot's HTTP API takes and answers, and a method for each operation.

import type { CallOptions, ServerEvent, Transport } from "./transport.js";
`

// typescript writes the generated half of the TypeScript client.
func typescript(d *document) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(typescriptHead)
	for _, t := range d.types {
		if slices.Contains(strings.Fields("Array AsyncIterable CallOptions Operations Promise Record ServerEvent Transport"), t.name) {
			return nil, fmt.Errorf("the type %s has a name that is taken", t.name)
		}
		if err := typescriptType(&b, t); err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
	}
	b.WriteString("\n/** One method for each operation of the API. */\nexport class Operations {\n  readonly #transport: Transport;\n\n  constructor(transport: Transport) {\n    this.#transport = transport;\n  }\n")
	for _, op := range d.operations {
		if err := typescriptOperation(&b, op); err != nil {
			return nil, fmt.Errorf("%s %s: %w", op.method, op.path, err)
		}
	}
	b.WriteString("}\n")
	return b.Bytes(), nil
}

// typescriptType writes a type.
func typescriptType(b *bytes.Buffer, t named) error {
	b.WriteString("\n")
	comment(b, "", t.Description)
	if len(t.Properties) == 0 {
		text, err := typescriptForm.of(t.schema)
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "export type %s = %s;\n", t.name, text)
		return nil
	}
	fmt.Fprintf(b, "export interface %s {\n", t.name)
	for _, f := range slices.Sorted(maps.Keys(t.Properties)) {
		text, err := typescriptForm.of(t.Properties[f])
		if err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
		comment(b, "  ", t.Properties[f].Description)
		mark := ""
		if !slices.Contains(t.Required, f) {
			mark = "?"
			text = typescriptForm.union(distinct([]string{text, "undefined"}))
		}
		fmt.Fprintf(b, "  %s%s: %s;\n", property(f), mark, text)
	}
	b.WriteString("}\n")
	return nil
}

// comment writes a text as a documentation comment.
func comment(b *bytes.Buffer, indent, text string) {
	lines := wrapped(strings.ReplaceAll(text, "*/", "* /"), 100)
	switch len(lines) {
	case 0:
	case 1:
		fmt.Fprintf(b, "%s/** %s */\n", indent, lines[0])
	default:
		fmt.Fprintf(b, "%s/**\n", indent)
		for _, l := range lines {
			fmt.Fprintf(b, "%s * %s\n", indent, l)
		}
		fmt.Fprintf(b, "%s */\n", indent)
	}
}

// property writes the name of a field, quoted where it is no identifier.
func property(name string) string {
	if isPythonName(name) || slices.Contains(pythonKeywords, name) {
		return name // keywords may be names of fields
	}
	quoted, err := json.Marshal(name)
	if err != nil {
		return name // a string is always JSON
	}
	return string(quoted)
}

// typescriptOperation writes a method.
func typescriptOperation(b *bytes.Buffer, op operation) error {
	var params, query, headers, fields []string
	path := op.path
	must := false // an option is required
	for _, p := range op.params {
		name := camel(words(p.Name)...)
		kind, err := typescriptForm.of(p.Schema)
		if err != nil {
			return err
		}
		if p.In == "path" {
			path = strings.Replace(path, "{"+p.Name+"}", "${encodeURIComponent("+name+")}", 1)
			params = append(params, name+": "+kind)
			continue
		}
		value := fmt.Sprintf("%s: options.%s", property(p.Name), name)
		if p.joined() {
			value += "?.join()"
		}
		switch p.In {
		case "query":
			query = append(query, value)
		case "header":
			headers = append(headers, value)
		default:
			return fmt.Errorf("a parameter in %s", p.In)
		}
		var doc bytes.Buffer
		comment(&doc, "    ", p.Description)
		if p.Required {
			must = true
			fields = append(fields, doc.String()+"    "+name+": "+kind+";\n")
		} else {
			fields = append(fields, doc.String()+"    "+name+"?: "+kind+" | undefined;\n")
		}
	}
	if op.body != nil {
		kind, err := typescriptForm.of(op.body)
		if err != nil {
			return err
		}
		if !op.must {
			kind += " | undefined"
		}
		params = append(params, "body: "+kind)
	}
	options := "options: CallOptions"
	if len(fields) > 0 {
		options = "options: {\n" + strings.Join(fields, "") + "  } & CallOptions"
	}
	if !must {
		options += " = {}"
	}
	params = append(params, options)

	args := []string{fmt.Sprintf("method: %q", op.method)}
	if path == op.path {
		args = append(args, fmt.Sprintf("path: %q", path))
	} else {
		args = append(args, "path: `"+path+"`")
	}
	if len(query) > 0 {
		args = append(args, "query: { "+strings.Join(query, ", ")+" }")
	}
	if len(headers) > 0 {
		args = append(args, "headers: { "+strings.Join(headers, ", ")+" }")
	}
	if op.body != nil {
		args = append(args, "body")
	}
	if op.again {
		args = append(args, "again: true")
	}
	answer := "void"
	if op.answer != nil {
		var err error
		if answer, err = typescriptForm.of(op.answer); err != nil {
			return err
		}
	}
	result, call := "Promise<"+answer+">", "call<"+answer+">"
	if op.stream {
		result, call = "AsyncIterable<ServerEvent>", "stream"
	}
	b.WriteString("\n")
	comment(b, "  ", strings.TrimSuffix(op.summary, ".")+": "+op.method+" "+op.path+".")
	fmt.Fprintf(b, "  %s(%s): %s {\n    return this.#transport.%s({ %s }, options);\n  }\n", camel(op.id...), strings.Join(params, ", "), result, call, strings.Join(args, ", "))
	return nil
}
