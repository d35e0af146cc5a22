package contract

import (
	"errors"
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
		reason := "has the wrong type"
		if sem.JSONKind != 0 && sem.GoType != nil {
			reason = "cannot be " + kindName(sem.JSONKind)
		}
		return &assemble.InputError{Path: path(sem.JSONPointer), Reason: reason}
	}
	return &assemble.InputError{Path: "input", Reason: oneLine(err.Error())}
}

// kindName is a JSON kind in words.
func kindName(k jsontext.Kind) string {
	switch k {
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number of this size or form"
	case '{':
		return "an object"
	case '[':
		return "a list"
	}
	return "this value"
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
