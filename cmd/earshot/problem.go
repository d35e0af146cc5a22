package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot/assemble"
)

// A usageError is a command line or an input that cannot be used. It ends the
// program with status 2.
type usageError struct {
	text   string // whole, the remedy included
	remedy string // what to do about it; "" where text says only what is wrong
}

func (e *usageError) Error() string { return e.text }

// usagef returns a usageError. What stands behind the format's first "; " is
// the remedy.
func usagef(format string, args ...any) error {
	const mark = "\x00" // not "; ", which an argument may hold
	what, remedy, _ := strings.Cut(fmt.Sprintf(strings.Replace(format, "; ", mark, 1), args...), mark)
	if remedy == "" {
		return &usageError{text: what}
	}
	return &usageError{text: what + "; " + remedy, remedy: remedy}
}

// interrupted is what a person is told who has stopped a command that can go
// on.
type interrupted struct{ text string }

func (e *interrupted) Error() string { return e.text }
func (e *interrupted) Unwrap() error { return context.Canceled }

// problemJSON is an error as --json writes it: one line on stderr, the last.
type problemJSON struct {
	Error  string `json:"error"`
	Code   string `json:"code"` // usage, input, interrupted or failed
	Remedy string `json:"remedy,omitempty"`
}

// report writes err as one line and returns the exit status for it.
func (a *app) report(ctx context.Context, err error) int {
	if err == nil {
		return exitOK
	}
	if errors.Is(err, errClosed) {
		return exitFailed
	}
	p, status := problemJSON{Code: "failed"}, exitFailed
	var told *interrupted
	var usage *usageError
	var input *assemble.InputError
	switch {
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		p.Code = "interrupted"
		if !errors.As(err, &told) {
			err = errors.New("interrupted")
		}
	case errors.As(err, &usage):
		p.Code, p.Remedy, status = "usage", oneLine(usage.remedy), exitUsage
	case errors.As(err, &input):
		p.Code, status = "input", exitUsage
	}
	p.Error = oneLine(err.Error())
	if !a.json {
		fmt.Fprintf(a.err, "earshot: %s\n", p.Error)
		return status
	}
	enc := json.NewEncoder(a.err)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(p) // nobody is left to be told
	return status
}

// asksJSON reports whether a command line that could not be read has --json.
func asksJSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}

// oneLine joins the lines of an error and removes what a terminal would obey.
func oneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
}
