package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/goccy/go-yaml"
)

// fileWidth is how wide a comment of a written file is.
const fileWidth = 96

// File returns c as a configuration file with a comment on each setting. What differs
// from the defaults is set; the rest is commented out, with its default: a line from
// which the # is removed is a setting. The blocks of other platforms are left out, as
// are secrets, which no file has.
func (c Config) File() (string, error) {
	w := &fileWriter{platform: c.Platform}
	w.comment("", "Earshot's settings. A line that begins with # and a key has the default: remove the # to change it. Variables of the environment win over this file; tokens and keys stand in the environment only.")
	w.text.WriteString("\n")
	err := w.block("", reflect.ValueOf(c), reflect.ValueOf(Default()))
	return w.text.String(), err
}

// A fileWriter writes a configuration file.
type fileWriter struct {
	platform string
	text     strings.Builder
}

// block writes the settings of a struct, those that have blocks of their own last.
func (w *fileWriter) block(indent string, v, standard reflect.Value) error {
	var below []int
	for i := range v.NumField() {
		f := v.Type().Field(i)
		switch {
		case f.Tag.Get("yaml") == "-":
		case f.Type.Kind() == reflect.Struct:
			below = append(below, i)
		default:
			if err := w.setting(indent, f, v.Field(i), standard.Field(i)); err != nil {
				return err
			}
		}
	}
	for _, i := range below {
		f := v.Type().Field(i)
		key := f.Tag.Get("yaml")
		if key != w.platform && slices.Contains(Platforms, key) {
			continue
		}
		w.text.WriteString("\n")
		w.comment(indent, f.Tag.Get("doc"))
		fmt.Fprintf(&w.text, "%s%s:\n", indent, key) // without a setting below it, it keeps the defaults
		if err := w.block(indent+"  ", v.Field(i), standard.Field(i)); err != nil {
			return err
		}
	}
	return nil
}

// setting writes one setting, with what it is.
func (w *fileWriter) setting(indent string, f reflect.StructField, v, standard reflect.Value) error {
	value, err := yaml.MarshalWithOptions(v.Interface(), yaml.Flow(true))
	if err != nil {
		return fmt.Errorf("write %s: %w", f.Tag.Get("yaml"), err)
	}
	w.comment(indent, f.Tag.Get("doc"))
	mark := "#"
	if !reflect.DeepEqual(v.Interface(), standard.Interface()) {
		mark = ""
	}
	text := strings.TrimSpace(string(value))
	if text == "null" { // a list or a table without entries
		text = map[reflect.Kind]string{reflect.Slice: "[]", reflect.Map: "{}"}[v.Kind()]
	}
	fmt.Fprintf(&w.text, "%s%s%s: %s\n", indent, mark, f.Tag.Get("yaml"), text)
	return nil
}

func (w *fileWriter) comment(indent, text string) {
	for line := range strings.Lines(ansi.Wordwrap(text, fileWidth-len(indent), "")) {
		fmt.Fprintf(&w.text, "%s# %s\n", indent, strings.TrimSpace(line))
	}
}
