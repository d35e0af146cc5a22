// Command quality runs every measure of `earshot-eval` on the shared chat data
// and writes what they say into docs/quality.md, the chart of what long talk
// costs, and the README's figures. `.ci/run quality` calls it. `make quality` needs no
// chat data: it measures the bundled scenes alone, and writes nothing.
//
//	go run ./.ci/quality                  all measures, some minutes
//	go run ./.ci/quality scenes links     these only; what the others said stays
//	go run ./.ci/quality -write           no measure: the pages again, of what was measured
//	go run ./.ci/quality -speed           wall-clock figures too: on a quiet machine only
//	go run ./.ci/quality -before COMMIT   records all as what it was at that commit
//
// The figures stand in .ci/quality/figures.json; the pages are made of that file.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Where things are, from the project's root.
const (
	figuresFile = ".ci/quality/figures.json"
	pageFile    = "docs/quality.md"
	readmeFile  = "README.md"
	chartFile   = "docs/quality-cost.svg"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "quality:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	write := flag.Bool("write", false, "write the pages of what was measured, and measure nothing")
	speed := flag.Bool("speed", false, "measure speed and memory too")
	before := flag.String("before", "", "record the figures as those of this `commit`")
	binary := flag.String("binary", "", "measure by this earshot-eval in place of the one that is built here")
	flag.Parse()
	parts := flag.Args()
	for _, p := range parts {
		if !slices.ContainsFunc(measured, func(m measure) bool { return m.name == p }) {
			return fmt.Errorf("there is no measure %q", p)
		}
	}
	f, err := readFigures(figuresFile)
	if err != nil {
		return err
	}
	if !*write {
		r := runner{data: dataFolder(), program: *binary}
		if r.data == "" {
			return errors.New("the chat data is not there: set EARSHOT_TEST_DATA")
		}
		if *before == "" {
			r.chart = chartFile
		}
		done, err := r.build(ctx)
		if err != nil {
			return err
		}
		defer done()
		into := &f.Now
		if *before != "" {
			into, f.Commit = &f.Before, *before
		}
		err = r.measure(ctx, into, parts, *speed)
		if err := errors.Join(err, f.save(figuresFile)); err != nil { // what was measured stays
			return err
		}
	}
	return f.writePages()
}

// dataFolder is where the shared chat data is, "" where it is not.
func dataFolder() string {
	if dir := os.Getenv("EARSHOT_TEST_DATA"); dir != "" {
		return dir
	}
	const beside = "../shared/data"
	if _, err := os.Stat(beside); err != nil {
		return ""
	}
	return beside
}

// A runner runs measures of one program on one folder of data.
type runner struct {
	data    string
	program string
	chart   string // where the chart of the cost is drawn; "": nowhere
}

// build makes the program, unless one is given.
func (r *runner) build(ctx context.Context) (done func(), err error) {
	if r.program != "" {
		return func() {}, nil
	}
	dir, err := os.MkdirTemp("", "earshot-quality-")
	if err != nil {
		return nil, err
	}
	r.program = filepath.Join(dir, "earshot-eval")
	build := exec.CommandContext(ctx, "go", "build", "-o", r.program, "./cmd/earshot-eval")
	build.Env = append(build.Environ(), "CGO_ENABLED=0") // as .ci/run builds, so that it is built once
	if out, err := build.CombinedOutput(); err != nil {
		os.RemoveAll(dir)
		return nil, fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return func() { os.RemoveAll(dir) }, nil
}

// measure runs the named measures, or all, and says how long each takes.
func (r *runner) measure(ctx context.Context, into *measures, parts []string, speed bool) error {
	for _, m := range measured {
		if len(parts) > 0 && !slices.Contains(parts, m.name) || len(parts) == 0 && m.name == "speed" && !speed {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s …\n", m.name)
		from := time.Now()
		if err := m.run(ctx, r, into); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		fmt.Fprintf(os.Stderr, "%s: %.0f s\n", m.name, time.Since(from).Seconds())
	}
	return nil
}

// eval runs one measure and reads its JSON.
func (r *runner) eval(ctx context.Context, into any, args ...string) error {
	fmt.Fprintf(os.Stderr, "  earshot-eval %s\n", strings.Join(args, " "))
	cmd := exec.CommandContext(ctx, r.program, append([]string{"--json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("earshot-eval %s: %w", args[0], err)
	}
	if err := json.Unmarshal(out, into); err != nil {
		return fmt.Errorf("read what earshot-eval %s says: %w", args[0], err)
	}
	return nil
}

// file returns the path of a file of the data.
func (r *runner) file(name string) string { return filepath.Join(r.data, name) }
