// Command earshot shows, for any message of a real workspace, what an agent
// would have seen there, and why.
//
// Each command is in the file of its name (earshot turn is turn.go): a struct
// that kong fills from the command line, its help and its Run method. A further
// part of a command follows the name (turn_show.go). What commands share is in
// the files that begin with app, and [app] is one run of the program: its
// streams, its environment, the database's place and how output is written.
// Package internal/terminal turns values into lines for a terminal.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// A closed pipe is a write error, so that deferred clean-up runs.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args, os.Environ(), os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// The exit statuses.
const (
	exitOK     = 0
	exitFailed = 1 // the work could not be done
	exitUsage  = 2 // the command line or its input cannot be used
)

// run is the program: args[0] is its name. It returns the exit status. An
// error is one line on stderr.
func run(ctx context.Context, args, environ []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	out := &outputSink{w: stdout, stop: stop}
	a := newApp(environ, stdin, stdout, out, stderr)
	defer func() {
		// Kong ends --help and the like through its Exit hook, which must not
		// return.
		switch r := recover().(type) {
		case nil:
		case exitStatus:
			code = int(r)
			if err := out.check(nil); err != nil {
				code = a.report(ctx, err)
			}
		default:
			panic(r)
		}
	}()
	return a.report(ctx, out.check(a.execute(ctx, args[1:])))
}

// exitStatus carries an exit status out of kong's Exit hook.
type exitStatus int
