package config

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/earshot-ai/earshot/internal/yamlfile"
)

// A reader reads a YAML document into a struct, key by key, so that every problem
// is found and has its line. The library's own strict mode stops at one problem
// and quotes the lines around it (docs/decisions/102).
type reader struct {
	file     string
	sources  Sources
	problems []error
}

func readYAML(file string, data []byte, c *Config, sources Sources) []error {
	r := &reader{file: file, sources: sources}
	if err := yamlfile.Check(data); err != nil {
		return []error{fmt.Errorf("%s %w", file, err)}
	}
	doc, err := parser.ParseBytes(data, 0)
	if err != nil {
		// The library quotes the lines around, which may hold a pasted secret: only
		// the first line of its text is used.
		first, _, _ := strings.Cut(err.Error(), "\n")
		return []error{fmt.Errorf("%s: %s", file, first)}
	}
	if len(doc.Docs) > 1 {
		r.problems = append(r.problems, fmt.Errorf("%s: holds %d documents; one is read", file, len(doc.Docs)))
	}
	for _, d := range doc.Docs[:min(1, len(doc.Docs))] {
		if d.Body != nil && d.Body.Type() != ast.NullType && d.Body.Type() != ast.CommentType {
			r.block("", d.Body, reflect.ValueOf(c).Elem())
		}
	}
	return r.problems
}

func (r *reader) bad(n ast.Node, key, format string, args ...any) {
	r.problems = append(r.problems, fmt.Errorf("%s:%d: %s: %s", r.file, n.GetToken().Position.Line, key, fmt.Sprintf(format, args...)))
}

// found notes where a setting stands.
func (r *reader) found(path string, n ast.Node) {
	r.sources[path] = fmt.Sprintf("%s:%d", r.file, n.GetToken().Position.Line)
}

// block reads the keys of a mapping into a struct.
func (r *reader) block(path string, n ast.Node, v reflect.Value) {
	values, ok := mappingEntries(n)
	if !ok {
		r.bad(n, orWhole(path), "must be a block of keys")
		return
	}
	for _, kv := range values {
		key := kv.Key.GetToken().Value
		field, names := fieldOf(v, key)
		at := joinPath(path, key)
		switch {
		case !field.IsValid():
			r.bad(kv.Key, at, "%s", unknownKey(at, names))
		case kv.Value.Type() == ast.NullType:
			// A key without a value keeps the default.
		case field.Type() == reflect.TypeFor[[]Rule]():
			r.rules(at, kv.Value, field.Addr().Interface().(*[]Rule))
		case field.Kind() == reflect.Struct:
			r.block(at, kv.Value, field)
		case field.Kind() == reflect.Map && field.Type().Elem().Kind() == reflect.Struct:
			r.table(at, kv.Value, field)
		case field.Kind() == reflect.Slice && field.Type().Elem().Kind() == reflect.Struct:
			r.list(at, kv.Value, field)
		default:
			r.leaf(at, kv.Value, field)
		}
	}
}

// table reads a mapping of names to structs.
func (r *reader) table(path string, n ast.Node, v reflect.Value) {
	values, ok := mappingEntries(n)
	if !ok {
		r.bad(n, path, "must be a block of keys")
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for _, kv := range values {
		var name string
		if err := yaml.NodeToValue(kv.Key, &name); err != nil {
			r.bad(kv.Key, path, "a name must be a text")
			continue
		}
		r.found(joinPath(path, name), kv.Key)
		one := reflect.New(v.Type().Elem()).Elem()
		r.block(joinPath(path, name), kv.Value, one)
		v.SetMapIndex(reflect.ValueOf(name), one)
	}
}

// list reads a list of blocks.
func (r *reader) list(path string, n ast.Node, v reflect.Value) {
	values, ok := n.(*ast.SequenceNode)
	if !ok {
		r.bad(n, path, "must be a list")
		return
	}
	r.found(path, n)
	v.Set(reflect.MakeSlice(v.Type(), len(values.Values), len(values.Values)))
	for i, one := range values.Values {
		at := fmt.Sprintf("%s[%d]", path, i)
		r.found(at, one)
		r.block(at, one, v.Index(i))
	}
}

// rules reads the rules of channels: a list, or a block by id.
func (r *reader) rules(path string, n ast.Node, to *[]Rule) {
	if _, ok := mappingEntries(n); !ok {
		r.list(path, n, reflect.ValueOf(to).Elem())
		for i := range *to {
			(*to)[i].At = ruleAt(i)
		}
		return
	}
	var byID map[string]Rule
	r.table(path, n, reflect.ValueOf(&byID).Elem())
	*to = nil
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		one := byID[id]
		one.At = joinPath(path, id)
		if !reflect.ValueOf(one.Match).IsZero() {
			r.bad(n, one.At+".match", "is the id already; write channels as a list for other matches")
		}
		one.Match = Match{ID: List{id}}
		*to = append(*to, one)
	}
}

func (r *reader) leaf(path string, n ast.Node, v reflect.Value) {
	if v.Kind() == reflect.String && n.Type() != ast.StringType && n.Type() != ast.LiteralType {
		if n.Type() != ast.IntegerType && n.Type() != ast.FloatType {
			r.bad(n, path, "must be a text")
			return
		}
	}
	if r.found(path, n); v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if err := yaml.NodeToValue(n, v.Addr().Interface()); err != nil && !errors.Is(err, io.EOF) {
		r.bad(n, path, "must be %s", kindWord(v.Type()))
	}
}

// mappingEntries returns the entries of a mapping. The parser has another node type for
// a mapping of one entry.
func mappingEntries(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
}

// fieldOf returns the field of a struct with this key, and the names of all keys.
func fieldOf(v reflect.Value, key string) (field reflect.Value, names []string) {
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("yaml")
		if name == "-" || name == "" {
			continue
		}
		names = append(names, name)
		if name == key {
			field = v.Field(i)
		}
	}
	slices.Sort(names)
	return field, names
}

// unknownKey says that there is no such key, and the remedy.
func unknownKey(at string, names []string) string {
	if i := slices.IndexFunc(gone, func(g goneSetting) bool { return g.key == at }); i >= 0 {
		return gone[i].String()
	}
	low := strings.ToLower(at)
	for _, word := range []string{"key", "token", "secret", "password"} {
		if strings.HasSuffix(low, word) {
			return "unknown key; secrets are not read from this file: set the variable, or the one with _FILE appended (docs/configuration.md lists them)"
		}
	}
	return "unknown key; use one of " + strings.Join(names, ", ")
}

func joinPath(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func orWhole(path string) string {
	if path == "" {
		return "the configuration"
	}
	return path
}
