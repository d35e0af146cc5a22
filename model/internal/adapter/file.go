package adapter

import (
	"strings"

	"github.com/earshot-ai/earshot/llm"
)

// MediaType returns a file's media type in lower case and without parameters.
func MediaType(m llm.Media) string {
	t, _, _ := strings.Cut(m.Type, ";")
	return strings.ToLower(strings.TrimSpace(t))
}

// Content returns a text file's content as valid UTF-8.
func Content(m llm.Media) string { return strings.ToValidUTF8(string(m.Data), "\uFFFD") }

// Unreadable is the line that a model reads in place of a file of a type that
// its provider does not take.
func Unreadable(m llm.Media) string {
	return "[" + Describe(m) + " is attached, but you cannot be given files of this type]"
}

// Describe names a file in one line.
func Describe(m llm.Media) string {
	kind := oneLine(m.Type)
	if m.Name == "" {
		return "a file (" + kind + ")"
	}
	return oneLine(m.Name) + " (" + kind + ")"
}

// oneLine returns s without the characters that could end a line or a bracket.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' || r == '\u0085':
			return ' '
		case r == '[' || r == ']':
			return '_'
		}
		return r
	}, s)
}
