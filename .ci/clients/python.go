package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// pythonForm is how Python 3.9 writes types. They are only read by type checkers.
var pythonForm = form{
	text: "str", integer: "int", number: "float", boolean: "bool", null: "None", unknown: "Any", bytes: "bytes",
	name:    func(of string) string { return of },
	list:    func(of string) string { return "List[" + of + "]" },
	mapping: func(of string) string { return "Dict[str, " + of + "]" },
	literal: func(values []string) string { return "Literal[" + strings.Join(values, ", ") + "]" },
	union: func(parts []string) string {
		rest := slices.DeleteFunc(slices.Clone(parts), func(p string) bool { return p == "None" })
		text := strings.Join(rest, ", ")
		switch {
		case slices.Contains(parts, "Any"):
			return "Any"
		case len(rest) > 1:
			text = "Union[" + text + "]"
		case len(rest) == 0:
			return "None"
		}
		if len(rest) < len(parts) {
			text = "Optional[" + text + "]"
		}
		return text
	},
}

// pythonKeywords cannot be names of fields or parameters.
var pythonKeywords = strings.Fields(`False None True and as assert async await break class continue def del elif else except finally
	for from global if import in is lambda nonlocal not or pass raise return try while with yield`)

// python writes the types of the generated half of the Python client.
func python(d *document) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(pythonHead)
	for _, t := range d.types {
		if slices.Contains(strings.Fields("Any AsyncIterator Dict Iterator List Literal Operations Optional ServerEvent Transport TypedDict Union"), t.name) {
			return nil, fmt.Errorf("the type %s has a name that is taken", t.name)
		}
		if err := pythonType(&b, t); err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return b.Bytes(), nil
}

// pythonOperations writes the operations for an asynchronous program.
func pythonOperations(d *document) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(pythonOperationsHead)
	b.WriteString("\n\nclass Operations:\n    \"\"\"One method for each operation of the API.\"\"\"\n\n    def __init__(self, transport: Transport) -> None:\n        self._transport = transport\n")
	for _, op := range d.operations {
		if err := pythonOperation(&b, op); err != nil {
			return nil, fmt.Errorf("%s %s: %w", op.method, op.path, err)
		}
	}
	return b.Bytes(), nil
}

const pythonHead = `# Written by "make clients" from docs/openapi.json. Do not edit: change the API, or .ci/clients.
"""What Earshot's HTTP API takes and answers.

The types are dictionaries, as JSON has them; a type checker knows their keys.
"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union
`

const pythonOperationsHead = `# Written by "make clients" from docs/openapi.json. Do not edit: change the API, or .ci/clients.
"""A method for each operation of Earshot's HTTP API."""

from __future__ import annotations

from typing import Any, AsyncIterator, Dict, List, Literal, Optional, Union, cast

from .._generated import *
from ._transport import ServerEvent, Transport, joined, quoted
`

// pythonType writes a type. Fields that may be absent stand in a class of their own,
// because Python 3.9 has no other way to say it.
func pythonType(b *bytes.Buffer, t named) error {
	if len(t.Properties) == 0 {
		alias := pythonForm // this line runs, before what it names may be defined
		alias.name = func(of string) string { return fmt.Sprintf("%q", of) }
		text, err := alias.of(t.schema)
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "\n\n%s = %s\n", t.name, text)
		return nil
	}
	must, may := []string{}, []string{}
	for _, field := range slices.Sorted(maps.Keys(t.Properties)) {
		if slices.Contains(t.Required, field) {
			must = append(must, field)
		} else {
			may = append(may, field)
		}
	}
	if len(may) == 0 {
		return pythonClass(b, t, t.name, "TypedDict", must)
	}
	if len(must) == 0 {
		return pythonClass(b, t, t.name, "TypedDict, total=False", may)
	}
	base := t
	base.schema = &schema{Properties: t.Properties}
	if err := pythonClass(b, base, "_"+t.name, "TypedDict", must); err != nil {
		return err
	}
	return pythonClass(b, t, t.name, "_"+t.name+", total=False", may)
}

// pythonClass writes a class of some of a type's fields. If one of them is a
// keyword, they are written as a call, which only a base can be.
func pythonClass(b *bytes.Buffer, t named, name, bases string, fields []string) error {
	odd := slices.ContainsFunc(fields, func(f string) bool { return !isPythonName(f) })
	if odd && strings.HasPrefix(bases, "_") {
		base, _, _ := strings.Cut(bases, ",")
		if err := pythonCall(b, t, "_"+name+"More", fields); err != nil {
			return err
		}
		fmt.Fprintf(b, "\n\nclass %s(%s, _%sMore):\n    %s\n", name, base, name, docstring(t.Description, name))
		return nil
	}
	if odd {
		return pythonCall(b, t, name, fields, strings.Contains(bases, "total"))
	}
	fmt.Fprintf(b, "\n\nclass %s(%s):\n", name, bases)
	if t.Description != "" {
		fmt.Fprintf(b, "    %s\n\n", docstring(t.Description, name))
	}
	for _, f := range fields {
		text, err := pythonForm.of(t.Properties[f])
		if err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
		for _, line := range wrapped(t.Properties[f].Description, 90) {
			fmt.Fprintf(b, "    # %s\n", line)
		}
		fmt.Fprintf(b, "    %s: %s\n", f, text)
	}
	return nil
}

