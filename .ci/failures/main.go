// Command failures reads the events of a run of tests, as `go test -json` writes
// them, from standard input. It prints the ten slowest packages, and appends each
// test that failed to a file, one JSON object a line: a test that failed once is
// kept after the run that it failed in.
//
//	failures STEP FILE < EVENTS
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// messageBytes bounds what is kept of a test's output: its end, where it says why
// it failed.
const messageBytes = 8 << 10

// An event is one line of `go test -json`: see `go doc test2json`.
type event struct {
	Action, Package, Test, Output string
	ImportPath, FailedBuild       string  // of what the compiler says, and where it is to be found
	Elapsed                       float64 // seconds
}

// A failure is a row of the file.
type failure struct {
	Time    time.Time `json:"time"`
	Step    string    `json:"step"`
	Package string    `json:"package"`
	Test    string    `json:"test,omitempty"` // empty: the package, outside of any test
	Seconds float64   `json:"seconds"`
	Message string    `json:"message"`
}

// A pack is a package and the seconds that its tests took.
type pack struct {
	name    string
	seconds float64
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: failures STEP FILE < EVENTS")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Stdin, os.Stdout, time.Now()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(step, path string, in io.Reader, out io.Writer, now time.Time) error {
	failures, packs, err := read(in)
	if err != nil {
		return err
	}
	slices.SortStableFunc(packs, func(a, b pack) int { return cmp.Compare(b.seconds, a.seconds) })
	fmt.Fprintln(out, "the slowest packages:")
	for _, p := range packs[:min(10, len(packs))] {
		fmt.Fprintf(out, "%8.1f s  %s\n", p.seconds, p.name)
	}
	if len(failures) == 0 {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(f)
	for _, x := range failures {
		x.Time, x.Step = now.UTC(), step
		if err := enc.Encode(x); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return f.Close()
}

// read returns the tests that failed and the packages that were tested, both in the
// order in which they ended. A test that failed only because a subtest did is left
// out, and so is a package whose tests failed: what they say stands with the subtest.
func read(in io.Reader) (failures []failure, packs []pack, err error) {
	type key struct{ pkg, test string }
	said := map[key]string{}
	blamed := map[key]bool{} // a test or package below which a failure is in the list
	for dec := json.NewDecoder(in); ; {
		var e event
		if err := dec.Decode(&e); err == io.EOF {
			return failures, packs, nil
		} else if err != nil {
			return nil, nil, err
		}
		k := key{e.Package, e.Test}
		switch e.Action {
		case "output", "build-output":
			if e.Action == "build-output" {
				k = key{e.ImportPath, ""}
			}
			s := said[k] + e.Output
			said[k] = strings.ToValidUTF8(s[max(0, len(s)-messageBytes):], "")
		case "pass", "skip", "fail":
			if e.Test == "" {
				packs = append(packs, pack{e.Package, e.Elapsed})
			}
			if e.Action == "fail" && !blamed[k] {
				if e.FailedBuild != "" {
					k.pkg = e.FailedBuild
				}
				failures = append(failures, failure{Package: e.Package, Test: e.Test, Seconds: e.Elapsed, Message: said[k]})
			}
			if e.Action == "fail" {
				blamed[key{e.Package, ""}] = true
				for i, c := range e.Test {
					if c == '/' {
						blamed[key{e.Package, e.Test[:i]}] = true
					}
				}
			}
			delete(said, k)
		}
	}
}
