// Command earshot-eval measures on chat data what search finds and what prompts hold,
// which docs/quality.md describes. It is no part of the program that is shipped, and
// earshot-eval runs it where it is installed.
//
// Each command is in the file of its name: a struct that kong fills from the command
// line, its help and its Run method. What is measured is package internal/eval's.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/charmbracelet/colorprofile"
	"golang.org/x/term"

	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/yamlfile"
)

// commands is the command line. No command asks a model unless a flag says so, and the
// same data gives the same figures.
type commands struct {
	JSON bool `name:"json" help:"Write JSON for programs."`

	Retrieval retrievalCmd `cmd:"" help:"Measure how many of the messages that hold an answer search finds."`
	Context   contextCmd   `cmd:"" help:"Measure how many of those messages each policy's prompt contains."`
	Scenes    scenesCmd    `cmd:"" help:"Check the prompts of the bundled workspace's scenes."`
	Links     linksCmd     `cmd:"" help:"Measure guesses of which message answers which."`
	Later     laterCmd     `cmd:"" help:"Measure how many of those messages the model has at later turns of a session, and what the session costs."`
	Cost      costCmd      `cmd:"" help:"Compare the cost of long conversations with sending the whole history each time."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// The exit statuses, which are those of earshot.
const (
	exitOK     = 0
	exitFailed = 1 // the work could not be done
	exitUsage  = 2 // the command line or its input cannot be used
)

// An evalRun is one run of the program.
type evalRun struct {
	environ     []string
	raw         io.Writer // standard output, for programs
	out         io.Writer // standard output for people: without colours where they are not wanted
	err         io.Writer
	errTerminal bool
	width       int // of out, in cells
	json        bool
}

// exitStatus carries an exit status out of kong's Exit hook, which must not return.
type exitStatus int

// run is the program. It returns the exit status; an error is one line on stderr.
func run(ctx context.Context, args, environ []string, stdout, stderr io.Writer) (code int) {
	x := &evalRun{environ: environ, raw: stdout, out: colorprofile.NewWriter(stdout, environ), err: colorprofile.NewWriter(stderr, environ), width: 100}
	if f, ok := stderr.(*os.File); ok {
		x.errTerminal = term.IsTerminal(int(f.Fd()))
	}
	if f, ok := stdout.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil {
			x.width = w
		}
	}
	if w, err := strconv.Atoi(x.getenv("COLUMNS")); err == nil {
		x.width = w
	}
	x.width = min(max(x.width, 40), 160)
	defer func() {
		switch r := recover().(type) {
		case nil:
		case exitStatus:
			code = int(r)
		default:
			panic(r)
		}
	}()
	err := x.execute(ctx, args)
	if err == nil {
		return exitOK
	}
	return x.report(err)
}

// report writes an error as one line, with --json as earshot does, and returns the exit
// status for it.
func (x *evalRun) report(err error) int {
	word, status := "failed", exitFailed
	usage := (*usageError)(nil)
	switch {
	case errors.As(err, &usage):
		word, status = "usage", exitUsage
	case errors.Is(err, context.Canceled):
		word, err = "interrupted", errors.New("interrupted")
	}
	text := strings.ReplaceAll(err.Error(), "\n", "; ")
	if !x.json {
		fmt.Fprintf(x.err, "earshot-eval: %s\n", text)
		return status
	}
	enc := json.NewEncoder(x.err)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(map[string]string{"error": text, "code": word}) // there is no other place to report to
	return status
}

// execute reads the command line and runs the command that it names.
func (x *evalRun) execute(ctx context.Context, args []string) error {
	var cmds commands
	parser, err := kong.New(&cmds,
		kong.Name("earshot-eval"),
		kong.Description("Measure on chat data what search finds and what prompts hold. No model is asked, unless a flag says so."),
		kong.Writers(x.out, x.err),
		kong.Exit(func(code int) { panic(exitStatus(code)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, WrapUpperBound: x.width}),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(x),
	)
	if err != nil {
		panic(err) // the struct tags above are wrong
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		x.json = slices.Contains(args, "--json")
		return usagef("%v (earshot-eval --help lists commands)", err)
	}
	x.json = cmds.JSON
	return parsed.Run()
}

// getenv returns the value of an environment variable, "" when there is none.
func (x *evalRun) getenv(key string) string {
	for _, kv := range x.environ {
		if k, v, _ := strings.Cut(kv, "="); k == key {
			return v
		}
	}
	return ""
}

func (x *evalRun) printf(format string, args ...any) { fmt.Fprintf(x.out, format, args...) }

// writeJSON writes v for programs: indented, not escaped for HTML.
func (x *evalRun) writeJSON(v any) error {
	enc := json.NewEncoder(x.raw)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// writeLines writes n lines of JSON to a file, and says so, or to standard output where
// path is "-".
func (x *evalRun) writeLines(path string, n int, write func(line func(any) error) error) (err error) {
	out := x.raw
	if path != "-" {
		f, openErr := os.Create(path)
		if openErr != nil {
			return openErr
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		out = f
	}
	b := bufio.NewWriter(out)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := cmp.Or(write(enc.Encode), b.Flush()); err != nil || path == "-" {
		return err
	}
	x.printf("%s written to %s\n", plain.Count(n, "line"), plain.Line(path, 200))
	return nil
}

// lineEvery is the time between lines of progress where there is no terminal, and
// before the first. Tests set it, who want none however slow their machine is.
var lineEvery = 5 * time.Second

// A usageError is a command line or an input that cannot be used.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error {
	return &usageError{text: fmt.Sprintf(format, args...)}
}

// loadPolicy returns a built-in policy or that of a file; "" is standard.
func loadPolicy(name string) (assemble.Policy, error) {
	if name == "" {
		return assemble.Standard(), nil
	}
	if p, ok := assemble.ByName(name); ok {
		return p, nil
	}
	p, err := yamlfile.ReadPolicy(name)
	if errors.Is(err, os.ErrNotExist) {
		return p, usagef("there is no policy %q, and no file of that name", name)
	}
	if err != nil {
		return p, usagef("%v", err)
	}
	return p, nil
}