// pythonCall writes a type in the form that allows any key.
func pythonCall(b *bytes.Buffer, t named, name string, fields []string, optional ...bool) error {
	fmt.Fprintf(b, "\n\n%s = TypedDict(\n    %q,\n    {\n", name, name)
	for _, f := range fields {
		text, err := pythonForm.of(t.Properties[f])
		if err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
		for _, line := range wrapped(t.Properties[f].Description, 90) {
			fmt.Fprintf(b, "        # %s\n", line)
		}
		fmt.Fprintf(b, "        %q: %q,\n", f, text)
	}
	b.WriteString("    },\n")
	if len(optional) == 0 || optional[0] {
		b.WriteString("    total=False,\n")
	}
	b.WriteString(")\n")
	return nil
}

func isPythonName(s string) bool {
	if slices.Contains(pythonKeywords, s) {
		return false
	}
	for i, r := range s {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// docstring writes a text as a docstring of one line or more.
func docstring(text, otherwise string) string {
	if text == "" {
		text = otherwise
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, `\`, `\\`), `"`, `'`)
	return `"""` + strings.Join(wrapped(text, 90), "\n    ") + `"""`
}

// pythonOperation writes a method.
func pythonOperation(b *bytes.Buffer, op operation) error {
	type argument struct{ name, kind string }
	var first, later []string // parameters; the later ones by name only
	var docs []string
	query, headers := []argument{}, []argument{}
	path := op.path
	for _, p := range op.params {
		name := strings.Join(words(p.Name), "_")
		if slices.Contains(pythonKeywords, name) {
			name += "_"
		}
		kind, err := pythonForm.of(p.Schema)
		if err != nil {
			return err
		}
		if p.Description != "" {
			docs = append(docs, name+": "+p.Description)
		}
		switch {
		case p.In == "path":
			path = strings.Replace(path, "{"+p.Name+"}", "{quoted("+name+")}", 1)
			first = append(first, name+": "+kind)
			continue
		case p.Required:
			later = append(later, name+": "+kind)
		default:
			later = append(later, name+": "+pythonForm.union([]string{kind, "None"})+" = None")
		}
		switch p.In {
		case "query":
			if p.joined() {
				name = "joined(" + name + ")"
			}
			query = append(query, argument{p.Name, name})
		case "header":
			headers = append(headers, argument{p.Name, name})
		default:
			return fmt.Errorf("a parameter in %s", p.In)
		}
	}
	if op.body != nil {
		kind, err := pythonForm.of(op.body)
		if err != nil {
			return err
		}
		if op.must {
			first = append(first, "body: "+kind)
		} else {
			first = append(first, "body: "+pythonForm.union([]string{kind, "None"})+" = None")
		}
	}
	params := append([]string{"self"}, first...)
	if len(later) > 0 {
		// Those without a default may stand behind those with one: all are by name.
		params = append(append(params, "*"), later...)
	}
	answer := "None"
	if op.answer != nil {
		var err error
		if answer, err = pythonForm.of(op.answer); err != nil {
			return err
		}
	}
	if op.stream {
		answer = "AsyncIterator[ServerEvent]"
	}
	def := "async def"
	if op.stream {
		def = "def" // of an iterator that waits
	}
	signature := fmt.Sprintf("    %s %s(%s) -> %s:\n", def, strings.Join(op.id, "_"), strings.Join(params, ", "), answer)
	if len(signature) > 101 {
		signature = fmt.Sprintf("    %s %s(\n        %s,\n    ) -> %s:\n", def, strings.Join(op.id, "_"), strings.Join(params, ",\n        "), answer)
	}
	b.WriteString("\n" + signature)
	text := strings.TrimSuffix(op.summary, ".") + ": " + op.method + " " + op.path + "."
	fmt.Fprintf(b, "        \"\"\"%s", strings.ReplaceAll(text, `"`, `'`))
	if len(docs) > 0 {
		b.WriteString("\n")
		for _, d := range docs {
			for i, line := range wrapped(strings.ReplaceAll(d, `"`, `'`), 86) {
				b.WriteString("\n        ")
				if i > 0 {
					b.WriteString("    ")
				}
				b.WriteString(line)
			}
		}
		b.WriteString("\n        ")
	}
	b.WriteString("\"\"\"\n")

	args := []string{fmt.Sprintf("%q", op.method), fmt.Sprintf("%q", path)}
	if path != op.path {
		args[1] = "f" + args[1]
	}
	table := func(name string, list []argument) {
		var parts []string
		for _, a := range list {
			parts = append(parts, fmt.Sprintf("%q: %s", a.name, a.kind))
		}
		if len(parts) > 0 {
			args = append(args, name+"={"+strings.Join(parts, ", ")+"}")
		}
	}
	table("query", query)
	table("headers", headers)
	if op.body != nil {
		args = append(args, "body=body")
	}
	if op.again {
		args = append(args, "again=True")
	}
	function := "call"
	if op.stream {
		function = "stream"
	}
	call := fmt.Sprintf("self._transport.%s(%s)", function, strings.Join(args, ", "))
	switch {
	case op.stream:
		fmt.Fprintf(b, "        return %s\n", call)
	case op.answer != nil:
		fmt.Fprintf(b, "        answer = await %s\n        return cast(%q, answer)\n", call, answer)
	default:
		fmt.Fprintf(b, "        await %s\n", call)
	}
	return nil
}
