package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/daemon/config"
)

// A usageError is a command line or an input that cannot be used. It ends the
// program with status 2.
type usageError struct {
	text   string // whole, the remedy included
	remedy string // what to do about it; "" where text says only what is wrong
}

func (e *usageError) Error() string { return e.text }

// usagef returns a usageError. The part of the format after its first "; " is
// the remedy.
func usagef(format string, args ...any) error {
	const mark = "\x00" // not "; ", which an argument may hold
	what, remedy, _ := strings.Cut(fmt.Sprintf(strings.Replace(format, "; ", mark, 1), args...), mark)
	if remedy == "" {
		return &usageError{text: what}
	}
	return &usageError{text: what + "; " + remedy, remedy: remedy}
}

// An interruptedError ends a command that a person has stopped and that can be
// continued; its text says how.
type interruptedError struct{ text string }

func (e *interruptedError) Error() string { return e.text }
func (e *interruptedError) Unwrap() error { return context.Canceled }

// errNothing ends a command that has looked for something and says on standard
// output that there is none; it is not reported, and its status is 1.
var errNothing = errors.New("found nothing")

// A statusError ends the program with a status of its own.
type statusError struct {
	err    error
	status int
}

func (e *statusError) Error() string { return e.err.Error() }
func (e *statusError) Unwrap() error { return e.err }

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
	p, status := problemJSON{Code: "failed"}, exitFailed
	of := (*statusError)(nil)
	if errors.As(err, &of) {
		status = of.status
	}
	if errors.Is(err, errClosed) || errors.Is(err, errNothing) {
		return status
	}
	var told *interruptedError
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
	if of != nil {
		status = of.status
	}
	p.Error = oneLine(err.Error())
	if !a.json && a.jsonLogs() {
		a.logger(config.Log{}, false).Error("the command ended with an error", "err", p.Error, "code", p.Code)
		return status
	}
	if !a.json {
		fmt.Fprintf(a.err, "earshot: %s\n", p.Error)
		return status
	}
	enc := json.NewEncoder(a.log)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(p) // there is no other place to report to
	return status
}

// asksJSON reports whether a command line that could not be parsed has --json.
func asksJSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}

// oneLine joins the lines of an error and removes control characters.
func oneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
}

// commandLineError returns the error for a command line that kong could not parse.
func commandLineError(err error, args []string) error {
	help := remedyFor(args)
	return &usageError{text: err.Error() + help, remedy: strings.Trim(help, "; ()")}
}

// remedyFor returns what may help with a command line that kong could not parse.
func remedyFor(args []string) string {
	if i := slices.Index(args, "import"); i >= 0 && i+1 < len(args) {
		path, kind := args[i+1], "slack"
		if strings.HasSuffix(strings.TrimSuffix(path, ".gz"), ".jsonl") {
			kind = "jsonl"
		}
		if path != "slack" && path != "jsonl" && !strings.HasPrefix(path, "-") {
			return fmt.Sprintf("; say what it is: earshot import %s %s", kind, shellWord(path))
		}
	}
	if i := slices.Index(args, "where"); i >= 0 && i+2 < len(args) && !strings.HasPrefix(args[i+1]+args[i+2], "-") {
		return fmt.Sprintf("; put a text of several words in quotes: earshot where %s", shellWord(strings.Join(args[i+1:], " ")))
	}
	if i := slices.Index(args, "search"); i >= 0 && i+2 < len(args) && !slices.Contains(args, "--") {
		for _, w := range args[i+2:] {
			if len(w) > 1 && w[0] == '-' && w[1] != '-' && w[1] != 'n' {
				return fmt.Sprintf("; if %s is to be looked for, put -- before the words: earshot search %s -- %s", w, shellWord(args[i+1]), shellWord(w))
			}
		}
	}
	return " (earshot --help lists commands)"
}
