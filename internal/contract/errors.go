package contract

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-ai/earshot/assemble"
)

// inputError makes an [*assemble.InputError] of an error of the JSON decoder.
func inputError(err error) error {
	var sem *json.SemanticError
	var syn *jsontext.SyntacticError
	switch {
	case errors.As(err, &syn):
		reason := "is not JSON: " + syn.Err.Error()
		if errors.Is(err, jsontext.ErrDuplicateName) {
			reason = "stands twice"
		}
		return &assemble.InputError{Path: path(syn.JSONPointer), Reason: oneLine(reason)}
	case errors.As(err, &sem) && errors.Is(err, json.ErrUnknownName):
		return &assemble.InputError{Path: path(sem.JSONPointer), Reason: "unknown field"}
	case errors.As(err, &sem):
		at := path(sem.JSONPointer)
		return &assemble.InputError{Path: at, Reason: "must be " + form(sem.GoType, at[strings.LastIndexByte(at, '.')+1:])}
	}
	return &assemble.InputError{Path: "input", Reason: oneLine(err.Error())}
}

// form says how a value of a type is written, where it stands in a field.
func form(t reflect.Type, field string) string {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == nil:
		return "of another type"
	case t == reflect.TypeFor[Budget]():
		return `an object, such as {"tokens": 4000}`
	case t.Kind() == reflect.String && slices.Contains([]string{"time", "edited", "from", "to", "last", "revision"}, field):
		return `a string: RFC 3339, such as "2026-03-02T09:00:00Z", or a Slack ts, such as "1772442000.000000"`
	case t.Kind() == reflect.String:
		return "a string"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Slice:
		return "a list"
	case t.Kind() == reflect.Float64:
		return "a number"
	case t.Kind() == reflect.Int, t.Kind() == reflect.Int64:
		return "a whole number of at most 18 digits"
	}
	return "an object"
}

// path writes a JSON pointer as messages[0].time, on one line.
func path(p jsontext.Pointer) string {
	var b strings.Builder
	for token := range p.Tokens() {
		if _, err := strconv.Atoi(token); err == nil && b.Len() > 0 {
			b.WriteString("[" + token + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(oneLine(token))
	}
	if b.Len() == 0 {
		return "input"
	}
	return oneLine(b.String())
}

// oneLine keeps an error on one line, printable and short.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7F {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "") + "…"
	}
	return s
}
